"""Spans to learn a compression encoder from: sentences of articles without their leads, and vectors of what they say.

A document's target is the vector of its lead, which is withheld, of an extractive summary of the rest, or of a summary
that a file gives. A section's is the vector of its name, title and heading, neither of which it holds.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import BLOCK_KINDS, HEADING, Blocks
from ..embedding import embed
from ..evaluation import breadth, sections
from ..functions import segment

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Rows = list[tuple[str, int, int, int]]

#: Articles of fewer words after the lead are left out.
LEAST_WORDS = 100


@dataclass(frozen=True)
class Articles:
    """Articles without their leads: ids, titles, leads, texts, blocks; names of sections with the character of each
    that they begin at, as (article, character, name)."""

    ids: list[str]
    titles: list[str]
    leads: list[str]
    texts: list[str]
    blocks: list[Rows]
    names: list[tuple[int, int, str]]


@dataclass(frozen=True)
class Lessons:
    """Spans [first, last) of n sentences, with what their vectors should be.

    Attributes:
        vectors: float32[n, d]. tokens: int64[n]. first, last: int64[m]. targets: float32[m, d].
        documents: the first so many spans are documents; the rest are sections.
    """

    vectors: F32
    tokens: I64
    first: I64
    last: I64
    targets: F32
    documents: int


def read_articles(file: Path, part: str, limit: int = 0) -> Articles:
    """The articles of a part of the split of :mod:`pychunk.evaluation.breadth` that have a lead and sections.

    Raises:
        FileNotFoundError: there is no such file.
    """
    import pyarrow.parquet as pq

    if not file.is_file():
        raise FileNotFoundError(f"no articles at {file}: pass --articles FILE or set PYCHUNK_DATA")
    rows = pq.read_table(file, columns=["id", "title", "text"]).to_pylist()
    own = [row for row in rows if breadth.part_of(row["title"]) == part][: limit or None]
    return without_leads([str(row["id"]) for row in own], [row["title"] for row in own], [row["text"] for row in own])


def without_leads(ids: Sequence[str], titles: Sequence[str], texts: Sequence[str | None]) -> Articles:
    """Articles as WikiExtractor writes them, with a mark in the place of each heading.

    Example:
        >>> made = without_leads(["1"], ["Ada"], ["Ada wrote.\\nLife.\\n" + "She was born in London. " * 25])
        >>> made.leads[0].strip(), made.texts[0][:10], made.names
        ('Ada wrote.', '§\\n\\nShe was', [(0, 3, 'Ada: Life')])
    """
    made = sections.section_questions(titles, [text or "" for text in texts])
    names: dict[int, list[sections.Question]] = {}
    for question in made.questions:
        names.setdefault(question.document, []).append(question)
    found = Articles([], [], [], [], [], [])
    for row, (name, title, text) in enumerate(zip(ids, titles, made.documents, strict=True)):
        own = made.blocks.rows(row, row + 1)
        headings = np.flatnonzero(own.kind == HEADING)
        lead = int(own.start[headings[0]]) if len(headings) else 0
        if not lead or len(text[lead:].split()) < LEAST_WORDS:
            continue
        kept = zip(own.kind.tolist(), own.level.tolist(), own.start.tolist(), own.end.tolist(), strict=True)
        found.names.extend((len(found.ids), each.start - lead, each.text) for each in names.get(row, []))
        found.ids.append(name)
        found.titles.append(title)
        found.leads.append(text[:lead])
        found.texts.append(text[lead:])
        found.blocks.append([(BLOCK_KINDS[k], level, a - lead, b - lead) for k, level, a, b in kept if a >= lead])
    return found


def hierarchy(articles: Articles, encoder: str, threads: int = 1) -> Any:
    """The articles as sentences, sections and documents, with vectors."""
    return segment(
        articles.texts,
        levels=["sentence", "paragraph", "section", "document"],
        vectors="sentence",
        vector_encoder=encoder,
        blocks=Blocks.of(articles.blocks),
        threads=threads,
    )


def nodes_of_names(articles: Articles, found: Any) -> I64:
    """int64: the section that each name belongs to."""
    documents, starts = found.documents_of("section"), found.spans("section")[0]
    keys = np.stack([documents, starts], 1).tolist()
    wanted = [[row, at] for row, at, _ in articles.names]
    places = [_last_not_above(keys, each) for each in wanted]
    return np.array(places, np.int64)


def _last_not_above(keys: list[list[int]], wanted: list[int]) -> int:
    return bisect.bisect_right(keys, wanted) - 1


def lessons(articles: Articles, target: str, encoder: str = "static", threads: int = 1) -> Lessons:
    """Documents with their targets, then the sections that have a name.

    Args:
        target: ``"lead"``, ``"summary"``, or a Parquet file with columns ``id`` and ``summary``, of some articles.

    Raises:
        ValueError: a file with a summary of none of the articles.
    """
    found = hierarchy(articles, encoder, threads)
    rows, targets = _targets(articles, target, encoder, threads)
    named = embed([name for _, _, name in articles.names], encoder=encoder, task="query", threads=threads)
    firsts, lasts = [], []
    for level, nodes in (("document", rows), ("section", nodes_of_names(articles, found))):
        first = found.first(level)
        firsts.append(first[nodes])
        lasts.append(first[nodes + 1])
    every = np.concatenate([targets, named])
    return Lessons(
        found.vectors("sentence"), found.tokens, np.concatenate(firsts), np.concatenate(lasts), every, len(rows)
    )


def _targets(articles: Articles, target: str, encoder: str, threads: int) -> tuple[I64, F32]:
    """Which articles have a target, and its vector."""
    every = np.arange(len(articles.ids))
    if target == "lead":
        return every, embed(articles.leads, encoder=encoder, threads=threads)
    if target == "summary":
        return every, embed(summaries(articles.texts, threads), encoder=encoder, threads=threads)
    import pyarrow.parquet as pq

    rows = pq.read_table(target, columns=["id", "summary"]).to_pylist()
    given = {str(row["id"]): str(row["summary"]) for row in rows if row["summary"]}
    some = [row for row, name in enumerate(articles.ids) if name in given]
    if not some:
        raise ValueError(f"{target} holds a summary of none of {len(every):,} articles: its ids are other ones")
    return every[some], embed([given[articles.ids[row]] for row in some], encoder=encoder, threads=threads)


def summaries(texts: Sequence[str], threads: int = 1) -> list[str]:
    """An extractive summary of each text: up to five of its sentences."""
    found: Any = segment(list(texts), "pic", summary="extractive", summaries_out=True, threads=threads)
    return [text or "" for text in found.summaries["text"].to_pylist()]
