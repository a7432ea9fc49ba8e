"""bench/ingestion/conversion.py: what readers keep is counted."""

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


def test_what_readers_keep_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.ingestion import conversion

    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Tides\n", "\n", "- low\n", "- high\n"]},
        {"cell_type": "markdown", "metadata": {}, "source": ["| a | b |\n", "| --- | --- |\n", "| 1 | 2 |\n"]},
    ]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    for name in ("a.ipynb", "again.ipynb"):
        (tmp_path / name).write_text(book)
    (tmp_path / "broken.ipynb").write_text("{")

    def other(path: Path, kind: str) -> conversion.Found:
        return conversion.Found.of_markdown("# Tides\n\nlow [high](https://x.org/none) ebb\n\n![one](a.png)")

    monkeypatch.setattr(conversion, "readers", lambda: {"pychunk": conversion.by_pychunk, "other": other})
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["conversion.py", str(tmp_path), "--save", str(out)])
    conversion.main()
    ours, theirs = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert (ours["files"], ours["read"], theirs["read"]) == (2, 1, 2)
    assert (ours["headings"], ours["items of lists"], ours["rows of tables"]) == (1, 2, 2)
    assert ours["words kept"] == theirs["words kept"] == 1  # tides, low, high
