"""The price of a call: the time for one document, in addition to the document's share of a batch.

A request of a service pays it. The time for each document is the least of several rounds, because a call takes less
time than most interruptions. The batch is timed in the same rounds.

    python bench/stages/call_price.py --save bench/results/call_price.json
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

METHODS = ("sentence", "paragraph", "recursive", "fixed", "structure", "topic", "pic", "semantic")
CHARACTERS = 2600
#: What a caller does with the chunks after the call.
USES: dict[str, Callable[[Any], Any]] = {
    "call": lambda chunks: None,
    "call and table": lambda chunks: chunks.table,
    "call and chunks": list,
}


def least(work: Callable[[Any], Any], values: Sequence[Any], rounds: int) -> float:
    """Return the microseconds of a value in the mean: the least of all rounds for each."""
    times = np.full((rounds, len(values)), np.inf)
    for row in times:
        for place, value in enumerate(values):
            begun = time.perf_counter()
            work(value)
            row[place] = time.perf_counter() - begun
    return float(times.min(axis=0).mean() * 1e6)


def measured(texts: list[str], rounds: int) -> list[dict[str, Any]]:
    """Return one row for each method, and one for ``segment()`` with its defaults."""
    rows = []
    segmenters: dict[str, Callable[..., pychunk.ChunkBatch]] = {
        name: pychunk.Segmenter(name, placement=pychunk.Placement(threads=1)) for name in METHODS
    }
    for name, cut in {**segmenters, "segment()": pychunk.segment}.items():
        together = cut(texts).by_document()
        assert [[chunk.text for chunk in cut(text)] for text in texts] == [
            [chunk.text for chunk in own] for own in together
        ]
        share = least(cut, [texts], rounds) / len(texts)
        row: dict[str, Any] = {"method": name, "share of a batch, us": share}
        for use, work in USES.items():
            row[f"{use}, us"] = least(lambda text, cut=cut, work=work: work(cut(text)), texts, rounds)
        rows.append({**row, "price of the call, us": row["call, us"] - share})
        print(f"{name:10s} call {row['call, us']:6.1f} us, share of a batch {share:6.1f} us", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # some articles are in other scripts
    rows = pq.read_table(options.data / "wiki" / "articles.parquet", columns=["text"]).column("text")
    texts = [text[:CHARACTERS] for text in rows.slice(0, options.documents).to_pylist()]
    found = measured(texts, options.rounds)
    if options.save:
        about = (
            f"One document of {CHARACTERS:,} characters a call, in one thread; segment() uses all threads. "
            "The price is the call's time less the document's share of a batch."
        )
        record.save(options.save, "Price of a call", {"documents": len(texts), "rows": found}, about=about)


if __name__ == "__main__":
    main()
