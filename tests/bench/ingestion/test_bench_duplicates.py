"""bench/ingestion/duplicates.py: planted near-copies are found."""

import json
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_planted_copies_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.ingestion import duplicates

    rng = random.Random(0)
    texts = [" ".join(f"w{rng.randrange(5000)}" for _ in range(400)) for _ in range(20)]
    (tmp_path / "wiki").mkdir()
    pq.write_table(pa.table({"text": [*texts, texts[0]]}), tmp_path / "wiki" / "articles.parquet")
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["duplicates.py", "--data", str(tmp_path), "--save", str(out)])
    duplicates.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["articles"] == 20
    assert [row["near-copies"] for row in found["speeds"]][-1] == 8  # no words or 1 % of them replaced
    assert {row["precision, %"] for row in found["speeds"]} == {row["recall, %"] for row in found["speeds"]} == {100.0}
    assert {(row["copies"], row["missed"]) for row in found["recalls"]} == {(4, 0)}
