"""The commands on a mixed folder: each file is read, or is a dead letter with the reason."""

import gzip
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.dataset
import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
pytest.importorskip("pypdfium2", reason="needs pypdfium2: the extra docs")
from pdfs import Page, made

PROSE = "The pump moves water from the well to the tank, and it stops by itself when the tank is full."
SHELL = '<!DOCTYPE html><html><head><title>App</title></head><body><div id="root"></div><script src="a.js"></script>'
ARTICLE = json.dumps({"@type": "Article", "articleBody": PROSE + " Linked."})
LINKED = SHELL.replace("</head>", f'<script type="application/ld+json">{ARTICLE}</script></head>')
CYRILLIC = "Насос качає воду з колодязя до бака, і він зупиняється сам, коли бак повний."
DUMP = (
    "<mediawiki><siteinfo></siteinfo><page><title>Pump</title><ns>0</ns><id>9</id><revision><id>2</id>"
    "<model>wikitext</model><text>A pump moves water.</text></revision></page></mediawiki>"
)

#: The files that are read, by id, with a text that their chunks hold.
READ: dict[str, tuple[bytes, str, str]] = {
    "plain.txt": (PROSE.encode(), "plain.txt", "stops by itself"),
    "marked.md": (f"# Pump\n\n{PROSE}\n".encode("utf-8-sig"), "marked.md", "stops by itself"),
    "deep/packed.txt.gz": (gzip.compress(b"Packed text."), "deep/packed.txt.gz", "Packed text."),
    "page.html": (f"<h1>Pump</h1><p>{PROSE}</p>".encode(), "page.html", "stops by itself"),
    "linked.html": (LINKED.encode(), "linked.html", "full. Linked."),
    "comment.html": (
        f"<!-- <meta charset=koi8-r> --><meta charset=windows-1251><p>{CYRILLIC}</p>".encode("cp1251"),
        "comment.html", "зупиняється сам",
    ),
    "latin.html": (
        "<meta charset=iso-8859-1><p>It’s 5 € for a “crêpe”, and worth it.".encode("cp1252"),
        "latin.html", "5 € for a “crêpe”",
    ),
    "wide.html": (f"<!-- {CYRILLIC} --><html><p>{CYRILLIC}".encode("utf-16-le"), "wide.html", "зупиняється сам"),
    "wider.html": (f"<!-- {CYRILLIC} --><html><p>{CYRILLIC}".encode("utf-32-be"), "wider.html", "зупиняється сам"),
    "page.xml": (f"<!DOCTYPE html><html><body><p>{PROSE}</p>".encode(), "page.xml", "stops by itself"),
    "dump.xml": (DUMP.encode(), "9", "A pump moves water."),
    "sheet.pdf": (made([Page().put(72, 100, "The pump moves water.")]), "sheet.pdf", "The pump moves water."),
    "rows.jsonl": (b'{"id": "row", "text": "A row of text."}\n', "row", "A row of text."),
    "table.csv": (b"id,text\ncell,A cell of text.\n", "cell", "A cell of text."),
    "array.json": (b'[{"id": "item", "text": "An item of text."}]', "item", "An item of text."),
}  # fmt: skip
#: The files that are not read, with the beginning of the reason.
BROKEN: dict[str, tuple[bytes, str]] = {
    "shell.html": (SHELL.encode(), "no text: the page is made by scripts"),
    "empty.html": (b"<html><body><p> </p></body></html>", "no text: the page is empty"),
    "notice.html": (b"<noscript>Enable JavaScript to run this app.</noscript>", "no text: only a notice to enable"),
    "scan.pdf": (made([Page()]), ""),
    "wide.csv": ("id,text\n1,Hello there.\n".encode("utf-16"), "text in UTF-16, not UTF-8: pass encoding='utf-16'"),
    "old.txt": (
        "“Quoted” – it costs 5 €".encode("cp1252"),
        "invalid UTF-8 at byte 0; it may be cp1252, which is a guess",
    ),
    "koi.txt": (
        CYRILLIC.replace("є", "е").replace("і", "и").encode("koi8-r"),
        "invalid UTF-8 at byte 0; it may be koi8",
    ),
    "noise.txt": (random.Random(1).randbytes(400), "not text at all"),
    "cut.txt.gz": (gzip.compress(PROSE.encode() * 99)[:-20], "cannot be read further"),
}
UNREAD: dict[str, tuple[bytes, str]] = {
    "book.xml": (b'<?xml version="1.0"?><book><para>Text.</para></book>', "XML, but not a MediaWiki dump"),
    "word.db": (b"SQLite format 3\0", "an SQLite database"),
    "note.yaml": (b"title: Tide\n", "of kind yaml"),
    "settings.json": (b'{\n "a": 1\n}', "JSON that is neither an array of objects"),
    "film.bib": (b"\\section{Owls}\n", "text of an unknown kind"),
    "service.log": (b"2024-03-04 ERROR cannot read\n", "text of an unknown kind"),
    "read.adoc": (b"Title\n=====\n", "text of an unknown kind"),
    "logo.png": (b"\x89PNG\r\n\x1a\n" + bytes(30), "an image: pass ocr=True"),
    "tool.bin": (b"\x7fELF" + bytes(60), "a program"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_ = tmp_path / "in"
    (made_ / "deep").mkdir(parents=True)
    for name, (data, *_) in {**READ, **BROKEN, **UNREAD, ".hidden.txt": (b"Hidden.",)}.items():
        (made_ / name).write_bytes(data)
    return made_


def run(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pychunk", *arguments], cwd=where, capture_output=True, text=True, timeout=120,
        env={**os.environ, "COLUMNS": "400"},
    )  # fmt: skip


def letters(out: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in (out / "_dead_letters.jsonl").read_text().splitlines()]
    assert max(Counter(line["source"] for line in lines).values()) == 1
    return {line["source"].removeprefix("in/"): line["reason"] for line in lines}


@pytest.mark.slow
def test_each_file_is_read_or_a_letter(folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "ingest", "in", "--column", "text", "-o", "out", "--strict")
    assert done.returncode == 1, done.stderr
    assert f"{len(READ)} documents" in done.stderr
    assert f"{len(BROKEN) + len(UNREAD)} failures" in done.stderr
    table = pyarrow.dataset.dataset(tmp_path / "out").to_table(columns=["document_id", "text"]).to_pylist()
    texts: dict[str, str] = {}
    for row in table:
        name = row["document_id"].removeprefix("in/")
        texts[name] = texts.get(name, "") + row["text"]
    assert set(texts) == {id_ for _, id_, _ in READ.values()}
    for _, id_, text in READ.values():
        assert text in texts[id_]
    told = letters(tmp_path / "out")
    assert set(told) == {*BROKEN, *UNREAD}
    for name, (_, reason) in BROKEN.items():
        assert told[name].startswith(reason), (name, told[name])
    for name, (_, reason) in UNREAD.items():
        assert told[name].startswith(f"not read: {reason}"), (name, told[name])
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    assert sorted(manifest["source"]["ignored"]) == sorted(f"in/{name}" for name in UNREAD)


@pytest.mark.slow
def test_without_strict_the_run_is_well_and_counts_what_is_not_read(folder: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "ingest", "in", "--column", "text", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert f"{len(BROKEN)} failures, {len(UNREAD)} files not read" in done.stderr
    assert set(letters(tmp_path / "out")) == set(BROKEN)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), [("segment", "out.jsonl"), ("index", "out.idx")])
def test_other_commands_leave_out_what_is_broken_and_name_it(
    folder: Path, tmp_path: Path, command: str, output: str
) -> None:
    arguments = (command, "in", "--column", "text", "-o", output)
    done = run(tmp_path, *arguments)
    assert done.returncode == 2, done.stderr
    done = run(tmp_path, *arguments, "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    for name, (_, reason) in BROKEN.items():
        assert f"skipped in/{name}" in done.stderr
        assert reason.partition(": pass")[0] in done.stderr
    assert "pass --reader encoding=utf-16" in done.stderr
    assert f"and {len(UNREAD) - 3} more" in done.stderr
