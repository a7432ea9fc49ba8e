"""bench/index/index_pages.py has on a few articles a row for every way of searching and of making contexts."""

import argparse
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benches are in the repository alone", allow_module_level=True)


def test_every_way_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.index import index_pages

    monkeypatch.setattr(index_pages, "ARTICLES", 2)
    text = "The old cat sleeps on the warm roof by day. The young dog runs in the wet grass by night. " * 50
    columns = {"id": list("abcd"), "title": list("ABCD"), "text": [text] * 4}
    pq.write_table(pa.table(columns), tmp_path / "articles.parquet")
    found = index_pages.measured(argparse.Namespace(pages=4, timed=3, threads=1), tmp_path / "articles.parquet")
    assert found["pages"] == 4  # two articles of 4,500 characters
    assert [row["found by"] for row in found["Queries"]] == list(index_pages.SEARCHES)
    assert [row["context"] for row in found["Augmentation"]] == list(index_pages.WAYS)
    assert all(value > 0 for row in found["Queries"] + found["Augmentation"] for value in list(row.values())[1:])
    with pytest.raises(SystemExit, match="too few articles for 9 pages"):
        index_pages.measured(argparse.Namespace(pages=9, timed=3, threads=1), tmp_path / "articles.parquet")
