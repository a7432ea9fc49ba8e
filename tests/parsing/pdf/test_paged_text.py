"""Pages and boxes of a PDF's blocks, and paragraphs that cross pages."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from pdfs import HEIGHT, Page, made, width_of

from pychunk import segment
from pychunk.io import open_source
from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import paragraph, rows


def test_one_paragraph_its_page_and_box() -> None:
    pdf = read_pdf(made([Page().put(50, 100, "Hello World", size=20)]))
    assert pdf.text == "Hello World"
    assert rows(pdf) == [("paragraph", 0, 1, "Hello World")]
    assert pdf.page_starts.tolist() == [0]
    assert pdf.blocks.box is not None
    left, top, right, bottom = pdf.blocks.box[0].tolist()
    assert left == pytest.approx(50, abs=2)
    assert right == pytest.approx(50 + width_of("Hello World", 20), abs=8)
    assert 78 < top < 90 < 100 < bottom < 108
    assert pdf.removed == []
    assert pdf.notes == []


def test_pages_with_an_empty_one_between() -> None:
    pdf = read_pdf(made([Page().put(50, 100, "One."), Page(), Page().put(50, 100, "Three.")]))
    assert pdf.text == "One.\f\fThree."
    assert pdf.page_starts.tolist() == [0, 5, 6]
    assert [page for _, _, page, _ in rows(pdf)] == [1, 3]


def over_pages(lines: list[str], each: int, heads: bool, size: float = 10) -> list[Page]:
    """Return pages with this many lines of a paragraph on each, with or without headers and numbers."""
    pages = []
    for number, first in enumerate(range(0, len(lines), each), 1):
        page = Page()
        if heads:
            page.put(50, 40, "Of foxes and dogs", 8).put(290, 810, f"- {number} -", 8)
        page.lines(50, 80, lines[first : first + each], size)
        pages.append(page)
    return pages


@pytest.mark.parametrize("heads", [True, False])
def test_a_paragraph_that_goes_on_over_pages_is_one_block(heads: bool) -> None:
    lines = paragraph(random.Random(31), 470, 900)
    pages = over_pages(lines, 9, heads)
    pages[-1].lines(50, 400, ["Another paragraph is there, too."])
    pdf = read_pdf(made(pages))
    found = rows(pdf)
    assert len(pages) > 4
    assert [(page, text) for kind, _, page, text in found if kind == "paragraph" and len(text.split()) > 4] == [
        (1, " ".join(lines)),
        (len(pages), "Another paragraph is there, too."),
    ]
    begins = [lines[first].split()[0] for first in range(0, len(lines), 9)]
    if heads:
        begins[0] = "Of"
        assert Counter(span.reason for span in pdf.removed) == {"running_head": len(pages), "page_number": len(pages)}
        assert {pdf.text[span.start : span.end] for span in pdf.removed if span.reason == "page_number"} == {
            f"- {number} -" for number in range(1, len(pages) + 1)
        }
    assert [re.match(r"\w+", pdf.text[at:]).group() for at in pdf.page_starts.tolist()] == begins


@pytest.mark.slow
@pytest.mark.parametrize("heads", [True, False])
def test_chunks_know_the_pages_of_a_paragraph_that_goes_on(tmp_path: Path, heads: bool) -> None:
    sentences = [f"Sentence {number} says where the fox went in the evening." for number in range(60)]
    words_of = " ".join(sentences).split()
    lines = [" ".join(words_of[first : first + 15]) for first in range(0, len(words_of), 15)]
    pages = over_pages(lines, 10, heads)
    (tmp_path / "a.pdf").write_bytes(made(pages))
    table = next(open_source(tmp_path / "a.pdf").batches()).table
    known = {name: name for name in ("text", "blocks", "page_starts", "removed")}
    edges = [*table["page_starts"][0].as_py(), len(table["text"][0].as_py())]
    for method in ("structure", "recursive", "sentence"):
        chunks = segment(table, method, columns=known, ids="id", **({"size": 40} if method != "sentence" else {}))
        found = chunks.table
        texts = [text for text in found["text"].to_pylist() if text.startswith("Sentence")]
        assert len(texts) > 5
        assert all(text.endswith("evening.") for text in texts), method
        for start, end, page, last in zip(*(found[name].to_pylist() for name in ("start", "end", "page", "page_end"))):
            assert edges[page - 1] <= start < edges[page]
            assert edges[last - 1] < end <= edges[last]
        if "boxes" in found.column_names:
            for boxes, page in zip(found["boxes"].to_pylist(), found["page"].to_pylist()):
                assert all(box["page"] >= page for box in boxes)
    cut = segment(table, "page", columns=known, ids="id").table
    assert set(cut["page"].to_pylist()) == set(range(1, len(pages) + 1))
    assert cut["page"].to_pylist() == cut["page_end"].to_pylist()


def test_what_ends_with_its_page_is_not_joined() -> None:
    ended = paragraph(random.Random(32), 470, 60)
    after = paragraph(random.Random(33), 470, 60)
    pages = [Page(), Page()]
    pages[0].lines(50, 80, ended)
    pages[1].lines(50, 80, after)
    assert [text for *_, text in rows(read_pdf(made(pages)))] == [" ".join(ended), " ".join(after)]
    pages = [Page(), Page()]
    pages[0].put(50, pages[0].lines(50, 80, ended) + 20, "The dogs of the forest", 14)
    pages[1].lines(50, 80, [after[0].lower(), *after[1:]])
    found = rows(read_pdf(made(pages)))
    assert [kind for kind, *_ in found] == ["paragraph", "heading", "paragraph"]


def test_a_word_and_an_item_and_a_column_go_on() -> None:
    lines = paragraph(random.Random(34), 470, 60)
    pages = [Page(), Page()]
    pages[0].lines(50, 80, ["The foxes are there.", *lines[:-1], "the quick brown fo-"])
    pages[1].lines(50, 80, ["xes jump over a lazy dog.", "The foxes are there."])
    pdf = read_pdf(made(pages))
    assert "the quick brown foxes jump" in pdf.text
    assert pdf.text[pdf.page_starts[1] :].startswith("xes jump")
    rows(pdf)
    pages = [Page(), Page()]
    pages[0].lines(50, 80, ["The list:", "1. first one", "2. second one, which has"])
    pages[1].lines(50, 80, ["more to say than the first.", "3. third one"])
    assert [text for kind, _, _, text in rows(read_pdf(made(pages))) if kind == "item"] == [
        "1. first one",
        "2. second one, which has more to say than the first.",
        "3. third one",
    ]


def test_a_paragraph_goes_on_after_a_footnote() -> None:
    lines = paragraph(random.Random(35), 470, 200)
    pages = [Page(), Page()]
    pages[0].lines(50, 80, lines[:8])
    pages[0].lines(50, 780, ["1 A note in small print."], 7)
    pages[1].lines(50, 80, lines[8:])
    found = rows(read_pdf(made(pages)))
    assert [(page, text) for _, _, page, text in found] == [(1, "1 A note in small print."), (1, " ".join(lines))]


@pytest.mark.parametrize("turns", [90, 180, 270])
def test_boxes_of_turned_pages_are_those_that_are_seen(turns: int) -> None:
    page = Page(keys=f"/Rotate {turns}").put(50, 100, "Upside")
    pdf = read_pdf(made([page]))
    assert pdf.text == "Upside"
    assert pdf.blocks.box is not None
    left, top, right, bottom = pdf.blocks.box[0].tolist()
    straight = read_pdf(made([Page().put(50, 100, "Upside")])).blocks.box
    assert straight is not None
    a, b, c, d = straight[0].tolist()
    seen = {
        90: (HEIGHT - d, a, HEIGHT - b, c),
        180: (595 - c, HEIGHT - d, 595 - a, HEIGHT - b),
        270: (b, 595 - c, d, 595 - a),
    }
    assert (left, top, right, bottom) == pytest.approx(seen[turns], abs=0.01)
