"""The command line: formats in and out, errors, and what a pipe sees."""

import ast
import gzip
import importlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from command_line import invoke
from fuzz.writes import Case, FailingDisk, unavailable
from rich.console import Console

from pychunk.cli import train
from pychunk.cli.main import app
from pychunk.cli.shared.batches import progress_bar
from pychunk.cli.shared.consoles import errors, say
from pychunk.cli.shared.errors import in_flags

TEXTS = ["Cats purr. Dogs [bold]bark[/bold] at night. The sun is a star.", "Second document. It is short."]


def inputs(folder: Path) -> dict[str, Path]:
    """The same documents in every format with columns."""
    table = pa.table({"id": ["a", "b"], "text": TEXTS})
    pq.write_table(table, folder / "in.parquet")
    with pa.ipc.new_file(folder / "in.arrow", table.schema) as sink:
        sink.write_table(table)
    lines = "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in zip("ab", TEXTS)).encode()
    (folder / "in.jsonl").write_bytes(lines)
    (folder / "in.jsonl.gz").write_bytes(gzip.compress(lines))
    with pa.CompressedOutputStream(str(folder / "in.jsonl.zst"), "zstd") as stream:
        stream.write(lines)
    return {path.name: path for path in folder.iterdir()}


def rows_of(path: Path) -> list[dict]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all().to_pylist()


@pytest.mark.parametrize("name", ["in.parquet", "in.arrow", "in.jsonl", "in.jsonl.gz", "in.jsonl.zst"])
@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".arrow"])
def test_every_format_round_trips(tmp_path: Path, name: str, ending: str) -> None:
    source = inputs(tmp_path)[name]
    output = tmp_path / f"out{ending}"
    arguments = ["segment", str(source), "--column", "text", "--id-column", "id", "-m", "sentence", "-o", str(output)]
    result = invoke(arguments)
    assert result.exit_code == 0, result.output
    rows = rows_of(output)
    assert [row["id"] for row in rows] == ["a", "a", "a", "b", "b"]
    for row in rows:
        assert TEXTS["ab".index(row["id"])][row["start"] : row["end"]] == row["text"]


def test_text_files_and_standard_input_are_listed_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXTS[0])
    listed = invoke(["segment", str(tmp_path / "a.txt"), "-m", "sentence"]).output
    assert "Dogs [bold]bark[/bold] at night." in listed
    assert "\x1b" not in listed
    piped = invoke(["segment", "-", "-m", "sentence"], input=TEXTS[0]).output
    assert piped == listed.replace(f"document {tmp_path / 'a.txt'},", "document -,")


def test_the_list_of_commands_is_whole_at_80_columns() -> None:
    listed = invoke(["--help"], terminal_width=80).output.partition("Commands:")[2].strip().splitlines()
    assert listed[0].split()[0] == "segment"
    assert len(listed) == 13  # one line each
    assert not [line for line in listed if line.endswith("...")]


