"""The documents of a chunk table, each with its chunks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..chunks.holes import texts_without_holes
from ..defaults import CONTEXTS
from . import context_windows

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Document:
    r"""A document with its chunks, as a context function receives it.

    Attributes:
        index: Row of the document in the input.
        id: The caller's id, or None.
        chunks: The document's rows of the chunk table, in reading order.

    Example:
        >>> table = pa.table({"text": ["Cats purr.", "Dogs bark.", "Rain falls."]})
        >>> one = Document(0, None, table)
        >>> one.excerpt(2), one.around(0, 1)
        ('Cats purr.\n\n[... 1 chunk left out ...]\n\nRain falls.', 'Cats purr.\n\nDogs bark.')
    """

    index: int
    id: Any
    chunks: pa.Table

    @cached_property
    def texts(self) -> list[str]:
        """The texts of the document's chunks, without removed text inside nodes of levels."""
        found: list[str] = texts_without_holes(self.chunks).to_pylist()
        return found

    def excerpt(self, window: int = CONTEXTS.ends) -> str:
        """Return the first and last chunks, together ``window`` of them.

        A note between them says how many chunks are missing.
        """
        head, tail = (int(each[0]) for each in context_windows.ends(np.array([len(self.texts)]), window))
        left_out = len(self.texts) - head - tail
        said = [f"[... {left_out} chunk{'' if left_out == 1 else 's'} left out ...]"] if left_out else []
        return "\n\n".join([*self.texts[:head], *said, *self.texts[len(self.texts) - tail :]])

    def around(self, place: int, window: int = CONTEXTS.around) -> str:
        """Return the chunk at a position with ``window`` others around it, or fewer if the document has no more."""
        first, end = context_windows.around(np.array([len(self.texts)]), np.array([place]), window)
        return "\n\n".join(self.texts[int(first[0]) : int(end[0])])


@dataclass(frozen=True)
class Documents:
    """The documents of a chunk table, as ranges of its rows.

    Attributes:
        table: The chunks. Chunks of one document follow one another.
        first: int64[k + 1]: the first row of each of the k documents, and then the number of rows.
    """

    table: pa.Table
    first: I64

    @classmethod
    def of(cls, table: pa.Table) -> Documents:
        """Return the documents of a chunk table.

        A document ends where the document number changes, or the position of the chunk does not increase.
        """
        document, chunk = (np.asarray(table[name], np.int64) for name in ("document_index", "chunk_index"))
        begins = (document[1:] != document[:-1]) | (chunk[1:] <= chunk[:-1])
        first = np.concatenate([[0] * (len(document) > 0), np.flatnonzero(begins) + 1, [len(document)]])
        return cls(table, first.astype(np.int64))

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def counts(self) -> I64:
        """The number of chunks of each document, int64[k]."""
        return np.diff(self.first)

    @property
    def of_chunks(self) -> I64:
        """The position, from 0 to k - 1, of the document of each of the n chunks, int64[n]."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def places(self) -> I64:
        """The position of each chunk in its document, int64[n]."""
        return np.arange(self.table.num_rows) - np.repeat(self.first[:-1], self.counts)

    def each(self) -> list[Document]:
        """Return the documents as a list."""
        numbers = self.table["document_index"].take(pa.array(self.first[:-1])).to_pylist()
        ids = [None] * len(self)
        if "document_id" in self.table.column_names:
            ids = self.table["document_id"].take(pa.array(self.first[:-1])).to_pylist()
        return [
            Document(number, id_, self.table.slice(begin, size))
            for number, id_, begin, size in zip(
                numbers, ids, self.first[:-1].tolist(), self.counts.tolist(), strict=True
            )
        ]

    def repeated(self, strings: list[str]) -> pa.Array:
        """Return one string for each document, repeated for each of its chunks."""
        return pa.array(strings, pa.large_string()).take(pa.array(self.of_chunks))
