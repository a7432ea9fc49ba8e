"""Token ids of sentences for a model: native WordPiece where its tokenizer is BERT's, else the package tokenizers."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import _native
from .vocabulary import load_vocabulary

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
#: Ids int32[t] of sentences laid end to end, and their offsets int64[n + 1].
Tokens = tuple[I32, I64]


class Tokenizer(Protocol):
    """Turns consecutive spans ``text[bounds[i]:bounds[i + 1]]`` of UTF-8 into ids int32[t] and offsets int64[n + 1]."""

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[I32, I64]: ...


class WordPieceTokenizer:
    """BERT's, by the native core; it also counts the tokens of budgets."""

    def __init__(self, path: Path) -> None:
        self.vocabulary, self.tokenizer_options = load_vocabulary(path)
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[I32, I64]:
        ids, offsets, _ = _native.encode_words(self, text, bounds, threads=threads)
        return ids, offsets


class OtherTokenizer:
    """Any other ``tokenizer.json``: SentencePiece unigrams, byte-level BPE and the like."""

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer as Loaded
        except ImportError as error:
            raise ImportError(f'{path} is not WordPiece; it needs: pip install "pychunk[onnx]"') from error
        try:
            self._loaded: Any = Loaded.from_file(str(path))
        except Exception as error:  # the package raises Exception itself
            raise ValueError(f"{path} is not a tokenizer that tokenizers can read: {error}") from error
        # Files of published models pad and cut every text to 128 tokens; batches do both here, by length.
        self._loaded.no_padding()
        self._loaded.no_truncation()

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[I32, I64]:
        data = text.tobytes()
        # White space belongs to the sentence before it; these tokenizers would make tokens of it.
        sentences = [data[a:b].decode().strip() for a, b in pairwise(bounds)]
        found = self._loaded.encode_batch(sentences, add_special_tokens=False)
        offsets = np.cumsum([0, *(len(each.ids) for each in found)]).astype(np.int64)
        ids = np.fromiter((i for each in found for i in each.ids), np.int32, int(offsets[-1]))
        return ids, offsets

    def template(self) -> dict[str, Any]:
        """Special tokens around one sentence and between two, found by encoding a pair of words."""
        pair, word = self._loaded.encode("a", "a").ids, self._loaded.encode("a", add_special_tokens=False).ids
        found = [i for i in range(len(pair)) if word and pair[i : i + len(word)] == word]
        if len(found) != 2:
            raise ValueError("the tokenizer does not say what stands around a pair of sentences")
        first, second = found
        parts = {
            "prefix": tuple(pair[:first]),
            "middle": tuple(pair[first + len(word) : second]),
            "suffix": tuple(pair[second + len(word) :]),
        }
        single = self._loaded.encode("a").ids
        if single != [*parts["prefix"], *word, *parts["suffix"]]:
            raise ValueError("special tokens around one sentence differ from those around two")
        pads = [self._loaded.token_to_id(token) for token in ("[PAD]", "<pad>", "<|padding|>", "<|endoftext|>")]
        return {**parts, "pad": next((pad for pad in pads if pad is not None), 0)}


def load(path: Path) -> WordPieceTokenizer | OtherTokenizer:
    """The tokenizer in ``tokenizer.json`` or ``vocab.txt``; ValueError where the file is neither."""
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
