"""The vocabulary of a SentencePiece tokenizer, and the rules by which text is divided into its pieces."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

#: The kinds of piece, in the order of csrc/tokens/sentencepiece/sentencepiece.h. Text never matches a reserved piece.
NORMAL, USER_DEFINED, UNUSED, RESERVED = range(4)


@dataclass(frozen=True, eq=False)
class PieceVocabulary:
    """The pieces by id, and options; csrc/tokens/sentencepiece/sentencepiece.h describes them.

    Attributes:
        pieces: The text of each piece.
        scores: float64[n]: log probabilities for ``unigram``; for ``bpe``, higher scores are merged first.
        kinds: uint8[n]: one of the constants above.
        rules: The library whose results the tokenizer equals.
        character_map: The ``precompiled_charsmap`` of the file, or no bytes.
        join_spaces: Whether consecutive spaces count as one.
        strip_left: Whether white space at the beginning is dropped.
        strip_right: Whether white space at the end is dropped.
        split_at_white: Whether all white space separates words, without being part of them.
        prefix: The words that get a U+2581 that stands for no space.
        unknown: The id of the unknown piece.
        byte_ids: The ids of the pieces ``<0x00>`` to ``<0xFF>``, or an empty list if unknown characters are not divided
            into bytes.
    """

    pieces: list[str]
    scores: npt.NDArray[np.float64]
    kinds: npt.NDArray[np.uint8]
    rules: Literal["tokenizers", "sentencepiece"]
    model: Literal["unigram", "bpe"] = "unigram"
    character_map: bytes = b""
    join_spaces: bool = True
    strip_left: bool = False
    strip_right: bool = False
    split_at_white: bool = False
    prefix: Literal["never", "first", "always"] = "always"
    unknown: int = 0
    byte_ids: list[int] = field(default_factory=list)

    def fingerprint(self) -> str:
        """Return the first 16 hexadecimal digits of the SHA-256 of the pieces and all options."""
        texts = [piece.encode() for piece in self.pieces]
        options = (self.rules, self.model, self.join_spaces, self.strip_left, self.strip_right, self.split_at_white)
        found = hashlib.sha256(repr((*options, self.prefix, self.unknown, self.byte_ids)).encode())
        for part in (np.array(list(map(len, texts)), np.int64), self.scores, self.kinds):
            found.update(np.ascontiguousarray(part).tobytes())
        found.update(b"".join(texts))
        found.update(self.character_map)
        return found.hexdigest()[:16]
