"""Kind html: pages become documents with blocks, a title and removed noise."""

import bz2
import gzip
from pathlib import Path

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
import pychunk
from pychunk._util.memory import LACK
from pychunk.io.decompression.bzip2 import Block
from pychunk.io.document_batches import DeadLetter
from pychunk.io.formats import html_files
from pychunk.io.source import open_source
from pychunk.parsing.block_columns import BLOCKS_TYPE, REMOVED_TYPE
from pychunk.parsing.html import html_guard

PROSE = "The river rises in the hills north of the town and runs for forty miles before it meets the sea. "
PAGE = (
    "<!DOCTYPE html><html><head><title>The river</title></head><body>"
    "<nav><a href='/'>Home</a> <a href='/n'>News</a></nav>"
    f"<main><h1>The river</h1><p>{PROSE * 3}</p><h2>In spring</h2><p>{PROSE * 2}</p></main>"
    "<footer><a href='/p'>Privacy policy</a></footer></body></html>"
)


def test_a_page_is_a_document_with_blocks_a_title_and_what_is_noise(tmp_path: Path) -> None:
    (tmp_path / "river.html").write_text(PAGE)
    source = open_source(tmp_path / "river.html")
    assert source.kind == "html"
    assert source.column_names() == ["blocks", "title", "removed"]
    (batch,) = source
    table = batch.table
    assert table.schema.field("blocks").type == BLOCKS_TYPE
    assert table.schema.field("removed").type == REMOVED_TYPE
    (row,) = table.to_pylist()
    assert (row["id"], row["title"]) == (str(tmp_path / "river.html"), "The river")
    text = row["text"]
    assert [text[each["start"] : each["end"]] for each in row["blocks"] if each["kind"] == "heading"] == [
        "# The river",
        "## In spring",
    ]
    removed = {text[each["start"] : each["end"]]: each["reason"] for each in row["removed"]}
    assert removed["Home News"] == "navigation"
    assert removed["Privacy policy"] == "footer"
    assert all(0 < each["score"] <= 1 for each in row["removed"])
    assert not any("rises" in each for each in removed)
    assert open_source(tmp_path / "river.html", noise="off").batches().__next__().table["removed"].to_pylist() == [[]]
    ruled = next(iter(open_source(tmp_path / "river.html", noise="rules"))).table["removed"].to_pylist()[0]
    assert {each["score"] for each in ruled} == {1.0}
    with pytest.raises(ValueError, match="noise must be 'model', 'rules' or 'off'; got 'llm'"):
        open_source(tmp_path / "river.html", noise="llm")


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.xhtml", "page"])
def test_names_and_first_bytes_tell_a_page(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"\ufeff <!-- saved --> {PAGE}" if name == "page" else PAGE)
    assert open_source(tmp_path / name).kinds == ["html"]


def test_compressed_pages_and_folders_of_mixed_documents(tmp_path: Path) -> None:
    (tmp_path / "one.html.gz").write_bytes(gzip.compress(PAGE.encode()))
    (tmp_path / "two.htm.bz2").write_bytes(bz2.compress(PAGE.encode("utf-16")))
    (tmp_path / "three.txt").write_text("Plain text.")
    texts = {Path(row["id"]).name: row for batch in open_source(tmp_path) for row in batch.table.to_pylist()}
    assert texts["one.html.gz"]["text"] == texts["two.htm.bz2"]["text"]
    assert texts["three.txt"]["text"] == "Plain text."


def test_declared_undeclared_and_named_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes('<meta charset="koi8-r"><p>река'.encode("koi8-r"))
    (tmp_path / "b.html").write_bytes("<p>Füße – “so”".encode("cp1252"))
    found = [text for batch in open_source(tmp_path) for text in batch.table["text"].to_pylist()]
    assert found == ["река\n", "Füße – “so”\n"]
    (tmp_path / "c.html").write_bytes("<p>река".encode("cp866"))
    (batch,) = open_source(tmp_path / "c.html", encoding="cp866")
    assert batch.table["text"].to_pylist() == ["река\n"]


