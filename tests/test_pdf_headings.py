"""Which blocks of a PDF its fonts show to be headings."""

from __future__ import annotations

import pytest
from pdfs import Page, made

pytest.importorskip("pypdfium2", reason="the extra docs is not installed")

from pychunk.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf import read_pdf
from pychunk.parsing.pdf_words import _BOLD, _LIGHT

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
