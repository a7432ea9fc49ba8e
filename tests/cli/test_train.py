"""The command for what users fit on their own data."""

from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke

import pychunk
from pychunk.cli.train import TRAINERS
from pychunk.index import Bm25, Rerank
from pychunk.index.index import Index


@pytest.mark.parametrize("name", TRAINERS)
def test_every_trainer_says_what_it_takes(name: str) -> None:
    shown = invoke(["train", name, "--help"])
    assert shown.exit_code == 0
    assert f"usage: pychunk train {name} " in shown.output
    assert f"  {name} " in invoke(["train", "--help"]).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "--out", "o", "--articles", "none.parquet"], "error: no articles at none.parquet: pass --articles"),
        pytest.param(
            ["planner", "--out", "o", "--data", "none"],
            "error: no articles at none/wiki/articles.parquet: pass --data",
            marks=pytest.mark.skipif(find_spec("torch") is None, reason="needs torch"),
        ),
        (["static"], "pychunk train static: error: the following arguments are required: --out"),
        (["rank", "--out", "o", "--stepps", "3"], "unrecognized arguments: --stepps 3"),
        (["other"], "No such command"),
    ],
)
def test_errors_say_what_to_do(arguments: list[str], said: str) -> None:
    out = invoke(["train", *arguments])
    assert out.exit_code == 2
    assert said in out.output


@pytest.mark.slow
def test_weights_of_a_reranker_from_a_few_articles(articles: list[str], tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    pytest.importorskip("Stemmer")
    table = pa.table({"id": [str(row) for row in range(120)], "text": articles[:120]})
    pq.write_table(table, tmp_path / "articles.parquet")
    arguments = ["--articles", tmp_path / "articles.parquet", "--out", tmp_path / "own", "--steps", 20]
    out = invoke(["train", "rank", *map(str, arguments)])
    assert out.exit_code == 0, out.output
    assert {file.name for file in (tmp_path / "own").iterdir()} == {"rank.json", "rank.npz"}
    with Index.create(tmp_path / "i", bm25=Bm25(stemmer="english")) as index:
        index.add(pychunk.segment(["Cats purr.", "Dogs bark."], vectors="sentence"))
        index.save()
        assert index.search("Why do cats purr?", k=1, stages=Rerank(str(tmp_path / "own")))[0][0].text == "Cats purr."
