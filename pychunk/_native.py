"""The border to the extension: checks what goes in, makes it contiguous, calls, names what comes out.

No other module imports ``pychunk._core``. ``pychunk._reference`` offers the same functions, slow and obvious.
"""

from __future__ import annotations

import weakref
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ._arrow import flat_text

try:
    from . import _core
except ImportError as error:
    raise ImportError(
        f"pychunk's extension cannot be loaded ({error}). In a checkout Python takes the source folder for the "
        "package: run it elsewhere, or install with `pip install -e .`"
    ) from error

if TYPE_CHECKING:
    import numpy.typing as npt

    from .plan import Request, TokenTable

__all__ = [
    "adjacent_sums",
    "available_isas",
    "default_threads",
    "dot",
    "encode_static",
    "encode_words",
    "find_invalid_utf8",
    "hash128",
    "isa",
    "normalized_rows",
    "segment",
    "split_sentences",
    "version",
    "word_lists",
]

version: str = _core.__version__
hash128 = _core.hash128
word_lists = _core.word_lists
dot = _core.dot
isa = _core.isa
available_isas = _core.available_isas
default_threads = _core.default_threads

_tokenizers: weakref.WeakKeyDictionary[Any, _core.WordPiece] = weakref.WeakKeyDictionary()


def _tokenizer(encoder: TokenTable) -> _core.WordPiece:
    """The native tokenizer of an encoder, built once: 30,522 tokens take some 10 ms."""
    found = _tokenizers.get(encoder)
    if found is None:
        found = _tokenizers[encoder] = _core.WordPiece(encoder.vocabulary, **encoder.tokenizer_options)
    return found


def _contiguous(values: Any, dtype: type) -> npt.NDArray[Any]:
    return np.ascontiguousarray(values, dtype=dtype)


def _arguments(request: Request) -> _core.Arguments:
    optional: dict[str, Any] = {}
    if request.encoder is not None:
        optional["tokenizer"] = _tokenizer(request.encoder)
        if request.vectors is None:
            optional["table"] = request.encoder.table
    if request.ids is not None:
        optional["id_text"], optional["id_offsets"] = flat_text(request.ids.cast(pa.large_string()))
    if request.sentence_starts is not None:
        values, offsets = request.sentence_starts
        optional["sentence_starts"] = _contiguous(values, np.int64)
        optional["sentence_offsets"] = _contiguous(offsets, np.int64)
    if request.vectors is not None:
        vectors, offsets = request.vectors
        optional["vectors"] = _contiguous(vectors, np.float32)
        optional["vector_offsets"] = _contiguous(offsets, np.int64)
    if isinstance(request.summaries, np.ndarray):
        optional["summary_vectors"] = _contiguous(request.summaries, np.float32)
    elif request.summaries is not None:
        optional["summary_text"], optional["summary_offsets"] = flat_text(request.summaries)
    if request.page_starts is not None:
        values, offsets = request.page_starts
        optional["page_starts"] = _contiguous(values, np.int64)
        optional["page_offsets"] = _contiguous(offsets, np.int64)
    return _core.Arguments(
        request.text,
        request.offsets,
        asdict(request.plan),
        fallback=_fallback(request.encoder),
        first_row=request.first_row,
        threads=request.threads,
        **optional,
    )


_fallbacks: weakref.WeakKeyDictionary[Any, npt.NDArray[np.uint8]] = weakref.WeakKeyDictionary()


def _fallback(encoder: TokenTable | None) -> npt.NDArray[np.uint8] | None:
    """1 for each token that says little of a text: [UNK] and single letters, what foreign scripts fall to."""
    if encoder is None:
        return None
    found = _fallbacks.get(encoder)
    if found is None:
        unknown = encoder.tokenizer_options.get("unknown", "[UNK]")
        bare = (token.removeprefix("##") for token in encoder.vocabulary)
        flags = [token == unknown or (len(token) == 1 and token.isalpha()) for token in bare]
        found = _fallbacks[encoder] = np.array(flags, dtype=np.uint8)
    return found


def segment(request: Request) -> dict[str, Any]:
    """Columns of the chunk table of a batch, by name; ``text`` and ``chunk_id`` are flat bytes."""
    columns: dict[str, Any] = _core.segment(_arguments(request))
    return columns


def adjacent_sums(request: Request) -> tuple[int, int]:
    """(sum, count) of the adjacent cosines of a batch, the sum in units of 2**-32."""
    return _core.adjacent_sums(_arguments(request))


def split_sentences(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *, wrap: bool, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """(spans int64[n, 2] in bytes, doc_offsets int64[k + 1], flags uint8[n]) of k documents of valid UTF-8."""
    return _core.split_sentences(text, offsets, wrap, threads)


def find_invalid_utf8(text: npt.NDArray[np.uint8]) -> int:
    """Byte offset of the first byte that is not part of valid UTF-8, or -1."""
    return _core.find_invalid_utf8(text)


def normalized_rows(vectors: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float32], int]:
    """(float32 copy with rows of unit length, first row that is not finite or -1); a zero row stays zero."""
    return _core.normalized_rows(np.ascontiguousarray(vectors, dtype=np.float32))


def encode_static(
    text: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], encoder: TokenTable, *, threads: int
) -> npt.NDArray[np.float32]:
    """Unit vectors float32[k, dim] of k texts."""
    return _core.encode_static(text, offsets, _tokenizer(encoder), encoder.table, threads)


def encode_words(
    encoder: TokenTable,
    text: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    *,
    byte_spans: bool = False,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64] | None]:
    """WordPiece ids of consecutive spans of a text: (ids int32[t], token_offsets int64[n + 1], byte spans)."""
    return _tokenizer(encoder).encode(text, bounds, byte_spans)
