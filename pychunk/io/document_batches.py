"""The output of readers: batches of documents, and dead letters about inputs that could not be read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from ..inputs import TextBatch
from ..inputs.value_columns import column_of
from ..parsing.block_columns import packed_to_arrow
from ..parsing.html.encodings import likely

if TYPE_CHECKING:
    import numpy.typing as npt

#: The approximate size of one batch's raw text, in bytes; a longer document is a batch of its own.
BATCH_BYTES = 8 << 20
#: The maximum number of documents of one batch, so that many empty documents cannot fill memory.
BATCH_ROWS = 50_000
#: The words before a guess of the character encoding in the reason of a dead letter.
MAY_BE = "; it may be "
#: The maximum number of raw bytes that a dead letter quotes.
EXCERPT_BYTES = 200


class DeadLetter(NamedTuple):
    """An input that could not be read: the file, the position in it, the reason, and the first raw bytes.

    Attributes:
        source: The file.
        position: The position in the file: a byte, line, row or page.
        reason: The reason.
        excerpt: The first raw bytes of the input.
        partial: Whether :func:`refuse` only warns. This is so if a document was read without a part, such as a scanned
            page, or if a file of a folder was not of the kind that was assumed.
    """

    source: str
    position: str
    reason: str
    excerpt: bytes = b""
    partial: bool = False

    @property
    def told(self) -> str:
        """The file, the position and the reason; for a row that is not UTF-8, also a guess of its encoding."""
        of_rows = self.reason.startswith("invalid UTF-8") and self.position.startswith(("line", "row", "element"))
        found = likely(self.excerpt) if of_rows else ""
        guess = f"{MAY_BE}{found}, which is a guess: pass encoding='{found}'" if found else ""
        return f"{self.source}, {self.position}: {self.reason}{guess}"


#: A callable that gets each dead letter. If it returns, reading goes on. If it raises an error, reading ends.
DeadLetters = Callable[[DeadLetter], None]


def refuse(letter: DeadLetter) -> None:
    """Raise an error for a dead letter, which stops reading; this is the default of :func:`open_source`.

    If the dead letter is ``partial``, warn instead.

    Raises:
        ValueError: The dead letter is not ``partial``.
    """
    if letter.partial:
        warnings.warn(f"{letter.source}, {letter.position}: {letter.reason}", stacklevel=2)
        return
    raise ValueError(
        f"{letter.told}; correct the file, or in Python pass a function as dead_letters= to skip broken documents"
    )


@dataclass(frozen=True)
class Batch:
    """A batch of documents of bounded size, one row each.

    Attributes:
        table: The columns ``id`` (string), ``text`` (large_string) and ``file`` (string), then the columns that files
            of this kind have, such as ``blocks``, and the columns to keep.
        number: The number of the batch in the source, from 0.
        file: The file that the last row came from.
        bytes_read: The number of stored bytes of the source up to the end of this batch, out of ``Source.total_bytes``.
    """

    table: pa.Table
    number: int
    file: str
    bytes_read: int

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def documents(self) -> TextBatch:
        """Return the batch as input of a ``Segmenter``, with ids and the table's other columns.

        The texts are not checked again.
        """
        return documents_of(self.table)


def documents_of(table: pa.Table) -> TextBatch:
    """Return a batch's table, or some of its rows, as documents, without checks: readers yield valid text and ids."""
    return TextBatch(table.column("text").chunks, column_of("id", table.num_rows, table, "ids"), [], table)


class Item(Protocol):
    """An item that becomes a document, with the facts by which items are grouped into batches."""

    @property
    def file(self) -> str:
        """The file that holds the item."""
        ...

    @property
    def size(self) -> int:
        """The raw size of the item in bytes."""
        ...

    @property
    def bytes_read(self) -> int:
        """The number of the source's bytes, as they are stored, up to the end of the item."""
        ...


class Document(NamedTuple):
    """A document that is ready for a batch; ``more`` holds its values of the columns that its file's kind adds.

    The value of a nested column is an Arrow array of one row. The value of ``blocks`` may also be an array from
    ``parsing.block_columns.packed``.
    """

    id: str
    text: str
    file: str
    more: tuple[str | int | pa.Array | npt.NDArray[np.int64] | None, ...]
    size: int
    bytes_read: int


_Item = TypeVar("_Item", bound=Item)


def grouped(items: Iterable[_Item], max_bytes: int) -> Iterator[list[_Item]]:
    """Yield lists of at most ``BATCH_ROWS`` items and ``max_bytes`` in all, or with one longer item."""
    group: list[_Item] = []
    size = 0
    for item in items:
        if group and (size + item.size > max_bytes or len(group) >= BATCH_ROWS):
            yield group
            group, size = [], 0
        group.append(item)
        size += item.size
    if group:
        del item
        yield group


def schema(more: Iterable[tuple[str, pa.DataType]] = (), metadata: dict[bytes, bytes] | None = None) -> pa.Schema:
    """Return the schema of a batch: the columns that all batches have, then ``more``, which the file's kind adds."""
    return pa.schema([("id", pa.string()), ("text", pa.large_string()), ("file", pa.string()), *more], metadata)


def table_of(documents: Sequence[Document], columns: pa.Schema) -> pa.Table:
    """Return a table with one row for each document; ``columns`` is a result of :func:`schema`."""
    arrays = [pa.array([document[i] for document in documents], columns.field(i).type) for i in range(3)]
    for i in range(3, len(columns)):
        arrays.append(_column([document.more[i - 3] for document in documents], columns.field(i).type))
    return pa.table(arrays, schema=columns)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if any(isinstance(value, pa.Array) for value in values):
        return pa.concat_arrays([pa.nulls(1, kind) if value is None else value for value in values])
    if any(isinstance(value, np.ndarray) for value in values):
        return packed_to_arrow(values)
    return pa.array(values, kind)
