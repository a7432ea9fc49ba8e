"""What is known of a batch of documents: each part given from outside or made once, when a method needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .blocks import Blocks
from .ragged import Ragged, offsets_of
from .removed_spans import RemovedSpans

if TYPE_CHECKING:
    import numpy.typing as npt

    U8 = npt.NDArray[np.uint8]
    I64 = npt.NDArray[np.int64]
    F32 = npt.NDArray[np.float32]

#: Bit of ``Features.flags``: the sentence begins a paragraph (SentenceFlag in csrc/text/sentence_splitter.h).
PARAGRAPH_START = 1


@dataclass(frozen=True)
class Features:
    """A batch of k documents, flat, and what is known of its n sentences; every part but the text may be missing.

    Attributes:
        text: UTF-8 of the documents, uint8; document i is ``text[offsets[i] : offsets[i + 1]]``.
        offsets: int64[k + 1].
        sentences: first byte of each sentence in its document, int64. Sentences tile their document.
        flags: uint8, one a sentence; ``PARAGRAPH_START`` where it begins a paragraph.
        token_counts: int64, one a sentence, as budgets count them.
        token_ids: int32, ragged by sentence: those of the sentence whose count is ``token_counts.values[i]`` are
            ``token_ids.part(i)``; ids of the static encoder, which makes vectors of them.
        vectors: float32[n, d] of unit length, what a method sees sentences through.
        table_vectors: float32[n, d] of another encoder, which the table of chunks shows in their place.
        pair_scores: float32, one for each two neighbours in a document: how much the second belongs to the first
            (``nsp``: its probability; else their cosine).
        summaries: one a document: float32[k, d], or UTF-8 (``Ragged`` of uint8) that the token table encodes.
        page_starts: first byte of each page in its document, int64, rising.
        blocks: what parsers saw of each document, with positions in bytes.
        removed: spans that no chunk holds, with positions in bytes.
        others: what else was said of each document, by name, for methods in Python.
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
    others: Mapping[str, Ragged] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def with_(self, **parts: Any) -> Features:
        """A copy with some parts given."""
        return replace(self, **parts)

    def document(self, row: int) -> str:
        """The text of one document."""
        return self.text[self.offsets[row] : self.offsets[row + 1]].tobytes().decode()

    @property
    def bounds(self) -> I64:
        """int64[n + 1]: where sentences begin in ``text``, and where the last one ends."""
        sentences = self.given("sentences")
        out = np.empty(len(sentences.flat()) + 1, np.int64)
        np.add(sentences.flat(), np.repeat(self.offsets[:-1], sentences.counts), out=out[:-1])
        out[-1] = self.offsets[-1]
        return out

    @property
    def doc_offsets(self) -> I64:
        """int64[k + 1]: documents as runs of the sentences of ``bounds``."""
        sentences = self.given("sentences")
        out: I64 = sentences.offsets - sentences.offsets[0]
        return out

    def sentence_texts(self, row: int) -> list[str]:
        """The sentences of one document, with the white space after them; joined they are the document."""
        data = self.text[self.offsets[row] : self.offsets[row + 1]].tobytes()
        starts = self.given("sentences").part(row).tolist()
        return [data[a:b].decode() for a, b in zip(starts, [*starts[1:], len(data)][: len(starts)], strict=True)]

    def given(self, part: str) -> Ragged:
        """A part that must be there; ValueError, naming it, where it is not."""
        found = self.others.get(part) if part in self.others else getattr(self, part, None)
        if found is None:
            raise ValueError(f"these features hold no {part}; name them in the method's `needs`")
        assert isinstance(found, Ragged)
        return found


#: The parts that a call may be given.
PARTS = frozenset(each.name for each in fields(Features))


def neighbours(doc_offsets: I64) -> tuple[I64, I64]:
    """First sentences of all adjacent pairs of documents, int64[p], and the pairs of each, as offsets int64[k + 1]."""
    last = doc_offsets[1:][np.diff(doc_offsets) > 0] - 1
    first = np.delete(np.arange(doc_offsets[-1]), last)
    return first, offsets_of(np.maximum(np.diff(doc_offsets) - 1, 0))
