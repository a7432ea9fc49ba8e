"""Reads the ``.model`` files of sentencepiece: a message of Protocol Buffers, of which a few fields are needed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._engine.data.pieces import NORMAL, RESERVED, UNUSED, USER_DEFINED, PieceVocabulary

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
# The types of a piece in the file.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_KINDS = {
    _NORMAL: NORMAL,
    _UNKNOWN: RESERVED,
    _CONTROL: RESERVED,
    _USER_DEFINED: USER_DEFINED,
    _UNUSED: UNUSED,
    _BYTE: RESERVED,
}
_MODELS = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


class Model(NamedTuple):
    """The vocabulary of a file, and what its tokenizer needs that has no native implementation, or ""."""

    vocabulary: PieceVocabulary
    unsupported: str


def read_model(data: bytes, where: str) -> Model:
    """Read the content of a ``.model`` file. ``where`` names the file in messages.

    Raises:
        ValueError: The content is damaged. The message names the file and the field.
    """
    pieces: list[str] = []
    scores: list[float] = []
    types: list[int] = []
    trainer: dict[int, Any] = {}
    normalizer: dict[int, Any] = {}
    for number, value in _fields(data, where, "the model"):
        if number == 1:
            piece, score, kind = _piece(value, where, f"pieces[{len(pieces)}]")
            pieces.append(piece)
            scores.append(score)
            types.append(kind)
        elif number in (2, 3):
            name, wanted = ("trainer_spec", trainer) if number == 2 else ("normalizer_spec", normalizer)
            wanted.update(_fields(_bytes(value, where, name), where, name))
    unknown = [at for at, kind in enumerate(types) if kind == _UNKNOWN]
    if len(unknown) != 1:
        raise ValueError(
            f"{where}: pieces must hold one piece of the type UNKNOWN; got {len(unknown)} of {len(pieces)}"
        )
    model = _MODELS.get(trainer.get(3, 1))
    if model is None:
        raise ValueError(f"{where}: trainer_spec.model_type must be from 1 to 4; got {trainer.get(3)!r:.40}")
    character_map = _bytes(normalizer.get(2, b""), where, "normalizer_spec.precompiled_charsmap")
    extra = bool(normalizer.get(4, 1))
    unsupported = ""
    if model not in ("unigram", "bpe"):
        unsupported, model = f"trainer_spec.model_type is {model.upper()}", "unigram"
    elif trainer.get(24):
        unsupported = "trainer_spec.treat_whitespace_as_suffix is true"
    elif not normalizer.get(5, 1):
        unsupported = "normalizer_spec.escape_whitespaces is false"
    vocabulary = PieceVocabulary(
        pieces,
        np.array(scores, np.float64),
        np.array([_KINDS[kind] for kind in types], np.uint8),
        "sentencepiece",
        "bpe" if model == "bpe" else "unigram",
        character_map,
        join_spaces=extra,
        strip_left=extra,
        strip_right=extra,
        prefix="always" if normalizer.get(3, 1) else "never",
        unknown=unknown[0],
        byte_ids=_byte_ids(pieces, types, bool(trainer.get(35)), where),
    )
    return Model(vocabulary, unsupported)


def _byte_ids(pieces: list[str], types: list[int], fallback: bool, where: str) -> list[int]:
    ids = {pieces[at]: at for at, kind in enumerate(types) if kind == _BYTE}
    if not fallback:
        if ids:
            raise ValueError(f"{where}: pieces hold {next(iter(ids))}, but trainer_spec.byte_fallback is false")
        return []
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    missing = next((name for name in names if name not in ids), None)
    if missing is not None:
        raise ValueError(f"{where}: trainer_spec.byte_fallback needs a piece for each byte; {missing} is missing")
    return [ids[name] for name in names]


def _piece(value: Any, where: str, name: str) -> tuple[str, float, int]:
    text, score, kind = b"", 0.0, _NORMAL
    for number, own in _fields(_bytes(value, where, name), where, name):
        if number == 1:
            text = _bytes(own, where, f"{name}.piece")
        elif number == 2:
            if not isinstance(own, bytes) or len(own) != 4:
                raise ValueError(f"{where}: {name}.score must be a number in 4 bytes; got {own!r:.40}")
            (score,) = struct.unpack("<f", own)
        elif number == 3:
            kind = own
    if kind not in _KINDS:
        raise ValueError(f"{where}: {name}.type must be from 1 to 6; got {kind!r:.40}")
    if not text:
        raise ValueError(f"{where}: {name}.piece must not be empty")
    try:
        return text.decode(), score, kind
    except UnicodeDecodeError:
        raise ValueError(f"{where}: {name}.piece must be UTF-8; got {text!r:.80}") from None


def _bytes(value: Any, where: str, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"{where}: {name} must be bytes with a length; got the number {value!r:.40}")
    return value


def _fields(data: bytes, where: str, name: str) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each field of a message: an int, or bytes."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at, where, name)
        number, kind = key >> 3, key & 7
        value: Any
        if kind == _VARINT:
            value, at = _varint(data, at, where, name)
        else:
            if kind == _BYTES:
                size, at = _varint(data, at, where, name)
            elif kind in (_FIXED32, _FIXED64):
                size = 4 if kind == _FIXED32 else 8
            else:
                raise ValueError(f"{where}: {name} is no message of a SentencePiece model (wire type {kind} at {at})")
            if size > end - at:
                raise ValueError(f"{where}: {name}: field {number} has {size} bytes, but {end - at} are left")
            value = data[at : at + size]
            at += size
        yield number, value


def _varint(data: bytes, at: int, where: str, name: str) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError(f"{where}: {name} ends inside a number, or holds one of more than 64 bits")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
