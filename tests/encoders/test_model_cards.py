"""Cards of the shipped models equal the output of their script on the facts next to them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pychunk
from pychunk.encoders.files import model_dir
from training import nsp
from training.cards import multilingual_card, nsp_card
from training.cards.__main__ import cards

FOLDER = Path(pychunk.__file__).parent / "models"


@pytest.mark.parametrize(
    "file",
    [
        "static.md",
        "nsp_static.md",
        "topic.md",
        "noise.md",
        "planner.md",
        "rank.md",
        "compressor.md",
        "compressor-minilm/compressor.md",
        multilingual_card.FOLDER / "README.md",
        multilingual_card.FOLDER / "topic.md",
        multilingual_card.FOLDER / "rank.md",
        multilingual_card.FOLDER / "nsp_static.md",
        nsp_card.FOLDER / "README.md",
    ],
    ids=str,
)
def test_a_card_is_what_its_script_writes(file: str | Path) -> None:
    written = cards(FOLDER)[FOLDER / file]
    assert (FOLDER / file).read_text(encoding="utf-8") == written, "python -m training.cards"


def test_every_model_has_a_card() -> None:
    """A model is a file of facts; those of the catalogue are downloaded."""

    def model(path: Path) -> str:
        return path.stem if path.parent == FOLDER else path.parent.name

    facts = {*FOLDER.glob("*.json"), *FOLDER.glob("*/*.json")} - {FOLDER / "catalogue.json", FOLDER / "tokenizers.json"}
    assert {model(path) for path in facts} == {model(path) for path in cards(FOLDER)} - {nsp_card.FOLDER.name}


def test_the_card_and_the_readme_say_what_was_aimed_at() -> None:
    facts = model_dir.read(nsp_card.FOLDER)
    found = facts.notes["metrics"]["int8"]["all"]
    text = nsp_card.card(facts)
    readme = Path(__file__).resolve().parents[2] / "README.md"
    for measure, aimed in nsp_card.AIMED.items():
        assert f"{aimed}" in text
        assert f"{found[measure]:.3f}" in text
        if readme.is_file():
            for share in (f"{100 * found[measure]:.1f} %", f"{100 * aimed:.3g} %"):
                assert share in readme.read_text(encoding="utf-8")
    reached = {"int8": {"all": {**found, **nsp_card.AIMED}}}
    assert "aimed" not in nsp_card.card(replace(facts, notes={**facts.notes, "metrics": reached}))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the next-sentence cross-encoder, as if two articles had been held out."""
    pytest.importorskip("onnxruntime")
    shutil.copytree(nsp_card.FOLDER, tmp_path / "nsp")
    facts = model_dir.read(tmp_path / "nsp")
    model_dir.write_facts(tmp_path / "nsp", replace(facts, notes={**facts.notes, "held_out_articles": 2}))
    text = " ".join(f"Sentence number {i} of this article says what the one before it left out." for i in range(9))
    pq.write_table(pa.table({"id": ["1", "2", "3"], "text": [text, text[40:], text[90:]]}), tmp_path / "three.parquet")
    return tmp_path


def evaluate(copy: Path, seed: int) -> dict:
    arguments = ["--articles", copy / "three.parquet", "--held-out", 2, "--seed", seed, "--out", copy / "nsp"]
    assert nsp.main(["--evaluate", *map(str, arguments)]) == 0
    return json.loads((copy / "nsp" / "pychunk.json").read_text())["notes"]


@pytest.mark.slow
def test_evaluate_writes_the_facts_and_the_card(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsp, "HELD_OUT_PAIRS", 16)
    before = model_dir.read(copy / "nsp").notes
    after = evaluate(copy, 0)
    assert after["metrics"]["float"] == before["metrics"]["float"]  # those weights are not there
    assert set(after["metrics"]["int8"]) == {"all", "whole", "whole_share"}
    assert (after["held_out_pairs"], after["commands"]) == (16, before["commands"])
    card = (copy / "nsp" / "README.md").read_text(encoding="utf-8")
    assert card == nsp_card.card(model_dir.read(copy / "nsp"))
    assert '"whole" are the 100% of them' in card


@pytest.mark.slow
def test_figures_of_other_articles_are_not_written(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nsp, "HELD_OUT_PAIRS", 16)
    before = model_dir.read(copy / "nsp").notes
    assert evaluate(copy, 1) == before
