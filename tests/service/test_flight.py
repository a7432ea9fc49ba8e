"""The Flight server: batches of chunks equal to those of pychunk.segment, errors, keys, clients that leave."""

import json
import threading
import time

import pyarrow as pa
import pytest

import pychunk

pytest.importorskip("msgspec")
flight = pytest.importorskip("pyarrow.flight")

from pychunk.service.flight import Server
from pychunk.service.settings import Settings, keys_of

TABLE = pa.table(
    {
        "text": ["Cats purr. Dogs bark.", "", "Zwölf Boxkämpfer jagen Viktor. Er läuft.", "One two three. " * 200] * 3,
        "id": [f"d{number}" for number in range(12)],
        "year": pa.array(range(12), pa.int16()),
        "kind": pa.array(["a", "b", None] * 4).dictionary_encode(),
    }
)


@pytest.fixture
def start(settings):
    servers = []

    def made(**limits):
        servers.append(Server(Settings(counters=settings.counters, **limits), "127.0.0.1", 0))
        return servers[-1]

    yield made
    for server in servers:
        server.end()


def exchanged(server, table, command=b"{}", rows=5, key=None):
    """Return the chunks of a table that is sent in batches, and the documents that were left out."""
    command = command if isinstance(command, bytes) else json.dumps(command).encode()
    headers = [] if key is None else [(b"authorization", f"Bearer {key}".encode())]
    with flight.connect(("127.0.0.1", server.port)) as client:
        writer, reader = client.do_exchange(
            flight.FlightDescriptor.for_command(command), flight.FlightCallOptions(headers=headers)
        )
        batches, errors = [], []
        try:
            writer.begin(table.schema)
            for batch in table.to_batches(rows):
                writer.write_batch(batch)
                answer = reader.read_chunk()
                batches.append(answer.data)
                errors += json.loads(answer.app_metadata.to_pybytes())["errors"]
            writer.done_writing()
            assert not list(reader)
            return pa.Table.from_batches(batches, reader.schema), errors
        finally:
            writer.close()


def refusal(server, table, command=b"{}", **arguments):
    with pytest.raises(flight.FlightError) as refused:
        exchanged(server, table, command, **arguments)
    body = json.loads(refused.value.extra_info)
    assert "Traceback" not in str(refused.value)
    return type(refused.value), body["status"], body["error"].get("path"), body["error"]["message"]


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize(
    "options",
    [{}, {"method": "sentence"}, {"method": "fixed", "size": 6, "unit": "words", "overlap": 2}, {"vectors": "chunk"}],
)
def test_chunks_equal_segment_whatever_the_batches(start, options, rows):
    chunks, errors = exchanged(start(), TABLE, {"ids": "id", "options": options}, rows)
    own = pychunk.segment(TABLE, columns={"text": "text"}, ids="id", metadata_columns=["year", "kind"], **options).table
    assert chunks.schema.equals(own.schema, check_metadata=True)
    assert chunks.combine_chunks().to_pylist() == own.to_pylist()
    assert not errors


def test_tables_without_documents_have_the_schema_of_chunks(start):
    server = start()
    for table in (TABLE.slice(0, 0), TABLE.slice(0, 1)):
        found, _ = exchanged(server, table.select(["text", "id"]), {"ids": "id"})
        assert found.schema == pychunk.segment(TABLE, columns={"text": "text"}, ids="id").table.schema
    assert exchanged(server, pa.table({"body": ["One."]}), {"text": "body"})[0]["text"].to_pylist() == ["One."]


def test_documents_that_are_left_out_are_numbered_in_the_stream(start):
    table = pa.table({"text": ["One.", None, "Two.", None]})
    chunks, errors = exchanged(start(), table, {"options": {"on_error": "skip"}}, rows=2)
    assert chunks["document_index"].to_pylist() == [0, 2]
    assert errors == [{"document": row, "reason": "the text is null"} for row in (1, 3)]


@pytest.mark.parametrize(
    ("command", "table", "path", "message"),
    [
        ({"options": {"sise": 3}}, TABLE, "$.options.sise", "unknown option 'sise'"),
        ({"options": {"method": "fixed", "size": -1}}, TABLE, "$.options", "size must be a whole number"),
        (
            {"options": {"encoder": "/etc/passwd"}},
            TABLE,
            "$.options.encoder",
            "offers the encoders static",
        ),
        ({"body": "text"}, TABLE, None, "unknown field `body`"),
        (b"\xff{", TABLE, None, "the command must be JSON"),
        ({"text": "body"}, TABLE, "$.documents", "column 'body' is not there"),
        ({}, pa.table([["One."], ["Two."]], ["text", "text"]), "$.documents", "2 columns"),
        ({"ids": "key"}, TABLE, "$.documents", "ids='key' is not a column"),
        ({}, TABLE.rename_columns(["text", "id", "start", "kind"]), "$.documents", "got 'start'"),
        (
            {},
            pa.table({"text": [*["One."] * 6, None]}),
            "$.documents",
            "with document 5: row 1: the text is null",
        ),
    ],
)
def test_errors_name_the_place(start, command, table, path, message):
    kind, status, found, said = refusal(start(), table, command)
    assert (kind, status, found) == (flight.FlightServerError, 422, path)
    assert message in said


