"""The .model files of sentencepiece: ids and offsets equal those of the package sentencepiece."""

import random
import struct
from pathlib import Path
from typing import Any

import pytest
from amounts import amounts
from token_texts import CASES, errors_name, texts_of, tokens_of

from pychunk.tokenizers import NotNativeError
from pychunk.tokenizers.sentencepiece_model import read_model
from pychunk.tokenizers.unigram import load_sentencepiece

IDENTITY = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
#: Options of training. The third model is of the type of Llama 2.
TRAINED: dict[str, dict[str, Any]] = {
    "unigram": {"model_type": "unigram"},
    "bpe": {"model_type": "bpe"},
    "bpe-bytes": {"model_type": "bpe", "byte_fallback": True, "allow_whitespace_only_pieces": True, **IDENTITY},
    "unigram-bytes": {
        "model_type": "unigram",
        "byte_fallback": True,
        "user_defined_symbols": ["<sep>", "foo", "of"],
        **IDENTITY,
    },
    "bpe-symbols": {"model_type": "bpe", "user_defined_symbols": ["<sep>", "\u2581\u2581"], **IDENTITY},
    "unigram-across": {"model_type": "unigram", "split_by_whitespace": False},
    "unigram-folded": {"model_type": "unigram", "normalization_rule_name": "nfkc_cf", "add_dummy_prefix": False},
}


def train(path: Path, texts: list[str], **options: Any) -> Path:
    sentencepiece = pytest.importorskip("sentencepiece", reason="the package sentencepiece is the oracle")
    lines = [line for text in texts for line in text[:3000].split("\n") if line.strip()]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines[:5000]),
        model_prefix=str(path),
        **{"vocab_size": 3000, "character_coverage": 0.995, "minloglevel": 2, "num_threads": 1, **options},
    )
    return path.with_name(path.name + ".model")


@pytest.fixture(scope="module")
def models(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    texts = list(texts_of(data, ["wiki", "xquad"], 0.05))
    random.Random(1).shuffle(texts)
    return {name: train(folder / name, texts, **options) for name, options in TRAINED.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("share", amounts(0.01, 1.0))
def test_ids_and_offsets_equal_those_of_sentencepiece(
    models: dict[str, Path], data: Path, name: str, share: float
) -> None:
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_file=str(models[name]))
    ours = load_sentencepiece(models[name])
    for text in [*CASES, *texts_of(data, ["wiki", "xquad", "code"], share)]:
        ids, spans = tokens_of(ours, text)
        wanted = theirs.encode(text, return_type="proto").pieces
        assert ids == [piece.id for piece in wanted]
        assert spans == [(piece.begin, piece.end) for piece in wanted]


def field(number: int, value: bytes | int | float) -> bytes:
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def piece(text: bytes, score: float = 0.0, kind: int = 1) -> bytes:
    return field(1, field(1, text) + field(2, score) + field(3, kind))


SMALL = piece(b"<unk>", kind=2) + piece("\u2581".encode(), -2.0) + piece("\u2581ab".encode(), -1.5) + piece(b"b", -2.5)


def test_a_small_model_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.model"
    path.write_bytes(SMALL + field(2, field(3, 1) + field(99, b"?")) + field(3, field(4, 1)) + field(77, 5))
    made = load_sentencepiece(path)
    assert (made.name, made.pieces.pieces) == ("small.model", ["<unk>", "\u2581", "\u2581ab", "b"])
    assert tokens_of(made, " ab  b? ") == ([2, 1, 3, 0], [(1, 3), (3, 5), (5, 6), (6, 7)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pieces must hold one piece of the type UNKNOWN; got 0 of 0"),
        (piece(b"a"), "pieces must hold one piece of the type UNKNOWN; got 0 of 1"),
        (SMALL + piece(b"<u>", kind=2), "pieces must hold one piece of the type UNKNOWN; got 2 of 5"),
        (SMALL + piece(b""), r"pieces\[4\].piece must not be empty"),
        (SMALL + piece(b"\xff"), r"pieces\[4\].piece must be UTF-8"),
        (SMALL + piece(b"c", kind=9), r"pieces\[4\].type must be from 1 to 6; got 9"),
        (SMALL + piece(b"b"), "pieces: 'b' has two ids, 3 and 4"),
        (SMALL + piece(b"c", float("nan")), "scores: the score of piece 4 must be a finite number"),
        (SMALL + field(1, 3), r"pieces\[4\] must be bytes with a length; got the number 3"),
        (SMALL + field(2, field(3, 7)), "trainer_spec.model_type must be from 1 to 4; got 7"),
        (SMALL + field(2, field(35, 1)), "trainer_spec.byte_fallback needs a piece for each byte; <0x00> is missing"),
        (SMALL + piece(b"<0x00>", kind=6), "pieces hold <0x00>, but trainer_spec.byte_fallback is false"),
        (SMALL + field(3, field(2, b"abc")), "precompiled_charsmap must hold at least 5 bytes, got 3"),
        (SMALL[:-2], "the model: field 1 has 10 bytes, but 8 are left"),
        (SMALL + b"\x0f", "the model is no message of a SentencePiece model"),
        (SMALL + b"\x80" * 20, "ends inside a number, or holds one of more than 64 bits"),
        (SMALL + b"\x0a\xff\xff\xff\xff\x0f", "field 1 has 4294967295 bytes, but 0 are left"),
    ],
)
def test_damaged_models_are_errors_that_name_the_file_and_the_field(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        load_sentencepiece(path)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize("seed", range(300))
def test_models_with_any_bytes_damaged_are_errors_or_work(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    data = bytearray(SMALL + field(2, field(3, 1)) + field(3, field(3, 1)))
    for _ in range(drawn.randint(1, 4)):
        data[drawn.randrange(len(data))] = drawn.randrange(256)
    path = tmp_path / "x.model"
    path.write_bytes(data[: drawn.choice([len(data), drawn.randrange(len(data))])])
    with errors_name(f"{path}: "):
        tokens_of(load_sentencepiece(path), " ab  b? ")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (field(2, field(3, 3)), "trainer_spec.model_type is WORD"),
        (field(2, field(24, 1)), "trainer_spec.treat_whitespace_as_suffix is true"),
        (field(3, field(5, 0)), "normalizer_spec.escape_whitespaces is false"),
    ],
)
def test_models_without_a_native_implementation_are_named(tmp_path: Path, spec: bytes, message: str) -> None:
    assert read_model(SMALL + spec, "x").unsupported == message
    path = tmp_path / "x.model"
    path.write_bytes(SMALL + spec)
    with pytest.raises(NotNativeError, match=f"{message}; the package sentencepiece runs such models"):
        load_sentencepiece(path)
