"""The Arrow Flight server of the service: batches of documents in, batches of chunks out."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import pyarrow as pa
from pyarrow import flight

from .._engine import native
from .._util.memory import is_lack
from .answer_size import TIMES, check_size
from .counters import Counters
from .options import checked_options, segmenter_of
from .request_error import RequestError

if TYPE_CHECKING:
    from .settings import Settings

logger = logging.getLogger("pychunk.service")
Result = TypeVar("Result")
#: The errors of Flight for statuses of HTTP. Others become a FlightServerError. Errors of another kind would send the
#: client a traceback.
_ERRORS: dict[int, type[flight.FlightError]] = {
    401: flight.FlightUnauthenticatedError,
    429: flight.FlightUnavailableError,
    499: flight.FlightCancelledError,
    500: flight.FlightInternalError,
    503: flight.FlightUnavailableError,
    504: flight.FlightTimedOutError,
}


class Command(msgspec.Struct, forbid_unknown_fields=True):
    """The command of an exchange, in JSON.

    Attributes:
        text: The column of the texts.
        ids: The column of the ids.
        options: The options of the method and the budget.
    """

    text: str = "text"
    ids: str | None = None
    options: dict[str, Any] = {}


class Server(flight.FlightServerBase):  # type: ignore[misc]  # pyarrow has no types
    """A server that answers each batch of documents of a DoExchange with one batch of their chunks.

    It serves from its construction on. A stream holds one batch at a time, and the engine works on one batch of one
    stream, so that memory depends on neither the number of batches nor their total size.

    Args:
        settings: The settings. ``queue`` is the most streams that are open at the same time.
        host: The address to listen at.
        port: The port, or 0 for a free one.

    Raises:
        OSError: The server cannot listen there.
    """

    def __init__(self, settings: Settings, host: str, port: int) -> None:
        self._settings = settings
        self._counters = Counters(settings.counters)
        self._engine = ThreadPoolExecutor(1, "pychunk-flight")
        self._places = threading.BoundedSemaphore(settings.queue)
        self._state = threading.Condition()
        self._running = 0
        self._ending = False
        address = f"grpc+tcp://[{host}]:{port}" if ":" in host else f"grpc+tcp://{host}:{port}"
        try:
            super().__init__(address, middleware={"keys": _Keys(settings)} if settings.keys else None)
        except pa.ArrowException as error:
            raise OSError(f"Flight cannot listen at {host}:{port}: {error}; choose another --flight") from None

    def load(self) -> None:
        """Load the encoders, and segment a document, so that the first batch is as fast as others."""
        for encoder in self._settings.encoders:
            options = {} if encoder == "static" else {"encoder": encoder}
            segmenter_of(msgspec.json.encode(options), self._settings.threads)("Cats purr. Dogs bark.").to_list()

    def end(self) -> None:
        """Answer the batches that were received, for at most the time-out, and refuse others."""
        with self._state:
            self._ending = True
            self._state.wait_for(lambda: not self._running, self._settings.timeout)
        # Streams of idle clients would keep it for ever. A second is enough to send the last answers.
        ending = threading.Thread(target=self.shutdown, daemon=True)
        ending.start()
        ending.join(1.0)

    def do_exchange(
        self,
        context: flight.ServerCallContext,
        descriptor: flight.FlightDescriptor,
        reader: flight.MetadataRecordBatchReader,
        writer: flight.MetadataRecordBatchWriter,
    ) -> None:
        """Answer a stream, in the thread in which Flight calls this."""
        try:
            command = _command(descriptor)
            options = checked_options(command.options, self._settings)
            with self._place():
                self._exchange(functools.partial(self._answer, context, command, options), reader, writer)
        except Exception as error:
            raise _flight_error(error) from None

    def _exchange(
        self,
        answer: Callable[[pa.RecordBatch, int], tuple[pa.RecordBatch, bytes]],
        reader: flight.MetadataRecordBatchReader,
        writer: flight.MetadataRecordBatchWriter,
    ) -> None:
        first = 0
        begun = False
        for batch in (part.data for part in reader if part.data is not None):
            with self._begun():
                chunks, errors = answer(batch, first)
                if not begun:
                    writer.begin(chunks.schema)
                    begun = True
                writer.write_with_metadata(chunks, errors)
            first += batch.num_rows
        if not begun:
            writer.begin(answer(_one_batch(reader.schema.empty_table()), 0)[0].schema)

    def _answer(
        self, context: flight.ServerCallContext, command: Command, options: bytes, batch: pa.RecordBatch, first: int
    ) -> tuple[pa.RecordBatch, bytes]:
        """Return the chunks of a batch of documents, and in JSON the documents that were left out.

        ``first`` is the number of the batch's first document in its stream.
        """
        limits = self._settings
        batch.validate(full=True)  # before anything reads its offsets
        for unit, most, found in (
            ("documents", limits.max_documents, batch.num_rows),
            ("bytes", limits.max_bytes, batch.nbytes),
        ):
            if found > most:
                raise RequestError(413, f"a batch must have at most {most} {unit}; got {found}: send smaller batches")
        table = pa.Table.from_batches([batch])
        kept = [name for name in table.column_names if name not in (command.text, command.ids)]

        def work() -> tuple[pa.RecordBatch, bytes]:
            segmenter = segmenter_of(options, limits.threads)
            try:
                chunks = segmenter(
                    table, columns={"text": command.text}, ids=command.ids, metadata_columns=kept, first_document=first
                )
            except (ValueError, TypeError, OverflowError) as error:
                place = f"in the batch that begins with document {first}: " if first else ""
                raise RequestError(422, f"{place}{error}", "$.documents") from None
            check_size(len(chunks), [table.column(name) for name in kept], TIMES * limits.max_bytes)
            sums = {"documents": len(table), "text_bytes": table.column(command.text).nbytes, "chunks": len(chunks)}
            for name, value in {**sums, "batches": 1}.items():
                self._counters.add(name, value)
            errors = [{"document": error.row, "reason": error.reason} for error in chunks.errors]
            return _one_batch(chunks.table), json.dumps({"errors": errors}).encode()

        return self._result(context, work)

    def _result(self, context: flight.ServerCallContext, work: Callable[[], Result]) -> Result:
        """Return the result of a function in the engine's thread. The function stops if nobody waits for it."""
        stop = native.Cancellation()

        def run() -> Result:
            with stop:
                return work()

        late = time.monotonic() + self._settings.timeout
        future = self._engine.submit(run)
        while not wait([future], timeout=0.05).done:
            if context.is_cancelled() or time.monotonic() > late:
                future.cancel()
                stop.cancel()
                if context.is_cancelled():
                    raise RequestError(499, "the client is gone")
                raise RequestError(504, f"a batch took over {self._settings.timeout:g} s: send smaller batches")
        return future.result()

    @contextlib.contextmanager
    def _place(self) -> Iterator[None]:
        """Hold one of the places for streams."""
        if not self._places.acquire(blocking=False):
            raise RequestError(429, f"{self._settings.queue} streams are open already; try again later")
        try:
            yield
        finally:
            self._places.release()

    @contextlib.contextmanager
    def _begun(self) -> Iterator[None]:
        """Count a batch as begun, until its answer is sent."""
        with self._state:
            if self._ending:
                raise RequestError(503, "the service ends; send the batch again later")
            self._running += 1
        try:
            yield
        finally:
            with self._state:
                self._running -= 1
                self._state.notify_all()


