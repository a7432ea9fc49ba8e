"""Hits have the page of the best sentence, on whatever pages the chunk is; PDF files by the command."""

from __future__ import annotations

import json
from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("faiss")

from command_line import invoke
from pdfs import Page, made

import pychunk
from pychunk.index.lexical.analyzer import Analyzer
from pychunk.index.merge import merged
from pychunk.index.search.hit_pages import pages_of

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

SENTENCES = [
    "Cats purr. ",
    "Stars burn hydrogen. ",
    "Зорі горять! ",
    "Bread needs salt, 🧂.\n\n",
    "Why? ",
    "\f",
    "e\u0301 ",
]
DOCUMENTS = st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12).map("".join), min_size=1, max_size=4)
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("fixed", {"size": 7, "unit": "words"}),
    ("recursive", {"size": 9, "unit": "words"}),
    ("sentence", {}),
    ("page", {}),
    ("paragraph", {"overlap": 1}),
]


def starts_of(data: st.DataObject, text: str) -> list[int]:
    """Return starts of a text's pages at any places."""
    return [0, *sorted(data.draw(st.sets(st.integers(1, len(text)), max_size=4)))]


@settings(max_examples=60, deadline=None)
@given(st.data(), DOCUMENTS, st.sampled_from(METHODS))
def test_every_character_of_a_chunk_knows_its_page(
    data: st.DataObject, texts: list[str], method: tuple[str, dict[str, Any]]
) -> None:
    starts = [starts_of(data, text) for text in texts]
    chunks = pychunk.segment(texts, method[0], **method[1], columns={"page_starts": starts})
    for chunk in chunks:
        own = starts[chunk.document_index]
        assert chunk.page is not None
        assert chunk.page_breaks is not None
        for at in range(chunk.start, chunk.end):
            assert pages_of(chunk.page, chunk.page_breaks, at, at + 1) == (bisect_right(own, at),) * 2
        assert (chunk.page, chunk.page_end) == pages_of(chunk.page, chunk.page_breaks, chunk.start, chunk.end)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data(), DOCUMENTS, st.sampled_from(METHODS[:3]), st.sampled_from(["words", "ngrams"]))
def test_the_page_of_a_hit_is_that_of_its_best_sentence(
    data: st.DataObject, texts: list[str], method: tuple[str, dict[str, Any]], terms: str
) -> None:
    import tempfile

    starts = [starts_of(data, text) for text in texts]
    ids = [str(i) for i in range(len(texts))]
    chunks = pychunk.segment(
        texts, method[0], **method[1], columns={"page_starts": starts}, ids=ids, vectors="sentence"
    )
    query = "Do stars burn bread? горять"
    analyzer = Analyzer(unit=terms)
    with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(Path(folder) / "x.idx", bm25=terms) as index:
        index.add(chunks)
        asked = set(analyzer.terms(query))
        for mode in ("dense", "hybrid"):
            for hit in index.search(query, k=100, mode=mode)[0]:
                own = starts[int(hit.document_id)]
                assert hit.sentence is not None
                start, end = hit.sentence
                assert (hit.page, hit.page_end) == (bisect_right(own, start), bisect_right(own, max(start, end - 1)))
                assert "page_breaks" not in hit.metadata
        holds = [asked & set(analyzer.terms(chunk.text)) for chunk in chunks]
        idf = index._contents.searcher().bm25.idf(sorted(asked))
        assert set(idf) == set().union(*holds)
        for hit in index.search(query, k=100, mode="sparse")[0]:
            own = starts[int(hit.document_id)]
            text = texts[int(hit.document_id)]
            pages = sorted({bisect_right(own, at) for at in range(hit.start, hit.end)})
            worth = {}
            for page in range(pages[0], pages[-1] + 1):
                begin, end = own[page - 1], own[page] if page < len(own) else len(text)
                held = set(analyzer.terms(text[max(begin, hit.start) : min(end, hit.end)]))
                worth[page] = sum(weight for term, weight in idf.items() if term in held)
            assert worth[hit.page] == pytest.approx(max(worth.values()))
            assert hit.page == hit.page_end


