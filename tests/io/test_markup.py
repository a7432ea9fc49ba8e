"""Texts in memory and in tables that are Markdown or HTML."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.io import open_source

MARKDOWN = "# Cats\n\nThey purr & sleep.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
PAGE = "<html><head><meta charset='latin1'><title>Pets</title></head><body><h1>Cats</h1><p>Grüße, 猫.</p></body></html>"


def files_of(folder: Path, texts: dict[str, str]) -> list[Path]:
    paths = [folder / name for name in texts]
    for path, text in zip(paths, texts.values()):
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize(("markup", "name", "text"), [("markdown", "a.md", MARKDOWN), ("html", "a.html", PAGE)])
def test_a_text_is_parsed_as_a_file_is(tmp_path: Path, markup: str, name: str, text: str) -> None:
    text = text.replace("<meta charset='latin1'>", "")  # A file's declaration counts, that of a text does not.
    read = pychunk.read(files_of(tmp_path, {name: text}))
    for kind in (markup, "auto"):
        parsed = pychunk.parse([text], kind)
        assert parsed.source.select(["text", "blocks", "title", "removed"]) == read.source.select(
            ["text", "blocks", "title", "removed"]
        )
    assert pychunk.segment(parsed).table["path"].to_pylist() == pychunk.segment(read).table["path"].to_pylist()


def test_a_page_in_memory_is_unicode_whatever_it_declares() -> None:
    assert "Grüße, 猫." in pychunk.parse(PAGE, "html").texts[0][0].as_py()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_markdown_stays_as_it_is(texts: list[str]) -> None:
    parsed = pychunk.parse(texts, "markdown")
    assert pa.chunked_array(parsed.texts, pa.large_string()).to_pylist() == texts
    for chunk in pychunk.segment(parsed):
        assert texts[chunk.document_index][chunk.start : chunk.end] == chunk.text


def test_ids_and_columns_of_a_table_stay() -> None:
    table = pa.table({"body": [MARKDOWN, "Plain."], "name": ["a", "b"], "year": [2001, 2002]})
    chunks = pychunk.segment(pychunk.parse(table, column="body", ids="name"), metadata_columns=["year"])
    assert [(each["document_id"], each["path"], each["year"]) for each in chunks.table.to_pylist()] == [
        ("a", ["Cats"], 2001),
        ("b", [], 2002),
    ]
    assert "document_id" not in pychunk.segment(pychunk.parse(["One.", "Two."])).table.column_names
    with pytest.raises(ValueError, match="string columns are: body, name"):
        pychunk.parse(table)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_rows_of_tables_are_parsed(tmp_path: Path, suffix: str) -> None:
    table = pa.table({"id": ["a", "b"], "text": [MARKDOWN, PAGE]})
    path = tmp_path / f"rows.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif suffix == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path)
    else:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)
    read = pychunk.read(path, markup="auto")
    assert read.source.select(["text", "blocks", "title", "removed"]) == pychunk.parse(table).source.select(
        ["text", "blocks", "title", "removed"]
    )
    assert "blocks" not in pychunk.read(path).source.column_names


def test_a_row_that_cannot_be_parsed_is_a_dead_letter(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in [("a", ""), ("b", PAGE)]))
    letters: list[pychunk.io.DeadLetter] = []
    (batch,) = open_source(path, markup="html", dead_letters=letters.append)
    assert batch.table["id"].to_pylist() == ["b"]
    assert [(each.source, each.position) for each in letters] == [("a", "text")]
    with pytest.raises(ValueError, match="a, text: no text"):
        pychunk.parse(["", PAGE], "html", ids=["a", "b"])


def test_an_unknown_markup_is_named(tmp_path: Path) -> None:
    for call in (lambda: pychunk.parse("x", "rst"), lambda: open_source(tmp_path, markup="rst")):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="markup must be one of 'auto', 'markdown', 'html'; got 'rst'"):
            call()


def test_a_table_keeps_no_second_column_of_a_name_that_parsing_makes() -> None:
    table = pa.table({"text": [MARKDOWN], "blocks": ["mine"]})
    with pytest.raises(ValueError, match="parsing makes a column 'blocks', and the table has one: rename it or drop"):
        pychunk.parse(table, "markdown")
    again = pychunk.parse(table.drop_columns(["blocks"]).append_column("title", pa.array(["My pets"])), "markdown")
    assert again.source["title"].to_pylist() == ["My pets"]
