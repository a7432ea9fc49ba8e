"""SentencePiece tokenizers: unigram and BPE, with byte offsets.

XLM-R, T5 and Llama 2 use them. :func:`load_sentencepiece` reads a ``.model`` of sentencepiece. :func:`unigram_of`
reads the content of a ``tokenizer.json`` whose model is Unigram.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.pieces import NORMAL, RESERVED, PieceVocabulary
from .._engine.data.tokens import Tokens
from . import Additions, NotNativeError
from .sentencepiece_model import read_model
from .tokenizer_json import REMEDY

if TYPE_CHECKING:
    from collections.abc import Mapping

I64 = npt.NDArray[np.int64]


class SentencePieceTokenizer(Additions):
    """A tokenizer with the pieces of a SentencePiece vocabulary. Several threads may use it at once.

    Attributes:
        pieces: The text, the score and the kind of each piece by id, and the rules.
        name: A name for messages and metadata, such as the file's name.
        fingerprint: The first 16 hexadecimal digits of the SHA-256 of the vocabulary and its options.
    """

    def __init__(self, pieces: PieceVocabulary, name: str) -> None:
        self.name = name
        self.pieces = pieces
        self.vocabulary: list[str] = []  # not the WordPiece that the engine reads
        self.tokenizer_options: dict[str, Any] = {}
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)
        self.fingerprint = pieces.fingerprint()
        self._core = native.piece_tokenizer(pieces)

    def encode(self, text: Any, offsets: I64, *, threads: int = 1) -> tuple[Tokens, I64]:
        """Return the tokens of texts without special tokens, and the bytes of each in ``text``, int64[t, 2].

        Text i is ``text[offsets[i]:offsets[i + 1]]``; ``text`` is a buffer of valid UTF-8.
        """
        ids, starts, counts, spans = self._run(text, offsets, "byte_spans", threads)
        assert spans is not None
        return Tokens(ids, starts, counts), spans

    def count(self, text: Any, offsets: I64, threads: int = 1) -> I64:
        """Return the number of tokens of each text, int64[n]. This takes less time than :meth:`encode`."""
        return self._run(text, offsets, "counts", threads)[2]

    @property
    def core(self) -> Any:
        """The native tokenizer."""
        return self._core

    def count_spans(self, text: bytes, bounds: I64) -> I64:
        """Return the numbers of tokens of n consecutive spans of UTF-8 without white space at their ends, int64[n]."""
        return native.count_tokens(self, np.frombuffer(text, np.uint8), bounds)

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans, without the white space at their beginnings and ends."""
        ids, starts, counts, _ = native.encode_pieces(self._core, text, bounds, "ids", trims=True, threads=threads)
        return Tokens(ids, starts, counts)

    def _run(
        self, text: Any, offsets: I64, fields: Literal["counts", "byte_spans"], threads: int
    ) -> tuple[npt.NDArray[np.int32], I64, I64, I64 | None]:
        data = text if isinstance(text, np.ndarray) else np.frombuffer(text, np.uint8)
        return native.encode_pieces(self._core, data, offsets, fields, threads=threads)


def load_sentencepiece(path: str | Path, name: str | None = None) -> SentencePieceTokenizer:
    """Return the tokenizer in a ``.model`` file of sentencepiece.

    Raises:
        NotNativeError: The file asks for something that only the package sentencepiece does.
        ValueError: The file is damaged. The message names the file and the field.
    """
    path = Path(path)
    return sentencepiece_of(path.read_bytes(), str(path), name or path.name)


def sentencepiece_of(data: bytes, where: str, name: str) -> SentencePieceTokenizer:
    """Return the tokenizer in the content of a ``.model`` file. For the errors see :func:`load_sentencepiece`.

    Args:
        data: The content of the file.
        where: The name of the file, for messages.
        name: The tokenizer's name.
    """
    with _remedy():
        model = read_model(data, where)
        if model.unsupported:
            raise NotNativeError(f"{where}: {model.unsupported}; the package sentencepiece runs such models")
        return _made(model.vocabulary, name, where)


def unigram_of(data: Mapping[str, Any], where: str, name: str | None = None) -> SentencePieceTokenizer:
    """Return the tokenizer of a ``tokenizer.json`` whose model is Unigram.

    Special tokens never match text. Other added tokens are not supported.

    Args:
        data: The content of the file.
        where: The name of the file, for messages.
        name: The tokenizer's name; by default the name of the file.

    Raises:
        NotNativeError: The file asks for something that only the package tokenizers does.
        ValueError: The file is damaged. The message names the file and the field.
    """
    with _remedy():
        return _unigram_of(data, where, name)


