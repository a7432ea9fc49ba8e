"""Near-copies: how many planted copies `find_duplicates` finds, how many of its pairs are right, and how fast it is.

Each article of Wikipedia gets one copy, in which a share of the words is replaced by words of other articles. Articles
that are near-copies by themselves are left out first. Rows are shuffled, so that a copy may come before its original.

    python bench/ingestion/duplicates.py --save bench/results/duplicates.json

With rensa or datasketch installed (`pip install rensa datasketch`), their speeds are measured, too.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.index.search.near_copies import share, words_of

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: The shares of words that are replaced in copies.
EDITS = (0.0, 0.01, 0.05, 0.1, 0.2)
#: The least shares of near-copies that are asked for.
SHARES = (0.5, 0.7, 0.8, 0.9)
#: The bytes of text of which the peers get shingles.
PEER_BYTES = 4_000_000


def planted(texts: Sequence[str], seed: int) -> list[tuple[int, float | None, str]]:
    """Return (number of the article, edits or None, text) for articles and copies, shuffled."""
    rng = random.Random(seed)
    vocabulary = [word for text in rng.sample(texts, min(50, len(texts))) for word in text.split()]
    rows: list[tuple[int, float | None, str]] = [(number, None, text) for number, text in enumerate(texts)]
    for number, text in enumerate(texts):
        edits = EDITS[number % len(EDITS)]
        words = text.split(" ")
        for place in rng.sample(range(len(words)), round(edits * len(words))):
            words[place] = rng.choice(vocabulary)
        rows.append((number, edits, " ".join(words)))
    rng.shuffle(rows)
    return rows


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    """Return the least CPU time of a call with one thread. It does not depend on other work on the machine."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def _found(batch: pa.Array, least: float) -> pa.Table:
    return pychunk.find_duplicates(batch, least, threads=1)


def measured(texts: Sequence[str], seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each share and number of edits, and a row for each share with precision and speed."""
    rows = planted(texts, seed)
    batch = pa.array([text for _, _, text in rows], pa.large_string())
    size = sum(len(text.encode()) for _, _, text in rows) / 1e6
    originals = pa.array(texts, pa.large_string())
    alone = sum(len(text.encode()) for text in texts) / 1e6
    copies = [(number, edits, words_of(text)) for number, edits, text in rows if edits is not None]
    shares = {number: (edits, share(words_of(texts[number]), words)) for number, edits, words in copies}
    recalls, speeds = [], []
    for least in SHARES:
        pairs = _found(batch, least)
        right, wrong = set(), 0
        for row, of in zip(pairs["row"].to_pylist(), pairs["of"].to_pylist(), strict=True):
            if rows[row][0] == rows[of][0]:
                right.add(rows[row][0])
            else:
                wrong += 1
        spent = seconds(functools.partial(_found, batch, least))
        near = {number for number, (_, own) in shares.items() if own >= least}
        speeds.append(
            {
                "least share": least,
                "pairs": pairs.num_rows,
                "precision, %": round(100 * (1 - wrong / max(1, pairs.num_rows)), 2),
                "near-copies": len(near),
                "recall, %": round(100 * len(near & right) / max(1, len(near)), 2),
                "MB/s a core": round(size / spent),
                "MB/s a core without copies": round(alone / seconds(functools.partial(_found, originals, least))),
            }
        )
        for edits in EDITS:
            own = {number for number, (each, _) in shares.items() if each == edits}
            recalls.append(
                {
                    "least share": least,
                    "words replaced, %": round(100 * edits),
                    "copies": len(own),
                    "mean share": round(sum(shares[number][1] for number in own) / max(1, len(own)), 3),
                    "near-copies": len(own & near),
                    "found": len(own & right),
                    "missed": len(own & near - right),
                }
            )
    return recalls, speeds


def shingles_of(text: str) -> list[str]:
    """Return shingles as a user of the peers makes them, in Python."""
    words = text.split()
    return [" ".join(words[place : place + 3]) for place in range(len(words) - 2)]


def rensa_sketch(rensa: Any, shingles: Sequence[str]) -> None:
    """Make a sketch of 128 values with rensa."""
    sketch = rensa.RMinHash(num_perm=128, seed=42)
    sketch.update(shingles)
    sketch.digest()


def datasketch_sketch(datasketch: Any, shingles: Sequence[str]) -> None:
    """Make a sketch of 128 values with datasketch."""
    datasketch.MinHash(num_perm=128).update_batch([shingle.encode() for shingle in shingles])


def _all(make: Callable[[Any, Sequence[str]], None], module: Any, lists: Sequence[Sequence[str]]) -> None:
    for shingles in lists:
        make(module, shingles)


def peers(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the speed of sketches by the peers that are installed, with their shingles and without."""
    some: list[str] = []
    while len(some) < len(texts) and sum(map(len, some)) < PEER_BYTES:
        some.append(texts[len(some)])
    size = sum(len(text.encode()) for text in some) / 1e6
    lists = [shingles_of(text) for text in some]
    split = seconds(lambda: list(map(shingles_of, some)))
    rows = []
    for name, make in (("rensa", rensa_sketch), ("datasketch", datasketch_sketch)):
        try:
            module = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
            continue
        spent = seconds(functools.partial(_all, make, module, lists))
        rows.append(
            {
                "package": name,
                "version": record.versions([name])[name],
                "sketches of given shingles, MB/s": round(size / spent),
                "with shingles made in Python, MB/s": round(size / (spent + split)),
            }
        )
    return rows


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--articles", type=int, default=2000, metavar="N", help="number of articles (default: 2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the edits (default: 0)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/duplicates.json")
    options = parser.parse_args()
    table = pq.read_table(Path(options.data) / "wiki" / "articles.parquet", columns=["text"])
    texts = table["text"].slice(0, options.articles).to_pylist()
    alike = set(pychunk.find_duplicates(texts, min(SHARES))["row"].to_pylist())
    texts = [text for row, text in enumerate(texts) if row not in alike]
    recalls, speeds = measured(texts, options.seed)
    figures: dict[str, Any] = {"articles": len(texts), "speeds": speeds, "recalls": recalls, "peers": peers(texts)}
    for name in ("speeds", "recalls", "peers"):
        for row in figures[name]:
            print(", ".join(f"{key}: {value}" for key, value in row.items()))
    if options.save:
        record.save(
            options.save,
            "Near-copies",
            figures,
            about=(
                "Each article of Wikipedia got one copy with replaced words. `near-copies`: the copies whose share of "
                "common shingles, counted in Python, is at least the least share. `precision`: the returned pairs that "
                "are an article and its copy. `MB/s a core`: by CPU time with one thread, all steps included; half of "
                "the documents are copies. `without copies`: for the articles alone. `peers`: only the sketches of two "
                "packages, with 128 values; finding pairs would come in addition."
            ),
        )


if __name__ == "__main__":
    main()
