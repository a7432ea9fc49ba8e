"""Every fault of a server for every step that queries an LLM: the result, and the number of calls."""

import functools
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import AGAIN, ANSWER, CONNECTION, Server

pytest.importorskip("httpx2")

import pychunk
from pychunk.llm import LLM, LLMError, Request
from pychunk.llm import client as client_module
from pychunk.llm.connection import AttemptError, reply_of
from pychunk.llm.llm_reranker import Listwise, Logprob

TEXTS = [
    " ".join(f"Sentence {number} is about topic {number // 5}." for number in range(first, first + 12))
    for first in (0, 50)
]
QUERIES = ["Which one?", "Why?"]
HITS = [[SimpleNamespace(text=f"Passage {at} of {query}.") for at in range(5)] for query in QUERIES]


def cut(method: str, **options: Any) -> Callable[[LLM], list[str]]:
    def step(llm: LLM) -> list[str]:
        chunks = pychunk.segment(TEXTS, method, llm=llm, **options)
        for text, own in zip(TEXTS, chunks.by_document()):
            assert " ".join(chunk.text for chunk in own) == text
        return [*chunks.texts, *(error.reason for error in chunks.errors)]

    return step


def proposed(llm: LLM) -> list[str]:
    chunks = pychunk.segment(TEXTS, "proposition", llm=llm)
    assert chunks.texts == TEXTS
    return [*chunks.table["context"].to_pylist(), *(error.reason for error in chunks.errors)]


def reranked(made: type) -> Callable[[LLM], list[list[float]]]:
    def step(llm: LLM) -> list[list[float]]:
        scores = made(llm)(QUERIES, HITS)
        assert [len(own) for own in scores] == [5, 5]
        return scores

    return step


class Step(NamedTuple):
    """A step with a client, and the faults of an answer after which it asks once more."""

    run: Callable[[LLM], Any]
    again: frozenset[str] = frozenset()


UNREADABLE = frozenset({"length", "refusal", "empty", "words", "unknown"})
STEPS = {
    "autochunker": Step(cut("autochunker"), UNREADABLE),
    "llm_semantic": Step(cut("llm_semantic"), UNREADABLE | {"overlapping"}),
    "lumber": Step(cut("lumber", window_tokens=2000), UNREADABLE | {"overlapping", "twice", "backwards"}),
    "proposition": Step(proposed, UNREADABLE | {"overlapping"}),
    "summary": Step(cut("pic", summary="llm")),
    "logprob": Step(reranked(Logprob)),
    "listwise": Step(reranked(Listwise), UNREADABLE | {"overlapping"}),
}
#: The steps that replace a useless answer with something else, which the account counts.
COUNTED = ("autochunker", "llm_semantic", "proposition", "listwise")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_FIRST_WAIT", 0.01)


def client(server: Server, **more: Any) -> LLM:
    return LLM(server.url, "test", **{"cache": False, **more})


