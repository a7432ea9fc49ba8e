"""Speed of byte-level BPE on one core compared with other packages, cold and after other text.

Every round makes each tokenizer anew. "cold" is the first text that it reads, and "after" is the same text after 4 MB
of other text. The rounds of all tokenizers take turns, and the table has the best of them. Seconds are processor time,
so that other work on the machine disturbs less. The ids of all packages are compared first. Packages that are not
installed are left out; quicktok-v1 has the vocabulary.

    python bench/peers/tokenizers.py --data ../shared/data --rounds 5
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peer_rows
import pyarrow.parquet as pq

from pychunk._engine.data.patterns import PATTERNS
from pychunk.tokenizers.byte_pair import BytePairTokenizer, ranks_vocabulary

#: A function that tokenizes a text, and one that returns the ids of its result.
Made = tuple[Callable[[Any], Any], Callable[[Any], list[int]]]
_BYTES = 4_000_000


def peers(ranks: dict[bytes, int], folder: Path) -> dict[str, Callable[[], Made]]:
    """Return a function for each tokenizer, which makes it."""
    vocabulary = ranks_vocabulary(ranks.items())

    def bounds(data: np.ndarray) -> np.ndarray:
        return np.array([0, len(data)], np.int64)

    def own(run: Callable[[BytePairTokenizer, Any], Any]) -> Callable[[], Made]:
        def make() -> Made:
            tokenizer = BytePairTokenizer(vocabulary, "o200k", "o200k")
            return lambda data: run(tokenizer, data), lambda found: [*found.ids]

        return make

    found = {
        "pychunk, ids and offsets": own(lambda t, data: t.encode(data, bounds(data))[0]),
        "pychunk, ids": own(lambda t, data: t.tokens_of(data, bounds(data))),
        "pychunk, counts": own(lambda t, data: t.count(data, bounds(data))),
    }
    if importlib.util.find_spec("gigatoken"):
        import gigatoken

        path = folder / "o200k_base.tiktoken"
        path.write_bytes(b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items()))

        def make_gigatoken() -> Made:
            tokenizer = gigatoken.Tokenizer.from_tiktoken(path)
            return lambda data: tokenizer.encode(data.tobytes()), lambda ids: ids.tolist()

        found["gigatoken, ids"] = make_gigatoken
    if importlib.util.find_spec("quicktok"):
        import quicktok

        def make_quicktok() -> Made:
            tokenizer = quicktok.Tokenizer("o200k_base", "")
            return lambda data: tokenizer.encode_ordinary(data.tobytes().decode()), list

        found["quicktok, ids"] = make_quicktok
    if importlib.util.find_spec("tiktoken"):
        import tiktoken

        def make_tiktoken() -> Made:
            encoding = tiktoken.Encoding(
                "o200k", pat_str=PATTERNS["o200k"][0], mergeable_ranks=ranks, special_tokens={}
            )
            return lambda data: encoding.encode_ordinary(data.tobytes().decode()), list

        found["tiktoken, ids"] = make_tiktoken
    return found


def texts(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return two texts of Wikipedia, some 4 MB each."""
    articles = pq.read_table(data / "wiki" / "articles.parquet", columns=["text"])["text"].to_pylist()
    whole = "\n\n".join(articles)[: 2 * _BYTES]
    first, second = (np.frombuffer(part.encode(), np.uint8) for part in (whole[:_BYTES], whole[_BYTES:]))
    return first, second


def seconds(run: Callable[[Any], Any], data: np.ndarray) -> float:
    begin = time.process_time()
    run(data)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PYCHUNK_DATA", "shared/data")))
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"
    text, other = texts(given.data)
    with tempfile.TemporaryDirectory() as folder:
        makers = peers(peer_rows.ranks("o200k"), Path(folder))
        expected: list[int] | None = None
        for name, make in makers.items():
            run, ids_of = make()
            ids = ids_of(run(text)) if not name.endswith("counts") else expected
            expected = expected or ids
            if ids != expected:
                sys.exit(f"the ids of {name} differ")
        best = {name: [float("inf")] * 2 for name in makers}
        for _ in range(given.rounds):
            for name, make in makers.items():
                cold = seconds(make()[0], text)
                run = make()[0]
                run(other)
                best[name] = [*map(min, best[name], (cold, seconds(run, text)))]
    print(f"{len(text) / 1e6:.1f} MB, {len(expected or [])} tokens; MB/s of one core, best of {given.rounds} rounds")
    for name, (cold, after) in best.items():
        print(f"{name:26} cold {len(text) / cold / 1e6:7.1f}   after other text {len(text) / after / 1e6:7.1f}")


if __name__ == "__main__":
    main()