def test_limits_hold_for_each_batch(start):
    server = start(max_documents=5, max_bytes=10_000)
    assert len(exchanged(server, TABLE, rows=2)[0]) > 10
    assert "at most 5 documents; got 6" in refusal(server, TABLE, rows=6)[3]
    assert "at most 10000 bytes" in refusal(server, pa.table({"text": ["a" * 10_001]}))[3]
    kind, status, _, message = refusal(
        server, pa.table({"text": ["a b " * 1_000]}), {"options": {"method": "fixed", "size": 1}}
    )
    assert (kind, status) == (flight.FlightServerError, 413)
    assert "the answer would have about" in message


def test_a_batch_that_takes_too_long_stops(start):
    table = pa.table({"text": ["One two three. Four five six. " * 200_000]})
    assert refusal(start(timeout=0.001), table)[:2] == (flight.FlightTimedOutError, 504)


def test_keys(start, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\nother\n")
    server = start(keys=keys_of(keys))
    assert len(exchanged(server, TABLE, key="other")[0]) > 10
    for key in (None, "wrong"):
        with pytest.raises(flight.FlightUnauthenticatedError, match="needs the header authorization"):
            exchanged(server, TABLE, key=key)


def opened(server):
    """Return a stream that has begun, with its client."""
    client = flight.connect(("127.0.0.1", server.port))
    writer, reader = client.do_exchange(flight.FlightDescriptor.for_command(b"{}"))
    writer.begin(TABLE.schema)
    return client, writer, reader


def test_streams_that_are_open_have_the_places_until_they_leave(start):
    server = start(queue=1)
    client, writer, reader = opened(server)
    writer.write_batch(TABLE.to_batches()[0])
    reader.read_chunk()
    assert refusal(server, TABLE)[:2] == (flight.FlightUnavailableError, 429)
    reader.cancel()
    client.close()
    while True:
        try:
            chunks, _ = exchanged(server, TABLE)
            break
        except flight.FlightUnavailableError:
            time.sleep(0.01)
    assert len(chunks) > 10


def test_the_work_of_a_client_that_leaves_stops(start, monkeypatch):
    from pychunk.service import flight as module

    began, stopped = threading.Event(), threading.Event()

    def endless(*_, **__):
        began.set()
        try:
            while True:
                pychunk.segment("One two three. " * 1_000)
        except KeyboardInterrupt:
            stopped.set()
            raise

    server = start()
    client, writer, reader = opened(server)
    with monkeypatch.context() as patch:
        patch.setattr(module, "segmenter_of", lambda *_: endless)
        writer.write_batch(TABLE.to_batches()[0])
        began.wait()
        reader.cancel()
        client.close()
        stopped.wait()
    assert len(exchanged(server, TABLE)[0]) > 10


def _answered_for_ever(writer, reader):
    while True:
        writer.write_batch(TABLE.to_batches()[0])
        reader.read_chunk()


def test_the_end_answers_what_was_received_and_refuses_the_rest(start, monkeypatch):
    from pychunk.service import flight as module

    began, may_end, real = threading.Event(), threading.Event(), module.segmenter_of

    def slow(*options):
        began.set()
        may_end.wait()
        return real(*options)

    server = start()
    idle = opened(server)
    client, writer, reader = opened(server)
    monkeypatch.setattr(module, "segmenter_of", slow)
    writer.write_batch(TABLE.to_batches()[0])
    began.wait()
    ending = threading.Thread(target=server.end)
    ending.start()
    while not server._ending:
        time.sleep(0.001)
    may_end.set()
    assert reader.read_chunk().data.num_rows > 10
    ending.join()
    with pytest.raises(flight.FlightError):
        _answered_for_ever(*idle[1:])
    for stream in (idle, (client, writer, reader)):
        stream[2].cancel()
        stream[0].close()


def test_counters_count_batches(start, settings):
    from pychunk.service.counters import Counters

    exchanged(start(), TABLE)
    text = Counters(settings.counters).text()
    assert "pychunk_documents_total 12" in text
    assert "pychunk_batches_total 3" in text


def test_a_port_in_use_is_said(start, settings):
    used = start().port
    with pytest.raises(OSError, match=f"Flight cannot listen at 127.0.0.1:{used}"):
        Server(settings, "127.0.0.1", used)
