"""Levels that an LLM chooses: its prompt, and the fallback if it gives no answer."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import Server

from pychunk.index import Ranking

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

import pychunk
from pychunk.index.planners.llm_planner import LLMPlanner
from pychunk.index.planners.planner import Metadata, decide, load
from pychunk.llm import LLM, Response

LEVELS = ["sentence", "paragraph", "section", "document"]
TEXT = "Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too."


@pytest.fixture
def index(tmp_path: Path) -> pychunk.Index:
    made = pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk")
    made.add(pychunk.segment_levels([TEXT], LEVELS, vectors="chunk", ids=["cats"]).chunks())
    made.save()
    return made


def test_a_model_names_the_levels(index: pychunk.Index, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def oracle(kind: str, units: list[tuple[int, str]], body: dict) -> str:
        assert kind == "plan"
        told = body["messages"][-1]["content"]
        assert "- section: 2\n- document: 1" in told
        pair = ("section", "document") if "Summarise" in told else ("sentence", "paragraph")
        assert "Sections that a first search found:\n- " in told
        return "It asks for one thing.\n" + json.dumps(dict(zip(("low", "high"), pair, strict=True)))

    queries = ["Summarise cats.", "When do cats sleep?"]
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        plans = index.plan(queries, LLMPlanner(llm))
        assert [each[:3] for each in plans] == [
            ("section", "document", "test: It asks for one thing."),
            ("sentence", "paragraph", "test: It asks for one thing."),
        ]
        assert server.counts["calls"] == 2
        hits = index.search(queries, 1, ranking=Ranking(planner=LLMPlanner(llm)))
        assert hits[0][0].scores["plan"] == str(plans[0])
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")
        monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
        assert [each[:2] for each in index.plan(queries, "llm")] == [each[:2] for each in plans]


@pytest.mark.parametrize("script", ["refusal,always", "good"])
def test_an_answer_of_no_use_is_the_learned_planners(script: str, index: pychunk.Index) -> None:
    wrong = json.dumps({"low": "document", "high": "sentence"})
    with Server(script, answer=lambda *_: wrong) as server, LLM(server.url, "test", cache=False) as llm:
        (plan,) = index.plan("When do cats sleep?", LLMPlanner(llm))
    (learned,) = index.plan("When do cats sleep?", "learned")
    assert plan[:2] == learned[:2]
    assert plan.failed
    assert plan.why.startswith("learned, as the planner failed: the model")


def test_a_model_that_takes_too_long(index: pychunk.Index) -> None:
    leave = threading.Event()

    def late(*_: object) -> str:
        leave.wait()
        return "{}"

    with Server(answer=late) as server, LLM(server.url, "test", cache=False) as llm:
        plans = index.plan(["When do cats sleep?", "Who?"], LLMPlanner(llm, timeout=0.05))
        leave.set()
    learned = index.plan(["When do cats sleep?", "Who?"], "learned")
    assert [plan[:2] for plan in plans] == [plan[:2] for plan in learned]
    assert plans[0].why.startswith("learned, as the planner failed: no answer within 0.05 s: ")
    assert all(plan.failed for plan in plans)
    with pytest.raises(ValueError, match="timeout must be a finite number"):
        LLMPlanner(llm, timeout=float("nan"))


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=40) | st.dictionaries(st.sampled_from(["low", "high"]), st.sampled_from([*LEVELS, "x", 3, None]))
)
def test_whatever_a_model_answers(answer: object) -> None:
    class Scripted(LLM):
        def ask_many(self, asks: list[object]) -> list[Response]:
            return [Response(answer if isinstance(answer, str) else json.dumps(answer)) for _ in asks]

    plan = decide(LLMPlanner(Scripted("http://nowhere/v1", "test", cache=False)), "Who?", Metadata(tuple(LEVELS)))
    assert LEVELS.index(plan.low) <= LEVELS.index(plan.high)
    wanted = (answer.get("low"), answer.get("high")) if isinstance(answer, dict) else None
    assert plan.failed == (plan[:2] != wanted or "planner" in plan.why)


def test_no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYCHUNK_LLM_URL", raising=False)
    with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
        load("llm")
