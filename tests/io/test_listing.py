"""Files that are not read: recognised by their content, counted, named, and dead letters if they are named."""

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from pychunk._engine.data.blocks import Blocks
from pychunk.cli.main import app
from pychunk.ingest import ingest
from pychunk.io import DeadLetter, open_source
from pychunk.io.document_batches import DeadLetters
from pychunk.io.formats import json_arrays
from pychunk.io.formats.paged_files import why_empty
from pychunk.parsing.pdf.paged_text import Paged, Span

FILES: dict[str, bytes] = {
    "a.txt": b"Ants run.",
    "b.xml": b'<?xml version="1.0"?>\n<book><para>Bees hum.</para></book>',
    "c.db": b"SQLite format 3\0",
    "d.yaml": b"title: Tide\n",
    "e.toml": b'title = "Tide"\n',
    "f.json": b'[{"id": "f1", "text": "First."},\n {"id": "f2", "text": "Second."}]',
    "g.json": b'{\n  "name": "settings",\n  "strict": true\n}',
    "h.json": b'[{"name": "no text here", "other": "nor here"}]',
    "i.adoc": b"Title\n=====\n\nBirds sing.",
    "j.lua": b"def f():\n    return 1\n",
    "k.bib": b"\\section{Owls}\nGood evening.\n",
    "l.log": b"2024-03-04 ERROR cannot read\n",
    "m.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "n.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><text>x</text></svg>',
    ".hidden": b"Not seen.",
}
READ = ["a.txt", "f1", "f2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    return made


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments], env={"COLUMNS": "400"})
    return done.exit_code, " ".join(done.output.split())


def names(rows: list[str]) -> list[str]:
    return sorted(Path(row).name for row in rows)


def ids(path: Path, dead_letters: DeadLetters | None = None, **options: object) -> list[str]:
    letters: list[DeadLetter] = []
    source = open_source(path, dead_letters=dead_letters or letters.append, **options)
    return names([row for batch in source for row in batch.table["id"].to_pylist()])


REASONS = {
    "b.xml": "XML, but not a MediaWiki dump",
    "c.db": "an SQLite database",
    "d.yaml": "of kind yaml, which is most often settings: pass kind='yaml'",
    "e.toml": "of kind toml",
    "g.json": "JSON that is neither an array of objects nor a DoclingDocument: pass kind='json'",
    "i.adoc": "text of an unknown kind: pass kind='text'",
    "j.lua": "text of an unknown kind",
    "k.bib": "text of an unknown kind",
    "l.log": "text of an unknown kind",
    "m.png": "an image: pass ocr=True to read its text",
    "n.svg": "text of an unknown kind",
}


def test_of_each_file_that_is_not_read_it_is_said_what_it_is(folder: Path) -> None:
    letters: list[DeadLetter] = []
    source = open_source(folder, dead_letters=letters.append)
    assert ids(folder) == READ
    list(source)
    assert [(Path(letter.source).name, letter.reason[:23]) for letter in letters] == [
        ("h.json", "cannot be read as jsonl")
    ]
    told = {Path(letter.source).name: letter.reason for letter in source.unread()}
    assert sorted(told) == sorted(REASONS) == names(source.ignored)
    for name, reason in REASONS.items():
        assert told[name].startswith(f"not read: {reason}")


def test_python_readers_warn_of_them(folder: Path) -> None:
    with pytest.warns(UserWarning, match=r"b\.xml, .*c\.db, .*d\.yaml and 8 more; Source\.unread\(\) gives"):
        open_source(folder)


def test_python_readers_warn_of_tables_without_a_text_among_documents(tmp_path: Path) -> None:
    (tmp_path / "questions.csv").write_text("question,answer\nWho?,Ants\n")
    with pytest.raises(ValueError, match="unclear which column holds the text"):
        list(open_source(tmp_path))
    (tmp_path / "a.txt").write_text("Ants run.")
    with pytest.warns(UserWarning, match=r"questions\.csv, whole file: cannot be read as csv: it is unclear"):
        assert [batch.table["text"].to_pylist() for batch in open_source(tmp_path)] == [["Ants run."]]