def test_an_index_of_before_chunks_knew_their_pages_says_the_chunks(tmp_path: Path) -> None:
    text = "Cats purr. Stars burn."
    table = pychunk.segment(
        text, "fixed", size=9, unit="words", columns={"page_starts": [[0, 11]]}, vectors="sentence"
    ).table
    assert table["page_breaks"].to_pylist() == [[11]]
    for own, pages in ((table, (2, 2)), (table.drop_columns(["page_breaks"]), (1, 2))):
        with pychunk.Index.create(tmp_path / f"{pages[0]}.idx") as index:
            index.add(own)
            hit = index.search("Stars burn.", k=1)[0][0]
            assert (hit.page, hit.page_end) == pages
    plain = pychunk.segment(text, "fixed", size=9, unit="words", vectors="sentence")
    with pychunk.Index.create(tmp_path / "none.idx") as index:
        index.add(plain)
        hit = index.search("Stars burn.", k=1)[0][0]
        assert (hit.page, hit.page_end) == (None, None)
    with pychunk.Index.create(tmp_path / "chunk.idx", vectors="chunk", bm25=None) as index:
        index.add(
            pychunk.segment(text, "fixed", size=9, unit="words", columns={"page_starts": [[0, 11]]}, vectors="chunk")
        )
        hit = index.search("Stars burn.", k=1, mode="dense")[0][0]
        assert (hit.page, hit.page_end) == (1, 2)


def test_pages_of_rows_that_are_one_document(tmp_path: Path) -> None:
    texts = ["Cats purr. Dogs bark.", "Stars burn. Bread is old."]
    chunks = pychunk.segment(
        texts, "fixed", size=9, unit="words", ids=["a", "a"], columns={"page_starts": [[0, 11], [0, 12]]}
    )
    assert merged(chunks.table)["page_breaks"].to_pylist() == [[11], [len(texts[0]) + 2 + 12]]


def files_of(folder: Path) -> list[Path]:
    folder.mkdir()
    for name, words in (
        ("cats", ["Cats purr softly.", "They sleep by day."]),
        ("stars", ["Stars burn.", "So do suns."]),
    ):
        pages = [Page().put(72, 100, text) for text in words]
        (folder / f"{name}.pdf").write_bytes(made(pages))
    return [folder / "cats.pdf", folder / "stars.pdf"]


def run(*arguments: object) -> str:
    done = invoke([str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_the_command_says_the_file_and_the_page(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    files = files_of(tmp_path / "pdf")
    run("index", *files, "-o", tmp_path / "a.idx", "--method", "page", "--terms", "ngrams")
    shown = run("search", tmp_path / "a.idx", "suns", "-k", "1", "--mode", "sparse")
    assert "stars.pdf, page 2" in shown
    hit = json.loads(run("search", tmp_path / "a.idx", "sleeping", "-k", "1", "--mode", "sparse", "--json"))["hits"][0]
    assert (hit["document_id"], hit["page"], hit["page_end"]) == (str(files[0]), 2, 2)
    run("index", tmp_path / "pdf", "-o", tmp_path / "b.idx", "--method", "page", "--terms", "ngrams")
    with pychunk.Index.open(tmp_path / "a.idx") as one, pychunk.Index.open(tmp_path / "b.idx") as other:
        assert one.table.drop_columns(["document_id", "chunk_id"]) == other.table.drop_columns(
            ["document_id", "chunk_id"]
        )


@pytest.mark.slow
def test_sub_page_chunks_of_a_pdf_have_the_page_of_each_sentence(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2")
    files = files_of(tmp_path / "pdf")
    run("index", *files, "-o", tmp_path / "a.idx", "--method", "fixed")
    with pychunk.Index.open(tmp_path / "a.idx") as index:
        assert len(index) == 2
        assert index.search("They sleep by day.", k=1)[0][0].page == 2
        assert index.search("Cats purr softly.", k=1)[0][0].page == 1


@pytest.mark.slow
def test_leaflets_one_by_one_are_those_of_their_folder(tmp_path: Path, data: Path) -> None:
    pytest.importorskip("pypdfium2")
    folder = data / "unlp2026" / "medicine" / "pdf"
    options = ["--method", "page", "--terms", "ngrams"]
    run("index", *sorted(folder.glob("*.pdf")), "-o", tmp_path / "a.idx", *options)
    run("index", folder, "-o", tmp_path / "b.idx", *options)
    with pychunk.Index.open(tmp_path / "a.idx") as one, pychunk.Index.open(tmp_path / "b.idx") as other:
        assert len(one) == 256
        columns = ["document_index", "chunk_index", "text", "page", "page_end", "page_breaks"]
        assert one.table.select(columns) == other.table.select(columns)
