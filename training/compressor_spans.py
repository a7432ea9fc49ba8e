"""Spans to learn a compression encoder from: sentences of articles without their leads, and target vectors.

A document's target is the vector of one of three texts: its lead, which is withheld; an extractive summary of the rest;
or a summary from a file. A section's target is the vector of its name, which is the article's title and the section's
heading. Neither is in the section's text.
"""

from __future__ import annotations

import bisect
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk import Placement, Vectors
from pychunk._engine.data.blocks import BLOCK_KINDS, HEADING, Blocks
from pychunk._util.durable_files import whole_file
from pychunk.api import segment, segment_levels
from pychunk.embedding import embed
from pychunk.encoders.registry import vector_encoder
from pychunk.training import breadth, section_questions
from pychunk.training.corpus import read_rows

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]
Rows = list[tuple[str, int, int, int]]

#: The fewest words of an article after its lead.
LEAST_WORDS = 100
#: The number of articles whose vectors are kept in a file.
_KEPT_TOGETHER = 64


@dataclass(frozen=True)
class Articles:
    """Articles without their leads: ids, titles, leads, texts and blocks.

    ``names`` are the names of sections with the characters at which they begin, as (article, character, name).
    """

    ids: list[str]
    titles: list[str]
    leads: list[str]
    texts: list[str]
    blocks: list[Rows]
    names: list[tuple[int, int, str]]

    def part(self, begin: int, end: int) -> Articles:
        """Return the articles [begin, end)."""
        names = [(row - begin, at, name) for row, at, name in self.names if begin <= row < end]
        ids, titles, leads, texts = (each[begin:end] for each in (self.ids, self.titles, self.leads, self.texts))
        return Articles(ids, titles, leads, texts, self.blocks[begin:end], names)


@dataclass(frozen=True)
class Lessons:
    """m spans [first, last) of n sentences, with their target vectors.

    Attributes:
        vectors: The vectors of the sentences, float32[n, d].
        tokens: The number of tokens of each sentence, int64[n].
        first, last: The sentences of each span, int64[m].
        targets: The target of each span, float32[m, d].
        documents: The number of first spans that are documents; the rest are sections.
    """

    vectors: F32
    tokens: I64
    first: I64
    last: I64
    targets: F32
    documents: int


def read_articles(file: Path, part: str, limit: int = 0) -> Articles:
    """Return the articles of a part of :mod:`pychunk.training.breadth`'s split that have a lead and sections.

    Args:
        file: The Parquet file.
        part: The part of the split.
        limit: The number of rows of the part to read, drawn with seed 0; 0 reads all.

    Raises:
        FileNotFoundError: There is no such file.
    """
    own = [row for row in read_rows(file, "id", "title", "text") if breadth.part_of(row[1]) == part]
    if 0 < limit < len(own):
        own = [own[row] for row in np.random.default_rng(0).permutation(len(own))[:limit]]
    return without_leads([row[0] for row in own], [row[1] for row in own], [row[2] for row in own])


def without_leads(ids: Sequence[str], titles: Sequence[str], texts: Sequence[str]) -> Articles:
    r"""Return articles as WikiExtractor writes them without their leads, with a mark in place of each heading.

    Example:
        >>> made = without_leads(["1"], ["Ada"], ["Ada wrote.\nLife.\n" + "She was born in London. " * 25])
        >>> made.leads[0].strip(), made.texts[0][:10], made.names
        ('Ada wrote.', '§\n\nShe was', [(0, 3, 'Ada: Life')])
    """
    made = section_questions.section_questions(titles, texts)
    names: dict[int, list[section_questions.Question]] = {}
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
    """Return the articles as sentences, sections and documents, with vectors."""
    return segment_levels(
        articles.texts,
        ["sentence", "paragraph", "section", "document"],
        vectors=Vectors("sentence", encoder),
        columns={"blocks": Blocks.of(articles.blocks)},
        placement=Placement(threads=threads),
    )


def nodes_of_names(articles: Articles, found: Any) -> I64:
    """Return the section that each name belongs to, int64[names]."""
    documents, starts = found.documents_of("section"), found.spans("section")[0]
    keys = np.stack([documents, starts], 1).tolist()
    wanted = [[row, at] for row, at, _ in articles.names]
    places = [_last_not_above(keys, each) for each in wanted]
    return np.array(places, np.int64)


