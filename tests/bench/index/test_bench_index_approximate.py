"""bench/index/index_approximate.py has on a few articles a row for each way of searching, and vectors differ."""

import argparse
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")
BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benches are in the repository alone", allow_module_level=True)


@pytest.mark.slow
@pytest.mark.usefixtures("one_faiss_thread")
def test_every_way_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.index import index_approximate

    monkeypatch.setattr(index_approximate, "_BATCH", 2)
    drawn = random.Random(3)
    words = ["cat", "dog", "roof", "grass", "night", "day", "river", "mill", "town", "hill", "old", "wet", "sun", "ice"]
    texts = [". ".join(" ".join(drawn.choices(words, k=9)).capitalize() for _ in range(300)) + "." for _ in range(4)]
    pq.write_table(pa.table({"text": texts}), tmp_path / "articles.parquet")
    options = argparse.Namespace(approximate=1500, queries=300, timed=2, threads=1)
    found = index_approximate.measured(options, tmp_path / "articles.parquet")
    assert found["vectors"] == 1500  # 600 unchanged, then changed ones
    assert [row["row"] for row in found["rows"]] == ["scan", "pq", "hnsw", "FAISS IVF, 8 bits, an eighth of the cells"]
    matrix = index_approximate.corpus(tmp_path / "articles.parquet", 1500, 10)[0]
    assert len(np.unique(matrix, axis=0)) > 1300
