"""Sentences that are longer than a transformer's input are read in windows, whose vectors are pooled by token."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk._engine.data.tokens import Tokens
from pychunk.encoders import transformer
from pychunk.encoders.token_windows import many, windows

pytest.importorskip("onnxruntime")

WORDS = [
    "cats",
    "sleep",
    "all",
    "day",
    "and",
    "dogs",
    "bark",
    "at",
    "night",
    "while",
    "the",
    "rust",
    "eats",
    "iron",
    "and",
    "stars",
    "burn",
    "far",
    "away",
]


def tokens_of(sizes: list[int]) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Tokens(np.arange(offsets[-1], dtype=np.int32), offsets, np.array(sizes, np.int64))


@given(st.lists(st.integers(0, 40), max_size=9), st.integers(1, 12))
def test_windows_tile_their_texts_evenly(sizes: list[int], room: int) -> None:
    found = tokens_of(sizes)
    made = windows(found, room)
    assert many(found, room) == sum(size > room for size in sizes)
    assert (made is None) == (many(found, room) == 0)
    if made is None:
        return
    lengths = np.diff(made.tokens.offsets)
    assert lengths.max() <= room
    for at, size in enumerate(sizes):
        own = lengths[made.first[at] : made.first[at + 1]]
        assert own.sum() == size
        assert len(own) == max(1, -(-size // room))
        assert own.max() - own.min() <= 1
    vectors = np.random.default_rng(0).normal(size=(len(lengths), 3)).astype(np.float32)
    pooled = made.pooled(vectors, unit=False)
    for at in range(len(sizes)):
        own = slice(made.first[at], made.first[at + 1])
        mean = (vectors[own] * lengths[own, None]).sum(axis=0) / max(1, lengths[own].sum())
        expected = vectors[own.start] if own.stop == own.start + 1 else mean
        np.testing.assert_allclose(pooled[at], expected, atol=1e-6)


def sentence(seed: int, words: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words)).capitalize() + "."


@pytest.mark.parametrize("count", amounts(10, 200))
def test_the_tail_of_a_long_sentence_changes_its_vector(minilm: Path, count: int) -> None:
    """Neither the batch nor the order changes it."""
    encoder = transformer.load(minilm)
    texts = [sentence(seed, 260 + seed) for seed in range(count)]
    vectors = encoder.encode(texts)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    others = encoder.encode([f"{texts[at][:-1]} beside a violin from Cremona wrapped in silk." for at in range(count)])
    assert ((vectors * others).sum(axis=1) < 0.9999).all()
    order = np.random.default_rng(1).permutation(count)
    assert np.array_equal(encoder.encode([texts[at] for at in order]), vectors[order])
    assert np.array_equal(np.concatenate([encoder.encode([texts[at]]) for at in range(5)]), vectors[:5])
    short = "Cats sleep all day."
    assert np.array_equal(encoder.encode([short, texts[0]])[0], encoder.encode([short])[0])


def test_each_window_counts_by_its_tokens(minilm: Path) -> None:
    encoder = transformer.load(minilm)
    text = sentence(7, 600)
    found = encoder.tokens_of(np.frombuffer(text.encode(), np.uint8), np.array([0, len(text)], np.int64))
    made = windows(found, encoder.room)
    assert encoder.room == 254
    assert made is not None
    parts = encoder.encode_tokens(made.tokens)
    mean = (parts * np.diff(made.tokens.offsets)[:, None]).sum(axis=0)
    np.testing.assert_allclose(encoder.encode([text])[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_chunks_are_found_by_their_last_clause_and_windows_are_counted(minilm: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    long = f"{sentence(3, 420)[:-1]}, and in the last room there hung a violin from Cremona wrapped in silk."
    texts = [long, *(sentence(seed, 30) for seed in range(4, 12))]
    chunks = pychunk.segment(texts, encoder=minilm, vectors="chunk", ids=[str(at) for at in range(len(texts))])
    assert chunks.describe()["sentences"] == {"windowed": 1}
    assert "windowed" in repr(chunks.describe())
    assert "sentences" not in pychunk.segment(texts[1:], encoder=minilm, vectors="chunk").describe()
    with pychunk.Index.create(tmp_path / "x", encoder=minilm, vectors="chunk") as index:
        index.add(chunks)
        index.save()
        assert index.search("a violin from Cremona wrapped in silk", k=1, mode="dense")[0][0].document_id == "0"
