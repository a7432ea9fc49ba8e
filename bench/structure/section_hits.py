"""Questions about sections of Wikipedia articles, found with and without the context around a hit.

A question is an article's title and a heading, whose line is not in the text. The answer is the section under it. For
each method, all ways search the same chunks and return the same number of words: hits in order, no chunk twice, each
hit with as much of its passages as fits. `Expansion(max_words=)` chooses among subtrees and sections. Recall is the
share of the section's characters that is returned. "Merged" returns a whole section if at least half of its chunks are
among the hits (auto-merging).

Weighted precision at 3 and 5 refers to the first chunks that a reader gets, each as relevant as its share in the
section (pychunk/evaluation/measures/quality_counts.py). A chunk of another section of the article has its parent,
because headings of Wikipedia's articles have one level here.

No model runs for `autochunker`; the server of the tests answers by scripts. `autochunker:paragraph` makes each
paragraph a chunk, with the heading above it. `autochunker:section` groups up to four paragraphs of a section.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk.evaluation.measures import intervals, quality_counts
from pychunk.index import Bm25, Expansion
from pychunk.index.search.expansion import within
from pychunk.index.search.hits import Hit, Passage
from pychunk.llm import LLM
from pychunk.training.corpus import part_of
from pychunk.training.section_questions import MARK, Question, Sections, section_questions

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from tests.helpers.llm_server import Answer, Server

WAYS: dict[str, Any] = {"plain": 0, "neighbours": 1, "subtree": "subtree", "section": "section"}
MERGED = "merged"
WORDS = 1000
HITS = 20
#: The numbers of chunks for weighted precision.
FIRST = (3, 5)
RECALL = "recall within 1,000 words"
MEASURES = (RECALL, *(f"weighted precision at {k}" for k in FIRST))
#: The number of queries searched at a time.
BATCH = 256
#: The methods by the names of `--methods`, with their options.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "structure": ("structure", {}),
    "topic": ("topic", {}),
    "topic:size=60": ("topic", {"size": 60}),
    "autochunker:paragraph": ("autochunker", {}),
    "autochunker:section": ("autochunker", {}),
}
#: The most paragraphs that a script groups.
GROUPS = {"autochunker:paragraph": 1, "autochunker:section": 4}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=3000, metavar="N", help="drawn with a seed (default: 3000)")
    parser.add_argument("--articles", type=int, default=0, metavar="N", help="of those set apart; 0: all (default)")
    parser.add_argument("--split", choices=("test", "validation"), default="test", help="articles (default: test)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="default: all")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="measure N methods at once (default: 1)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/sections.json")
    return parser.parse_args()


def passages(hit: Hit) -> tuple[Passage, ...]:
    return hit.around or (Passage(hit.chunk_index, hit.start, hit.end, hit.text),)


def handed_over(hits: Sequence[Hit], words: int) -> list[tuple[int, int, int]]:
    """Return (document, first, last character) of the text that a reader gets."""
    found: list[tuple[int, int, int]] = []
    known: set[tuple[int, int]] = set()
    left = words
    for hit in hits:
        new = [each for each in passages(hit) if (hit.document_index, each.chunk_index) not in known]
        if hit.chunk_index not in [each.chunk_index for each in new]:
            continue
        kept = within(new, hit.chunk_index, left)
        spent = sum(len(each.text.split()) for each in kept)
        if spent > left:
            continue
        left -= spent
        known |= {(hit.document_index, each.chunk_index) for each in kept}
        found += [(hit.document_index, each.start, each.end) for each in kept]
    return found


def merge(hits: Sequence[Hit], whole: Sequence[Hit]) -> list[Hit]:
    """Return hits, with the whole section if at least half of its chunks were found; ``whole``: for all hits."""
    counts = Counter((hit.document_index, passages(full)[0].chunk_index) for hit, full in zip(hits, whole, strict=True))
    made = []
    for hit, full in zip(hits, whole, strict=True):
        own = passages(full)
        made.append(full if 2 * counts[hit.document_index, own[0].chunk_index] >= len(own) else hit)
    return made


def grouping(most: int) -> Answer:
    """Return a script that groups at most this many units after each heading, together with the heading."""

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
        groups: list[list[int]] = []
        held = most
        for number, text in units:
            heading = text.strip() == MARK
            if heading or held == most:
                groups.append([number, number])
                held = 0
            groups[-1][1] = number
            held += not heading
        return json.dumps({"chunks": groups, "noise": []})

    return answer


def segmented(name: str, data: Sections) -> pychunk.ChunkBatch:
    """Return the chunks of all documents by a method of :data:`METHODS`, each with the vectors of its sentences."""
    method, options = METHODS[name]
    with contextlib.ExitStack() as stack:
        if method == "autochunker":
            server = stack.enter_context(Server(answer=grouping(GROUPS[name])))
            options = {**options, "llm": LLM(server.url, "script", cache=False)}
        made = pychunk.Segmenter(method, vectors="sentence", **options)
        return made(data.documents, columns={"blocks": data.blocks})


def measured(data: Sections, index: pychunk.Index) -> dict[str, dict[str, np.ndarray]]:
    """Return, by way and measure, the returned share of the section and the first chunks' relevance, per question."""
    found: dict[str, dict[str, list[float]]] = {name: {each: [] for each in MEASURES} for name in (*WAYS, MERGED)}
    for first in range(0, len(data.questions), BATCH):
        asked = data.questions[first : first + BATCH]
        texts = [question.text for question in asked]
        lists = {name: index.search(texts, k=HITS, expansion=way) for name, way in WAYS.items()}
        sections = _sections(index, lists["plain"])
        lists[MERGED] = [merge(hits, whole) for hits, whole in zip(lists["plain"], sections, strict=True)]
        for name, own in lists.items():
            by_tree = isinstance(WAYS.get(name), str)
            chosen = index.search(texts, k=HITS, expansion=Expansion(WAYS[name], max_words=WORDS)) if by_tree else own
            for question, hits, few in zip(asked, own, chosen, strict=True):
                found[name][RECALL].append(recall(question, handed_over(few, WORDS)))
                for k, value in zip(FIRST, precisions(question, hits), strict=True):
                    found[name][f"weighted precision at {k}"].append(value)
    return {name: {each: np.array(values) for each, values in own.items()} for name, own in found.items()}


