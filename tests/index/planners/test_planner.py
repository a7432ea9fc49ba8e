"""Planners: the levels that they choose, their inputs, and the fallback if one fails."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.index import Ranking
from pychunk.index.planners.planner import FixedLevels, Metadata, Plan, decide, load, unreadable
from pychunk.index.planners.planner_features import features
from pychunk.index.planners.rule_planner import Rules, breadth_of
from pychunk.levels.level_names import NAMES

pytest.importorskip("faiss")

LEVELS = ("sentence", "paragraph", "section", "document")
KNOWN = Metadata(LEVELS)
TEXTS = [
    "Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too.",
    "Stars burn hydrogen. The sun is a star.",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans") / "levels.idx"
    found = pychunk.segment_levels(TEXTS, list(LEVELS), vectors="chunk", ids=["cats", "stars"])
    with pychunk.Index.create(path, vectors="chunk") as index:
        index.add(found.chunks())
    return path


@pytest.fixture
def index(folder: Path) -> pychunk.Index:
    return pychunk.Index.open(folder)


@pytest.mark.parametrize(
    ("query", "breadth"),
    [
        ("Who crossed the Andes?", "narrow"),
        ("How many people live in Oslo?", "narrow"),
        ("How do engines work?", "middle"),
        ("Why did Rome fall?", "middle"),
        ("What is the difference between cats and dogs?", "middle"),
        ("Summarise the war.", "broad"),
        ("Ada Lovelace: Life", "middle"),
        ("is a family of flowering plants commonly known as the heath family in acid soil", "broad"),
    ],
)
def test_rules(query: str, breadth: str) -> None:
    assert breadth_of(query)[0] == breadth
    low, high, why = Rules()(query, KNOWN)
    pairs = {"narrow": ("sentence", "paragraph"), "middle": ("paragraph", "section"), "broad": ("section", "document")}
    assert (low, high) == pairs[breadth]
    assert why


@given(st.text(max_size=40), st.sets(st.sampled_from([*NAMES, "128", "256", "tree 1"]), min_size=1))
def test_every_planner_gives_levels_of_the_index(query: str, names: set[str]) -> None:
    levels = tuple(name for name in [*NAMES[:-1], "tree 1", "128", "256", "document"] if name in names)
    for planner in (Rules(), FixedLevels()):
        plan = decide(planner, query, Metadata(levels))
        assert levels.index(plan.low) <= levels.index(plan.high)
        assert not plan.failed


@pytest.mark.parametrize("query", ["", " \n", "Хто перетнув Анди?", "猫はなぜ鳴くのか", "?!"])
def test_what_cannot_be_read_is_searched_at_all_levels(query: str) -> None:
    plan = decide(Rules(), query, KNOWN)
    assert plan[:2] == ("sentence", "document")
    assert any(word in plan.why for word in ("empty", "another script", "no words"))
    assert not plan.failed
    assert unreadable("Où est l'été de 1815?") is None


def _raises(query: str, metadata: Metadata) -> tuple[str, str]:
    raise RuntimeError("out of order")


@pytest.mark.parametrize(
    "planner",
    [
        _raises,
        lambda query, metadata: ("document", "sentence"),
        lambda query, metadata: ("sentence", "chapter"),
        lambda query, metadata: None,
        lambda query, metadata: "ab",
        lambda query, metadata: (0, 3),
    ],
)
def test_a_planner_that_fails(planner: object, index: pychunk.Index) -> None:
    plans = index.plan(["Who purrs?", "Why?"], planner)
    assert [each.failed for each in plans] == [True, True]
    assert [each[:2] for each in plans] == [("paragraph", "document")] * 2
    assert plans[0].why.startswith("fixed, as the planner ")
    hits = index.search("Who purrs?", ranking=Ranking(planner=planner))[0]
    assert [hit.text for hit in hits] == [
        hit.text for hit in index.search("Who purrs?", ranking=Ranking(planner="fixed"))[0]
    ]


def test_a_planner_that_takes_too_long(index: pychunk.Index) -> None:
    leave, asked = threading.Event(), []

    def planner(query: str, metadata: Metadata) -> tuple[str, str]:
        asked.append(query)
        leave.wait()
        return "sentence", "sentence"

    planner.timeout = 0.05  # type: ignore[attr-defined]  # planners may be functions
    queries = ["Who purrs?", "Why?", "When?"]
    plans = index.plan(queries, planner)
    leave.set()
    assert asked == queries[:1]  # it is still at the first query, and never gets two at the same time
    assert [each.failed for each in plans] == [True] * 3
    assert [each[:2] for each in plans] == [("paragraph", "document")] * 3
    assert plans[0].why == "fixed, as the planner failed: no answer within 0.05 s"
    assert plans[2].why == "fixed, as the planner failed: still busy with an earlier query"
    planner.otherwise = "rules"  # type: ignore[attr-defined]  # planners may be functions
    leave.clear()
    hits = index.search("Who purrs?", ranking=Ranking(planner=planner))[0]
    leave.set()
    assert [hit.text for hit in hits] == [
        hit.text for hit in index.search("Who purrs?", ranking=Ranking(planner="rules"))[0]
    ]
    planner.timeout = 3600  # type: ignore[attr-defined]  # planners may be functions
    assert not decide(planner, "Who?", KNOWN).failed


@pytest.mark.parametrize("seconds", ["10", -1, True, float("nan"), (5, 10)])
def test_a_limit_that_is_no_number_of_seconds(seconds: object, index: pychunk.Index) -> None:
    def planner(query: str, metadata: Metadata) -> tuple[str, str]:
        return "sentence", "document"

    planner.timeout = seconds  # type: ignore[attr-defined]  # planners may be functions
    with pytest.raises(
        ValueError, match="the planner's timeout, in seconds, must be a finite number of at least 0; got"
    ):
        index.plan("Who?", planner)


def test_a_planner_without_a_limit_is_asked_where_the_caller_is() -> None:
    where = []

    def planner(query: str, metadata: Metadata) -> tuple[str, str]:
        where.append(threading.current_thread())
        return "sentence", "document"

    decide(planner, "Who?", KNOWN)
    planner.timeout = None  # type: ignore[attr-defined]  # planners may be functions
    decide(planner, "Who?", KNOWN)
    assert [thread is threading.current_thread() for thread in where] == [False, True]


def test_what_a_planner_is_told(index: pychunk.Index) -> None:
    told = []

    def planner(query: str, metadata: Metadata) -> tuple[str, str, str]:
        told.append((query, metadata))
        return "sentence", "section", "by hand"

    assert index.plan(["Who purrs?"], planner, max_words=500) == [Plan("sentence", "section", "by hand")]
    ((query, metadata),) = told
    assert query == "Who purrs?"
    assert metadata.levels == LEVELS
    assert metadata.words == 500
    assert metadata.nodes == tuple(index.count(where={"levels": [level]}) for level in LEVELS)
    assert metadata.encoder == index.info["encoder"]["fingerprint"]
    for own, level in ((metadata.fine, "sentence"), (metadata.coarse, "document")):
        rows, scores = index.rank("Who purrs?", 32, ranking=Ranking(levels=level))
        assert own is not None
        assert own.score.tolist() == scores[0][rows[0] >= 0].tolist()
        for name in ("start", "end"):
            assert getattr(own, name).tolist() == index.table[name].take(rows[0][rows[0] >= 0]).to_pylist()
        for number, coarser in enumerate(LEVELS if level == "sentence" else ()):
            nodes = [row for row, levels in enumerate(index.table["levels"].to_pylist()) if coarser in levels]
            place = list(zip(*(index.table[each].to_pylist() for each in ("document_index", "start", "end"))))
            nodes.sort(key=place.__getitem__)
            for hit, inside in zip(rows[0][rows[0] >= 0].tolist(), own.inside[number].tolist(), strict=True):
                assert place[nodes[inside]][:2] <= place[hit][:2]
                assert place[nodes[inside]][2] >= place[hit][2]
    assert metadata.headings == ()
    planner.headings = True  # type: ignore[attr-defined]  # planners may be functions
    index.plan(["Who purrs?"], planner)
    assert told[-1][1].headings
    index.search("Who purrs?", 1, ranking=Ranking(planner=planner), ids=["cats"])
    assert told[-1][1].headings == ()  # a filtered search shows a planner no text of other documents
    del planner.headings  # type: ignore[attr-defined]  # planners may be functions
    (told_headings,) = index.plan_metadata(["Who purrs?"], headings=True)
    assert told_headings.headings
    sections = index.table["text"].to_pylist()
    assert all(any(text.startswith(line) for text in sections) for line in told_headings.headings)
    seen = features(query, metadata)
    assert np.isfinite(seen).all()
    planner.looks = False  # type: ignore[attr-defined]  # as of a planner that reads the query alone
    index.plan("Who purrs?", planner)
    assert told[-1][1].fine is None
    with pytest.raises(ValueError, match="first pass"):
        features(query, told[-1][1])


@pytest.mark.parametrize("query", ["", "unknownword", "Who purrs?"])
def test_features_are_finite(query: str, index: pychunk.Index) -> None:
    assert np.isfinite(features(query, index.plan_metadata([query])[0])).all()


def test_a_search_at_planned_levels(index: pychunk.Index) -> None:
    queries = ["Who purrs?", "Summarise the stars.", "When do they sleep?"]
    found = index.search(queries, 3, ranking=Ranking(planner="rules"))
    for query, hits, plan in zip(queries, found, index.plan(queries, "rules"), strict=True):
        alone = index.search(query, 3, ranking=Ranking(levels=(plan.low, plan.high)))[0]
        assert [(hit.row, hit.score) for hit in hits] == [(hit.row, hit.score) for hit in alone]
        assert {hit.scores["plan"] for hit in hits} == {str(plan)}
    vectors = pychunk.embed(queries, task="query")
    for asked in (queries, (queries, vectors)):
        again = index.search(asked, 3, ranking=Ranking(planner=index.plan(queries, "rules")))
        assert [[hit.row for hit in hits] for hits in again] == [[hit.row for hit in hits] for hits in found]
    documents = index.search_documents("Who purrs?", 2, ranking=Ranking(planner="rules"))[0]
    assert documents[0].hits[0].scores["plan"] == "sentence to paragraph: asks for a fact"
    assert index.search([], ranking=Ranking(planner="rules")) == []


def test_what_is_refused(index: pychunk.Index, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="planner must be one of 'fixed', 'rules'"):
        index.search("Who?", ranking=Ranking(planner="guess"))
    for wrong in ("x" * 300, "x\0y", tmp_path, str(tmp_path)):
        with pytest.raises(ValueError, match="planner must be one of 'fixed', 'rules'"):
            load(wrong)
    with pytest.raises(TypeError, match=r"planner must be one of 'fixed', .*, or a function"):
        load(7)
    with pytest.raises(ValueError, match="pass one of them"):
        index.search("Who?", ranking=Ranking(planner="rules", levels="sentence"))
    with pytest.raises(ValueError, match="one plan for each query; got 1 plan for 2 queries"):
        index.search(["Who?", "Why?"], ranking=Ranking(planner=index.plan(["Who?"])))
    with pytest.raises(
        ValueError, match=r"reads the texts of queries; got vectors alone: pass the pair \(texts, vectors\)"
    ):
        index.search(np.ones((1, 256)), mode="dense", ranking=Ranking(planner="rules"))
    with pychunk.Index.create(tmp_path / "plain.idx") as plain:
        assert plain.search(["Who?"], ranking=Ranking(planner="rules")) == [[]]
        plain.add(pychunk.segment("One. Two.", vectors="sentence"))
        with pytest.raises(ValueError, match="an index of levels"):
            plain.search("Who?", ranking=Ranking(planner="rules"))


def test_plans_on_the_command_line(folder: Path) -> None:
    done = invoke(["search", str(folder), "Who purrs?", "Summarise the stars.", "--plan", "rules", "-k", "1"])
    assert done.exit_code == 0, done.output
    assert "levels sentence to paragraph: asks for a fact" in done.output
    assert "levels section to document: asks for the whole" in done.output
    done = invoke(["search", str(folder), "Who purrs?", "--plan", "fixed", "--json"])
    answer = json.loads(done.output)
    assert answer["plan"] == {"low": "paragraph", "high": "document", "why": "fixed", "failed": False}
    done = invoke(["search", str(folder), "Who purrs?", "--plan", "rules", "--levels", "sentence"])
    assert done.exit_code == 2
    assert "pass one of them" in " ".join(done.output.split())
