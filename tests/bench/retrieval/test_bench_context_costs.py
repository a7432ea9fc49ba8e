"""bench/retrieval/context_costs.py: with contexts, each document is still split and tokenized once."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")
native = pytest.importorskip("pychunk._engine.native")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

from pychunk.training.corpus import part_of


def test_documents_are_split_and_tokenized_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.retrieval import context_costs

    numbers = [str(number) for number in range(100) if part_of(str(number)) == "test"][:3]
    text = "Cats are small.\nFood.\n" + "Cats eat fish and mice in the barn. " * 200 + "\nSleep.\nThey sleep by day.\n"
    (tmp_path / "wiki").mkdir()
    table = pa.table({"id": numbers, "title": ["Cats"] * 3, "text": [f"{text}They have {n} lives." for n in numbers]})
    pq.write_table(table, tmp_path / "wiki" / "articles.parquet")
    out = tmp_path / "out.json"
    command = ["context_costs.py", "--data", str(tmp_path), "--rounds", "1", "--save", str(out)]
    monkeypatch.setattr(sys, "argv", command)
    context_costs.main()
    rows = {(row["index"], row["context"]): row for row in json.loads(out.read_text(encoding="utf-8"))["rows"]}
    assert len(rows) == 2 * len(context_costs.WAYS)
    for index in context_costs.INDEXES:
        for context in ("none", "path", "head"):
            row = rows[index, context]
            assert 1 <= row["bytes split for each of the text"] < 1.1, row
            assert 1 <= row["bytes tokenized for each of the text"] < 1.1, row
