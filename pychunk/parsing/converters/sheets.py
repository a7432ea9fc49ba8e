"""The conversion of workbooks by calamine: sheets are pages, and rows between empty rows are tables."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any

from ..._engine.data.blocks import TABLE
from ..pdf.paged_text import CELLS, Paged, PagedWriter
from .dispatch import ConversionError, plain

#: The maximum number of cells with values that are read, and the maximum number of sheets.
MAX_CELLS, MAX_SHEETS = 5_000_000, 10_000


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document with a page for each sheet, whose text is plain text.

    The name of a sheet is a heading. Empty rows separate tables, whose first row is the header. ` | ` separates cells.
    Formulas are the values that the workbook holds for them. A merged cell has its value in its first cell. The fact
    ``rows`` lists the first character of each table and the number of its first row, from 1; each line is a row.

    Raises:
        ConversionError: The workbook has too many cells or sheets.
        ImportError: python-calamine is not installed.
    """
    import python_calamine

    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    names = book.sheet_names
    if len(names) > MAX_SHEETS:
        raise ConversionError(f"it has {len(names):,} sheets; at most {MAX_SHEETS:,} are read: divide the workbook")
    writer = PagedWriter()
    notes = []
    firsts: list[int] = []
    left = MAX_CELLS
    for page, name in enumerate(names, 1):
        try:
            sheet = book.get_sheet_by_name(name)
        except python_calamine.CalamineError as error:  # such as a sheet that holds a chart
            notes.append((page, f"the sheet {name!r} cannot be read: {error}"))
            continue
        tables = []
        for table, first, cells in _tables(sheet):
            left -= cells
            if left < 0:
                raise ConversionError(f"it has more than {MAX_CELLS:,} cells: divide the workbook")
            tables.append(table)
            firsts.append(first)
        if tables:
            writer.put("heading", 1, plain(" ".join(name.split())) or f"{page}", page)
        for table in tables:
            writer.put("table", 0, table, page)
    found = writer.done(title, len(names), notes, facts)
    starts = found.blocks.start[found.blocks.kind == TABLE].tolist()
    found.facts["rows"] = [{"start": start, "row": first} for start, first in zip(starts, firsts, strict=True)]
    return found


def _tables(sheet: Any) -> Iterator[tuple[str, int, int]]:
    """Yield the text of each table, the number of its first row and that of its cells, without empty columns."""
    rows: list[list[str]] = []
    for number, row in enumerate([*sheet.iter_rows(), []], 1):
        values = [_text(value) for value in row]
        if any(values):
            rows.append(values)
        elif rows:
            width = max(map(len, rows))
            used = [at for at in range(width) if any(at < len(each) and each[at] for each in rows)]
            lines = [CELLS.join(each[at] if at < len(each) else "" for at in used).strip() for each in rows]
            yield "\n".join(lines), number - len(rows), len(used) * len(rows)
            rows = []


def _text(value: Any) -> str:
    """Return a value as a person reads it: whole numbers without a point, times in ISO 8601."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime) and not (value.hour or value.minute or value.second or value.microsecond):
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat(*([" "] if isinstance(value, datetime.datetime) else []))
    return plain(" ".join(str(value).split()))
