"""Given vectors: the time to score and cut by sentence vectors that the caller passes, compared with a NumPy loop.

The floor is the time to read the vectors once, which the sum of the same array shows. Times are the best of several
rounds, in which all candidates take turns.

    python bench/stages/given.py --save bench/results/given.json
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import pychunk
from pychunk._engine import native
from pychunk._engine.data.features import Features
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.ragged import Ragged, offsets_of
from pychunk._engine.data.request import Request
from pychunk._engine.reference import engine as reference
from pychunk.encoders import static_encoder
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.inputs.span_inputs import sentence_matrix

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

SENTENCE = "The river rises in the hills above the town and flows past old mills."
Array = npt.NDArray[Any]
PLAN = Plan("pic", native.method_traits()["pic"], summary="mean")


def corpus(documents: int, seed: int = 0) -> list[list[str]]:
    """Return the sentences of documents whose lengths vary as those of articles do, 144 sentences on average."""
    lengths = np.random.default_rng(seed).lognormal(4.75, 0.65, size=documents).clip(5, 800).astype(int)
    return [[f"{SENTENCE[:-1]} {i}." for i in range(n)] for n in lengths]


def vectors_of(sentences: int, dim: int, dtype: Any) -> Array:
    """Return vectors of unit length. Their mean is far from zero, as that of an encoder's vectors is."""
    found = np.random.default_rng(dim).normal(size=(sentences, dim)).astype(np.float32) + np.float32(0.3)
    found /= np.sqrt((found * found).sum(axis=1, keepdims=True))
    out: Array = found.astype(dtype, copy=False)
    return out


def runs_of(vectors: Array) -> int:
    """Return the number of chunks of one document."""
    summary = vectors.sum(axis=0)
    scores = vectors @ (summary / np.sqrt((summary * summary).sum()))
    labels = scores >= scores.mean()
    return 1 + int((labels[1:] != labels[:-1]).sum())


