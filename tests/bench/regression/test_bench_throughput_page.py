"""bench/regression/throughput_page.py draws ratios to the floor of the same run, in the order of the runs."""

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def run(day: int, commit: str, seconds: float, floor: float) -> dict:
    timed = {"name": "test_dump[<topic>]", "stats": {"median": seconds}, "extra_info": {"floor s": floor}}
    other = {"name": "test_split", "stats": {"median": 1.0}, "extra_info": {}}
    return {"datetime": f"2026-01-0{day}", "commit_info": {"id": commit}, "benchmarks": [timed, other]}


def test_points_do_not_depend_on_the_machine() -> None:
    from bench.regression import throughput_page

    busy, idle = run(2, "b" * 40, 20.0, 4.0), run(1, "a" * 40, 10.0, 2.0)
    found = throughput_page.points([busy, idle])
    assert found == {"test_dump[<topic>]": [("a" * 12, 0.2), ("b" * 12, 0.2)]}


def test_the_page_has_all_commits(tmp_path: Path, monkeypatch, capsys) -> None:
    from bench.regression import throughput_page

    runs = [run(1, "a" * 40, 10.0, 2.0), run(2, "b" * 40, 8.0, 2.0)]
    files = [tmp_path / f"{number}.json" for number in range(2)]
    for file, content in zip(files, runs):
        file.write_text(json.dumps(content), encoding="utf-8")
    out = tmp_path / "page.html"
    monkeypatch.setattr(sys, "argv", ["throughput_page.py", *map(str, files), "--out", str(out)])
    assert throughput_page.main() == 0
    text = out.read_text(encoding="utf-8")
    assert "aaaaaaaaaaaa: 0.2000" in text
    assert "bbbbbbbbbbbb: 0.2500" in text
    assert "test_dump[&lt;topic&gt;]" in text


def test_files_without_a_floor_are_reported(tmp_path: Path, monkeypatch, capsys) -> None:
    from bench.regression import throughput_page

    content = run(1, "a" * 40, 10.0, 0.0)
    (tmp_path / "x.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["throughput_page.py", str(tmp_path / "x.json"), "--out", str(tmp_path / "y")])
    assert throughput_page.main() == 1
    assert "test_bench_dump.py" in capsys.readouterr().out
