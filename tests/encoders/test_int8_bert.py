"""BERT with products in 8 bits: near float32, and the same bits in any batch, order, thread count, instruction set."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import printed_by_each

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import pychunk
from pychunk._engine import native
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.files.bert_graph import bert_graph
from pychunk.encoders.runtime.int8_bert import Int8Session
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.runtime.sessions import OnnxRuntime
from pychunk.encoders.transformer import TransformerEncoder

CPU, INT8 = ModelPlacement(), ModelPlacement.of(precision="int8")
WORDS, POSITIONS, DIM, WIDE = 50, 300, 64, 144
TEXTS = [
    "Cats purr when they are content.",
    "Yes.",
    "",
    "東京 is a city!",
    "In 1905 the town was given a station.",
    "word " * 80,
]


def random_weights(seed: int = 0, layers: int = 2) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return random.normal(0, 0.15, shape).astype(np.float32)

    sizes = {"word": WORDS, "position": POSITIONS, "token_type": 2}
    weights = {f"embeddings.{name}_embeddings.weight": normal(rows, DIM) for name, rows in sizes.items()}
    norms, matrices = ["embeddings.LayerNorm"], {"pooler.dense": (DIM, DIM)}
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


def write(folder: Path, heads: int = 4, activation: str = "gelu", classes: int = 0, **options: Any) -> Path:
    config = {"num_attention_heads": heads, "num_hidden_layers": 2, "hidden_size": DIM, "layer_norm_eps": 1e-5}
    random = np.random.default_rng(1)
    head = (random.normal(size=(classes, DIM)).astype(np.float32), np.arange(classes, dtype=np.float32))
    weights = options.pop("weights", None) or random_weights()
    graph = bert_graph(weights, {**config, "hidden_act": activation}, head=head if classes else None, **options)
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    return folder / "model.onnx"


def tensors(session: Any, rows: int, width: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Return ids, a mask with padding on the right, and types, by the names of the session's inputs."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, width + 1, rows)
    lengths[0] = width
    mask = (np.arange(width) < lengths[:, None]).astype(np.int32)
    types = (np.arange(width) >= random.integers(0, width + 1, rows)[:, None]).astype(np.int32)
    filled = {"ids": random.integers(0, WORDS, (rows, width), dtype=np.int32), "mask": mask, "types": types}
    return {each.name: filled[each.role] for each in session.inputs}


@pytest.mark.parametrize("activation", ["gelu", "gelu_new"])
@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("width", [1, 17, 129, 300])
@pytest.mark.parametrize("output", [{}, {"first_token_only": True}, {"classes": 3}], ids=["states", "first", "head"])
def test_it_is_near_float32(tmp_path: Path, activation: str, heads: int, width: int, output: dict[str, Any]) -> None:
    path = write(tmp_path, heads, activation, **output)
    exact, ours = OnnxRuntime(path), Int8Session(path)
    expected, found = (each.run(tensors(each, 3, width)) for each in (exact, ours))
    assert found.shape == expected.shape
    if not output:  # The states of padding have no meaning; ours are zero.
        real = tensors(ours, 3, width)["mask"].astype(bool)
        assert not found[~real].any()
        expected, found = expected[real], found[real]
    expected, found = (each.reshape(-1, each.shape[-1]) for each in (expected, found))
    if "classes" in output:
        assert np.abs(expected - found).max() < 0.6  # logits are sums of 64 numbers of about 1, from -8 to 8
        return
    cosines = (expected * found).sum(1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() > 0.998


@settings(max_examples=30)
@given(st.lists(st.sampled_from(TEXTS) | st.text(max_size=60), min_size=1, max_size=12), st.integers(1, 3))
def test_a_vector_depends_on_its_text_alone(tiny_encoder: Path, texts: list[str], threads: int) -> None:
    encoder = TransformerEncoder(tiny_encoder, runtime=INT8)
    together = encoder.encode(texts, threads=threads, batch_tokens=64)
    backwards = encoder.encode(texts[::-1], threads=1)[::-1]
    alone = np.concatenate([encoder.encode([text], threads=1) for text in texts])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


def test_every_instruction_set_gives_the_same_bits(tmp_path: Path) -> None:
    path = write(tmp_path)
    code = f"""
import hashlib
from pathlib import Path
import numpy as np
from pychunk.encoders.runtime.int8_bert import Int8Session
session = Int8Session(Path({str(path)!r}))
random = np.random.default_rng(3)
for width in (1, 16, 40, 131, 257):
    ids = random.integers(0, {WORDS}, (3, width), dtype=np.int32)
    out = session.run({{"ids": ids, "mask": np.ones_like(ids), "types": np.zeros_like(ids)}})
    print(hashlib.sha256(out.tobytes()).hexdigest())