def best(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the least seconds of each call. They take turns, so that other work on the machine meets all of them."""
    out = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            begun = time.perf_counter()
            call()
            out[name] = min(out[name], time.perf_counter() - begun)
    return out


def sum_in(pool: ThreadPoolExecutor, parts: list[Array]) -> float:
    return sum(pool.map(lambda part: float(part.sum()), parts))


def rates(documents: list[list[str]], rounds: int) -> list[dict[str, Any]]:
    """Return the rates at which vectors are read: to score and cut by them, and to sum them."""
    joined = [" ".join(own) for own in documents]
    text = np.frombuffer("".join(joined).encode(), np.uint8)
    offsets = offsets_of([len(own) for own in joined])
    counts = offsets_of([len(own) for own in documents])
    starts = Ragged.of([np.cumsum([0, *(len(each) + 1 for each in own[:-1])]) for own in documents], np.int64)
    rows = []
    for dim in (8, 384, 1024):
        for dtype in (np.float32, np.float16):
            vectors = vectors_of(int(counts[-1]), dim, dtype)
            features = Features(text, offsets, sentences=starts, vectors=sentence_matrix(vectors, counts))
            few = features.with_(text=text[: offsets[3]], offsets=offsets[:4])
            few = few.with_(sentences=starts.rows(0, 3), vectors=sentence_matrix(vectors, counts).rows(0, 3))
            asked = Request(few, PLAN)
            ours, slow = native.segment(asked), reference.segment(asked)
            assert all(np.array_equal(ours[name], slow[name]) for name in ("start", "relevance", "score"))
            # NumPy sums float16 far slower than it reads it, so the same bytes are summed as float32.
            plain = vectors.reshape(-1).view(np.float32)
            for threads in (1, 2):
                request = Request(features, PLAN, threads=threads)
                parts = np.array_split(plain, threads)
                with ThreadPoolExecutor(threads) as pool:
                    cut, total = partial(native.cuts, request), partial(sum_in, pool, parts)
                    seconds = best({"cut": cut, "sum": total}, rounds)
                rows.append(
                    {
                        "dimensions": dim,
                        "type": np.dtype(dtype).name,
                        "threads": threads,
                        "MB": round(vectors.nbytes / 1e6, 1),
                        "cut, GB/s": round(vectors.nbytes / seconds["cut"] / 1e9, 2),
                        "sum, GB/s": round(vectors.nbytes / seconds["sum"] / 1e9, 2),
                        "cut / sum, %": round(100 * seconds["sum"] / seconds["cut"], 1),
                    }
                )
                print(rows[-1])
    return rows


def calls(documents: list[list[str]], rounds: int) -> list[dict[str, Any]]:
    """Return the times of whole calls on one thread, with 384 dimensions in float32."""
    texts = [" ".join(own) for own in documents]
    spans = pychunk.split_sentences(texts)
    borders = offsets_of([len(own) for own in spans])
    vectors = vectors_of(int(borders[-1]), 384, np.float32)
    parts = np.split(vectors, borders[1:-1])
    placement = pychunk.Placement(threads=1)
    free = pychunk.Segmenter(
        "pic", summary="mean", max_tokens=None, keep_together=False, min_tokens=0, placement=placement
    )
    budget = pychunk.Segmenter("pic", summary="mean", placement=placement)
    # The texts are ASCII, so positions in characters are positions in bytes.
    flat, offsets = np.frombuffer("".join(texts).encode(), np.uint8), offsets_of(list(map(len, texts)))
    starts = [np.array([begin for begin, _ in own]) + at for own, at in zip(spans, offsets, strict=False)]
    bounds = np.concatenate([*starts, offsets[-1:]])
    encoder = static_encoder.load()

    def count() -> Array:
        return encoder.tokens_of(flat, bounds, threads=1).counts

    counts = np.split(count(), borders[1:-1])
    given: DocumentColumns = {"sentence_vectors": vectors, "sentence_spans": spans}
    measured: dict[str, Callable[[], Any]] = {
        "NumPy loop": lambda: sum(map(runs_of, parts)),
        "spans, no budget": lambda: free(texts, columns=given),
        "spans and counts, budget": lambda: budget(texts, columns={**given, "token_counts": counts}),
        "vectors alone, budget": lambda: budget(texts, columns={"sentence_vectors": vectors}),
        "split": lambda: native.split(Request(Features(flat, offsets), Plan("sentence"))),
        "count": count,
    }
    expected = measured["NumPy loop"]()
    assert abs(len(measured["spans, no budget"]()) - expected) <= 0.01 * expected
    assert measured["spans and counts, budget"]().table.equals(measured["vectors alone, budget"]().table)
    try:
        import numba  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        pass
    else:
        compiled = numba.njit(fastmath=False)(runs_of)
        assert abs(sum(map(compiled, parts)) - expected) <= 0.01 * expected
        measured["numba loop"] = lambda: sum(map(compiled, parts))
    seconds = best(measured, rounds)
    loop = seconds["NumPy loop"]
    allowed = {
        "spans, no budget": 1.2 * loop,
        "spans and counts, budget": 1.5 * loop,
        "vectors alone, budget": seconds["split"] + seconds["count"] + 1.2 * loop,
    }
    rows = [
        {
            "call": name,
            "ms": round(1000 * took, 1),
            "of the loop": round(took / loop, 2),
            "target, ms": round(1000 * allowed[name], 1) if name in allowed else None,
        }
        for name, took in seconds.items()
    ]
    for row in rows:
        print(row)
    return rows


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=800, metavar="N", help="number of documents (default: 800)")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds, of which the best counts")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/given.json")
    options = parser.parse_args()
    documents = corpus(options.documents)
    figures = {
        "documents": options.documents,
        "sentences": sum(map(len, documents)),
        "rates": rates(documents, options.rounds),
        "calls": calls(documents, options.rounds),
    }
    if options.save:
        record.save(
            options.save,
            "Given vectors",
            figures,
            about=(
                "Method `pic` with the mean as summary. `rates`: native scores and cuts, without the table of chunks, "
                "compared with NumPy's sum of the same bytes as float32. `calls`: whole calls on one thread, 384 "
                "dimensions in float32; the loops score and cut, and make no chunks. Scores and cuts equal those of "
                "the reference."
            ),
            packages=["numba"],
        )


if __name__ == "__main__":
    main()
