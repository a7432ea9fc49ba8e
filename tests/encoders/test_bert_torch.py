"""BERT in torch equals ONNX Runtime on the same graph, in any batch, and refuses other graphs."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import pychunk
from pychunk._engine import native
from pychunk._engine.arrow import flat_text
from pychunk.encoders.files import model_dir, model_packages
from pychunk.encoders.files.bert_graph import bert_graph
from pychunk.encoders.files.bert_weights import read_weights
from pychunk.encoders.runtime.bert_torch import BertTorch, is_out_of_memory
from pychunk.encoders.runtime.sessions import open_session
from pychunk.encoders.runtime.torch_precision import exact_products
from pychunk.tokenizers.sources import of_model

WORDS, POSITIONS, DIM, WIDE = 50, 24, 32, 96
#: The largest difference of float32 results, whose sums have another order.
CLOSE = 2e-5
SENTENCES = [
    "Cats purr when they are content.",
    "Yes.",
    "",
    "In 1905 the town, which had been rebuilt after the flood, was given its second railway station and a market hall.",
    "東京 is a city!",
    "word " * 80,
]


def random_weights(layers: int = 2, seed: int = 0) -> dict[str, np.ndarray]:
    """Draw weights that are large enough for uneven attention and for activations outside their linear range."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(0, 0.2, shape).astype(np.float32)

    sizes = {"word": WORDS, "position": POSITIONS, "token_type": 2}
    weights = {f"embeddings.{name}_embeddings.weight": normal(rows, DIM) for name, rows in sizes.items()}
    norms = ["embeddings.LayerNorm"]
    matrices = {"pooler.dense": (DIM, DIM)}
    for i in range(layers):
        layer = f"encoder.layer.{i}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            matrices[f"{layer}.attention.{name}"] = (DIM, DIM)
        matrices[f"{layer}.intermediate.dense"] = (WIDE, DIM)
        matrices[f"{layer}.output.dense"] = (DIM, WIDE)
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = 1 + normal(DIM), normal(DIM)
    for name, (rows, columns) in matrices.items():
        weights[f"{name}.weight"], weights[f"{name}.bias"] = normal(rows, columns), normal(rows)
    return weights


def write(
    folder: Path, *, heads: int = 4, activation: str = "gelu", classes: int = 0, layers: int = 2, **options: Any
) -> Path:
    config = {
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "hidden_size": DIM,
        "layer_norm_eps": 1e-5,
        "hidden_act": activation,
    }
    head = None
    if classes:
        random = np.random.default_rng(1)
        head = (random.normal(size=(classes, DIM)).astype(np.float32), np.arange(classes, dtype=np.float32))
    weights = options.pop("weights", None) or random_weights(layers)
    path = folder / "model.onnx"
    path.write_bytes(bert_graph(weights, config, head=head, **options).SerializeToString())
    return path


def by_onnx(
    path: Path, ids: np.ndarray, lengths: np.ndarray | None = None, types: np.ndarray | None = None
) -> np.ndarray:
    mask = np.ones_like(ids) if lengths is None else (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int32)
    filled = {"ids": ids, "mask": mask, "types": np.zeros_like(ids) if types is None else types}
    session = open_session(path)
    return session.run({each.name: filled[each.role] for each in session.inputs})


def by_torch(bert: BertTorch, ids: np.ndarray, *more: np.ndarray | None) -> np.ndarray:
    given = [None if each is None else torch.from_numpy(each).to(bert.device) for each in (ids, *more)]
    out = bert.forward(*given)
    assert out.dtype == bert.dtype
    assert out.device.type == bert.device.type
    return out.float().cpu().numpy()