@pytest.mark.parametrize(
    "text", ["done", "a\tb", "two\nlines", "", "bell\a, back\b and \rreturn", "ціна [bold]5 €[/bold] 🙂"]
)
def test_without_a_terminal_lines_are_those_that_rich_prints(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    say(text, "yellow")
    plain = capsys.readouterr().err
    say(text, "yellow", console=errors())
    assert plain == capsys.readouterr().err


def test_limit(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    source = str(inputs(tmp_path)["in.parquet"])
    assert invoke(["segment", source, "--column", "text", "--limit", "1", "-o", str(output)]).exit_code == 0
    assert {row["document"] for row in rows_of(output)} == {0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.parquet"], "no such file"),
        (["x.doc"], "unknown kind of file"),
        (["absent.doc"], "no such file"),
        (["in.parquet", "--column", "no"], "column 'no' is not there; the columns are id, text"),
        (["in.parquet", "-m", "best"], "unknown method 'best'"),
        (["in.parquet"], "the string columns are: id, text"),
        (["in.parquet", "--column", "text", "-o", "x.pdf"], "unknown kind of output"),
        (["in.parquet", "--column", "text", "-m", "semantic", "--threshold", "a:b"], "threshold must be a number"),
        (["in.parquet", "--column", "text", "-m", "fixed:size=3", "--size", "4"], "size is said twice"),
        (["in.parquet", "--column", "text", "-m", "given"], "method given takes its cuts from Python"),
        (["in.parquet", "--column", "text", "--titles", "no"], "column 'no' is not there"),
        (["in.parquet", "--column", "text", "-m", "pic:summary=title"], "method 'pic' needs --titles"),
        (["in.parquet", "--column", "text", "--encoder", "best"], "unknown encoder 'best'"),
        (["in.parquet", "--column", "text", "--max-tokens", "many"], "--max-tokens must be a number"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    found = inputs(tmp_path)
    table = pa.table({"id": ["a", "b"], "text": TEXTS, "other": TEXTS}).rename_columns(["id", "text", "other"])
    if message.startswith("the string"):
        pq.write_table(table.rename_columns(["id", "body", "other"]).drop_columns("other"), found["in.parquet"])
        message = "the string columns are: id, body"
    (tmp_path / "x.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    monkeypatch.chdir(tmp_path)
    result = invoke(["segment", *arguments])
    assert result.exit_code == 2
    assert message in result.output.replace("\n", "") or message in result.stderr.replace("\n", "")


def test_a_failed_run_leaves_what_was_there(tmp_path: Path) -> None:
    table = pa.table({"text": ["fine.", None]})
    pq.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / "out.jsonl"
    output.write_text("before")
    result = invoke(["segment", str(tmp_path / "in.parquet"), "-o", str(output)])
    assert result.exit_code == 2
    assert output.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.jsonl"]


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
        "titles": ["--titles", "title"],
        "summaries": ["--summaries", "title"],
        "itself": ["-m", "pic:summary=title"],  # a column of this name is taken unasked
        "short": ["--summary", "given", "--summaries", "title"],
    }
    for name, arguments in ways.items():
        output = tmp_path / f"{name}.jsonl"
        call = ["segment", str(tmp_path / "in.parquet"), "--column", "text", "--no-atoms", "--min-tokens", "0"]
        result = invoke([*call, *arguments, "-o", str(output)])
        assert result.exit_code == 0, result.output
        found[name] = rows_of(output)
    # A title is a summary that the reader of a file already has.
    assert found["titles"] == found["summaries"] == found["itself"] == found["short"]
    assert next(row for row in found["titles"] if "star" in row["text"])["kind"] == "relevant"


def test_columns_of_a_file_are_kept_and_say_where_pages_begin(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "One. Two.", "year": 2021, "pages": [0, 5]},
        {"id": "b", "text": "Three.", "pages": [0]},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["--ids", "id", "--keep", "year", "--keep", "pages", "--page-starts", "pages", "-m", "page"]
    result = invoke(["segment", str(tmp_path / "in.jsonl"), "--column", "text", *arguments, "-o", "-"])
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["id"], row["text"], row["page"], row["year"], row["pages"]) for row in found] == [
        ("a", "One.", 1, 2021, [0, 5]),
        ("a", "Two.", 2, 2021, [0, 5]),
        ("b", "Three.", 1, None, [0]),
    ]
    assert "2 documents, 3 chunks" in result.stderr


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
    assert "Sentences are those of pychunk.sentences(), or of sentence_spans=" in " ".join(listed.split())
    assert invoke(["--version"]).output.startswith("pychunk 0.")


@pytest.mark.parametrize(
    ("word", "place", "found"), [("se", 1, ["segment", "search"]), ("segment --meth", 2, ["--method"])]
)
def test_a_shell_completes_commands_and_options(word: str, place: int, found: list[str]) -> None:
    said = {"_PYCHUNK_COMPLETE": "complete_bash", "COMP_WORDS": f"pychunk {word}", "COMP_CWORD": str(place)}
    assert command(**said).stdout.split() == found


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_that_of_the_shell_that_asks() -> None:
    # which is found among the parents of the process: the colon keeps this one there
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m pychunk --show-completion; :"], capture_output=True, text=True, cwd=os.sep
    )
    assert "_PYCHUNK_COMPLETE=complete_bash" in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["itself", "link", "hard", "dot", "standard input"])
