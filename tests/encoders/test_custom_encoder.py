"""Encoders of the caller's own: the same vectors everywhere, a name in manifests, and errors that name the text."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pychunk

TEXTS = [
    "Cats purr when they are content. Dogs bark at night. The sun is a star. Stars burn hydrogen to helium.",
    "Bread is baked from dough. The oven is hot. Flour comes from wheat.",
]


def letters(texts: list[str]) -> np.ndarray:
    """Return counts of letters as vectors."""
    return np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts])


class Model:
    """An object like a model of another package, which encodes questions in another way."""

    def encode(self, texts: list[str]) -> list[list[float]]:
        return letters(texts).tolist()

    def encode_query(self, texts: list[str]) -> np.ndarray:
        return -letters(texts)

    encode_document = encode


LETTERS = pychunk.Encoder(letters, "letters:1")


@pytest.mark.parametrize("method", ["pic", "semantic", "cluster"])
def test_cuts_are_those_of_the_same_vectors_as_a_column(method: str) -> None:
    vectors = [
        letters([text[a:b].strip() for a, b in spans]) for text, spans in zip(TEXTS, pychunk.split_sentences(TEXTS))
    ]
    given = pychunk.segment(TEXTS, method, columns={"sentence_vectors": vectors}, vectors="sentence", min_tokens=0)
    own = pychunk.segment(TEXTS, method, encoder=LETTERS, vectors="sentence", min_tokens=0)
    assert own.texts == given.texts
    assert own.table["sentences"].equals(given.table["sentences"])
    assert own.metadata["encoder"] == "letters:1"


def test_it_makes_the_vectors_of_any_method() -> None:
    out = pychunk.segment(TEXTS, "sentence", keep_together=False, vectors=pychunk.Vectors("chunk", LETTERS))
    wanted = letters(out.texts) / np.linalg.norm(letters(out.texts), axis=1, keepdims=True)
    np.testing.assert_allclose(out.vectors, wanted, rtol=1e-6)
    assert out.metadata["vector_encoder"] == "letters:1"
    levels = pychunk.segment_levels(TEXTS, ["sentence", "document"], encoder=LETTERS, vectors="sentence")
    assert levels.vectors("sentence").shape[1] == 26
    np.testing.assert_allclose(pychunk.embed(out.texts, encoder=LETTERS), out.vectors, rtol=1e-6)


def test_texts_come_in_batches_without_white_space_at_their_ends() -> None:
    calls: list[list[str]] = []

    def noted(texts: list[str]) -> np.ndarray:
        calls.append(texts)
        return letters(texts)

    encoder = pychunk.Encoder(noted, "noted", batch=2)
    pychunk.segment(TEXTS, "semantic", encoder=encoder)
    spans = pychunk.split_sentences(TEXTS)
    wanted = [text[a:b].strip() for text, own in zip(TEXTS, spans) for a, b in own]
    assert [text for call in calls[1:] for text in call] == wanted  # the first call finds the width
    assert max(map(len, calls)) == 2


def test_an_index_keeps_its_name_and_asks_for_it(tmp_path: Path) -> None:
    model = pychunk.Encoder(Model(), "model:1")
    seg = pychunk.Segmenter("sentence", keep_together=False, encoder=model, vectors="sentence")
    with pychunk.Index.create(tmp_path / "i", encoder=model) as index:
        index.add(seg(TEXTS, ids=["a", "b"]))
        wanted = index.search(["oven hot"], k=1)[0]
        assert index.info["encoder"]["fingerprint"] == "model:1"
    with pychunk.Index.open(tmp_path / "i", encoder=model) as index:
        assert index.search(["oven hot"], k=1)[0][0].text == wanted[0].text
    with pytest.raises(ValueError, match=r"vectors of the encoder 'model:1', which.*or with the pychunk\.Encoder"):
        pychunk.Index.open(tmp_path / "i")
    with pytest.raises(
        ValueError, match=r"holds vectors of encoder 'model:1' \(model:1\), and 'letters:1' is letters:1"
    ):
        pychunk.Index.open(tmp_path / "i", encoder=LETTERS)


def test_questions_are_encoded_by_their_own_method() -> None:
    model = pychunk.Encoder(Model(), "model:1")
    np.testing.assert_array_equal(
        pychunk.embed("a b", encoder=model, task="query"), -pychunk.embed("a b", encoder=model)
    )


def test_a_segmenter_with_it_can_be_pickled() -> None:
    segmenter = pychunk.Segmenter("pic", encoder=LETTERS)
    again = pickle.loads(pickle.dumps(segmenter))
    assert again(TEXTS).table.equals(segmenter(TEXTS).table)


def test_what_is_no_encoder_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has no name by which its vectors are known: pass pychunk\.Encoder\(model"):
        pychunk.segment(TEXTS, "pic", encoder=letters)
    with pytest.raises(ValueError, match=r"has no name by which its vectors are known"):
        pychunk.segment(TEXTS, "pic", encoder=Model())
    with pytest.raises(TypeError, match=r"encoder must be a name from `pychunk model list`.*got 5"):
        pychunk.segment(TEXTS, "pic", encoder=5)
    with pytest.raises(ValueError, match=r"name must say which model and version this is.*got ''"):
        pychunk.Encoder(letters, "")
    with pytest.raises(TypeError, match=r"source must be a function of a list of str.*got 5"):
        pychunk.Encoder(5, "five")
    with pytest.raises(ValueError, match="batch must be a whole number of at least 1; got 0"):
        pychunk.Encoder(letters, "letters", batch=0)
    with pytest.raises(ValueError, match="letters:1"):
        pychunk.segment(TEXTS, "topic", encoder=LETTERS)


def failing(texts: list[str]) -> Any:
    raise KeyError("no such word")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (failing, RuntimeError, r"'bad' failed for a batch whose first text begins with 'word' \(KeyError"),
        (lambda texts: None, ValueError, r"'bad' must return one vector for each text.*got the shape \[\]"),
        (lambda texts: ["x"], ValueError, r"'bad' must return an array of numbers"),
        (lambda texts: np.ones(3), ValueError, r"float\[1, d\]; got the shape \[3\]"),
        (lambda texts: np.ones((len(texts) + 1, 2)), ValueError, r"float\[1, d\]; got the shape \[2, 2\]"),
        (lambda texts: np.ones((len(texts), 0)), ValueError, r"got the shape \[1, 0\]"),
        (lambda texts: np.ones((len(texts), len(texts))), ValueError, r"float\[\d, 1\]; got the shape \[\d, \d\]"),
        (lambda texts: np.full((len(texts), 2), np.nan), ValueError, r"must return finite numbers; got \[nan, nan\]"),
    ],
)
def test_wrong_results_are_errors_that_name_the_encoder(function: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        pychunk.segment(TEXTS, "semantic", encoder=pychunk.Encoder(function, "bad"))
