"""Sentences as bags of token ids: what the static encoder sees of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_CHUNK = 20_000


@dataclass(frozen=True)
class Bags:
    """Token ids of ``n`` sentences laid end to end: sentence ``i`` is ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> Bags:
        """The bags of the sentences ``rows``, in that order, repetitions allowed."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        shift = np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Bags(self.ids[np.arange(offsets[-1]) + shift], offsets)

    def counts(self, vocabulary: int) -> npt.NDArray[np.int64]:
        """How often each id occurs: ``int64 [vocabulary]``."""
        return np.bincount(self.ids, minlength=vocabulary).astype(np.int64)


def without_meaning(vocabulary: Sequence[str]) -> npt.NDArray[np.bool_]:
    """True for the tokens whose row stays zero: ``[PAD] [UNK] [CLS] [SEP] [MASK]`` and ``[unusedN]``."""
    return np.array([len(token) > 2 and token[0] == "[" and token[-1] == "]" for token in vocabulary])


def tokenize(sentences: Sequence[str], vocabulary: Sequence[str]) -> Bags:
    """Cut sentences into BERT WordPiece ids: lower case, accents stripped, no special tokens, no length limit.

    Ids whose row is zero in the table (unknown words above all) add nothing to a sum and are left out.

    Raises:
        ImportError: the package ``tokenizers`` is not installed.
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
