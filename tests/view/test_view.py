"""The page that shows chunks, without a browser: its policy, its data, its size, and messages about sizes."""

import base64
import gc
import hashlib
import json
import pickle
import re
import weakref
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.view import segmentation_page as pages
from pychunk.view.page_data import view_of

HOSTILE = '</script><script>alert(1)</script><!--<b title="&amp;\'">]]>'
TEXT = "Cats purr. Cats sleep all day. 👍 Stars burn hydrogen. The sun is a star. Bread needs flour."


class Parsed(HTMLParser):
    """The elements with their attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, Any], list[str]]] = []
        self._open = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs), []))
        self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.elements[-1][2].append(data)


def parts(html: str) -> tuple[dict[str, Any], str, str, str]:
    """Return the page's data, script, style and policy."""
    elements = Parsed(html).elements
    scripts = {attrs.get("type", ""): "".join(text) for tag, attrs, text in elements if tag == "script"}
    [style] = ["".join(text) for tag, _, text in elements if tag == "style"]
    [policy] = [attrs["content"] for tag, attrs, _ in elements if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert [tag for tag, _, _ in elements].count("script") == 2
    return json.loads(scripts["application/json"]), scripts[""], style, policy


def test_the_policy_names_the_very_script_and_style() -> None:
    html = pychunk.segment(TEXT).view().html
    _, script, style, policy = parts(html)
    for name, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert " style=" not in html.replace(script, "")
    assert not re.search(r"\son\w+=", html.replace(script, ""))


def test_our_own_code_is_small_and_sets_no_markup() -> None:
    script, style = pages.script_text(), pages.style_text()
    assert len(script.encode()) + len(style.encode()) < 80_000
    for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "fetch(", "http", "import("):
        assert word not in script.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in style
    assert "@import" not in style


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=80), mark=st.sampled_from(["", HOSTILE, "\0", "\u2028\u202e\ufeff\uffff", "\r\n", "\x85"]))
def test_data_comes_back_as_it_was(text: str, mark: str) -> None:
    document = f"One {mark}{text}. Two{mark}."
    document = document.encode("utf-8", "replace").decode()
    chunks = pychunk.segment([document], method="sentence", ids=[mark + "id"])
    data, *_ = parts(chunks.view(title=mark).html)
    assert data["documents"][0]["text"] == document
    assert data["documents"][0]["name"] == mark + "id"
    assert data["title"] == (mark or "id")


@settings(max_examples=40, deadline=None)
@given(
    text=st.text(st.sampled_from("aé👍𝒳. \n"), max_size=60), method=st.sampled_from(["sentence", "fixed", "semantic"])
)
def test_spans_are_in_units_of_scripts(text: str, method: str) -> None:
    chunks = pychunk.segment(text, method=method)
    data, *_ = parts(chunks.view().html)
    [layer] = data["documents"][0]["layers"]
    units = text.encode("utf-16-le")
    shown = [units[2 * a : 2 * b].decode("utf-16-le") for a, b in zip(layer["s"], layer["e"])]
    assert shown == chunks.texts
    assert layer.get("cs", layer["s"]) == chunks.table["start"].to_pylist()


def test_curve_thresholds_and_reasons_are_those_of_the_table() -> None:
    seg = pychunk.Segmenter("semantic")
    chunks = seg(TEXT)
    data, *_ = parts(chunks.view().html)
    curve, table = data["documents"][0]["layers"][0]["curve"], seg.scores(TEXT)
    assert curve["v"][:-1] == pytest.approx(table["score"].to_pylist()[:-1], abs=1e-6)
    assert curve["v"][-1] is None
    assert curve["t"] == pytest.approx(table["threshold"][0].as_py(), abs=1e-6)
    cut = data["documents"][0]["layers"][0]["cut"]
    assert [data["reasons"][i] for i in cut] == chunks.table["end_reason"].to_pylist()


def test_several_methods_and_queries() -> None:
    chunks = [pychunk.segment([TEXT, "Rust is safe."], method) for method in ("sentence", "pic", "pic")]
    data, *_ = parts(chunks[0].view(against=chunks[1:], queries=["What do stars burn?"], k=2).html)
    assert [method["name"] for method in data["methods"]] == ["sentence", "pic 1", "pic 2"]
    [hits] = data["documents"][0]["layers"][0]["hits"]
    chunk, _, a, b, rank = hits[0]
    assert (chunk, rank) == (2, 1)
    assert TEXT.encode("utf-16-le")[2 * a : 2 * b].decode("utf-16-le").strip() == "👍 Stars burn hydrogen."


