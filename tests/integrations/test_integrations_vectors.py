"""The recipes of docs/integrations.md for other vector stores find the sentence that an index finds."""

import ast
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import blocks

import pychunk

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"
TEXTS = {
    "cats": "Cats purr when they are content.\nThey sleep by day; at night they hunt mice. Kittens drink milk.",
    "stars": "The sun is a star. Stars burn hydrogen.\tAstronomers look at them through telescopes.",
    "it's": "Bread is baked of flour and water. Its crust is \\N brown. A baker gets up before dawn.",
    "naïve": "Trains run on rails. Їжак їсть яблука. The station has two platforms.",
}
QUESTIONS = [
    "What do stars burn?",
    "Who hunts mice?",
    "What is bread made of?",
    "Where do trains stop?",
    "When do bakers rise?",
]


@pytest.mark.parametrize("need", ["duckdb", "lancedb", "qdrant_client", "psycopg"])
def test_the_sentence_that_an_index_finds(
    need: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    pytest.importorskip(need)
    if need == "psycopg":
        for name, value in request.getfixturevalue("postgres").items():
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    recipe = next(block for block in reversed(blocks(PAGE)) if block.needs == need)
    options: dict[str, Any] = {"ids": list(TEXTS), "method": "sentence"}
    chunks = pychunk.segment(list(TEXTS.values()), **options, vectors="chunk").table
    with pychunk.Index.create(tmp_path / "an.idx") as index:
        index.add(pychunk.segment(list(TEXTS.values()), **options, vectors="sentence"))
        hits = [found[0] for found in index.search(QUESTIONS, k=1, mode="dense")]
    assert len({hit.text for hit in hits}) == len(QUESTIONS)
    for question, hit in zip(QUESTIONS, hits):
        names = {"chunks": chunks, "question": pychunk.embed(question, task="query")}
        capsys.readouterr()
        exec(compile(recipe.text, str(PAGE), "exec"), names)
        found = ast.literal_eval(capsys.readouterr().out)
        found = found[0] if isinstance(found, list) else found
        found = tuple(found.values()) if isinstance(found, dict) else found
        assert found[:3] == (hit.document_id, hit.start, hit.text)
