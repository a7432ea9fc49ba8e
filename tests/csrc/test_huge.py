"""A document with too many sentence vectors to keep: they are computed again in parts, with equal results."""

import random

import numpy as np
import pytest

import pychunk
from pychunk._engine import native
from pychunk._engine.data.ragged import Ragged
from pychunk.encoders import static_encoder

KEPT_BYTES = 64 << 20  # csrc/common/rows.h
WORDS = [
    "cats",
    "purr",
    "loudly",
    "sun",
    "burns",
    "hydrogen",
    "water",
    "falls",
    "down",
    "the",
    "a",
    "zebra",
    "saw",
    "three",
    "quiet",
    "boats",
]


@pytest.fixture(scope="module")
def huge() -> tuple[str, np.ndarray]:
    """Return a text with more sentences than are kept, and the vectors of its sentences, each encoded alone."""
    drawn = random.Random(0)
    sentences = KEPT_BYTES // (4 * static_encoder.load().dim) + 5_000
    text = "".join(
        f"{' '.join(drawn.choices(WORDS, k=drawn.randint(1, 4))).capitalize()}.{drawn.choice([' ', ' ', ' ', chr(10)])}"
        for _ in range(sentences)
    )
    spans = pychunk.split_sentences(text)[0]
    assert 4 * static_encoder.load().dim * len(spans) > KEPT_BYTES
    return text, static_encoder.load().encode([text[start:end] for start, end in spans])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        *(("pic", {"summary": summary}) for summary in ("extractive", "mean", "lead", "sentence", "random")),
        ("pic", {"vectors": "chunk", "max_tokens": 30, "min_tokens": 5, "overlap": 4}),
        ("semantic", {}),
        ("semantic", {"window": 3}),
        pytest.param("semantic", {"window": 600}, marks=pytest.mark.slow),
        ("cluster", {"max_tokens": 40}),
        ("nsp", {"encoder": "static", "vectors": "sentence"}),
        ("fixed", {"size": 30, "vectors": "chunk"}),
    ],
)
def test_vectors_made_in_parts_are_those_at_hand(huge: tuple[str, np.ndarray], method: str, options: dict) -> None:
    text, vectors = huge
    segmenter = pychunk.Segmenter(method, **options)
    _, inputs = segmenter.read(text, {})
    (request,) = (segmenter.models.complete(each, native) for each, _ in segmenter.requests(inputs))
    assert request.features.vectors is None
    at_hand = request.with_(vectors=Ragged(vectors, np.array([0, len(vectors)])))
    made, expected = native.segment(request), native.segment(at_hand)
    assert made["document_index"].size > 1000
    for name, column in expected.items():
        if name not in ("tokens_met", "fallback_tokens"):
            np.testing.assert_array_equal(made[name], column, err_msg=name)
