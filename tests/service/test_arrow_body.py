"""Arrow streams in requests are checked before anything reads them."""

import io
import random

import pyarrow as pa
import pytest

pytest.importorskip("msgspec")

from service_calls import called

from pychunk.service import http


def test_arrow_bodies_are_checked(settings):
    table = pa.table({"text": ["Cats purr.", "Dogs bark."]})

    def stream(table, **options):
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(table)
        return sink.getvalue()

    def status(body):
        headers = {"Content-Type": http.ARROW}
        return called(settings, ("POST", "/v1/segment", {"content": body, "headers": headers}))[0]

    whole = stream(table)
    assert status(whole).status_code == 200
    assert "compression=None" in status(stream(table, compression="zstd")).json()["error"]["message"]
    assert (
        "compression=None"
        in status(stream(table.set_column(0, "text", table["text"].dictionary_encode()), compression="lz4")).json()[
            "error"
        ]["message"]
    )
    assert "its columns are ['other']" in status(stream(table.rename_columns(["other"]))).json()["error"]["message"]
    assert status(whole[:-20]).status_code in (200, 422)  # without the mark of its end, the stream may be whole
    chance = random.Random(3)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        assert status(bytes(damaged)).status_code in (200, 415, 422)