def test_ingest_counts_names_and_with_strict_tells_them(folder: Path, tmp_path: Path) -> None:
    status, said = run("ingest", folder, "-o", tmp_path / "out")
    assert (status, "3 documents" in said, "1 failure, 11 files not read" in said) == (0, True, True), said
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert names(manifest["source"]["ignored"]) == sorted(REASONS)
    for again in ("first", "again"):
        status, said = run("ingest", folder, "-o", tmp_path / "out", "--strict")
        assert (status, "12 dead letters" in said) == (1, True), (again, said)
        lines = [json.loads(line) for line in (tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()]
        assert names([line["source"] for line in lines]) == sorted([*REASONS, "h.json"])
    assert run("ingest", folder, "-o", tmp_path / "out", "--resume")[0] == 0
    assert len((tmp_path / "out" / "_dead_letters.jsonl").read_text().splitlines()) == 1
    report = ingest(folder, tmp_path / "out2", strict=True)
    assert (report.documents, report.letters, len(report.ignored)) == (3, 12, 11)


@pytest.mark.parametrize("options", [(), ("--column", "text")])
def test_no_file_ends_the_other_commands(folder: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    for command, output in (("segment", "out.jsonl"), ("index", "out.idx")):
        status, said = run(command, folder, *options, "-o", tmp_path / output)
        assert (status, f"skipped {folder / 'h.json'}" in said) == (0, True), said
        assert "10 more" not in said
        assert "and 8 more (--kind text reads files of any name as text, --ext .log=text those of one ending, " in said
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 3


def test_a_folder_of_known_files_alone_is_well_with_strict(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Ants run.")
    (tmp_path / "in" / "wiki-multistream-index.txt").write_text("1:2:3")
    (tmp_path / "in" / ".git").write_text("x")
    status, said = run("ingest", tmp_path / "in", "-o", tmp_path / "out", "--strict")
    assert (status, "0 failures" in said) == (0, True), said


@pytest.mark.parametrize("names_", [["b.xml", "i.adoc", "m.png"], ["i.adoc", "m.png", "old.lua"], list(FILES)])
def test_with_a_kind_no_file_of_an_unknown_name_ends_a_folder(folder: Path, tmp_path: Path, names_: list[str]) -> None:
    (folder / "old.lua").write_bytes("# “Quoted” – it costs 5 €".encode("cp1252"))
    for path in folder.iterdir():
        if path.name not in names_:
            path.unlink()
    for command, output in (("segment", "out.jsonl"), ("index", "out.idx")):
        option = "--source-kind" if command == "index" else "--kind"
        status, said = run(command, folder, option, "text", "-o", tmp_path / output)
        assert status == 0, said
        assert "m.png" in said
        assert ("old.lua: invalid UTF-8 at byte 2; it may be cp1252" in said) == ("old.lua" in names_)
    assert "Birds sing." in (tmp_path / "out.jsonl").read_text()


@pytest.mark.parametrize("command", ["segment", "index", "ingest"])
def test_with_a_kind_text_of_any_name_is_read(folder: Path, tmp_path: Path, command: str) -> None:
    (folder / "table.csv").write_text("a,b\n1,2\n")
    (folder / "page.html").write_text("<p>Page.</p>")
    status, said = run(
        command, folder, "--source-kind" if command == "index" else "--kind", "text", "-o", tmp_path / "out.arrow"
    )
    assert status == 0, said
    assert "c.db" in said
    wanted = [
        "a.txt",
        "b.xml",
        "d.yaml",
        "e.toml",
        "f.json",
        "g.json",
        "h.json",
        "i.adoc",
        "j.lua",
        "k.bib",
        "l.log",
        "n.svg",
    ]
    assert ids(folder, kind="text") == wanted
    told = {
        Path(letter.source).name: letter.reason
        for letter in open_source(folder, kind="text", dead_letters=print).unread()
    }
    assert sorted(told) == ["c.db", "m.png", "page.html", "table.csv"]
    assert (
        told["table.csv"]
        == "not read: its name is of kind csv, but another kind was requested: pass kind='csv' to read it"
    )


def test_with_other_kinds_first_bytes_decide(folder: Path) -> None:
    (folder / "page.html").write_text("<p>Page.</p>")
    (folder / "page.asp").write_text("<div>Another.</div>")
    (folder / "lines.dat").write_text('{"text": "Line."}\n')
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    (folder / "b.md").write_text("# Bees")
    assert ids(folder, kind="html") == ["b.xml", "n.svg", "page.asp", "page.html"]
    assert ids(folder, kind="jsonl") == ["f1", "f2", "lines.dat#1"]
    wanted = ["b.md", "b.xml", "d.yaml", "e.toml", "f.json", "g.json", "h.json", "i.adoc", "j.lua", "k.bib", "l.log"]
    assert ids(folder, kind="markdown") == [*wanted, "lines.dat", "n.svg", "page.asp"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("c.db", "an SQLite database, not text"),
    ],
)
def test_a_file_by_itself_is_called_what_it_is(folder: Path, name: str, message: str) -> None:
    status, said = run("segment", folder / name)
    assert (status, message in said, "column" in said) == (2, True, False), said


@pytest.mark.parametrize("name", ["i.adoc", "j.lua", "k.bib", "l.log"])
def test_text_of_an_unknown_name_is_text_by_itself(folder: Path, name: str) -> None:
    source = open_source(folder / name)
    assert source.kind == "text"
    assert [text for batch in source for text in batch.table["text"].to_pylist()] == [FILES[name].decode()]


def test_compressed_xml_that_is_no_dump_does_not_end_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ants run.")
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(FILES["b.xml"]))
    source = open_source(tmp_path, dead_letters=print)
    assert (source.kinds, names(source.ignored)) == (["text"], ["b.xml.gz"])
    assert [letter.reason[:29] for letter in source.unread()] == ["not read: XML, but not a Medi"]


@pytest.mark.slow
def test_xml_and_settings_are_read_if_they_are_named_or_asked_for(folder: Path) -> None:
    for name, text in (("b.xml", "Bees hum."), ("d.yaml", "title: Tide"), ("e.toml", "title: Tide")):
        (one,) = open_source(folder / name)
        (other,) = open_source(folder, kind=name.partition(".")[2])
        assert one.table["text"].to_pylist() == other.table["text"].to_pylist() == [text]


def test_a_page_that_is_called_xml_is_one(tmp_path: Path) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    (tmp_path / "a.xml").write_text("<!DOCTYPE html><html><body><p>Ants run.</p></body></html>")
    (tmp_path / "b.txt").write_text("Bees hum.")
    assert open_source(tmp_path).kinds == ["html", "text"]


def test_documents_without_text_are_counted_and_no_failures(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in {"a.txt": "", "b.md": " \n", "c.txt": "Ants run."}.items():
        (tmp_path / "in" / name).write_text(text)
    (tmp_path / "in" / "d.jsonl").write_text('{"text": ""}\n{"text": "Bees hum."}\n')
    for again in ("complete already", "5 documents"):
        status, said = run("ingest", tmp_path / "in", "-o", tmp_path / "out", "--strict")
        assert (status, "5 documents (3 without text), 2 chunks" in said) == (0, True), (again, said)
    assert ingest(tmp_path / "in", tmp_path / "out2").blank == 3


def test_a_paged_document_of_heads_and_page_numbers_alone_has_no_text() -> None:
    def why(text: str, *spans: tuple[int, int]) -> str:
        removed = [Span(start, end, "page_number", 1.0) for start, end in spans]
        none = np.zeros(0, np.int64)
        blocks = Blocks(np.zeros(2, np.int64), none.astype(np.int8), none.astype(np.int16), none, none)
        return why_empty(Paged(text, blocks, np.zeros(1, np.int64), "", removed, []))

    assert (
        why("Head\f2\n", (0, 4), (5, 6)) == "no text is left: 2 lines were taken for headers, footers and page numbers"
    )
    assert why("2", (0, 1)) == "no text is left: 1 line was taken for headers, footers and page numbers"
    assert why("Head\nText", (0, 4)) == why("Text") == ""


@pytest.mark.parametrize(
    ("text", "rows", "letters"),
    [
        ('[{"text": "a"}, {"text": "b\\n", "id": 7}]', [("#1", "a"), ("7", "b\n")], []),
        ('\ufeff [\r\n\t{\n"text"\n:\n"a"\n}\n]\n', [("#1", "a")], []),
        ('[{"text": "a"}, 5, "x", {"text": null}, {"text": "b"}]', [("#1", "a"), ("#5", "b")],
         ["element 2", "element 3", "element 4"]),
        ('[{"text": "a"}, {"text": "b"}', [("#1", "a"), ("#2", "b")], ["element 3"]),
        ('[{"text": "a"}, {"text": "b" "c"}]', [("#1", "a")], ["element 2"]),
        ('[{"text": "a"}] {"text": "b"}', [("#1", "a")], ["element 2"]),
        ('[{"text": "a"} {"text": "b"}]', [("#1", "a")], ["element 2"]),
        ('[{"text": "a", "x": ' + "[" * 100_000 + "]}]", [], ["element 1"]),
        ('[{"text": "ä\\ud83d\\ude00", "id": "007"}]', [("007", "ä\U0001f600")], []),
    ],
)  # fmt: skip
def test_arrays_of_objects_are_read_like_lines(
    tmp_path: Path, text: str, rows: list[tuple[str, str]], letters: list[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode())
    told: list[DeadLetter] = []
    source = open_source(path, column="text", dead_letters=told.append)
    table = [row for batch in source for row in batch.table.to_pylist()]
    assert [(row["id"].removeprefix(str(path)), row["text"]) for row in table] == rows
    assert [letter.position for letter in told] == letters


def test_a_line_that_is_an_array_is_one_letter_among_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('[{"text": "a"}]\n{"text": "b"}\n[]\n{"text": "c"}\n')
    told: list[DeadLetter] = []
    source = open_source(tmp_path / "a.jsonl", dead_letters=told.append)
    assert [text for batch in source for text in batch.table["text"].to_pylist()] == ["b", "c"]
    assert [letter.position for letter in told] == ["line 1", "line 3"]


def test_a_long_array_is_read_in_parts_and_a_longer_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": f"Sentence number {i}."} for i in range(2000)]))
    monkeypatch.setattr(json_arrays, "_BLOCK", 1000)
    found = [text for batch in open_source(path) for text in batch.table["text"].to_pylist()]
    assert found == [f"Sentence number {i}." for i in range(2000)]
    monkeypatch.setattr(json_arrays, "MAX_BYTES", 1000)
    told: list[DeadLetter] = []
    assert not list(open_source(path, dead_letters=told.append))
    assert [letter.reason for letter in told] == ["a JSON array longer than 1,000 bytes: write it as JSON Lines"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04 word/", "docx"),
        (b"%PDF-1.7", "pdf"),
        (b"\xef\xbb\xbf<!doctype html><p>a", "html"),
        (b"<p>a", "text"),
        (b'{"text": "a"}', "text"),
        (b"\x89PNG\r\n\x1a\n", "text"),
        (b"", "text"),
    ],
)
def test_a_document_on_standard_input_is_known_by_its_first_bytes(
    data: bytes, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = io.BufferedReader(io.BytesIO(data))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=given))
    assert open_source("-").kind == kind
    assert given.read() == data
