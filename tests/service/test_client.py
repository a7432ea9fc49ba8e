"""The client of the service: equal chunks, errors, retries."""

import asyncio
import contextlib
import gc

import pyarrow as pa
import pytest
from served import free_port

import pychunk

pytest.importorskip("granian")
pytest.importorskip("httpx2")

from pychunk.client import Client, ServiceError

pytestmark = pytest.mark.slow
TEXTS = ["Cats purr. Dogs bark at night.", "Ein Satz. Noch ein Satz mit Ümläuten.", "One two. " * 300, ""]


def test_the_client(served, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("secret\n")
    server = served("--api-key-file", str(keys))
    table = pa.table({"text": TEXTS, "id": ["a", "b", "c", "d"], "year": [1, 2, 3, 4]})
    with Client(server.url, key="secret") as client:
        found = client.segment(table, column="text", ids="id", metadata_columns=["year"], method="sentence")
        own = pychunk.segment(table, columns={"text": "text"}, ids="id", metadata_columns=["year"], method="sentence")
        assert found.table.equals(own.table)
        streamed = list(client.stream([TEXTS[:2], TEXTS[2:]], method="sentence"))
        assert [each.first_document for each in streamed] == [0, 2]
        whole = pa.concat_tables([each.table for each in streamed])
        assert whole.drop_columns("text_id").equals(
            pychunk.segment(TEXTS, method="sentence").table.drop_columns("text_id")
        )
        skipped = client.segment(["One.", None, "\ud800"], on_error="skip")
        assert [each.row for each in skipped.errors] == [1, 2]
        with pytest.raises(ServiceError, match="unknown option 'sise'") as refused:
            client.segment("One.", sise=3)
        assert (refused.value.status, refused.value.path) == (422, "$.options.sise")
        with pytest.raises(ValueError, match="row 1: lone surrogate"):
            client.segment(["One.", "\ud800"])

        async def later():
            async with Client(server.url, key="secret") as other:
                parts = [part.texts async for part in other.astream([["One."], ["Two."]], method="sentence")]
                return parts, await asyncio.gather(*(other.asegment(text) for text in TEXTS))

        parts, chunks = asyncio.run(later())
        assert parts == [["One."], ["Two."]]
        assert [each.table for each in chunks] == [pychunk.segment(text).table for text in TEXTS]
    with Client(server.url, key="wrong") as client, pytest.raises(ServiceError, match="needs the header") as refused:
        client.segment("One.")
    assert refused.value.status == 401
    with (
        Client(f"http://127.0.0.1:{free_port()}", retries=1) as client,
        pytest.raises(OSError, match="cannot be reached"),
    ):
        client.segment("One.")
    assert "secret" not in server.log.read_text()


def test_a_failed_request_is_not_left_to_the_garbage_collector():
    """The error of an attempt held the frame that held the error and the batch."""
    with Client(f"http://127.0.0.1:{free_port()}", retries=1) as client:
        gc.collect()
        gc.disable()
        try:
            with contextlib.suppress(OSError):
                client.segment("One.")
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            assert "_Request" not in {type(each).__name__ for each in gc.garbage}
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
