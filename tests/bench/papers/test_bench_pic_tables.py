"""bench/papers/pic_tables.py has on short articles every table and row, with intervals and the paper's figures."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk.evaluation import datasets

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

ARTICLES = {
    "Cats": "Cats purr when they are content. The moon has no air. Kittens drink milk.\nDogs bark. Salt melts ice.",
    "Stars": "The sun is a star. Bread is baked in ovens. Stars burn hydrogen.\nPlanets move. Goats eat grass.",
    "Rivers": "Rivers run to the sea. Kings wore crowns. Salt makes sea water heavy.\nBoats float. Owls hunt at night.",
}
ASKED = {
    "Cats": ("What do kittens drink?", "milk"),
    "Stars": ("What do stars burn?", "hydrogen"),
    "Rivers": ("What is heavy?", "sea water"),
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of data; the scripts can be imported."""
    articles = [
        {
            "title": title,
            "paragraphs": [
                {"context": text, "qas": [{"question": ASKED[title][0], "answers": [ASKED[title][1]]}] * (i == 0)}
                for i, text in enumerate(whole.split("\n"))
            ],
        }
        for title, whole in ARTICLES.items()
    ]
    for folder in ("squad", "wiki"):
        (tmp_path / folder).mkdir()
    (tmp_path / "squad" / "dev-v2.0.json").write_text(json.dumps({"data": articles}))
    pq.write_table(pa.table({"text": list(ARTICLES.values())}), tmp_path / "wiki" / "articles.parquet")
    return tmp_path


def intervals_in(value: object) -> list[dict[str, float]]:
    if isinstance(value, dict):
        found = [each for cell in value.values() for each in intervals_in(cell)]
        return [value] if set(value) == {"mean", "low", "high"} else found
    return [each for cell in value for each in intervals_in(cell)] if isinstance(value, list) else []


@pytest.mark.slow
def test_the_tables_are_complete(
    data: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench.papers import pic_tables

    save = data / "found.json"
    arguments = ["--data", data, "--encoder", tiny_encoder, "--sample", 2, "--save", save]
    monkeypatch.setattr(sys, "argv", ["pic_tables.py", "--processes", "1", *map(str, arguments)])
    pic_tables.main()
    saved, printed = json.loads(save.read_text()), capsys.readouterr().out
    names = {table: [row["name"] for row in saved[table]] for table in pic_tables.TABLES}
    assert names == pic_tables.TABLES
    assert {name for own in names.values() for name in own} == set(pic_tables.CUTS)
    assert [line.split("  ")[1] for line in printed.splitlines() if "54.6, 65.7" in line] == [pic_tables.OTHER]
    assert not [line for line in printed.splitlines() if line.startswith("  PIC, extractive") and "58.4" in line]
    for cell in intervals_in(saved):
        assert cell["low"] <= cell["mean"] <= cell["high"]
    hits = {row["name"]: row["modes"]["recipe"]["hits@5"]["mean"] for own in names for row in saved[own]}
    assert hits["paragraph"] == 1  # a paragraph has six words
    for row in saved["differences"]:
        assert row["recipe hits@5"]["mean"] == pytest.approx(hits[row["name"]] - hits[row["minus"]])
    assert [row["found by"] for row in saved["relevant chunks"]] == ["recipe", "hybrid"]
    assert [(row["method"], row["cut by"], row["articles"]) for row in saved["lengths over Wikipedia"]] == [
        ("sentence", "", 3),
        ("paragraph", "", 3),
        ("fixed, 100 words", "", 3),
        ("semantic, percentile 20", "static", 3),
        ("PIC, extractive", "static", 3),
        ("semantic, percentile 20", str(tiny_encoder), 2),
        ("PIC, extractive", str(tiny_encoder), 2),
    ]
    words = [len(line.split()) for text in ARTICLES.values() for line in text.split("\n")]
    paragraph = saved["lengths over Wikipedia"][1]
    assert paragraph["chunks"] == 6
    assert paragraph["words"]["mean"] == pytest.approx(np.mean(words))
    assert paragraph["std"]["mean"] == pytest.approx(np.std(words))
    for way in (saved["RIC"][:3], saved["RIC"][3:]):
        assert [row["cut by"] for row in way] == ["RIC", "PIC", "RIC minus PIC"]
        for measure in ("hits@1", "hits in 250 words", "hits in 500 words", "words in top 1", "words in top 5"):
            ric, pic, minus = (row[measure]["mean"] for row in way)
            assert minus == pytest.approx(ric - pic)
        assert way[0]["hits in 500 words"]["mean"] == 1  # 500 words are more than the article has


def test_another_summary_is_that_of_another_article(data: Path) -> None:
    from bench.papers import pic_tables

    file = data / "squad" / "dev-v2.0.json"
    squad = pic_tables.Squad(datasets.squad(file), pic_tables.Remembering("static"), pic_tables.titles(file))
    texts, own = list(ARTICLES.values()), squad.summaries()
    order = pic_tables.derangement(3)
    made = pychunk.segment(
        texts,
        "pic",
        summary="given",
        columns={"summaries": own[order], "sentence_vectors": squad.sentences},
        **pic_tables.WHOLE,
    )
    assert squad.cut(pic_tables.OTHER).table["text"].to_pylist() == made.texts
    assert squad.cut(pic_tables.PIC).table["text"].to_pylist() != made.texts


def test_a_derangement_leaves_nothing_in_its_place(data: Path) -> None:
    from bench.papers.pic_tables import derangement

    for seed in range(20):
        order = derangement(7, seed)
        assert sorted(order) == list(range(7))
        assert (order != np.arange(7)).all()
    assert derangement(2).tolist() == [1, 0]
    with pytest.raises(ValueError, match="among two or more; got 1"):
        derangement(1)


def test_words_are_counted_down_the_ranking(data: Path) -> None:
    from bench.papers import pic_ric

    texts = ["one two", "three four five", "six"] + ["none"] * 3
    words = np.array([240, 20, 241, 1, 1, 1])
    found = pic_ric.measured(texts, words, np.array([3.0, 2.0, 1.0, 0.5, 0.4, 0.3]), ["six"])
    assert dict(zip(pic_ric.MEASURES, found)) == {
        "hits@1": 0,
        "hits@5": 1,
        "hits in 250 words": 0,
        "hits in 500 words": 0,
        "words in top 1": 240,
        "words in top 5": 503,
    }
    found = pic_ric.measured(texts, words, np.array([3.0, 2.0, 1.0, 0.5, 0.4, 0.3]), ["four"])
    assert found[2:4] == [0, 1]
