"""The features of a batch of documents. The caller passes a feature, or it is computed once when a method needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .blocks import Blocks
from .ragged import Ragged, offsets_of
from .removed_spans import RemovedSpans

if TYPE_CHECKING:
    import numpy.typing as npt

    U8 = npt.NDArray[np.uint8]
    I64 = npt.NDArray[np.int64]
    F32 = npt.NDArray[np.float32]

#: The bit of ``Features.flags`` for a sentence that begins a paragraph (SentenceFlag in csrc/text/sentence_splitter.h).
PARAGRAPH_START = 1


@dataclass(frozen=True)
class Features:
    """A batch of k documents as flat arrays, and the features of its n sentences.

    All features but ``text`` and ``offsets`` may be missing.

    Attributes:
        text: The documents in UTF-8, uint8; document i is ``text[offsets[i] : offsets[i + 1]]``.
        offsets: int64[k + 1].
        sentences: int64: the first byte of each sentence in its document. The sentences cover their document without
            gaps.
        flags: uint8, one per sentence, with the bit ``PARAGRAPH_START`` if it begins a paragraph.
        token_counts: int64, one per sentence: its number of tokens as budgets count them.
        token_ids: int32: the token ids of the static encoder, from which it computes vectors. Offsets are by sentence
            and not by document: ``token_ids.part(i)`` belongs to the sentence of ``token_counts.values[i]``.
        vectors: float32[n, d] of unit length, the sentence vectors that methods read.
        table_vectors: float32[n, d] of another encoder, which the chunk table shows instead of ``vectors``.
        pair_scores: float32, one per pair of neighbouring sentences in a document: how closely the second continues
            the first. For ``nsp`` it is a probability, otherwise the cosine.
        summaries: One summary per document: vectors float32[k, d], or texts in UTF-8 (``Ragged`` of uint8), which the
            static encoder encodes.
        page_starts: int64: the first byte of each page in its document, increasing.
        blocks: The blocks that parsers found in each document, with positions in bytes.
        removed: The spans that no chunk contains, with positions in bytes.
        lower_limits: int64 pairs (byte, tokens) by rising bytes, with the offsets in numbers: if a chunk that begins
            there or later is cut because a counter finds it too long, no piece of it has more tokens.
        others: Further features of each document, by name, for methods in Python.
        exact_counts: True if the engine's own counter made ``token_counts``, so that those of chunks are their sums.
    """

    text: U8
    offsets: I64
    sentences: Ragged | None = None
    flags: Ragged | None = None
    token_counts: Ragged | None = None
    token_ids: Ragged | None = None
    vectors: Ragged | None = None
    table_vectors: Ragged | None = None
    pair_scores: Ragged | None = None
    summaries: Ragged | F32 | None = None
    page_starts: Ragged | None = None
    blocks: Blocks | None = None
    removed: RemovedSpans | None = None
    lower_limits: Ragged | None = None
    others: Mapping[str, Ragged] = field(default_factory=dict)
    exact_counts: bool = False

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def with_(self, **parts: Any) -> Features:
        """Return a copy with some features set."""
        return replace(self, **parts)

    def document(self, row: int) -> str:
        """Return the text of one document."""
        return self.text[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()

    @property
    def bounds(self) -> I64:
        """int64[n + 1]: the first byte of each sentence in ``text``, and the end of the last sentence."""
        sentences = self.given("sentences")
        out = np.empty(len(sentences.flat()) + 1, np.int64)
        np.add(sentences.flat(), np.repeat(self.offsets[:-1], sentences.counts), out=out[:-1])
        out[-1] = self.offsets[-1]
        return out

    @property
    def doc_offsets(self) -> I64:
        """int64[k + 1]: the offsets of documents in the sentences of ``bounds``."""
        sentences = self.given("sentences")
        out: I64 = sentences.offsets - sentences.offsets[0]
        return out

    def sentence_texts(self, row: int) -> list[str]:
        """Return the sentences of one document with the white space after them. Joined, they are the document."""
        data = self.text[self.offsets[row] : self.offsets[row + 1]].tobytes()
        starts = self.given("sentences").part(row).tolist()
        return [data[a:b].decode() for a, b in zip(starts, [*starts[1:], len(data)][: len(starts)], strict=True)]

    def given(self, part: str) -> Ragged:
        """Return a feature that must be present.

        Raises:
            ValueError: The feature is missing. The message names it.
        """
        found = self.others.get(part) if part in self.others else getattr(self, part, None)
        if found is None:
            raise ValueError(f"the features contain no {part}; name this part in the method's `needs`")
        assert isinstance(found, Ragged)
        return found


T = TypeVar("T")
_NO_FIELDS: dict[str, object] = {}


def quick(kind: type[T], known: Mapping[str, object] = _NO_FIELDS, **fields: object) -> T:
    """Return an object of a frozen dataclass, such as Features, in which the other fields have their defaults.

    ``__init__`` takes five times as long, because it sets each field through ``object.__setattr__``. The class must
    have no ``__post_init__``. Fields without a default value in the class must be in ``known`` or ``fields``.

    Example:
        >>> quick(Features, text=np.zeros(3, np.uint8), offsets=np.array([0, 3]), others={}).documents
        1
    """
    made = object.__new__(kind)
    made.__dict__.update(known)
    made.__dict__.update(fields)
    return made


#: The names of the features.
PARTS = frozenset(each.name for each in fields(Features))


def neighbours(doc_offsets: I64) -> tuple[I64, I64]:
    """Return the pairs of neighbouring sentences in k documents.

    They are (the first sentence of each pair, int64[p]; the offsets of each document's pairs, int64[k + 1]).
    """
    last = doc_offsets[1:][np.diff(doc_offsets) > 0] - 1
    first = np.delete(np.arange(doc_offsets[-1]), last)
    return first, offsets_of(np.maximum(np.diff(doc_offsets) - 1, 0))