def precisions(question: Question, hits: Sequence[Hit]) -> list[float]:
    """Return the weighted precision of the first chunks that a reader gets, hits with passages in reading order."""
    every = [(hit.document_index, each.start, each.end) for hit in hits for each in passages(hit)]
    first = list(dict.fromkeys(every))[: max(FIRST)]
    own = [document == question.document for document, *_ in first]
    spans = [(start, end) for _, start, end in first]
    relevance = quality_counts.relevance(spans, (question.start, question.end), own, own)
    return [quality_counts.weighted_precision(relevance, k) for k in FIRST]


def _sections(index: pychunk.Index, lists: Sequence[Sequence[Hit]]) -> Iterator[list[Hit]]:
    """Yield hits, each with its whole section, even if several hits share one."""
    searcher = index._contents.searcher()
    outline = searcher.outline
    for hits in lists:
        made = []
        for hit in hits:
            above = int(outline.parent[hit.row])
            region = outline.region(hit.row, "section", hit.path, searcher.path(above) if above >= 0 else None)
            made.append(replace(hit, around=searcher.passages(range(*region))))
        yield made


def recall(question: Question, spans: Sequence[tuple[int, int, int]]) -> float:
    held = sum(
        max(0, min(end, question.end) - max(start, question.start))
        for document, start, end in spans
        if document == question.document
    )
    return held / (question.end - question.start)


def shown(cell: dict[str, float], sign: str = "") -> str:
    mean, low, high = (f"{cell[name]:{sign}.3f}" for name in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def by_method(name: str, data: Sections) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray]]]:
    """Return :func:`shape` of the chunks of a method, and :func:`measured` of their index."""
    chunks = segmented(name, data)
    with (
        tempfile.TemporaryDirectory() as folder,
        pychunk.Index.create(Path(folder) / "index", bm25=Bm25(stemmer="english", k1=0.9, b=0.4)) as index,
    ):
        index.add(chunks)
        found = measured(data, index)
        index.close(discard=True)
    return {"method": name, **shape(chunks, data)}, found


