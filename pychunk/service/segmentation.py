"""The work of the engine for a batch of requests: documents in, the bodies of the answers out."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .._engine import native
from .._engine.arrow import one_array
from ..inputs import RowError, TextBatch
from ..inputs.passthrough import with_kept
from ..io.markup import parse
from .answer_size import check_size
from .http import ARROW, LINES
from .merger import CancelledError, Job
from .options import segmenter_of
from .request_error import RequestError

if TYPE_CHECKING:
    from ..chunks.batch import ChunkBatch

#: The columns that an answer's nesting already says.
NESTED = {"document_index", "document_id", "chunk_index"}
encode = msgspec.json.Encoder().encode
#: The form of answers of chonkie's server, which is JSON of other fields.
CHONKIE = "chonkie"


@dataclass
class Documents:
    """The documents of a request, its options, and the form of its answer.

    ``one`` is True if the form is CHONKIE and the request had a single text, which is no list.
    """

    texts: list[str] | pa.StringArray
    ids: list[str] | None
    columns: dict[str, list[Any]]
    format: str
    options: bytes
    answer: str
    one: bool = False
    chunks: int = 0

    @property
    def size(self) -> int:
        """The bytes of all texts."""
        if isinstance(self.texts, pa.Array):
            return int(self.texts.nbytes)
        # A lone surrogate counts, too, because the engine names the document that has one.
        return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in self.texts)

    @property
    def key(self) -> tuple[Any, ...]:
        """The facts that documents of one batch have in common."""
        return self.options, self.format, self.answer == CHONKIE, self.ids is None, tuple(sorted(self.columns))


@dataclass
class Rows:
    """A table of documents, with the columns of their text and ids; other columns go with the chunks."""

    table: pa.Table
    text: str
    ids: str | None
    options: bytes
    answer: str
    chunks: int = 0


def run(jobs: list[Job], threads: int, most: int) -> list[Any]:
    """Return the body of the answer to each job, or the exception that it raised.

    ``most`` is the number of bytes that an answer may have.
    """
    try:
        return _answers(jobs, threads, most)
    except Exception as error:
        if len(jobs) > 1:  # One of them is at fault. The others get their chunks.
            return [CancelledError() if job.cancelled else run([job], threads, most)[0] for job in jobs]
        if isinstance(error, (ValueError, TypeError, OverflowError)):
            return [RequestError(422, str(error), "$.documents")]
        return [error]


def _answers(jobs: list[Job], threads: int, most: int) -> list[bytes]:
    first = jobs[0].work
    if callable(first):
        return [first()]
    segmenter = segmenter_of(first.options, threads)
    if isinstance(first, Rows):
        others = [name for name in first.table.column_names if name not in (first.text, first.ids)]
        chunks = segmenter(first.table, columns={"text": first.text}, ids=first.ids)
        first.chunks = len(chunks)
        check_size(len(chunks), [first.table.column(name) for name in others], most)
        if others:
            if both := sorted({*others} & {*chunks.table.column_names}):
                raise ValueError(
                    f"chunks have columns of the same names as the table: {both}: rename those of the table"
                )
            kept = {name: first.table.column(name) for name in others}
            chunks = chunks.with_table(with_kept(chunks.table, kept, 0), chunks.errors)
        if first.answer == ARROW:
            return [_stream(chunks.table)]
        ids = None if first.ids is None else [str(id) for id in first.table.column(first.ids).to_pylist()]
        return [Parts(chunks).body(first.answer, ids, range(first.table.num_rows))]
    works: list[Documents] = [job.work for job in jobs]
    texts: Any
    texts = first.texts if len(works) == 1 else [text for work in works for text in work.texts]
    ids = None if first.ids is None else [id for work in works for id in work.ids or ()]
    columns: Any = {name: [value for work in works for value in work.columns[name]] for name in first.columns}
    errors: list[RowError] = []
    if first.format != "text":
        texts = list(texts) if isinstance(texts, list) else texts.to_pylist()
        if segmenter.on_error == "skip":  # parse() raises the errors of all rows
            errors = TextBatch.of(texts, on_error="skip").errors
            for error in errors:
                texts[error.row] = ""
        texts = parse(texts, first.format)
    chunks = segmenter(texts, ids=ids, columns=columns)
    chunks.errors += errors
    check_size(len(chunks), [], most)
    if first.answer == ARROW:
        first.chunks = len(chunks)
        return [_stream(chunks.table)]
    parts = Parts(chunks, chonkie_fields if first.answer == CHONKIE else None)
    answers, row = [], 0
    for work in works:
        rows = range(row, row + len(work.texts))
        work.chunks = parts.count(rows)
        if work.answer == CHONKIE:
            answers.append(parts.lists(rows, work.one))
        else:
            answers.append(parts.body(work.answer, work.ids, rows))
        row = rows.stop
    return answers


def _stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


class Parts:
    """The chunks of a batch as JSON, by document.

    ``fields`` is a function that returns the table of the fields of chunks. Default: all columns that the nesting of an
    answer does not say.
    """

    def __init__(self, chunks: ChunkBatch, fields: Callable[[ChunkBatch], pa.Table] | None = None) -> None:
        table = chunks.table
        documents = one_array(table.column("document_index")).to_numpy()
        self._ends = np.searchsorted(documents, np.arange(chunks.documents + 1))
        kept = fields(chunks) if fields else table.drop_columns([each for each in NESTED if each in table.column_names])
        self._chunks = rows_json(kept, self._ends)
        self._errors = chunks.errors
        self.metadata = (table.schema.metadata or {}).get(b"pychunk", b"{}")

    def documents(
        self, ids: Sequence[str] | None, rows: range, reasons: dict[int, str] | None = None
    ) -> list[list[bytes]]:
        """Return the parts of each document in ``rows`` as JSON. A document with a reason has it as its error."""
        found = []
        for row in rows:
            id = encode(ids[row - rows.start] if ids else None)
            reason = b',"error":' + encode(reasons[row]) if reasons and row in reasons else b""
            found.append([b'{"id":', id, b',"chunks":', self._chunks[row], reason, b"}"])
        return found

    def body(self, form: str, ids: Sequence[str] | None, rows: range) -> bytes:
        """Return the documents in ``rows`` as JSON, or as JSON Lines."""
        failed = {error.row: error.reason for error in self._errors if error.row in rows}
        if form == LINES:
            lines = ((*document, b"\n") for document in self.documents(ids, rows, failed))
            return native.joined([*itertools.chain.from_iterable(lines)])
        errors = [{"document": row - rows.start, "reason": reason} for row, reason in failed.items()]
        return body_of(self.documents(ids, rows), errors, self.metadata)

    def lists(self, rows: range, one: bool) -> bytes:
        """Return the chunks of the documents in ``rows`` as chonkie does; with ``one`` those of the only document."""
        found = self._chunks[rows.start : rows.stop]
        return found[0] if one else b"[" + b",".join(found) + b"]"

    def count(self, rows: range) -> int:
        """Return the number of chunks of the documents in ``rows``."""
        return int(self._ends[rows.stop] - self._ends[rows.start])


def body_of(documents: list[list[bytes]], errors: list[dict[str, Any]], metadata: bytes) -> bytes:
    """Return the JSON of an answer, made of the parts of its documents."""
    parts = [b'{"documents":[']
    for number, document in enumerate(documents):
        parts += [b","] * (number > 0) + document
    return native.joined([*parts, b'],"errors":', encode(errors), b',"metadata":', metadata, b"}"])


def chonkie_fields(chunks: ChunkBatch) -> pa.Table:
    """Return the fields of chonkie's chunks. Its tokens are characters or words if the sizes are."""
    text, tokens = chunks.table["text"], chunks.table["tokens"]
    if chunks.metadata["options"]["unit"] == "characters":
        tokens = pc.utf8_length(text)
    elif chunks.metadata["options"]["unit"] == "words":
        tokens = pc.list_value_length(pc.utf8_split_whitespace(text))
    return pa.table(
        {"text": text, "start_index": chunks.table["start"], "end_index": chunks.table["end"], "token_count": tokens}
    )


def rows_json(table: pa.Table, borders: npt.NDArray[np.int64]) -> list[bytes]:
    """Return the rows of a table as JSON: for each span [borders[i], borders[i + 1]) an array of objects.

    Values that JSON has not, such as times, become what msgspec writes for them.
    """
    batches = table.to_batches()
    if len(batches) != 1:
        batches = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    try:
        return native.json_rows(batches[0], borders)
    except ValueError:
        rows = msgspec.to_builtins(table.to_pylist())
        return [encode(rows[begin:end]) for begin, end in itertools.pairwise(borders.tolist())]
