"""The conversion of PDF to plain text with blocks, pages and removed spans, on PDFium.

The text holds the words of every page in reading order. A form feed separates blocks on different pages; a blank line
separates other blocks. Line breaks separate items of a list, rows of a table and lines of code; `` | `` separates
cells. Spaces join the lines of a paragraph, also across columns and pages.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import text_recognition
from .drop_caps import joined_drop_caps
from .headers_footers import EdgeLine, RemovedLine, edges_of, running
from .headings import Bookmark, mark_headings
from .paged_text import RUNNING_FOOT, RUNNING_HEAD, Paged, PagedWriter
from .paragraphs import Draft, drafts_of, join_over_borders
from .pdf_words import SLANTED, UNMAPPED, PageWords, WordReader
from .pdf_work import LIMITS, Limits, WorkError, check_work
from .reading_order import Line, line_of, lines_of, pieces_of
from .table_of_contents import remove_contents
from .text_recognition import Reading

#: A word in a table cell that a line break has cut in two.
_TORN = re.compile(r"([^\W\d_]+)[-\u2010] ([^\W\d_]+)")
#: The text that programs write where a page cuts a listing or a table.
_CONTINUED = re.compile(r"\(?continue[sd] (?:on (?:the )?next|(from (?:the )?previous)) page\)?")
#: The maximum number of seconds that a document may take, checked between pages. This is a last resort, ten times the
#: time that a document within ``LIMITS`` takes.
MAX_SECONDS = 9000.0
#: The same for a document whose text is recognized: for the most pages that are read, with 7 seconds each.
SECONDS_BY_OCR = 140_000.0
#: The maximum number of bookmarks that are read.
_BOOKMARKS = 20_000
#: The share of characters without a known meaning above which a document is not text.
_UNMAPPED = 0.5
#: The share of a document's characters in fixed-width fonts above which such fonts are no sign of code.
_TYPED = 0.6
_HYPHEN = re.compile(r"([^\W\d_]{2,})[-\u00ad\u2010]$")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
#: The words that may follow a hyphen which replaces the second part of a compound: "two- or three-digit".
_AND = frozenset(
    ("and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "e", "o", "та", "і", "й", "или", "и", "або")
)
_PLACEHOLDER = re.compile(
    r"[(\[<\"']?(untitled|anonymous|unspecified|unknown|unnamed|none|null|no title|title)[)\]>\"']?( ?-?\d+)?"
    r"|(new )?document ?\d*|(power ?point )?presentation ?\d*|(slide|layout) \d+|microsoft (word|powerpoint|excel) - .*"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|ps|rtf|odt|html?)|[\W\d_]*",
    re.IGNORECASE,
)
#: A full stop at the end of a text, a mark that the text continues, or several sentences: such a text is not a title.
_SENTENCE = re.compile(r"[^\W_]{3}[.;:][\"”»)]*$|[,‐–-]$|[^\W\d_]{3}[.!?] +[A-ZА-ЯЄІЇҐ]\w* \w+.*[.!?]$")
#: The maximum number of words of a title: if it is a heading, if it is a heading that ends with a full stop, and if it
#: looks like other text.
_TITLE, _STOPPED, _LINE = 40, 12, 20
#: The minimum number of pages that a document must have for turned text on most pages to count as a stamp.
_STAMPED = 3
_VOCABULARY = Path(__file__).resolve().parents[2] / "models" / "vocab.txt"
#: PDFium is not thread-safe, so a process reads one document at a time, and none while it forks.
_LOCK = threading.RLock()
os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class PdfError(ValueError):
    """A PDF that cannot be read as text; the message is the reason."""


def read_pdf(
    source: str | os.PathLike[str] | bytes, *, limits: Limits = LIMITS, seconds: float = MAX_SECONDS, ocr: bool = False
) -> Paged:
    """Return the text of a PDF file with its structure.

    The title is the one in the metadata, else the first of the blocks in the largest print on the first page with text.
    If that block is a sentence or a paragraph, there is no title.

    Args:
        source: The path, or the file's bytes.
        limits: The maximum numbers of pages, characters and bytes of content.
        seconds: The time after which the reader gives up, checked between pages.
        ocr: Whether to recognize the text of pages that have no text, or whose fonts do not say which characters they
            show. The fact ``ocr`` has the number and the mean confidence of each such page.

    Raises:
        PdfError: The file is encrypted, damaged, empty, has no text (scans), or exceeds a limit.
        OSError: The file cannot be opened.
        ImportError: pypdfium2 is not installed, or with ``ocr`` RapidOCR.

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
        raise PdfError("an empty file: save or download it again")
    if b"%PDF-" not in source[:1024]:
        raise PdfError(
            f"not a PDF: it must begin with %PDF-, but begins with {source[:8]!r}; read it as the kind that it is"
        )
    with _LOCK:
        try:
            with contextlib.closing(pypdfium2.PdfDocument(source)) as counted:
                # Counting makes PDFium write the document, and pages are read slowly after that. So it is opened again.
                check_work(counted, limits)
            with contextlib.closing(pypdfium2.PdfDocument(source)) as document:
                pages, read = _pages(document, limits, seconds, ocr=ocr)
                bookmarks, title = _bookmarks(document), _metadata_title(document)
        except pypdfium2.PdfiumError as error:
            raise PdfError(_cannot(error)) from None
        except WorkError as error:
            raise PdfError(str(error)) from None
    return _assembled(pages, bookmarks, title, read, ocr=ocr)