"""
    assert len(native.available_isas()) > 1
    printed = printed_by_each(code)
    assert len(printed) == 1
    assert len(printed.pop().split()) == 5


@pytest.mark.slow
@pytest.mark.parametrize("count", amounts(500, 10_000))
def test_random_sentences_have_the_same_bits_in_any_batch_and_on_any_cpu(tiny_encoder: Path, count: int) -> None:
    code = f"""
import hashlib, random
from pathlib import Path
import numpy as np
from pychunk.encoders.runtime.placement import ModelPlacement
from pychunk.encoders.transformer import TransformerEncoder
draw = random.Random(5)
pools = ["abcdefgh ", "ab cd,.?! ", "".join(map(chr, range(32, 0x250))), "жцяабв 中文語 あいう \U0001f600"]
texts = ["".join(draw.choices(draw.choice(pools), k=draw.randint(0, 200))) for _ in range({count})]
encoder = TransformerEncoder(Path({str(tiny_encoder)!r}), runtime=ModelPlacement.of(precision="int8"))
together = encoder.encode(texts, threads=2)
alone = np.concatenate([encoder.encode([text], threads=1) for text in texts])
order = draw.sample(range(len(texts)), len(texts))
shuffled = encoder.encode([texts[at] for at in order], threads=3, batch_tokens=512)
assert together.tobytes() == alone.tobytes() and shuffled.tobytes() == together[order].tobytes()
print(hashlib.sha256(together.tobytes()).hexdigest())
"""
    assert len(printed_by_each(code)) == 1


def test_outliers_in_a_channel_leave_the_others_exact_enough(tmp_path: Path) -> None:
    weights = random_weights()
    weights["encoder.layer.0.output.LayerNorm.weight"][5] = 60
    path = write(tmp_path, weights=weights)
    exact, ours = OnnxRuntime(path), Int8Session(path)
    expected, found = (each.run(tensors(each, 1, 40))[0] for each in (exact, ours))
    cosines = (expected * found).sum(1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() > 0.99


def test_cuts_scores_and_fingerprints_say_how_they_were_computed(tiny_encoder: Path, tiny_pairs: Path) -> None:
    text = "Cats purr. Dogs bark at night. The sun is a star. Stars burn hydrogen. Cats sleep."
    where = pychunk.Placement(precision="int8")
    found = pychunk.segment(text, "semantic", encoder=tiny_encoder, placement=where)
    assert "".join(found.texts) == text
    plain, bytes_ = TransformerEncoder(tiny_encoder), TransformerEncoder(tiny_encoder, runtime=INT8)
    assert bytes_.fingerprint == f"{plain.fingerprint}:int8"
    assert bytes_.running == (f"pychunk {native.version}", "int8")
    assert (plain.encode(TEXTS) * bytes_.encode(TEXTS)).sum(1).min() > 0.99
    assert pychunk.segment(text, "nsp", encoder=tiny_pairs, placement=where, threshold=0.5).texts
    data, bounds = np.frombuffer(b"Cats purr. Dogs bark.", np.uint8), np.array([0, 11, 21])
    first, second = np.array([0, 1]), np.array([1, 0])
    scores = [PairScorer(tiny_pairs, runtime=each).probabilities(data, bounds, first, second) for each in (CPU, INT8)]
    assert np.abs(scores[0] - scores[1]).max() < 0.02


def test_what_bytes_cannot_hold_is_refused(tmp_path: Path) -> None:
    weights = random_weights()
    for wrong in (np.nan, 1e30):
        weights["encoder.layer.1.output.dense.weight"][3, 4] = wrong
        with pytest.raises(ValueError, match=r"precision='int8': weights must be finite.*; pass precision='auto'"):
            Int8Session(write(tmp_path, weights=weights))
    with pytest.raises(ValueError, match="a multiple of 16"):
        Int8Session(write(tmp_path, heads=8))
    with pytest.raises(ValueError, match=r"int8.*got runtime='torch': leave it out"):
        ModelPlacement.of("torch", precision="int8")
    session = Int8Session(write(tmp_path))
    good = tensors(session, 2, 5)
    for name, value in (("ids", WORDS), ("ids", -1), ("types", 2)):
        bad = {**good, name: np.full_like(good[name], value)}
        with pytest.raises(ValueError, match=f"{name} must be from 0 to"):
            session.run(bad)
    with pytest.raises(ValueError, match="at most 300 tokens"):
        session.run(tensors(session, 1, 301))
    with pytest.raises(ValueError, match="lengths must be from 1"):
        session.run({**good, "mask": np.zeros_like(good["mask"])})


def test_a_mask_with_holes_is_refused(tmp_path: Path) -> None:
    session = Int8Session(write(tmp_path))
    given_ = tensors(session, 1, 4)
    with pytest.raises(ValueError, match="ones, then zeros"):
        session.run({**given_, "mask": np.array([[0, 1, 1, 1]], np.int32)})
