"""The CPU time of one thread that five levels with vectors add to the chunks with their sentences' vectors.

The base is `segment(vectors="sentence")`, and the ways take turns. Levels stay in flat arrays but chunks become a
table, so that levels may take less time than the base. The script therefore also measures by themselves the two parts
that only levels have. One finds the start of each level and the sentences of its nodes (all levels together minus
sentences alone). The other makes the vectors of the coarser levels, by means and by the compression encoder. MiniLM
encodes a sample of the same articles.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk._engine import engine as engines
from pychunk.encoders.registry import vector_encoder
from pychunk.levels.compressor import shipped_for
from pychunk.levels.hierarchy_builder import hierarchy_by, level_vectors

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

LEVELS = ["sentence", "group", "paragraph", "section", "document"]
BASE = 'segment(vectors="sentence")'


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--limit", type=int, default=500, metavar="N", help="articles (default: %(default)s)")
    parser.add_argument("--minilm", type=int, default=8, metavar="N", help="articles for MiniLM; 0: none (default: 8)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="of each way (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/levels_added.json")
    return parser.parse_args()


def in_turns(ways: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each way; the ways take turns, round by round."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            begin = time.process_time()
            call()
            spent[name].append(time.process_time() - begin)
    return {name: min(values) for name, values in spent.items()}


def rows_of(texts: pa.LargeStringArray, encoder: str, rounds: int) -> list[dict[str, Any]]:
    """Return a row for each way, with what it adds to the base."""
    segmenter = pychunk.Segmenter(vectors=pychunk.Vectors("sentence", encoder), placement=pychunk.Placement(threads=1))
    found = hierarchy_by(segmenter, texts, LEVELS)
    engine, model = engines.engine(), shipped_for(vector_encoder(encoder).fingerprint)
    arguments = found.vectors("sentence"), found.tokens, found.doc_offsets, found.firsts, engine, 1
    alone = pychunk.Segmenter(placement=pychunk.Placement(threads=1))  # levels without vectors: the same borders
    borders = in_turns(
        {
            "levels": lambda: hierarchy_by(alone, texts, LEVELS),
            "cuts": lambda: alone(texts),
        },
        max(3, rounds),
    )
    parts = in_turns(
        {
            "vectors of four levels, means": lambda: level_vectors(*arguments),
            "vectors of four levels, compression encoder": lambda: level_vectors(*arguments, model),
        },
        max(3, rounds),
    )
    ways = {
        BASE: lambda: segmenter(texts),
        "five levels, means": lambda: hierarchy_by(segmenter, texts, LEVELS),
        "five levels, compression encoder": lambda: hierarchy_by(segmenter, texts, LEVELS, pooling="compressor"),
    }
    spent = in_turns(ways, rounds)
    base = spent[BASE]
    rows = [
        {"encoder": encoder, "what": name, "CPU seconds": round(seconds, 4), "added": round(seconds / base - 1, 4)}
        for name, seconds in spent.items()
    ]
    rows += [
        {"encoder": encoder, "what": name, "CPU seconds": round(seconds, 4), "added": round(seconds / base, 4)}
        for name, seconds in parts.items()
    ]
    seconds = max(0.0, borders["levels"] - borders["cuts"])
    what = "borders of five levels, beyond the chunks'"
    rows.append({"encoder": encoder, "what": what, "CPU seconds": round(seconds, 4), "added": round(seconds / base, 4)})
    return rows


def main() -> None:
    """Print the table and save it."""
    options = arguments()
    file = pq.ParquetFile(options.data / "wiki" / "articles.parquet")
    texts = next(file.iter_batches(batch_size=options.limit, columns=["text"])).column("text").cast(pa.large_string())
    rows = rows_of(texts, "static", options.rounds)
    if options.minilm:
        rows += rows_of(texts[: options.minilm], "minilm", min(options.rounds, 3))
    for row in rows:
        print(f"{row['encoder']:7} {row['what']:48} {row['CPU seconds']:9.4f} s  {row['added']:+.2%}")
    if options.save:
        counts = {"articles": len(texts), "articles for MiniLM": options.minilm}
        record.save(
            options.save,
            "What levels add",
            {**counts, "levels": ", ".join(LEVELS), "rows": rows},
            about=(
                "CPU seconds of one thread, the least of several rounds in which the rows take turns. The base is the "
                'call `segment(vectors="sentence")`. In the rows "five levels", which are whole calls, "added" is the '
                "difference from the base as a share of the base. It is negative if the call takes less time than the "
                "base, which is possible because levels stay in flat arrays and chunks become a table. The other rows "
                'are parts of these calls, and "added" is the time of the part as a share of the base.'
            ),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