def random_rows(rows: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids with other tokens as padding, lengths, and types."""
    random = np.random.default_rng(seed)
    ids = random.integers(0, WORDS, (rows, width), dtype=np.int32)
    lengths = random.integers(1, width + 1, rows, dtype=np.int32)
    lengths[0] = width
    types = (np.arange(width) >= random.integers(0, width + 1, rows)[:, None]).astype(np.int32)
    return ids, lengths, types


def tokenised(path: Path, pairs: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sentences, or each with the next one, as (ids, lengths, types) of one padded batch."""
    facts = model_dir.read(path)
    found = of_model(path / facts.tokenizer).tokens_of(*flat_text(pa.array(SENTENCES, pa.large_string())))
    first = np.arange(len(SENTENCES))
    rows = native.pair_rows(found, first, np.roll(first, -1) if pairs else None, facts.template)
    lengths = rows.lengths()
    ids, mask, types = (np.empty((len(first), int(lengths.max())), np.int32) for _ in range(3))
    rows.fill(first, ids.shape[1], ids, mask, types)
    return ids, lengths.astype(np.int32), types


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("output", [{}, {"first_token_only": True}, {"classes": 3}], ids=["states", "first", "head"])
def test_a_random_bert_equals_onnx_runtime(tmp_path: Path, activation: str, heads: int, output: dict[str, Any]) -> None:
    path = write(tmp_path, heads=heads, activation=activation, **output)
    bert = BertTorch(path, "cpu", "fp32")
    ids, lengths, types = random_rows(7, 13)
    np.testing.assert_allclose(by_torch(bert, ids), by_onnx(path, ids), atol=CLOSE)
    found, expected = by_torch(bert, ids, lengths, types), by_onnx(path, ids, lengths, types)
    assert found.shape == expected.shape
    real = np.arange(13) < lengths[:, None] if expected.shape[1:2] == (13,) else np.ones(found.shape[:-1], bool)
    np.testing.assert_allclose(found[real], expected[real], atol=CLOSE)
    np.testing.assert_allclose(
        by_torch(bert, ids, None, types), by_onnx(path, ids, None, types), atol=CLOSE, err_msg="types without a mask"
    )


def test_activations_are_told_apart(tmp_path: Path) -> None:
    ids, _, _ = random_rows(3, 9)
    exact, tanh = (
        by_torch(BertTorch(write(tmp_path, activation=name), "cpu", "fp32"), ids) for name in ("gelu", "gelu_new")
    )
    assert abs(exact - tanh).max() > 5 * CLOSE


@pytest.mark.parametrize("output", [{}, {"classes": 2}], ids=["states", "head"])
def test_stored_8_bit_weights_equal_onnx_runtime(tmp_path: Path, output: dict[str, Any]) -> None:
    path = write(tmp_path, precision="int8", **output)
    ids, lengths, types = random_rows(5, 11)
    found, expected = (f(ids, lengths, types) for f in (_torch32(path), lambda *rows: by_onnx(path, *rows)))
    real = np.arange(11) < lengths[:, None] if not output else slice(None)
    np.testing.assert_allclose(found[real], expected[real], atol=CLOSE)


def _torch32(path: Path) -> Callable[..., np.ndarray]:
    bert = BertTorch(path, "cpu", "fp32")
    return lambda *rows: by_torch(bert, *rows)


def test_stored_half_precision_weights_are_computed_with_in_float32(tmp_path: Path) -> None:
    rounded = {name: values.astype(np.float16).astype(np.float32) for name, values in random_weights().items()}
    (tmp_path / "whole").mkdir()
    (tmp_path / "half").mkdir()
    whole = write(tmp_path / "whole", weights=rounded)
    half = write(tmp_path / "half", precision="fp16")
    ids, _, _ = random_rows(5, 11)
    np.testing.assert_allclose(_torch32(half)(ids), by_onnx(whole, ids), atol=CLOSE)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BertTorch]:
    path = write(tmp_path_factory.mktemp("tiny"))
    return {precision: BertTorch(path, "cpu", precision) for precision in ("fp32", "fp16", "bf16")}


#: Half precision rounds states, of size 1 here, to 2**-11 and 2**-8 of themselves at some ten places a layer.
TOLERANCES = {"fp32": CLOSE, "fp16": 0.03, "bf16": 0.25}


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 9),
    width=st.integers(1, POSITIONS),
    seed=st.integers(0, 1000),
    precision=st.sampled_from(["fp32", "fp16", "bf16"]),
)
def test_rows_do_not_depend_on_their_batch_or_padding(
    tiny: dict[str, BertTorch], rows: int, width: int, seed: int, precision: str
) -> None:
    bert, tolerance = tiny[precision], TOLERANCES[precision]
    ids, lengths, types = random_rows(rows, width, seed)
    whole = by_torch(bert, ids, lengths, types)
    for row, length in enumerate(lengths):
        alone = by_torch(bert, ids[row : row + 1, :length].copy(), None, types[row : row + 1, :length].copy())
        np.testing.assert_allclose(whole[row, :length], alone[0], atol=tolerance)


@settings(max_examples=20, deadline=None)
@given(rows=st.integers(1, 6), width=st.integers(1, POSITIONS - 4), more=st.integers(0, 4), seed=st.integers(0, 1000))
def test_equal_lengths_without_a_mask_equal_padded_rows(
    tiny: dict[str, BertTorch], rows: int, width: int, more: int, seed: int
) -> None:
    ids = random_rows(rows, width + more, seed)[0]
    padded = by_torch(tiny["fp32"], ids, np.full(rows, width, np.int32))
    np.testing.assert_allclose(by_torch(tiny["fp32"], ids[:, :width].copy()), padded[:, :width], atol=CLOSE)