def _last_not_above(keys: list[list[int]], wanted: list[int]) -> int:
    return bisect.bisect_right(keys, wanted) - 1


def lessons(
    articles: Articles, target: str, encoder: str = "static", threads: int = 1, keep: Path | None = None
) -> Lessons:
    """Return documents with their targets, followed by the sections that have a name.

    Args:
        articles: The articles.
        target: ``"lead"``, ``"summary"``, or a Parquet file with columns ``id`` and ``summary`` for some articles.
        encoder: The encoder of the vectors.
        threads: The number of threads.
        keep: The folder in which vectors are kept and reused.

    Raises:
        ValueError: The file has a summary of none of the articles.
    """
    given = None if target in ("lead", "summary") else _given(target, articles.ids)
    parts = []
    for begin in range(0, max(1, len(articles.ids)), _KEPT_TOGETHER):
        own = articles.part(begin, begin + _KEPT_TOGETHER)
        key = [vector_encoder(encoder).fingerprint, target, *own.texts, *own.leads, *(name for *_, name in own.names)]
        if given is not None:
            key += [given.get(name, "") for name in own.ids]
        parts.append(kept(keep, key, partial(_arrays, own, target, given, encoder, threads)))
    return _joined(parts)


def kept(folder: Path | None, key: Sequence[str], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return arrays by name from the file for their inputs in ``folder``, or make them and write it."""
    if folder is None:
        return make()
    name = hashlib.sha256("\0".join(key).encode()).hexdigest()[:24]
    file = folder / f"{name}.npz"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        held = io.BytesIO()
        np.savez(held, **make())
        with whole_file(file) as out:
            out.write(held.getbuffer())
    with np.load(file) as stored:
        return dict(stored)


def _arrays(
    articles: Articles, target: str, given: dict[str, str] | None, encoder: str, threads: int
) -> dict[str, Any]:
    """Return vectors and tokens of sentences, and spans and targets of documents and sections, of some articles."""
    found = hierarchy(articles, encoder, threads)
    rows, texts = np.arange(len(articles.ids)), articles.leads
    if target == "summary":
        texts = summaries(articles.texts, threads)
    elif given is not None:
        rows = np.array([row for row, name in enumerate(articles.ids) if name in given], np.int64)
        texts = [given[articles.ids[row]] for row in rows]
    made: dict[str, Any] = {"vectors": found.vectors("sentence"), "tokens": found.tokens}
    names = [name for _, _, name in articles.names]
    for level, nodes, task, wanted in (
        ("document", rows, "passage", texts),
        ("section", nodes_of_names(articles, found), "query", names),
    ):
        first = found.first(level)
        made[f"{level} first"], made[f"{level} last"] = first[nodes], first[nodes + 1]
        made[f"{level} targets"] = embed(wanted, encoder=encoder, task=task, placement=Placement(threads=threads))
    return made


def _joined(parts: Sequence[dict[str, Any]]) -> Lessons:
    before = np.cumsum([0, *(len(part["vectors"]) for part in parts)])[:-1]

    def spans(end: str) -> I64:
        own = [
            part[f"{level} {end}"] + at
            for level in ("document", "section")
            for part, at in zip(parts, before, strict=True)
        ]
        return np.concatenate(own)

    targets = [part[f"{level} targets"] for level in ("document", "section") for part in parts]
    vectors, tokens = (np.concatenate([part[name] for part in parts]) for name in ("vectors", "tokens"))
    documents = sum(len(part["document first"]) for part in parts)
    return Lessons(vectors, tokens, spans("first"), spans("last"), np.concatenate(targets), documents)


def _given(file: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the summaries of articles in a file, by the articles' ids."""
    import pyarrow.parquet as pq

    rows = pq.read_table(file, columns=["id", "summary"]).to_pylist()
    wanted = set(ids)
    found = {str(row["id"]): str(row["summary"]) for row in rows if row["summary"] and str(row["id"]) in wanted}
    if not found:
        raise ValueError(
            f"{file} contains a summary of none of {len(ids):,} articles; its ids must be those of --articles"
        )
    return found


def summaries(texts: Sequence[str], threads: int = 1) -> list[str]:
    """Return an extractive summary of each text, up to five of its sentences."""
    found: Any = segment(
        list(texts), "pic", summary="extractive", summaries_out=True, placement=Placement(threads=threads)
    )
    return [text or "" for text in found.summaries["text"].to_pylist()]
