"""The page with the differences of two files: its counts, its order, its limits, and texts that hold markup."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import chromium
import pyarrow as pa
import pytest
from command_line import invoke
from test_view_browser import HOSTILE

import pychunk
from pychunk.view import differences_page

VOID = {"meta", "link", "br"}
EVIL = "</div><script>alert(1)</script> & \u202eevil\u202c \0 <img src=x onerror=alert(1)>."
OLD = {"cats": ["Cats purr.", "They sleep.", "They hunt.", "They eat."], "stars": ["The sun is a star."], "x": ["Old."]}
NEW = {"cats": ["They sleep.", "They hunt.", EVIL, "Cats purr."], "stars": ["The sun is a star."], "</h2>y": ["Old."]}


class Reader(HTMLParser):
    """A reader that checks that elements nest, and collects the chunks, each as its word and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.chunks: list[tuple[str, str]] = []
        self.text = self.word = ""
        self.ids: list[str] = []
        self.links: list[str] = []
        self.html = html
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        look = own.get("class", "")
        self.tags[tag] += 1
        self.attributes |= set(own)
        self.ids += [own["id"]] if "id" in own else []
        self.links += [own["href"][1:]] if tag == "a" else []
        if look == "text":
            self.chunks.append((self.word, ""))
        if look == "ctl":
            self.handle_data(own["data-u"])
        if tag not in VOID:
            self.open.append((tag, look))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        looks = [look for _, look in self.open]
        if self.open and self.open[-1][0] == "style":
            return
        self.text += data
        if self.open and self.open[-1][0] == "b":
            self.word = data
        if "text" in looks:
            self.chunks[-1] = self.word, self.chunks[-1][1] + data


def table_of(documents: dict[str, list[str]], ids: bool = True) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for number, (name, texts) in enumerate(documents.items()):
        at = 0
        for text in texts:
            rows.append({"document_index": number, "start": at, "end": at + len(text), "text": text})
            rows[-1] |= {"document_id": name} if ids else {}
            at += len(text) + 1
    return pa.Table.from_pylist(rows)


def read(old: pa.Table, new: pa.Table, questions: Any = ()) -> Reader:
    made = differences_page.page(pychunk.diff(old, new), (old, new), ("old <file>", "new"), questions)
    return Reader(made.html)


def test_both_sides_are_shown_in_order_with_their_words() -> None:
    found = read(table_of(OLD), table_of(NEW))
    evil = EVIL.replace("\u202e", "U+202E").replace("\u202c", "U+202C").replace("\0", "U+0000")
    assert found.chunks == [
        ("moved", "Cats purr."),
        ("kept", "They sleep."),
        ("kept", "They hunt."),
        ("removed", "They eat."),
        ("added", evil),
        ("moved", "Cats purr."),
        ("moved", "Old."),
        ("moved", "Old."),
    ]
    for words in ("old <file> → new", "kept 3", "moved 2", "added 1", "removed 1", "4 documents, 3 with changes."):
        assert words.replace(" ", "") in found.text.replace(" ", ""), words
    assert "to </h2>y, 0–4" in found.text
    assert "The sun is a star." not in found.text
    assert "2 kept chunks: They sleep." in found.text


def test_texts_are_never_markup() -> None:
    found = read(table_of(OLD), table_of(NEW))
    hit = {"document_id": EVIL, "start": 0, "end": 3, "text": EVIL}
    asked = read(
        table_of({EVIL: [EVIL]}),
        table_of({EVIL: ["One."]}),
        [{"question": EVIL, "kept": 0, "lost": [hit], "gained": []}],
    )
    assert "Questions" in asked.text
    for reader in (found, asked):
        assert not {"script", "img"} & set(reader.tags)
        assert not [name for name in reader.attributes if name.startswith("on")]
        assert not re.search("[\u202a-\u202e\u2066-\u2069\0]", reader.html)
        assert "script-src" not in reader.html


def test_links_lead_to_the_other_place() -> None:
    found = read(table_of(OLD), table_of(NEW))
    assert len(found.links) == 4
    assert set(found.links) <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)


def test_documents_without_ids_are_those_that_share_chunks() -> None:
    old, new = {"b": ["One.", "Two.", "Three."]}, {"a": ["First."], "b": ["One.", "Zwei.", "Three."]}
    found = read(table_of(old, ids=False), table_of(new, ids=False))
    assert found.chunks == [
        ("kept", "One."),
        ("removed", "Two."),
        ("added", "Zwei."),
        ("kept", "Three."),
        ("added", "First."),
    ]
    assert "document 1" in found.text


