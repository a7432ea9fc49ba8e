"""Headers, footers and page numbers of a PDF, and text that resembles them."""

import random

import pytest
from pdfs import Page, made

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import WORDS, paragraph, rows, running_pages


def test_running_heads_feet_and_page_numbers_are_removed_but_stay_in_the_text() -> None:
    pdf = read_pdf(made(running_pages(5)))
    rows(pdf)
    said = [(pdf.text[span.start : span.end], span.reason, span.score) for span in pdf.removed]
    assert said == [
        each
        for number in range(5)
        for each in (
            ("Journal of Foxes Volume 7", "running_head", 1.0),
            ("Forest Press", "running_foot", 1.0),
            (f"- {number + 11} -", "page_number", 1.0),
        )
    ]


def test_lines_that_do_not_repeat_and_headings_at_the_top_are_kept() -> None:
    drawn = random.Random(8)
    pages = []
    for number in range(4):
        page = Page().put(50, 50, f"Chapter {number + 1}", 20, bold=True)
        page.lines(50, 80, paragraph(drawn, 480, 150))
        page.put(50, 700, drawn.choice(WORDS) + str(drawn.random()))
        pages.append(page)
    pdf = read_pdf(made(pages))
    assert pdf.removed == []
    assert [text for kind, _, _, text in rows(pdf) if kind == "heading"] == [f"Chapter {n}" for n in range(1, 5)]


def test_numbers_that_do_not_grow_are_no_page_numbers() -> None:
    pages = []
    for number in (4, 9, 1, 7):
        page = Page()
        page.lines(50, 80, paragraph(random.Random(number), 480, 100))
        pages.append(page.put(290, 815, str(number)))
    assert read_pdf(made(pages)).removed == []


def test_page_numbers_and_heads_of_chapters_of_any_length() -> None:
    drawn = random.Random(17)
    pages = []
    for number in range(9):
        page = Page()
        if number in (0, 2, 3, 6):  # first pages of chapters
            page.put(520, 40, str(number + 1), 8)
        else:
            chapter = sum(number > first for first in (0, 2, 3, 6))
            page.put(50, 40, f"Chapter {chapter}: {WORDS[chapter]}", 8).put(520, 40, str(number + 1), 8)
        page.lines(50, 80, paragraph(drawn, 480, 150))
        pages.append(page)
    pdf = read_pdf(made(pages))
    assert [span.reason for span in pdf.removed] == [
        "page_number" if number in (0, 2, 3, 6) else "running_head" for number in range(9)
    ]


def test_roman_page_numbers() -> None:
    pages = [Page().put(50, 100, text).put(290, 815, roman) for text, roman in zip(WORDS, ["ii", "iii", "iv", "v"])]
    pdf = read_pdf(made(pages))
    assert [(pdf.text[span.start : span.end], span.reason) for span in pdf.removed] == [
        (roman, "page_number") for roman in ("ii", "iii", "iv", "v")
    ]


def test_a_slanted_stamp_on_each_page_is_removed() -> None:
    pages = [Page(content="q 0.7 0.7 -0.7 0.7 200 300 cm BT /F1 60 Tf (DRAFT) Tj ET Q") for _ in range(3)]
    for number, page in enumerate(pages):
        page.lines(50, 100, [f"Page {number} is about rivers and", "about nothing else, they say."])
    pdf = read_pdf(made(pages))
    assert [pdf.text[span.start : span.end] for span in pdf.removed] == ["DRAFT"] * 3
    assert read_pdf(made(pages[:1])).title == ""


def test_notes_that_a_listing_goes_on_are_removed() -> None:
    first = Page().put(50, 700, "run(1)", font=3).put(300, 730, "(continues on next page)", size=9)
    then = Page().put(50, 60, "(continued from previous page)", size=9).put(50, 90, "run(2)", font=3)
    pdf = read_pdf(made([first, then]))
    assert [(pdf.text[span.start : span.end], span.reason) for span in pdf.removed] == [
        ("(continues on next page)", "running_foot"),
        ("(continued from previous page)", "running_head"),
    ]


def test_left_and_right_pages_with_heads_of_their_own() -> None:
    drawn = random.Random(18)
    pages = []
    for number in range(6):
        page = Page()
        if number % 2:
            page.put(50, 40, "The author", 8).put(530, 40, str(number + 1), 8)
        else:
            page.put(50, 40, str(number + 1), 8).put(480, 40, "The title", 8)
        page.lines(50, 80, paragraph(drawn, 480, 150))
        pages.append(page)
    pdf = read_pdf(made(pages))
    assert [pdf.text[span.start : span.end] for span in pdf.removed] == [
        f"The author {number + 1}" if number % 2 else f"{number + 1} The title" for number in range(6)
    ]


PROSE = [
    "Rivers carry water to the sea and",
    "sand along with it, from mountains",
    "that wear away by frost and by rain",
    "as they have done since they rose.",
]


@pytest.mark.parametrize("heads", [False, True])
@pytest.mark.parametrize(
    "lines",
    [
        PROSE * 3,
        [f"Line {number} of page {{page}} is about rivers." for number in range(9)],
        ["Text of page {page}."],
        ["Text of page {page}.", "It has a second line."],
        ["Nothing else is here."],
    ],
)
def test_text_that_pages_share_stays(heads: bool, lines: list[str]) -> None:
    pages = []
    for number in range(1, 5):
        page = Page()
        page.lines(50, 100, [line.format(page=number) for line in lines])
        if heads:
            page.put(50, 30, "The Annual Report").put(290, 820, f"{number}")
        pages.append(page)
    pdf = read_pdf(made(pages))
    gone = [(pdf.text[span.start : span.end], span.reason) for span in pdf.removed]
    for number in range(1, 5):
        assert " ".join(line.format(page=number) for line in lines) in " ".join(pdf.text.split())
        if heads and len(lines) > 1:
            assert gone[2 * number - 2 : 2 * number] == [
                ("The Annual Report", "running_head"),
                (str(number), "page_number"),
            ]
    text = [word for span, _ in gone for word in ("page", "water", "else") if word in span]
    assert not text
    assert bool(gone) == heads