@pytest.mark.parametrize("method", [None, "pic", "structure"])
def test_parsed_documents_have_scores_and_hits(method: Any) -> None:
    cats, bread = "# Cats\n\nCats purr. They sleep.\n\n# Stars\n\nStars burn.", "# Bread\n\nIt needs flour."
    texts = pychunk.parse([cats, bread], "markdown")
    page = pychunk.segment(texts, method).view(queries=["Which burn?"])
    assert "Stars burn." in page.html


def test_hits_of_an_index(tmp_path: Path) -> None:
    chunks = pychunk.segment([TEXT], "sentence", vectors="sentence")
    with pychunk.Index.create(tmp_path / "index") as index:
        index.add(chunks)
        found = index.search("What do stars burn?", k=1)
        grouped = index.search_documents("What do stars burn?", k=1)
    for hits in (found[0], found, grouped):
        data, *_ = parts(chunks.view(queries={"What do stars burn?": hits}).html)
        assert data["documents"][0]["layers"][0]["hits"][0][0][0] == found[0][0].chunk_index


def test_a_method_in_python_has_its_own_curve_and_threshold() -> None:
    class Shift(pychunk.Method):
        name, needs = "shift", frozenset({"vectors"})

        def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
            near = [
                (v[1:] * v[:-1]).sum(axis=1) for v in map(features.given("vectors").part, range(features.documents))
            ]
            first = [[0, *(np.flatnonzero(each < 0.3) + 1)] for each in near]
            return pychunk.Cuts.of(first, score=near, pairs=True)

        def held(self, scores: pychunk.Ragged, plan: Any) -> tuple[pychunk.Ragged, Any]:
            return scores, np.full(scores.documents, 0.3)

    data, *_ = parts(pychunk.segment(TEXT, Shift(), keep_together=False).view().html)
    curve = data["documents"][0]["layers"][0]["curve"]
    assert curve["t"] == 0.3
    assert data["methods"][0]["pairs"]
    assert len(data["documents"][0]["layers"][0]["s"]) == 1 + sum(v < 0.3 for v in curve["v"][:-1])


@pytest.mark.slow
def test_chunks_hold_their_documents_unless_they_are_large_or_travelled(tmp_path: Path) -> None:
    chunks = pychunk.segment(["One. Two.", "Three."], "sentence")
    assert chunks.origin is not None
    assert chunks[1:].origin is chunks.origin
    there = pickle.loads(pickle.dumps(chunks))
    with pytest.raises(ValueError, match="pass texts="):
        there.view()
    there.view(tmp_path / "page.html", texts=["One. Two.", "Three."])
    with pytest.raises(ValueError, match=r"straight from segment\(\).*queries=\{question: index\.search\(question\)\}"):
        there.view(texts=["One. Two.", "Three."], queries=["Two?"])
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match="2 documents"):
        there.view(texts=["One."])
    with pytest.raises(ValueError, match=r"document 0 does not have 'Two\.' at 5:9, but '': pass as texts="):
        there.view(texts=["One.", "Three."])
    large = "Cats purr. Dogs bark at night.\n" * 140_000
    chunks = pychunk.segment(large, "paragraph")
    assert chunks.origin is not None
    assert chunks.origin.texts is None
    with pytest.raises(ValueError, match="pass texts="):
        chunks.view()
    assert pychunk.segment(large, "semantic").view(texts=[large]).html.count('"curve":') == 1


@pytest.mark.slow
def test_chunks_keep_neither_models_nor_large_buffers() -> None:
    seg = pychunk.Segmenter("semantic", threshold=0.3)
    many = pa.array(["Cats purr. Dogs bark. " * 100] * 10_000, pa.large_string())
    chunks = seg(many[5:7])
    there = weakref.ref(seg)
    del seg
    gc.collect()
    assert there() is None
    assert chunks.origin is not None
    assert chunks.origin.texts is not None
    assert chunks.origin.texts.texts[0].get_total_buffer_size() < 10_000
    data, *_ = parts(chunks.view().html)
    assert data["documents"][1]["text"] == many[6].as_py()
    assert data["documents"][1]["layers"][0]["curve"]["t"] == 0.3


