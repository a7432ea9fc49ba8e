"""bench/papers/pic_answers.py with a server that knows the answers gives every table, with the predicted calls."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from llm_server import Server, knows_squad

pytest.importorskip("httpx2")
pytest.importorskip("faiss")

BENCH = Path(__file__).resolve().parents[3] / "bench"
SQUAD = Path(os.environ.get("PYCHUNK_DATA", "no data")) / "squad" / "dev-v2.0.json"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

ARTICLES = {
    "Cats": "Cats purr when they are content. The moon has no air. Kittens drink milk.\nDogs bark. Salt melts ice.",
    "Stars": "The sun is a star. Bread is baked in ovens. Stars burn hydrogen.\nPlanets move. Goats eat grass.",
    "Rivers": "Rivers run to the sea. Kings wore crowns. Salt makes sea water heavy.\nBoats float. Owls hunt at night.",
}
ASKED = {"Cats": ("What do kittens drink?", "milk"), "Stars": ("What do stars burn?", "the hydrogen")}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYCHUNK_LLM_MODEL", "test")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder of data; no question is about the third article."""
    (tmp_path / "squad").mkdir()
    articles = [
        {
            "title": title,
            "paragraphs": [
                {
                    "context": text,
                    "qas": [
                        {"question": question, "answers": [answer]}
                        for question, answer in [ASKED.get(title, ("Who wore hats?", "bishops"))] * (i == 0)
                    ],
                }
                for i, text in enumerate(whole.split("\n"))
            ],
        }
        for title, whole in ARTICLES.items()
    ]
    (tmp_path / "squad" / "dev-v2.0.json").write_text(json.dumps({"data": articles}))
    return tmp_path


