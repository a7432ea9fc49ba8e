"""The CPU time that contexts add to cutting and indexing with the static encoder, and the work that they repeat.

The base cuts articles of Wikipedia by `structure`, adds the chunks to an index and saves it, without contexts. The
headings of the articles are headings of Markdown, which is parsed before. The ways take turns on one thread, and each
counts with its least CPU time. The core counts the bytes that it splits into sentences and that it tokenizes. If a way
split or tokenized a document twice, its bytes would be twice those of the text. Each distinct context is tokenized once
more, for its vector.

    python bench/retrieval/context_costs.py --save bench/results/context_costs.json
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk._engine import native
from pychunk.evaluation.datasets import lines_with_headings
from pychunk.training.corpus import part_of

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

WAYS: tuple[str | None, ...] = (None, "head", "path", "summary", "neighbours")
INDEXES: dict[str, dict[str, Any]] = {"vectors": {"bm25": None}, "vectors and BM25": {}}
ONE = pychunk.Placement(threads=1)


class Run(NamedTuple):
    """The CPU seconds of a run, its chunks, and the bytes that it split and tokenized."""

    seconds: float
    chunks: int
    split: int
    tokenized: int


def markdown(text: str) -> str:
    """Return an article as WikiExtractor writes it in Markdown."""
    lines = lines_with_headings(text)
    return "\n\n".join(f"## {line.rstrip('.')}" if heading else line.strip() for _, line, heading in lines)


def run(documents: Any, context: str | None, options: dict[str, Any]) -> Run:
    """Cut and index all documents, with this context of each chunk."""
    made = pychunk.Segmenter("structure", vectors="sentence", augment=context, placement=ONE)
    with tempfile.TemporaryDirectory() as folder:
        index = pychunk.Index.create(Path(folder) / "index", placement=ONE, **options)
        before, begin = native.work(), time.process_time()
        chunks = made(documents)
        index.add(chunks)
        index.save()
        seconds, after = time.process_time() - begin, native.work()
        index.close()
    return Run(seconds, len(chunks), after[0] - before[0], after[1] - before[1])


def rows_of(documents: Any, size: int, name: str, options: dict[str, Any], rounds: int) -> list[dict[str, Any]]:
    """Print and return a row for each way."""
    runs: dict[str | None, list[Run]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, own in runs.items():
            own.append(run(documents, way, options))
    base = runs[None]
    rows = []
    for way, own in runs.items():
        best = min(each.seconds for each in own)
        added = [each.seconds / plain.seconds - 1 for each, plain in zip(own, base, strict=True)]
        rows.append(
            {
                "index": name,
                "context": way or "none",
                "microseconds a chunk": round(1e6 * best / own[0].chunks, 2),
                "added": round(best / min(each.seconds for each in base) - 1, 4),
                "added, median of rounds": round(float(np.median(added)), 4),
                "bytes split for each of the text": round(own[0].split / size, 3),
                "bytes tokenized for each of the text": round(own[0].tokenized / size, 3),
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Print the rows, and save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--articles", type=int, default=347, metavar="N", help="test articles (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="of each way (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/context_costs.json")
    options = parser.parse_args()
    table = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["id", "title", "text"])
    articles = [row for row in table.to_pylist() if part_of(str(row["id"])) == "test" and row["text"]]
    articles = articles[: options.articles]
    texts = [markdown(row["text"]) for row in articles]
    documents = pychunk.parse(texts, "markdown", ids=[str(row["id"]) for row in articles])
    size = sum(len(text.encode()) for text in texts)
    print(f"{len(texts):,} articles")
    rows = [row for name, own in INDEXES.items() for row in rows_of(documents, size, name, own, options.rounds)]
    if options.save:
        record.save(
            options.save,
            "What contexts cost",
            {"articles": len(texts), "rows": rows},
            about=(
                "CPU time of one thread to cut articles by method `structure`, to add the chunks to an index and to "
                'save it, with the static encoder. "Added" compares the least times, and "median of rounds" the times '
                "of each round. The last columns are counters of the core: the bytes that it split into sentences and "
                "tokenized, for each byte of the text."
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
