"""Sentences as bags of token ids, which is all that the static encoder reads of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_CHUNK = 20_000


@dataclass(frozen=True)
class Bags:
    """The token ids of ``n`` sentences end to end: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> Bags:
        """Return the bags of the sentences ``rows``, in that order; repetitions are allowed."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Bags(self.ids[np.arange(offsets[-1]) + shift], offsets)

    def counts(self, vocabulary: int) -> npt.NDArray[np.int64]:
        """Return how often each id occurs, ``int64[vocabulary]``."""
        return np.bincount(self.ids, minlength=vocabulary).astype(np.int64)


def without_meaning(vocabulary: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return true for the tokens whose row stays zero: ``[PAD] [UNK] [CLS] [SEP] [MASK]`` and ``[unusedN]``."""
    return np.array([len(token) > 2 and token[0] == "[" and token[-1] == "]" for token in vocabulary])


def tokenize(sentences: Sequence[str], vocabulary: Sequence[str]) -> Bags:
    """Split sentences into BERT's WordPiece ids: lower case, no accents, no special tokens, no length limit.

    The function leaves out ids whose row in the table is zero, mostly unknown words, because they add nothing to a sum.

    Raises:
        ImportError: The package ``tokenizers`` is not installed.
    """
    try:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    except ImportError as error:
        raise ImportError('training needs tokenizers: pip install "pychunk-native[train]"') from error
    pieces = {token: index for index, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=True, strip_accents=True, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    meaningful = ~without_meaning(vocabulary)
    ids: list[npt.NDArray[np.int32]] = []
    lengths: list[int] = [0]
    for start in range(0, len(sentences), _CHUNK):
        for encoding in tokenizer.encode_batch(list(sentences[start : start + _CHUNK]), add_special_tokens=False):
            found = np.array(encoding.ids, dtype=np.int32)
            found = found[meaningful[found]]
            ids.append(found)
            lengths.append(len(found))
    return Bags(np.concatenate(ids), np.cumsum(lengths).astype(np.int64))
