"""Presentations have a page for each slide, with its title, lists, tables and notes."""

import datetime
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


def test_charts_are_tables_with_their_title() -> None:
    """Categories of two levels, gaps, several series, and points in a plane."""
    from pptx.chart.data import CategoryChartData, XyChartData
    from pptx.enum.chart import XL_CHART_TYPE

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    bars = CategoryChartData()
    for outer, inner in (("North", ("Ants", "Bees")), ("South", ("Cats",))):
        category = bars.add_category(outer)
        for name in inner:
            category.add_sub_category(name)
    bars.add_series("2024", (1.5, None, 3))
    bars.add_series("2025", (0.1 + 0.2, 5, 6))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, bars).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Animals"
    plane = XyChartData()
    points = plane.add_series("Trees")
    points.add_data_point(1, 2.5)
    points.add_data_point(3, 4)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, 0, 9, 9, plane)
    days = CategoryChartData()
    days.categories = [datetime.date(2024, 2, 29), datetime.date(2025, 1, 1)]
    days.add_series("Rain", (3, 4))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 9, 9, days)
    held = io.BytesIO()
    made.save(held)
    found = office.convert(held.getvalue())
    first = " | 2024 | 2025\nNorth Ants | 1.5 | 0.3\nNorth Bees |  | 5\nSouth Cats | 3 | 6"
    last = " | Rain\n2024-02-29 | 3\n2025-01-01 | 4"
    assert found.text == f"Animals\n\n{first}\n\n | Trees\n1 | 2.5\n3 | 4\n\n{last}"
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind] == ["caption", "table", "table", "table"]
