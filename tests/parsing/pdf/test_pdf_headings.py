"""The fonts of a PDF show which blocks are headings."""

from __future__ import annotations

import pytest
from pdfs import Page, made

pytest.importorskip("pypdfium2", reason="the extra docs is not installed")

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf.pdf_document import read_pdf
from pychunk.parsing.pdf.pdf_words import _BOLD, _LIGHT

LINES = [
    "The tablets are for grown people alone, who take one in the morning and one in",
    "the evening, each with a glass of water, until the pain has gone away, and then",
    "no more of them, whatever a neighbour says who has heard of somebody else who",
    "went on for weeks and came to no harm by it, as far as anybody knows of today.",
]


def headings(page: Page, bookmarks: list[tuple[int, str, int]] | None = None) -> list[tuple[int, str]]:
    pdf = read_pdf(made([page], bookmarks=bookmarks or []))
    blocks = zip(pdf.blocks.kind, pdf.blocks.level, pdf.blocks.start, pdf.blocks.end, strict=True)
    return [(int(level), pdf.text[a:b]) for kind, level, a, b in blocks if BLOCK_KINDS[kind] == "heading"]


def test_text_is_no_heading_where_a_listing_in_small_print_has_more_letters() -> None:
    page = Page().put(50, 40, "Listing", 14)
    y = page.lines(50, 70, LINES) + 8
    page.put(50, y, "Unpack it with this command:", 10)
    y += 14
    for number in range(70):
        page.put(50, y, f"{number} let value{number} be the sum of all that came before it, and {number} more", 7)
        y += 8.5
    assert headings(page) == [(1, "Listing")]


def test_lines_of_one_heading_are_one() -> None:
    page = Page().put(50, 60, "Appendix A: Other programs that are needed", 16)
    page.put(50, 79.2, "under this system", 16)
    page.lines(50, 110, LINES)
    assert headings(page) == [(1, "Appendix A: Other programs that are needed under this system")]


def test_headings_under_each_other_that_numbers_or_bookmarks_tell_apart_stay_two() -> None:
    page = Page().put(50, 60, "1 Installing", 16).put(50, 79.2, "2 Running it", 16)
    page.lines(50, 110, LINES)
    assert headings(page) == [(1, "1 Installing"), (1, "2 Running it")]
    page = Page().put(50, 60, "Installing", 16).put(50, 79.2, "Running it", 16)
    page.lines(50, 110, LINES)
    marks = [(1, "Installing", 0), (1, "Running it", 0)]
    assert headings(page, marks) == [(1, "Installing"), (1, "Running it")]


def test_faces_of_computer_modern_are_bold_by_their_names_alone() -> None:
    for name in ("CMR10", "ABCDEF+CMR12", "CMTI10", "CMSL9", "CMSS8", "CMCSC10", "SFRM1000", "ECRM0900", "TCRM1000"):
        assert _LIGHT.search(name), name
        assert not _BOLD.search(name), name
    for name in ("CMBX12", "SFBX1000", "CMSSBX10", "LMRoman10-Bold"):
        assert _BOLD.search(name) or not _LIGHT.search(name), name
    for name in ("Cmr", "ScrumR1", "Acmeti1"):
        assert not _LIGHT.search(name), name


def removed(pages: list[Page]) -> list[tuple[str, str]]:
    pdf = read_pdf(made(pages))
    return [(pdf.text[span.start : span.end], span.reason) for span in pdf.removed]


def test_prices_after_dots_and_what_a_box_contains_stay() -> None:
    page = Page().put(50, 40, "Menu", 16)
    page.lines(
        50, 90, ["Soup . . . . . . . 5", "Fish . . . . . . . 12", "Steak . . . . . . . 18", "Wine . . . . . . . 20"]
    )
    page.lines(50, 300, LINES)
    assert removed([page]) == []
    page = Page().put(50, 40, "Contents", 16)
    for row, (name, count) in enumerate((("Screws", "12"), ("Nuts", "12"), ("Bolts", "40"))):
        page.put(60, 80 + 15 * row, name).put(200, 80 + 15 * row, count)
    page.lines(50, 300, LINES)
    assert removed([page]) == []


@pytest.mark.parametrize("number", [["Chapter 6"], ["CHAPTER", "TWO"], ["TWO"], ["Appendix B"], ["Kapitel 3"]])
def test_the_number_of_a_chapter_goes_with_its_title(number: list[str]) -> None:
    page = Page()
    y = 60.0
    for size, text in zip((12, 16), number):
        page.put(400, y, text, size, bold=True)
        y += 30
    page.put(50, y + 20, "Keeping foxes", 20, bold=True)
    page.lines(50, y + 60, LINES)
    assert headings(page) == [(1, " ".join([*number, "Keeping foxes"]))]


def test_letters_above_names_are_headings_of_their_own() -> None:
    page = Page().put(50, 60, "B", 20, bold=True).put(50, 90, "Bear", 14, bold=True)
    page.lines(50, 115, LINES)
    assert headings(page) == [(1, "B"), (2, "Bear")]


@pytest.mark.parametrize("names", [["1. PURPOSE", "2. TERM AND END"], ["ARTICLE I - SCOPE", "ARTICLE II - FEES"]])
def test_numbered_names_of_clauses_in_capitals_are_headings(names: list[str]) -> None:
    page, y = Page(), 60.0
    for number, name in enumerate(names, 1):
        page.put(50, y, name)
        y = page.lines(50, y + 20, [f"{number}.1 {LINES[0]}", *LINES[1:]]) + 8
    assert headings(page) == [(1, name) for name in names]


def test_a_list_in_capitals_is_a_list() -> None:
    page = Page()
    page.lines(50, 60, ["1. FOXES", "2. WOLVES", "3. DOGS"])
    page.lines(50, 120, LINES)
    assert headings(page) == []
    page = Page().put(50, 60, "1. SINGLE")
    page.lines(50, 80, LINES)
    assert headings(page) == []


def sides(names: list[str], texts: list[list[str]], bold: bool = True) -> Page:
    page, y = Page(), 60.0
    for name, text in zip(names, texts, strict=True):
        page.put(40, y, name, bold=bold)
        y = page.lines(150, y, text) + 10
    return page


def test_headings_in_the_margin_begin_sections() -> None:
    page = sides(["Purpose", "Scope", "Duties"], [LINES, LINES[1:], LINES[:2]])
    assert headings(page) == [(1, name) for name in ("Purpose", "Scope", "Duties")]
    pdf = read_pdf(made([page]))
    assert pdf.text.split("\n\n") == [
        text
        for name, lines in (("Purpose", LINES), ("Scope", LINES[1:]), ("Duties", LINES[:2]))
        for text in (name, " ".join(lines))
    ]


def test_names_beside_short_texts_and_in_plain_print_are_a_table() -> None:
    short = [["4 bar at most"], ["12 litres a minute"], ["230 volts"]]
    assert headings(sides(["Pressure", "Flow", "Voltage"], short)) == []
    assert headings(sides(["Pressure", "Flow", "Voltage"], [LINES] * 3, bold=False)) == []