def test_what_is_no_page_is_a_dead_letter_and_reading_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.html").write_bytes(b"\x89PNG\r\n" + bytes(100))
    (tmp_path / "b.html").write_bytes(PAGE.encode())
    (tmp_path / "c.html.gz").write_bytes(gzip.compress(PAGE.encode())[:-30])
    (tmp_path / "d.html").write_text("<p>" + "long " * 100)
    (tmp_path / "e.html").write_bytes(b"")
    monkeypatch.setattr(html_files, "MAX_BYTES", 480)
    (tmp_path / "b.html").write_text("<p>short")
    letters = []
    rows = [row for batch in open_source(tmp_path, dead_letters=letters.append) for row in batch.table.to_pylist()]
    assert [(Path(row["id"]).name, row["text"]) for row in rows] == [("b.html", "short\n")]
    reasons = {Path(letter.source).name: letter.reason for letter in letters}
    assert set(reasons) == {"a.html", "c.html.gz", "d.html", "e.html"}
    assert reasons["e.html"] == "no text: the page is empty"
    assert reasons["a.html"] == "a PNG image, not text"
    assert reasons["d.html"] == "a page longer than 480 bytes"


def test_a_page_segments_by_its_structure_without_its_noise(tmp_path: Path) -> None:
    (tmp_path / "river.html").write_text(PAGE)
    (batch,) = open_source(tmp_path / "river.html")
    chunks = pychunk.segment(batch.documents(), method="structure", columns={"blocks": "blocks", "removed": "removed"})
    text = batch.table["text"][0].as_py()
    assert chunks.texts[0].startswith("# The river")
    assert not any("Home News" in each or "Privacy" in each for each in chunks.texts)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text


def test_begins() -> None:
    for head in (b"<!doctype HTML>", b"\xef\xbb\xbf\n<HTML lang=en>", b"<!-- x -->\n<html>"):
        assert html_files.begins(head)
    for head in (b"", b"html", b"<htm>", b"<!-- <html> ", b"<div>"):
        assert not html_files.begins(head)


def test_pages_of_too_much_work_are_letters_that_name_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def letter(page: str) -> str:
        letters: list[DeadLetter] = []
        assert html_files.document([Block(page.encode(), len(page))], "a.html", letters.append) is None
        return letters[0].reason

    monkeypatch.setattr(html_guard, "NODES", 1000)
    assert letter("<p>x" * 2000).startswith(
        "too many nodes: 2,000 elements, attributes and comments in 8,000 bytes; at most 1,000 are allowed"
    )
    monkeypatch.setattr(html_guard, "NODES", 10_000)
    monkeypatch.setattr(html_guard, "FLATTENED", 1000)
    assert "unknown elements: split the page" in letter("<div>x" * 2000)
    body = "<p>x" * 20_000
    assert "too many nodes" in letter(
        f'<script type="application/ld+json">{{"@type": "Article", "articleBody": "{body}"}}</script>'
    )


@pytest.mark.slow
def test_a_large_page_is_read_by_a_process_of_its_own_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    page = b"<title>T</title><h1>One</h1><p>Two <a href='/x'>three</a> words of a page that says something.</p>" * 20

    def document(links: str) -> object:
        return html_files.document([Block(page, len(page))], "a.html", pytest.fail, links=links)

    for limit, links in (("LARGE", "text"), ("LARGE_NODES", "inline"), ("LARGE_STEPS", "text")):
        expected = document(links)
        monkeypatch.setattr(html_guard, limit, 10)
        assert document(links) == expected
        monkeypatch.undo()


def test_lack_of_memory_is_no_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: object, **options: object) -> None:
        raise MemoryError(LACK)

    monkeypatch.setattr("pychunk.parsing.html.page.parse_markup", without_memory)
    with pytest.raises(MemoryError, match="memory ran out"):
        html_files.document([Block(b"<p>Words.</p>", 13)], "a.html", pytest.fail)