@pytest.mark.parametrize("overwrite", [[], ["--overwrite"]])
def test_an_output_that_is_an_input_is_refused(tmp_path: Path, name: str, overwrite: list[str]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "Cats purr."}\n')
    output, given = {
        "itself": (source, str(source)),
        "link": (tmp_path / "link.jsonl", str(source)),
        "hard": (tmp_path / "hard.jsonl", str(source)),
        "dot": (tmp_path / "x" / ".." / "in.jsonl", str(source)),
        "standard input": (source, "-"),
    }[name]
    (tmp_path / "x").mkdir()
    if name == "link":
        output.symlink_to(source)
    if name == "hard":
        output.hardlink_to(source)
    before = source.read_bytes()
    (tmp_path / "first.txt").write_text("Dogs bark.")
    arguments = ["segment", str(tmp_path / "first.txt"), given, "-o", str(output), *overwrite]
    if given == "-":
        with source.open("rb") as stdin:
            command = [sys.executable, "-m", "pychunk", *arguments]
            done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, cwd=tmp_path)
        status, told = done.returncode, done.stderr
    else:
        status, _, told, _ = invoke(arguments)
    assert (status, "which would be lost: name another output" in told) == (2, True), told
    assert source.read_bytes() == before
    assert output.is_symlink() == (name == "link")


