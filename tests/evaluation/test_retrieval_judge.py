"""Questions that an LLM makes, grades of a search's hits, weighted precision, agreement with counts."""

import json
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import Server

pytest.importorskip("httpx2")

from pychunk.evaluation.judges.retrieval_judge import HitGrades, grade, judge_retrieval
from pychunk.llm import LLM, Response
from pychunk.llm.question_generation import make_questions, read

#: The chunks of 12 documents, 4 each of 10 characters; the last two of each are one span in two halves.
TEXTS = [f"Chunk {document:02d}-{at}" for document in range(12) for at in range(4)]
TABLE = pa.table(
    {
        "text": TEXTS,
        "document_index": np.repeat(np.arange(12), 4),
        "start": np.tile([0, 10, 20, 25], 12),
        "end": np.tile([10, 20, 30, 35], 12),
    }
)


def client(server: Server, **more: object) -> LLM:
    return LLM(server.url, "test", **{"cache": False, "retries": 1, **more})


def said(pairs: list[tuple[object, object]]) -> str:
    return json.dumps({"verdicts": [{"id": number, "verdict": verdict} for number, verdict in pairs]})


def search(questions: Sequence[str], k: int) -> np.ndarray:
    """Return the chunk that a question names and those after it, fewer at the end."""
    rows = np.array([TEXTS.index(f"Chunk {question[9:13]}") for question in questions])[:, None] + np.arange(k)
    return np.where(rows < len(TEXTS), rows, -1)


def by_spans(asked: str, text: str) -> int:
    """Return grades by hand: 4 for the chunk itself, 3 for half of it, 1 for the same document, 0 for another."""
    one, other = asked.split()[1].rstrip("?"), text.split()[1]
    if one == other:
        return 4
    halves = {one[-1], other[-1]} == {"2", "3"}
    return 0 if one[:2] != other[:2] else 3 if halves else 1


def oracle(kind: str, units: list[tuple[int, str]], body: dict[str, object]) -> str:
    user = body["messages"][-1]["content"]
    if kind == "judge_questions":
        return json.dumps({"questions": [user.split("Chunk: ")[1].replace("Chunk", "Where is") + "?"]})
    assert kind == "judge_relevance"
    asked = user.split("\n")[0].removeprefix("Question: ").replace("Where is", "Chunk")
    return said([(number, by_spans(asked, text)) for number, text in units])


def test_an_oracle_agrees_with_spans() -> None:
    with Server(answer=oracle) as server, client(server) as llm:
        found = judge_retrieval(llm, TABLE, search, sample=20, k=4, seed=3)
        assert server.counts == {**server.counts, "kind judge_questions": 20, "kind judge_relevance": 20, "calls": 40}
    assert [TEXTS[row].replace("Chunk", "Where is") + "?" for row in found.sources] == found.questions
    assert found.graded.grades.tolist() == found.counted.tolist()
    assert (found.agreement.kappa, found.without, found.graded.abstained) == ((1, 1, 1), 0, 0)
    assert found.graded.grades[:, 0].tolist() == [4] * 20
    assert set(found.counted.ravel().tolist()) == {0, 1, 3, 4} | ({-1} if (found.graded.hits < 0).any() else set())
    by_hand = np.maximum(found.counted, 0)[:, :3].sum(axis=1) / 12
    assert found.graded.precisions(3).tolist() == by_hand.tolist()
    assert found.graded.weighted_precision(3).mean == pytest.approx(by_hand.mean())
    assert found.graded.weighted_precision(1) == (1, 1, 1)


def test_the_order_of_hits_is_drawn_by_seed_and_undone() -> None:
    seen = []
    for seed in (0, 1, 0, None):
        with Server(answer=oracle) as server, client(server, concurrency=1) as llm:
            found = grade(
                llm, ["Where is 03-2?", "Where is 11-3?"], [[14, 15, 0, 2], [47, -1, 3, -1]], TEXTS, seed=seed
            )
            assert found.grades.tolist() == [[4, 3, 0, 0], [4, -1, 0, -1]]
            seen.append([body["messages"][-1]["content"] for body in server.bodies])
    assert seen[0] == seen[2] != seen[1]
    assert seen[3][0].splitlines()[2:] == ["[1] Chunk 03-2", "[2] Chunk 03-3", "[3] Chunk 00-0", "[4] Chunk 00-2"]


