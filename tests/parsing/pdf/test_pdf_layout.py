"""The reading order of a PDF's pages: columns, rotated text, short columns that are not a table."""

import random

import pytest
from pdfs import HEIGHT, Page, made

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import paragraph, rows, two_columns


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_two_columns_are_read_one_after_the_other(offset: float) -> None:
    page = Page().put(100, 60, "A title across both columns of the page", size=18)
    wanted = two_columns(random.Random(3), page, 100, offset)
    page.lines(50, 600, below := paragraph(random.Random(4), 490, 50))
    pdf = read_pdf(made([page]))
    assert [text for *_, text in rows(pdf)] == ["A title across both columns of the page", *wanted, " ".join(below)]
    assert pdf.blocks.box is not None
    assert (pdf.blocks.box[1:4, 2] < 300).all()
    assert (pdf.blocks.box[4:7, 0] > 300).all()


def test_short_columns_that_follow_on_each_other_in_the_file_are_no_table() -> None:
    page = Page()
    columns = [[f"{side} column, line {number}" for number in range(1, 5)] for side in ("Left", "Right")]
    for x, lines in zip((72, 320), columns):
        page.lines(x, 100, lines)
    assert read_pdf(made([page])).text.split() == " ".join(columns[0] + columns[1]).split()


def test_turned_text_comes_last() -> None:
    page = Page(content=f"BT /F1 10 Tf 0 1 -1 0 30 {HEIGHT - 700} Tm (Set along the margin) Tj ET")
    page.lines(50, 100, paragraph(random.Random(6), 480))
    found = rows(read_pdf(made([page])))
    assert [text for *_, text in found][-1] == "Set along the margin"
    assert len(found) == 2
