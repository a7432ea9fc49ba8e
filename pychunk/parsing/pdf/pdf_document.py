"""PDF to plain text with its blocks, pages and what is left out, on PDFium.

The text holds the words of every page in reading order; blocks of two pages are separated by form feeds, others by a
blank line, items of a list, rows of a table and lines of code by a line break, cells by `` | ``. Lines of a paragraph
are joined by spaces, over the border of columns and pages, too.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .drop_caps import joined_drop_caps
from .headers_footers import EdgeLine, RemovedLine, edges_of, running
from .headings import Bookmark, mark_headings
from .paged_text import RUNNING_FOOT, RUNNING_HEAD, Paged, PagedWriter
from .paragraphs import Draft, drafts_of, join_over_borders
from .pdf_words import SLANTED, PageWords, WordReader
from .pdf_work import LIMITS, Limits, WorkError, check_work
from .reading_order import Line, line_of, lines_of, pieces_of
from .table_of_contents import remove_contents

#: A word that is broken within a cell.
_TORN = re.compile(r"([^\W\d_]+)[-\u2010] ([^\W\d_]+)")
#: What programs write where a listing or a table is cut by a page.
_CONTINUED = re.compile(r"\(?continue[sd] (?:on (?:the )?next|(from (?:the )?previous)) page\)?")
#: Seconds that a document may take, looked at between pages: the last resort, ten times what its limits allow.
MAX_SECONDS = 9000.0
#: Bookmarks that are read.
_BOOKMARKS = 20_000
#: Share of a document's characters whose meaning is unknown beyond which it is no text.
_UNMAPPED = 0.5
#: Share of a document's characters in fonts of one width from which these are no sign of code.
_TYPED = 0.6
_HYPHEN = re.compile(r"([^\W\d_]{2,})[-\u00ad\u2010]$")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
#: Words after a hyphen that stands for the second part of a compound: "two- or three-digit".
_AND = frozenset(
    ("and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e", "o", "та", "і", "й", "или", "и", "або")
)
_PLACEHOLDER = re.compile(
    r"[(\[<\"']?(untitled|anonymous|unspecified|unknown|unnamed|none|null|no title|title)[)\]>\"']?( ?-?\d+)?"
    r"|(new )?document ?\d*|(power ?point )?presentation ?\d*|(slide|layout) \d+|microsoft (word|powerpoint|excel) - .*"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|ps|rtf|odt|html?)|[\W\d_]*",
    re.IGNORECASE,
)
#: A stop that ends a text, or what goes on, or a sentence before another.
_SENTENCE = re.compile(r"[^\W_]{3}[.;:][\"”»)]*$|[,‐–-]$|[^\W\d_]{3}[.!?] +[A-ZА-ЯЄІЇҐ]\w* \w+.*[.!?]$")
#: Words of a title at most: if it is a heading, if that ends with a stop, and if it looks as other text does.
_TITLE, _STOPPED, _LINE = 40, 12, 20
#: Pages of a document from which turned text that most of them have is a stamp.
_STAMPED = 3
_VOCABULARY = Path(__file__).resolve().parents[2] / "models" / "vocab.txt"
#: PDFium is not thread-safe: one document at a time in a process, and none while it forks.
_LOCK = threading.RLock()
os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class PdfError(ValueError):
    """A PDF that cannot be read as text; its message is the reason."""


def read_pdf(source: str | os.PathLike[str] | bytes, *, limits: Limits = LIMITS, seconds: float = MAX_SECONDS) -> Paged:
    """A PDF file, by its path or as bytes, as text with structure.

    Its title is that of the metadata, else the first of the largest lines of the first page with text,
    unless that is a sentence or a paragraph; then it has none.

    Args:
        source: path, or the file's bytes.
        limits: of what can be counted: pages, characters, content.
        seconds: time after which it is given up, looked at between pages.

    Raises:
        PdfError: it is encrypted, damaged, empty, has no text (scans), or more than a limit.
        OSError: the file cannot be opened.
        ImportError: pypdfium2 is not installed.

    Example:
        >>> read_pdf("manual.pdf").title  # doctest: +SKIP
        'Manual'
    """
    try:
        import pypdfium2
    except ImportError:
        raise ImportError('reading PDF needs pypdfium2: pip install "pychunk-native[docs]"') from None
    if not isinstance(source, bytes):
        with open(source, "rb") as file:
            source = file.read()
    if not source.strip():
        raise PdfError("an empty file")
    if b"%PDF-" not in source[:1024]:
        raise PdfError("no PDF: it does not begin with %PDF-")
    with _LOCK:
        try:
            with contextlib.closing(pypdfium2.PdfDocument(source)) as counted:  # one that was written reads slowly
                check_work(counted, limits)
            with contextlib.closing(pypdfium2.PdfDocument(source)) as document:
                pages = _pages(document, limits, seconds)
                bookmarks, title = _bookmarks(document), _metadata_title(document)
        except pypdfium2.PdfiumError as error:
            raise PdfError(_cannot(error)) from None
        except WorkError as error:
            raise PdfError(str(error)) from None
    return _assembled(pages, bookmarks, title)


def _cannot(error: Any) -> str:
    said = str(error).lower()
    if "password" in said:
        return "encrypted: it opens with a password alone"
    if "security" in said:
        return "encrypted in a way that PDFium does not know"
    return "damaged or cut off: no pages can be found in it"


def _pages(document: Any, limits: Limits, seconds: float) -> list[PageWords]:
    count = len(document)
    reader = WordReader(document)
    found: list[PageWords] = []
    ended = time.monotonic() + seconds
    letters = 0
    for number in range(count):
        if time.monotonic() > ended:
            raise PdfError(
                f"takes longer than {seconds:g} seconds, the last resort: given up at page {number + 1:,} of {count:,}"
            )
        page = reader.page(number)
        letters += sum(map(len, page.texts))
        if letters > limits.characters:
            raise PdfError(
                f"asks for too much work: {letters:,} characters up to page {number + 1:,} of {count:,}; at most "
                f"{limits.characters:,} are read"
            )
        found.append(page)
    return found


def _bookmarks(document: Any) -> list[Bookmark]:
    import pypdfium2

    found = []
    try:
        for entry in islice(document.get_toc(max_depth=6), _BOOKMARKS):
            destination = entry.get_dest()
            page = destination.get_index() if destination else None
            if page is not None:
                found.append(Bookmark(entry.get_title(), entry.level + 1, page + 1))
    except (pypdfium2.PdfiumError, ValueError, RecursionError):
        pass  # a damaged outline says no more
    return found


def _metadata_title(document: Any) -> str:
    import pypdfium2

    try:
        title = " ".join(str(document.get_metadata_value("Title")).replace("\0", " ").split())
    except (pypdfium2.PdfiumError, ValueError):
        return ""
    title = title.encode("utf-8", "replace").decode()
    return "" if _PLACEHOLDER.fullmatch(title) else title


def _assembled(pages: Sequence[PageWords], bookmarks: Sequence[Bookmark], title: str) -> Paged:
    notes = [(number, page.note) for number, page in enumerate(pages, 1) if page.note]
    unmapped = sum(page.unmapped for page in pages)
    sizes = np.concatenate([page.size for page in pages]).round(1)
    lengths = np.concatenate([page.lengths for page in pages])
    letters = int(lengths.sum())
    if np.concatenate([page.mono for page in pages]) @ lengths > _TYPED * letters:
        pages = [replace(page, mono=np.zeros_like(page.mono)) for page in pages]
    if not letters:
        raise PdfError(_without_text(len(pages), notes))
    if unmapped > _UNMAPPED * letters:
        raise PdfError("its fonts have no character map, so what its letters mean is not in the file: read it by OCR")
    each, of = np.unique(sizes, return_inverse=True)
    body = float(each[np.bincount(of, lengths).argmax()])
    drafts, words = _drafts(pages, body)
    mark_headings(drafts, bookmarks, body)
    remove_contents(drafts)
    join_over_borders(drafts)
    return _written(drafts, len(pages), words, title, notes)


def _without_text(pages: int, notes: Sequence[tuple[int, str]]) -> str:
    reasons = sorted({note for _, note in notes})
    counted = "its one page" if pages == 1 else f"all of its {pages:,} pages"
    return f"no text on {counted}" + (f" ({'; '.join(reasons)})" if reasons else "") + ": read it by OCR"


def _drafts(pages: Sequence[PageWords], body: float) -> tuple[list[Draft], set[str]]:
    """The blocks of all pages, and the words that stand in their lines."""
    unseen = [None if page.hidden is None else page.where(page.hidden) for page in pages]
    pages = [page if page.hidden is None else page.where(~page.hidden) for page in pages]
    pages = [joined_drop_caps(page, body, _vocabulary) for page in pages]
    pieces = [pieces_of(page.where(page.angle == 0) if page.angle.any() else page) for page in pages]
    edges = [edge for number, found in enumerate(pieces) for edge in edges_of(number, found)]
    out = running(edges, len(pages), body)
    cut: list[tuple[list[EdgeLine], list[EdgeLine]]] = [([], []) for _ in pages]
    for edge in edges:
        if (edge.page, edge.top, edge.rank) in out:
            cut[edge.page][not edge.top].append(edge)
    drafts: list[Draft] = []
    words: set[str] = set()
    for number, page in enumerate(pages):
        above, below = cut[number]
        taken = {id(piece) for edge in above for piece in edge.pieces}
        below = [edge for edge in below[::-1] if not any(id(piece) in taken for piece in edge.pieces)]
        taken |= {id(piece) for edge in below for piece in edge.pieces}
        rest = [piece for piece in pieces[number] if id(piece) not in taken]
        lines = [
            *[_removed(edge, out) for edge in above],
            *lines_of(rest, page),
            *[_removed(edge, out) for edge in below],
        ]
        for line in lines:
            text = line.text.casefold()
            if not line.removed and (found := _CONTINUED.fullmatch(text)):
                line.removed, line.score = RUNNING_HEAD if found[1] else RUNNING_FOOT, 1.0
            words.update(_LETTERS.findall(text))
            if "-" in text:
                words.update(_COMPOUND.findall(text))
        hidden = unseen[number]
        if hidden is not None:
            lines += [replace(line, removed="hidden", score=1.0) for line in _all_lines(hidden)]
        drafts += drafts_of(lines, number + 1)
    _remove_stamps(drafts, len(pages))
    return drafts, words


def _remove_stamps(drafts: Sequence[Draft], pages: int) -> None:
    """Turned text that most pages have alike, such as a watermark, is left out as what runs along their edges is."""
    stamps: dict[str, list[Draft]] = {}
    for draft in drafts:
        if all(line.angle for line in draft.lines) and not draft.lines[0].removed:
            stamps.setdefault(draft.text, []).append(draft)
    for alike in stamps.values():
        share = len({draft.page for draft in alike}) / pages
        if share > 0.5 and pages >= _STAMPED:
            for line in (line for draft in alike for line in draft.lines):
                line.removed, line.score = RUNNING_HEAD, share


def _all_lines(page: PageWords) -> list[Line]:
    return lines_of(pieces_of(page.where(page.angle == 0) if page.angle.any() else page), page)


def _removed(edge: EdgeLine, out: dict[tuple[int, bool, int], RemovedLine]) -> Line:
    line = line_of(edge.pieces)
    line.removed, line.score = out[edge.page, edge.top, edge.rank]
    return line


def _written(drafts: Sequence[Draft], pages: int, words: set[str], title: str, notes: list[tuple[int, str]]) -> Paged:
    writer = PagedWriter()
    for draft in drafts:
        own = draft.lines[: draft.turns[0][1]] if draft.turns else draft.lines
        left, top, right, bottom = zip(*[line.box for line in own], strict=True)
        box = min(left), min(top), max(right), max(bottom)
        first = draft.lines[0]
        text, turns = _over_pages(draft, words) if draft.turns else (_text(draft, words), ())
        writer.put(draft.kind, draft.level, text, draft.page, box, first.removed, first.score, turns)
    return writer.done(title or _first_large(drafts, words), pages, notes)


def _text(draft: Draft, words: set[str]) -> str:
    if draft.kind == "table":
        return "\n".join([_TORN.sub(lambda found: _mended(found, words), line.text) for line in draft.lines])
    if draft.kind == "code":
        left, width = draft.left, min((line.right - line.left) / len(line.text) for line in draft.lines)
        indents = [round((line.left - left) / max(width, 1.0)) for line in draft.lines]
        return "\n".join([" " * min(indent, 80) + line.text for indent, line in zip(indents, draft.lines, strict=True)])
    return _joined(draft.lines, words)


def _over_pages(draft: Draft, words: set[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of a block and the pages that begin inside it, each with its first character there."""
    parts: list[str] = []
    turns: list[tuple[int, int]] = []
    at = 0
    edges = [0, *(line for _, line in draft.turns), len(draft.lines)]
    for number, (first, end) in enumerate(pairwise(edges)):
        part = _text(replace(draft, lines=draft.lines[first:end]), words)
        if parts:
            border = draft.lines[first - 1 : first + 1]
            both, before, after = (_text(replace(draft, lines=own), words) for own in (border, border[:1], border[1:]))
            if len(both) < len(before) + len(after):
                parts[-1] = parts[-1][:-1]
                at -= 1
            elif len(both) > len(before) + len(after):
                parts.append("\n" if draft.kind in ("table", "code") else " ")
                at += 1
            turns.append((draft.turns[number - 1][0], at))
        parts.append(part)
        at += len(part)
    return "".join(parts), turns


