"""GPU kernels equal their CPU twins bit for bit, on a GPU or on the emulator that runs the same source."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import cuda as public
from pychunk._engine import device as _device
from pychunk._engine import native
from pychunk._engine.device import Device
from pychunk._engine.reference import vectors as linear
from pychunk._engine.reference.search import thresholds

#: Dimensions around a warp, a lane's columns and a tile of them, and the usual ones.
DIMS = [1, 31, 32, 33, 64, 100, 128, 129, 256, 384]
#: Numbers of sentences around a warp, a block, a tile and the size from which on the whole grid works.
SIZES = [0, 1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 300]


def unit_rows(rng: np.random.Generator, rows: int, dim: int) -> npt.NDArray[np.float32]:
    """Return vectors around a common direction, some zero or equal to the one before, for ties and edge cases."""
    found = rng.normal(size=(rows, dim)).astype(np.float32) + np.float32(0.5)
    for row in range(1, rows):
        if rng.random() < 0.1:
            found[row] = found[row - 1] if rng.random() < 0.5 else 0
    return native.normalized_rows(found)[0]


def poisoned(shape: tuple[int, ...], device: Device) -> object:
    return _device.to_device(np.full(shape, np.nan, np.float32), device)


def expected(vectors: npt.NDArray[np.float32], summary: npt.NDArray[np.float32], k: float) -> tuple[object, ...]:
    """Return the scores, labels and cuts of one document by the slow twin."""
    scores = np.array([linear.dot(row, summary) for row in vectors], np.float32)
    labels = [int(label) for label in thresholds.labels(scores, k)]
    cuts = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    return scores, labels, cuts


MARGIN = 0.05


def nearly_chosen(vectors: npt.NDArray[np.float32]) -> list[int]:
    """Return 1 for the sentences of an extractive summary, and for those that missed it by at most MARGIN."""
    mean = linear.normalize(linear.total(vectors))
    picks: list[int] = []
    close = [0] * len(vectors)
    for _ in range(min(5, 1 + len(vectors) // 20)):
        scores = {}
        for i in set(range(len(vectors))) - set(picks):
            score = np.float32(linear.dot(vectors[i], mean))
            if picks:
                score -= np.float32(0.5 * max(linear.dot(vectors[i], vectors[c]) for c in picks))
            scores[i] = score
        best = min(scores, key=lambda i: (-scores[i], i))
        for i, score in scores.items():
            close[i] |= int(scores[best] - score <= np.float32(MARGIN))
        picks.append(best)
    return close


def check_pic(
    gpu: Device,
    documents: list[npt.NDArray[np.float32]],
    summary: str,
    k: float,
    rng: np.random.Generator,
    **sources: object,
) -> None:
    dim = documents[0].shape[1]
    vectors = np.concatenate(documents)
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    lead = [max(1, len(each) // 3) if len(each) else 0 for each in documents]
    given_vectors = unit_rows(rng, len(documents), dim)
    memory = poisoned(vectors.shape, gpu) if sources else _device.to_device(vectors, gpu)
    found = _device.pic(
        memory,
        offsets,
        gpu,
        summary=summary,
        given=_device.to_device(given_vectors, gpu) if summary == "given" else None,
        lead=np.array(lead, np.int32) if summary == "lead" else None,
        k=k,
        margin=MARGIN,
        **sources,
    )
    np.testing.assert_array_equal(_device.to_host(memory, gpu), vectors)
    scores, labels, cuts, counts, adjacent = (
        _device.to_host(part, gpu)
        for part in (found.scores, found.labels, found.cuts, found.cut_counts, found.adjacent)
    )
    close = _device.to_host(found.close, gpu)
    for d, own in enumerate(documents):
        rows = slice(int(offsets[d]), int(offsets[d + 1]))
        if summary != "extractive":
            assert not close[rows].any()
        elif 0 < len(own) < 50:  # the twin is slow
            assert close[rows].tolist() == nearly_chosen(own)
        if len(own) == 0:
            assert counts[d] == 0
            continue
        if summary == "given":
            of = given_vectors[d]
        else:
            starts = [i == 0 or i == lead[d] for i in range(len(own))]
            of, _ = linear.summary_vector(summary, own, starts, "")
        wanted = expected(own, of, k)
        np.testing.assert_array_equal(scores[rows], wanted[0])
        assert labels[rows].tolist() == wanted[1]
        assert cuts[rows.start : rows.start + counts[d]].tolist() == wanted[2]
        neighbours = [*linear.adjacent(own), 0.0]
        np.testing.assert_array_equal(adjacent[rows], np.array(neighbours, np.float32))


@pytest.mark.parametrize("summary", ["extractive", "mean", "lead", "given"])
@pytest.mark.parametrize("k", [0.0, -0.7])
def test_pic_has_the_bits_of_the_cpu(gpu: Device, summary: str, k: float) -> None:
    rng = np.random.default_rng(3)
    check_pic(gpu, [unit_rows(rng, n, 48) for n in SIZES], summary, k, rng)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=6),
    dim=st.sampled_from(DIMS),
    summary=st.sampled_from(["extractive", "mean", "lead", "given"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_pic_of_any_batch(gpu: Device, sizes: list[int], dim: int, summary: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check_pic(gpu, [unit_rows(rng, n, dim) for n in sizes], summary, 0.0, rng)


@pytest.mark.slow
@pytest.mark.parametrize("summary", ["extractive", "lead"])
def test_large_documents_share_the_whole_device(gpu: Device, summary: str) -> None:
    rng = np.random.default_rng(4)
    sizes = [5, 2048, 2049, 1, 2600]
    check_pic(gpu, [unit_rows(rng, n, 33) for n in sizes], summary, 0.3, rng)


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_pic_from_hidden_states_by_their_addresses(gpu: Device, half: bool, pooling: str) -> None:
    rng = np.random.default_rng(5)
    sizes, dim = [3, 0, 40, 1], 72
    rows = sum(sizes)
    tokens = rng.integers(1, 9, rows).astype(np.int32)
    kind = np.float16 if half else np.float32
    begin = np.cumsum([0, *tokens])
    states = rng.normal(size=(int(begin[-1]), dim)).astype(kind)
    states[5:7] *= np.float32(1e-3)
    on_device = _device.to_device(states, gpu)
    # Sentences are in any order in memory, as batches of equal length leave them.
    addresses = (on_device.pointer + begin[:-1] * dim * states.itemsize).astype(np.uint64)
    vectors = np.zeros((rows, dim), np.float32)
    for row in range(rows):
        own = states[begin[row] : begin[row + 1]][None]
        lengths = np.array([len(own[0])] * rows)
        native.pool(own, np.array([row]), lengths, vectors, pooling=pooling, unit=True)
    documents = np.split(vectors, np.cumsum(sizes)[:-1])
    pair = (_device.to_device(addresses, gpu), _device.to_device(tokens, gpu))
    check_pic(gpu, documents, "extractive", 0.0, rng, states=pair, half=half, pooling=pooling)


@pytest.mark.parametrize("dim", [8, 36, 256, 264])
def test_bags_are_the_static_encoders(gpu: Device, dim: int) -> None:
    rng = np.random.default_rng(6)
    table = rng.integers(-128, 128, (50, dim)).astype(np.int8)
    sizes = [*rng.integers(0, 40, 30), 300]
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    ids = rng.integers(0, 50, offsets[-1]).astype(np.int32)
    wanted = np.stack([linear.bag(table, ids[a:b].tolist()) for a, b in zip(offsets, offsets[1:])])
    out = poisoned(wanted.shape, gpu)
    bag = tuple(_device.to_device(each, gpu) for each in (table, ids, offsets))
    _device.embedding_bags(*bag, out, gpu)
    np.testing.assert_array_equal(_device.to_host(out, gpu), wanted)
    documents = np.split(wanted, [4, 4, 20])
    check_pic(gpu, documents, "mean", 0.0, rng, bag=bag)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_pooling_has_the_bits_of_the_cpu(gpu: Device, dim: int, kind: type) -> None:
    rng = np.random.default_rng(7)
    rows, width = 37, 11
    states = rng.normal(size=(rows, width, dim)).astype(kind)
    states[3] = 0
    states[4] *= kind(6e-5)  # subnormal in float16
    if kind is np.float32:
        states[5] *= np.float32(1e-25)  # squares underflow
        states[6] *= np.float32(1e25)  # squares overflow
    lengths = rng.integers(1, width + 1, rows)
    places = rng.permutation(rows)
    for pooling in ("mean", "cls"):
        for unit in (True, False):
            wanted = np.zeros((rows, dim), np.float32)
            of_place = np.zeros(rows, np.int64)
            of_place[places] = lengths
            native.pool(states, places, of_place, wanted, pooling=pooling, unit=unit)
            out = poisoned(wanted.shape, gpu)
            tokens = _device.to_device(lengths.astype(np.int32), gpu)
            chosen = _device.to_device(places, gpu)
            on_device = _device.to_device(states, gpu)
            _device.pool(on_device, tokens, out, gpu, chosen=chosen, pooling=pooling, unit=unit)
            np.testing.assert_array_equal(_device.to_host(out, gpu), wanted)


@pytest.mark.parametrize("rows", [0, 1, 2, 9, 65, 257])
def test_adjacent_cosines(gpu: Device, rows: int) -> None:
    vectors = unit_rows(np.random.default_rng(8), rows, 70)
    found = _device.to_host(_device.adjacent_cosines(_device.to_device(vectors, gpu), gpu), gpu)
    np.testing.assert_array_equal(found, linear.adjacent(vectors) if rows > 1 else np.zeros(0, np.float32))


def test_arrays_of_others_come_in_and_go_out_without_a_copy(gpu: Device) -> None:
    torch = pytest.importorskip("torch")
    where = "cpu" if _device.emulated() else "cuda"
    vectors = torch.nn.functional.normalize(torch.randn(20, 48, device=where))
    found = public.pic(vectors, [0, 12, 20])
    scores = torch.from_dlpack(found.scores)
    assert scores.device.type == where
    assert scores.data_ptr() == found.scores.pointer
    again = public.pic(vectors, [0, 12, 20])
    assert torch.equal(torch.from_dlpack(again.scores), scores)
    adjacent = torch.from_dlpack(public.adjacent_cosines(vectors))
    assert torch.allclose(adjacent, (vectors[1:] * vectors[:-1]).sum(1), atol=1e-6)
    states = torch.randn(4, 7, 48, device=where, dtype=torch.float16)
    tokens = torch.tensor([7, 1, 3, 2], dtype=torch.int32, device=where)
    pooled = torch.from_dlpack(public.pool(states, tokens, unit=False))
    assert torch.allclose(pooled[2], states[2, :3].float().mean(0), atol=1e-6)
    assert set(found.scores.__cuda_array_interface__) >= {"shape", "typestr", "data", "version"}


def test_what_is_wrong_is_said(gpu: Device) -> None:
    torch = pytest.importorskip("torch")
    where = "cpu" if _device.emulated() else "cuda"
    vectors = torch.zeros(6, 8, device=where)
    with pytest.raises(ValueError, match="must not decrease, got 4 and then 3"):
        public.pic(vectors, [0, 4, 3])
    with pytest.raises(ValueError, match="must be at most 6, got 7"):
        public.pic(vectors, [0, 7])
    with pytest.raises(ValueError, match="summary must be given, mean, lead or extractive; got 'median'"):
        public.pic(vectors, [0, 6], summary="median")
    with pytest.raises(ValueError, match="if and only if summary='given'"):
        public.pic(vectors, [0, 6], summary="given")
    with pytest.raises(ValueError, match="contiguous"):
        public.pic(torch.zeros(8, 6, device=where).T, [0, 8])
    with pytest.raises(ValueError, match="vectors must be <f4, got <f2"):
        public.pic(vectors.half(), [0, 6])
    with pytest.raises(ValueError, match="pooling must be 'mean' or 'cls'; got 'max'"):
        public.pool(vectors[None], torch.ones(1), pooling="max")
    with pytest.raises(TypeError, match="expected an array on the GPU, such as a torch or CuPy tensor; got list"):
        _device.view([1.0], gpu)


def test_memory_is_kept_for_the_next_call_and_given_back(gpu: Device) -> None:
    _device.trim(gpu)
    first = _device.empty((1000, 100), np.float32, gpu)
    address = first.pointer
    del first
    again = _device.empty((1000, 100), np.float32, gpu)
    assert again.pointer == address
    del again
    assert _device.trim(gpu) >= 400_000
    assert _device.trim(gpu) == 0


def test_too_large_an_array_raises_and_leaves_the_device_usable(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    if _device.emulated():
        monkeypatch.setenv("PYCHUNK_EMULATOR_BYTES", str(1 << 20))
    with pytest.raises(_device.OutOfDeviceMemory, match="out of memory"):
        _device.empty((1 << 20, 1 << 18), np.float32, gpu)
    monkeypatch.undo()
    values = np.arange(5, dtype=np.float32)
    np.testing.assert_array_equal(_device.to_host(_device.to_device(values, gpu), gpu), values)


def test_without_a_gpu_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_device, "_cuda", None)
    monkeypatch.setattr(_device, "_missing", "this build has no GPU module")
    _device.facts.cache_clear()
    try:
        with pytest.raises(ValueError, match="device='cuda' asks for CUDA, and this build has no GPU module"):
            _device.open_device("cuda")
        with pytest.raises(ValueError, match="device must be 'auto', 'cpu', 'cuda' or 'cuda:<number>'; got 'gpu'"):
            _device.open_device("gpu")
    finally:
        _device.facts.cache_clear()


def test_counts_of_tokens_that_the_caller_passes_decide_on_a_gpu_too(gpu: Device) -> None:
    text = "Cats purr. Dogs bark at night. Stars burn hydrogen. Light travels for years. Rain fell."
    columns = {"token_counts": [[60, 60, 60, 60, 60]]}
    here, there = (
        pychunk.segment(text, "pic", max_tokens=128, columns=columns, placement=placement)
        for placement in ("cpu", "cuda")
    )
    assert max(here.table["tokens"].to_pylist()) > 50
    assert there.table.equals(here.table)


@pytest.mark.parametrize("method", ["pic", "semantic"])
def test_vectors_of_pieces_are_cut_on_a_gpu_too(gpu: Device, method: str) -> None:
    pytest.importorskip("pychunk_multilingual", reason="the package pychunk-multilingual is not installed")
    texts = ["Katzen schnurren. Hunde bellen nachts. Sterne sind Sonnen. Es hat geregnet. Die Erde ist rund.", ""]
    here, there = (
        pychunk.segment(texts, method, encoder="multilingual", vectors="chunk", min_tokens=0, placement=placement)
        for placement in ("cpu", "cuda")
    )
    assert there.table.equals(here.table)
