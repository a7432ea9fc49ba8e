"""The learned planner: its choices, the indexes that it accepts, and its training."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pychunk
from pychunk.index import Expansion, Ranking
from pychunk.index.planners.model_planner import FACTS, ModelPlanner, PlanModel
from pychunk.index.planners.planner import FirstPass, Metadata, decide, load
from pychunk.index.planners.planner_features import features
from pychunk.index.planners.term_statistics import Terms
from pychunk.training import breadth
from pychunk.training.section_questions import LEAST_WORDS

pytest.importorskip("faiss")

LEVELS = ("sentence", "group", "paragraph", "section", "document")
FOLDER = Path(pychunk.__file__).parent / "models"


def told(levels: tuple[str, ...] = LEVELS, seed: int = 0) -> Metadata:
    rng = np.random.default_rng(seed)

    def hits(count: int) -> FirstPass:
        scores = np.sort(rng.random(count).astype(np.float32))[::-1]
        return FirstPass(
            scores,
            scores / 2,
            scores / 3,
            rng.integers(0, 9, count),
            rng.integers(0, 5000, count),
            np.ones(count, np.int64),
            rng.integers(0, 9, (len(levels), count)),
        )

    encoder = PlanModel().facts["encoder"]
    terms = Terms(rng.random(3).astype(np.float32), *(rng.random((n, 3)) < 0.5 for n in (1, 3, 3, 30, 40)))
    terms = replace(terms, known=terms.known[0])
    return Metadata(levels, (9,) * len(levels), fine=hits(32), coarse=hits(20), encoder=encoder, terms=terms)


def test_the_range_that_promises_most_within_the_words() -> None:
    model = PlanModel()
    metadata = told()
    seen = features("Who crossed the Andes?", metadata)
    own = np.clip((seen - model.parts["mean"]) / model.parts["scale"], -5, 5)
    hidden = [
        max(0.0, float(own @ column) + bias)
        for column, bias in zip(model.parts["hidden"].T, model.parts["hidden_bias"], strict=True)
    ]
    wanted = np.array(hidden) @ model.parts["out"] + model.parts["out_bias"]
    expected = model.expected(seen)
    assert np.allclose(expected.reshape(-1), wanted, atol=1e-5)
    both = np.array(wanted).reshape(2, len(model.ranges), len(model.budgets))
    value = both[0] + model.caution * both[1]
    plain = model.ranges.index(("group", "group"))
    assert model.caution > 0
    assert model.margin > 0
    for place, words in enumerate(model.budgets):
        best = int(value[:, place].argmax())
        right = best if value[best, place] - value[plain, place] > model.margin else plain
        plan = decide(ModelPlanner(), "Who crossed the Andes?", replace(metadata, words=words))
        assert (plan.low, plan.high) == model.ranges[right]
        assert f"within {words} words" in plan.why


@pytest.mark.parametrize(("gain", "chosen"), [(0.0, "group"), (0.9, "group"), (1.1, "section")])
def test_plain_chunks_are_the_floor(gain: float, chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = ModelPlanner()
    expected = np.zeros((2, len(planner.model.ranges), len(planner.model.budgets)), np.float32)
    expected[0, planner.model.ranges.index(("section", "section"))] = gain * planner.model.margin
    monkeypatch.setattr(type(planner.model), "expected", lambda *_: expected)
    assert planner("Who crossed the Andes?", told())[:2] == (chosen, chosen)
    without = tuple(level for level in LEVELS if level != "group")
    low, high, _ = planner("Who crossed the Andes?", told(without))
    assert (low, high) == (("section", "section") if gain else ("sentence", "sentence"))  # the first of equal ranges


@pytest.mark.parametrize(
    "levels", [("sentence", "document"), ("sentence", "paragraph", "document"), ("sentence", "128", "document")]
)
def test_only_levels_that_the_index_has(levels: tuple[str, ...]) -> None:
    for seed in range(20):
        plan = decide(ModelPlanner(), "rivers of Peru", told(levels, seed))
        assert set(plan[:2]) <= set(levels)
        assert not plan.failed


@pytest.mark.parametrize(("expected", "said"), [(-0.2, "0.00"), (0.25, "0.25"), (1.4, "1.00")])
def test_a_share_that_is_told_is_one(expected: float, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planner = ModelPlanner()
    size = (2, len(planner.model.ranges), len(planner.model.budgets))
    monkeypatch.setattr(type(planner.model), "expected", lambda *_: np.full(size, expected, np.float32))
    assert planner("Who crossed the Andes?", told())[2].startswith(f"expected F1 {said} within ")


def test_what_it_was_not_made_for() -> None:
    query = "Who crossed the Andes?"
    other = decide(ModelPlanner(), query, replace(told(), encoder="minilm:1"))
    assert other.failed
    assert other.why.startswith("fixed, as the planner failed: the planner in")
    assert decide(ModelPlanner(), query, told(("128", "256"))).failed
    assert decide(ModelPlanner(), query, replace(told(), fine=None)).failed
    assert not decide(ModelPlanner(), query, replace(told(), terms=None)).failed  # an index that counts no terms
    plan = decide(ModelPlanner(), "Хто перетнув Анди?", told())
    assert plan == ("sentence", "document", "the query is in another script", False)


def test_a_search_plans_by_it(tmp_path: Path) -> None:
    texts = ["Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too.", "Stars burn hydrogen."]
    found = pychunk.segment_levels(texts, list(LEVELS), vectors="chunk", ids=["cats", "stars"])
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk") as index:
        index.add(found.chunks())
        (plan,) = index.plan("When do cats sleep?", "learned", max_words=150)
        assert not plan.failed
        assert index.search(
            "When do cats sleep?", ranking=Ranking(planner="learned"), expansion=Expansion(max_words=150)
        )[0]
        (wide,) = index.plan("", "learned")
        assert wide[:2] == ("sentence", "document")


def test_what_is_shipped(tmp_path: Path) -> None:
    assert sum((FOLDER / name).stat().st_size for name in (FACTS, "planner.npz", "planner.md")) < 300_000
    with pytest.raises(ValueError, match=r"planner.json is missing"):
        PlanModel(tmp_path)
    for name in (FACTS, "planner.npz"):
        shutil.copy(FOLDER / name, tmp_path / name)
    assert PlanModel(tmp_path).ranges == breadth.ranges()
    facts = json.loads((tmp_path / FACTS).read_text())
    for name, value in {"plain": "group", "margin": None, "caution": float("nan"), "budgets": []}.items():
        (tmp_path / FACTS).write_text(json.dumps(facts | {name: value}))
        with pytest.raises(ValueError, match=r"planner.json is damaged \(.*\): train it again"):
            PlanModel(tmp_path)
    (tmp_path / FACTS).write_text(json.dumps(facts))
    (tmp_path / "planner.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"planner.npz is damaged"):
        PlanModel(tmp_path)


@pytest.mark.slow  # it imports torch
def test_training_on_a_few_questions(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from pychunk.training import planner

    body = "She was born in London and wrote about engines. " * (LEAST_WORDS // 2)
    texts = [f"Ada was an early writer of long programs.\nLife.\n{row} {body}\nWork.\n{body} {row}" for row in range(6)]
    articles = breadth.of_articles([f"Ada {row}" for row in range(6)], texts)
    for row, own in enumerate(articles):
        own.asked.append(("sentence", f"Which engines, {row}?", ((100, 148),)))
    data = breadth.mixed(articles)
    lessons = planner.lessons(data)
    assert lessons.seen.shape[0] == len(lessons.f1) == len(lessons.breadth) == 2 * len(data.questions) > 0
    assert lessons.narrow.sum() == len(data.questions) * 2 // 3
    assert lessons.targets[lessons.narrow, 1].any()
    assert not lessons.targets[~lessons.narrow, 1].any()
    more = planner.lessons(data, small=2, seed=1)
    assert len(more.seen) == 2 * len(lessons.seen)
    half = len(more.seen) // 2
    assert more.breadth[:half] == more.breadth[half:]  # all questions as asked, then all with content words alone
    assert sorted(more.document[:half].tolist()) == sorted(2 * lessons.document[: half // 2].tolist())
    settings = planner.Settings(epochs=3, hidden=4, networks=2, folds=3)
    options = planner.parser().parse_args(["--out", str(tmp_path), "--epochs", "3", "--hidden", "4"])
    planner.finish(options, settings, lessons, lessons)
    once = (tmp_path / "planner.npz").read_bytes()
    planner.finish(options, settings, lessons, lessons)
    assert (tmp_path / "planner.npz").read_bytes() == once
    facts = json.loads((tmp_path / FACTS).read_text())
    assert "--epochs 3" in facts["command"]
    assert facts["caution"] == facts["cautions"][-1]["caution"] in planner.CAUTIONS
    assert facts["margin"] >= 0
    assert facts["plain"] == ["group", "group"]
    assert facts["metrics"]["best range of each question"] >= facts["metrics"]["learned"]
    found = PlanModel(tmp_path)
    assert found.parts["hidden"].shape == (lessons.seen.shape[1], 8)
    many = planner.expected_by(found.parts, lessons.seen, len(found.ranges))
    for row, seen in enumerate(lessons.seen):
        assert np.allclose(many[row], found.expected(seen), atol=1e-4)
    plan = decide(load(tmp_path), "Which engines?", told())
    assert not plan.failed


def test_the_margin_is_the_gain_above_which_gains_are_real() -> None:
    from pychunk.training import planner

    rng = np.random.default_rng(0)
    pairs = breadth.ranges()
    plain, section = pairs.index(planner.PLAIN), pairs.index(("section", "section"))
    predicted = np.zeros((6000, 2, len(pairs), len(breadth.BUDGETS)), np.float32)
    predicted[:, 0, section, planner.MIDDLE] = rng.uniform(0, 1, 6000)
    true = np.zeros(predicted.shape)
    gain = predicted[:, 0, section, planner.MIDDLE]
    true[:, 0, section, planner.MIDDLE] = np.where(gain > 0.5, 0.3, -0.1) + rng.normal(0, 0.1, 6000)
    margin = planner.least_margin(predicted, true, 0.0)
    assert margin == pytest.approx(0.5, abs=0.09)  # a group has a twelfth of the questions
    choice = planner.choices(predicted, 0.0, margin)
    assert (choice == np.where(gain > margin, section, plain)).all()
    assert planner.least_margin(predicted, np.abs(true), 0.0) == 0
