"""The token ids of sentences. BERT's tokenizer is implemented natively; the package ``tokenizers`` runs all others."""

from __future__ import annotations

import json
import logging
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.models import TokenTable
from .._engine.data.tokens import Tokens
from .vocabulary import load_vocabulary

logger = logging.getLogger("pychunk")

I64 = npt.NDArray[np.int64]


class Tokenizer(Protocol):
    """An object that tokenizes the consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8."""

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        ...


class WordPieceTokenizer:
    """BERT's tokenizer, implemented by the native core; it also counts the tokens that are compared with budgets."""

    def __init__(self, path: Path) -> None:
        self.vocabulary, self.tokenizer_options = load_vocabulary(path)
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)

    def equals(self, other: TokenTable) -> bool:
        """Return whether another tokenizer makes the same tokens of every text."""
        mine, others = (
            {"clean_text": True, "handle_chinese_chars": True, "unknown": "[UNK]", "prefix": "##"}
            | {"max_word_characters": 100, **each.tokenizer_options}
            for each in (self, other)
        )
        return mine == others and self.vocabulary == other.vocabulary

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return native.tokenize(self, text, bounds, threads=threads)


class OtherTokenizer:
    """A tokenizer for any other ``tokenizer.json``, such as SentencePiece unigrams or byte-level BPE.

    It also counts tokens, but slowly.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._told = path, False
        self.vocabulary: list[str] = []  # No caller looks tokens up.
        self.tokenizer_options: dict[str, Any] = {}
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)
        try:
            from tokenizers import Tokenizer as Loaded
        except ImportError as error:
            raise ImportError(
                f'{path} is a tokenizer of another kind than WordPiece; it needs: pip install "pychunk-native[onnx]"'
            ) from error
        try:
            self._loaded: Any = Loaded.from_file(str(path))
        except Exception as error:  # The package itself raises Exception.
            raise ValueError(
                f"{path} is not a tokenizer that tokenizers can read: {error}; export the model again"
            ) from error
        # The files of published models pad and truncate every text to 128 tokens. Here, batches are padded to their
        # longest row, and the model's length limits the tokens.
        self._loaded.no_padding()
        self._loaded.no_truncation()

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans, without the white space at their beginnings and ends."""
        data = text.tobytes()
        # A sentence includes the white space after it, of which these tokenizers would make tokens.
        sentences = [data[a:b].decode().strip() for a, b in pairwise(bounds)]
        found = self._loaded.encode_batch(sentences, add_special_tokens=False)
        offsets = np.cumsum([0, *(len(each.ids) for each in found)]).astype(np.int64)
        ids = np.fromiter((i for each in found for i in each.ids), np.int32, int(offsets[-1]))
        return Tokens(ids, offsets, np.diff(offsets))

    def count_spans(self, text: bytes, bounds: I64, byte_spans: bool) -> tuple[I64, I64 | None]:
        """Count the tokens of n consecutive spans of UTF-8, without white space at their edges.

        csrc/tokens/wordpiece.h describes the native function that does the same for WordPiece.

        Returns:
            Offsets int64[n + 1]: the tokens of span i are ``offsets[i]`` to ``offsets[i + 1]``. With ``byte_spans``
            also the byte range in ``text`` of each of the t tokens, int64[t, 2], else None.
        """
        if not self._told:
            self._told = True
            logger.warning(
                "%s is not WordPiece: tokens are counted by the package tokenizers, some 50 times slower", self.path
            )
        whole = [text[a:b].decode() for a, b in pairwise(bounds)]
        found = self._loaded.encode_batch([each.strip() for each in whole], add_special_tokens=False)
        offsets = np.cumsum([0, *map(len, found)]).astype(np.int64)
        if not byte_spans:
            return offsets, None
        spans = [np.empty((0, 2), np.int64)]
        for begin, each, encoding in zip(bounds, whole, found, strict=False):
            before = int(begin) + len(each[: len(each) - len(each.lstrip())].encode())
            data = np.frombuffer(each.strip().encode(), np.uint8)
            starts = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))  # first byte of each character
            spans.append(before + starts[np.array(encoding.offsets, np.int64).reshape(-1, 2)])
        return offsets, np.concatenate(spans)

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


def load(path: Path) -> WordPieceTokenizer | OtherTokenizer:
    """Return the tokenizer in ``tokenizer.json`` or ``vocab.txt``.

    Raises:
        ValueError: The file is not a tokenizer.
    """
    if path.suffix != ".json":
        return WordPieceTokenizer(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kind = data["model"].get("type", "WordPiece")
        normalizer = (data.get("normalizer") or {}).get("type")
        splitter = (data.get("pre_tokenizer") or {}).get("type")
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a tokenizer file ({error!r}); export the model again") from error
    if (kind, normalizer, splitter) == ("WordPiece", "BertNormalizer", "BertPreTokenizer"):
        return WordPieceTokenizer(path)
    return OtherTokenizer(path)
