"""Rows, table, page and command line of an evaluation with judged chunks, next to the counts."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke
from llm_server import Server
from rich.console import Console

pytest.importorskip("faiss")
pytest.importorskip("httpx2")

from pychunk.evaluation import systems
from pychunk.evaluation.datasets import Dataset, Question
from pychunk.evaluation.judge_rows import NAMES, judged_rows
from pychunk.evaluation.judges.dataset_counts import counted
from pychunk.evaluation.reports import report
from pychunk.index import Bm25
from pychunk.llm import LLM
from pychunk.llm.verdicts import shown

TEXTS = [
    f"Cats number {row} purr when they are content. The kittens of cat {row} are blind at birth.\n\n"
    f"However, the river {row} rises in the hills. Its water {row} flows to the south. Every river {row} needs rain."
    for row in range(6)
]
ENCODER = systems.Encoder("static")


def data(kind: str = "answers", **question: Any) -> Dataset:
    asked = [Question(f"What do cats do, {row}?", row, **question) for row in range(6)]
    return Dataset("small", kind, [str(row) for row in range(6)], TEXTS, asked)  # type: ignore[arg-type]  # a literal


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"PYCHUNK_LLM_{name}", raising=False)


def chunked(data: Dataset) -> systems.SystemChunks:
    return systems.by_method("sentence", {}, data, ENCODER)


def test_what_a_data_set_knows_of_its_chunks() -> None:
    own = data(answers=("purr",))
    made = chunked(own)
    every, texts = np.arange(made.table.num_rows), made.table["text"].to_pylist()
    assert [text[:4] for text in texts[:5]] == ["Cats", "The ", "Howe", "Its ", "Ever"]
    complete = counted("completeness", made, every, own, ENCODER)
    assert not complete.any(), "sentences cut their paragraphs"
    whole = systems.by_method("paragraph", {}, own, ENCODER)
    rows = np.arange(whole.table.num_rows)
    assert counted("completeness", whole, rows, own, ENCODER)[:4].tolist() == [True, False, True, False]
    assert counted("context_switch", made, every, own, ENCODER).sum() == 0, "a sentence has no turn inside"
    one = systems.by_method("fixed", {"size": 500}, own, ENCODER)
    assert counted("context_switch", one, np.arange(6), own, ENCODER).all()
    assert counted("noise", made, every, own, ENCODER) is None
    assert counted("task", made, every, own, ENCODER).tolist() == ["purr" in text for text in texts]
    spans = data("references", spans=((0, 10),))
    assert counted("task", made, every, spans, ENCODER).tolist() == [text.startswith("Cats") for text in texts]
    page = data("pages", paragraph=(0, 70), page=1, answers=("A",))
    assert counted("task", made, every[:5], page, ENCODER).tolist() == [True, True, False, False, False]
    strict = data(paragraph=(84, 99), answers=("purr",))
    assert not counted("task", made, every, strict, ENCODER).any(), "the words of an answer elsewhere"
    assert counted("task", made, every, data("boundaries"), ENCODER) is None


def oracle(name: str, own: Dataset, made: systems.SystemChunks) -> Any:
    rows = np.arange(made.table.num_rows)
    known = dict(zip(map(shown, made.table["text"].to_pylist()), counted(name, made, rows, own, ENCODER)))

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, object]) -> str:
        said = [{"id": number, "verdict": "yes" if known[text] else "no"} for number, text in units]
        return json.dumps({"verdicts": said})

    return answer


def test_rows_hold_what_is_said_beside_what_is_counted() -> None:
    own = data(answers=("purr", "rain"))
    made = chunked(own)
    with Server(answer=oracle("task", own, made)) as server, LLM(server.url, "test", cache=False) as llm:
        (row,) = judged_rows(llm, ["task"], made, own, ENCODER, most=25)
        assert server.counts["calls"] == 3
    assert (row["name"], row["judge"], row["better"]) == ("sentence", "task", "more")
    assert (row["asked"], row["abstained"], row["faults"]) == (25, 0, {})
    assert row["share"]["mean"] == row["counted"] > 0
    assert row["kappa"] == {"mean": 1, "low": 1, "high": 1}
    with pytest.raises(ValueError, match="no judge 'style'"):
        judged_rows(llm, ["style"], made, own, ENCODER)


@pytest.mark.slow
def test_retrieval_is_judged_for_each_way_to_find_chunks() -> None:
    own = data(answers=("purr",))
    made = chunked(own)

    def answer(kind: str, units: list[tuple[int, str]], body: dict[str, object]) -> str:
        user = body["messages"][-1]["content"]
        if kind == "judge_questions":
            return json.dumps({"questions": [user.split("Chunk: ")[1]]})
        asked = user.split("\n")[0].removeprefix("Question: ")
        said = [{"id": number, "verdict": 4 if text == asked else 1} for number, text in units]
        return json.dumps({"verdicts": said})

    with Server(answer=answer) as server, LLM(server.url, "test", cache=False) as llm:
        rows = judged_rows(llm, ["retrieval"], made, own, ENCODER, ["sparse", "dense"], {"bm25": Bm25()}, most=10)
        assert server.counts["kind judge_questions"] == 20  # without a cache; with one they are asked once
        assert server.counts["kind judge_relevance"] == 20
    assert [row["name"] for row in rows] == ["sentence, sparse"] * 3 + ["sentence, dense"] * 3
    assert [row["judge"] for row in rows[:3]] == [f"weighted precision@{k}" for k in (1, 3, 5)]
    assert (rows[0]["share"]["mean"], rows[0]["counted"], rows[0]["asked"]) == (1, 1, 10), "a text finds itself"
    assert (rows[2]["asked"], rows[2]["abstained"]) == (50, 0)
    assert rows[2]["share"]["mean"] == pytest.approx((4 + 4) / 20)
    assert rows[2]["kappa"]["mean"] > 0.8


def run(*arguments: str) -> Any:
    return invoke(["eval", *arguments])


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [{"question": "What do cats do?", "answers": ["purr"], "document": text} for text in TEXTS]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "questions.jsonl"


def test_eval_asks_judges(tmp_path: Path, questions: Path) -> None:
    judge = ["--judge", "noise,context-switch", "--judge-chunks", "20", "--mode", "sparse", "-m", "sentence"]
    with Server() as server:
        flags = ["--llm-url", server.url, "--llm-model", "test"]
        done = run(str(questions), *judge, *flags, "--dry-run")
        assert (done.exit_code, server.counts["calls"]) == (0, 0), done.output
        assert "nothing was asked; it would take at most 4 calls" in done.stderr
        out, page = tmp_path / "out.json", tmp_path / "out.html"
        done = run(str(questions), *judge, *flags, "--json", str(out), "--html", str(page))
        assert done.exit_code == 0, done.output
        assert server.counts["calls"] == 4
        assert "4 calls, 0 cached" in done.stderr
    line = next(line for line in done.stdout.splitlines() if "context_switch" in line)
    assert re.search(r"^sentence\s+context_switch\s+0\.000 .* 20\s+0\s", line)
    judged = json.loads(out.read_text())["judged"]
    assert [(row["judge"], row["asked"], row["counted"]) for row in judged] == [
        ("noise", 20, None),
        ("context_switch", 20, 0),
    ]
    assert judged[1]["kappa"] == {"mean": None, "low": None, "high": None}, "both say no of all: there is no kappa"
    assert "Judged by a model" in page.read_text()


def test_eval_says_what_is_wrong_with_judges(questions: Path) -> None:
    done = run(str(questions), "--judge", "noise,style")
    assert done.exit_code == 2
    assert (
        "--judge must be one or more of noise, completeness, context-switch, task, retrieval, answers, with commas; "
        "got 'style'" in done.stderr
    )
    done = run(str(questions), "--judge", "noise")
    assert done.exit_code == 2
    assert "PYCHUNK_LLM_URL" in done.stderr
    assert [name.replace("_", "-") for name in NAMES] == [
        "noise",
        "completeness",
        "context-switch",
        "task",
        "retrieval",
    ]


def test_the_report_shows_dashes_for_what_is_not_known() -> None:
    results = {"judged": [{"name": "a<b", "judge": "noise", "better": "less", "share": None, "kappa": None}]}
    text = io.StringIO()
    report.print_table(results, Console(file=text, width=200))
    assert re.search(r"a<b\s+noise(\s+–){5}", text.getvalue())
    assert "a&lt;b" in report.html(results)
    results["judged"][0] |= {"abstained": 3, "faults": {"missing": 1, "no answer": 2}, "reasons": ["it was empty"]}
    report.print_table(results, Console(file=text, width=200))
    assert "a<b, noise: 1 missing, 2 no answer: it was empty" in text.getvalue()
    assert "3 (1 missing, 2 no answer: it was empty)" in report.html(results)
    assert "Judged by a model" not in report.html({})
