"""segment(placement="cuda") against the CPU: on a GPU, or on the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine import device as _device
from pychunk._engine.device import Device
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.transformer import TransformerEncoder

TEXTS = [
    "Cats purr when content. Dogs bark at night.\n\nThe sun is a star. Stars burn hydrogen. It is hot there.",
    "",
    "One sentence only.",
    " \n ",
    "The bridge opened in 1932. It carries eight lanes. Trains cross it, too.\nFerries ran before. " * 6,
    "Ein kurzer Text. Noch ein Satz! Кінець. 終わり。",
]
OPTIONS: list[dict[str, Any]] = [
    {"method": "pic"},
    {"method": "pic", "summary": "mean", "k": 0.5},
    {"method": "pic", "summary": "lead", "vectors": "sentence"},
    {"method": "pic", "summary": "sentence"},
    {"method": "pic", "max_tokens": 9, "vectors": "chunk"},
    {"method": "semantic", "vectors": "sentence", "max_tokens": 12},
    {"method": "semantic", "threshold": ("std", 1.0), "min_tokens": 20},
    {"method": "semantic", "window": 3},
    {"method": "cluster", "max_tokens": 30},
    {"method": "fixed", "vectors": "chunk"},
    {"method": "structure", "size": 12, "within": "topic"},
    {"method": "structure", "size": 12, "within": "semantic"},
]


def assert_same(a: pychunk.ChunkBatch, b: pychunk.ChunkBatch) -> None:
    assert a.table.replace_schema_metadata(None).equals(b.table.replace_schema_metadata(None))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_static_encoder_cuts_alike_on_both_devices(gpu: Device, options: dict[str, Any]) -> None:
    assert_same(pychunk.segment(TEXTS, **options), pychunk.segment(TEXTS, placement="cuda", **options))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(max_size=80), max_size=5), options=st.sampled_from(OPTIONS))
def test_any_unicode_is_cut_alike(gpu: Device, texts: list[str], options: dict[str, Any]) -> None:
    assert_same(pychunk.segment(texts, **options), pychunk.segment(texts, placement="cuda", **options))


def test_given_vectors_and_summaries_are_cut_alike(gpu: Device) -> None:
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(len(own), 24)) for own in pychunk.split_sentences(TEXTS)]
    for method in ("pic", "semantic"):
        given: dict[str, Any] = {"method": method, "columns": {"sentence_vectors": vectors}, "vectors": "chunk"}
        assert_same(pychunk.segment(TEXTS, **given), pychunk.segment(TEXTS, placement="cuda", **given))
    summaries = ["cats", "", "one", "", "a bridge", "Text"]
    given = {"method": "pic", "summary": "given", "columns": {"summaries": summaries}}
    assert_same(pychunk.segment(TEXTS, **given), pychunk.segment(TEXTS, placement="cuda", **given))


def test_real_articles_are_cut_alike_in_any_batch(gpu: Device, articles: list[str]) -> None:
    texts = [text[:4000] for text in articles[:6]]
    whole = pychunk.segment(texts, placement="cuda")
    assert_same(pychunk.segment(texts), whole)
    one_by_one = [chunk.text for text in texts for chunk in pychunk.segment(text, placement="cuda")]
    assert one_by_one == [chunk.text for chunk in whole]


@pytest.mark.parametrize("runtime", ["onnxruntime", "torch"])
def test_a_transformer_gives_the_cpus_vectors(gpu: Device, tiny_encoder: Path, runtime: str) -> None:
    pytest.importorskip(runtime)
    precision = "fp32" if runtime == "torch" else "auto"
    here = TransformerEncoder(tiny_encoder)
    there = TransformerEncoder(tiny_encoder, runtime=ModelPlacement.of(runtime, "cuda", precision))
    texts = ["A sentence.", "", "Two of them, somewhat longer, here.", *(f"Number {'x ' * i}." for i in range(30))]
    for budget in (16, 200, 65_536):  # many batches, padded ones, one
        found = there.encode(texts, batch_tokens=budget)
        np.testing.assert_allclose(found, here.encode(texts), atol=2e-5)
    assert there.fingerprint == here.fingerprint
    out = pychunk.segment(
        TEXTS,
        encoder=tiny_encoder,
        placement=pychunk.Placement(device="cuda", runtime=runtime, precision=precision),
        vectors="sentence",
    )
    assert [chunk.text for chunk in out] == [chunk.text for chunk in pychunk.segment(TEXTS, encoder=tiny_encoder)]
    assert out.metadata["runtime"].startswith(runtime)
    assert out.metadata["device"] == "cuda:0"


def test_half_precision_is_in_the_metadata(gpu: Device, tiny_encoder: Path) -> None:
    pytest.importorskip("torch")
    out = pychunk.segment(TEXTS, encoder=tiny_encoder, placement="cuda", vectors="chunk")
    assert (out.metadata["precision"], out.metadata["device"]) == ("mixed", "cuda:0")
    exact = pychunk.segment(TEXTS, encoder=tiny_encoder, vectors="chunk")
    assert out.metadata["vector_encoder"] == exact.metadata["vector_encoder"]


@pytest.mark.parametrize("method", ["pic", "semantic"])
def test_what_half_precision_leaves_in_doubt_is_encoded_again(
    gpu: Device, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    pytest.importorskip("torch")
    again: list[int] = []
    encode_again = TransformerEncoder.encode_again

    def counted(self: TransformerEncoder, found: Any, rows: Any, vectors: Any, **options: Any) -> None:
        again.append(len(rows))
        encode_again(self, found, rows, vectors, **options)

    monkeypatch.setattr(TransformerEncoder, "encode_again", counted)
    options: dict[str, Any] = {"encoder": tiny_encoder, "max_tokens": None}
    wanted = [chunk.text for chunk in pychunk.segment(TEXTS, method, **options)]
    found = pychunk.segment(TEXTS, method, placement="cuda", **options)
    assert [chunk.text for chunk in found] == wanted
    assert again  # random weights make all sentences similar, so that every score is near its threshold
    again.clear()
    pychunk.segment(TEXTS, method, placement=pychunk.Placement(device="cuda", precision="fp16"), **options)
    assert not again


@pytest.mark.parametrize("runtime", ["onnxruntime", "torch"])
def test_pairs_are_scored_alike(gpu: Device, tiny_pairs: Path, runtime: str) -> None:
    pytest.importorskip(runtime)
    there = PairScorer(tiny_pairs, runtime=ModelPlacement.of(runtime, "cuda", "fp32" if runtime == "torch" else "auto"))
    here = PairScorer(tiny_pairs)
    text = np.frombuffer(b"".join(s.encode() for s in ("One. ", "Two two. ", "Three three three. ", "x. ")), np.uint8)
    bounds = np.array([0, 5, 14, 33, 36])
    first, second = np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3])
    found = there.probabilities(text, bounds, first, second)
    np.testing.assert_allclose(found, here.probabilities(text, bounds, first, second), atol=1e-5)
    np.testing.assert_allclose(
        there.logits(text, bounds, first, second), here.logits(text, bounds, first, second), atol=1e-4
    )


def test_a_batch_that_does_not_fit_is_halved(gpu: Device, tiny_encoder: Path) -> None:
    encoder = TransformerEncoder(tiny_encoder, runtime=ModelPlacement.of("onnxruntime", "cuda"))
    texts = [f"Sentence number {i}." for i in range(40)]
    wanted = encoder.encode(texts)
    session: Any = encoder.session
    run, sizes = session.run, []

    def run_small(tensors: Any, lengths: Any, device: Any) -> Any:
        rows = next(iter(tensors.values())).shape[0]
        sizes.append(rows)
        if rows > limit:
            raise _device.OutOfDeviceMemory("out of memory")
        return run(tensors, lengths, device)

    session.run = run_small
    limit = 7
    np.testing.assert_array_equal(encoder.encode(texts), wanted)
    assert max(sizes) == 40
    assert sum(size for size in sizes if size <= limit) == 40
    limit = 0
    with pytest.raises(_device.OutOfDeviceMemory, match="a row of 6 tokens does not fit into the memory of cuda:0"):
        encoder.encode(texts)
    del session.run
    np.testing.assert_array_equal(encoder.encode(texts), wanted)


def test_other_errors_are_not_taken_for_a_lack_of_memory(gpu: Device, tiny_encoder: Path) -> None:
    encoder = TransformerEncoder(tiny_encoder, runtime=ModelPlacement.of("onnxruntime", "cuda"))
    session: Any = encoder.session

    def broken(*_: Any) -> Any:
        raise RuntimeError("illegal address")

    session.run = broken
    with pytest.raises(RuntimeError, match="illegal address"):
        encoder.encode(["One.", "Two."])


def test_vectors_that_are_not_finite_name_the_document(gpu: Device, tiny_encoder: Path, monkeypatch: Any) -> None:
    def overflow(self: Any, found: Any, **_: Any) -> Any:
        vectors = np.zeros((len(found[1]) - 1, self.dim), np.float32)
        vectors[-1] = np.inf
        return _device.to_device(vectors, gpu)

    monkeypatch.setattr(TransformerEncoder, "encode_tokens_on_device", overflow)
    with pytest.raises(ValueError, match="document 2: a sentence has a vector that is not finite"):
        pychunk.segment(["A. B.", "C.", "D. E."], encoder=tiny_encoder, placement="cuda")


def test_stats_have_the_seconds_of_stages(gpu: Device) -> None:
    seconds = pychunk.Segmenter(placement="cuda")(TEXTS).stats.seconds
    assert list(seconds) == ["features", "cut", "total"]
    assert seconds["features"] > 0
    assert 0 < seconds["cut"] <= seconds["total"]


def test_what_cannot_be_is_said(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"there are \d+ CUDA devices, numbered from 0"):
        pychunk.Segmenter(placement="cuda:99")
    with pytest.raises(ValueError, match="runtime='openvino' runs only on the CPU"):
        pychunk.Segmenter(placement=pychunk.Placement(device="cuda", runtime="openvino"))
    with pytest.raises(ValueError, match="precision='fp16' is for runtime='torch'"):
        pychunk.Segmenter(placement=pychunk.Placement(device="cuda", runtime="onnxruntime", precision="fp16"))
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    with pytest.raises(ValueError, match="PYCHUNK_BACKEND=reference runs on the CPU"):
        pychunk.Segmenter(placement="cuda")


def test_a_fitted_threshold_is_the_cpus(gpu: Device) -> None:
    there = pychunk.Segmenter("semantic", threshold=0.5, placement="cuda").fit(TEXTS)
    here = pychunk.Segmenter("semantic", threshold=0.5).fit(TEXTS)
    assert there.plan.threshold_value == here.plan.threshold_value


@pytest.mark.parametrize("method", ["pic", "semantic"])
def test_scores_are_those_of_the_cpu(gpu: Device, method: str) -> None:
    here, there = (pychunk.Segmenter(method, placement=device).scores(TEXTS) for device in ("cpu", "cuda"))
    assert here.equals(there)


def test_progress_reaches_the_end(gpu: Device) -> None:
    seen: list[tuple[int, int]] = []
    pychunk.segment(TEXTS, placement="cuda", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == sum(len(text.encode()) for text in TEXTS)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_an_index_on_the_device_finds_what_the_cpus_finds(gpu: Device, tmp_path: Path, dtype: str) -> None:
    pytest.importorskip("faiss")
    pytest.importorskip("torch")
    chunks = pychunk.segment(TEXTS, "sentence", vectors="sentence", ids=[f"t{i}" for i in range(len(TEXTS))])
    with pychunk.Index.create(tmp_path / "a.idx", dtype=dtype) as index:
        index.add(chunks)
        index.save()
    queries = ["stars", "Why do cats purr?", "lanes of a bridge"]

    def found(device: str, **options: Any) -> list[list[tuple[Any, ...]]]:
        with pychunk.Index.open(tmp_path / "a.idx", placement=device) as index:
            lists = index.search(queries, k=4, **options)
        return [[(hit.document_id, hit.start, hit.end, hit.score) for hit in hits] for hits in lists]

    for options in ({}, {"mode": "dense"}, {"where": {"document_id": ["t0", "t4"]}}):
        assert found("cuda", **options) == found("cpu", **options)
