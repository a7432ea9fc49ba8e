"""Folders of model2vec: the vectors that model2vec gives, for every kind of table, and errors that name the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pychunk
from pychunk.encoders import model2vec

tokenizers = pytest.importorskip("tokenizers")
save_file = pytest.importorskip("safetensors.numpy").save_file

TEXTS = ["Cats purr. Dogs bark at night. The sun is a star. Zebra!", "", "zebra", "the cat sat on the mat"]
WORDS = ["[UNK]", "cats", "purr", "dogs", "bark", "at", "night", "the", "sun", "is", "a", "star", ".", "cat", "##s"]


def saved(folder: Path, kind: str = "WordPiece", **arrays: Any) -> Path:
    """Write a small model, and return its folder."""
    folder.mkdir(exist_ok=True)
    if kind == "WordPiece":
        made = tokenizers.Tokenizer(
            tokenizers.models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
        )
        made.normalizer = tokenizers.normalizers.BertNormalizer()
        made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    else:
        pieces = [
            ("<unk>", 0.0),
            ("\u2581", -2.0),
            *((c, -3.0) for c in "abcdefghijklmnopqrstuvwxyz."),
            ("\u2581the", -1.0),
        ]
        made = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=0))
        made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    size = made.get_vocab_size()
    table = np.random.default_rng(0).normal(size=(size, 24)).astype(np.float32)
    save_file({"embeddings": table, **arrays}, folder / "model.safetensors")
    return folder


def expected(folder: Path, texts: list[str]) -> np.ndarray:
    """Return the vectors by the definition: the mean of the rows of all tokens but the unknown one, of length 1."""
    from safetensors.numpy import load_file

    stored = load_file(str(folder / "model.safetensors"))
    made = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    out = np.zeros((len(texts), stored["embeddings"].shape[1]))
    for row, text in enumerate(texts):
        ids = [i for i in made.encode(text, add_special_tokens=False).ids if i != 0]
        rows = stored["mapping"][ids] if "mapping" in stored else ids
        weights = stored["weights"][ids] if "weights" in stored else np.ones(len(ids))
        if ids:
            mean = (stored["embeddings"].astype(np.float64)[rows] * weights[:, None]).mean(axis=0)
            out[row] = mean / np.linalg.norm(mean)
    return out


def check(found: np.ndarray, wanted: np.ndarray) -> None:
    """Check that vectors have length 1, and the direction of other vectors of length 1."""
    there = np.linalg.norm(wanted, axis=1) > 0
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), there, atol=1e-6)
    assert ((found * wanted).sum(axis=1)[there] >= 0.999999).all()


@pytest.mark.parametrize("kind", ["WordPiece", "Unigram"])
@pytest.mark.parametrize("parts", [(), ("mapping",), ("weights",), ("mapping", "weights")])
def test_vectors_are_means_of_the_rows(tmp_path: Path, kind: str, parts: tuple[str, ...]) -> None:
    drawn = np.random.default_rng(1)
    size = len(WORDS) if kind == "WordPiece" else 30
    made = {"mapping": drawn.integers(0, size, size), "weights": drawn.uniform(0.1, 3, size)}
    folder = saved(tmp_path / "m", kind, **{name: made[name] for name in parts})
    found = model2vec.load(folder).encode(TEXTS)
    check(found, expected(folder, TEXTS))
    assert not found[1].any()
    assert (model2vec.load(folder).encode(TEXTS * 700, threads=3) == np.tile(found, (700, 1))).all()


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_tables_of_other_types_are_read(tmp_path: Path, dtype: type) -> None:
    folder = saved(tmp_path / "m")
    table = (np.random.default_rng(2).normal(size=(len(WORDS), 8)) * 20).astype(dtype)
    save_file({"embeddings": table}, folder / "model.safetensors")
    check(model2vec.load(folder).encode(TEXTS), expected(folder, TEXTS))


def test_a_folder_is_an_encoder_everywhere(tmp_path: Path) -> None:
    folder = saved(tmp_path / "potion")
    out = pychunk.segment(TEXTS, "semantic", encoder=folder, min_tokens=0, keep_together=False, vectors="sentence")
    spans = pychunk.split_sentences(TEXTS)
    own = [model2vec.load(folder).encode([text[a:b].strip() for a, b in each]) for text, each in zip(TEXTS, spans)]
    given = pychunk.segment(
        TEXTS,
        "semantic",
        columns={"sentence_vectors": own},
        min_tokens=0,
        keep_together=False,
        vectors="sentence",
    )
    assert out.texts == given.texts
    assert out.metadata["encoder"].startswith("potion:")
    assert out.metadata["tokenizer"].startswith("tokenizer.json:")
    with pychunk.Index.create(tmp_path / "i", encoder=folder) as index:
        index.add(pychunk.segment(TEXTS, "sentence", encoder=folder, vectors="sentence", ids=list("abcd")))
        assert "star" in index.search(["a star"], k=1)[0][0].text
    with pychunk.Index.open(tmp_path / "i") as index:
        assert index.info["encoder"]["name"] == str(folder)


def test_a_changed_model_is_loaded_again(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    before = pychunk.embed(TEXTS, encoder=folder)
    save_file({"embeddings": np.ones((len(WORDS), 24), np.float32)}, folder / "model.safetensors")
    os.utime(folder / "model.safetensors", ns=(1, 1))
    assert not (pychunk.embed(TEXTS, encoder=folder) == before).all()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"other": np.ones((15, 2), np.float32)}, r"has no matrix 'embeddings', but other: save the model again"),
        ({"embeddings": np.ones(3, np.float32)}, r"has no matrix 'embeddings'"),
        (
            {"embeddings": np.ones((15, 2), np.float32), "mapping": np.full(15, 15)},
            r"mapping must hold rows of emb.*14",
        ),
        ({"embeddings": np.ones((15, 2), np.float32), "weights": np.ones(3)}, r"weights must hold 15 numbers.*\[3\]"),
        ({"embeddings": np.ones((3, 2), np.float32)}, r"tokenizer\.json makes token \d+, but its table has 3"),
    ],
)
def test_damaged_models_are_errors_that_name_the_file(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    folder = saved(tmp_path / "m")
    save_file(arrays, folder / "model.safetensors")
    with pytest.raises(ValueError, match=message):
        pychunk.embed(TEXTS, encoder=folder)
    (folder / "model.safetensors").write_bytes(b"x" * 40)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged .*save the model again"):
        pychunk.embed(TEXTS, encoder=folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises((ValueError, OSError), match=r"model\.safetensors"):
        pychunk.embed(TEXTS, encoder=folder)


def test_a_model_that_model2vec_made(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    folder = saved(tmp_path / "m")
    wanted = model2vec.StaticModel.from_pretrained(str(folder)).encode(TEXTS)
    check(model2vec.load(folder).encode(TEXTS), wanted)
