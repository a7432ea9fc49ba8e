"""The conversion of mails to text: all parts that are shown, with quoted replies and signatures as removed spans."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import replace
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from ..._engine.data.blocks import QUOTE, Blocks
from ..html.encodings import likely
from ..pdf.paged_text import Paged, Span
from .dispatch import ConversionError, joined, of_html, plain

#: The reasons for removing a part of a mail.
QUOTED, SIGNATURE = "quoted_reply", "signature"
#: The marks at the beginning of a quoted line.
_QUOTE = re.compile(r"[ \t]*((?:>[ \t]?)+)")
#: The line before a quote, such as ``On Monday, Anna wrote:``, in the languages of the most mails.
_ATTRIBUTION = re.compile(
    r"(wrote|writes|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|пише|писал\w*)\b.{0,80}:\s*$"
)
#: The beginning of such a line if it continues on the next one, as Gmail breaks it.
_ATTRIBUTION_BEGINS = re.compile(r"(?:On|Am|Le|El|Em|Il|Op|Den|W dniu|В|У|\d{1,4}[./-])\s")
#: The line after which a mail program repeats the whole mail that is answered.
_ORIGINAL = re.compile(
    r"\s*-{3,} ?(Original Message|Ursprüngliche Nachricht|Message d'origine|Forwarded message) ?-{3,}\s*$"
)
#: The marks of quotes in the HTML of mail programs.
_CITED = re.compile(r"""<blockquote[^>]*\btype\s*=\s*["']?cite|gmail_quote|moz-cite-prefix""", re.IGNORECASE)
#: The encodings with more characters that mails call by the names of smaller ones.
_WIDER = {"us-ascii": "utf-8", "ascii": "utf-8", "iso-8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_WIDER |= {"shift_jis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "iso-8859-9": "cp1254"}
#: The columns of a mail's headers.
HEADERS = {"sender": ("from",), "recipients": ("to", "cc")}


def convert(data: bytes) -> Paged:
    r"""Convert a mail to a document without pages: its parts of text in order, in HTML as by the reader of HTML.

    Of alternatives, plain text is read, or HTML if the plain text is blank. A part whose encoding is not the declared
    one, or not declared, is noted if its encoding had to be guessed. The title is the subject. The facts are
    ``sender``, ``recipients`` and ``date`` (ISO 8601). ``attached`` holds the attachments, also attached mails, but not
    images that the body shows.

    Raises:
        ConversionError: The bytes are not a mail.

    Example:
        >>> found = convert(b"From: a@b.c\nSubject: Cats\n\nYes.\n\nOn Monday, Anna wrote:\n> Purr?\n")
        >>> found.title, found.facts["sender"], [found.text[span.start : span.end] for span in found.removed]
        ('Cats', 'a@b.c', ['On Monday, Anna wrote:\n> Purr?'])
    """
    message = email.message_from_bytes(data.removeprefix(b"\xef\xbb\xbf").lstrip(), policy=email.policy.default)
    if not message.keys():
        raise ConversionError("not a mail: it does not begin with headers")
    facts: dict[str, Any] = {
        name: ", ".join(filter(None, (_header(message, header) for header in headers)))
        for name, headers in HEADERS.items()
    }
    facts["date"] = _date(message)
    title = _header(message, "subject")
    shown, attached = _parts(message)
    texts = [made for part in shown if (made := _document(part)).text.strip() or made.notes]
    found = joined(texts, title, facts) if len(texts) != 1 else replace(texts[0], title=title, facts=facts)
    found.attached.extend(attached)
    return found


def _parts(part: Any) -> tuple[list[Any], list[tuple[str, bytes]]]:
    """Return the parts of a mail that are shown as text, in order, and the name and content of the attached ones."""
    shown: list[Any] = []
    attached: list[tuple[str, bytes]] = []
    waiting: list[Any] = [part]
    while waiting:
        at = waiting.pop()
        kind, name = at.get_content_maintype(), plain(str(at.get_filename() or "")).replace("/", "_")
        if kind == "multipart" and at.is_multipart():
            inner = list(at.iter_parts())
            waiting += [_best(inner)] if at.get_content_subtype() == "alternative" and inner else reversed(inner)
        elif kind == "message" and at is not part:
            payload = at.get_payload()
            mail = payload[0] if isinstance(payload, list) and payload else None
            if mail is not None:
                attached.append((name or f"{len(attached) + 1}.eml", mail.as_bytes()))
        elif (
            kind in ("text", "multipart")
            and (at is part or not name or _is_inline(at, first=not shown))
            and not at.is_attachment()
        ):
            shown.append(at)
        elif name and (at.is_attachment() or kind != "image"):
            content = at.get_payload(decode=True)
            attached.append((name, content if isinstance(content, bytes) else b""))
    return shown, attached


def _is_inline(part: Any, *, first: bool) -> bool:
    """Return whether a part with the name of a file is shown in the mail, as some programs name the first part."""
    said = part.get_content_disposition()
    return part.get_content_subtype() in ("plain", "html") and (said == "inline" or (said is None and first))


def _best(parts: list[Any]) -> Any:
    """Return the part to read of alternatives: plain text that is not blank, else the last one in HTML, else any."""
    plain_parts = [part for part in parts if part.get_content_type() == "text/plain"]
    rich = [part for part in parts if part.get_content_type() == "text/html" or part.is_multipart()]
    return next((part for part in plain_parts if _content(part)[0].strip()), (rich or parts)[-1])


def _document(part: Any) -> Paged:
    """Return the document of one part of text."""
    content, note = _content(part)
    if part.get_content_subtype() == "html":
        found = of_html(content) if content.strip() else of_plain("", "", {})
        if _CITED.search(content):
            found.removed.extend(_cited(found.blocks))
    else:
        found = of_plain(content, "", {})
    if note:
        found.notes.append((0, note))
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
        said = " ".join(text[before[2] : before[3]].split("\n"))
        one_line = "\n" not in text[before[2] : before[3]].strip()
        if len(said) < 300 and _ATTRIBUTION.search(said) and (one_line or _ATTRIBUTION_BEGINS.match(said)):
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


def _content(part: Any) -> tuple[str, str]:
    """Return the text of a part, and a note if its encoding is a guess."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return "", ""
    said = part.get_content_charset("") or ""
    for name in (_WIDER.get(said, said), "utf-8"):
        try:
            return data.decode(name or "utf-8"), ""
        except (LookupError, UnicodeError):
            continue
    if guess := likely(data):
        return data.decode(guess, "replace"), f"its encoding is not the declared one: read as {guess}, which is a guess"
    return data.decode("utf-8", "replace"), "some characters do not fit its encoding, and became U+FFFD"
