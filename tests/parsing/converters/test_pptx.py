"""Presentations have a page for each slide, with its title, lists, tables and notes."""

import datetime
import io
import zipfile
from collections.abc import Callable
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


def presentation(form: str, values: list[float], change: Callable[[bytes], bytes] = bytes) -> bytes:
    """Return a presentation with a chart of these values, in a format of numbers, after a change of the chart's XML."""
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Kept"
    data = CategoryChartData(number_format=form)
    data.categories = ["a", "b"]
    data.add_series("One", values)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, 9, 9, data).chart
    part = chart.part
    held = io.BytesIO()
    made.save(held)
    out = io.BytesIO()
    with zipfile.ZipFile(held) as before, zipfile.ZipFile(out, "w") as after:
        for info in before.infolist():
            text = before.read(info)
            after.writestr(info, change(text) if info.filename == part.partname[1:] else text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "values", "shown"),
    [
        ("General", [0.1 + 0.2, 1e-9], ("0.3", "1e-09")),
        ("0%", [0.25, 1], ("25%", "100%")),
        ("yyyy-mm-dd hh:mm", [45000.5, 45000], ("2023-03-15 12:00", "2023-03-15 00:00")),
        ("d-mmm", [45000, 45001], ("2023-03-15", "2023-03-16")),
        ("0_y", [5, 6], ("5", "6")),
        ('0 "days"', [5, 6], ("5", "6")),
    ],
)
def test_numbers_of_charts_are_shown_by_their_format(form: str, values: list[float], shown: tuple[str, str]) -> None:
    found = office.convert(presentation(form, values))
    assert found.text == "Kept\n\n | One\na | {}\nb | {}".format(*shown)


def test_charts_of_the_macintosh_and_bad_points() -> None:
    found = office.convert(
        presentation("yyyy-mm-dd", [43830, 1], lambda xml: xml.replace(b'date1904 val="0"', b'date1904 val="1"'))
    )
    assert found.text == "Kept\n\n | One\na | 2024-01-01\nb | 1904-01-02"
    for bad in (b'idx="1.0"', b"", b'idx="-1"', b'idx="x"'):
        found = office.convert(presentation("0", [3, 4], lambda xml, bad=bad: xml.replace(b'idx="1"', bad)))
        assert found.text == "Kept\n\n | One\na | 3\nb | 4"


def test_bubbles_have_their_sizes() -> None:
    from pptx.chart.data import BubbleChartData
    from pptx.enum.chart import XL_CHART_TYPE

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data = BubbleChartData()
    data.add_series("Towns").add_data_point(1, 2, 30)
    slide.shapes.add_chart(XL_CHART_TYPE.BUBBLE, 0, 0, 9, 9, data)
    held = io.BytesIO()
    made.save(held)
    assert office.convert(held.getvalue()).text == " | Towns | Towns (size)\n1 | 2 | 30"


A14 = "http://schemas.microsoft.com/office/drawing/2010/main"
EQUATION = (
    f'<a14:m xmlns:a14="{A14}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:oMathPara>'
    "<m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
    "</m:sSup></m:oMath></m:oMathPara></a14:m>"
)


def alternatives(shape: Any, choice: bool = True) -> None:
    """Put a shape in the choice of alternatives, whose fallback has another text, or in the fallback alone."""
    from lxml import etree

    own = etree.tostring(shape.element).decode()
    other = own.replace("Boxed", "Picture")
    inside = f"<mc:Choice Requires='a14'>{own}</mc:Choice><mc:Fallback>{other}</mc:Fallback>"
    if not choice:
        inside = f"<mc:Fallback>{own}</mc:Fallback>"
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    made = etree.fromstring(f'<mc:AlternateContent xmlns:mc="{mc}">{inside}</mc:AlternateContent>')
    shape.element.getparent().replace(shape.element, made)


def with_equation(frame: Any) -> None:
    """Add an equation and a word to the first paragraph of a frame."""
    from lxml import etree

    frame.paragraphs[0]._p.append(etree.fromstring(EQUATION))
    frame.paragraphs[0].add_run().text = " holds"


