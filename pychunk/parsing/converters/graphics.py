"""The charts and SmartArt graphics of Office, whose texts and numbers are in parts of their own."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from .dispatch import plain_line
from .office import formula

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
#: The parts of a series: its name, categories or places, values, and sizes.
_DATA = ("tx", "cat", "xVal", "val", "yVal", "bubbleSize")
_DECIMAL = re.compile(r"-?\d+(?:\.\d+)?")
#: A number of days that may be a date, since one of two days; and the parts of a format of numbers that are shown as
#: they are, or are empty.
_DAYS, _NO_FORM = re.compile(r"\d{1,6}(?:\.\d+)?"), re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].|general', re.IGNORECASE)
_EPOCH, _MAC_EPOCH = datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)


def title_of_chart(chart: Any) -> str:
    """Return the title of a chart, or nothing."""
    title = chart.find(f"{_CHART}chart/{_CHART}title")
    return "" if title is None else plain_line(" ".join(each.text or "" for each in title.iter(f"{_A}t")))


def tables_of_chart(chart: Any) -> list[list[list[str]]]:
    """Return the rows of a table for each group of successive series of the same categories.

    Args:
        chart: The root element of the chart's part, of lxml or of ElementTree.
    """
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
        if places:
            tables.append([row for row in rows if any(row)])
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
        found = {0: " ".join(plain_line(value.text or "") for value in data.iter(_CHART + "v"))}
    return {place: value for place, value in found.items() if value}


def _level(data: Any, epoch: datetime.datetime) -> dict[int, str]:
    found: dict[int, str] = {}
    form = _NO_FORM.sub("", next((each.text or "" for each in data.iter(_CHART + "formatCode")), "")).lower()
    for number, point in enumerate(data.iter(_CHART + "pt")):
        place = point.get("idx", "")
        text = plain_line(point.findtext(_CHART + "v") or "")
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


def nodes(data: bytes) -> Iterator[tuple[int, str]]:
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
