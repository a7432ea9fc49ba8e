"""Byte-level BPE tokenizers: GPT-2, cl100k, o200k, Llama 3, Qwen and others with one of their patterns."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import re
import unicodedata
import zlib
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine import native
from .._engine.data.patterns import PATTERNS
from .._engine.data.tokens import Tokens
from .._util.lazy_imports import by_name
from . import Additions, NotNativeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    I64 = npt.NDArray[np.int64]

#: The patterns that the native core implements, by their names.
PATTERN_NAMES = tuple(PATTERNS)
#: The largest vocabulary file that is read, in bytes, before and after decompression.
MOST_BYTES = 1 << 29


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a byte-level BPE tokenizer and the merges that make them.

    Attributes:
        tokens: The bytes of each token.
        ids: int32[n]: the id of each token.
        merges: int32[m, 3]: the merges in their order, as positions in ``tokens``: the two tokens that merge, and the
            token that they make. None: any two neighbours merge that together are a token, those with the lowest id
            first.
        whole_words: Whether a pre-token that equals a token always becomes that token, even if no merges make it.
    """

    tokens: list[bytes]
    ids: npt.NDArray[np.int32]
    merges: npt.NDArray[np.int32] | None
    whole_words: bool

    def fingerprint(self) -> str:
        """Return a SHA-256 of the vocabulary, in hexadecimal digits."""
        found = hashlib.sha256()
        lengths = np.fromiter(map(len, self.tokens), np.int64, len(self.tokens))
        merges = b"by id" if self.merges is None else np.ascontiguousarray(self.merges, "<i4").tobytes()
        parts = (b"".join(self.tokens), lengths.astype("<i8").tobytes(), self.ids.astype("<i4").tobytes(), merges)
        for part in (*parts, bytes([self.whole_words])):
            found.update(len(part).to_bytes(8, "little"))
            found.update(part)
        return found.hexdigest()


