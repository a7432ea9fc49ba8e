"""The conversion of presentations by python-pptx: slides are pages, titles headings, and notes follow their slide."""

from __future__ import annotations

import contextlib
import datetime
import io
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from ..pdf.paged_text import CELLS, Paged, PagedWriter
from .dispatch import plain
from .office import formula

#: The greatest depth of groups in groups whose shapes are read.
_DEPTH = 50
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_MATH = "{http://schemas.microsoft.com/office/drawing/2010/main}m"
_DATA_OF = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
#: The parts of a series: its name, categories or places, values, and sizes.
_DATA = ("tx", "cat", "xVal", "val", "yVal", "bubbleSize")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
#: A number of days that may be a date, since one of two days; and the parts of a format of numbers that are shown as
#: they are, or are empty.
_DAYS, _NO_FORM = re.compile(r"\d{1,6}(?:\.\d+)?"), re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].|general', re.IGNORECASE)
_EPOCH, _MAC_EPOCH = datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)


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
        said = _plain(heading.text_frame.text) if heading is not None else ""
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
        rows = [[_plain(cell.text) for cell in row.cells] for row in shape.table.rows]
        text = "\n".join(line for row in rows if (line := CELLS.join(row).strip()).strip(CELLS))
        if text:
            writer.put("table", 0, text, page)
    elif getattr(shape, "has_chart", False):
        if shape.chart.has_title and shape.chart.chart_title.has_text_frame:
            _put_text(writer, shape.chart.chart_title.text_frame, page, kind="caption")
        for text in _tables_of_chart(shape.chart.element):
            writer.put("table", 0, text, page)
    elif shape.has_text_frame:
        _put_text(writer, shape.text_frame, page, is_list=shape.is_placeholder)
    else:
        with contextlib.suppress(KeyError, ValueError, SyntaxError):  # the data may be outside the file, or damaged
            for relations in shape.element.iter("{*}relIds"):
                for level, text in _nodes(shape.part.related_part(relations.get(_DATA_OF)).blob):
                    writer.put("item", level, f"- {_plain(text)}", page)


def _tables_of_chart(chart: Any) -> list[str]:
    """Return a table for each group of successive series of the same categories."""
    first = chart.find(_CHART + "date1904")
    epoch = _MAC_EPOCH if first is not None and first.get("val", "1") in ("1", "true") else _EPOCH
    groups: list[tuple[dict[int, str], list[tuple[str, dict[int, str]]]]] = []
    for series in chart.iter(_CHART + "ser"):
        data = {name: _points(series.find(_CHART + name), epoch) for name in _DATA}
        name = " ".join(data["tx"].values())
        categories = data["cat"] or data["xVal"]
        if not groups or groups[-1][0] != categories:
            groups.append((categories, []))
        groups[-1][1].append((name, data["val"] or data["yVal"]))
        if data["bubbleSize"]:
            groups[-1][1].append((f"{name} (size)".lstrip(), data["bubbleSize"]))
    tables = []
    for categories, own in groups:
        places = sorted(categories.keys() | {place for _, values in own for place in values})
        rows = [["", *(name for name, _ in own)]]
        rows += [[categories.get(place, ""), *(values.get(place, "") for _, values in own)] for place in places]
        lines = [CELLS.join(row) for row in rows if any(row)]
        if places:
            tables.append("\n".join(lines))
    return tables


def _points(data: Any, epoch: datetime.datetime) -> dict[int, str]:
    """Return the values of a chart's data by their number. Categories of several levels name the outermost first."""
    if data is None:
        return {}
    levels = [_level(each, epoch) for each in data.iter(_CHART + "lvl")] or [_level(data, epoch)]
    found = levels[0]
    for outer in levels[1:]:  # a value of an outer level is at the first of the points that it is for
        said = ""
        for place in sorted(found.keys() | outer.keys()):
            said = outer.get(place, said)
            if place in found:
                found[place] = f"{said} {found[place]}".lstrip()
    if not found:  # a name that is no reference to cells
        found = {0: " ".join(_plain(value.text or "") for value in data.iter(_CHART + "v"))}
    return {place: value for place, value in found.items() if value}


def _level(data: Any, epoch: datetime.datetime) -> dict[int, str]:
    found: dict[int, str] = {}
    form = _NO_FORM.sub("", next((each.text or "" for each in data.iter(_CHART + "formatCode")), "")).lower()
    for number, point in enumerate(data.iter(_CHART + "pt")):
        place = point.get("idx", "")
        text = _plain(point.findtext(_CHART + "v") or "")
        if text:
            found.setdefault(int(place) if place.isdecimal() else number, _number(text, form, epoch))
    return found


def _number(text: str, form: str, epoch: datetime.datetime) -> str:
    """Return a number as a person reads it: 2.4000000000000004 as 2.4, shares as percent, and days as a date."""
    if re.search("[dy]", form) and _DAYS.fullmatch(text):
        time = epoch + datetime.timedelta(seconds=round(float(text) * 86400))
        return time.isoformat(" ", "minutes") if re.search("[hs]", form) else time.date().isoformat()
    if _DECIMAL.fullmatch(text):
        return f"{100 * float(text):.12g}%" if "%" in form else f"{float(text):.15g}" if len(text) > 16 else text
    return text


def _nodes(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the level and the text of each node of a SmartArt graphic; a node comes before those below it."""
    root: Any = ElementTree.fromstring(data)
    points = {point.get("modelId"): point for point in root.iter(f"{_DIAGRAM}pt")}
    below: dict[str, list[str]] = {}
    for link in sorted(root.iter(f"{_DIAGRAM}cxn"), key=lambda link: -int(link.get("srcOrd", "0"))):
        if link.get("type", "parOf") == "parOf":
            below.setdefault(link.get("srcId"), []).append(link.get("destId"))
    # The last is the next. Nodes that no link leads to are at the end, and a circle of links ends.
    ahead = [(1, name) for name in reversed(points)]
    ahead += [(0, name) for name, point in points.items() if point.get("type") == "doc"]
    while ahead:
        level, name = ahead.pop()
        point = points.pop(name, None)
        if point is not None:
            ahead += [(level + 1, other) for other in below.get(name, ())]
            text = " ".join("".join(formula(each)) for each in point.iter(f"{_A}p"))
            if text.strip() and point.get("type", "node") in ("node", "asst"):
                yield min(level, 100), text


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