def _joined(lines: Sequence[Line], words: set[str]) -> str:
    """Lines as one: a word that is broken at their border is joined.

    Its hyphen goes if it is soft, if the file has the joined word elsewhere, or if the shipped vocabulary has it while
    the file does not have it with a hyphen within a line.
    """
    parts = [lines[0].text]
    for line in lines[1:]:
        before = parts[-1]
        if before[-2:-1].isalnum() and before[-1] in "-\u00ad\u2010" and line.text[:1].isalnum():
            broken, rest = _HYPHEN.search(before[-60:]), _LETTERS.match(line.text)
            if rest and rest.group() in _AND and line.text[rest.end() : rest.end() + 1] != "-":
                parts.append(" ")
            elif before[-1] == "\u00ad" or (broken and rest and _is_word(broken.group(1), rest.group(), words)):
                parts[-1] = before[:-1]
        elif not (before[-1:] >= "\u2e80" and _is_east_asian(before[-1:] + line.text[:1])) and not (
            before[-1:] == "/" and line.text[:1].islower()  # within a path
        ):
            parts.append(" ")
        parts.append(line.text)
    text = "".join(parts)
    return text.replace("\u00ad", "") if "\u00ad" in text else text


def _mended(found: re.Match[str], words: set[str]) -> str:
    """Return two parts of a cell's line, between which there was the end of a line, as a word if they are one."""
    before, after = found.groups()
    if after in _AND or not _is_word(before, after, words):
        return found[0]
    return f"{before}{after}"


