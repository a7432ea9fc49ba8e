"""Output in notebooks: small static tables, and progress without a package for it."""

import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import pychunk
from pychunk._util import progress

HOSTILE = "</td></table><script>alert(1)</script> & \u202e\0. Cats purr. Cats."


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(thing: Any) -> Tags:
    html = thing._repr_html_()
    assert len(html) < 20_000
    found = Tags(html)
    assert set(found.tags) <= {
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "bdi",
        "mark",
        "b",
        "code",
        "div",
    }
    return found


def test_hostile_documents_are_shown_as_text(tmp_path: Path) -> None:
    seg = pychunk.Segmenter("sentence", vectors="sentence")
    chunks = seg([HOSTILE, "x" * 200_000, "One. " * 2000], ids=[HOSTILE, "b", "c"])
    found = shown(chunks)
    assert "alert(1)" in found.text
    assert found.tags.count("tr") == 11
    assert "with sentence vectors" in found.text
    shown(chunks.describe())
    assert "Segmenter('sentence', vectors='sentence')" in shown(seg).text
    with pychunk.Index.create(tmp_path / "index") as index:
        index.add(chunks)
        hits = index.search(["alert", "cats"], k=3)
        by_document = index.search_documents("cats")
        assert "encoder" in shown(index).text
    assert isinstance(hits, list)
    assert isinstance(hits[0], list)
    for each in (hits, hits[0], hits[0][0], by_document, by_document[0][0], type(hits)()):
        shown(each)
    assert "mark" in shown(hits[0][0]).tags
    assert shown(pychunk.segment("")).text.startswith("<ChunkBatch: 0 chunks")


@pytest.mark.parametrize("options", [{}, {"method": "semantic", "threshold": 0.3}, {"method": "fixed", "size": 40}])
def test_segmenters_show_their_method_and_options(options: dict[str, Any]) -> None:
    text = shown(pychunk.Segmenter(**options)).text
    for name, value in options.items():
        assert name in text
        assert str(value) in text


class Notebook(types.ModuleType):
    """A stand-in for as much of IPython as a kernel shows."""

    def __init__(self, shell: str) -> None:
        super().__init__("IPython")
        self.drawn: list[str] = []
        self.shell = type(shell, (), {})()

    def get_ipython(self) -> Any:
        return self.shell

    def display(self, html: str, display_id: bool) -> "Notebook":
        assert display_id
        return self.update(html)

    def update(self, html: str) -> "Notebook":
        self.drawn.append(html)
        return self

    def HTML(self, html: str) -> str:
        return html


def test_progress_in_a_notebook_needs_no_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook("ZMQInteractiveShell")
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    pychunk.segment(["Cats purr. " * 50] * 40, progress=True)
    assert notebook.drawn[0].startswith('<progress value="0"')
    assert 'value="1.000"' in notebook.drawn[-1]
    assert len(notebook.drawn) < 20
    report = progress.reporter(True)
    assert report is not None
    before = len(notebook.drawn)
    for done in range(1000):
        report(done, 1000)
    assert len(notebook.drawn) - before <= 3
    assert "ipywidgets" not in sys.modules


def test_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress.notebook() is None
    monkeypatch.setitem(sys.modules, "IPython", Notebook("TerminalInteractiveShell"))
    assert progress.notebook() is None