@pytest.mark.parametrize(
    "table", ["table4", *(pytest.param(each, marks=pytest.mark.slow) for each in ("table2", "table3", "figure2a"))]
)
def test_a_table_of_few_articles(
    table: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.papers import pic_answers

    command = [table, "--data", str(data), "--encoder", "static"]
    with Server(answer=knows_squad(data / "squad" / "dev-v2.0.json")) as server:
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        pic_answers.main([*command, "--dry-run"])
        said = capsys.readouterr().out
        assert said.startswith("it would take ")
        assert server.counts["calls"] == 0
        foreseen = int(said.split()[3].replace(",", ""))
        pic_answers.main([*command, "--save", str(data / "found.json")])
        rows = json.loads((data / "found.json").read_text())[table]
        assert foreseen <= server.counts["calls"] <= foreseen + sum(row["no answer"] for row in rows), "asked again"
        assert server.counts["kind summary"] == 3
        calls = server.counts["calls"]
        pic_answers.main(command)
        assert server.counts["calls"] == calls, "all of it was in the cache"
    wanted = [(name, top) for name in pic_answers.TABLES[table] for top in pic_answers.TOP[table]]
    assert [(row["name"], row["chunks shown"]) for row in rows] == wanted
    printed = capsys.readouterr().out
    for name, top in wanted:
        assert f"{name:<34}{top:>6}" in printed
    for row in rows:
        assert row["exact match"] == row["F1"] == row["held"], "it says what it is shown"
        if row["chunks shown"] == 20 or table == "table4":  # more than the number of chunks
            assert row["held"]["mean"] == pytest.approx(2 / 3)
            assert row["no answer"] == 1


def test_what_a_model_is_shown_is_what_is_counted(data: Path) -> None:
    """Chunks of all articles are ranked by cosine, in table 4 those of the question's own; questions cut RIC's."""
    import pychunk
    from bench.papers import pic_answers
    from bench.papers.pic_tables import Remembering
    from pychunk.evaluation import datasets
    from pychunk.llm import LLM

    texts = list(ARTICLES.values())
    with Server() as server, LLM(server.url, "test", cache=False) as llm:
        squad = pic_answers.Asked(datasets.squad(data / "squad" / "dev-v2.0.json"), Remembering("static"), llm)
        made = pychunk.segment(texts, "pic", summary="llm", llm=llm, **pic_answers.WHOLE)
        assert squad.cut(pic_answers.PIC).table["text"].to_pylist() == made.texts
        other = squad.cut(pic_answers.OTHER).table["text"].to_pylist()
        assert other != made.texts
        assert server.counts["calls"] == 6, "a summary of each article, asked by either"
        model, queries = squad.encoder.model, squad.questions
        for found, question in zip(squad.found(pic_answers.PIC, 4), queries):
            scores = model.encode(made.texts) @ question
            assert [hit.text for hit in found] == [made.texts[row] for row in np.argsort(-scores, kind="stable")[:4]]
        passages = squad.cut(pic_answers.PROPOSITION).table["text"].to_pylist()
        said = model.encode([f"In full: {text[:40]}" for text in passages])
        ranked = [np.argsort(-(said @ question), kind="stable") for question in queries]
        for found, order in zip(squad.found(pic_answers.PROPOSITION, 2), ranked):
            assert [hit.text for hit in found] == [passages[row] for row in order[:2]], "found by what is said of them"
        for number, found in enumerate(squad.found_in_own(pic_answers.PROPOSITION, 2)):
            assert [hit.text for hit in found] == [passages[number]], "an article is shorter than a passage"
        assert server.counts["kind proposition"] == 3
        for number, (found, question) in enumerate(zip(squad.found_in_own(pic_answers.RIC, 9), queries)):
            cut = pychunk.segment(
                [texts[number]], "pic", summary="given", columns={"summaries": question[None]}, **pic_answers.WHOLE
            ).texts
            scores = model.encode(cut) @ question
            assert [hit.text for hit in found] == [cut[row] for row in np.argsort(-scores, kind="stable")]
            assert {hit.document_id for hit in found} == {list(ARTICLES)[number]}


def test_what_does_not_fit_is_not_held(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.papers import pic_answers

    with Server(answer=knows_squad(data / "squad" / "dev-v2.0.json")) as server:
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        save = data / "found.json"
        pic_answers.main(["table4", "--data", str(data), "--encoder", "static", "--words", "3", "--save", str(save)])
        assert server.counts["kind answer"] == 0, "no chunk has so few words with its mark"
    for row in json.loads(save.read_text())["table4"]:
        assert (row["held"]["mean"], row["exact match"]["mean"], row["no answer"]) == (0, 0, 3)


def test_a_run_that_is_stopped_goes_on(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.papers import pic_answers
    from pychunk.llm import LimitReachedError

    command = ["table2", "--data", str(data), "--encoder", "static"]
    with Server(answer=knows_squad(data / "squad" / "dev-v2.0.json")) as server:
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        with pytest.raises(LimitReachedError):
            pic_answers.main([*command, "--max-calls", "7"])
        assert f"{'sentence':<34}{5:>6}" in capsys.readouterr().out
        assert server.counts["calls"] == 7
        pic_answers.main(command)
        seen = [json.dumps(body["messages"]) for body in server.bodies]
        assert len(seen) == len(set(seen)), "nothing was asked twice"


@pytest.mark.slow
@pytest.mark.skipif(not SQUAD.is_file(), reason="no SQuAD: set PYCHUNK_DATA")
@pytest.mark.parametrize("table", ["table2", "table4"])
def test_the_column_of_squad_runs_to_its_last_row(
    table: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all articles and a server that knows the answers, exact match equals the share that was shown one."""
    from bench.papers import pic_answers

    command = [table, "--data", str(SQUAD.parents[1]), "--encoder", "static", "--questions", "60"]
    with Server(answer=knows_squad(SQUAD)) as server:
        monkeypatch.setenv("PYCHUNK_LLM_URL", server.url)
        pic_answers.main(command)
        assert server.counts["kind summary"] == 35
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.startswith(tuple(pic_answers.TABLES[table]))]
    assert [line[:34].strip() for line in rows[:: len(pic_answers.TOP[table])]] == pic_answers.TABLES[table]
    assert len(rows) == len(pic_answers.TABLES[table]) * len(pic_answers.TOP[table])
    for line in rows:
        exact, f1, held = (line[at : at + 26].strip() for at in (40, 66, 92))
        assert exact == f1 == held
        assert 0.2 < float(exact.split()[0]) < 1  # propositions: the script repeats the beginning of passages
