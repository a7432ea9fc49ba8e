"""Tokenizers that the native core does not implement: the package ``tokenizers`` or a function counts their tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._engine.data.tokens import Tokens
from ..telemetry import logger
from . import Additions
from .spans import stripped

if TYPE_CHECKING:
    from .._engine.data.models import TokenCounter


I64 = npt.NDArray[np.int64]


class LibraryTokenizer(Additions):
    """A ``tokenizer.json`` of any kind, which the package ``tokenizers`` runs.

    Args:
        source: The file, or a ``tokenizers.Tokenizer``, which is not changed.
        twin: A native tokenizer with equal ids, which counts tokens in place of the package. None: there is none.
        reason: Why there is none, for the log.
    """

    def __init__(self, source: Path | Any, twin: TokenCounter | None = None, reason: str = "") -> None:
        self.name = source.name if isinstance(source, Path) else "tokenizers.Tokenizer"
        self.path, self._twin, self._reason, self._told = source, twin, reason, False
        self.vocabulary: list[str] = []  # No caller looks tokens up.
        self.tokenizer_options: dict[str, Any] = {}
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)
        try:
            from tokenizers import Tokenizer as Loaded
        except ImportError as error:
            raise ImportError(
                f'{source} needs the package tokenizers; install it with: pip install "pychunk-native[onnx]"'
            ) from error
        try:
            self._loaded: Any = Loaded.from_file(str(source)) if isinstance(source, Path) else _copy(source, Loaded)
        except Exception as error:  # The package itself raises Exception.
            raise ValueError(f"{source} is not a tokenizer that tokenizers can read: {error}; save it again") from error
        # The files of published models pad and truncate every text to 128 tokens. Here, batches are padded to their
        # longest row, and the model's length limits the tokens.
        self._loaded.no_padding()
        self._loaded.no_truncation()
        self._loaded.encode_special_tokens = True  # A special token in a text is text.

    @property
    def core(self) -> Any:
        """The native tokenizer that counts tokens; None if :meth:`count_spans` does."""
        return None if self._twin is None else self._twin.core

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 of the tokenizer as JSON."""
        return hashlib.sha256(self._loaded.to_str().encode()).hexdigest()[:16]

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[Tokens, I64]:
        """Return the tokens of consecutive spans of a text, and the bytes of each in ``text``, int64[t, 2]."""
        data = text.tobytes()
        whole = [data[a:b].decode() for a, b in pairwise(bounds.tolist())]
        found = self._loaded.encode_batch(whole, add_special_tokens=False)
        offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
        ids = np.fromiter((i for each in found for i in each.ids), np.int32, int(offsets[-1]))
        spans = [np.empty((0, 2), np.int64)]
        for begin, span, encoding in zip(bounds.tolist(), whole, found, strict=False):
            ends = np.cumsum([0, *(len(c.encode()) for c in span)])  # the byte of each character
            spans.append(begin + ends[np.array(encoding.offsets, np.int64).reshape(-1, 2)])
        return Tokens(ids, offsets, np.diff(offsets)), np.concatenate(spans)

    def count(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> I64:
        """Return the number of tokens of each span, int64[n]."""
        return self.encode(text, bounds)[0].counts

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans, without the white space at their beginnings and ends."""
        # A sentence includes the white space after it, of which these tokenizers would make tokens.
        found = self._loaded.encode_batch(stripped(text.tobytes(), bounds), add_special_tokens=False)
        offsets = np.cumsum([0, *(len(each.ids) for each in found)]).astype(np.int64)
        ids = np.fromiter((i for each in found for i in each.ids), np.int32, int(offsets[-1]))
        return Tokens(ids, offsets, np.diff(offsets))

    def count_spans(self, text: bytes, bounds: I64) -> I64:
        """Return the numbers of tokens of n consecutive spans of UTF-8 without white space at their ends, int64[n]."""
        if self._twin is not None:
            return self._twin.count_spans(text, bounds)
        if not self._told:
            self._told = True
            logger.warning(
                "%s is not native (%s): the package tokenizers counts its tokens, some 50 times slower",
                self.path if isinstance(self.path, Path) else self.name,
                self._reason,
            )
        found = self._loaded.encode_batch(stripped(text, bounds), add_special_tokens=False)
        return np.fromiter(map(len, found), np.int64, len(found))

    def template(self) -> dict[str, Any]:
        """Return the special tokens around a sentence and between two sentences, found by encoding a pair of words."""
        pair, word = self._loaded.encode("a", "a").ids, self._loaded.encode("a", add_special_tokens=False).ids
        found = [i for i in range(len(pair)) if word and pair[i : i + len(word)] == word]
        if len(found) != 2:
            raise ValueError(
                f"{self.path}: the tokenizer must keep both words of a test pair, to show the special tokens around "
                f"them; got the ids {pair!s:.60} for two of {word!s:.60}"
            )
        first, second = found
        parts = {
            "prefix": tuple(pair[:first]),
            "middle": tuple(pair[first + len(word) : second]),
            "suffix": tuple(pair[second + len(word) :]),
        }
        single = self._loaded.encode("a").ids
        if single != [*parts["prefix"], *word, *parts["suffix"]]:
            raise ValueError(
                f"{self.path}: the special tokens before and after one sentence must equal those before and after a "
                f"pair of sentences; got the ids {single!s:.60} and {pair!s:.60}"
            )
        pads = [self._loaded.token_to_id(token) for token in ("[PAD]", "<pad>", "<|padding|>", "<|endoftext|>")]
        return {**parts, "pad": next((pad for pad in pads if pad is not None), 0)}


def _copy(source: Any, loaded: Any) -> Any:
    return loaded.from_str(source.to_str())


class FunctionTokenizer(Additions):
    """A function that counts tokens, of one text (``str -> int``) or of many (``list[str] -> list[int]``).

    Raises:
        ValueError: The function returns something else for a test text.
    """

    def __init__(self, function: Callable[[Any], Any], name: str | None = None) -> None:
        #: None: no native tokenizer counts.
        self.core = None
        self.name = name or getattr(function, "__qualname__", type(function).__name__)
        self.fingerprint = ""
        self._function, self._told = function, False
        self._many = self._takes_lists()

    def _takes_lists(self) -> bool:
        tried = []
        for sample, many in (("a test", False), (["a test", "b"], True)):
            try:
                found = self._function(sample)
            except Exception as error:  # It may take the other kind of argument.
                tried.append(f"{type(error).__name__}: {error}"[:80])
                continue
            if _are_counts(found, 2) if many else _is_count(found):
                return many
            tried.append(f"{found!r:.80}")
        raise ValueError(
            f"tokenizer={self.name} must return the number of tokens of a text, or a list of numbers for a list of "
            f"texts; got {tried[0]} for 'a test', and {tried[1]} for ['a test', 'b']"
        )

    def count_spans(self, text: bytes, bounds: I64) -> I64:
        """Return the numbers of tokens of n consecutive spans of UTF-8 without white space at their ends, int64[n]."""
        if not self._told:
            self._told = True
            logger.warning("tokenizer=%s is a function, which counts tokens hundreds of times slower", self.name)
        return self._counts(stripped(text, bounds))

    def count(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> I64:
        """Return the number of tokens of each span, int64[n]."""
        data = text.tobytes()
        return self._counts([data[a:b].decode() for a, b in pairwise(bounds.tolist())])

    def _counts(self, texts: list[str]) -> I64:
        if not self._many:
            return np.array([self._count(each) if each else 0 for each in texts], np.int64)
        try:
            found = self._function(texts)
        except Exception as error:
            raise self._failed(texts, error) from error
        if not _are_counts(found, len(texts)):
            raise ValueError(
                f"tokenizer={self.name} must return a number of at least 0 for each of {len(texts)} texts; got "
                f"{found!r:.80}"
            )
        return np.array(found, np.int64)

    def _count(self, text: str) -> int:
        try:
            found = self._function(text)
        except Exception as error:
            raise self._failed([text], error) from error
        if not _is_count(found):
            raise ValueError(
                f"tokenizer={self.name} must return a number of at least 0; got {found!r:.80} for the text {text!r:.80}"
            )
        return int(found)

    def _failed(self, texts: Sequence[str], error: Exception) -> RuntimeError:
        return RuntimeError(
            f"tokenizer={self.name} failed for a text that begins with {next(iter(texts), '')!r:.80} "
            f"({type(error).__name__}: {error}); make it count every text"
        )


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= 0


def _are_counts(values: Any, wanted: int) -> bool:
    return isinstance(values, (list, tuple, np.ndarray)) and len(values) == wanted and all(map(_is_count, values))
