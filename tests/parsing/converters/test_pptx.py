"""Presentations have a page for each slide, with its title, lists, tables and notes."""

import io
from typing import Any

import pytest

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.converters import office

pptx: Any = pytest.importorskip("pptx", reason="presentations are read by python-pptx (extra office)")


def test_slides_are_pages_with_titles_lists_tables_and_notes() -> None:
    made = pptx.Presentation()
    made.core_properties.title = ""
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "The  plan"
    frame = first.placeholders[1].text_frame
    frame.text = "One"
    paragraph = frame.add_paragraph()
    paragraph.text, paragraph.level = "Two", 1
    first.notes_slide.notes_text_frame.text = "Say hello."
    made.slides.add_slide(made.slide_layouts[6])
    last = made.slides.add_slide(made.slide_layouts[6])
    group = last.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "In a group"
    cells = last.shapes.add_table(2, 2, 0, 0, 9, 9).table
    for at, text in enumerate("abcd"):
        cells.cell(at // 2, at % 2).text = text
    held = io.BytesIO()
    made.save(held)
    found = office.convert(held.getvalue())
    assert found.text == "The plan\n\n- One\n- Two\n\nSay hello.\f\fIn a group\n\na | b\nc | d"
    assert found.title == "The plan"
    rows = zip(found.blocks.kind, found.blocks.level, found.blocks.page)
    assert [(BLOCK_KINDS[kind], int(level), int(page)) for kind, level, page in rows] == [
        ("heading", 1, 1),
        ("item", 1, 1),
        ("item", 2, 1),
        ("paragraph", 0, 1),
        ("paragraph", 0, 3),
        ("table", 0, 3),
    ]
