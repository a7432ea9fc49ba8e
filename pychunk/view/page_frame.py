"""The frame of every page: its head with a security policy, and text that is safe in HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape

from .._util.html_page import Page

#: Characters that are invisible or change the order of others, as in the script of the segmentation page.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")


def framed(body: str, sheet: str, script: str = "") -> Page:
    """Return a page whose security policy admits only this style sheet and this script, by their hashes.

    ``body`` is HTML. A script runs after it.
    """
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {allowed}style-src '{_hash(sheet)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    end = f"<script>{script}</script>\n" if script else ""
    return Page(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<title>pychunk</title>\n'
        f'<link rel="icon" href="data:,">\n<style>{sheet}</style>\n</head>\n<body>\n{body}{end}</body>\n</html>\n'
    )


def marked(text: str) -> str:
    r"""Return text as HTML in which control characters are visible, and cannot change the order of others.

    >>> marked("a < b\u202e")
    'a &lt; b<span class="ctl" data-u="U+202E"></span>'
    """
    return _CONTROL.sub(lambda found: f'<span class="ctl" data-u="U+{ord(found[0]):04X}"></span>', escape(text))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
