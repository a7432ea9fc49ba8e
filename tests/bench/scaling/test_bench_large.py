"""bench/scaling/large.py makes the documents that it describes, and they keep its limits."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pychunk.parsing.markdown import blocks_of

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benches are in the repository alone", allow_module_level=True)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_large", BENCH / "scaling" / "large.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_documents_are_as_long_as_is_said(large: ModuleType) -> None:
    text = large.guide(50_000)
    kinds = blocks_of([text]).kind.tolist()
    assert len(text) == 50_000
    assert kinds.count(1) == 100
    for sentences in (1, 80):
        assert len(large.page(300_000, sentences)) == pytest.approx(300_000, rel=0.1)


def test_what_passes_a_limit_is_named(large: ModuleType) -> None:
    row = {"document": "HTML", "CPU seconds": 5.0, "peak MB": 1000, "ratio": 2.2}
    share = {"text of": "HTML", "share": 0.5}
    assert large.passed([row], [share]) == []
    over = large.passed(
        [row | {"CPU seconds": 5.1}, row | {"peak MB": 1001}, row | {"ratio": 2.3}], [share | {"share": 0.4}]
    )
    assert [each.partition(":")[0] for each in over] == ["HTML"] * 4
    assert over[0] == "HTML: CPU seconds 5.1, above 5"
    assert over[3] == "HTML: share 0.4, below 0.5"
    slow = row | {"CPU seconds": 7.5, "ratio": 3.3}
    assert large.passed([slow], [share | {"share": 0.34}], slack=1.5) == []
    assert len(large.passed([row | {"peak MB": 1001, "ratio": 4.0}], [], slack=1.5)) == 2


@pytest.mark.slow
@pytest.mark.long
def test_large_documents_keep_their_limits() -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    # Next to other work a run of twice the size took 2.29 times as long, sometimes more.
    command = [sys.executable, BENCH / "scaling" / "large.py", "--rounds", "1", "--slack", "1.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
