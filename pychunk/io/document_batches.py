"""What readers yield: batches of documents, and letters about what could not be read."""

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

#: Raw text of one batch, roughly; a longer document is a batch of its own.
BATCH_BYTES = 8 << 20
#: Documents of one batch at most, so that empty ones cannot fill memory.
BATCH_ROWS = 50_000
#: How a guess begins in a letter's reason.
MAY_BE = "; it may be "
#: Raw bytes that a dead letter quotes at most.
EXCERPT_BYTES = 200


class DeadLetter(NamedTuple):
    """What could not be read: the file, the place in it (byte, line, row or page), why, and the first raw bytes.

    ``partial``: no error where nobody asks for letters: the document itself is read, without what stands at that place,
    such as a scanned page, or a file of a folder was taken for what it is not.
    """

    source: str
    position: str
    reason: str
    excerpt: bytes = b""
    partial: bool = False

    @property
    def told(self) -> str:
        """The place and the reason; of a row that is no UTF-8, as letters about files do, a guess what it is."""
        of_rows = self.reason.startswith("invalid UTF-8") and self.position.startswith(("line", "row", "element"))
        found = likely(self.excerpt) if of_rows else ""
        guess = f"{MAY_BE}{found}, which is a guess: pass encoding='{found}'" if found else ""
        return f"{self.source}, {self.position}: {self.reason}{guess}"


#: Is told of each dead letter; reading goes on when it returns, and ends if it raises.
DeadLetters = Callable[[DeadLetter], None]


def refuse(letter: DeadLetter) -> None:
    """Ends reading at the first dead letter: what ``open_source`` does where no other callable is given.

    Where only a part of a document is lost it warns.

    Raises:
        ValueError: a document is lost.
    """
    if letter.partial:
        warnings.warn(f"{letter.source}, {letter.position}: {letter.reason}", stacklevel=2)
        return
    raise ValueError(f"{letter.told}; pass dead_letters= to go on without what is broken")


@dataclass(frozen=True)
class Batch:
    """Documents of bounded size, one row each.

    ``table`` has the columns ``id`` (string), ``text`` (large_string) and ``file`` (string), then those of its kind and
    those that were to be kept.
    ``number`` counts the source's batches from 0; ``file`` is the file that the last row came from; ``bytes_read``
    counts the source's bytes, as they are stored, up to this batch's end, out of ``Source.total_bytes``.
    """

    table: pa.Table
    number: int
    file: str
    bytes_read: int

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def documents(self) -> TextBatch:
        """What a ``Segmenter`` takes: texts with their ids, not checked again, and the table's other columns."""
        return documents_of(self.table)


def documents_of(table: pa.Table) -> TextBatch:
    """A batch's table, or some of its rows, as documents; a reader yields valid text and ids alone."""
    return TextBatch(table.column("text").chunks, column_of("id", table.num_rows, table, "ids"), [], table)


class Item(Protocol):
    """What becomes a document: its file, its raw bytes (their number alone says where a batch ends), progress."""

    @property
    def file(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def bytes_read(self) -> int: ...


class Document(NamedTuple):
    """A document ready for a batch; ``more`` are the values of the columns of its kind.

    Those of nested columns are Arrow arrays of one row, or of ``blocks`` what ``parsing.columns.packed`` returns.
    """

    id: str
    text: str
    file: str
    more: tuple[str | int | pa.Array | npt.NDArray[np.int64] | None, ...]
    size: int
    bytes_read: int


_Item = TypeVar("_Item", bound=Item)


def grouped(items: Iterable[_Item], max_bytes: int) -> Iterator[list[_Item]]:
    """Items in lists of at most ``max_bytes`` and ``BATCH_ROWS``, or of one item."""
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
    """The columns of a batch: those that all have, then those of its kind."""
    return pa.schema([("id", pa.string()), ("text", pa.large_string()), ("file", pa.string()), *more], metadata)


def table_of(documents: Sequence[Document], columns: pa.Schema) -> pa.Table:
    """One row a document; ``columns`` as ``schema`` made them."""
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
