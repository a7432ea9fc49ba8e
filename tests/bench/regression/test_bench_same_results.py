"""bench/regression/same_results.py without data reports what is missing, and prints what differs."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_missing_data_is_said(tmp_path: Path) -> None:
    from bench.regression import same_results

    found = dict(same_results.lines(tmp_path, 0))
    assert all(value.startswith("skipped: ") for name, value in found.items() if name != "corpus")
    assert {"ingest html", "ingest pdf", "index"} <= set(found)


@pytest.mark.parametrize("same", [True, False])
def test_lines_that_differ_are_printed(same: bool, tmp_path: Path, monkeypatch, capsys) -> None:
    from bench.regression import same_results

    there = dict(same_results.lines(tmp_path, 0)) | ({} if same else {"index": "0123456789abcdef"})
    monkeypatch.setattr(same_results, "other", lambda python, options: there)
    monkeypatch.setattr(sys, "argv", ["same_results.py", "--data", str(tmp_path), "--against", "python"])
    assert same_results.main() == (0 if same else 1)
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1].startswith("0 of" if same else "1 of")
    assert [line.split()[0] for line in printed[:-1]] == ([] if same else ["index"])


def test_digests_are_those_of_values() -> None:
    import pyarrow as pa

    from bench.regression import same_results

    table = pa.table({"a": [1.5, None], "b": ["x", "y"]})
    assert same_results.digest(table) == same_results.digest(table.select(["b", "a"]))
    assert same_results.digest(table) != same_results.digest(pa.table({"a": [1.5, 2.0], "b": ["x", "y"]}))


def test_former_and_current_names_of_columns_have_equal_digests() -> None:
    import pyarrow as pa

    from bench.regression import same_results

    now, before = list(same_results.FORMER.values()), list(same_results.FORMER)
    columns = [[number, None] for number in range(len(now))]
    assert same_results.digest(pa.table(columns, now)) == same_results.digest(pa.table(columns, before))
    passages = b'{"query": "a", "hits": [{"document": 0, "id": "x", "around": [{"chunk": 1}]}]}\n'
    hit = {"document_index": 0, "document_id": "x", "around": [{"chunk_index": 1}]}
    assert same_results.printed_hits(passages) == [{"query": "a", "hits": [hit]}]
