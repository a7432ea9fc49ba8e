"""Hits ordered by an LLM: the gold one comes first from any position, and no answer loses one."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import Server

pytest.importorskip("httpx2")

from pychunk.index import Rerank
from pychunk.index.search.hits import Hit
from pychunk.llm import LLM, Response
from pychunk.llm.llm_reranker import Listwise, Logprob, sureness

QUERIES = ["Which one is number 37?", "Which one is number 3?", "Which one is number 99?"]
HITS = [[SimpleNamespace(text=f"This is number {at}. It is one.") for at in range(count)] for count in (45, 7, 12)]


def gold(body: dict[str, object]) -> str:
    return body["messages"][-1]["content"].split("number ")[1].split("?")[0]


def oracle(kind: str, units: list[tuple[int, str]], body: dict[str, object]) -> str:
    wanted = f"This is number {gold(body)}."
    if kind == "relevance":
        return "yes" if wanted in body["messages"][-1]["content"] else "no"
    best = [number for number, text in units if wanted in text]
    return json.dumps({"order": best or [number for number, _ in units]})


@pytest.mark.parametrize("made", [Logprob, Listwise])
def test_an_oracle_puts_the_gold_hit_first(made: type) -> None:
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        scores = made(llm)(QUERIES, HITS)
        assert [len(own) for own in scores] == [45, 7, 12]
        assert [max(range(len(own)), key=own.__getitem__) for own in scores[:2]] == [37, 3]
        assert scores[2] == sorted(scores[2], reverse=True), "without a gold one all stay in order"
        # 45 hits: windows of 20 that end at 45, 35, 25 and 15
        assert server.counts["calls"] == (45 + 7 + 12 if made is Logprob else 4 + 1 + 1)


@pytest.mark.parametrize("made", [Logprob, Listwise])
def test_hits_with_a_tree_are_rendered(made: type) -> None:
    row = Hit(0, 0, "a", 0, "", 0, 9, "| 1 | 2 |", 1.0, {}, path=["Cats", "Food"], header="| fish | price |")
    open_code = Hit(0, 0, "a", 0, "", 0, 9, "```\nx = 1", 1.0, {})
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        made(llm)(["What is number 3?"], [[row, open_code]])
        asked = "\n".join(body["messages"][-1]["content"] for body in server.bodies)
    assert "Cats > Food | fish | price | |---|---| | 1 | 2 |" in asked
    assert asked.count("```") == 1, "a hit without a tree is read as it is"


def test_logprobs_that_are_missing() -> None:
    with Server("no-logprobs", answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        with pytest.raises(ValueError, match="votes=5"):
            Logprob(llm)(QUERIES, HITS)
        assert server.counts["calls"] == 1
        scores = Logprob(llm, votes=3)(QUERIES[1:2], HITS[1:2])
        assert scores == [[0, 0, 0, 1, 0, 0, 0]]
        assert server.counts["calls"] == 1 + 3 * 7


def test_sureness_is_the_sigmoid_of_the_difference() -> None:
    assert sureness(Response("yes", logprobs=({"yes": -0.1, "no": -2.4},))) == pytest.approx(1 / (1 + math.exp(-2.3)))
    both = {"yes": math.log(0.3), " Yes": math.log(0.2), "no": math.log(0.25)}
    assert sureness(Response("yes", logprobs=(both,))) == pytest.approx(2 / 3)
    assert 0.9 < sureness(Response("yes", logprobs=({"yes": -0.01, "maybe": -9.0},))) < 1
    assert math.isnan(sureness(Response("well", logprobs=({"well": 0.0},))))
    assert math.isnan(sureness(Response(error="no answer")))
    assert sureness(Response("yes", logprobs=({"yes": 0.0, "no": -math.inf},))) == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.binary(max_size=30) | st.lists(st.integers(-2, 12), max_size=12), min_size=1, max_size=5),
    st.lists(st.integers(0, 11), min_size=1, max_size=3),
)
def test_every_hit_keeps_a_place_whatever_the_model_answers(answers: list[object], counts: list[int]) -> None:
    class Scripted(LLM):
        asked = 0

        def ask_many(self, asks: list[object]) -> list[Response]:
            out = []
            for _ in asks:
                answer = answers[self.asked % len(answers)]
                self.asked += 1
                text = answer.decode("latin-1") if isinstance(answer, bytes) else json.dumps({"order": answer})
                out.append(Response(text))
            return out

    llm = Scripted("http://nowhere/v1", "test", cache=False)
    hits = [[SimpleNamespace(text=str(at)) for at in range(count)] for count in counts]
    for own, count in zip(Listwise(llm, window=4, step=2)(["q"] * len(counts), hits), counts):
        assert sorted(own) == [float(rank) for rank in range(1, count + 1)]


def test_a_refusal_leaves_the_order_as_it_is() -> None:
    with Server("refusal,always") as server, LLM(server.url, "test", cache=False) as llm:
        assert Listwise(llm)(QUERIES[1:2], HITS[1:2]) == [[7, 6, 5, 4, 3, 2, 1]]
        assert server.counts["calls"] == 2


def test_an_index_takes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss")
    import pychunk

    texts = [f"This is number {at}. It is one of many." for at in range(30)]
    chunks = pychunk.segment(texts, "paragraph", vectors="sentence", ids=[str(at) for at in range(30)])
    index = pychunk.Index.create(tmp_path / "some.idx", encoder="static")
    index.add(chunks)
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        for rerank in (Logprob(llm), Listwise(llm)):
            (hits,) = index.search(["Which one is number 17?"], k=3, stages=Rerank(rerank, 30))
            assert hits[0].document_id == "17"
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")
        monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
        for name in ("logprob", "listwise"):
            (hits,) = index.search(["Which one is number 18?"], k=3, stages=Rerank(name, 30))
            assert hits[0].document_id == "18"
        monkeypatch.delenv("PYCHUNK_LLM_URL")
        with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
            index.search(["Which one?"], stages=Rerank("listwise"))
    index.close(discard=True)