def shape(chunks: pychunk.ChunkBatch, data: Sections) -> dict[str, float]:
    """Return how far chunks allow a high weighted precision at 3, whatever a search finds.

    A section with one chunk has a weighted precision of 0.5 at most: 4 for the chunk, and 1 for each of two others. The
    "ceiling" is the mean of this value. The "best subtree" is the mean of the value that the best subtree has by
    itself.
    """
    table = chunks.table
    document, start, end, size = (np.array(table[name]) for name in ("document_index", "start", "end", "subtree"))
    first = np.searchsorted(document, np.arange(len(data.documents) + 1))
    several = [text.count(MARK) > 1 or MARK in text[1:] for text in chunks.texts]
    own, ceiling, best = [], [], []
    for question in data.questions:
        rows = slice(first[question.document], first[question.document + 1])
        spans = np.stack([start[rows], end[rows]], axis=1)
        relevance = quality_counts.relevance(spans, (question.start, question.end), True)
        own.append(int((relevance == quality_counts.MOST).sum()))
        ceiling.append(quality_counts.weighted_precision(np.sort(relevance)[::-1], FIRST[0]))
        inside = [relevance[at : at + size[rows][at]] for at in np.flatnonzero(relevance > 1)]
        best.append(max((quality_counts.weighted_precision(each, FIRST[0]) for each in inside), default=0.0))
    shares = {
        "words a chunk": np.mean([len(text.split()) for text in chunks.texts]),
        "chunks of several sections": np.mean(several),
        "own chunks of a section": np.mean(own),
        "sections with three own chunks": np.mean(np.array(own) >= FIRST[0]),
        "ceiling of weighted precision at 3": np.mean(ceiling),
        "best subtree": np.mean(best),
    }
    return {name: round(float(value), 3) for name, value in shares.items()}


def rows_of(name: str, measure: str, found: dict[str, dict[str, np.ndarray]]) -> Iterator[dict[str, Any]]:
    """Print and yield a row for each way, with the paired differences from other ways."""
    for way, values in found.items():
        cell = intervals.interval(values[measure])._asdict()
        minus = {
            f"minus {other}": intervals.paired(values[measure], found[other][measure])._asdict()
            for other in ("plain", "neighbours", MERGED)
            if other != way
        }
        told = "".join(f"  {key} {shown(value, '+')}" for key, value in minus.items())
        print(f"  {name:21} {way:10} {shown(cell)}{told}", flush=True)
        yield {"method": name, "way": way, measure.split(" within")[0]: cell, **minus}


def main() -> None:
    """Print the tables with paired differences, and save them."""
    options = arguments()
    table = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["id", "title", "text"])
    rows = [row for row in table.to_pylist() if part_of(str(row["id"])) == options.split and row["text"]]
    rows = rows[: options.articles or None]
    data = section_questions([row["title"] for row in rows], [row["text"] for row in rows], options.questions)
    print(f"{len(data.questions):,} questions about {len(rows):,} articles, {WORDS:,} words handed over", flush=True)
    tables: dict[str, list[dict[str, Any]]] = {measure: [] for measure in MEASURES}
    shapes = []
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        for name, (own, found) in zip(options.methods, pool.map(by_method, options.methods, repeat(data)), strict=True):
            shapes.append(own)
            print("; ".join(f"{key} {value}" for key, value in own.items()), flush=True)
            for measure in MEASURES:
                print(measure)
                tables[measure] += rows_of(name, measure, found)
    if options.save:
        record.save(
            options.save,
            "Sections of articles found with the text around a hit",
            {"articles": len(rows), "questions": len(data.questions), **tables, "chunks": shapes},
            about=(
                "Each question consists of an article's title and the heading of one of its sections; a mark replaces "
                "the headings in the text. Recall is the share of the section's characters that a hybrid search "
                "returns. For weighted precision, each of the first chunks that a reader gets counts 4 if at least "
                "90 % of it is in the section, 3 if at least half is, 2 for less, and 1 if it is in another section of "
                "the article. Differences are paired. A script answers for the model of `autochunker`. By `paragraph`, "
                "each paragraph is a chunk, with the heading above it. By `section`, up to four paragraphs of a "
                "section are a chunk. "
                "In the table of chunks, own chunks of a section count 4 for its question. The ceiling is the weighted "
                "precision at 3 if the best chunks came first, and the best subtree's is that of one subtree alone."
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
