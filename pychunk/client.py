"""The client of a service that ``pychunk serve`` runs."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ._util.lazy_imports import by_name
from .chunks.batch import ChunkBatch
from .inputs import RowError, TextBatch

if TYPE_CHECKING:
    import httpx2

ARROW = "application/vnd.apache.arrow.stream"
#: The columns of the text and the ids on the way, so that they differ from names of the caller's columns.
TEXT, ID = "pychunk.text", "pychunk.id"
#: The statuses after which the same request may succeed.
_RETRIED = (429, 502, 503)


class ServiceError(RuntimeError):
    """An answer of a service that is an error.

    Attributes:
        status: The HTTP status.
        path: The place in the request that is wrong, or None.
    """

    def __init__(self, status: int, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.path = path


class Client(AbstractContextManager["Client"], AbstractAsyncContextManager["Client"]):
    """A client that segments documents through a service. Threads may share it.

    Args:
        url: The address of the service, such as ``"http://127.0.0.1:8000"``.
        key: The key that the service asks for.
        timeout: The most seconds that the client waits for an answer.
        retries: The number of times that it sends a request again if the service is busy or cannot be reached.

    Raises:
        ImportError: The extra ``serve`` is not installed.

    Example:
        >>> from pychunk.client import Client
        >>> with Client("http://127.0.0.1:8000") as client:  # doctest: +SKIP
        ...     client.segment(["Cats purr. Dogs bark."], method="sentence").texts
        ['Cats purr.', 'Dogs bark.']
    """

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 60.0, retries: int = 5) -> None:
        library = by_name("pychunk.llm.connection", "http_library")()
        headers = {"Accept": ARROW, "Content-Type": ARROW}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        options: dict[str, Any] = {"base_url": url, "headers": headers, "timeout": timeout}
        self._failed: type[Exception] = library.TransportError
        self._http: httpx2.Client = library.Client(**options)
        self._later: httpx2.AsyncClient = library.AsyncClient(**options)
        self._retries = retries

    def segment(
        self,
        batch: Any,
        *,
        column: str | None = None,
        ids: Any = None,
        metadata_columns: Sequence[str] = (),
        **options: Any,
    ) -> ChunkBatch:
        """Return the chunks of documents, equal to those of :func:`pychunk.segment` with the same options.

        Args:
            batch: A str, a list of str, an Arrow array, record batch or table, or a data frame.
            column: The name of the column that holds the text. Default: the only string column, else ``text``.
            ids: The ids of the documents, or the name of their column.
            metadata_columns: The columns of the batch to repeat on every chunk.
            **options: The options of the method and the budget, as for :func:`pychunk.segment`.

        Raises:
            ServiceError: The service refuses the request, or is still busy after all retries.
            OSError: The service cannot be reached.
        """
        request, attempt = _Request(batch, column, ids, metadata_columns, options), 0
        outcome: Any
        while True:
            try:
                outcome = self._http.post("/v1/segment", params=request.options, content=request.body)
            except self._failed as error:
                outcome = str(error)  # The error holds this frame, and would thus keep itself and the batch.
            if (pause := self._pause(attempt, outcome)) is None:
                return request.chunks(outcome)
            time.sleep(pause)
            attempt += 1

    async def asegment(
        self,
        batch: Any,
        *,
        column: str | None = None,
        ids: Any = None,
        metadata_columns: Sequence[str] = (),
        **options: Any,
    ) -> ChunkBatch:
        """Return the chunks of documents: see :meth:`segment`."""
        request, attempt = _Request(batch, column, ids, metadata_columns, options), 0
        outcome: Any
        while True:
            try:
                outcome = await self._later.post("/v1/segment", params=request.options, content=request.body)
            except self._failed as error:
                outcome = str(error)  # The error holds this frame, and would thus keep itself and the batch.
            if (pause := self._pause(attempt, outcome)) is None:
                return request.chunks(outcome)
            await asyncio.sleep(pause)
            attempt += 1

    def stream(self, batches: Iterable[Any], **arguments: Any) -> Iterator[ChunkBatch]:
        """Return the chunks of each batch in turn: see :meth:`segment`. Rows are numbered from the first batch on."""
        first = 0
        for batch in batches:
            chunks = self.segment(batch, **arguments)
            yield _numbered(chunks, first)
            first += chunks.documents

    async def astream(self, batches: Iterable[Any] | AsyncIterable[Any], **arguments: Any) -> AsyncIterator[ChunkBatch]:
        """Return the chunks of each batch in turn: see :meth:`stream`."""
        first = 0
        async for batch in batches if isinstance(batches, AsyncIterable) else _each(batches):
            chunks = await self.asegment(batch, **arguments)
            yield _numbered(chunks, first)
            first += chunks.documents

    def _pause(self, attempt: int, outcome: Any) -> float | None:
        """Return the seconds until the next attempt, or None if a response is the last one.

        Args:
            attempt: The number of the attempt, from 0.
            outcome: The response, or the reason why the service could not be reached.

        Raises:
            OSError: The last attempt could not reach the service.
        """
        if isinstance(outcome, str):
            if attempt == self._retries:
                raise OSError(f"{self._http.base_url} cannot be reached: {outcome}")
            said = None
        elif outcome.status_code not in _RETRIED or attempt == self._retries:
            return None
        else:
            said = outcome.headers.get("retry-after")
        seconds = by_name("pychunk.llm.connection", "seconds_of")(said)
        return min(0.1 * 2**attempt, 5.0) if seconds is None else float(seconds)

    def close(self) -> None:
        """Close the connections of :meth:`segment`."""
        self._http.close()

    async def aclose(self) -> None:
        """Close all connections."""
        self._http.close()
        await self._later.aclose()

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()


class _Request:
    """The body and the parameters of a request, and the chunks of its answer."""

    def __init__(
        self, batch: Any, column: str | None, ids: Any, metadata_columns: Sequence[str], options: dict[str, Any]
    ) -> None:
        # Rows that are no text do not travel: the service gets an empty document in their place.
        texts = TextBatch.of(batch, column=column, ids=ids, on_error=options.pop("on_error", "raise"))
        columns: dict[str, Any] = {TEXT: pa.chunked_array(texts.texts, pa.large_string())}
        if texts.ids is not None:
            columns[ID] = texts.ids
        if metadata_columns and texts.source is None:
            raise ValueError(f"metadata_columns={list(metadata_columns)} needs a table; got {type(batch).__name__}")
        columns |= {name: texts.source.column(name) for name in metadata_columns} if texts.source else {}
        self.rows, self.errors = len(texts), texts.errors
        self.options: list[tuple[str, str | int | float | bool | None]] = [
            *((name, json.dumps(value)) for name, value in options.items()),
            ("text", TEXT),
            *([("ids", ID)] if ID in columns else []),
        ]
        sink = io.BytesIO()
        table = pa.table(columns)
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        self.body = sink.getvalue()

    def chunks(self, response: httpx2.Response) -> ChunkBatch:
        if response.status_code != 200:
            raise _error(response)
        table = pa.ipc.open_stream(response.content).read_all()
        return ChunkBatch(table, documents=self.rows, errors=self.errors)


def _error(response: httpx2.Response) -> ServiceError:
    try:
        found = response.json()["error"]
        return ServiceError(response.status_code, str(found["message"]), found.get("path"))
    except (ValueError, LookupError, TypeError):
        return ServiceError(response.status_code, f"{response.status_code}: {response.text[:200]}")


def _numbered(chunks: ChunkBatch, first: int) -> ChunkBatch:
    if not first:
        return chunks
    table = chunks.table
    at = table.column_names.index("document_index")
    moved = pa.chunked_array([pa.array(np.asarray(table.column(at)) + first, table.schema.field(at).type)])
    errors = [RowError(error.row + first, error.reason) for error in chunks.errors]
    table = table.set_column(at, table.schema.field(at), moved)
    return ChunkBatch(table, documents=chunks.documents, first_document=first, errors=errors)


async def _each(batches: Iterable[Any]) -> AsyncIterator[Any]:
    for batch in batches:
        yield batch
