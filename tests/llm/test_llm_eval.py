"""pychunk eval with an LLM: rewritten queries, contexts of chunks, reranking and answers, as rows."""

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from llm_server import Server

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

from command_line import invoke

from pychunk.evaluation import datasets

DATA = Path(os.environ.get("PYCHUNK_DATA", "no data"))
THINGS = ["cats", "dogs", "stars", "bread", "rust", "salt"]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    for name in ("URL", "MODEL", "KEY"):
        monkeypatch.delenv(f"PYCHUNK_LLM_{name}", raising=False)


def flags(server: Server) -> list[str]:
    return ["--llm-url", server.url, "--llm-model", "test"]


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    rows = [
        {"question": f"What is number {at}?", "answers": [thing], "document": f"Number {at} is {thing}. And so on."}
        for at, thing in enumerate(THINGS)
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "questions.jsonl"


@pytest.fixture
def leaflets(tmp_path: Path) -> Path:
    folder = tmp_path / "leaflets"
    folder.mkdir()
    columns = ["Question", "Doc_ID", "Page_Num", "Correct_Answer", *"ABCDEF"]
    with (folder / "questions.csv").open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["Question_ID", *columns])
        for at in range(len(THINGS)):
            options = THINGS[at:] + THINGS[:at]
            table.writerow([at, f"What is number {at}?", f"{at % 2}.pdf", at // 2 + 1, "A", *options])
    for even in (0, 1):
        pages = [f"Number {at} is {thing}.\n===== Page {at // 2 + 1} =====\n" for at, thing in enumerate(THINGS)]
        (folder / f"{even}.txt").write_text("".join(pages[even::2]))
    return folder


def oracle(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str | None:
    """Answer all but number 5, for which it gives no answer, or a wrong one."""
    text = body["messages"][-1]["content"]
    found = re.search(r"number (\d)\?", text)
    number = int(found[1]) if found else -1
    if kind in ("answer", "choice"):
        sources = [place for place, line in units if f"Number {number} is" in line]
        if kind == "choice":
            return json.dumps({"option": "A" if number < 5 else "B", "sources": sources})
        return json.dumps({"answer": f"The {THINGS[number]}." if number < 5 else "", "sources": sources})
    if kind == "hyde":
        return f"Number {number} is {THINGS[number]}." if number < 5 else ""
    if kind == "relevance":
        return "yes" if f"Number {number} is" in text else "no"
    return None


def measures(path: Path) -> dict[str, dict[str, float]]:
    found = json.loads(path.read_text())
    return {row["name"]: {name: each["mean"] for name, each in row["measures"].items()} for row in found["rows"]}


@pytest.mark.slow
def test_rows_and_answers_of_questions(squad: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = ["eval", str(squad), "-m", "sentence", "--mode", "sparse", "--rewrite", "none", "--rewrite", "hyde"]
    command += ["--augment", "none", "--augment", "context:llm", "--rerank", "logprob", "--depth", "4", "--answer"]
    with Server(answer=oracle) as server:
        done = invoke([*command, *flags(server), "--dry-run"])
        assert done.exit_code == 0, done.output
        assert (server.counts["calls"], "nothing was asked" in done.stderr) == (0, True)
        done = invoke([*command, *flags(server), "--json", str(out)])
        assert done.exit_code == 0, done.output
        assert server.counts["kind chunk_context"] == 12, "two chunks of six documents, once"
        assert server.counts["kind hyde"] == 6
        said = " ".join(done.stdout.split())  # lines are as wide as the terminal
        assert "1 question was searched unchanged, because the model gave no usable rewriting of it" in said
        assert "1 answer lacks text or sources; question 5: the sources do not say" in said
        assert " calls" in done.stderr
        rows = measures(out)
        assert len(rows) == 4
        assert sum("augment=context:llm, rewrite=hyde" in name for name in rows) == 1
        for own in rows.values():
            assert own["hits@1"] == 1, "the reranker knows the right one"
            assert (own["answer exact match"], own["answer F1"]) == (pytest.approx(5 / 6), pytest.approx(5 / 6))
        calls = server.counts["calls"]
        assert invoke([*command, *flags(server)]).exit_code == 0
        assert server.counts["calls"] == calls, "all of it was in the cache"


def test_the_score_of_pages(leaflets: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = ["eval", str(leaflets), "-m", "page", "--mode", "sparse", "--rewrite", "multi", "--answer"]
    with Server(answer=oracle) as server:
        done = invoke([*command, *flags(server), "--json", str(out)])
        assert done.exit_code == 0, done.output
        (own,) = measures(out).values()
        assert own["answer accuracy"] == pytest.approx(5 / 6)
        # half for five of six answers; the oracle cites the right page of each
        assert own["UNLP score"] == pytest.approx((5 * 1.0 + 0.5) / 6)
        assert (server.counts["kind choice"], server.counts["kind multi"]) == (6, 6)


def test_what_cannot_be_measured(squad: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.jsonl"
    bare.write_text(json.dumps({"question": "What?", "answers": [], "document": "This."}))
    with Server(answer=oracle) as server:
        done = invoke(["eval", str(bare), "-m", "sentence", "--answer", *flags(server)])
        assert done.exit_code != 0
        assert server.counts["calls"] == 0
    done = invoke(["eval", str(squad), "-m", "sentence", "--answer"])
    assert "PYCHUNK_LLM_URL" in done.output
    done = invoke(["eval", str(squad), "-m", "sentence", "--max-cost", "1"])
    assert "--rewrite hyde or multi, --answer, --judge" in done.stderr
    # a rewriting function without requests needs no endpoint, and ranks no longer refuse it
    done = invoke(["eval", str(squad), "-m", "sentence", "--mode", "sparse", "--rewrite", "feedback"])
    assert done.exit_code == 0, done.output


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "unlp2026").is_dir(), reason="no leaflets: set PYCHUNK_DATA")
def test_an_oracle_on_real_leaflets_scores_what_was_found(tmp_path: Path) -> None:
    """It answers if it is shown the gold page, and names that; so the answers' share is that of pages shown."""
    data = datasets.load(DATA / "unlp2026", 40)
    gold = {" ".join(each.text.split()): each for each in data.questions}

    def knows(kind: str, units: list[tuple[int, str]], body: dict[str, Any]) -> str | None:
        text = body["messages"][-1]["content"]
        own = next(each for question, each in gold.items() if f"Question: {question}\n" in text)
        sources = [place for place, line in units if line.startswith(f"({data.ids[own.document]}, page {own.page})")]
        letter = "ABCDEF"[own.options.index(own.answers[0])] if sources else ""
        return json.dumps({"option": letter, "sources": sources})

    out = tmp_path / "out.json"
    command = ["eval", str(DATA / "unlp2026"), "-m", "page", "--mode", "sparse", "--limit", "40", "--answer"]
    with Server(answer=knows) as server:
        done = invoke([*command, *flags(server), "--json", str(out)])
        assert done.exit_code == 0, done.output
        assert server.counts["kind choice"] == 40
    (own,) = measures(out).values()
    assert own["UNLP score"] == own["answer accuracy"]
    assert 0.5 < own["page recall@1"] <= own["answer accuracy"] <= own["page recall@10"]