def test_what_is_there_is_replaced_only_with_overwrite(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Cats purr.")
    target = tmp_path / "target.jsonl"
    target.write_text("mine\n")
    (tmp_path / "out.jsonl").symlink_to(target)
    for output in (target, tmp_path / "out.jsonl"):
        arguments = ["segment", str(tmp_path / "in.txt"), "-o", str(output)]
        done = invoke(arguments)
        assert done.exit_code == 2
        assert "is there already: name another output, or replace it with --overwrite" in done.output
        assert target.read_text() == "mine\n"
        assert invoke([*arguments, "--overwrite"]).exit_code == 0
        assert [row["text"] for row in rows_of(target)] == ["Cats purr."]
        target.write_text("mine\n")
    assert (tmp_path / "out.jsonl").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.jsonl", "target.jsonl"]
    (tmp_path / "nowhere.jsonl").symlink_to(tmp_path / "absent.jsonl")
    for name, message in (("nowhere.jsonl", "link to nothing"), ("folder.jsonl", "is a folder")):
        (tmp_path / "folder.jsonl").mkdir(exist_ok=True)
        done = invoke(["segment", str(tmp_path / "in.txt"), "-o", str(tmp_path / name), "--overwrite"])
        assert done.exit_code == 2
        assert message in done.output


@pytest.mark.parametrize(
    "ending", [".parquet", *(pytest.param(e, marks=pytest.mark.slow) for e in (".jsonl", ".arrow"))]
)
def test_a_full_disk_leaves_the_output_as_it_was(tmp_path: Path, ending: str) -> None:
    (tmp_path / "in.txt").write_text(" ".join(f"Sentence {i} of the cats that purr." for i in range(5000)))
    output = tmp_path / f"out{ending}"
    output.write_text("mine\n")
    code = (
        "import resource, signal, sys; from pychunk.cli.main import app; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); app(sys.argv[1:])"
    )
    arguments = ["segment", str(tmp_path / "in.txt"), "-m", "sentence", "-o", str(output), "--overwrite"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert output.read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", output.name]


def test_other_commands_replace_nothing_unasked(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("mine\n")
    (tmp_path / "pychunk.json").write_text("{}")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Cats purr.")
    mine = str(tmp_path / "mine.json")
    for arguments, message in (
        (["eval", "absent.json", "--json", mine], "--overwrite"),
        (["eval", "absent.json", "--html", mine], "--overwrite"),
        (["eval", mine, "--html", mine, "--overwrite"], "which would be lost"),
        (["bench", "--save", mine], "--overwrite"),
        (["bench", "--compare", mine, "--save", mine, "--overwrite"], "which would be lost"),
        (["export", "./absent", "-o", str(tmp_path)], "--overwrite"),
        (["index", str(tmp_path / "notes" / "a.md"), "-o", str(tmp_path / "notes")], "holds other files"),
    ):
        done = invoke(arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output
    assert (tmp_path / "mine.json").read_text() == "mine\n"
    assert [path.name for path in (tmp_path / "notes").iterdir()] == ["a.md"]


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    result = invoke(["segment", *arguments, "-m", "sentence", "-o", str(folder / "out.jsonl"), "--overwrite"])
    return result.exit_code, result.output


def test_what_cannot_be_read_is_named_by_file_and_line_or_left_out(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b'{"text": "One."}\n{broken\n{"text": "\xff"}\nnull\n{"text": null}\n{"text": 5}\n{"text": "Two."}\n'
    )
    status, said = run(tmp_path, str(path))
    assert (status, f"{path}, line 2: expected a key" in said) == (2, True)
    status, said = run(tmp_path, str(path), "--on-error", "skip")
    assert status == 0
    assert [int(line) for line in re.findall(rf"left out {path}, line (\d+): ", said)] == [2, 3, 4, 5, 6]
    assert "5 left out" in said
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["One.", "Two."]


def test_a_row_that_is_no_text_is_named_with_the_remedy(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array([b"One.", b"no\xff", None], pa.binary())})
    pq.write_table(table, path := tmp_path / "in.parquet")
    status, said = run(tmp_path, str(path), "--column", "text")
    assert status == 2
    assert f"{path}, row 2: invalid UTF-8 at byte 2; mend it, or pass --on-error skip" in said
    status, said = run(tmp_path, str(path), "--column", "text", "--on-error", "skip")
    assert (status, f"left out {path}, row 2: invalid UTF-8 at byte 2" in said) == (0, True)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"%PDF-1.7\n%\xe2\xe3", "a PDF, not text"),
        ("a.md", b"PK\x03\x04\x14\0", "a ZIP archive"),
        ("a.txt", "text".encode("utf-16"), "UTF-16"),
        ("a.txt", "text".encode("utf-16-le"), "UTF-16"),
        ("a.txt", b"fine, but \xff", "invalid UTF-8 at byte 10"),
    ],
)
def test_what_is_no_text_is_called_what_it_is(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "b.txt").write_text("One.")
    status, said = run(tmp_path, str(tmp_path / name), str(tmp_path / "b.txt"))
    assert (status, message in said, str(tmp_path / name) in said) == (2, True, True)
    status, said = run(tmp_path, str(tmp_path / name), str(tmp_path / "b.txt"), "--on-error", "skip")
    assert (status, message in said) == (0, True)
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["One."]


