"""A model is loaded once for a process and placement, and again if another one has replaced it."""

import gc
import os
import shutil
import signal
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import pychunk
from pychunk.encoders import cross_encoder, model_cache, registry, static_encoder, transformer
from pychunk.encoders.runtime.placement import CPU, ModelPlacement
from pychunk.evaluation.systems import Encoder
from training.random_bert import random_bert

TEXT = "Cats purr. Dogs bark at night. The sun is a star, and it shines."


@pytest.fixture
def model(tiny_encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_encoder, tmp_path / "model"))


def exported_again(path: Path) -> None:
    shutil.rmtree(path)
    random_bert(path, layers=2, hidden=64, heads=4, seed=7)


def test_a_model_that_was_exported_again_is_not_the_old_one(model: Path) -> None:
    before = pychunk.segment(TEXT, "semantic", encoder=str(model), vectors="chunk")
    kept = pychunk.Segmenter("semantic", encoder=str(model), vectors="chunk")
    exported_again(model)
    fresh = transformer.TransformerEncoder(model)
    for after in (
        pychunk.segment(TEXT, "semantic", encoder=str(model), vectors="chunk"),
        pychunk.segment(TEXT, "semantic", encoder=model, vectors="chunk"),
        pychunk.Segmenter("semantic", encoder=str(model), vectors="chunk")(TEXT),
    ):
        assert after.metadata["encoder"] == fresh.fingerprint != before.metadata["encoder"]
        assert np.dot(after[0].vector, before[0].vector) < 0.99
    assert kept(TEXT).table.equals(before.table)  # the loaded model works as before


def test_an_index_refuses_vectors_of_the_model_that_took_its_models_place(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    with pychunk.Index.create(tmp_path / "it.idx", encoder=str(model)) as index:
        index.add(pychunk.segment(TEXT, "sentence", encoder=str(model), vectors="sentence"))
    exported_again(model)
    with pytest.raises(ValueError, match="open with the encoder that made them"):
        pychunk.Index.open(tmp_path / "it.idx", encoder=str(model))


def test_a_relative_path_is_a_path_from_here(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = model.parent / "elsewhere" / "model"
    random_bert(other, layers=2, hidden=64, heads=4, seed=7)
    found = []
    for folder in (model.parent, other.parent):
        monkeypatch.chdir(folder)
        found.append(pychunk.segment(TEXT, "semantic", encoder="./model").metadata["encoder"])
    assert found == [transformer.TransformerEncoder(path).fingerprint for path in (model, other)]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root alone may become another user")
def test_what_may_no_longer_be_read_is_what_was_loaded(model: Path) -> None:
    held, other = static_encoder.load(), transformer.load(model)
    closed = shutil.copytree(static_encoder.SHIPPED, model.parent / "closed" / "static")
    loaded_there = static_encoder.load(closed)
    for folder in (model, closed.parent):
        folder.chmod(0o700)
    os.seteuid(65534)
    try:
        with pytest.raises(PermissionError):
            (model / "pychunk.json").read_bytes()
        assert transformer.load(model) is other
        assert static_encoder.load(closed) is loaded_there is not held
    finally:
        os.seteuid(0)


def test_whoever_asks_for_one_model_gets_one(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = registry.vector_encoder(str(model))
    assert all(registry.vector_encoder(model, where) is one for where in ("onnxruntime", CPU, ModelPlacement.of()))
    assert Encoder(str(model)).model is one
    assert pychunk.Segmenter("semantic", encoder=str(model)).models.cutter is one
    monkeypatch.chdir(model.parent)
    assert registry.vector_encoder("model/") is one
    assert (
        static_encoder.load() is static_encoder.load(str(static_encoder.SHIPPED)) is registry.vector_encoder("static")
    )


def test_threads_load_a_model_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Slow(transformer.TransformerEncoder):
        def __init__(self, *args: object, **options: object) -> None:
            time.sleep(0.05)
            made.append(self)
            super().__init__(*args, **options)

    monkeypatch.setattr(transformer, "TransformerEncoder", Slow)
    threads = [threading.Thread(target=transformer.load, args=(model,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


class Thing:
    pass


@pytest.mark.slow
def test_few_models_are_kept_and_none_that_is_in_use_is_loaded_twice(tmp_path: Path) -> None:
    held = model_cache.loaded(tmp_path, "facts", Thing, "held")
    seen = [weakref.ref(model_cache.loaded(tmp_path, "facts", Thing, number)) for number in range(3 * model_cache.KEPT)]
    gc.collect()
    assert sum(each() is not None for each in seen) == model_cache.KEPT
    assert model_cache.loaded(tmp_path, "facts", Thing, "held") is held
    replaced = weakref.ref(model_cache.loaded(tmp_path, "facts", Thing, "path"))
    (tmp_path / "facts").write_text("others")
    assert model_cache.loaded(tmp_path, "facts", Thing, "path") is not replaced()
    gc.collect()
    assert replaced() is None


def test_a_process_forked_while_a_model_is_loaded_loads_its_own(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Thing:
        begun.set()
        go_on.wait()
        return Thing()

    thread = threading.Thread(target=model_cache.loaded, args=(tmp_path, "facts", slow, "slow"))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        model_cache.loaded(tmp_path, "facts", Thing, "slow")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    go_on.set()
    thread.join()


def test_what_half_precision_leaves_in_doubt_is_not_asked_of_another_model(model: Path) -> None:
    encoder = transformer.TransformerEncoder(model)
    exact = ModelPlacement("onnxruntime", None, "fp32")
    encoder.placement = type("Mixed", (), {"in_doubt": exact})()
    exported_again(model)
    with pytest.raises(ValueError, match="another model than when it was loaded: load it again, with a new Segmenter"):
        encoder.encode_again(None, None, None)


def test_scorers_of_one_directory_are_told_apart_by_their_task(tiny_pairs: Path) -> None:
    assert cross_encoder.load(tiny_pairs) is cross_encoder.load(str(tiny_pairs), CPU, "pairs")
    with pytest.raises(ValueError, match="not for 'relevance'"):
        cross_encoder.load(tiny_pairs, CPU, "relevance")