class _Keys(flight.ServerMiddlewareFactory):  # type: ignore[misc]  # pyarrow has no types
    """The check of the key of each call, before anything of the call is read."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    def start_call(self, info: flight.CallInfo, headers: dict[str, list[str]]) -> None:
        """Raise an error if a call has no right key."""
        if not self._settings.accepts(next(iter(headers.get("authorization", ())), None)):
            raise flight.FlightUnauthenticatedError("this service needs the header authorization: Bearer KEY")


def _command(descriptor: flight.FlightDescriptor) -> Command:
    """Return the decoded command of a stream. An empty one has the defaults.

    Raises:
        RequestError: It is no JSON, or has other fields or types.
    """
    try:
        return msgspec.json.decode(descriptor.command or b"{}", type=Command)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestError(422, f"the command must be JSON with text, ids and options: {error}") from None


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as one batch. Tables without rows have none of their own."""
    if not len(table):
        return pa.record_batch([pa.array([], kind) for kind in table.schema.types], schema=table.schema)
    return table.combine_chunks().to_batches()[0]


def _flight_error(error: Exception) -> flight.FlightError:
    """Return an error for the client. Its ``extra_info`` has the status and the fields of the service's errors."""
    own = uuid.uuid4().hex
    if isinstance(error, flight.FlightError):  # The client is gone.
        return error
    if isinstance(error, RequestError):
        found = error
    elif is_lack(error):
        found = RequestError(413, "the batch needs more memory than the service may use: send smaller batches")
    elif isinstance(error, pa.ArrowInvalid):
        found = RequestError(422, f"the stream is no valid Arrow stream: {error}", "$.documents")
    else:
        # The message is left out, because it may quote the document.
        frames = traceback.extract_tb(error.__traceback__)[::-1]
        places = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in frames)
        logger.error("request %s failed: %s at %s", own, type(error).__name__, places)
        found = RequestError(500, "an error of the service, which its log has with the request's id")
    body = {"status": found.status, **found.body(own)}
    place = f"{found.path}: " if found.path else ""
    kind = _ERRORS.get(found.status, flight.FlightServerError)
    return kind(place + found.message, extra_info=json.dumps(body).encode())
