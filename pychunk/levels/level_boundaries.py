"""The boundaries of the nodes of each level, as one flag for each sentence: whether a node begins there.

A sentence that begins a node of a coarser level also begins a node of every finer level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._engine.data.features import PARAGRAPH_START, Features
from .._engine.data.ragged import offsets_of
from .removed_sentences import KeptSentences, holes_of, kept_starts

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.data.headings import Headings
    from .level_names import Level

    I64 = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

#: The bit of ``Features.flags`` for a form feed before the sentence (SentenceFlag in csrc/text/sentence_splitter.h).
PAGE_START = 4
#: The largest number of a heading's level. Deeper headings count as this level. HTML and Markdown have six levels.
DEEPEST = 15


def document_starts(doc_offsets: I64) -> Flags:
    """Return whether each sentence is the first one of its document, bool[n]."""
    out = np.zeros(doc_offsets[-1], np.bool_)
    out[doc_offsets[:-1][np.diff(doc_offsets) > 0]] = True
    return out


def section_starts(headings: Headings, doc_offsets: I64) -> tuple[Flags, Flags]:
    """Return (mask of the sentences that begin a section; of those that begin a section or subsection), bool[n] each.

    The highest headings of a document begin its sections. If only the first heading has the highest level, it is the
    title, and the headings of the next level begin the sections. The headings of the level below sections begin
    subsections. A section without such headings is one subsection. The text before the first heading is a section, too.
    """
    counts = np.diff(headings.offsets)
    document = np.repeat(np.arange(len(counts)), counts)
    level = np.minimum(headings.level, DEEPEST).astype(np.int64)
    met = np.bincount(document * (DEEPEST + 1) + level, minlength=len(counts) * (DEEPEST + 1))
    met = met.reshape(len(counts), DEEPEST + 1)
    highest = _first_above(met, np.full(len(counts), -1))
    below = _first_above(met, highest)
    rows = np.arange(len(counts))
    first = np.zeros(len(counts), np.int64)
    first[counts > 0] = level[headings.offsets[:-1][counts > 0]]
    titled = (counts > 0) & (first == highest) & (met[rows, np.minimum(highest, DEEPEST)] == 1) & (below <= DEEPEST)
    section = np.where(titled, below, highest)
    subsection = _first_above(met, section)
    place = headings.first + np.repeat(doc_offsets[:-1], counts)
    out = document_starts(doc_offsets), document_starts(doc_offsets)
    for starts, deepest in zip(out, (section, subsection), strict=True):
        starts[place[level <= deepest[document]]] = True
    return out


def _first_above(met: I64, levels: I64) -> I64:
    """Return for each document the least heading level that it has beyond its entry in ``levels``, or DEEPEST + 1."""
    there = (met > 0) & (np.arange(met.shape[1]) > levels[:, None])
    found: I64 = np.where(there.any(1), there.argmax(1), DEEPEST + 1)
    return found


def page_starts(features: Features) -> Flags:
    """Return whether each sentence begins on another page than the sentence before it, bool[n]."""
    starts = document_starts(features.doc_offsets)
    if features.page_starts is None:
        starts |= (features.given("flags").flat() & PAGE_START) != 0
        return starts
    given = features.page_starts
    pages = given.flat() + np.repeat(features.offsets[:-1], given.counts)
    page = np.searchsorted(pages, features.bounds[:-1], "right")
    starts[1:] |= page[1:] != page[:-1]
    return starts


def group_starts(features: Features, chunks: dict[str, npt.NDArray[np.int64]], first_row: int) -> Flags:
    """Return whether a chunk begins at each sentence, bool[n].

    A chunk that begins inside a sentence does not count. Such a chunk exists if a budget cut the sentence.
    """
    starts = document_starts(features.doc_offsets)
    bounds = features.bounds
    base = features.offsets[:-1][chunks["document_index"] - first_row]
    first = np.searchsorted(bounds, base + chunks["start_byte"], "right") - 1
    last = np.searchsorted(bounds, base + chunks["end_byte"] - 1, "right") - 1
    starts[first[1:][first[1:] > last[:-1]]] = True
    return starts


def paragraph_starts(features: Features, tied: npt.NDArray[np.uint8]) -> Flags:
    """Return whether a paragraph begins at each sentence, bool[n].

    No paragraph begins between a heading and its text, or between a list and the line that introduces it.
    """
    starts = document_starts(features.doc_offsets)
    starts |= ((features.given("flags").flat() & PARAGRAPH_START) != 0) & (tied == 0)
    return starts


def bridged(paragraphs: Flags, features: Features, removed: Flags, headings: Headings) -> Flags:
    """Return whether a paragraph begins at each sentence, bool[n], if removed sentences are no text.

    The engine begins a paragraph at each end of a removed span. Here, the paragraph before a hole continues after it,
    unless the hole has a line break inside or around it. After a heading, the text below it continues the heading's
    paragraph in any case.
    """
    bounds, doc_offsets = features.bounds, features.doc_offsets
    holes = holes_of(features.text, bounds[:-1], bounds[1:], removed, doc_offsets)
    level = np.zeros(len(removed) + 1, np.int64)
    level[headings.first + np.repeat(doc_offsets[:-1], np.diff(headings.offsets))] = headings.level
    inner = ~np.isin(holes.first, doc_offsets) & ~np.isin(holes.last, doc_offsets)
    before, after = holes.first[inner] - 1, holes.last[inner]
    headed = (level[before] > 0) & ((level[after] == 0) | (level[after] > level[before]))
    out = paragraphs & ~removed
    out[after] = holes.breaks[inner] & ~headed
    return out


def nested(
    levels: Sequence[Level],
    features: Features,
    *,
    headings: Callable[[], Headings],
    chunks: Callable[[], dict[str, npt.NDArray[np.int64]]],
    windows: Callable[[list[int]], list[I64]],
    first_row: int,
    removed: Flags | None = None,
) -> list[I64]:
    """Return, for each level from fine to coarse, the first sentences of its nodes, then the number of sentences.

    Args:
        levels: The levels, from fine to coarse.
        features: The features of k documents with n sentences.
        headings: A function that finds the headings of the documents.
        chunks: A function that makes the chunks of the level ``"group"``.
        windows: A function that returns, for each of several sizes in tokens, the first sentences of windows. It
            counts only sentences that are not removed.
        first_row: The number of the first document.
        removed: Whether each sentence is removed, bool[n], or None if no sentence is. No node begins with a removed
            sentence, except the first node of a document.
    """
    sizes = [level for level in levels if isinstance(level, int)]
    made: dict[Level, Flags] = {}
    if {"paragraph", "subsection", "section"} & set(levels):
        found = headings()
        made["section"], made["subsection"] = section_starts(found, features.doc_offsets)
        made["paragraph"] = paragraph_starts(features, found.tied)
        if removed is not None:
            made["paragraph"] = bridged(made["paragraph"], features, removed, found)
    if "page" in levels:
        made["page"] = page_starts(features)
    if "group" in levels:
        made["group"] = group_starts(features, chunks(), first_row)
    n = int(features.doc_offsets[-1])
    for size, first in zip(sizes, windows(sizes) if sizes else [], strict=True):
        made[size] = np.zeros(n, np.bool_)
        made[size][first if removed is None else KeptSentences(removed, features.doc_offsets).of_all(first)] = True
    if removed is not None:
        made = {level: kept_starts(starts, removed, features.doc_offsets) for level, starts in made.items()}
    out: list[I64] = []
    starts = document_starts(features.doc_offsets)
    for level in reversed(levels):
        if level == "sentence":
            out.append(np.arange(n + 1))
            continue
        starts = starts | made.get(level, starts)
        out.append(np.append(np.flatnonzero(starts), n))
    return out[::-1]


def joined(parts: Sequence[I64]) -> I64:
    """Return the first sentences of the nodes of several batches, counted as in one batch.

    Each batch ends with its number of sentences, and so does the result.
    """
    before = offsets_of([part[-1] for part in parts])
    firsts = [part[:-1] + base for part, base in zip(parts, before[:-1], strict=True)]
    return np.append(np.concatenate([np.empty(0, np.int64), *firsts]), before[-1])
