"""Edits: the time of `Segmenter.edit` next to that of a call with the new text, and the chunks that are embedded again.

Each document is made of Wikipedia articles and has at least 1,000 chunks. A random edit inserts, deletes or replaces a
few words or a sentence, or appends a sentence. Every result is compared with that of the call, in all columns. Times
are those of one thread in seconds of the processor, because other programs may share the machine.

    python bench/stages/edits.py --save bench/results/edits.json
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: The methods with their defaults.
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "topic": {"method": "topic"},
    "sentence": {"method": "sentence"},
    "paragraph": {"method": "paragraph"},
    "recursive": {"method": "recursive"},
    "structure": {"method": "structure"},
    "fixed": {"method": "fixed"},
    "semantic": {"method": "semantic"},
    "cluster": {"method": "cluster"},
    "pic": {"method": "pic"},
    "nsp, static": {"method": "nsp", "encoder": "static"},
}
#: The sizes of documents to which a sentence is appended, in KB.
SIZES = (256, 512, 1024, 2048)
SENTENCE = " This sentence was written last, at the end of the day."


def some_edit(rng: random.Random, text: str, sentences: Sequence[str]) -> tuple[int, int, str]:
    """Return a random edit of a text."""
    at, sentence = rng.randrange(len(text)), rng.choice(sentences)
    words = " ".join(sentence.split()[: rng.randrange(1, 6)]) + " "
    end = min(len(text), at + rng.choice((len(words), len(sentence))))
    return rng.choice(
        [(at, at, words), (at, at, sentence), (at, end, ""), (at, end, words), (len(text), len(text), sentence)]
    )


def timed(work: Callable[..., pychunk.ChunkBatch], *given: Any, **named: Any) -> tuple[float, pychunk.ChunkBatch]:
    """Return the milliseconds of a call, and its result."""
    begun = time.thread_time()
    made = work(*given, **named)
    return 1e3 * (time.thread_time() - begun), made


def replayed(
    segmenter: pychunk.Segmenter, text: str, edits: Sequence[tuple[int, int, str]]
) -> Iterator[tuple[float, pychunk.ChunkBatch]]:
    """Yield the milliseconds and the result of each edit of a text, after one that changes nothing."""
    chunks = segmenter.edit(segmenter(text, ids=["a"]), [])
    for edit in edits:
        took, chunks = timed(segmenter.edit, chunks, [edit])
        yield took, chunks


def document_of(segmenter: pychunk.Segmenter, articles: Sequence[str], chunks: int) -> str:
    """Return the first articles that have this number of chunks together."""
    text, count = "", 1
    while len(segmenter(text)) < chunks and count < 2 * len(articles):
        text, count = "\n\n".join(articles[:count]), count + max(1, count // 8)
    return text


def edited(options: dict[str, Any], articles: Sequence[str], chunks: int, edits: int) -> dict[str, Any]:
    """Return the figures of a sequence of edits."""
    segmenter = pychunk.Segmenter(**options, placement=pychunk.Placement(threads=1))
    text = document_of(segmenter, articles, chunks)
    sentences = [f"{part}. " for article in articles for part in article.split(". ")[:40] if len(part) > 20]
    rng, versions, made = random.Random(0), [text], []
    for _ in range(edits):
        start, end, put = some_edit(rng, text, sentences)
        text = text[:start] + put + text[end:]
        versions.append(text)
        made.append((start, end, put))
    kilobytes, count = len(versions[0].encode()) / 1000, len(segmenter(versions[0]))
    times = [took for took, _ in replayed(segmenter, versions[0], made)]  # by themselves, as an editor makes them
    calls, new, held = [], [], set(segmenter(versions[0], ids=["a"]).table["text_id"].to_pylist())
    for (_, after), version in zip(replayed(segmenter, versions[0], made), versions[1:], strict=True):
        called, whole = timed(segmenter, version, ids=["a"])
        assert after.table.equals(whole.table), f"{options}: {version[:80]}"
        calls.append(called)
        before, held = held, set(after.table["text_id"].to_pylist())
        new.append(len(held - before))
    return {
        "chunks": count,
        "KB": round(kilobytes),
        "edit, ms": round(float(np.median(times)), 2),
        "95th": round(float(np.percentile(times, 95)), 2),
        "call, ms": round(float(np.median(calls)), 2),
        "chunks embedded again": int(np.median(new)),
        "95th of them": int(np.percentile(new, 95, method="higher")),
        "most": max(new),
        "edits with at most 3, %": round(100 * float(np.mean(np.array(new) <= 3)), 1),
    }


def appended(options: dict[str, Any], articles: Sequence[str], sizes: Sequence[int], edits: int) -> dict[str, Any]:
    """Return the milliseconds of appending a sentence to documents of several sizes, and their growth."""
    segmenter = pychunk.Segmenter(**options, placement=pychunk.Placement(threads=1))
    found = {}
    for size in sizes:
        text = "\n\n".join(articles).encode()[: size * 1000].decode(errors="ignore")
        chunks, times = segmenter.edit(segmenter(text), []), []
        for _ in range(edits):
            took, chunks = timed(segmenter.edit, chunks, [(len(text), len(text), SENTENCE)])
            text += SENTENCE
            times.append(took)
        assert chunks.table.equals(segmenter(text).table), options
        found[f"{size} KB, ms"] = round(float(np.median(times)), 2)
    first, last = (found[f"{size} KB, ms"] for size in (sizes[0], sizes[-1]))
    return {**found, "ms per MB": round(1000 * (last - first) / (sizes[-1] - sizes[0]), 2)}


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--chunks", type=int, default=1000, metavar="N", help="chunks of a document (default: 1000)")
    parser.add_argument("--edits", type=int, default=100, metavar="N", help="edits of each document (default: 100)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/edits.json")
    options = parser.parse_args()
    table = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["text"])
    articles = table["text"].to_pylist()
    rows, growth = [], []
    for name, own in METHODS.items():
        rows.append({"method": name, **edited(own, articles, options.chunks, options.edits)})
        growth.append({"method": name, **appended(own, articles, SIZES, max(1, options.edits // 5))})
        print(*rows[-1].values(), sep=" | ")
        print(*growth[-1].values(), sep=" | ", flush=True)
    if options.save:
        record.save(
            options.save,
            "Edits",
            {"edits": options.edits, "rows": rows, "appended sentence": growth},
            about=(
                "Random edits of documents of at least 1,000 chunks, made of Wikipedia articles: `Segmenter.edit`, and "
                "a call with the new text. Times are medians of one thread in seconds of the processor; `95th` is that "
                "percentile. `chunks embedded again` is the number of new `text_id`. All columns of every result equal "
                "those of the call. `appended sentence`: the time of appending a sentence to documents of several "
                "sizes, and what each further MB of the document adds: the copy of the text, the table of chunks, and "
                "passes over all sentences."
            ),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
