"""bench/stages/edit_locality.py: the chunks that one sentence before an article changes."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

native = pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_kept_and_changed_chunks_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.stages import edit_locality

    texts = [f"Cats number {row} purr when they are content.\n\nThey sleep by day in the sun.\n" for row in range(3)]
    (tmp_path / "wiki").mkdir()
    pq.write_table(pa.table({"text": texts}), tmp_path / "wiki" / "articles.parquet")
    out = tmp_path / "out.json"
    monkeypatch.setattr(
        sys, "argv", ["edit_locality.py", "--data", str(tmp_path), "--articles", "2", "--save", str(out)]
    )
    edit_locality.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["articles"] == 2
    rows = {row["method"]: row for row in found["rows"]}
    assert list(rows) == list(edit_locality.METHODS)
    assert rows["fixed"] | {"cuts by": ""} == {
        "method": "fixed",
        "kept, %": {"mean": 0.0, "low": 0.0, "high": 0.0},
        "all but one, %": 0.0,
        "chunks an article": 1.0,
        "changed an article": 1.0,
        "most": 1,
        "articles with more than one, %": 0.0,
        "cuts by": "",
    }


def test_a_sentence_of_its_own_changes_no_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.stages import edit_locality

    text = "Cats purr when they are content. They sleep by day in the sun. Dogs bark at night."
    options = {"method": "sentence", "keep_together": False, "min_tokens": 0}
    chunks, changed = edit_locality.changed([text, "Stars burn."], options)
    assert (chunks.tolist(), changed.tolist()) == ([3, 1], [0, 0])
