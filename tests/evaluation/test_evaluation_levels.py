"""Documents at several levels as rows of the harness: what a search of those levels finds, and its cost."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("faiss")

from command_line import invoke
from test_evaluation import ASKED, TEXTS, answered

import pychunk
from pychunk.evaluation import hierarchies, runner
from pychunk.evaluation.reports import costs
from pychunk.evaluation.systems import Encoder
from pychunk.index import Bm25, Ranking, Rewrite
from pychunk.llm import LLM

LEVELS = ["sentence", "paragraph", "document"]
NAMED = "+".join(LEVELS)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder("static")


@pytest.mark.parametrize(
    ("plan", "mode"),
    [("sentence+paragraph", "hybrid"), ("document", "sparse"), ("rules", "dense"), (None, "hybrid, rewritten")],
)
def test_rows_are_what_a_search_at_those_levels_finds(
    plan: str | None, mode: str, tmp_path: Path, encoder: Encoder
) -> None:
    data = answered()
    chunked = hierarchies.by_levels({"levels": NAMED, "plan": plan}, data, encoder)
    vectors = encoder.encode([question.text for question in data.questions])
    how = runner.Strategy("hybrid", rewrite="feedback") if "," in mode else mode
    found = runner.retrieve(chunked, data, encoder, how, vectors, {"bm25": Bm25(stemmer="english")})
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk", bm25=Bm25(stemmer="english")) as index:
        index.add(pychunk.segment_levels(TEXTS, LEVELS, vectors="chunk", ids=data.ids).chunks())
        texts = np.array(index.table["text"].to_pylist())
        told = {"rules": Ranking(planner="rules"), None: Ranking(levels=("sentence", "document"))}.get(
            plan, Ranking(levels=(str(plan).split("+")[0], str(plan).split("+")[-1]))
        )
        stages = [Rewrite("feedback")] if "," in mode else []
        lists = index.search([q for q, *_ in ASKED], 5, mode.split(",")[0], ranking=told, stages=stages)
    own = np.array(chunked.table["text"].to_pylist())
    for row, hits in zip(found.rows, lists, strict=True):
        best = row[row >= 0][:5]
        assert [hit.text for hit in hits][: len(best)] == own[best].tolist()
        assert len(best) > 0
    assert sorted(texts) == sorted(own)
    about = hierarchies.chosen(chunked, found.rows, found.planned)
    assert all(sum(about[part].values()) == pytest.approx(1) for part in ("hits", "finest", "coarsest"))
    assert about["words a hit"] > 0
    assert (found.planned.milliseconds is None) == (plan != "rules")


def test_rows_with_costs_and_levels(encoder: Encoder) -> None:
    data = answered()
    makers = [
        lambda: hierarchies.by_levels({"levels": NAMED, "pooling": "compressor", "plan": "learned"}, data, encoder, "h")
    ]
    results = runner.run(data, makers, encoder, ["hybrid", "recipe"], {"bm25": Bm25(stemmer="english")})
    for row in results["rows"]:
        assert row["cost"]["ms a plan"] > 0
        assert row["cost"]["index seconds"] > 0
        assert set(row["levels"]["finest"]) == set(LEVELS)
        assert row["levels"]["plans that failed"] == 0
    assert results["rows"][1]["cost"]["encoder tokens"] > results["rows"][0]["cost"]["encoder tokens"]
    json.dumps(results)


def test_a_planner_that_asks_a_model_has_its_price(encoder: Encoder) -> None:
    pytest.importorskip("httpx2")
    from llm_server import Server

    data = answered()

    def answer(*_: object) -> str:
        return json.dumps({"low": "sentence", "high": "paragraph"})

    with Server(answer=answer) as server, LLM(server.url, "test", cache=False, price=(2.0, 10.0)) as llm:
        makers = [lambda: hierarchies.by_levels({"levels": NAMED, "plan": "llm"}, data, encoder, "h", llm)]
        (row,) = runner.run(data, makers, encoder, ["sparse"], {}, account=llm.account)["rows"]
        total = llm.account.total
    assert row["levels"]["coarsest"]["paragraph"] == 1
    cost = row["cost"]
    assert cost["LLM tokens"] == cost["LLM cost"] == 0
    assert cost["LLM tokens a question"] == (total.tokens_in + total.tokens_out) / len(ASKED) > 0
    assert cost["LLM cost of 1,000 questions"] == pytest.approx(1000 * total.cost / len(ASKED))
    assert "LLM cost" in costs.columns([row])


def test_what_is_no_hierarchy(encoder: Encoder) -> None:
    data = answered()
    with pytest.raises(
        ValueError,
        match="plan must be one of fixed, rules, learned, llm, the folder of a planner, or one or two of the levels",
    ):
        hierarchies.by_levels({"levels": NAMED, "plan": "document+sentence"}, data, encoder)
    with pytest.raises(ValueError, match="unknown level 'chapter'"):
        hierarchies.by_levels({"levels": "sentence+chapter"}, data, encoder)
    with pytest.raises(ValueError, match="cannot be compared by boundaries"):
        hierarchies.by_levels({}, replace(data, kind="boundaries"), encoder)


def test_the_command_prints_them_within_its_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps({"question": q, "answers": [a], "document": TEXTS[d]}) for q, d, a in ASKED]
    file, page = tmp_path / "q.jsonl", tmp_path / "out.html"
    file.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "80")
    done = invoke(
        ["eval", str(file), "-m", "sentence", "-m", f"hierarchy:levels={NAMED},plan=rules", "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "hierarchy:levels=sentence+paragraph+document,plan=rules, hybrid" in done.stdout
    assert "For each level: % of the best five hits" in done.stdout
    assert "ms a plan" in done.stdout
    assert "<h3>Levels</h3>" in page.read_text(encoding="utf-8")
    refused = invoke(["eval", str(file), "-m", "hierarchy:plan=best"])
    assert refused.exit_code == 2
    assert "one or two of the levels" in refused.output
