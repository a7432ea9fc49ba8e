"""Lengths of chunks in words over Wikipedia articles: table 6 of the PIC paper, whose corpus is all of Wikipedia."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.chunks.batch import ChunkBatch
from pychunk.evaluation.measures import intervals
from pychunk.evaluation.systems import Encoder

WHOLE = {"max_tokens": None, "keep_together": False, "min_tokens": 0}
#: Methods that use no vectors, and methods that do.
PLAIN = {
    "sentence": ("sentence", {"keep_together": False}),
    "paragraph": ("paragraph", WHOLE),
    "fixed, 100 words": ("fixed", {"size": 100, "unit": "words", "keep_together": False}),
}
BY_VECTORS = {"semantic, percentile 20": ("semantic", WHOLE), "PIC, extractive": ("pic", WHOLE)}
#: The mean and standard deviation that the paper prints. An LLM wrote its propositions and PIC's summaries, so that no
#: row here is the same.
PAPER = {
    "sentence": (18.8, 12.7),
    "paragraph": (42.2, 48.0),
    "fixed, 100 words": (87.8, 26.6),
    "semantic, percentile 20": (78.6, 88.9),
    "proposition": (58.1, 32.0),
    "PIC, an LLM's summaries": (42.8, 38.3),
}


def lengths(table: pa.Table) -> dict[str, Any]:
    """Return the number of chunks, and the mean and deviation of their words with intervals over documents."""
    words = np.array([len(text.split()) for text in table["text"].to_pylist()], np.float64)
    _, document = np.unique(np.asarray(table["document_index"]), return_inverse=True)
    parts = np.stack([np.bincount(document, weights) for weights in (np.ones_like(words), words, words**2)], axis=1)
    mean = intervals.of_sums(parts, lambda sums: sums[1] / sums[0])
    deviation = intervals.of_sums(
        parts, lambda sums: np.sqrt(np.maximum(0, sums[2] / sums[0] - (sums[1] / sums[0]) ** 2))
    )
    return {"chunks": len(words), "words": mean._asdict(), "std": deviation._asdict()}


def wikipedia(file: Path, encoder: Encoder, articles: int | None, sample: int) -> list[dict[str, Any]]:
    """Return rows over all articles, with the static table, then over a seeded sample with ``encoder``.

    Args:
        file: A Parquet file with the column ``text``.
        articles: The number of articles, drawn with a seed.
        encoder: The encoder of the sample.
        sample: The number of these articles for the encoder.
    """
    everything = pq.read_table(file, columns=["text"])["text"]
    order = np.random.default_rng(0).permutation(len(everything))[:articles]
    texts = everything.take(np.sort(order))
    rows = [
        row(name, pychunk.Segmenter(method, **options)(texts), "static" if name in BY_VECTORS else "", len(texts))
        for name, (method, options) in (PLAIN | BY_VECTORS).items()
    ]
    if encoder.name == "static":
        return rows
    chosen = everything.take(np.sort(order[:sample])).to_pylist()
    spans = pychunk.split_sentences(chosen)
    # The vectors are computed once for both methods, and not cached, since that many texts would stay in memory.
    every = encoder.model.encode([text[a:b] for text, own in zip(chosen, spans) for a, b in own])
    own = np.split(every, np.cumsum([len(each) for each in spans])[:-1])
    for name, (method, options) in BY_VECTORS.items():
        chunks = pychunk.Segmenter(method, **options)(chosen, columns={"sentence_vectors": own})
        rows.append(row(name, chunks, encoder.name, len(chosen)))
    return rows


def row(name: str, chunks: ChunkBatch, cut_by: str, articles: int) -> dict[str, Any]:
    return {"method": name, "cut by": cut_by, "articles": articles, **lengths(chunks.table)}


def show(rows: list[dict[str, Any]]) -> None:
    print("\nwords a chunk over Wikipedia articles (the paper's: all of Wikipedia, cut by bge-large)")
    for each in rows:
        beside = PAPER.get(each["method"])
        print(
            f"  {each['method']:26}{each['cut by']:>8}{each['articles']:7,} articles  "
            f"{written(each['words'])} ± {written(each['std'])}"
            + ("" if beside is None else f"   paper: {beside[0]} ± {beside[1]}")
        )
    for name, (mean, std) in PAPER.items():
        if name not in PLAIN | BY_VECTORS:
            print(f"  the paper's {name}: {mean} ± {std}, for which there is no row here")


def written(cell: dict[str, float]) -> str:
    return f"{cell['mean']:.1f} ({cell['low']:.1f} to {cell['high']:.1f})"