def test_a_text_in_another_encoding_is_told_of_the_option(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Café.".encode("latin-1"))
    status, said = run(tmp_path, str(path))
    advice = "it may be cp1252, which is a guess: pass --encoding cp1252; mend it, or pass --on-error skip"
    assert (status, advice in " ".join(said.split())) == (2, True)
    status, said = run(tmp_path, str(path), "--encoding", "cp1252")
    assert [row["text"] for row in rows_of(tmp_path / "out.jsonl")] == ["Café."]


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("a.txt", "“Quoted” – it costs 5 €… done.\n", "cp1252"),
        ("a.md", "Все счастливые семьи похожи друг на друга, каждая несчастливая семья", "koi8_u"),
        ("a.txt", "北京是中国的首都，有很多人住在那里。这是一个测试，看看能不能猜出来。", "gb18030"),
        ("a.txt", "東京は日本の首都であり、多くの人が住んでいます。", "cp932"),
        ("a.csv", "id,text\n1,Müßig – “so”\n", "cp1252"),
        ("a.jsonl", '{"text": "Где оборванец-жид, боль моя, где ты, старый знакомый?"}\n', "cp1251"),
        ("a.csv", "id,text\n1,Hello there.\n", "utf-16"),
        ("a.jsonl", '{"text": "Hello there."}\n', "utf-16-le"),
        ("a.txt", "Привіт, світе! Як справи?", "utf-16-be"),
        ("a.txt", "Hello there.", "utf-32-le"),
    ],
)
def test_the_advice_names_the_encoding_by_a_guess(tmp_path: Path, name: str, text: str, encoding: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    status, said = run(tmp_path, str(path))
    assert (status, f"pass --encoding {encoding};" in " ".join(said.split())) == (2, True), said
    assert ("a guess" in said) == (not encoding.startswith("utf"))
    status, said = run(tmp_path, str(path), "--encoding", encoding)
    assert status == 0, said
    assert next(row["text"] for row in rows_of(tmp_path / "out.jsonl")).strip() in text


def test_latin_1_that_is_windows_1252_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("“Quoted” – it costs 5 €".encode("cp1252"))
    status, said = run(tmp_path, str(tmp_path / "a.txt"), "--encoding", "latin-1")
    assert status == 0
    assert "byte 0x93 is a control character in latin-1" in said
    assert "pass --encoding cp1252" in said


@pytest.mark.parametrize(
    "data", [random.Random(5).randbytes(500), b"\x7fOOP\0\x9c\x01\x02" * 9, "é ".encode() * 9 + b"\xff"]
)
def test_no_encoding_is_advised_of_what_has_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bin.txt").write_bytes(data)
    status, said = run(tmp_path, str(tmp_path / "bin.txt"))
    assert (status, "--encoding" in said) == (2, False), said


def test_a_folder_is_read_file_by_file_whatever_their_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("One.")
    (folder / "sub" / "b.jsonl").write_text('{"text": "Two.", "id": "007"}\n')
    (folder / "c.csv").write_text("id,text\n1,Three.\n")
    (folder / "d.png").write_bytes(b"\x89PNG")
    status, said = run(tmp_path, str(folder))
    assert status == 0, said
    assert f"not read, of no known kind or another: {folder / 'd.png'}" in said
    assert [(row["id"], row["text"]) for row in rows_of(tmp_path / "out.jsonl")] == [
        ("007", "Two."), ("1", "Three."), (str(folder / "a.md"), "One.")
    ]  # fmt: skip
    status, said = run(tmp_path, str(tmp_path / "nothing"))
    assert (status, "no such file, or a folder without files" in said) == (2, True)


def test_inputs_of_several_kinds_make_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One.")
    (tmp_path / "b.jsonl").write_text('{"text": "Two.", "id": 7, "n": 1}\n')
    pq.write_table(pa.table({"text": ["Three."], "n": ["x"]}), tmp_path / "c.parquet")
    given = [str(tmp_path / name) for name in ("a.md", "b.jsonl", "c.parquet")]
    for ending in (".parquet", ".jsonl", ".arrow", ".csv"):
        output = tmp_path / f"out{ending}"
        done = invoke(["segment", *given, "--column", "text", "-m", "sentence", "-o", str(output)])
        assert done.exit_code == 0, done.output
        if ending != ".csv":
            found = [(row["id"], row["text"]) for row in rows_of(output)]
            assert found == [(given[0], "One."), ("7", "Two."), (f"{given[2]}#1", "Three.")]
    done = invoke(["segment", *given, "--column", "text", "--id-column", "key", "-o", str(tmp_path / "no.jsonl")])
    assert done.exit_code == 2
    assert f"{given[2]}: column 'key' is not there; the columns are text, n" in done.output
    assert not (tmp_path / "no.jsonl").exists()


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pychunk", *arguments],
        capture_output=True, text=True, cwd=os.sep, env={**os.environ, **environment}, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [["backend"], ["segment", "-"]])