def read_pdf_by_ocr(source: bytes) -> Paged:
    """Return what :func:`read_pdf` returns with ``ocr``, for processes that call a function with bytes alone."""
    return read_pdf(source, seconds=SECONDS_BY_OCR, ocr=True)


def read_image(source: bytes) -> Paged:
    """Return the recognized text of an image file; see :func:`read_pdf` for the fact ``ocr``.

    Raises:
        PdfError: The file is no image that can be read, is too large, or shows no text.
        ImportError: RapidOCR is not installed.
    """
    try:
        found = text_recognition.read_pages(source)
    except ValueError as error:
        raise PdfError(str(error)) from None
    return _assembled([_noted(each) for each in found], [], "", dict(enumerate(found, 1)), ocr=True)


def _cannot(error: Any) -> str:
    said = str(error).lower()
    if "password" in said:
        return "encrypted: it opens only with a password; save a copy without one"
    if "security" in said:
        return "encrypted with a method that PDFium does not support; save a copy without encryption"
    return "damaged or cut off: no pages can be found in it; save or download it again"


def _noted(reading: Reading) -> PageWords:
    return replace(reading.words, note=reading.note)


def _pages(document: Any, limits: Limits, seconds: float, *, ocr: bool) -> tuple[list[PageWords], dict[int, Reading]]:
    """Return the pages, and the readings of those whose text is recognized, by their number from 1."""
    count = len(document)
    reader = WordReader(document)
    found: list[PageWords] = []
    read: dict[int, Reading] = {}
    ended = time.monotonic() + seconds
    letters = 0
    for number in range(count):
        if time.monotonic() > ended:
            raise PdfError(
                f"takes longer than the limit of {seconds:g} seconds: stopped at page {number + 1:,} of {count:,}; "
                "split the file, or raise the limit (seconds= of read_pdf)"
            )
        page = reader.page(number)
        if ocr and (not page.texts or page.unmapped > UNMAPPED * sum(map(len, page.texts))) and page.width:
            reading = text_recognition.read_page(document[number])
            # A page whose fonts do not map some letters may still have more letters than are recognized.
            if not page.texts or sum(map(len, reading.words.texts)) >= sum(map(len, page.texts)) - page.unmapped:
                page, read[number + 1] = _noted(reading), reading
        own = sum(map(len, page.texts))
        letters += own
        if letters > limits.characters:
            mend = "leave out this page" if own > limits.characters else "split the file"
            raise PdfError(
                f"asks for too much work: {letters:,} characters up to page {number + 1:,} of {count:,}; at most "
                f"{limits.characters:,} are read: {mend}"
            )
        found.append(page)
    return found, read


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
        pass  # a damaged outline contributes no more bookmarks
    return found


def _metadata_title(document: Any) -> str:
    import pypdfium2

    try:
        title = " ".join(str(document.get_metadata_value("Title")).replace("\0", " ").split())
    except (pypdfium2.PdfiumError, ValueError):
        return ""
    title = title.encode("utf-8", "replace").decode()
    return "" if _PLACEHOLDER.fullmatch(title) else title


