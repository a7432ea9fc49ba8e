"""Data frames of other packages as input and output, each by the line that docs/integrations.md shows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "title": ["Numbers", "Nothing", "Animals", "Places"],
        "text": ["One. Two.", "", "Cats purr. Dogs bark at night. Cats sleep by day.", "Naïve café. 東京は首都。"],
    }
)
CHUNKS = pychunk.segment(TABLE, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").table
TITLES = dict(zip(TABLE["id"].to_pylist(), TABLE["title"].to_pylist()))


@pytest.fixture(name="path")
def parquet_file(tmp_path: Path) -> str:
    path = tmp_path / "articles.parquet"
    pq.write_table(TABLE, path, row_group_size=2)
    return str(path)


def same(rows: list[dict[str, Any]]) -> bool:
    """Check the chunks and their order; vectors come back as lists, arrays or tuples."""
    return [{**row, "vector": [float(x) for x in row["vector"]]} for row in rows] == CHUNKS.to_pylist()


def test_pandas() -> None:
    pytest.importorskip("pandas")
    df = TABLE.to_pandas()
    chunks = pychunk.segment(df, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").to_pandas()
    assert chunks["text"].tolist() == CHUNKS["text"].to_pylist()
    assert chunks["chunk_id"].tolist() == CHUNKS["chunk_id"].to_pylist()
    titled = chunks.merge(df[["id", "title"]], left_on="document_id", right_on="id")
    assert titled["title"].tolist() == [TITLES[each] for each in CHUNKS["document_id"].to_pylist()]


def test_polars(path: str) -> None:
    pl = pytest.importorskip("polars")
    df = pl.read_parquet(path)
    chunks = pychunk.segment(df, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").to_polars()
    assert same(chunks.to_dicts())
    titled = chunks.join(df.select("id", "title"), left_on="document_id", right_on="id", maintain_order="left")
    assert titled["title"].to_list() == [TITLES[each] for each in CHUNKS["document_id"].to_pylist()]


def test_duckdb(path: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    articles = duckdb.sql(f"select id, text from '{path}'")
    chunks = pychunk.segment(articles, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").table
    counts = duckdb.sql("select document_id, count(*) from chunks group by document_id order by document_id").fetchall()
    assert counts == [(each, CHUNKS["document_id"].to_pylist().count(each)) for each in ("a", "c", "d")]
    assert chunks.equals(CHUNKS.cast(chunks.schema))


def test_hugging_face_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    datasets = pytest.importorskip("datasets")
    ds = datasets.Dataset.from_dict(TABLE.to_pydict())

    def cut(rows: pa.Table) -> pa.Table:
        return pychunk.segment(rows, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").table

    chunks = ds.with_format("arrow").map(cut, batched=True, remove_columns=ds.column_names)
    assert same(chunks.with_format(None).to_list())
    small = ds.with_format("arrow").map(cut, batched=True, batch_size=1, remove_columns=ds.column_names)
    for name in ("document_id", "chunk_index", "chunk_id", "start", "end", "text"):
        assert list(small.with_format(None)[name]) == CHUNKS[name].to_pylist()


def test_daft(path: str) -> None:
    daft = pytest.importorskip("daft")
    df = daft.read_parquet(path)
    chunks = daft.from_arrow(
        pychunk.segment(df, columns={"text": "text"}, ids="id", max_tokens=8, vectors="chunk").table
    )
    assert same(chunks.to_pylist())
    seg = pychunk.Segmenter(max_tokens=8, vectors="chunk")
    parts = [out.table for out in seg.stream(df.to_arrow_iter(), columns={"text": "text"}, ids="id")]
    assert same(pa.concat_tables(parts).to_pylist())