def test_an_impossible_instruction_set_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("One. Two.")
    run = command(*(str(text) if argument == "-" else argument for argument in arguments), PYCHUNK_ISA="sse9")
    assert run.returncode == 2
    assert re.fullmatch(r"error: PYCHUNK_ISA must be one of: baseline.* on this CPU; got 'sse9'\n", run.stderr)
    code = [sys.executable, "-c", "import pychunk; pychunk.segment('One.')"]
    env = {**os.environ, "PYCHUNK_ISA": "sse9"}
    run = subprocess.run(code, capture_output=True, text=True, cwd=os.sep, env=env)
    assert run.stderr.count("Traceback") == 1
    assert "PYCHUNK_ISA must be one of: baseline" in run.stderr.splitlines()[-1]


@pytest.mark.parametrize("package", ["numpy", "pyarrow", "typer"])
def test_an_interrupt_while_the_command_loads_says_nothing(package: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("raise KeyboardInterrupt")
    run = command("methods", PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")
    code = [sys.executable, "-c", "import pychunk, typer"]  # a program that uses pychunk sees its interrupt
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(code, capture_output=True, text=True, cwd=os.sep, env=env)
    assert run.stderr.endswith("KeyboardInterrupt\n")


def test_methods_are_explained_in_lines_of_the_terminals_width() -> None:
    wide = command("methods", COLUMNS="400").stdout.splitlines()
    assert any("PIC's baseline is size=100" in line and line.startswith("Greedy runs") for line in wide)
    assert max(map(len, command("methods", COLUMNS="60").stdout.splitlines())) <= 60


def test_an_interrupt_while_a_commands_own_file_loads_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich" / "__init__.py").write_text("raise KeyboardInterrupt")
    run = command("methods", PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


#: Each command in a process of its own, which has imported the application and no command.
LOADS = """
import os, sys, typer
from pychunk.cli import train
from pychunk.cli.main import app
for name, without in [each.split() for each in sys.argv[1:]]:
    child = os.fork()
    if child == 0:
        typer.main.get_command(app).commands[name]
        print(name, without, f"pychunk.{without}" in sys.modules, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_command_loads_what_it_takes() -> None:
    pairs = ["backend index", "search io", "search evaluation", "segment evaluation"]
    done = subprocess.run([sys.executable, "-c", LOADS, *pairs], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{pair} False" for pair in pairs]


def _flags(group: Any, name: str = "pychunk") -> dict[str, set[str]]:
    """Flags of every command, by the words that call it."""
    found: dict[str, set[str]] = {name: {"--help", "--version", "--install-completion", "--show-completion"}}
    for word, made in group.commands.items():
        if hasattr(made, "commands"):
            found |= _flags(made, f"{name} {word}")
        else:
            options = {flag for option in made.params for flag in (*option.opts, *option.secondary_opts)}
            found[f"{name} {word}"] = {"--help", *(flag for flag in options if flag.startswith("--"))}
    return found


def test_every_flag_that_a_text_names_exists() -> None:
    """In docstrings, errors and help of the package, in the pages, and in what is written after a command's name."""
    flags = _flags(typer.main.get_command(app))
    every = set().union(*flags.values()) | {"--no-deps", "--upgrade"}  # pip's
    root = Path(__file__).resolve().parents[2]
    for name, (module, _) in train.TRAINERS.items():  # these read their options themselves
        parser = importlib.import_module(f"pychunk.training.{module}").parser()
        flags[f"pychunk train {name}"] = set(parser._option_string_actions)
        every |= flags[f"pychunk train {name}"]
    named = 0
    for file in (*sorted(root.glob("pychunk/**/*.py")), *root.glob("*.md"), *root.glob("docs/*.md")):
        text = file.read_text(encoding="utf-8")
        for call in re.finditer(r"pychunk ((?:model |llm |train )?[a-z]+)((?:[^`\n#;&|]|\\\n)*)", text):
            known = flags.get(f"pychunk {call[1]}")
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", call[2]) if known else ():
                named += 1
                assert flag in known | {"--no-deps"}, f"{file.name}: {call[0]}"
        if file.suffix == ".py":
            raised = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise)]
            strings = [
                part.value
                for node in raised
                for part in ast.walk(node)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", " ".join(strings)):
                named += 1
                assert flag in every, f"{file.name}: {flag}"
    assert named > 20


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["kill", "full", "broken", "interrupt"])
def test_an_output_is_written_whole_or_not_at_all(fault: str) -> None:
    if why := unavailable():
        pytest.skip(why)
    with FailingDisk() as disk:
        for options in ({"ending": ending, "batches": 1} for ending in (".parquet", ".jsonl", ".arrow")):
            call, calls = 0, 1
            while call < calls:
                calls = disk.check(Case("segment", options, fault, (call + 0.5) / calls, half=call % 2 == 0))
                call += 1
            assert calls > 5


def test_inputs_of_several_kinds_go_to_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    (tmp_path / "b.md").write_text("# Dogs\n\nThey bark.\n\n## Old\n\nThey sleep.")
    out = invoke(["segment", str(tmp_path / "a.txt"), str(tmp_path / "b.md"), "-o", str(tmp_path / "c.parquet")])
    assert out.exit_code == 0, out.output
    assert pq.read_table(tmp_path / "c.parquet")["path"].to_pylist() == [None, ["Dogs"]]


def test_what_is_said_is_cut_between_words_on_a_terminal_and_paths_stay_whole() -> None:
    path = "/" + "long/" * 20
    screen, file = io.StringIO(), io.StringIO()
    say(
        f"error: one two three {path} four",
        console=Console(file=screen, force_terminal=True, width=20, color_system=None),
    )
    say(f"error: one two three {path} four", console=Console(file=file, width=20))
    assert screen.getvalue().splitlines() == ["error: one two three", path, "four"]
    assert file.getvalue().splitlines() == [f"error: one two three {path} four"]


def test_a_bar_is_gone_when_it_is_done_and_what_is_said_stands_above_it() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=60)
    with progress_bar("ingest", console) as bar:
        bar.add_task("", total=1.0, rate="")
        say("warning: so it is", console=console)
    shown = screen.getvalue()
    assert shown.index("warning: so it is\n") >= 0
    assert shown.rstrip("\n").endswith("\x1b[2K"), "the last line is erased"


