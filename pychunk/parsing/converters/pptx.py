"""The conversion of presentations by python-pptx: slides are pages, titles headings, and notes follow their slide."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ..pdf.paged_text import CELLS, Paged, PagedWriter
from .dispatch import plain

#: The greatest depth of groups in groups whose shapes are read.
_DEPTH = 50


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document with a page for each slide, whose text is plain text.

    The title of a slide is a heading, and comes first. Paragraphs of lists are items with their level, and ` | `
    separates the cells of tables. The titles of charts are captions.

    Raises:
        ImportError: python-pptx is not installed.
    """
    import pptx

    writer = PagedWriter()
    slides = list(pptx.Presentation(io.BytesIO(data)).slides)
    first = ""
    for page, slide in enumerate(slides, 1):
        heading = slide.shapes.title
        said = _plain(heading.text_frame.text) if heading is not None else ""
        if said:
            writer.put("heading", 1, said, page)
            first = first or said
        for shape in _shapes(slide.shapes):
            if heading is None or shape.shape_id != heading.shape_id:
                _put(writer, shape, page)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            _put_text(writer, slide.notes_slide.notes_text_frame, page, is_list=False)
    return writer.done(title or first, len(slides), [], facts)


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _put(writer: PagedWriter, shape: Any, page: int) -> None:
    if getattr(shape, "has_table", False):
        rows = [[_plain(cell.text) for cell in row.cells] for row in shape.table.rows]
        text = "\n".join(line for row in rows if (line := CELLS.join(row).strip()).strip(CELLS))
        if text:
            writer.put("table", 0, text, page)
    elif getattr(shape, "has_chart", False):
        if shape.chart.has_title and shape.chart.chart_title.has_text_frame:
            _put_text(writer, shape.chart.chart_title.text_frame, page, kind="caption")
    elif shape.has_text_frame:
        _put_text(writer, shape.text_frame, page, is_list=shape.is_placeholder)


def _put_text(writer: PagedWriter, frame: Any, page: int, kind: str = "paragraph", is_list: bool = False) -> None:
    """Add the paragraphs of a frame; several paragraphs of a placeholder, or indented ones, are a list."""
    lines = [(paragraph.level, text) for paragraph in frame.paragraphs if (text := _plain(paragraph.text))]
    is_list = is_list and (len(lines) > 1 or any(level for level, _ in lines))
    for level, text in lines:
        if is_list:
            writer.put("item", level + 1, f"- {text}", page)
        else:
            writer.put(kind, 0, text, page)


def _plain(text: str) -> str:
    return plain(" ".join(text.split()))