def test_given_vectors_are_seen_and_queries_then_go_by_words() -> None:
    vectors = np.eye(5, 8, dtype=np.float32)
    chunks = pychunk.segment(
        [TEXT], "semantic", columns={"sentence_vectors": [vectors]}, threshold=0.5, keep_together=False, min_tokens=0
    )
    page = chunks.view(queries=["hydrogen"])
    data, *_ = parts(page.html)
    assert data["documents"][0]["layers"][0]["curve"]["v"] == [0, 0, 0, 0, None]
    assert "Ranked by BM25." in page.html
    assert data["documents"][0]["layers"][0]["hits"][0][0][0] == 2


def test_some_of_the_chunks_keep_their_numbers() -> None:
    chunks = pychunk.segment([TEXT, "One. Two."], "sentence")
    some = chunks[1::2][::-1]
    data, *_ = parts(some.view(queries=["hydrogen", "cats sleep"], k=2).html)
    layers = [document["layers"][0] for document in data["documents"]]
    assert [layer.get("n") for layer in layers] == [[1, 3], None]
    assert [hit[0] for hit in layers[0]["hits"][1]][:1] == [0]
    assert all(hit[0] < 2 for hits in layers[0]["hits"] for hit in hits)


def test_the_tree_and_what_was_left_out() -> None:
    text = "👍 Menu.\n\n# Cats\n\nCats purr.\n\n## Food\n\nFish."
    blocks = [("heading", 1, 9, 15), ("paragraph", 0, 17, 27), ("heading", 2, 29, 36), ("paragraph", 0, 38, 43)]
    columns: DocumentColumns = {"blocks": [[], blocks], "removed": [[], [(0, 7, "menu", 0.5)]]}
    data, *_ = parts(pychunk.segment(["One.", text], "structure", size=5, unit="words", columns=columns).view().html)
    empty, own = (document["layers"][0] for document in data["documents"])
    assert (empty["gone"], empty["depth"], empty["path"]) == ([], [0], [""])
    assert own["gone"] == [[0, 8, "menu"]]
    assert (own["depth"], own["path"]) == ([0, 1], ["Cats", "Cats › Food"])
    data, *_ = parts(pychunk.segment(text, "recursive").view().html)
    assert not {"gone", "depth", "path"} & data["documents"][0]["layers"][0].keys()


def test_what_a_page_refuses() -> None:
    chunks = pychunk.segment(["One. Two."], "sentence")
    with pytest.raises(TypeError, match="ChunkBatch"):
        chunks.view(against=["pic"])
    with pytest.raises(ValueError, match="the number of documents must be 1, got 2"):
        chunks.view(against=pychunk.segment(["a", "b"]))
    with pytest.raises(ValueError, match="four methods"):
        chunks.view(against=[chunks] * 4)
    with pytest.raises(ValueError, match="16 MB"):
        view_of(chunks, texts=["a. " * 6_000_000])


def test_describe() -> None:
    chunks = pychunk.segment(["Cats purr. Both sleep a lot. " * 20], "fixed", size=10, unit="words")
    sizes = chunks.describe()
    words = [len(text.split()) for text in chunks.texts]
    assert sizes["words"]["mean"] == pytest.approx(np.mean(words))
    assert (sizes["words"]["limit"], sizes["words"]["over"]) == (10, 0)
    assert sizes["characters"]["max"] == max(map(len, chunks.texts))
    assert str(sizes).splitlines()[1].split() == ["count", *[str(len(chunks))] * (len(sizes))]
    assert pychunk.segment("").describe()["words"] == {"count": 0}
    # its size is a target, not a limit
    assert pychunk.segment(TEXT, "topic", size=100).describe()["tokens"]["limit"] == 1024


def test_a_page_in_a_notebook_is_a_frame_that_reaches_nothing() -> None:
    shown = pychunk.segment(HOSTILE, "sentence").view()._repr_html_()
    [(tag, attrs, _)] = Parsed(shown).elements
    assert tag == "iframe"
    assert attrs["sandbox"] == "allow-scripts"
    assert parts(attrs["srcdoc"])[0]["documents"][0]["text"] == HOSTILE
