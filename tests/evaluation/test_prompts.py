"""Prompts of models are exported, precede questions and passages, and are part of the fingerprint of vectors."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
numpy = pytest.importorskip("safetensors.numpy")

from command_line import invoke

import pychunk
from pychunk.encoders import registry, static_encoder
from pychunk.encoders.files import export, model_dir
from training.random_bert import random_weights

TEXTS = ["Cats purr.", "Stars burn hydrogen, then helium.", "Зорі.", "Bread needs salt"]
PROMPTS = {"query": "query: ", "document": "passage: "}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a BERT of random weights in a sentence-transformers folder, with prompts."""
    folder = tmp_path_factory.mktemp("prompted")
    weights, config = random_weights(layers=2, hidden=64, heads=4)
    numpy.save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "bert", "architectures": ["BertModel"]}))
    shutil.copyfile(static_encoder.SHIPPED / "vocab.txt", folder / "vocab.txt")
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": PROMPTS}))
    return folder


@pytest.fixture(scope="module")
def models(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the model with its prompts, and one without any."""
    folder = tmp_path_factory.mktemp("models")
    said: list[str] = []
    export.export(source, folder / "prompted", name="tiny", say=said.append)
    assert "query prompt: 'query: '" in said
    done = invoke(
        [
            "export",
            str(source),
            "-o",
            str(folder / "plain"),
            "--name",
            "tiny",
            "--query-prompt",
            "",
            "--passage-prompt",
            "",
        ]
    )
    assert done.exit_code == 0, done.output
    return folder / "prompted", folder / "plain"


def test_prompts_are_read_before_questions_and_passages(models: tuple[Path, Path]) -> None:
    prompted, plain = map(registry.vector_encoder, models)
    assert np.array_equal(prompted.encode(TEXTS), plain.encode([f"passage: {text}" for text in TEXTS]))
    assert np.array_equal(prompted.encode_queries(TEXTS), plain.encode([f"query: {text}" for text in TEXTS]))
    assert np.array_equal(prompted.encode(TEXTS), plain.encode([f"passage: {text}" for text in TEXTS]))
    assert np.array_equal(plain.encode_queries(TEXTS), plain.encode(TEXTS))
    assert np.array_equal(pychunk.embed(TEXTS, encoder=models[0], task="query"), prompted.encode_queries(TEXTS))


def test_prompts_are_part_of_the_fingerprint(source: Path, models: tuple[Path, Path], tmp_path: Path) -> None:
    prompted, plain = map(registry.vector_encoder, models)
    other = export.export(source, tmp_path / "other", name="tiny", query_prompt="ask: ")
    assert (other.query_prompt, other.passage_prompt) == ("ask: ", "passage: ")
    assert len({prompted.fingerprint, plain.fingerprint, other.fingerprint}) == 3
    assert prompted.fingerprint.startswith(f"{plain.fingerprint}:prompts-")
    assert "query_prompt" not in json.loads((models[1] / model_dir.FACTS).read_text())
    chunks = pychunk.segment(TEXTS, "sentence", encoder=models[1], vectors="sentence")
    pytest.importorskip("faiss")
    refused = pytest.raises(ValueError, match=r"come from encoder 'tiny:.*', those of the index from 'tiny:.*:prompts-")
    with pychunk.Index.create(tmp_path / "x.idx", encoder=models[0]) as index, refused:
        index.add(chunks)


def test_a_search_asks_with_the_prompt_of_questions(models: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    plain = registry.vector_encoder(models[1])
    chunks = pychunk.segment(TEXTS, "sentence", encoder=models[0], vectors="sentence")
    found = [chunk.sentences[0]["vector"] for chunk in chunks]
    assert np.array_equal(np.array(found, np.float32), registry.vector_encoder(models[0]).encode(TEXTS))
    with pychunk.Index.create(tmp_path / "x.idx", encoder=models[0], dtype="float32") as index:
        index.add(chunks)
        _, scores = index.rank("What burns?", 4, "dense")
        _, same = index.rank(plain.encode(["query: What burns?"]), k=4, mode="dense")
        _, other = index.rank(plain.encode(["What burns?"]), k=4, mode="dense")
    assert np.array_equal(scores, same, equal_nan=True)
    assert not np.array_equal(scores, other, equal_nan=True)


def test_default_prompts_and_what_is_refused(source: Path, tiny_reranker: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(source, tmp_path / "own"))
    settings = folder / "config_sentence_transformers.json"
    settings.write_text(json.dumps({"prompts": {"sts": "same: "}, "default_prompt_name": "sts"}))
    made = export.export(folder, tmp_path / "default")
    assert (made.query_prompt, made.passage_prompt) == ("same: ", "same: ")
    settings.write_text(json.dumps({"prompts": {"sts": "same: "}}))
    made = export.export(folder, tmp_path / "none")
    assert (made.query_prompt, made.passage_prompt) == ("", "")
    settings.write_text(json.dumps({"prompts": {"query": 7}}))
    with pytest.raises(ValueError, match="prompts must map names to texts"):
        export.export(folder, tmp_path / "no")
    export.export(source, tmp_path / "long", passage_prompt="cat " * 600)
    with pytest.raises(ValueError, match="takes 602 tokens, which leaves no room for a text in the 512"):
        registry.vector_encoder(tmp_path / "long")
    with pytest.raises(
        ValueError,
        match="query_prompt may be given only for a model whose task is 'vectors'",
    ):
        export.export(tiny_reranker.parent / "hf", tmp_path / "no", query_prompt="query: ")
