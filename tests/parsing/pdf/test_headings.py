"""Headings and titles of a PDF, and text that resembles them."""

import random

import pytest
from pdfs import Page, made

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import headed, paragraph, rows


def test_a_heading_over_a_text_that_begins_with_a_small_letter_is_none_of_it() -> None:
    page = Page()
    y = page.lines(
        50, 80, ["These tools are there for everybody who has a pump at home, and for all", "who mend them."]
    )
    page.put(50, y + 20, "4.9.2 The pump-ls tool", size=12)
    page.lines(
        50, y + 46, ["pump-ls is a part of the tools for pumps; it lists all that is known of the", "pumps of a plant."]
    )
    texts = [row[3] for row in rows(read_pdf(made([page])))]
    assert texts[1:] == [
        "4.9.2 The pump-ls tool",
        "pump-ls is a part of the tools for pumps; it lists all that is known of the pumps of a plant.",
    ]


def test_headings_by_size_and_weight() -> None:
    found = [(level, text) for kind, level, _, text in rows(read_pdf(made([headed()]))) if kind == "heading"]
    assert found == [(1, "The Foxes"), (2, "1 Origins"), (3, "Early days"), (2, "2 Today")]


def test_headings_by_bookmarks() -> None:
    marks = [(1, "Origins", 0), (2, "Early  days", 0), (1, "Today", 0), (1, "Not there", 0)]
    pdf = read_pdf(made([headed()], bookmarks=marks, title="About foxes"))
    found = [(level, text) for kind, level, _, text in rows(pdf) if kind == "heading"]
    assert found == [(1, "The Foxes"), (1, "1 Origins"), (2, "Early days"), (1, "2 Today")]
    assert pdf.title == "About foxes"


def test_the_title_is_the_largest_first_line_where_metadata_has_none() -> None:
    assert read_pdf(made([headed()])).title == "The Foxes"
    assert read_pdf(made([headed()], title="Microsoft Word - report7.docx")).title == "The Foxes"


@pytest.mark.parametrize(
    "said", ["(anonymous)", "untitled", "Untitled-1", "(unspecified)", "PowerPoint Presentation", "-"]
)
def test_names_that_programs_give_are_no_titles(said: str) -> None:
    assert read_pdf(made([headed()], title=said)).title == "The Foxes"


@pytest.mark.parametrize(
    "lines",
    [
        ["1.1 The pump moves water from the well to the tank", "and stops by itself when the tank is full."],
        ["Measure the pressure each week. Write the value", "down in the table, and call the office."],
        ["The rules of the plant are well-known, and those of 2019-"],
    ],
)
def test_a_paragraph_is_no_title(lines: list[str]) -> None:
    page = Page()
    page.lines(50, 100, lines)
    page.lines(50, 160, ["Nothing else is here, and nothing will come of it,", "said the man who wrote this."])
    assert read_pdf(made([page])).title == ""
    assert read_pdf(made([page.put(50, 70, "Rules of the house.", 14)])).title == "Rules of the house."


@pytest.mark.parametrize("number", [["Chapter 6"], ["CHAPTER", "TWO"], ["Part IV"], ["TWENTY-ONE"]])
def test_the_number_of_a_chapter_is_of_one_heading_with_its_title(number: list[str]) -> None:
    page = Page()
    for line, text in enumerate(number):
        page.put(450, 60 + 22 * line, text, 10 + 4 * line if len(number) > 1 else 14, bold=True)
    page.put(300, 150, "The archive of foxes", 18, bold=True)
    page.lines(50, 190, paragraph(random.Random(40), 470))
    page.put(50, 300, "The number of foxes", 12, bold=True)
    page.lines(50, 320, paragraph(random.Random(41), 470))
    heads = [(level, text) for kind, level, _, text in rows(read_pdf(made([page]))) if kind == "heading"]
    assert [text for _, text in heads] == [" ".join([*number, "The archive of foxes"]), "The number of foxes"]
    assert heads[0][0] < heads[1][0]