@functools.lru_cache
def good(name: str) -> tuple[Any, int]:
    with Server() as server, client(server) as llm:
        return STEPS[name].run(llm), server.counts["calls"]


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("fault", CONNECTION)
def test_a_connection_that_fails_once_changes_nothing(name: str, fault: str) -> None:
    expected, calls = good(name)
    hangs = fault.startswith("hang")
    more = {"first_byte_timeout": 0.5} if hangs else {}
    with Server(fault, retry_after=0.01) as server, client(server, **more) as llm:
        assert STEPS[name].run(llm) == expected
        assert server.counts[f"fault {fault}"] == calls
        assert server.counts["calls"] == 2 * calls or hangs  # on a busy machine an answer may also come too late
        total = llm.account.total
        assert (total.calls, total.failed, total.fell_back) == (calls, 0, 0)
        assert total.retries == server.counts["calls"] - calls


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("fault", ANSWER)
def test_a_garbled_answer_is_repaired_or_asked_for_once_more(name: str, fault: str) -> None:
    expected, calls = good(name)
    with Server(fault) as server, client(server) as llm:
        found = STEPS[name].run(llm)
        again = sum(AGAIN in body["messages"][-1]["content"] for body in server.bodies)
        if fault in STEPS[name].again or fault in ("prose", "fenced"):
            assert name in ("summary", "logprob") or found == expected
        # lumber's next window begins at the place in the last answer
        first = server.counts["calls"] - again
        assert first == calls or name == "lumber"
        assert again == (first if fault in STEPS[name].again else 0)
        told = llm.account.total
        if name != "summary":
            assert told.fell_back == 0
        else:
            assert told.fell_back == (2 if fault in ("refusal", "empty") else 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("fault", sorted(UNREADABLE))
def test_what_is_garbled_to_the_end_falls_back_and_is_counted(name: str, fault: str) -> None:
    _, calls = good(name)
    with Server(f"{fault},always") as server, client(server) as llm:
        found = STEPS[name].run(llm)
        assert server.counts["calls"] == 2 * calls
        total = llm.account.total
        assert (total.asked, total.fell_back) == (calls, calls)
        assert f"{calls} of {calls} without a usable answer (100 %)" in llm.account.line()
        if name == "listwise":
            assert found == [[5, 4, 3, 2, 1]] * 2
        else:
            instead = "no context for chunk 0" if name == "proposition" else "is cut by recursive"
            assert sum(instead in text for text in found) == calls


@pytest.mark.parametrize("name", [name for name in STEPS if name != "logprob"])
def test_an_endpoint_without_logprobs_is_enough(name: str) -> None:
    with Server("no-logprobs,no-schema,no-usage") as server, client(server) as llm:
        assert STEPS[name].run(llm) == good(name)[0]


def test_lies_lose_nothing_and_the_share_that_fell_back_is_right() -> None:
    texts = [f"About {row}. {TEXTS[0]}" for row in range(60)]
    with Server("liar") as server, client(server) as llm:
        chunks = pychunk.segment(texts, "llm_semantic", llm=llm)
        hits = [[SimpleNamespace(text=f"{query} {at}") for at in range(5)] for query in texts]
        Listwise(llm)(texts, hits)
        for kind in ("llm_semantic", "listwise"):
            asked = [body for body in server.bodies if f"Task: {kind}" in body["messages"][0]["content"]]
            again = [body for body in asked if AGAIN in body["messages"][-1]["content"]]
            lied = [body for body in asked if server.lies(body)]
            assert len(asked) == 60 + len(again)
            assert 60 * 0.1 < len(again) < 60 * 0.5
            counts = llm.account.stages[kind if kind == "llm_semantic" else "rerank"]
            assert (counts.asked, counts.fell_back) == (60, len(lied) - len(again))
        assert len(chunks.errors) == llm.account.stages["llm_semantic"].fell_back > 0
    for own, text in zip(chunks.by_document(), texts):
        assert " ".join(chunk.text for chunk in own) == text


# ---- a context that is too short


def test_a_context_that_is_too_short() -> None:
    with Server("context") as server, client(server) as llm:
        chunks = pychunk.segment(TEXTS, "autochunker", llm=llm)
        assert ["lower window_tokens" in error.reason for error in chunks.errors] == [True, True]
        assert server.counts["calls"] == 2, "a longer question is not asked"
        with pytest.raises(LLMError, match=r"too short for a single unit .* PYCHUNK_LLM_MODEL"):
            pychunk.segment("One sentence alone.", "autochunker", llm=llm)


# ---- what a dry run predicts


def words(text: str) -> int:
    """Return the tokens that another endpoint counts, far from one for four bytes."""
    return 3 + sum(1 + (len(word) > 12) for word in text.split())


@pytest.mark.parametrize("name", STEPS)
def test_a_dry_run_predicts(name: str) -> None:
    with Server() as server:
        with client(server, dry_run=True) as dry:
            STEPS[name].run(dry)
            told = dry.account.total
        assert server.counts["calls"] == 0
        with client(server) as llm:
            STEPS[name].run(llm)
            took = llm.account.total
    assert told.tokens_out >= took.tokens_out
    if name == "lumber":  # each answer decides the start of the next window
        assert told.calls >= took.calls
        assert told.tokens_in >= took.tokens_in
    else:
        assert told.calls == took.calls
        assert told.tokens_in == pytest.approx(took.tokens_in, rel=0.05)
    assert (told.asked, told.fell_back) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["autochunker", "llm_semantic"])
def test_a_dry_run_counts_as_the_endpoint_did(method: str, tmp_path: Any) -> None:
    texts = [
        " ".join(f"Line {at} of page {row} says something else." for at in range(5 + row % 9)) for row in range(80)
    ]
    with Server(count=words) as server:
        with client(server, cache=tmp_path / "c.sqlite") as llm:
            pychunk.segment(texts[:15], method, llm=llm)
        with client(server, cache=tmp_path / "c.sqlite", dry_run=True) as dry:
            pychunk.segment(texts, method, llm=dry)
        with client(server, cache=tmp_path / "c.sqlite") as llm:
            pychunk.segment(texts, method, llm=llm)
            took, told = llm.account.total, dry.account.total
    assert told.calls == took.calls == 65
    assert told.tokens_in == pytest.approx(took.tokens_in, rel=0.05)
    assert abs(sum(Request(text).tokens for text in texts) / sum(map(words, texts)) - 1) > 0.1, "estimates are far off"


# ---- arbitrary bytes


@settings(max_examples=100, deadline=None)
@given(
    st.binary(max_size=80)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "message", "content", "usage", "logprobs", "refusal", "finish_reason", "prompt_tokens"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda found: json.dumps({"choices": [found], "usage": found}).encode())
)
def test_a_body_of_any_bytes_is_an_answer_or_another_attempt(body: bytes) -> None:
    try:
        reply = reply_of(body, Request("What?"))
    except AttemptError as error:
        assert error.passes  # noqa: PT017  # there may be an answer, too
    else:
        assert isinstance(reply.text, str)
        assert reply.tokens_in >= 0 <= reply.tokens_out
        reply.text.encode()
