"""bench/stages/edits.py: the time of edits, and the chunks that are embedded again."""

import json
import random
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

native = pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_edits_are_timed_and_new_chunks_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.stages import edits

    texts = [f"Cats number {row} purr when they are content. They sleep by day in the sun.\n" for row in range(30)]
    (tmp_path / "wiki").mkdir()
    pq.write_table(pa.table({"text": texts}), tmp_path / "wiki" / "articles.parquet")
    out = tmp_path / "out.json"
    told = ["edits.py", "--data", str(tmp_path), "--chunks", "12", "--edits", "5", "--save", str(out)]
    monkeypatch.setattr(sys, "argv", told)
    monkeypatch.setattr(edits, "METHODS", {"sentence": {"method": "sentence"}, "fixed": {"method": "fixed"}})
    edits.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    rows = {row["method"]: row for row in found["rows"]}
    assert list(rows) == ["sentence", "fixed"]
    assert rows["sentence"]["chunks"] >= 12
    assert 0 < rows["sentence"]["edit, ms"] <= rows["sentence"]["95th"]
    assert 1 <= rows["sentence"]["chunks embedded again"] <= rows["sentence"]["most"]
    assert [row["2048 KB, ms"] > 0 for row in found["appended sentence"]] == [True, True]


def test_random_edits_lie_in_the_text() -> None:
    from bench.stages import edits

    rng, text = random.Random(1), "Cats purr. Dogs bark."
    made = [edits.some_edit(rng, text, ["Cows moo all day. "]) for _ in range(100)]
    assert all(0 <= start <= end <= len(text) for start, end, _ in made)
    assert any(start == end == len(text) for start, end, _ in made)
    assert any(not put for _, _, put in made)