def _assembled(
    pages: Sequence[PageWords], bookmarks: Sequence[Bookmark], title: str, read: Mapping[int, Reading], *, ocr: bool
) -> Paged:
    """Return the document of the words of its pages.

    Args:
        pages: The pages.
        bookmarks: The bookmarks that point to them.
        title: The title; "" if it is unknown.
        read: The readings of the pages whose text is recognized, by their number from 1.
        ocr: Whether recognition was asked for, so that no message advises it.

    Raises:
        PdfError: There is no text.
    """
    notes = [(number, page.note) for number, page in enumerate(pages, 1) if page.note]
    unmapped = sum(page.unmapped for page in pages)
    sizes = np.concatenate([page.size for page in pages]).round(1)
    lengths = np.concatenate([page.lengths for page in pages])
    letters = int(lengths.sum())
    if np.concatenate([page.mono for page in pages]) @ lengths > _TYPED * letters:
        pages = [replace(page, mono=np.zeros_like(page.mono)) for page in pages]
    if not letters:
        raise PdfError(_without_text(len(pages), notes, ocr=ocr))
    if unmapped > _UNMAPPED * letters:
        advice = "leave it out, because few were recognized" if ocr else "pass ocr=True to read it"
        raise PdfError(f"its fonts have no character map to say which characters it shows: {advice}")
    each, of = np.unique(sizes, return_inverse=True)
    body = float(each[np.bincount(of, lengths).argmax()])
    drafts, words = _drafts(pages, body)
    mark_headings(drafts, bookmarks, body)
    remove_contents(drafts)
    join_over_borders(drafts)
    facts = [{"page": page, "confidence": each.confidence} for page, each in read.items()]
    written = replace(_written(drafts, len(pages), words, title, notes), facts={"ocr": facts})
    return _turned_back(written, read)


def _turned_back(found: Paged, read: Mapping[int, Reading]) -> Paged:
    """Return a document in which the boxes on pages that were turned to read them are on the pages as they are."""
    box, page = found.blocks.box, found.blocks.page
    if box is None or page is None:
        return found
    box = box.copy()
    for number, reading in read.items():
        own = page == number
        left, top, right, bottom = box[own].T
        width, height = reading.words.width, reading.words.height  # of the page as it was read
        if reading.turns == 1:
            box[own] = np.stack([height - bottom, left, height - top, right], axis=1)
        elif reading.turns == 2:
            box[own] = np.stack([width - right, height - bottom, width - left, height - top], axis=1)
        elif reading.turns == 3:
            box[own] = np.stack([top, width - right, bottom, width - left], axis=1)
    return replace(found, blocks=replace(found.blocks, box=box))


def _without_text(pages: int, notes: Sequence[tuple[int, str]], *, ocr: bool) -> str:
    reasons = sorted({note for _, note in notes})
    counted = "its one page" if pages == 1 else f"all of its {pages:,} pages"
    if ocr:
        return f"no text was recognized on {counted}: leave it out"
    return f"no text on {counted}" + (f" ({'; '.join(reasons)})" if reasons else "") + ": pass ocr=True to read it"


def _drafts(pages: Sequence[PageWords], body: float) -> tuple[list[Draft], set[str]]:
    """Return the blocks of all pages, and the words in their lines."""
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
    """Mark turned text that is the same on most pages, such as a watermark, as removed, as if it were a header."""
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
    """Return the text of a block and the pages that begin inside it, each with the offset of its first character."""
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
    """Join lines to one text, and join the parts of a word that a line end breaks.

    The word's hyphen is removed if it is soft, or if the file has the word without a hyphen elsewhere. It is also
    removed if the shipped vocabulary has the word without a hyphen, unless the file has the word with a hyphen within a
    line.
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
            before[-1:] == "/" and line.text[:1].islower()  # the slash is part of a path
        ):
            parts.append(" ")
        parts.append(line.text)
    text = "".join(parts)
    return text.replace("\u00ad", "") if "\u00ad" in text else text


def _mended(found: re.Match[str], words: set[str]) -> str:
    """Return two parts of a table cell's text, joined to one word if only a line end separated them."""
    before, after = found.groups()
    if after in _AND or not _is_word(before, after, words):
        return found[0]
    return f"{before}{after}"


def _is_word(before: str, after: str, words: set[str]) -> bool:
    """Return whether the hyphen between two parts is there only because of the line end."""
    joined, compound = f"{before}{after}".casefold(), f"{before}-{after}".casefold()
    if not after[0].islower():
        return False
    if joined in words or compound in words:
        return joined in words
    return not (before[-1] == after[0] in "aeiou") and joined in _vocabulary()  # such as co-operative or re-enter


@cache
def _vocabulary() -> frozenset[str]:
    """Return the words of the shipped encoder's vocabulary, in lower case; the file is read at the first call."""
    return frozenset(_VOCABULARY.read_text(encoding="utf-8").split("\n"))


def _is_east_asian(text: str) -> bool:
    """Return whether all characters are of scripts that put no space between words."""
    return all("\u2e80" <= each <= "\u9fff" or "\uff00" <= each <= "\uffef" for each in text)


def _first_large(drafts: Sequence[Draft], words: set[str]) -> str:
    """Return the first block in the largest print on the first page with text, if it may be a title; else ""."""
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
    """Return whether a text may be a title: not as long as a paragraph, and not a sentence."""
    count = len(text.split())
    if count > (_TITLE if heading else _LINE):
        return False
    return count <= (_STOPPED if heading else 4) or not _SENTENCE.search(text)