@pytest.mark.parametrize(
    ("command", "usage", "headings"),
    [
        ("segment", "segment [OPTIONS] INPUT...", ["Options", "How to cut", "Vectors", "Text beside", "What is read"]),
        ("search", "search [OPTIONS] INDEX QUERY...", ["Arguments", "Options"]),
        ("eval", "eval [OPTIONS] DATASET", ["Options", "What a model says of chunks", "A model behind an endpoint"]),
        ("methods", "methods [OPTIONS] [METHOD...]", ["Arguments", "Options"]),
    ],
)
def test_help_has_a_heading_for_each_group_of_options(command: str, usage: str, headings: list[str]) -> None:
    shown = invoke([command, "--help"]).output
    assert f"Usage: pychunk {usage}\n" in shown.replace("root", "pychunk").replace("main", "pychunk")
    places = [shown.index(f"\n{heading}") for heading in headings]
    assert places == sorted(places)
    assert not re.search(r"<(list|str|int|float|path)", shown)
    assert max(map(len, shown.splitlines())) <= 80


def test_methods_are_explained_one_by_one_as_the_command_line_takes_them() -> None:
    shown = invoke(["methods", "semantic", "pic"]).output
    assert "semantic  threshold=percentile:20, window=1\n" in shown
    assert "pic  summary=extractive, k=0.0, summaries_out=false\n" in shown
    assert "Without -m" in shown
    assert "recursive  size" not in shown
    wrong = invoke(["methods", "nope"])
    assert (wrong.exit_code, "there is no method 'nope'; the methods are pic" in wrong.output) == (2, True)


def test_a_listing_without_chunks_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    done = invoke(["segment", str(tmp_path / "empty.txt")])
    assert (done.exit_code, done.stdout) == (0, "")
    assert "nothing to show: no document has text" in done.stderr


def test_advice_names_the_options_of_the_command_line() -> None:
    assert in_flags("method 'pic' needs titles=: a title", {}) == "method 'pic' needs --titles: a title"
    assert in_flags("where: language='en' or mode=x", {}) == "where: language='en' or mode=x"
