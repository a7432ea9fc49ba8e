"""Speed of tokenizers on one core compared with other packages, cold and after other text.

Every round makes each tokenizer anew. "cold" is the first text that it reads, and "after" is the same text after 4 MB
of other text. The rounds of all tokenizers take turns, and the table has the best of them. Seconds are processor time,
so that other work on the machine disturbs less. The ids of all packages are compared first. Packages and vocabularies
that are not there are left out. The package quicktok-v1 has that of o200k; `pychunk model get xlm-r` gets XLM-R's.

    python bench/peers/tokenization.py --rounds 5 --save bench/results/tokenizers.json
"""

from __future__ import annotations

import argparse
import importlib.util
import json
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
from pychunk.encoders.static_encoder import SHIPPED
from pychunk.tokenizers import published
from pychunk.tokenizers.byte_pair import BytePairTokenizer, ranks_vocabulary
from pychunk.tokenizers.unigram import unigram_of
from pychunk.tokenizers.wordpiece import WordPieceTokenizer

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data

#: A function that tokenizes a text, and one that returns the ids of its result.
Made = tuple[Callable[[Any], Any], Callable[[Any], list[int]]]
Makers = dict[str, Callable[[], Made]]
_BYTES = 4_000_000
PACKAGES = ["tiktoken", "quicktok-v1", "gigatoken", "tokenizers", "tokie"]
ABOUT = (
    'One core, 4 MB of English Wikipedia, one text. Each tokenizer is made anew: "cold" is the first text that it '
    'reads, "after" the same text after 4 MB of others. The best of the rounds, which take turns, in processor time. '
    "The ids of all packages are equal."
)


def bounds(data: np.ndarray) -> np.ndarray:
    return np.array([0, len(data)], np.int64)


def own(load: Callable[[], Any]) -> Makers:
    """Return pychunk's rows for a tokenizer."""

    def made(run: Callable[[Any, Any], Any]) -> Callable[[], Made]:
        def make() -> Made:
            tokenizer = load()
            return lambda data: run(tokenizer, data), lambda found: [*found.ids]

        return make

    return {
        "pychunk, ids and offsets": made(lambda t, data: t.encode(data, bounds(data))[0]),
        "pychunk, ids": made(lambda t, data: t.tokens_of(data, bounds(data))),
        "pychunk, counts": made(lambda t, data: t.count(data, bounds(data))),
    }


def byte_pair(folder: Path) -> Makers:
    """Return the tokenizers of o200k."""
    ranks = peer_rows.ranks("o200k")
    vocabulary = ranks_vocabulary(ranks.items())
    found = own(lambda: BytePairTokenizer(vocabulary, "o200k", "o200k"))
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


def others(path: Path) -> Makers:
    """Return the rows of other packages that read a tokenizer.json."""
    found: Makers = {}
    if importlib.util.find_spec("tokie"):
        import tokie

        def make_tokie() -> Made:
            tokenizer = tokie.Tokenizer.from_json(str(path))
            return (
                lambda data: tokenizer.encode_batch_flat([data.tobytes().decode()], add_special_tokens=False)[0],
                lambda ids: [*map(int, ids)],
            )

        found["tokie, ids"] = make_tokie
    if importlib.util.find_spec("tokenizers"):
        import tokenizers

        def make_tokenizers() -> Made:
            tokenizer = tokenizers.Tokenizer.from_file(str(path))
            return (
                lambda data: tokenizer.encode(data.tobytes().decode(), add_special_tokens=False),
                lambda found: found.ids,
            )

        found["tokenizers, ids and offsets"] = make_tokenizers
    return found


def unigram(folder: Path) -> Makers:
    """Return the tokenizers of XLM-R."""
    file = (published.at_hand("xlm-r") or folder) / "tokenizer.json"
    if not file.is_file():
        return {}
    content = json.loads(file.read_text(encoding="utf-8"))
    return own(lambda: unigram_of(content, "xlm-r")) | others(file)


def word_piece(folder: Path) -> Makers:
    """Return the tokenizers of BERT, uncased. Those of pychunk keep nothing of the text before."""
    file = folder / "tokenizer.json"
    if importlib.util.find_spec("tokenizers"):
        file.write_text(peer_rows.tokenizer().to_str(), encoding="utf-8")
    found = own(lambda: WordPieceTokenizer(SHIPPED / "vocab.txt"))
    return found | (others(file) if file.is_file() else {})


KINDS = {"BPE, o200k": byte_pair, "unigram, XLM-R": unigram, "WordPiece, BERT": word_piece}


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


def check_ids(makers: Makers, text: np.ndarray) -> None:
    """End with an error if the ids of two packages differ."""
    expected: list[int] | None = None
    for name, make in makers.items():
        if name.endswith("counts"):
            continue
        run, ids_of = make()
        ids = ids_of(run(text))
        expected = expected or ids
        if ids != expected:
            sys.exit(f"the ids of {name} differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each tokenizer (default: %(default)s)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures as JSON")
    given = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"
    text, other = texts(Path(given.data))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, makers_of in KINDS.items():
            makers = makers_of(Path(folder))
            check_ids(makers, text)
            best = {name: [float("inf")] * 2 for name in makers}
            for _ in range(given.rounds):
                for name, make in makers.items():
                    cold = seconds(make()[0], text)
                    run = make()[0]
                    run(other)
                    best[name] = [*map(min, best[name], (cold, seconds(run, text)))]
            for name, both in best.items():
                cold, after = (round(len(text) / each / 1e6, 1) for each in both)
                rows.append({"tokenizer": kind, "row": name, "MB/s, cold": cold, "MB/s, after": after})
                print(f"{kind:18}{name:30}cold {cold:7.1f}   after other text {after:7.1f}", flush=True)
    if given.save:
        record.save(given.save, "Speed of tokenizers", {"rows": rows}, about=ABOUT, packages=PACKAGES)


if __name__ == "__main__":
    main()
