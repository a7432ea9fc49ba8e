"""bench/index/index_build.py ends, and its index finds the texts of its queries."""

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
def test_a_small_index_is_built_and_searched(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    texts = [
        f"Article {i} is about cats that sleep by day and hunt by night. It says so in sentence number {i}. " * 4
        for i in range(70)
    ]
    table = pa.table({"id": [str(i) for i in range(70)], "text": texts})
    pq.write_table(table, tmp_path / "wiki" / "articles.parquet")
    command = [sys.executable, str(BENCH / "index" / "index_build.py"), "--data", str(tmp_path), "--articles", "70"]
    command += ["--times", "2", "--only", "pychunk", "--save", str(tmp_path / "figures.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert [row["row"] for row in figures["builds"]] == ["pychunk"]
    assert figures["builds"][0]["disk"] > 1
    assert len(figures["searches"]) == 3
