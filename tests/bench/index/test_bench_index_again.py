"""bench/index/index_again.py ends, and its exit status says whether the second run took too much time."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.mark.slow
def test_both_inputs_are_measured_and_held_against_the_share(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    texts = [f"Article {i} is about cats that sleep by day. Number {i} hunts by night. " * 4 for i in range(120)]
    names = [str(i) for i in range(120)]
    table = pa.table({"id": names, "title": names, "text": texts})
    pq.write_table(table, tmp_path / "wiki" / "articles.parquet")
    command = [sys.executable, str(BENCH / "index" / "index_again.py"), "--data", str(tmp_path), "--rounds", "1"]
    command += ["--most", "0.01", "--save", str(tmp_path / "figures.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "Parquet: again takes" in done.stderr, done.stderr  # and not that hits differ, which is checked first
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [row["input"] for row in figures["rows"]] == ["Parquet", "folder of files"]
    assert all(row["again, CPU s"] > 0 for row in figures["rows"])