def test_weighted_precision_by_hand() -> None:
    grades, hits = np.array([[4, 2, -1], [0, -1, 4], [-1, -1, -1]]), np.array([[0, 1, -1], [0, 1, 2], [0, 1, 2]])
    found = HitGrades(grades, hits, np.array([0, 0, 1]), {}, {})
    # a missing hit is irrelevant; one without a grade does not count
    assert found.precisions(3)[:2].tolist() == [6 / 12, 4 / 8]
    assert found.precisions(5)[:2].tolist() == [6 / 20, 4 / 16]
    assert np.isnan(found.precisions(1)[2])
    assert found.precisions(1)[:2].tolist() == [1, 0]
    assert found.weighted_precision(3).mean == 0.5
    assert found.abstained == 4
    with pytest.raises(ValueError, match="k must be at least 1"):
        found.precisions(0)


def test_strict_grades() -> None:
    bad = said([(1, 4), (2, "3"), (3, 5), (4, 2.0), (5, "two"), (6, True), (7, 0), (7, 0)])
    with Server(answer=lambda kind, units, body: bad) as server, client(server) as llm:
        found = grade(llm, ["Why?"], [list(range(8))], TEXTS, seed=None)
        assert found.grades.tolist() == [[4, 3, -1, -1, -1, -1, -1, -1]]
        assert found.faults == {"missing": 1, "other word": 4, "twice": 1}


def test_a_dry_run_predicts_the_calls() -> None:
    with Server(answer=oracle) as server:
        with client(server, dry_run=True) as llm:
            judge_retrieval(llm, TABLE, search, sample=20, k=5)
            expected = llm.account.stages
        with client(server) as llm:
            judge_retrieval(llm, TABLE, search, sample=20, k=5)
            for stage, counts in llm.account.stages.items():
                assert counts.calls == expected[stage].calls == 20
                assert counts.tokens_in <= expected[stage].tokens_in
        assert server.counts["calls"] == 40


@pytest.mark.parametrize("answer", ["", "no idea", '{"questions": [1]}', '{"questions": ["' + "x" * 500 + '"]}'])
def test_a_chunk_without_a_question_is_counted(answer: str) -> None:
    with Server(answer=lambda kind, units, body: answer) as server, client(server) as llm:
        found = judge_retrieval(llm, TABLE, search, sample=5)
        assert len(found.reasons) == 1
        assert (found.questions, found.without, found.counted.shape) == ([], 5, (0, 5))
        assert np.isnan(found.graded.weighted_precision(5)).all()
        assert np.isnan(found.agreement.kappa).all()
        assert server.counts["calls"] == 10, "each once more, with the fault named"


def test_a_chunk_may_hold_nothing_to_ask_about() -> None:
    with Server(answer=lambda kind, units, body: '{"questions": []}') as server, client(server) as llm:
        made = make_questions(llm, TEXTS[:3], each=2)
        assert (made.texts, made.faults, server.counts["calls"]) == ([], [], 3)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=60) | st.lists(st.none() | st.integers() | st.text(max_size=5), max_size=5), st.integers(1, 3))
def test_any_answer_gives_questions_or_a_fault(answer: object, each: int) -> None:
    class Scripted(LLM):
        def stream(self, asks: object) -> object:
            return (Response(answer if isinstance(answer, str) else json.dumps({"questions": answer})) for _ in asks)

    made = make_questions(Scripted("http://nowhere/v1", "test", cache=False), ["a", "b"], each=each)
    assert len(made.texts) == len(made.rows) <= 2 * each
    assert all(text.strip() == text != "" for text in made.texts)
    assert read('{"questions": ["half a character: \\ud83d"]}', 1)[0].encode() == b"half a character: ?"
    assert read('{"questions": ["B?", "a?", "A?", "b?"]}', 3) == ["B?", "a?"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda llm: grade(llm, ["a"], [[0], [1]], TEXTS), "hits must be \\[questions, k\\]"),
        (lambda llm: grade(llm, ["a"], [[999]], TEXTS), "hits must be from 0 to 47, the number of a text"),
        (lambda llm: grade(llm, ["a"], [[0]], TEXTS, [1, 2]), "documents must have one entry for each question"),
        (lambda llm: judge_retrieval(llm, TABLE, search, k=0), "k must be a whole number"),
        (lambda llm: judge_retrieval(llm, TABLE.drop_columns(["start"]), search), "missing: start"),
        (lambda llm: make_questions(llm, ["a"], each=0), "each must be a whole number"),
    ],
)
def test_bad_arguments(change: Callable[[LLM], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        change(LLM("http://nowhere/v1", "test", cache=False))
