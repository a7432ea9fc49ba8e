"""WordPiece, the tokenizer of BERT models, and the files of its vocabularies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._engine import native
from .._engine.data.tokens import Tokens
from . import Additions, NotNativeError

if TYPE_CHECKING:
    from .._engine.data.models import TokenTable

    I64 = npt.NDArray[np.int64]


class WordPieceTokenizer(Additions):
    """A WordPiece tokenizer, implemented by the native core.

    Attributes:
        vocabulary: The text of each token by id.
        tokenizer_options: The options of the core's WordPiece; see :func:`load_vocabulary`.
        name: The name of the file.

    Args:
        path: The file.
        data: The content of a ``tokenizer.json``, if it is read already.
    """

    def __init__(self, path: Path, data: dict[str, Any] | None = None) -> None:
        self.name = path.name
        self.vocabulary, self.tokenizer_options = load_vocabulary(path) if data is None else _from_json(data, path)
        self.table: npt.NDArray[np.int8] = np.empty((0, 0), np.int8)

    @property
    def core(self) -> Any:
        """The native tokenizer."""
        return native.word_piece(self)

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 of the vocabulary and the options."""
        options = json.dumps(_DEFAULTS | self.tokenizer_options, sort_keys=True)
        return hashlib.sha256("\0".join([options, *self.vocabulary]).encode()).hexdigest()[:16]

    def equals(self, other: TokenTable) -> bool:
        """Return whether another tokenizer makes the same tokens of every text."""
        mine, others = (_DEFAULTS | each.tokenizer_options for each in (self, other))
        return mine == others and self.vocabulary == other.vocabulary

    def encode(self, text: npt.NDArray[np.uint8], bounds: I64, *, threads: int = 1) -> tuple[Tokens, I64]:
        """Return the tokens of consecutive spans of a text, and the bytes of each in ``text``, int64[t, 2]."""
        ids, offsets, spans = native.encode_words(self, text, bounds, byte_spans=True, threads=threads)
        assert spans is not None
        return Tokens(ids, offsets, np.diff(offsets)), spans

    def count(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> I64:
        """Return the number of tokens of each span, int64[n]."""
        return np.diff(native.encode_words(self, text, bounds, threads=threads)[1])

    def count_spans(self, text: bytes, bounds: I64) -> I64:
        """Return the numbers of tokens of n consecutive spans of UTF-8 without white space at their ends, int64[n]."""
        return native.count_tokens(self, np.frombuffer(text, np.uint8), bounds)

    def tokens_of(self, text: npt.NDArray[np.uint8], bounds: I64, threads: int = 1) -> Tokens:
        """Return the tokens of the consecutive spans ``text[bounds[i]:bounds[i + 1]]``."""
        return native.tokenize(self, text, bounds, threads=threads)


#: The options that files may leave out.
_DEFAULTS: dict[str, Any] = {
    "clean_text": True,
    "handle_chinese_chars": True,
    "unknown": "[UNK]",
    "prefix": "##",
    "max_word_characters": 100,
}


def load_vocabulary(path: str | Path) -> tuple[list[str], dict[str, Any]]:
    """Return the tokens in the order of their ids, and the tokenizer's options.

    The file is ``vocab.txt`` or ``tokenizer.json``. The options are those of the engine's WordPiece: ``lowercase``,
    ``strip_accents``, ``clean_text``, ``handle_chinese_chars`` and, from ``tokenizer.json``, ``unknown``, ``prefix``,
    ``max_word_characters``. A ``tokenizer_config.json`` next to ``vocab.txt`` says whether the model is cased. Without
    that file, the model is uncased.

    Raises:
        ValueError: The file holds no usable WordPiece vocabulary. The message says what is wrong and where.
    """
    path = Path(path)
    if path.suffix == ".json":
        return _from_json(json.loads(path.read_text(encoding="utf-8")), path)
    text = path.read_text(encoding="utf-8")
    tokens = text.split("\n")
    if tokens and tokens[-1] == "":
        tokens.pop()
    if "\r" in text:
        tokens = [token.removesuffix("\r") for token in tokens]
    _check(tokens, "[UNK]", path)
    config = path.with_name("tokenizer_config.json")
    settings = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    lowercase = bool(settings.get("do_lower_case", True))
    accents = settings.get("strip_accents")
    return tokens, {
        "lowercase": lowercase,
        "strip_accents": lowercase if accents is None else bool(accents),
        "handle_chinese_chars": bool(settings.get("tokenize_chinese_chars", True)),
    }


def _check(tokens: list[str], unknown: str, path: Path) -> None:
    if unknown not in tokens:
        raise ValueError(f"{path}: the vocabulary lacks its unknown token {unknown!r}; save the tokenizer again")
    if len(set(tokens)) == len(tokens):
        return
    seen: dict[str, int] = {}
    for row, token in enumerate(tokens):
        if token in seen:
            raise ValueError(
                f"{path}: token {token!r} occurs twice, with the ids {seen[token]} and {row}; save the tokenizer again"
            )
        seen[token] = row


def _from_json(data: dict[str, Any], path: Path) -> tuple[list[str], dict[str, Any]]:
    model = data.get("model") or {}
    if model.get("type", "WordPiece") != "WordPiece" or "vocab" not in model:
        raise NotNativeError(
            f"{path}: the model must be WordPiece, got {model.get('type')!r}; the package tokenizers runs others"
        )
    normalizer = data.get("normalizer") or {}
    if normalizer.get("type") != "BertNormalizer":
        raise NotNativeError(
            f"{path}: the normalizer must be BertNormalizer, got {normalizer.get('type')!r}; the package tokenizers "
            "runs others"
        )
    splitter = (data.get("pre_tokenizer") or {}).get("type")
    if splitter != "BertPreTokenizer":
        raise NotNativeError(
            f"{path}: the pre-tokenizer must be BertPreTokenizer, got {splitter!r:.80}; the package tokenizers runs "
            "others"
        )
    by_id = {index: token for token, index in model["vocab"].items()}
    if sorted(by_id) != list(range(len(model["vocab"]))):
        missing = next(index for index in range(len(model["vocab"])) if index not in by_id)
        raise ValueError(
            f"{path}: token ids must be 0 to {len(model['vocab']) - 1}, each once; {missing} is missing, so another is "
            "doubled or out of range: save the tokenizer again"
        )
    tokens = [by_id[index] for index in range(len(by_id))]
    unknown = model.get("unk_token", "[UNK]")
    _check(tokens, unknown, path)
    lowercase = bool(normalizer.get("lowercase", True))
    accents = normalizer.get("strip_accents")
    return tokens, {
        "lowercase": lowercase,
        "strip_accents": lowercase if accents is None else bool(accents),
        "clean_text": bool(normalizer.get("clean_text", True)),
        "handle_chinese_chars": bool(normalizer.get("handle_chinese_chars", True)),
        "unknown": unknown,
        "prefix": model.get("continuing_subword_prefix", "##"),
        "max_word_characters": int(model.get("max_input_chars_per_word", 100)),
    }