def test_shapes_in_alternatives_are_read_once_and_equations_stay_in_their_place() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Boxed title "
    with_equation(slide.shapes.title.text_frame)
    box = slide.shapes.add_textbox(0, 0, 9, 9)
    box.text_frame.text = "Boxed: "
    with_equation(box.text_frame)
    inner = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9)
    inner.text_frame.text = "In a group"
    cells = slide.shapes.add_table(1, 1, 0, 0, 9, 9).table
    with_equation(cells.cell(0, 0).text_frame)
    slide.notes_slide.notes_text_frame.text = "Say that "
    with_equation(slide.notes_slide.notes_text_frame)
    alternatives(slide.shapes.title)
    alternatives(box)
    alternatives(inner, choice=False)
    held = io.BytesIO()
    made.save(held)
    found = office.convert(held.getvalue())
    assert found.text.split("\n\n") == [
        "Boxed title E=mc^2 holds",
        "Boxed: E=mc^2 holds",
        "In a group",
        "E=mc^2 holds",
        "Say that E=mc^2 holds",
    ]
    assert [BLOCK_KINDS[kind] for kind in found.blocks.kind][:2] == ["heading", "paragraph"]


def test_a_shape_with_the_number_of_the_title_is_kept() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Title"
    box = slide.shapes.add_textbox(0, 0, 9, 9)
    box.text_frame.text = "Box"
    box.element.nvSpPr.cNvPr.set("id", str(slide.shapes.title.shape_id))
    held = io.BytesIO()
    made.save(held)
    assert office.convert(held.getvalue()).text == "Title\n\nBox"


def graphic(data: str) -> bytes:
    """Return a presentation with a text and a SmartArt graphic of this data."""
    from lxml import etree
    from pptx.opc.package import Part
    from pptx.opc.packuri import PackURI

    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Kept"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", made.part.package, data.encode())
    name = slide.part.relate_to(part, f"{kind}/diagramData")
    frame = slide.shapes.add_table(1, 1, 0, 0, 9, 9)._element
    inner = frame.find(".//{*}graphicData")
    inner.set("uri", DIAGRAM)
    inner[:] = [etree.fromstring(f'<dgm:relIds xmlns:dgm="{DIAGRAM}" xmlns:r="{kind}" r:dm="{name}"/>')]
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
MODEL = (
    f'<d:dataModel xmlns:d="{DIAGRAM}" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><d:ptLst>{{}}'
    "</d:ptLst><d:cxnLst>{}</d:cxnLst></d:dataModel>"
)


def point(name: int, text: str = "", kind: str = "node") -> str:
    return f"<d:pt modelId='{name}' type='{kind}'><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"


def link(above: int, below: int, order: int, kind: str = "parOf") -> str:
    return f"<d:cxn type='{kind}' srcId='{above}' destId='{below}' srcOrd='{order}'/>"


def test_the_texts_of_smartart_are_items_in_the_order_of_their_links() -> None:
    """The points are in another order; those for the layout have no text of their own, and a circle ends."""
    points = [point(3, "Second"), point(4, "Below"), point(2, "First"), point(1, kind="doc"), point(5, "Pic", "pres")]
    links = [link(1, 2, 0), link(1, 3, 1), link(2, 4, 0), link(4, 2, 0), link(2, 5, 0, "presOf")]
    alone = point(6, "Alone").replace("</a:p>", "</a:p><a:p><a:r><a:t>too</a:t></a:r></a:p>")
    found = office.convert(graphic(MODEL.format("".join([*points, alone]), "".join(links))))
    assert found.text == "Kept\n\n- First\n- Below\n- Second\n- Alone too"
    assert found.blocks.level.tolist() == [0, 1, 2, 1, 1]


@pytest.mark.parametrize("data", ["<a", MODEL.format("", link(1, 2, 0).replace("'0'", "'x'"))])
def test_a_damaged_graphic_loses_no_other_text(data: str) -> None:
    assert office.convert(graphic(data)).text == "Kept"