def _unigram_of(data: Mapping[str, Any], where: str, name: str | None) -> SentencePieceTokenizer:
    model = _mapping(data.get("model"), where, "model")
    vocabulary = model.get("vocab")
    if model.get("type") != "Unigram" or not isinstance(vocabulary, list):
        raise ValueError(f"{where}: model.type must be Unigram, with a list as model.vocab; got {model.get('type')!r}")
    for at, entry in enumerate(vocabulary):
        match entry:
            case [str(), float() | int()] if not isinstance(entry[1], bool):
                continue
        raise ValueError(f"{where}: model.vocab[{at}] must be a piece and its score; got {entry!r:.80}")
    pieces = [piece for piece, _ in vocabulary]
    unknown = model.get("unk_id")
    if not isinstance(unknown, int) or isinstance(unknown, bool) or not 0 <= unknown < len(pieces):
        raise ValueError(f"{where}: model.unk_id must be from 0 to {len(pieces) - 1}; got {unknown!r:.80}")
    kinds = np.full(len(pieces), NORMAL, np.uint8)
    for token in data.get("added_tokens") or []:
        number = _mapping(token, where, "added_tokens").get("id")
        if not token.get("special"):
            raise _unsupported(where, "added_tokens", token.get("content"))
        if isinstance(number, int) and 0 <= number < len(pieces):
            kinds[number] = RESERVED
    vocabulary = PieceVocabulary(
        pieces,
        np.array([_as_tokenizers_reads(score) for _, score in vocabulary], np.float64),
        kinds,
        "tokenizers",
        unknown=unknown,
        byte_ids=_byte_ids(model, pieces, where),
        **_normalizer(data.get("normalizer"), where),
        **_splitter(data.get("pre_tokenizer"), where),
    )
    if vocabulary.split_at_white and vocabulary.join_spaces:
        raise _unsupported(where, "pre_tokenizer", "WhitespaceSplit after a Replace")
    return _made(vocabulary, name or Path(where).name, where)


def _as_tokenizers_reads(score: float) -> float:
    """Return the value that tokenizers reads for a number in a file, which can be one bit off.

    tokenizers divides all digits of the number by a power of ten. One bit decides between two paths of equal score, as
    those of "00" + "0" and "0" + "00".
    """
    text = repr(float(score))
    if "e" in text or "n" in text:
        return float(score)  # below 0.0001, which no score in practice is, or not finite
    whole, _, fraction = text.partition(".")
    return float(int(whole + fraction)) / float(f"1e{len(fraction)}") if score else 0.0


@contextmanager
def _remedy() -> Iterator[None]:
    """Add the remedy to the error of a damaged file."""
    try:
        yield
    except NotNativeError:
        raise
    except ValueError as error:
        raise ValueError(f"{error}: get the file again") from None


def _made(vocabulary: PieceVocabulary, name: str, where: str) -> SentencePieceTokenizer:
    try:
        return SentencePieceTokenizer(vocabulary, name)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _unsupported(where: str, field: str, got: Any) -> NotNativeError:
    return NotNativeError(f"{where}: {field} has {got!r:.80}, which the native core does not implement here: {REMEDY}")


def _mapping(value: Any, where: str, field: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {field} must be an object; got {value!r:.80}")
    return value


def _steps(value: Any, inner: str, where: str, field: str) -> list[Mapping[str, Any]]:
    """Return the steps of a normalizer or pre-tokenizer, which may be a Sequence of them, or none."""
    if value is None:
        return []
    own = _mapping(value, where, field)
    if own.get("type") != "Sequence":
        return [own]
    steps = own.get(inner)
    if not isinstance(steps, list):
        raise ValueError(f"{where}: {field}.{inner} must be a list; got {steps!r:.80}")
    return [_mapping(step, where, f"{field}.{inner}") for step in steps]


def _normalizer(value: Any, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {"join_spaces": False}
    order = ["Precompiled", "Strip", "Replace"]
    for step in _steps(value, "normalizers", where, "normalizer"):
        kind = step.get("type")
        if kind not in order:
            raise _unsupported(where, "normalizer", kind)
        order = order[order.index(kind) + 1 :]  # each once, in this order
        if kind == "Precompiled":
            try:
                found["character_map"] = base64.b64decode(step.get("precompiled_charsmap") or "", validate=True)
            except (binascii.Error, TypeError, ValueError) as error:
                raise ValueError(f"{where}: normalizer.precompiled_charsmap must be base64 ({error})") from None
        elif kind == "Strip":
            found["strip_left"], found["strip_right"] = bool(step.get("strip_left")), bool(step.get("strip_right"))
        elif (step.get("pattern"), step.get("content")) in (
            ({"Regex": " {2,}"}, " "),
            ({"Regex": " {2,}"}, "\u2581"),
        ):
            found["join_spaces"] = True
        else:
            raise _unsupported(where, "normalizer", step)
    return found


def _splitter(value: Any, where: str) -> dict[str, Any]:
    steps = _steps(value, "pretokenizers", where, "pre_tokenizer")
    kinds = [step.get("type") for step in steps]
    if kinds not in (["Metaspace"], ["WhitespaceSplit", "Metaspace"]):
        raise _unsupported(where, "pre_tokenizer", kinds)
    own = steps[-1]
    if own.get("replacement") != "\u2581" or own.get("split", True) is not True:
        raise _unsupported(where, "pre_tokenizer", dict(own))
    scheme = own.get("prepend_scheme") or ("always" if own.get("add_prefix_space", True) else "never")
    if scheme not in ("always", "first", "never"):
        raise ValueError(f"{where}: pre_tokenizer.prepend_scheme must be always, first or never; got {scheme!r:.80}")
    return {"prefix": scheme, "split_at_white": len(steps) == 2}


def _byte_ids(model: Mapping[str, Any], pieces: list[str], where: str) -> list[int]:
    if not model.get("byte_fallback"):
        return []
    ids = {piece: at for at, piece in enumerate(pieces)}
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    missing = next((name for name in names if name not in ids), None)
    if missing is not None:
        raise ValueError(
            f"{where}: model.byte_fallback needs pieces for all 256 bytes in model.vocab; {missing} is missing"
        )
    return [ids[name] for name in names]
