"""Kinds that the caller gives for endings of names: single files, folders, archives, other kinds, errors, runs."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pychunk.cli.main import app
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.io.recognition import checked, kind_by

LOG = b"The cat came at nine. It left at ten."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    root.mkdir()
    (root / "a.log").write_bytes(LOG)
    (root / "b.LOG.gz").write_bytes(gzip.compress(LOG))
    (root / "c.rec").write_bytes(b"id,text\n7,Dogs bark.\n")
    (root / "d.md").write_bytes(b"# Owls\n\nThey hoot.")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("in/e.log", LOG)
        archive.writestr("in/f.dat", LOG)
    (root / "g.zip").write_bytes(packed.getvalue())
    return root


def read(path: Path, **options: Any) -> tuple[dict[str, str], list[DeadLetter]]:
    """Return the texts by id without the folder, and the dead letters, also those of files that are not read."""
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=letters.append, **options)
    texts = {row["id"].removeprefix(f"{path}/"): row["text"] for batch in source for row in batch.table.to_pylist()}
    return texts, [*letters, *source.unread()]


def test_folder(folder: Path) -> None:
    texts, letters = read(folder, endings={".log": "text", "REC": "csv"})
    assert texts == {
        "a.log": LOG.decode(),
        "b.LOG.gz": LOG.decode(),
        "7": "Dogs bark.",
        "d.md": "# Owls\n\nThey hoot.",
        "g.zip/in/e.log": LOG.decode(),
    }
    assert [letter.source for letter in letters] == [f"{folder}/g.zip/in/f.dat"]
    assert "pass kind='text' or endings={'.dat': 'text'} to read it" in letters[0].reason
    without, letters = read(folder)
    assert without == {"d.md": texts["d.md"]}
    assert [letter.source.removeprefix(f"{folder}/") for letter in letters] == [
        "g.zip/in/e.log",
        "g.zip/in/f.dat",
        "a.log",
        "b.LOG.gz",
        "c.rec",
    ]


def test_kind_leaves_out_the_files_of_other_kinds(folder: Path) -> None:
    texts, _ = read(folder, kind="csv", endings={".rec": "csv", ".log": "text"})
    assert texts == {"7": "Dogs bark."}


def test_ending_comes_before_name_and_bytes(folder: Path) -> None:
    texts, _ = read(folder / "d.md", endings={".md": "text"})
    assert texts == {str(folder / "d.md"): "# Owls\n\nThey hoot."}
    assert open_source(folder / "d.md", endings={".md": "text"}).kinds == ["text"]
    assert open_source(folder / "d.md").kinds == ["markdown"]


def test_file_of_a_given_kind_is_no_guess(folder: Path) -> None:
    """A damaged file whose kind the caller gave is an error, as if its name told the kind."""
    (folder / "c.rec").write_bytes(b"id,words\n7,Dogs bark.\n")
    with pytest.raises(ValueError, match="words"):
        list(open_source([folder / "c.rec", folder / "d.md"], endings={".rec": "csv"}, column="text"))


@given(st.dictionaries(st.text("abc.", min_size=1, max_size=6), st.sampled_from(["text", "csv"]), max_size=5))
def test_longest_ending_decides(endings: dict[str, str]) -> None:
    own: dict[str, set[str]] = {}
    for ending, kind in endings.items():
        own.setdefault("." + ending.removeprefix("."), set()).add(kind)
    if any(ending == "." or ending.startswith("..") or len(kinds) > 1 for ending, kinds in own.items()):
        with pytest.raises(ValueError, match=r"an ending must be|has two kinds"):
            checked(endings)
        return
    found = checked(endings)
    for name in ("x.a", "x.abc", "a.b.c", "b..c"):
        fitting = sorted((ending for ending in own if name.endswith(ending)), key=len)
        assert kind_by(f"folder.abc/{name}", found) == (next(iter(own[fitting[-1]])) if fitting else None)


@pytest.mark.parametrize(
    ("endings", "message"),
    [
        ({".log": "txt"}, r"unknown kind 'txt' for names that end in \.log; .*did you mean 'text'\?"),
        ({"": "text"}, "an ending must be the end of files' names, such as .log; got ''"),
        ({"a/b": "text"}, "an ending must be"),
        ({"*.log": "text"}, "an ending must be"),
        ({" .log": "text"}, "an ending must be"),
        ({"..log": "text"}, "an ending must be"),
        ({".log.gz": "text"}, r"\.log\.gz ends like a compressed file: leave out that suffix"),
        ({".gz": "text"}, "ends like a compressed file"),
        ({".log": "text", "LOG": "csv"}, r"\.log has two kinds, text and csv: name one"),
    ],
)
def test_errors(endings: dict[str, str], message: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=message):
        open_source(folder, endings=endings)


def test_endings_must_be_a_dict(folder: Path) -> None:
    wrong: Any
    for wrong in (".log=text", [(".log", "text")]):
        with pytest.raises(TypeError, match=r"endings must be a dict of endings and kinds, such as .*; got"):
            open_source(folder, endings=wrong)


def test_an_index_of_files_with_given_endings(folder: Path, tmp_path: Path) -> None:
    for name in ("d.md", "g.zip"):
        (folder / name).unlink()
    command = ["index", str(folder), "-o", str(tmp_path / "i"), "--ext", ".log=text", "--ext", ".rec=csv"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "3 documents added" in done.output


def test_a_file_that_is_no_archive_becomes_a_letter(folder: Path) -> None:
    texts, letters = read(folder, endings={".log": "zip"})
    assert texts == {"d.md": "# Owls\n\nThey hoot."}
    assert [letter.reason for letter in letters if letter.source.endswith("a.log")] == [
        "damaged or cut off: File is not a zip file"
    ]


def test_run_knows_its_endings(folder: Path, tmp_path: Path) -> None:
    report = ingest(folder, tmp_path / "out", endings={".log": "text"}, method="sentence")
    assert report.documents == 4
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_bytes())
    assert manifest["options"]["reader"]["endings"] == [[".log", "text"]]
    ingest(folder, tmp_path / "out", endings={"log": "text"}, method="sentence", resume=True)
    with pytest.raises(ValueError, match="another"):
        ingest(folder, tmp_path / "out", method="sentence", resume=True)
    ingest(folder, tmp_path / "plain", method="sentence")
    manifest = json.loads((tmp_path / "plain" / "_manifest.json").read_bytes())
    assert "endings" not in manifest["options"]["reader"]


def test_command_line(folder: Path) -> None:
    run = CliRunner()
    done = run.invoke(app, ["segment", str(folder), "--ext", ".log=text", "--ext", "rec=csv", "-o", "-"])
    assert done.exit_code == 0, done.output
    assert sum(json.loads(line)["text"] == LOG.decode() for line in done.stdout.splitlines()) == 3
    for option, said in (
        (".log", "--ext .log: write an ending and a kind, such as .log=text"),
        (".log=txt", "unknown kind 'txt' for names that end in .log"),
    ):
        failed = run.invoke(app, ["segment", str(folder), "--ext", option])
        assert failed.exit_code == 2
        assert said in " ".join(failed.output.split())
    twice = run.invoke(app, ["segment", str(folder), "--ext", ".log=text", "--ext", ".log=csv"])
    assert "--ext names .log twice: text and csv; name it once" in " ".join(twice.output.split())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1, "b": [2]}', "json"),
        ('{"a": 1}\n', "json"),
        ('{\n"a": 1}', "json"),
        ('{"a": {\n"b": 1}}', "json"),
        ('{"text": "a"}\n{"text": "b"}\n', "jsonl"),
        ('[{"text": "a"}]', "jsonl"),
    ],
)
def test_an_object_is_a_document_and_several_lines_of_objects_are_lines(tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert open_source(tmp_path / "a.json").kind == kind
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.json", text)
    if kind == "json":
        assert next(iter(read(tmp_path / "a.zip")[0].values())).startswith("a")