def test_half_precision_is_near(tiny: dict[str, BertTorch]) -> None:
    ids, lengths, _ = random_rows(6, 20)
    exact = by_torch(tiny["fp32"], ids, lengths)
    for precision in ("fp16", "bf16"):
        off = abs(by_torch(tiny[precision], ids, lengths) - exact)[np.arange(20) < lengths[:, None]]
        assert 0 < off.max() < TOLERANCES[precision]


@pytest.fixture(scope="module")
def cached_minilm() -> Path:
    path = model_dir.cached("minilm")
    if not (path / model_dir.FACTS).is_file():
        pytest.skip(f"no MiniLM in {path}: run `pychunk model get minilm`, or set PYCHUNK_CACHE")
    return path


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(-1) / (np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1))


def test_minilm_equals_onnx_runtime(cached_minilm: Path) -> None:
    path = cached_minilm / "model.onnx"
    ids, lengths, types = tokenised(cached_minilm)
    assert not types.any()
    real = np.arange(ids.shape[1]) < lengths[:, None]
    expected = by_onnx(path, ids, lengths)[real]
    found = by_torch(BertTorch(path, "cpu", "fp32"), ids, lengths)[real]
    np.testing.assert_allclose(found, expected, atol=CLOSE)
    assert cosines(found.astype(float), expected.astype(float)).min() > 1 - 1e-9
    half = by_torch(BertTorch(path, "cpu", "fp16"), ids[:3, :12].copy(), np.minimum(lengths[:3], 12))
    exact = by_torch(BertTorch(path, "cpu", "fp32"), ids[:3, :12].copy(), np.minimum(lengths[:3], 12))
    real = np.arange(12) < lengths[:3, None]
    assert cosines(half, exact)[real].min() > 1 - 1e-5


def test_the_shipped_next_sentence_model_equals_onnx_runtime() -> None:
    path = model_packages.folder(model_packages.NSP) / "model.onnx"
    rows = tokenised(model_packages.folder(model_packages.NSP), pairs=True)
    bert = BertTorch(path, "cpu", "fp32")
    found = by_torch(bert, *rows)
    assert found.shape == (len(SENTENCES), bert.classes) == (len(SENTENCES), 2)
    np.testing.assert_allclose(found, by_onnx(path, *rows), atol=CLOSE)


def test_float32_stays_float32_whatever_the_process_allows(tiny: dict[str, BertTorch]) -> None:
    ids = random_rows(8, 24)[0]
    expected = by_torch(tiny["fp32"], ids)
    for allowed in ("high", "medium"):
        torch.set_float32_matmul_precision(allowed)
        try:
            assert (by_torch(tiny["fp32"], ids) == expected).all()
            assert torch.get_float32_matmul_precision() == allowed
        finally:
            torch.set_float32_matmul_precision("highest")


def test_float32_stays_float32_where_newer_settings_allow_less(tiny: dict[str, BertTorch]) -> None:
    products = torch.backends.mkldnn.matmul
    if not hasattr(products, "fp32_precision"):
        pytest.skip("this torch has the older settings alone")
    ids = random_rows(8, 24)[0]
    expected = by_torch(tiny["fp32"], ids)
    products.fp32_precision = "bf16"
    try:
        assert (by_torch(tiny["fp32"], ids) == expected).all()
        assert products.fp32_precision == "bf16"
    finally:
        products.fp32_precision = "none"
    assert torch.get_float32_matmul_precision() == "highest"


def test_settings_come_back_after_the_last_thread() -> None:
    products = torch.backends.cuda.matmul
    inside, leave = threading.Barrier(2), threading.Event()

    def work() -> None:
        with exact_products():
            inside.wait(10)
            leave.wait(10)

    torch.set_float32_matmul_precision("high")
    before = products.allow_fp16_reduced_precision_reduction
    try:
        other = threading.Thread(target=work)
        with exact_products():
            other.start()
            inside.wait(10)
        assert torch.get_float32_matmul_precision() == "highest"
        assert not products.allow_fp16_reduced_precision_reduction
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        leave.set()
        other.join(10)
        assert torch.get_float32_matmul_precision() == "high"
        assert products.allow_fp16_reduced_precision_reduction == before
        assert torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.set_float32_matmul_precision("highest")


def _other_heads(graph: Any) -> None:
    node = next(node for node in graph.graph.node if node.name == "encoder.layer.1.mixed")
    next(each for each in node.attribute if each.name == "num_heads").i = 2


def _other_pooler(graph: Any) -> None:
    next(node for node in graph.graph.node if node.op_type == "Tanh").op_type = "Sigmoid"


def _without_nodes(graph: Any) -> None:
    del graph.graph.node[:]


def _one_more(graph: Any) -> None:
    graph.graph.node.append(onnx.helper.make_node("Identity", ["pooled"], ["copy"]))


