"""What bench/smartchunk.py counts: which plans are right, what a way brings, how the bag of words guesses."""

from pathlib import Path

import numpy as np
import pytest

from pychunk.evaluation import breadth
from pychunk.retrieval.planning import Metadata

BENCH = Path(__file__).resolve().parents[1] / "bench"

pytest.importorskip("faiss")
if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(BENCH))
    import smartchunk_breadth

    return smartchunk_breadth


def test_ways_on_two_questions_by_hand(bench: object) -> None:
    f1 = np.zeros((3, len(breadth.ranges()), 3))
    f1[0, [0, 4], 1] = 0.5, 0.5  # sentence, and sentence to paragraph as good
    f1[1, 3, 1] = 0.8  # document
    kinds = ["narrow", "broad", "middle"]  # the last is found by no range
    ways = {
        "learned": bench.always(("sentence", "paragraph"), 3),
        "known": bench.by_kind(
            kinds, {"narrow": ("sentence",) * 2, "middle": ("section",) * 2, "broad": ("document",) * 2}
        ),
        "oracle": f1.argmax(axis=1),
    }
    rows = {row["levels"]: row for row in bench.rows_of(f1, ways, kinds, {"other": np.full((3, 3), 0.1)})}
    assert [rows[name]["right"] for name in ("learned", "known", "oracle", "other")] == [0.5, 1, 1, 0]
    assert rows["known"]["F1 within 500"]["mean"] == pytest.approx(1.3 / 3)
    assert rows["known"]["learned minus this, within 500"]["mean"] == pytest.approx(-0.8 / 3)
    assert (rows["known"]["narrow"], rows["known"]["broad"], rows["known"]["middle"]) == (0.5, 0.8, 0)


def test_plans_of_every_budget(bench: object) -> None:
    def planner(query: str, metadata: Metadata) -> tuple[str, str]:
        assert metadata.words is not None
        return ("sentence", "sentence") if metadata.words == 150 else ("document", query)

    choice, failed, _ = bench.planned(planner, ["document", "sentence"], [Metadata(breadth.LEVELS)] * 2)
    fixed = breadth.ranges().index(("paragraph", "document"))
    assert choice.tolist() == [[0, 3, 3], [0, fixed, fixed]]
    assert failed == 2


def test_the_bag_of_words(bench: object) -> None:
    bag = bench.Bag(["Who was it?", "When was it?", "Ada: Life", "Bob: Work"], ["narrow", "narrow", "middle", "middle"])
    assert [bag(text) for text in ("Who is it?", "Cleo: Life", "unknown")] == ["narrow", "middle", "middle"]
