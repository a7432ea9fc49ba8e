"""Spark gives the chunks of segment(), from two local workers."""

import datetime
import os
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pandas")
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types

import pychunk
from pychunk.integrations import spark as adapter

pytestmark = pytest.mark.slow  # a minute: Java and its Python workers start

TEXTS = [
    "One sentence here. Another one there. A third. " * 20,
    "",
    "Dogs bark. Cats purr!",
    " \n ",
    "Naïve café. 東京。",
]


def articles(copies: int = 6) -> pa.Table:
    texts = [f"{copy}. {text}" if text.strip() else text for copy in range(copies) for text in TEXTS]
    rows = range(len(texts))
    days = pa.array(
        [datetime.datetime(2024, 1, 1) + datetime.timedelta(row) for row in rows], pa.timestamp("us", "UTC")
    )
    return pa.table({"text": texts, "key": [f"d{row}" for row in rows], "a day": days, "n": rows})


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.local.dir", str(folder))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={folder} -Dlog4j2.level=ERROR")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def rows(result: Any, *keys: str) -> list[dict[str, Any]]:
    return result.toArrow().sort_by([(key, "ascending") for key in (*keys, "chunk_index")]).to_pylist()


def without_documents(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name != "document_index"} for row in found]


def expected(
    table: pa.Table, method: str | None = None, metadata_columns: tuple[str, ...] = (), **options: Any
) -> list[dict[str, Any]]:
    found = pychunk.segment(table, method, columns={"text": "text"}, ids="key", **options).table.to_pylist()
    kept = table.select(metadata_columns).to_pylist()
    wanted = [{**row, **kept[row["document_index"]]} for row in found]
    return without_documents(sorted(wanted, key=lambda row: (row["document_id"], row["chunk_index"])))


@pytest.mark.parametrize("vectors", [None, "chunk", "sentence"])
def test_rows_are_those_of_segment(spark: SparkSession, vectors: str | None) -> None:
    table = articles()
    frame = spark.createDataFrame(table).repartition(4)
    out = adapter.segment(
        frame,
        columns={"text": "text"},
        ids="key",
        metadata_columns=["a day", "n"],
        vectors=vectors,
        batch_bytes=900,
        unwrap_lines=False,
    )
    kinds = {field.name: field.dataType.simpleString() for field in out.schema}
    assert [kinds[name] for name in ("document_index", "document_id", "relevance", "text", "score")] == [
        "bigint",
        "string",
        "string",
        "string",
        "float",
    ]
    assert kinds["a day"] == frame.schema["a day"].dataType.simpleString()
    assert kinds.get("vector") == ("array<float>" if vectors == "chunk" else None)
    sentences = "array<struct<start:bigint,end:bigint,vector:array<float>>>"
    assert kinds.get("sentences") == (sentences if vectors == "sentence" else None)
    found = rows(out, "document_id")
    assert without_documents(found) == expected(
        table, metadata_columns=("a day", "n"), vectors=vectors, unwrap_lines=False
    )
    assert len({row["document_index"] for row in found}) == len({row["document_id"] for row in found}) == 18


def test_empty_partitions_and_no_ids(spark: SparkSession) -> None:
    table = articles(1).select(["text"])
    frame = spark.createDataFrame(table).repartition(12)
    out = adapter.segment(frame, "sentence")
    alone = sorted(
        without_documents(pychunk.segment(table, "sentence").table.to_pylist()), key=lambda row: row["chunk_id"]
    )
    assert without_documents(rows(out, "chunk_id")) == alone
    assert adapter.segment(frame.limit(0), "sentence").collect() == []


def test_ids_and_kept_columns_keep_their_types(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        [(1, "One. Two.", {"a": [1.5]}, datetime.date(2024, 2, 29), bytearray(b"x"))],
        "number int, text string, map map<string,array<double>>, day date, raw binary",
    )
    out = adapter.segment(
        frame, "sentence", columns={"text": "text"}, ids="number", metadata_columns=["map", "day", "raw"]
    )
    assert out.schema["document_id"].dataType == spark_types.IntegerType()
    for name in ("map", "day", "raw"):
        assert out.schema[name].dataType == frame.schema[name].dataType
    first, second = out.orderBy("chunk_index").collect()
    assert (first.document_id, first.text, second.text) == (1, "One.", "Two.")
    assert (first["map"], first.day, first.raw) == (second["map"], second.day, second.raw)
    assert (first["map"], first.day, bytes(first.raw)) == ({"a": [1.5]}, datetime.date(2024, 2, 29), b"x")


def test_rows_that_are_not_text(spark: SparkSession) -> None:
    table = pa.table({"text": ["One. Two.", None, "Three."], "key": ["a", "b", "c"]})
    frame = spark.createDataFrame(table).repartition(2)

    def run(on_error: str) -> list[dict[str, Any]]:
        return rows(
            adapter.segment(frame, "sentence", columns={"text": "text"}, ids="key", on_error=on_error), "document_id"
        )

    assert without_documents(run("skip")) == expected(table, "sentence", on_error="skip")
    found = run("row")
    assert [row["document_id"] for row in found] == ["a", "a", "b", "c"]
    assert [row["error"] for row in found] == [None, None, "the text is null", None]
    with pytest.raises(Exception, match="id 'b': the text is null; fix it or pass on_error='skip' or 'row'"):
        run("raise")


def test_what_cannot_work_is_said_before_anything_runs(spark: SparkSession) -> None:
    frame = spark.createDataFrame(articles(1))
    with pytest.raises(ValueError, match="unknown method 'semantics'; choose one of pic"):
        adapter.segment(frame, "semantics", columns={"text": "text"})
    with pytest.raises(ValueError, match="column 'body' is not there; the string columns are: text, key"):
        adapter.segment(frame, columns={"text": "body"})
    with pytest.raises(
        ValueError, match=r"metadata_columns='title' is not a column; the columns are text, key, a day, n"
    ):
        adapter.segment(frame, columns={"text": "text"}, metadata_columns=["title"])
    with pytest.raises(ValueError, match="must not name a column of pychunk's own chunk table; got 'text'"):
        adapter.segment(frame, columns={"text": "text"}, metadata_columns=["text"])


def test_a_worker_makes_one_segmenter(spark: SparkSession) -> None:
    """It is counted in the workers: eight partitions, two tasks at a time, so at most two processes."""
    frame = spark.createDataFrame(articles(8)).repartition(8)
    adapter.segment(frame, "sentence", columns={"text": "text"}, max_tokens=77).collect()

    def made(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pychunk import api

        list(batches)
        known = [made for _, made in api._segmenters.values() if made.plan.max_tokens == 77]
        yield pa.record_batch({"pid": [os.getpid()], "made": [len(known)]})

    counts = frame.mapInArrow(made, "pid long, made long").collect()
    assert {row.made for row in counts} == {1}
    assert len({row.pid for row in counts}) <= 2
