"""The counts of bench/levels: right plans, the score of a way, the guesses of the bag of words.

Further tests check late chunking's windows and the spans of a tree's hits.
"""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pychunk
from pychunk._engine.data.tokens import Tokens
from pychunk.index.planners.planner import Metadata
from pychunk.training import breadth

BENCH = Path(__file__).resolve().parents[3] / "bench"

pytest.importorskip("faiss")
if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> object:
    from bench.levels import mixed_breadth

    return mixed_breadth


def test_ways_on_two_questions_by_hand(bench: object) -> None:
    f1 = np.zeros((3, len(breadth.ranges()), 3))
    at = {pair: breadth.ranges().index(pair) for pair in breadth.ranges()}
    f1[0, [at["sentence", "sentence"], at["sentence", "paragraph"]], 1] = 0.5, 0.5
    f1[1, at["document", "document"], 1] = 0.8
    kinds = ["narrow", "broad", "middle"]  # no range finds the last
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
    document = breadth.ranges().index(("document", "document"))
    assert choice.tolist() == [[0, document, document], [0, fixed, fixed]]
    assert failed == 2


def test_the_bag_of_words(bench: object) -> None:
    bag = bench.Bag(["Who was it?", "When was it?", "Ada: Life", "Bob: Work"], ["narrow", "narrow", "middle", "middle"])
    assert [bag(text) for text in ("Who is it?", "Cleo: Life", "unknown")] == ["narrow", "middle", "middle"]


@pytest.fixture
def costs(monkeypatch: pytest.MonkeyPatch) -> object:
    from bench.levels import level_costs

    return level_costs


def test_what_ways_cost_and_where_one_begins_to_cost_more(costs: object) -> None:
    stages, memory = ({"chunks": 1.0, "index": 0.5}, {"plan": 0.001, "search": 0.002}), {"index": 2_000_000}
    ways = [
        costs.Way("plain", 10, stages[0], memory, (0, 0), stages[1], (1000, 0)),
        costs.Way("asks a model", 10, stages[0], memory, (0, 0), stages[1], (1100, 10)),
        costs.Way("summaries", 20, stages[0], memory, (900_000, 10_000), stages[1], (1000, 0)),
    ]
    rows = costs.rows_of(ways, (1.0, 10.0))
    assert [row["money"] for row in rows] == [0, 0, 1]
    assert [row["money, 1,000 questions"] for row in rows] == pytest.approx([1, 1.2, 1])
    assert (rows[0]["index, s"], rows[0]["index, MB"], rows[0]["plan of a question, ms"]) == (0.5, 2, 1)
    assert [row["10,000 questions"] for row in costs.in_sum(ways, (1.0, 10.0))] == pytest.approx([10, 12, 11])
    (found,) = costs.break_even(ways, (1.0, 10.0))
    assert found == {"cheaper at first": "asks a model", "later": "summaries", "questions": 5000}


def test_with_and_without_bm25_at_the_same_levels(bench: object) -> None:
    f1 = {"hybrid": np.zeros((2, len(breadth.ranges()), 3)), "dense": np.zeros((2, len(breadth.ranges()), 3))}
    f1["hybrid"][:, 0, 1] = 0.5
    f1["dense"][:, 3, 1] = 0.4
    ways = {name: bench.always(("sentence", "sentence"), 2) for name in ("fixed", "rules", "learned")}
    rows = {row["levels"]: row for row in bench.hybrid_rows(f1, ways)}
    assert rows["learned"]["hybrid minus dense"]["mean"] == pytest.approx(0.5)
    assert rows["oracle"]["hybrid minus dense"]["mean"] == pytest.approx(0.1)


def test_which_levels_are_chosen_for_each_kind_of_question(bench: object, tmp_path: Path) -> None:
    texts = ["Cats purr. They sleep.\n\nMice squeak. Dogs bark."]
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        index.add(pychunk.segment_levels(texts, list(breadth.LEVELS), vectors="chunk", ids=["a"]).chunks())
        pairs = [("sentence", "sentence"), ("sentence", "paragraph"), ("document", "document")]
        rows = bench.plan_choices.chosen(index, ["fact", "fact", "whole"], ["cats", "mice", "pets"], pairs)
    assert rows[0]["finest sentence"] == 1
    assert rows[0]["coarsest paragraph"] == 0.5
    assert rows[1]["words a hit"] == 8
    assert rows[1]["questions"] == 1


def test_late_chunking_sums_the_states_of_each_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder whose states are positions in the window is used, so that sums show the tokens that they hold."""
    from bench.levels import late_chunking

    monkeypatch.setattr(late_chunking, "WINDOW", 7)  # with one special token at each end: five tokens
    windows: list[int] = []

    class Encoder:
        dim = 1
        template = SimpleNamespace(prefix=(1,), suffix=(2,))

        def tokens_of(self, text: object, bounds: np.ndarray, threads: int) -> Tokens:
            counts = np.array([2, 4, 12, 1])
            return Tokens(np.zeros(19, np.int32), np.append(0, np.cumsum(counts)), counts)

        def run(self, tokens: Tokens, rows: object, second: None, sink: object, threads: int) -> None:
            for row, count in enumerate(tokens.counts):
                windows.append(int(count))
                states = np.arange(count + 2, dtype=np.float32)[None, :, None]
                sink(states, np.array([row]), tokens.counts)

    monkeypatch.setattr(late_chunking, "replace", lambda template, max_length: template)
    found = pychunk.segment_levels(["One. Two. Three.", "Four."], ["document"])
    sums = late_chunking.sentence_sums(Encoder(), found, 1)
    assert windows == [2, 4, 5, 5, 2, 1]  # no window crosses a document; the sentence of 12 tokens has three for itself
    assert sums[:, 0].tolist() == [1 + 2, 1 + 2 + 3 + 4, 15 + 15 + 3, 1]


def test_what_a_tree_hands_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.levels import tree_levels as trees

    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    leaves = trees.Nodes(vectors, np.arange(4), np.zeros(3, np.int64), np.array([0, 10, 20]), np.array([10, 20, 30]))
    both = vectors[[0]] + vectors[[2]]
    apart = trees.Nodes(
        both / np.linalg.norm(both), np.array([0, 2]), np.zeros(2, np.int64), np.array([0, 20]), np.array([10, 30])
    )
    hits = [trees.best_of(nodes, np.array([[0.8, 0.6]], np.float32)) for nodes in (leaves, apart)]
    assert hits[0][0].tolist() == [[2, 0, 1]]
    document, start, end = trees.handed_over([leaves, apart], hits, 0)
    assert start.tolist() == [0, 20, 20, 0, 10]  # the cluster first, in its order
    assert (end - start).tolist() == [10] * 5
    assert not document.any()


def test_mixtures_hold_every_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    from bench.levels import tree_levels as trees

    drawn = np.random.default_rng(0)
    centres = np.eye(16)[:4].repeat(6, axis=0) + drawn.normal(size=(24, 16)) * 0.05
    tree = trees.mixture_tree(centres[drawn.permutation(24)].astype(np.float32), np.ones(24, np.int64), 4)
    assert all(np.array_equal(np.unique(np.concatenate(level)), np.arange(24)) for level in tree)
    assert tree[-1][0].tolist() == list(range(24))
    assert len(tree[0]) > len(tree[-1])
