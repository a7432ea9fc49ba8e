"""The command line's input and output formats, its errors, and its behaviour in a pipe."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_files import TEXTS, command, inputs, rows_of
from command_line import invoke


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow", "in.jsonl", "in.jsonl.gz", "in.jsonl.zst"])
@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".arrow"])
def test_every_format_round_trips(tmp_path: Path, name: str, ending: str) -> None:
    source = inputs(tmp_path)[name]
    output = tmp_path / f"out{ending}"
    arguments = ["segment", str(source), "--column", "text", "--id-column", "id", "-m", "sentence", "-o", str(output)]
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    rows = rows_of(output)
    assert [row["document_id"] for row in rows] == ["a", "a", "a", "b", "b"]
    for row in rows:
        assert TEXTS["ab".index(row["document_id"])][row["start"] : row["end"]] == row["text"]


def test_text_files_and_standard_input_are_listed_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[0])
    listed = invoke(["segment", str(tmp_path / "a.txt"), "-m", "sentence"]).output
    assert "Dogs [bold]bark[/bold] at night." in listed
    assert "\x1b" not in listed
    piped = invoke(["segment", "-", "-m", "sentence"], input=TEXTS[0]).output
    assert piped == listed.replace(f"document {tmp_path / 'a.txt'},", "document -,")


def test_limit(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    source = str(inputs(tmp_path)["in.parquet"])
    assert invoke(["segment", source, "--column", "text", "--limit", "1", "-o", str(output)]).exit_code == 0
    assert {row["document_index"] for row in rows_of(output)} == {0}


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_no_documents_make_a_table_without_rows(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in.jsonl").write_text("")
    result = invoke(["segment", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / f"out{ending}")])
    assert result.exit_code == 0, result.output
    assert rows_of(tmp_path / f"out{ending}") == []


def test_titles_and_summaries_come_from_a_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"title": ["Stars", "Cats"], "text": TEXTS}), tmp_path / "in.parquet")
    found = {}
    ways = {
        "titles": ["--column", "titles=title"],
        "summaries": ["--column", "summaries=title"],
        "itself": ["-m", "pic:summary=title"],  # a column of this name is used by default
        "short": ["-m", "pic:summary=given", "--column", "summaries=title"],
    }
    for name, arguments in ways.items():
        output = tmp_path / f"{name}.jsonl"
        call = ["segment", str(tmp_path / "in.parquet"), "--column", "text", "--no-keep-together", "--min-tokens", "0"]
        result = invoke([*call, *arguments, "-o", str(output)])
        assert result.exit_code == 0, result.output
        found[name] = rows_of(output)
    # A title is a summary that a file's reader already has.
    assert found["titles"] == found["summaries"] == found["itself"] == found["short"]
    assert next(row for row in found["titles"] if "star" in row["text"])["relevance"] == "relevant"


def test_columns_of_a_file_are_kept_and_say_where_pages_begin(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "One. Two.", "year": 2021, "pages": [0, 5]},
        {"id": "b", "text": "Three.", "pages": [0]},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = [
        "--ids",
        "id",
        "--metadata-columns",
        "year",
        "--metadata-columns",
        "pages",
        "--column",
        "page_starts=pages",
        "-m",
        "page",
    ]
    result = invoke(["segment", str(tmp_path / "in.jsonl"), "--column", "text", *arguments, "-o", "-"])
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["document_id"], row["text"], row["page"], row["year"], row["pages"]) for row in found] == [
        ("a", "One.", 1, 2021, [0, 5]),
        ("a", "Two.", 2, 2021, [0, 5]),
        ("b", "Three.", 1, None, [0]),
    ]
    assert "2 documents, 3 chunks" in result.stderr


@pytest.mark.slow
def test_a_pipe_that_is_closed_early_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("One sentence. " * 50_000)
    command = f"{sys.executable} -m pychunk segment {tmp_path}/in.txt -m sentence -o - | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["text"] == "One sentence."
    assert "Traceback" not in done.stderr
    assert "error" not in done.stderr


def test_methods_and_version() -> None:
    listed = invoke(["methods"]).output
    assert all(name in listed for name in ("pic", "semantic", "cluster", "recursive"))
    assert not re.search(r"`|:[a-z]+:", listed), "marks of a docstring"
    said = "Cuts number the sentences of pychunk.split_sentences(), or of the column sentence_spans"
    assert said in " ".join(listed.split())
    assert invoke(["--version"]).output.startswith("pychunk 0.")


@pytest.mark.slow
def test_methods_are_explained_in_lines_of_the_terminals_width() -> None:
    wide = command("methods", COLUMNS="400").stdout.splitlines()
    assert any("PIC's baseline is size=100" in line and line.startswith("Greedy runs") for line in wide)
    assert max(map(len, command("methods", COLUMNS="60").stdout.splitlines())) <= 60


def test_methods_are_explained_one_by_one_as_the_command_line_takes_them() -> None:
    shown = invoke(["methods", "semantic", "pic"]).output
    assert "semantic  threshold=percentile:20, window=1\n" in shown
    assert "pic  summary=extractive, k=0.0, summaries_out=false\n" in shown
    assert "Without -m" in " ".join(shown.split())
    assert "recursive  size" not in shown
    wrong = invoke(["methods", "nope"])
    assert (wrong.exit_code, "there is no method 'nope'; the methods are pic" in wrong.output) == (2, True)


def test_a_listing_without_chunks_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    done = invoke(["segment", str(tmp_path / "empty.txt")])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing to show, because no document has text" in done.stderr
