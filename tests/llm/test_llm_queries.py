"""Queries rewritten by an LLM: the request, the resulting search, and the cost of a garbled answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import ANSWER, CONNECTION, Server, limits_of, together

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

from command_line import invoke
from index_reference import chunks_of, seen

import pychunk.llm.client
from pychunk.index import Rewrite
from pychunk.index.index import Index
from pychunk.llm import LLM, LLMError, Response
from pychunk.llm.query_generation import PASSAGE, QUERY, Hyde, MultiQuery

TEXTS = ["Felines purr when content.", "Dogs bark at night.", "Rust is memory safe.", "Bread needs salt and time."]
QUERIES = ["What makes a cat hum?", "Why is a dog loud?"]
SAID = {QUERIES[0]: "Felines purr when they are content.", QUERIES[1]: "Dogs bark at night."}
#: Faults of the answer; those that resemble others only run in the long form.
FAULTS = [
    each if each in ("refusal", "prose", "words") else pytest.param(each, marks=pytest.mark.slow) for each in ANSWER
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Index.create(tmp_path_factory.mktemp("asked") / "x") as made:
        made.add(chunks_of(TEXTS, ids=list("abcd")))
        yield made


def answer(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str:
    text = body["messages"][-1]["content"]
    said = next(said for query, said in SAID.items() if query in text)
    return json.dumps({"queries": [said, said.upper(), "", "night"]}) if kind == "multi" else f" {said}\n"


@pytest.mark.parametrize("name", ["hyde", "multi"])
def test_a_query_is_searched_with_what_a_model_writes(
    index: Index, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(answer=answer) as server, LLM(server.url, "test", cache=False) as llm:
        other = {"hyde": [1.0], "multi": [0.5, 0.5]}[name]
        expected = index.search(
            QUERIES,
            3,
            stages=Rewrite(lambda query: [query, *zip([SAID[query], "night"], other)]),
        )
        found = index.search(QUERIES, 3, stages=Rewrite(Hyde(llm) if name == "hyde" else MultiQuery(llm)))
        assert [seen(hits) for hits in found] == [seen(hits) for hits in expected]
        assert [hits[0].document_id for hits in found] == ["a", "b"]
        assert server.counts[f"kind {name}"] == server.counts["calls"] == 2, "one call a query"
        assert llm.account.stages["rewrite"].calls == 2
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")
        monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
        again = [index.search(QUERIES, 3, stages=Rewrite(name)) for _ in range(2)]
        assert [seen(hits) for hits in again[0]] == [seen(hits) for hits in again[1]] == [seen(each) for each in found]
        assert server.counts["calls"] == 4, "the second search has answers from the cache"


def test_queries_are_asked_about_side_by_side(index: Index) -> None:
    with Server(answer=together(3)) as server, LLM(server.url, "test", cache=False, concurrency=6) as llm:
        index.search([f"question {at}" for at in range(12)], 2, stages=Rewrite(Hyde(llm)))
        assert server.counts["calls"] == 12
        assert 3 <= server.most_at_once <= 6


@pytest.mark.parametrize("made", [Hyde, MultiQuery])
@pytest.mark.parametrize("script", [*FAULTS, "liar"])
def test_a_garbled_answer_costs_its_query_alone(index: Index, made: Any, script: str) -> None:
    plain = index.search(QUERIES, 3)
    with Server(f"{script},always", answer=answer, share=1) as server, LLM(server.url, "test", cache=False) as llm:
        found = index.search(QUERIES, 3, stages=Rewrite(made(llm), on_error="skip"))
        reasons = [{hit.scores.get("rewrite", "") for hit in hits} for hits in found]
        lost = [any(each) for each in reasons]
        usable = {"prose", "fenced"} if made is MultiQuery else set(ANSWER) - {"refusal", "empty"} | {"liar"}
        assert lost == [script not in usable] * 2
        if script not in usable:
            assert [seen(hits) for hits in found] == [seen(hits) for hits in plain]
            with pytest.raises(RuntimeError, match=r"stage rewrite failed for query 0 \('What makes"):
                index.search(QUERIES, 3, stages=Rewrite(made(llm)))
        asked_again = made is MultiQuery and script not in usable
        assert server.counts["calls"] == 2 * (1 + asked_again) * (1 + (script not in usable))


@pytest.mark.parametrize("made", [Hyde, MultiQuery])
def test_a_fault_that_is_named_is_mended(made: Any) -> None:
    with Server("words", answer=answer) as server, LLM(server.url, "test", cache=False) as llm:
        for query, found in zip(QUERIES, made(llm)(QUERIES)):
            assert made is Hyde or found == [(query, 1.0), (SAID[query], 0.5), ("night", 0.5)]
        assert server.counts["calls"] == (4 if made is MultiQuery else 2)


@pytest.mark.slow
@pytest.mark.parametrize("script", CONNECTION)
def test_connections_that_fail(script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pychunk.llm.client, "_FIRST_WAIT", 0.01)
    limits = limits_of(script)
    with Server(script, answer=answer) as server, LLM(server.url, "test", cache=False, **limits) as llm:
        assert MultiQuery(llm)(QUERIES[:1])[0] == [(QUERIES[0], 1.0), (SAID[QUERIES[0]], 0.5), ("night", 0.5)]
        assert server.counts["calls"] == 2
    with (
        Server(f"{script},always") as server,
        LLM(server.url, "test", cache=False, retries=0, **limits) as llm,
    ):
        for made in (Hyde, MultiQuery):
            (found,) = made(llm)(QUERIES[:1])
            assert isinstance(found, LLMError)
        assert server.counts["calls"] == 2, "a call that failed is not made again"


def test_no_endpoint_is_said_before_anything_is_searched(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYCHUNK_LLM_URL", "PYCHUNK_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
        index.search("x", stages=Rewrite("hyde"))
    for wrong in ({"weight": 0}, {"weight": True}, {"n": 0}, {"n": 2.0}):
        with pytest.raises(ValueError, match="must be"):
            MultiQuery(LLM("http://127.0.0.1:9/v1", "test", cache=False), **wrong)
    with Server("locked", key="right") as server, LLM(server.url, "test", "wrong", cache=False) as llm:
        with pytest.raises(RuntimeError, match="PYCHUNK_LLM_KEY"):
            index.search("x", stages=Rewrite(Hyde(llm)))
        hits = index.search("bread", stages=Rewrite(Hyde(llm), on_error="skip"))[0]
        assert "PYCHUNK_LLM_KEY" in str(hits[0].scores["rewrite"])


def test_a_dry_run_searches_by_the_query_alone(index: Index) -> None:
    with LLM("http://127.0.0.1:9/v1", "test", cache=False, dry_run=True) as llm:
        for made in (Hyde(llm), MultiQuery(llm)):
            found = index.search(QUERIES, 3, stages=Rewrite(made))
            assert [seen(hits) for hits in found] == [seen(hits) for hits in index.search(QUERIES, 3)]
        assert llm.account.total.calls == 4


class Scripted(LLM):
    """A client that gives the scripted answers."""

    def __init__(self, answers: list[str]) -> None:
        super().__init__("http://127.0.0.1:9/v1", "test", cache=False)
        self.answers, self.asked = answers, 0

    def ask_many(self, asks: Any) -> list[Response]:
        self.asked += len(asks)
        return [Response(self.answers[(self.asked + at) % len(self.answers)]) for at in range(len(asks))]


ANYTHING = st.binary(max_size=60).map(lambda each: each.decode("utf-8", "surrogateescape")) | st.text(max_size=60)
LISTS = st.lists(st.text(max_size=400) | st.integers() | st.none(), max_size=6).map(
    lambda each: json.dumps({"queries": each})
)


@settings(max_examples=12, deadline=None)
@given(st.lists(ANYTHING | LISTS, min_size=1, max_size=4), st.lists(st.text(min_size=1, max_size=20), max_size=4))
def test_whatever_a_model_answers_a_query_has_texts_or_a_reason(
    index: Index, answers: list[str], queries: list[str]
) -> None:
    queries = [query for query in queries if query.strip()]
    for made, longest in ((Hyde, PASSAGE), (MultiQuery, QUERY)):
        found = made(Scripted(answers))(queries)
        assert len(found) == len(queries)
        for query, own in zip(queries, found):
            if isinstance(own, Exception):
                assert str(own)
                continue
            assert own[0] == (query, 1.0)
            assert sum(weight for _, weight in own[1:]) == pytest.approx(1)
            assert len({text.casefold() for text, _ in own[1:]}) == len(own) - 1
            for text, _ in own[1:]:
                assert 0 < len(text) <= longest
                assert text == text.strip()
                assert text.isprintable() or "\u200c" in text or "\u200d" in text
        if queries:
            hits = index.search(queries, 2, stages=Rewrite(made(Scripted(answers)), on_error="skip"))
            assert len(hits) == len(queries)


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Index.create(tmp_path / "pets.idx") as made:
        made.add(chunks_of(TEXTS, ids=list("abcd")))
    arguments = ["search", str(tmp_path / "pets.idx"), QUERIES[0], "-k", "1"]
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")
    with Server(answer=answer) as server:
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        for name in ("hyde", "multi"):
            done = invoke([*arguments, "--rewrite", name])
            assert done.exit_code == 0, done.output
            assert "document a" in done.output
        assert server.counts["calls"] == 2
    monkeypatch.delenv("PYCHUNK_LLM_URL")
    done = invoke([*arguments, "--rewrite", "hyde"])
    assert done.exit_code == 2
    assert "PYCHUNK_LLM_URL" in done.output