def _is_word(before: str, after: str, words: set[str]) -> bool:
    """Return whether a hyphen between two parts is there for the end of the line alone."""
    joined, compound = f"{before}{after}".casefold(), f"{before}-{after}".casefold()
    if not after[0].islower():
        return False
    if joined in words or compound in words:
        return joined in words
    return not (before[-1] == after[0] in "aeiou") and joined in _vocabulary()  # co-operative, re-enter


@cache
def _vocabulary() -> frozenset[str]:
    """The words of the shipped encoder's vocabulary, in lower case; read if a hyphen or a drop cap asks for it."""
    return frozenset(_VOCABULARY.read_text(encoding="utf-8").split("\n"))


def _is_east_asian(text: str) -> bool:
    """Letters of scripts that put no space between words."""
    return all("\u2e80" <= each <= "\u9fff" or "\uff00" <= each <= "\uffef" for each in text)


def _first_large(drafts: Sequence[Draft], words: set[str]) -> str:
    """The first of the largest blocks of the first page with text, if it may be a title; else ""."""
    found = [each for each in drafts if not each.lines[0].removed]
    found = [each for each in found if each.page == found[0].page and each.kind not in ("table", "item", "code")]
    found = [each for each in found if any(map(str.isalpha, each.text)) and each.lines[0].angle < SLANTED]
    if not found:
        return ""
    size = max(each.size for each in found)
    first = next(each for each in found if each.size >= 0.98 * size)
    text = _joined(first.lines, words)
    return text[:300] if _is_title(text, first.kind == "heading") else ""


def _is_title(text: str, heading: bool) -> bool:
    """Not what is as long as a paragraph, nor a sentence."""
    count = len(text.split())
    if count > (_TITLE if heading else _LINE):
        return False
    return count <= (_STOPPED if heading else 4) or not _SENTENCE.search(text)
