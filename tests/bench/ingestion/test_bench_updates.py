"""bench/ingestion/updates.py: an update encodes only the changed documents."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_an_update_encodes_a_share_of_the_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.ingestion import updates

    lines = [f"This is line {number}, which is long enough to be one of a document." for number in range(500)]
    (tmp_path / "wiki").mkdir()
    pq.write_table(pa.table({"text": ["\n".join(lines)]}), tmp_path / "wiki" / "articles.parquet")
    out = tmp_path / "out.json"
    given = ["--documents", "20", "--share", "0.1", "--times", "1", "--methods", "scripted", "--save", str(out)]
    monkeypatch.setattr(sys, "argv", ["updates.py", "--data", str(tmp_path), *given])
    monkeypatch.setattr(updates, "SOURCES", {"20 Parquet files": 20})
    updates.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["documents"] == 20
    assert [row["changes"] for row in found["runs"]] == ["at random", "neighbours"]
    assert all(10 <= row["encoded, %"] <= 11 for row in found["runs"])
