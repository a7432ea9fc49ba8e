"""The conversion of mails to text: the best body, with quoted replies and the signature as removed spans."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage, MIMEPart
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from ..._engine.data.blocks import QUOTE, Blocks
from ..pdf.paged_text import Paged, Span
from .dispatch import ConversionError, of_html, plain

#: The reasons for removing a part of a mail.
QUOTED, SIGNATURE = "quoted_reply", "signature"
#: The marks at the beginning of a quoted line.
_QUOTE = re.compile(r"[ \t]*((?:>[ \t]?)+)")
#: The line before a quote, such as ``On Monday, Anna wrote:``, in the languages of the most mails.
_ATTRIBUTION = re.compile(
    r"(wrote|writes|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|пише|писал\w*)\b.{0,80}:\s*$"
)
#: The line after which a mail program repeats the whole mail that is answered.
_ORIGINAL = re.compile(
    r"\s*-{3,} ?(Original Message|Ursprüngliche Nachricht|Message d'origine|Forwarded message) ?-{3,}\s*$"
)
#: The marks of quotes in the HTML of mail programs.
_CITED = re.compile(r"""<blockquote[^>]*\btype\s*=\s*["']?cite|gmail_quote|moz-cite-prefix""", re.IGNORECASE)
#: The columns of a mail's headers.
HEADERS = {"sender": ("from",), "recipients": ("to", "cc")}


def convert(data: bytes) -> Paged:
    r"""Convert a mail to a document without pages: the body as plain text, else the body in HTML as the reader of HTML.

    The title is the subject. The facts are ``sender``, ``recipients`` and ``date`` (ISO 8601). ``attached`` holds the
    attachments, also attached mails, but not images that the body shows.

    Raises:
        ConversionError: The bytes are not a mail.

    Example:
        >>> found = convert(b"From: a@b.c\nSubject: Cats\n\nYes.\n\nOn Monday, Anna wrote:\n> Purr?\n")
        >>> found.title, found.facts["sender"], [found.text[span.start : span.end] for span in found.removed]
        ('Cats', 'a@b.c', ['On Monday, Anna wrote:\n> Purr?'])
    """
    message = email.message_from_bytes(data.lstrip(), policy=email.policy.default)
    if not message.keys():
        raise ConversionError("not a mail: it does not begin with headers")
    facts: dict[str, Any] = {
        name: ", ".join(filter(None, (_header(message, header) for header in headers)))
        for name, headers in HEADERS.items()
    }
    facts["date"] = _date(message)
    body = message.get_body(("plain", "html"))
    content = "" if body is None else _content(body)
    title = _header(message, "subject")
    if body is not None and body.get_content_subtype() == "html":
        found = of_html(content, title, facts) if content.strip() else of_plain("", title, facts)
        if _CITED.search(content):
            found.removed.extend(_cited(found.blocks))
    else:
        found = of_plain(content, title, facts)
    found.attached.extend(_attached(message, body))
    return found


def of_plain(body: str, title: str, facts: dict[str, Any]) -> Paged:
    """Return the document of a body in plain text: a block for each run of lines that are quoted or not quoted."""
    text = plain(body.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\0", "")).strip("\n")
    blocks: list[tuple[str, int, int, int]] = []
    removed: list[Span] = []
    at, ends, reason = 0, True, ""
    for line in text.split("\n"):
        end = at + len(line)
        mark = _QUOTE.match(line)
        level = mark[1].count(">") if mark else 0
        if line in ("-- ", "--") and not reason:
            reason, ends = SIGNATURE, True
        elif _ORIGINAL.match(line) and not reason:
            reason, ends = QUOTED, True
        if line.strip():
            kind = "quote" if level else "paragraph"
            if not ends and blocks[-1][:2] == (kind, level):
                blocks[-1] = (kind, level, blocks[-1][2], end)
            else:
                blocks.append((kind, level, at, end))
            _remove(text, blocks, removed, reason or (QUOTED if level else ""))
        ends = not line.strip()
        at = end + 1
    return Paged(text, Blocks.of([blocks]), np.empty(0, np.int64), title, removed, [], facts)


def _remove(text: str, blocks: list[tuple[str, int, int, int]], removed: list[Span], reason: str) -> None:
    """Add the last block to the removed spans if there is a reason, with the line that announces a quote."""
    if not reason:
        return
    start, end = blocks[-1][2:]
    before = blocks[-2] if len(blocks) > 1 else None
    if removed and removed[-1].reason == reason and not text[removed[-1].end : start].strip():
        removed[-1] = removed[-1]._replace(end=end)
        return
    if reason == QUOTED and before is not None and before[0] == "paragraph":
        said = text[before[2] : before[3]]
        if "\n" not in said.strip() and len(said) < 300 and _ATTRIBUTION.search(said):
            start = before[2]
    removed.append(Span(start, end, reason, 1.0))


def _cited(blocks: Blocks) -> list[Span]:
    rows = np.flatnonzero(blocks.kind == QUOTE).tolist()
    return [Span(int(blocks.start[row]), int(blocks.end[row]), QUOTED, 1.0) for row in rows]


def _header(message: EmailMessage, name: str) -> str:
    try:
        return plain(" ".join(str(message.get(name, "")).split()))
    except Exception:  # the parser of headers fails on some that are damaged
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "date")).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, UnicodeError):  # an unknown encoding
        found = part.get_payload(decode=True)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else ""


def _attached(message: EmailMessage, body: MIMEPart | None) -> list[tuple[str, bytes]]:
    """Return the name and content of each part that is attached, and of each attached mail."""
    found: list[tuple[str, bytes]] = []
    waiting: list[Any] = [message]
    while waiting:
        part = waiting.pop()
        kind = part.get_content_maintype()
        if kind == "multipart":
            waiting += reversed(list(part.iter_parts()))
            continue
        name = plain(str(part.get_filename() or "")).replace("/", "_")
        if kind == "message" and part is not message:
            payload = part.get_payload()
            inner = payload[0] if isinstance(payload, list) and payload else None
            if inner is not None:
                found.append((name or f"{len(found) + 1}.eml", inner.as_bytes()))
        elif part is not body and name and (part.is_attachment() or kind != "image"):
            content = part.get_payload(decode=True)
            found.append((name, content if isinstance(content, bytes) else b""))
    return found
