"""bench/structure/section_hits.py measures several methods on the same questions, with its scripts of a model."""

import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("faiss")
pytest.importorskip("httpx2")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

from pychunk.training.corpus import part_of

UNITS = [(1, "A lead."), (2, "§"), (3, "One."), (4, "Two."), (5, "Three."), (6, "§"), (7, "Four.")]


@pytest.mark.parametrize(
    ("most", "groups"),
    [(1, [[1, 1], [2, 3], [4, 4], [5, 5], [6, 7]]), (2, [[1, 1], [2, 4], [5, 5], [6, 7]])],
)
def test_a_script_groups_units_up_to_the_next_heading(most: int, groups: list[list[int]]) -> None:
    from bench.structure.section_hits import grouping

    assert json.loads(grouping(most)("autochunker", UNITS, {})) == {"chunks": groups, "noise": []}


def test_all_methods_are_measured_on_the_same_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.structure import section_hits

    number = next(str(number) for number in range(100) if part_of(str(number)) == "test")
    text = "Cats are small.\nFood.\n" + "Cats eat fish and mice. " * 12 + "\nSleep.\n" + "They sleep by day. " * 20
    (tmp_path / "wiki").mkdir()
    pq.write_table(
        pa.table({"id": [number], "title": ["Cats"], "text": [text]}), tmp_path / "wiki" / "articles.parquet"
    )
    methods = ["structure", "topic", "autochunker:section"]
    command = ["section_hits.py", "--data", str(tmp_path), "--methods", *methods, "--save", str(tmp_path / "out.json")]
    monkeypatch.setattr(sys, "argv", command)
    section_hits.main()
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (found["articles"], found["questions"]) == (1, 2)
    assert [row["method"] for row in found["chunks"]] == methods
    for measure in section_hits.MEASURES:
        rows = found[measure]
        assert [row["method"] for row in rows] == [name for name in methods for _ in range(5)]
        assert all(0 <= row[measure.split(" within")[0]]["mean"] <= 1 for row in rows)
        assert {"minus plain", "minus neighbours", "minus merged"} <= set().union(*rows)