def _other_token(graph: Any) -> None:
    found = next(each for each in graph.graph.initializer if each.name == "first_token")
    found.CopyFrom(onnx.numpy_helper.from_array(np.ones(1, np.int64), "first_token"))


def _narrow(graph: Any) -> None:
    found = next(each for each in graph.graph.initializer if each.name == "encoder.layer.0.qkv.bias")
    found.CopyFrom(onnx.numpy_helper.from_array(np.ones(5, np.float32), found.name))


def _missing(graph: Any) -> None:
    graph.graph.initializer.pop()


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (_other_heads, "its node 'encoder.layer.1.mixed' is not as export"),
        (_other_pooler, "its node 'pooled' is not as export"),
        (_without_nodes, "it has no node Attention"),
        (_one_more, "it has 32 nodes, not 31"),
        (_other_token, "its constant 'first_token' differs"),
        (_narrow, r"encoder.layer.0.qkv.bias is \[5\], not \[96\]"),
        (_missing, "classifier.bias"),
    ],
)
def test_other_graphs_are_refused_with_the_reason(tmp_path: Path, edit: Callable[[Any], None], reason: str) -> None:
    path = write(tmp_path, classes=2)
    graph = onnx.load(path)
    edit(graph)
    path.write_bytes(graph.SerializeToString())
    with pytest.raises(ValueError, match=rf"is not a BERT as .*{reason}.*Placement\(runtime='onnxruntime'\)"):
        BertTorch(path, "cpu", "fp32")


def test_what_was_read_is_what_was_written(tmp_path: Path) -> None:
    found = read_weights(write(tmp_path, heads=2, activation="gelu_new", layers=3, first_token_only=True))
    assert (found.layers, found.heads, found.dim, found.classes) == (3, 2, DIM, 0)
    assert found.epsilon == pytest.approx(1e-5)
    assert (found.approximate, found.first_token_only) == ("tanh", True)
    weights = random_weights(3)
    expected = np.hstack([weights[f"encoder.layer.2.attention.self.{p}.weight"].T for p in ("query", "key", "value")])
    np.testing.assert_array_equal(found.arrays["encoder.layer.2.qkv.weight"], expected)


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    path = write(tmp_path)
    for options, reason in (
        ({"precision": "int8"}, "precision must be one of fp32, fp16, bf16; got 'int8'"),
        ({"device": "meta"}, "device must be cpu, cuda or cuda:N; got 'meta'"),
        ({"device": "nonsense"}, "device must be cpu, cuda or cuda:N; got 'nonsense'"),
        ({"device": "cuda:99"}, "there is no device 'cuda:99': torch sees"),
    ):
        with pytest.raises(ValueError, match=reason):
            BertTorch(path, **{"device": "cpu", "precision": "fp32", **options})
    with pytest.raises(ValueError, match=f"rows must have at most {POSITIONS} tokens; got 25"):
        BertTorch(path, "cpu", "fp32").forward(torch.zeros((1, 25), dtype=torch.int32))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"model.onnx is not an ONNX model that can be read"):
        BertTorch(path, "cpu", "fp32")


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "pychunk-native\[onnx\]"'):
        BertTorch(path, "cpu", "fp32")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install torch, or pip install "pychunk-native\[torch\]"'):
        BertTorch(path, "cpu", "fp32")


def test_out_of_memory_is_known() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(raised.value)
    assert is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert not is_out_of_memory(ValueError("out of memory"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_equals_onnx_runtime(tmp_path: Path) -> None:
    path = write(tmp_path)
    for precision in ("fp32", "fp16"):
        bert = BertTorch(path, "cuda", precision)
        for seed in range(4):
            for rows, width in ((5, 7), (3, 24), (1, 9)):
                ids, lengths, types = random_rows(rows, width, seed)
                real = np.arange(width) < lengths[:, None]
                expected = by_onnx(path, ids, lengths, types)[real]
                np.testing.assert_allclose(
                    by_torch(bert, ids, lengths, types)[real], expected, atol=TOLERANCES[precision]
                )
                np.testing.assert_allclose(by_torch(bert, ids), by_onnx(path, ids), atol=TOLERANCES[precision])


def test_segment_runs_in_torch_where_asked(tiny_encoder: Path) -> None:
    texts = ["Cats purr when content. Dogs bark at night. The sun is a star. " * 3, "", "One."]
    here = pychunk.segment(texts, encoder=tiny_encoder, vectors="sentence")
    there = pychunk.segment(
        texts, encoder=tiny_encoder, placement=pychunk.Placement(runtime="torch"), vectors="sentence"
    )
    assert [chunk.text for chunk in there] == [chunk.text for chunk in here]
    assert there.metadata["runtime"].startswith("torch")
    assert there.metadata["precision"] == "fp32"
    assert there.metadata["vector_encoder"] == here.metadata["vector_encoder"]