def test_a_small_change_of_a_corpus_is_a_small_page() -> None:
    texts = {f"d{i}": [f"Sentence {j} of document {i}." for j in range(24)] for i in range(1000)}
    other = {name: [*own[:12], "New.", *own[12:]] if int(name[1:]) % 100 == 0 else own for name, own in texts.items()}
    old, new = table_of(texts), table_of(other)
    made = differences_page.page(pychunk.diff(old, new), (old, new), ("old", "new"))
    found = Reader(made.html)
    assert len(made.html) < 60_000
    assert Counter(look for look, _ in found.chunks) == {"added": 10, "kept": 10 * 4 * differences_page.FOLDED}
    assert found.text.count("6 kept chunks left out") == 20
    assert "1,000 documents, 10 with changes." in found.text


def test_the_documents_with_most_changes_fit_and_the_others_are_counted() -> None:
    none: dict[str, list[str]] = {"last": ["One."]}
    many = {f"d{i}": [f"{i} {j}." for j in range(1 + i % 7)] for i in range(300)}
    found = read(table_of(none), table_of({**many, **none}))
    counts = sorted((1 + i % 7 for i in range(300)), reverse=True)
    assert len(found.chunks) == sum(counts[:100])
    assert f"200 more documents with {sum(counts[100:])} changed chunks left out" in found.text
    long = read(table_of(none), table_of({"long": [f"{j}. " + "x" * 3000 for j in range(1000)], **none}))
    assert len(long.chunks) == differences_page.DOCUMENT_ROWS
    assert "800 more rows left out." in long.text
    assert max(len(text) for _, text in long.chunks) == differences_page.CHARACTERS
    rows = read(table_of(none), table_of({f"d{i}": [f"{i} {j}." for j in range(150)] for i in range(50)} | none))
    assert len(rows.chunks) == differences_page.ROWS // 150 * 150


def test_a_change_at_the_end_of_a_long_document_is_shown() -> None:
    texts = [f"{j}." for j in range(1000)]
    found = read(table_of({"a": texts}), table_of({"a": [*texts, "End."]}))
    assert found.chunks[-1] == ("added", "End.")


def test_the_command_writes_the_page_with_questions(tmp_path: Path) -> None:
    for name, documents in (("old", OLD), ("new", NEW)):
        texts = ["\n\n".join(own) for own in documents.values()]
        options: dict[str, Any] = {"ids": list(documents), "keep_together": False, "min_tokens": 0}
        pychunk.segment(texts, "paragraph", **options).write(tmp_path / f"{name}.parquet")
    files = [str(tmp_path / f"{name}.parquet") for name in ("old", "new")]
    page = tmp_path / "page.html"
    done = invoke(["diff", *files, "--view", str(page), "-q", "Who is evil?", "-q", "What is a star?"])
    assert done.exit_code == 0, done.output
    found = Reader(page.read_text())
    assert f"{files[0]} → {files[1]}" in found.text
    assert ("removed", "They eat.") in found.chunks
    asked = json.loads(invoke(["diff", *files, "--json", "-q", "Who is evil?", "-q", "What is a star?"]).stdout)
    words = Counter(word for word, _ in found.chunks)
    assert "2 of 2 questions find other hits" in found.text
    for word in ("lost", "gained"):
        assert words[word] == sum(len(each[word]) for each in asked["questions"]) > 0
    again = invoke(["diff", *files, "--view", str(page)])
    assert (again.exit_code, "--overwrite" in again.stderr) == (2, True)


@pytest.mark.slow
def test_a_browser_shows_hostile_texts_in_light_dark_and_on_phones(tmp_path: Path) -> None:
    if chromium.found() is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    new = table_of({name: [text] for name, text in HOSTILE.items() if text.strip()})
    old = table_of({name: [EVIL] for name in HOSTILE})
    differences_page.page(pychunk.diff(old, new), (old, new), ("a", "b")).write(tmp_path / "page.html")
    with chromium.Browser() as browser:
        for width, dark in ((1200, False), (1200, True), (380, False)):
            browser.size(width, 800, dark)
            browser.open(tmp_path / "page.html")
            browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert not browser.errors
            assert not browser.requests
            assert browser.run("document.scripts.length + document.images.length") == 0
            assert browser.run("document.documentElement.scrollWidth") <= width
            style = "getComputedStyle(document.querySelector('.row:not(.none)'))"
            assert len(browser.run(f"{style}.gridTemplateColumns").split()) == (2 if width > 700 else 1)
        shown = browser.run("[...document.querySelectorAll('.chunk.added .text')].map(each => each.innerText)")
    assert len(shown) == new.num_rows


@pytest.mark.parametrize("arguments", [["--view", "-"], ["--view", "x.parquet", "-o", "./x.parquet"]])
def test_a_page_needs_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    pychunk.segment(["One. Two."], ids=["a"]).write("a.parquet")
    done = invoke(["diff", "a.parquet", "a.parquet", *arguments])
    assert done.exit_code == 2
    assert "--view" in done.stderr
    assert not Path("x.parquet").exists()
