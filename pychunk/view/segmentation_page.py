"""The HTML page that shows chunks, which needs no other file and no network.

The documents are JSON data in the page.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from .._util.html_page import Page
from . import page_style
from .page_frame import framed

#: The characters that are escaped in the data: markup, and characters that editors, browsers or HTML itself change.
_UNSAFE = re.compile(
    "[<>&\x7f-\x9f\xad\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)


def page(data: dict[str, Any], facts: str) -> Page:
    """Return the page that shows ``data``, which consists of plain JSON types, with ``facts`` in its side column.

    ``facts`` is HTML that pychunk made from numbers and escaped names, and is therefore inserted without escaping.
    """
    body = (
        '<header class="top" id="bar"><h1 id="title">pychunk</h1><span class="at" id="at"></span></header>\n'
        f'<details class="side" open><summary>Facts, sizes, keys</summary>{_SEARCH}{facts}{_KEYS}</details>\n'
        "<main><noscript>This page needs JavaScript: its own script shows the chunks.</noscript></main>\n"
        f'<script type="application/json" id="data">{as_data(data)}</script>\n'
    )
    return framed(body, style_text(), script_text())


_SEARCH = (
    '<div id="searching" hidden><h2>Queries</h2><div class="queries" id="queries"></div>'
    '<ol class="hits" id="hits"></ol></div>'
)
_KEYS = (
    '<div class="keys"><h2>Reading it</h2>'
    '<p class="key"><i class="swatch"></i><span>chunks, in alternating colours</span></p>'
    '<p class="key"><i class="bar0"></i><span>relevant</span></p>'
    '<p class="key"><i class="bar1"></i><span>irrelevant</span></p>'
    '<p class="key"><i class="over"></i><span>repeated at the start of the next chunk</span></p>'
    '<p class="key"><span>≠</span><span>the chunk begins where not all methods cut</span></p>'
    '<p class="key"><span>▾</span><span>another method cuts here</span></p>'
    "<p>The right margin shows the score curve, aligned with the sentences. The dashed line is the threshold. Points "
    "below it are hollow.</p>"
    "<p><kbd>j</kbd> <kbd>k</kbd> next and previous chunk, <kbd>[</kbd> <kbd>]</kbd> document</p></div>"
)


@cache
def script_text() -> str:
    """Return the script of the page."""
    return files(__package__).joinpath("segmentation_page.js").read_text("utf-8")


@cache
def style_text() -> str:
    """Return the style sheet of the page: first the rules that all pages share, then the rules of this page."""
    return page_style.STYLE + files(__package__).joinpath("segmentation_page.css").read_text("utf-8")


def as_data(data: Any) -> str:
    r"""Return data as JSON that is safe inside a script element, whatever strings the data contains.

    >>> as_data({"text": "</script>\0"})
    '{"text":"\\u003c/script\\u003e\\u0000"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
