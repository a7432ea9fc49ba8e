"""The conversion of presentations by python-pptx: slides are pages, titles headings, and notes follow their slide."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from ..pdf.paged_text import CELLS, Paged, PagedWriter
from . import graphics
from .dispatch import plain_line
from .office import formula

#: The greatest depth of groups in groups whose shapes are read.
_DEPTH = 50
_MATH = "{http://schemas.microsoft.com/office/drawing/2010/main}m"
_DATA_OF = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document with a page for each slide, whose text is plain text.

    The title of a slide is a heading, and comes first. Paragraphs of lists are items with their level, and ` | `
    separates the cells of tables. The title of a chart is a caption. Its numbers are a table with a row for each
    category and a column for each series, and for points in a plane with a row for each point. The texts of a SmartArt
    graphic are items, and equations are their letters and signs in a row.

    Raises:
        ImportError: python-pptx is not installed.
    """
    import pptx

    writer = PagedWriter()
    slides = list(pptx.Presentation(io.BytesIO(data)).slides)
    first = ""
    for page, slide in enumerate(slides, 1):
        _rewrite(slide.element)
        heading = slide.shapes.title
        said = plain_line(heading.text_frame.text) if heading is not None else ""
        if said:
            writer.put("heading", 1, said, page)
            first = first or said
        for shape in _shapes(slide.shapes):
            if shape != heading:
                _put(writer, shape, page)
        if slide.has_notes_slide:
            _rewrite(slide.notes_slide.element)
            if slide.notes_slide.notes_text_frame is not None:
                _put_text(writer, slide.notes_slide.notes_text_frame, page, is_list=False)
    return writer.done(title or first, len(slides), [], facts)


def _rewrite(slide: Any) -> None:
    """Put what python-pptx does not read in elements that it reads: the choices of shapes, and equations."""
    from pptx.oxml.xmlchemy import OxmlElement

    for each in list(slide.iter("{*}AlternateContent")):  # of a box with an equation, the fallback is a picture
        ways = [*each.iterfind("{*}Choice"), *each.iterfind("{*}Fallback")]
        for shape in list(ways[0]) if ways else ():
            each.addprevious(shape)
        each.getparent().remove(each)
    for each in list(slide.iter(_MATH)):
        run, text = OxmlElement("a:r"), OxmlElement("a:t")
        text.text = "".join(formula(each))
        run.append(text)
        each.getparent().replace(each, run)


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _put(writer: PagedWriter, shape: Any, page: int) -> None:
    if getattr(shape, "has_table", False):
        rows = [[plain_line(cell.text) for cell in row.cells] for row in shape.table.rows]
        text = "\n".join(line for row in rows if (line := CELLS.join(row).strip()).strip(CELLS))
        if text:
            writer.put("table", 0, text, page)
    elif getattr(shape, "has_chart", False):
        if shape.chart.has_title and shape.chart.chart_title.has_text_frame:
            _put_text(writer, shape.chart.chart_title.text_frame, page, kind="caption")
        for rows in graphics.tables_of_chart(shape.chart.element):
            writer.put("table", 0, "\n".join(map(CELLS.join, rows)), page)
    elif shape.has_text_frame:
        _put_text(writer, shape.text_frame, page, is_list=shape.is_placeholder)
    else:
        with contextlib.suppress(KeyError, ValueError, SyntaxError):  # the data may be outside the file, or damaged
            for relations in shape.element.iter("{*}relIds"):
                for level, text in graphics.nodes(shape.part.related_part(relations.get(_DATA_OF)).blob):
                    writer.put("item", level, f"- {plain_line(text)}", page)


def _put_text(writer: PagedWriter, frame: Any, page: int, kind: str = "paragraph", is_list: bool = False) -> None:
    """Add the paragraphs of a frame; several paragraphs of a placeholder, or indented ones, are a list."""
    lines = [(paragraph.level, text) for paragraph in frame.paragraphs if (text := plain_line(paragraph.text))]
    is_list = is_list and (len(lines) > 1 or any(level for level, _ in lines))
    for level, text in lines:
        if is_list:
            writer.put("item", level + 1, f"- {text}", page)
        else:
            writer.put(kind, 0, text, page)
