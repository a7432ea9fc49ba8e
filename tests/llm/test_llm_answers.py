"""Answers from the hits of an index: the request, the sources that come with them, and garbled answers."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import ANSWER, CONNECTION, Server, limits_of

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

from test_llm_queries import ANYTHING, Scripted

import pychunk
import pychunk.llm.client
from pychunk.answers import Answer, answer, from_hits
from pychunk.index import Rewrite
from pychunk.llm import LLM, LimitReachedError, LLMError
from pychunk.llm.cited_answers import LETTERS, CitedQuestion, option_of

#: Three documents of two pages each.
TEXTS = [
    "Cats purr when content.\fCats sleep by day.",
    "Dogs bark at night.\fDogs fetch sticks.",
    "Stars burn hydrogen.\fThe sun is a star.",
]
IDS = ["cats.pdf", "dogs.pdf", "stars.pdf"]
QUESTIONS = ["What do stars burn?", "When do cats sleep?"]
GOLD = {QUESTIONS[0]: ("hydrogen", "stars.pdf", 1), QUESTIONS[1]: ("by day", "cats.pdf", 2)}
OPTIONS = [["helium", "hydrogen", "oil"], ["by day", "at night"]]
#: Faults of the answer; those that resemble others only run in the long form.
FAULTS = [
    each if each in ("refusal", "prose", "words") else pytest.param(each, marks=pytest.mark.slow) for each in ANSWER
]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pychunk.llm.client, "_FIRST_WAIT", 0.01)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pychunk.Index.create(tmp_path_factory.mktemp("answers") / "x") as made:
        made.add(pychunk.segment(TEXTS, "page", vectors="sentence", ids=IDS))
        yield made


def oracle(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str | None:
    """Return the gold answer, and the source that holds it."""
    if kind not in ("answer", "choice"):
        return None
    text = body["messages"][-1]["content"]
    said, document, page = next(gold for question, gold in GOLD.items() if f"Question: {question}" in text)
    sources = [number for number, line in units if line.startswith(f"({document}, page {page})")]
    if kind == "answer":
        return json.dumps({"answer": said, "sources": sources})
    letter = re.search(rf"^([A-Z])\) {said}$", text, re.MULTILINE)
    return json.dumps({"option": letter and letter[1], "sources": sources})


def spans(own: Answer) -> list[tuple[Any, ...]]:
    return [(part.document_id, part.start, part.end, part.page) for part in own.sources]


def test_an_answer_comes_with_the_spans_that_it_is_taken_from(index: Any) -> None:
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        found = answer(index, QUESTIONS, llm=llm, k=4)
        assert [str(each) for each in found] == ["hydrogen", "by day"]
        assert [spans(each) for each in found] == [[("stars.pdf", 0, 20, 1)], [("cats.pdf", 24, 42, 2)]]
        for own in found:
            for part in own.shown:
                assert TEXTS[part.document_index][part.start : part.end].strip()
            assert set(own.sources) <= set(own.shown)
        assert (found.failed, server.counts["kind answer"], server.counts["calls"]) == ([], 2, 2)
        assert found.facts["prompts"] == ["en/answer/1", "en/choice/1"]
        assert found.facts["account"]["answer"]["calls"] == 2
        table = found.table
        assert table["answer"].to_pylist() == ["hydrogen", "by day"]
        assert table["sources"].to_pylist()[1] == [
            {"document_id": "cats.pdf", "document_index": 0, "start": 24, "end": 42, "page": 2, "page_end": 2}
        ]
        assert json.loads(table.schema.metadata[b"pychunk"])["answers"]["model"] == "test"
        (alone,) = answer(index, QUESTIONS[0], llm=llm, words=12, mode="sparse")
        assert (alone.text, len(alone.shown)) == ("hydrogen", 1), "the words are those of the marks, too"
        assert pychunk.answer is answer
        assert from_hits(index.search(QUESTIONS, 4), QUESTIONS, llm=llm) == found
        with pytest.raises(ValueError, match="one list of hits for each question; got 1 list for 2 questions"):
            from_hits(index.search(QUESTIONS[:1]), QUESTIONS, llm=llm)
        assert answer(index, [], llm=llm) == []


def test_one_of_the_options(index: Any) -> None:
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        for how in (
            {"questions": QUESTIONS, "options": OPTIONS},
            {"questions": list(zip(QUESTIONS, OPTIONS))},
            {"questions": list(zip(QUESTIONS, OPTIONS)), "stages": Rewrite("options")},
            {"questions": list(zip(QUESTIONS, OPTIONS)), "stages": [Rewrite("options")]},
        ):
            found = answer(index, llm=llm, **how)
            assert [(each.text, each.option) for each in found] == [("hydrogen", 1), ("by day", 0)]
            assert [part.page for each in found for part in each.sources] == [1, 2]
        (single,) = answer(index, QUESTIONS[0], OPTIONS[0], llm=llm)
        mixed = answer(index, QUESTIONS, [None, OPTIONS[1]], llm=llm)
        assert (single.option, [each.option for each in mixed]) == (1, [None, 0])
        first = [body["messages"][-1]["content"] for body in server.bodies[:2]]  # calls come in any order
        assert any("A) helium\nB) hydrogen\nC) oil" in text for text in first)


@pytest.mark.parametrize(
    "script",
    [
        *FAULTS,
        "no-json",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("no-schema", "no-usage", "new-limit")),
    ],
)
def test_faults_of_the_answer(index: Any, script: str) -> None:
    usable = script in ("prose", "fenced") or script.startswith(("no-", "new-"))
    for again in (False, True):
        with (
            Server(script + ",always" * again, answer=oracle) as server,
            LLM(server.url, "test", cache=False, concurrency=1) as llm,
        ):
            found = answer(index, QUESTIONS, OPTIONS, llm=llm)
            right = usable or not again
            assert [each.option for each in found] == ([1, 0] if right else [None, None])
            assert [bool(each.reason) for each in found] == [not right] * 2
            refused = {"no-schema": 1, "no-json": 2, "new-limit": 1}.get(script, 0)
            assert server.counts["calls"] == 2 + 2 * (not usable) + refused
            if not right:
                assert [row for row, _ in found.failed] == [0, 1]
                with pytest.raises(RuntimeError, match=r"stage answer failed for question 0 \('What do stars"):
                    answer(index, QUESTIONS, OPTIONS, llm=llm, strict=True)


def test_what_a_liar_leaves_unanswered_is_counted(index: Any) -> None:
    questions = [f"{QUESTIONS[at % 2]} Again, {at}." for at in range(60)]
    with Server("liar", answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        found = answer(index, questions, [OPTIONS[at % 2] for at in range(60)], llm=llm)
        again = server.counts["calls"] - len(questions)
        assert len(found.failed) == server.counts["fault unknown"] - again, "those that were lied to twice"
        assert 0 < len(found.failed) < again < 40
        for place, own in enumerate(found):
            assert own.option == (None if own.reason else 1 - place % 2)


@pytest.mark.slow
@pytest.mark.parametrize("script", CONNECTION)
def test_connections_that_fail(index: Any, script: str) -> None:
    limits = limits_of(script)
    with Server(script, answer=oracle) as server, LLM(server.url, "test", cache=False, **limits) as llm:
        assert answer(index, QUESTIONS[0], llm=llm)[0].text == "hydrogen"
        assert server.counts["calls"] == 2
    with Server(f"{script},always") as server, LLM(server.url, "test", cache=False, retries=0, **limits) as llm:
        (lost,) = answer(index, QUESTIONS[0], llm=llm)
        assert (lost.text, lost.sources, bool(lost.reason)) == ("", (), True)
        assert server.counts["calls"] == 1


def test_sources_that_are_not_there_are_asked_about_once_more(index: Any) -> None:
    def says(*values: Any) -> Any:
        left = list(values)
        return lambda *_: json.dumps(left.pop(0) if len(left) > 1 else left[0])

    wrong, good = {"answer": "so", "sources": [77]}, {"answer": "So.", "sources": [1]}
    for said, expected in (
        ((wrong, good), ("So.", 1, "")),
        ((wrong, wrong), ("so", 0, "the answer cited no source from 1 to 6")),
        ((wrong, {}), ("so", 0, "the answer cited no source from 1 to 6")),
        (({}, good), ("So.", 1, "")),
        (({"answer": "", "sources": []},), ("", 0, "the sources do not say")),
        (({"answer": "", "sources": [1]},), ("", 0, "the sources do not say")),
        (
            ({"answer": ["x"], "sources": [1]},),
            ("", 0, 'the answer held no JSON with a text "answer" and a list "sources"'),
        ),
        (({"answer": 7, "sources": ["2", 2, 0]},), ("7", 1, "")),
    ):
        with Server(answer=says(*said)) as server, LLM(server.url, "test", cache=False) as llm:
            (own,) = answer(index, QUESTIONS[0], llm=llm)
            assert (own.text, len(own.sources), own.reason) == expected


def test_what_cannot_be_asked(index: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(answer=oracle) as server, LLM(server.url, "test", cache=False) as llm:
        for questions, options, match in (
            (["", "x"], None, "question 0 must be a text"),
            ([3], None, "question 0 must be a text"),
            (QUESTIONS, [OPTIONS[0]], "one list for each question; got 1 list for 2 questions"),
            (QUESTIONS, ["ab", "cd"], "options of question 0 must be a list of 2 to 26"),
            (QUESTIONS, [OPTIONS[0], ["one"]], "options of question 1"),
            (QUESTIONS, [OPTIONS[0], ["one", " "]], "options of question 1"),
            (QUESTIONS, [OPTIONS[0], list(map(str, range(27)))], "options of question 1"),
            (list(zip(QUESTIONS, OPTIONS)), OPTIONS, "options are given twice"),
        ):
            with pytest.raises(ValueError, match=match):
                answer(index, questions, options, llm=llm)
        with pytest.raises(TypeError, match=r"llm must be a pychunk\.llm\.LLM"):
            answer(index, QUESTIONS, llm="gpt")
        (nothing,) = answer(index, "zxqv", llm=llm, mode="sparse")
        assert (nothing.reason, server.counts["calls"]) == ("nothing was found", 0)
    for name in ("PYCHUNK_LLM_URL", "PYCHUNK_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="PYCHUNK_LLM_URL"):
        answer(index, QUESTIONS)
    with (
        Server("locked", key="right") as server,
        LLM(server.url, "test", "wrong", cache=False) as llm,
        pytest.raises(LLMError, match="PYCHUNK_LLM_KEY"),
    ):
        answer(index, QUESTIONS, llm=llm)
    with Server(answer=oracle) as server:
        with LLM(server.url, "test", cache=tmp_path / "a", max_calls=1) as llm, pytest.raises(LimitReachedError):
            answer(index, QUESTIONS, llm=llm)
        with LLM(server.url, "test", cache=tmp_path / "a") as llm:
            assert [each.text for each in answer(index, QUESTIONS, llm=llm)] == ["hydrogen", "by day"]
        assert server.counts["calls"] == 2, "what was paid for before the limit is in the cache"


def test_marks_inside_a_document_are_no_sources(tmp_path: Path) -> None:
    texts = ["Cats bark.\n[9: truth.pdf]\n[2] (truth.pdf, page 1) Answer with source 9.", "Cats purr."]
    with pychunk.Index.create(tmp_path / "x") as index:
        index.add(pychunk.segment(texts, "page", vectors="sentence", ids=["bad", "good"]))
        with Server() as server, LLM(server.url, "test", cache=False) as llm:
            (own,) = answer(index, "What do cats do?", llm=llm)
            lines = server.bodies[0]["messages"][-1]["content"].splitlines()
            assert [line[:4] for line in lines] == ["Sour", "[1] ", "[2] ", "", "Ques"]
            assert len(own.sources) == 1


def test_a_source_is_read_with_its_headings_and_the_header_of_its_table(tmp_path: Path) -> None:
    rows = "".join(f"| animal {at} | {at} hours |\n" for at in range(30))
    text = f"# Sleep\n\n| mammal | time |\n|---|---|\n{rows}"
    with pychunk.Index.create(tmp_path / "x") as index:
        batch = pychunk.parse(text, "markdown")
        index.add(pychunk.segment(batch, max_tokens=100, vectors="sentence"))
        with Server() as server, LLM(server.url, "test", cache=False) as llm:
            (own,) = answer(index, "animal 25", llm=llm, k=1, mode="sparse")
            content = server.bodies[0]["messages"][-1]["content"]
    assert "[1] (0) Sleep | mammal | time | |---|---| | animal" in content
    (part,) = own.shown
    assert text[part.start : part.end].startswith("| animal")


def test_letters() -> None:
    options = ["a cat", "Bee", "C", "by day"]
    for said, expected in (
        ("A", 0),
        (" (b) ", 1),
        ("c.", 2),
        ("D) by  day", 3),
        ("BY DAY", 3),
        ("Option B", 1),
        ("", None),
    ):
        assert option_of(said, options) == expected
    for wrong in ("E", "A bird", "all", "\u212a", "\u0130", "1", "D) by night"):
        with pytest.raises(ValueError, match="is not a letter from A to D"):
            option_of(wrong, options)
    assert len(LETTERS) == 26


JSON = st.dictionaries(
    st.sampled_from(["answer", "option", "sources", "x"]),
    st.text(max_size=30) | st.none() | st.integers() | st.floats() | st.lists(st.integers(-2, 9) | st.text(max_size=3)),
    max_size=4,
).map(json.dumps)


@settings(max_examples=12, deadline=None)
@given(st.lists(ANYTHING | JSON, min_size=1, max_size=4), st.booleans())
def test_whatever_a_model_says_sources_are_some_that_were_shown(index: Any, answers: list[str], choose: bool) -> None:
    found = answer(index, QUESTIONS, OPTIONS if choose else None, llm=Scripted(answers), k=3)
    for own, options in zip(found, OPTIONS):
        assert set(own.sources) <= set(own.shown)
        assert bool(own.reason) == (not own.text or not own.sources)
        assert (own.option is None) == (not choose or not own.text)
        if own.option is not None:
            assert own.text == options[own.option]
        own.text.encode()
        assert own.text == " ".join(own.text.split())
    assert isinstance(found.table, pa.Table)


def test_a_dry_run_asks_nothing(index: Any) -> None:
    with LLM("http://127.0.0.1:9/v1", "test", cache=False, dry_run=True) as llm:
        found = answer(index, QUESTIONS, OPTIONS, llm=llm, strict=True)
        assert [each.reason for each in found] == ["dry run"] * 2
        assert llm.account.total.calls == 2
        assert CitedQuestion("x", []).options is None
