"""Headings of PDF files in the font of the text, marked by the white space around them, or on the text's line."""

from __future__ import annotations

import pytest
from pdfs import Page, made

pytest.importorskip("pypdfium2", reason="the extra docs is not installed")

import pychunk
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf.paged_text import Paged
from pychunk.parsing.pdf.pdf_document import read_pdf

TEXT = [
    "The tablets are for grown people alone, who take one in the morning and one",
    "in the evening, each with a glass of water, until the pain has gone away.",
]
#: The distances between lines, blocks of a section, and sections.
LINE, BLOCK, SECTION = 12, 22, 44


def leaflet(sections: list[list[list[str]]], page: Page | None = None, y: float = 60, apart: float = SECTION) -> Page:
    """Return blocks of lines in sections, all in one font."""
    page = page or Page()
    for section in sections:
        for block in section:
            y = page.lines(50, y, block) - LINE + BLOCK
        y += apart - BLOCK
    return page


def blocks_of(pdf: Paged) -> list[tuple[str, int, int, int]]:
    columns = (pdf.blocks.kind, pdf.blocks.level, pdf.blocks.start, pdf.blocks.end)
    found = zip(*(column.tolist() for column in columns), strict=True)
    return [(BLOCK_KINDS[kind], level, start, end) for kind, level, start, end in found]


def headings(*pages: Page) -> list[tuple[int, str]]:
    pdf = read_pdf(made(list(pages)))
    return [(level, pdf.text[start:end]) for kind, level, start, end in blocks_of(pdf) if kind == "heading"]


NAMES = ["Composition", "What it is for.", "How to take it.", "Other medicines."]


def test_short_lines_set_off_from_above_and_near_to_what_is_below() -> None:
    page = leaflet([[[name], TEXT, TEXT] for name in NAMES])
    assert headings(page) == [(1, name) for name in NAMES]
    assert headings(leaflet([[[name], TEXT, TEXT] for name in NAMES], apart=BLOCK)) == []
    assert headings(leaflet([[[name], TEXT] for name in NAMES[:2]])) == []  # two may be so by chance


def test_what_is_no_heading_by_its_text() -> None:
    for name in ("in lower case", "Dear readers,", "What is it?", "500 mg, 250 mg, 100 mg", TEXT[0]):
        assert headings(leaflet([[[name], TEXT, TEXT] for _ in range(4)])) == [], name


def test_bold_lines_among_others_are_of_their_level() -> None:
    page = leaflet([[[name], TEXT, TEXT] for name in NAMES])
    page.texts = [(x, y, size, 2 if text == NAMES[2] else font, text) for x, y, size, font, text in page.texts]
    assert headings(page) == [(1, name) for name in NAMES]


def test_a_heading_at_the_top_of_a_page_ends_as_others_do() -> None:
    first = leaflet([[[name], TEXT, TEXT] for name in NAMES[1:]])
    assert headings(first, leaflet([[["Storage."], TEXT, TEXT]]))[-1] == (1, "Storage.")
    assert headings(first, leaflet([[["Storage"], TEXT, TEXT]]))[-1] == (1, NAMES[-1])


def test_short_first_sentences_of_sections_are_headings_of_their_own() -> None:
    begun = [[[name], TEXT, TEXT] for name in NAMES]
    runs_in = [f"Storage. {TEXT[0][:60]}", "lower than thirty degrees, out of the reach of children."]
    page = leaflet([*begun, [runs_in]])
    assert headings(page) == [*((1, name) for name in NAMES), (1, "Storage.")]
    pdf = read_pdf(made([page]))
    assert f"Storage.\n\n{TEXT[0][:60]}" in pdf.text
    chunks = pychunk.segment(pdf.text, "structure", size=40, columns={"blocks": blocks_of(pdf)})
    assert chunks[-1].path == ["Storage."]
    assert chunks[-1].text.startswith("Storage.")


def test_bold_print_up_to_a_full_stop_that_a_block_begins_with() -> None:
    page, y = Page(), 60.0
    for name in ("Form.", "Uses.", "Doses.", "Storage."):
        page.put(50, y, name, 10, bold=True).put(95, y, "A solution, of which ten drops are taken each morning, with")
        y = page.lines(50, y + LINE, ["a glass of water."]) - LINE + BLOCK
    assert headings(page) == [(1, name) for name in ("Form.", "Uses.", "Doses.", "Storage.")]
    texts = [(x, y, size, 1, text) for x, y, size, _, text in page.texts]
    assert headings(Page(texts)) == []


def test_bold_words_without_a_full_stop_are_no_headings() -> None:
    page, y = Page(), 60.0
    for name in ("Foxes", "Hares", "Bears", "Wolves"):
        page.put(50, y, name, 10, bold=True).put(95, y, "are animals of the forest that are seldom seen by day, and")
        y = page.lines(50, y + LINE, ["sleep in winter."]) - LINE + BLOCK
    assert headings(page) == []


def test_bold_print_in_a_section_is_a_level_below() -> None:
    page = leaflet([[[name], TEXT] for name in NAMES])
    y = max(y for _, y, _, _, _ in page.texts) + BLOCK
    page.put(50, y, "Children.", 10, bold=True).put(97, y, "They take half of what grown people take, and no more,")
    page.lines(50, y + LINE, ["unless a doctor says otherwise."])
    assert headings(page) == [*((1, name) for name in NAMES), (2, "Children.")]