class BytePairTokenizer(Additions):
    """A byte-level BPE tokenizer, implemented by the native core.

    Special tokens in a text are text: ``<|endoftext|>`` becomes the tokens of its characters.

    Attributes:
        name: The name of the tokenizer, for messages and metadata.
        pattern: One of :data:`PATTERN_NAMES`.
        added_tokens: Tokens that are found in a text as it is, before its pattern is applied, with their ids.
        normalized_tokens: Tokens that are found after them, in the normalized text between them, with their ids.
        special_tokens: Special tokens, with their ids. They are found in a text only if :meth:`allow` names them.
        nfc: Whether texts are normalized to NFC. The core counts the tokens of normalized text. But the offsets of its
            tokens are those of the normalized text, so for text that is not in NFC, :meth:`encode` needs ``source``.
        source: The file, or the ``tokenizers.Tokenizer``, by which the package ``tokenizers`` encodes text that is not
            in NFC; None if there is none, so that such text is an error.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str,
        name: str,
        added_tokens: Mapping[str, int] | None = None,
        special_tokens: Mapping[str, int] | None = None,
        *,
        normalized_tokens: Mapping[str, int] | None = None,
        nfc: bool = False,
    ) -> None:
        if pattern not in PATTERN_NAMES:
            raise ValueError(f"pattern must be one of {', '.join(PATTERN_NAMES)}; got {pattern!r}")
        self.name, self.pattern, self.nfc = name, pattern, nfc
        self.added_tokens, self.special_tokens = dict(added_tokens or {}), dict(special_tokens or {})
        self.normalized_tokens = dict(normalized_tokens or {})
        self.source: Any = None
        self._library: Any = None
        self._vocabulary_hash = vocabulary.fingerprint()
        # The attributes that every tokenizer of an encoder has. No caller looks tokens up.
        self.vocabulary: list[str] = []
        self.tokenizer_options: dict[str, Any] = {}
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)
        try:
            self._core = native.byte_pair(
                vocabulary.tokens,
                vocabulary.ids,
                vocabulary.merges,
                whole_words=vocabulary.whole_words,
                pattern=pattern,
            )
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        self._added, self._normalized = _finder(self.added_tokens), _finder(self.normalized_tokens)

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 of the vocabulary, the pattern and the added tokens."""
        parts = [
            self._vocabulary_hash,
            self.pattern,
            *["nfc"] * self.nfc,
            *(f"{text} {i}" for text, i in sorted(self.added_tokens.items())),
            *(f"normalized {text} {i}" for text, i in sorted(self.normalized_tokens.items())),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    def equals(self, other: object) -> bool:
        """Return whether another tokenizer makes the same tokens of every text."""
        return isinstance(other, BytePairTokenizer) and self.fingerprint == other.fingerprint

    def allow(self, names: Iterable[str]) -> BytePairTokenizer:
        """Return a tokenizer that finds these special tokens in texts, and is the same otherwise.

        Raises:
            ValueError: The tokenizer has no special token of this name.
        """
        chosen = list(names)
        for name in chosen:
            if name not in self.special_tokens:
                known = ", ".join(self.special_tokens) or "none"
                raise ValueError(f"{self.name} has no special token {name!r}; its special tokens are: {known:.300}")
        found = copy(self)
        found.added_tokens = {**self.added_tokens, **{name: self.special_tokens[name] for name in chosen}}
        found._added = _finder(found.added_tokens)
        found.source = found._library = None  # The package would not find the allowed tokens.
        return found

    @property
    def vocabulary_size(self) -> int:
        """The number of tokens that merges or single bytes make, without added tokens."""
        return self._core.vocabulary_size

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[Tokens, I64]:
        """Tokenize consecutive spans of a text, each by itself.

        Args:
            text: Valid UTF-8.
            bounds: int64[n + 1]: span i is ``text[bounds[i]:bounds[i + 1]]``.
            threads: The number of threads to use.

        Returns:
            The tokens, and the bytes of each in ``text``, int64[t, 2].
        """
        if self.nfc and self.source is not None and not self._is_normal(text, bounds):
            return self._encode_with_library(text, bounds, threads)
        tokens, spans = self._run(text, bounds, True, True, threads)
        assert spans is not None
        return tokens, spans

    def _encode_with_library(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int) -> tuple[Tokens, I64]:
        """Encode spans of which some are not in NFC: runs of these by the package ``tokenizers``, the others here."""
        if self._library is None:
            self._library = by_name("pychunk.tokenizers.library", "LibraryTokenizer")(self.source)
        normal = np.array([_is_nfc(text[a:b]) for a, b in pairwise(bounds.tolist())])
        borders = [0, *(np.flatnonzero(np.diff(normal)) + 1).tolist(), len(normal)]
        runs = []
        for first, last in pairwise(borders):
            begin, own = bounds[first], bounds[first : last + 1]
            runner = self if normal[first] else self._library
            tokens, spans = runner.encode(text[begin : own[-1]], own - begin, threads=threads)
            runs.append((tokens, spans + begin))
        counts = np.concatenate([tokens.counts for tokens, _ in runs])
        ids = np.concatenate([tokens.ids for tokens, _ in runs])
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Tokens(ids, offsets, counts), np.concatenate([spans for _, spans in runs])

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``, each tokenized by itself."""
        return self._run(text, bounds, True, False, threads)[0]

    def count(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> I64:
        """Return the number of tokens of each span, int64[n]. This is faster than :meth:`tokens_of`."""
        if self.nfc and not self._is_normal(text, bounds):
            return native.count_each(self, text, bounds)
        return self._run(text, bounds, False, False, threads)[0].counts

    @property
    def core(self) -> Any:
        """The native tokenizer that counts tokens, after normalization and with added tokens."""
        if not (self.nfc or self.added_tokens or self.normalized_tokens):
            return self._core
        nfc = by_name("pychunk.index.lexical.characters", "canonical")() if self.nfc else None
        return native.counter_after(self._core, list(self.added_tokens), nfc, list(self.normalized_tokens))

    def count_spans(self, text: bytes, bounds: I64) -> I64:
        """Return the numbers of tokens of n consecutive spans of UTF-8 without white space at their ends, int64[n]."""
        return native.count_tokens(self, np.frombuffer(text, np.uint8), bounds)

    def encode_text(self, text: str) -> list[int]:
        """Return the ids of one text."""
        data = np.frombuffer(text.encode(), np.uint8)
        return [int(i) for i in self.tokens_of(data, np.array([0, len(data)], np.int64)).ids]

    def _run(
        self, text: npt.NDArray[np.uint8], bounds: I64, ids: bool, byte_spans: bool, threads: int
    ) -> tuple[Tokens, I64 | None]:
        if self.nfc and not self._is_normal(text, bounds):
            raise NotNativeError(
                f"{self.name} normalizes text to NFC, and this text is not in NFC: pass unicodedata.normalize('NFC', "
                "text)"
            )
        added = self._find_added(text, bounds) if self._added or self._normalized else None
        if not added:
            return native.encode_byte_pair(self._core, text, bounds, ids=ids, byte_spans=byte_spans, threads=threads)
        # The texts between added tokens are spans of their own.
        where = np.array([(begin, end) for begin, end, _ in added], np.int64)
        cuts = np.unique(np.concatenate([bounds, where.ravel()]))
        found, spans = native.encode_byte_pair(self._core, text, cuts, ids=True, byte_spans=byte_spans, threads=threads)
        counts = found.counts.copy()
        at = np.searchsorted(cuts, where[:, 0])
        counts[at] = 1
        offsets = np.concatenate([[0], np.cumsum(counts)])
        # An added token replaces the tokens of its characters.
        kept = np.ones(len(found.ids), np.bool_)
        for piece in at:
            kept[found.offsets[piece] : found.offsets[piece + 1]] = False
        new = np.zeros(offsets[-1], np.bool_)
        new[offsets[at]] = True
        all_ids = np.empty(offsets[-1], np.int32)
        all_ids[~new], all_ids[new] = found.ids[kept], [i for _, _, i in added]
        all_spans = None
        if spans is not None:
            all_spans = np.empty((int(offsets[-1]), 2), np.int64)
            all_spans[~new], all_spans[new] = spans[kept], where
        own = offsets[np.searchsorted(cuts, bounds)]
        return Tokens(all_ids, own, np.diff(own)), all_spans

    @staticmethod
    def _is_normal(text: npt.NDArray[np.uint8], bounds: I64) -> bool:
        """Return whether each span of a text is in NFC. The whole text may not be, if a span begins with a mark."""
        return _is_nfc(text) or all(_is_nfc(text[a:b]) for a, b in pairwise(bounds.tolist()))

    def _find_added(self, text: npt.NDArray[np.uint8], bounds: I64) -> list[tuple[int, int, int]]:
        """Return the added tokens in the spans as (begin, end, id), in increasing order."""
        data = memoryview(np.ascontiguousarray(text).data)
        found: list[tuple[int, int, int]] = []
        for each in (self._added, self._normalized):
            if each is None or each[0].search(data) is None:
                continue
            finder, ids = each
            bounds = np.unique(np.concatenate([bounds, [place for token in found for place in token[:2]]]))
            known = {begin for begin, _, _ in found}
            for begin, end in pairwise(bounds.astype(np.int64).tolist()):
                if begin not in known:
                    found += [
                        (begin + match.start(), begin + match.end(), ids[match.group()])
                        for match in finder.finditer(data[begin:end])
                    ]
        return sorted(found)


def _finder(added: Mapping[str, int]) -> tuple[re.Pattern[bytes], dict[bytes, int]] | None:
    """Return an expression that finds added tokens, of several at one place the longest, and their ids."""
    if not added:
        return None
    ids = {token.encode(): i for token, i in added.items()}
    return re.compile(b"|".join(re.escape(token) for token in sorted(ids, key=len, reverse=True))), ids


def _is_nfc(text: npt.NDArray[np.uint8]) -> bool:
    return unicodedata.is_normalized("NFC", text.tobytes().decode())


def ranks_vocabulary(ranks: Iterable[tuple[bytes, int]]) -> Vocabulary:
    """Return the vocabulary of tiktoken's ``mergeable_ranks``: (token, rank) pairs, in which the rank is the id."""
    pairs = list(ranks)
    return Vocabulary([token for token, _ in pairs], np.array([rank for _, rank in pairs], np.int32), None, True)


def read_ranks(path: Path) -> Vocabulary:
    """Read a ``.tiktoken`` file, one token in base64 and its rank per line. The file may be compressed by gzip.

    Raises:
        ValueError: The file is damaged.
    """
    pairs = []
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if not line:
            continue
        token, _, rank = line.partition(b" ")
        try:
            pairs.append((base64.b64decode(token, validate=True), int(rank)))
        except (ValueError, binascii.Error):
            raise ValueError(
                f"{path}: line {number} must be a token in base64 and its rank; got {line[:60]!r}. Get the file again"
            ) from None
        if not 0 <= pairs[-1][1] < 1 << 31 or not rank.isdigit():
            raise ValueError(
                f"{path}: the rank of line {number} must be below {1 << 31}; got {rank[:60]!r}. Get the file again"
            )
    return ranks_vocabulary(pairs)


def load_ranks(path: Path, pattern: str, name: str | None = None) -> BytePairTokenizer:
    """Return the tokenizer of a ``.tiktoken`` file, which does not name its pattern.

    Args:
        path: The file, which may be compressed by gzip.
        pattern: One of :data:`PATTERN_NAMES`.
        name: The name of the tokenizer. None means the name of the file.

    Raises:
        ValueError: The file is damaged, or the pattern has no such name.
    """
    if pattern not in PATTERN_NAMES:
        raise ValueError(f"pattern must be one of {', '.join(PATTERN_NAMES)}; got {pattern!r}")
    vocabulary = read_ranks(path)
    try:
        return BytePairTokenizer(vocabulary, pattern, name or path.name.partition(".")[0])
    except ValueError as error:
        raise ValueError(f"{path}: {error}. Get the file again") from None


def _read(path: Path) -> bytes:
    """Return the content of a file, decompressed."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(
            f"{path}: a vocabulary must have at most {MOST_BYTES} bytes; got {path.stat().st_size}. Pass a vocabulary"
        )
    data = path.read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        with gzip.open(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: the compressed data is damaged ({error}). Get the file again") from None
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"{path}: a vocabulary must have at most {MOST_BYTES} bytes when it is decompressed. Get the file again"
        )
    return data
