"""bench/stages/given.py: the rates at which given vectors are read, and whole calls."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

native = pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_every_size_and_call_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.stages import given

    out = tmp_path / "out.json"
    # Many sentences, because the chunks of pychunk and of NumPy, which rounds otherwise, may differ by 1 %.
    monkeypatch.setattr(sys, "argv", ["given.py", "--documents", "20", "--rounds", "1", "--save", str(out)])
    given.main()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["sentences"] == sum(map(len, given.corpus(20)))
    sizes = {(row["dimensions"], row["type"], row["threads"]) for row in found["rates"]}
    assert sizes == {(d, t, n) for d in (8, 384, 1024) for t in ("float32", "float16") for n in (1, 2)}
    assert {"NumPy loop", "spans, no budget", "split", "count"} <= {row["call"] for row in found["calls"]}


def test_chunks_are_runs_of_labels() -> None:
    from bench.stages import given

    up, down = np.array([1.0, 0.0]), np.array([0.6, 0.8])
    assert given.runs_of(np.array([up, up, down, down, up, up])) == 3
