"""The reader of HTML, to documents with blocks, a title and the removed noise."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa

from ..._util.memory import check_memory
from ..._util.worker_process import ProcessKilledError, WorkerProcess
from ...defaults import BYTES
from ...parsing.block_columns import BLOCKS_TYPE, REMOVED_TYPE, blocks_to_arrow, removed_to_arrow
from ...parsing.html.noise import How, check_noise, find_noise
from ..decompression import streams
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document
from .text_files import not_text

if TYPE_CHECKING:
    from ...parsing.html.noise_model import NoiseModel
    from ...parsing.html.page import HtmlPage, Markup

__all__ = ["COLUMNS", "How", "Links", "begins", "check_links", "check_noise", "document", "removed_spans"]

#: What a link becomes in the text. ``"text"``: its words. ``"inline"``: its words and target, as in Markdown; images
#: then become their alternative texts.
Links = Literal["text", "inline"]
#: A removed span: (start, end, reason, score).
Span = tuple[int, int, str, float]

#: The maximum size of a page in bytes: a hundred times the size of the largest pages that are common on the web.
MAX_BYTES = BYTES.html
#: The columns of its documents in addition to id, text and file.
COLUMNS = (("blocks", BLOCKS_TYPE), ("title", pa.string()), ("removed", REMOVED_TYPE))
_BEGINS = (b"<!doctype html", b"<html")


def begins(head: bytes) -> bool:
    """Return whether a file begins like a page: ``<!doctype html`` or ``<html``, after white space and a comment."""
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<!--"):
        head = head[head.find(b"-->") + 3 :].lstrip()
    return head[:14].lower().startswith(_BEGINS)


def document(
    blocks: Iterable[Block],
    file: str,
    dead_letters: DeadLetters,
    noise: How = "model",
    threshold: float | None = None,
    links: Links = "text",
) -> Document | None:
    """Return a page as one document, named by its path; None if it cannot be read, or has no text.

    The text is the page's Markdown. If the page has no text, it is the text in its JSON-LD.

    Args:
        blocks: The file's bytes.
        file: The file's name.
        dead_letters: The callable that gets dead letters.
        noise: The way in which noise is found. See :func:`pychunk.parsing.html.noise.find_noise`.
        threshold: The score above which the model removes a block. None: a threshold that is fitted to the page.
        links: Whether the text has the targets of links and the texts of images. It does not change what is noise.
    """
    held = bytearray()
    read = 0
    for block in blocks:
        read = block.bytes_read
        if block.gap:
            return None
        held += block.data
        if len(held) > MAX_BYTES:
            reason = f"a page longer than {MAX_BYTES:,} bytes"
            dead_letters(DeadLetter(file, "whole file", reason, bytes(held[:EXCERPT_BYTES])))
            return None
    if (reason := not_text(held)) and "UTF-" not in reason:
        dead_letters(DeadLetter(file, "whole file", reason, bytes(held[:EXCERPT_BYTES])))
        return None
    from ...parsing.html.empty_pages import ALL_REMOVED
    from ...parsing.html.html_guard import WorkError

    # The import is here since many inputs are not pages; it would add 0.01 s to the start of every command.
    from ...parsing.html.page import markup_of, with_end_tags

    data = with_end_tags(bytes(held)) if streams.bare(file).lower().endswith(".xhtml") else bytes(held)
    del held
    try:
        markup = markup_of(data)
        read_page = _read_apart if markup.work.is_large else _read
        page = read_page(markup, data, noise, threshold, links)
    except (WorkError, ProcessKilledError, MemoryError) as error:
        check_memory(MemoryError() if isinstance(error, ProcessKilledError) else error)
        dead_letters(DeadLetter(file, "whole file", str(error), data[:EXCERPT_BYTES]))
        return None
    if page.reason:
        is_removed = page.reason.startswith(ALL_REMOVED)  # such a page is kept for callers who read its removed spans
        dead_letters(DeadLetter(file, "whole file", page.reason, data[:EXCERPT_BYTES], partial=is_removed))
        if not is_removed:
            return None
    return Document(file, page.text, file, (page.blocks, page.title, page.removed), max(1, len(data)), read)


class _Page(NamedTuple):
    """The columns of a page's document, and the reason if the document has no text."""

    text: str
    blocks: pa.Array
    title: str | None
    removed: pa.Array
    reason: str = ""


def _read(markup: Markup, data: bytes, noise: How, threshold: float | None, links: Links) -> _Page:
    """Parse a page in this process. If the page has no text, the result has the text in its JSON-LD."""
    from ...parsing.html.empty_pages import linked_page, why_textless
    from ...parsing.html.page import parse_markup

    page = parse_markup(markup, images=links == "inline")
    spans = removed_spans(page, noise, threshold)
    reason = why_textless(page, spans, data)
    linked = linked_page(data, page.title) if reason else None
    if linked is not None:
        page, spans, reason = linked, [], ""
    elif not reason and links == "inline":
        page, spans = _with_targets(parse_markup(markup, images=True, targets=True), page, spans)
    return _Page(page.text, blocks_to_arrow(page.blocks), page.title or None, removed_to_arrow([spans]), reason)


def _read_apart(*given: Any) -> _Page:
    """Parse a page as :func:`_read` does, but in a separate process, which Ctrl-C ends at once."""
    from ...parsing.html import html_guard

    function = f"{__name__}:{_read_packed.__name__}"
    isolated = WorkerProcess(function, seconds=html_guard.SECONDS, memory=html_guard.MEMORY)
    with contextlib.closing(isolated):
        found: _Page = isolated(pickle.dumps(given))
    return found


def _read_packed(given: bytes) -> _Page:
    """Return the result of :func:`_read` for pickled arguments; the separate process calls this function."""
    return _read(*pickle.loads(given))


def _with_targets(made: HtmlPage, page: HtmlPage, spans: list[Span]) -> tuple[HtmlPage, list[Span]]:
    """Return the page ``made``, whose text has the targets of links, and the spans moved to that text.

    ``spans`` are spans of blocks in the text of ``page``, which has the same blocks without targets.
    """
    starts = dict(zip(page.blocks.start.tolist(), made.blocks.start.tolist(), strict=True))
    ends = dict(zip(page.blocks.end.tolist(), made.blocks.end.tolist(), strict=True))
    return made, [(starts[start], ends[end], reason, score) for start, end, reason, score in spans]


def check_links(links: str) -> None:
    """Check the option ``links``.

    Raises:
        ValueError: The option is unknown.
    """
    if links not in ("text", "inline"):
        raise ValueError(f"links must be 'text' or 'inline'; got {links!r:.80}")


def removed_spans(
    page: HtmlPage, noise: How = "model", threshold: float | None = None, model: NoiseModel | None = None
) -> list[Span]:
    """Return the spans of noise as (start, end, reason, score).

    Neighbouring blocks with the same reason become one span, with the highest of their scores.

    Args:
        page: The page.
        noise: The way in which noise is found.
        threshold: The score above which the model removes a block. None: a threshold that is fitted to the page.
        model: The model. Default: the model that pychunk ships.
    """
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, noise, threshold, page.title, model)
    spans: list[Span] = []
    before = -2
    starts, ends, scores = page.blocks.start.tolist(), page.blocks.end.tolist(), score.tolist()
    rows: Any = removed.nonzero()[0].tolist()
    for row in rows:
        if row == before + 1 and spans[-1][2] == reasons[row]:
            start, _, reason, most = spans[-1]
            spans[-1] = (start, ends[row], reason, max(most, scores[row]))
        else:
            spans.append((starts[row], ends[row], reasons[row], scores[row]))
        before = row
    return spans
