"""The conversion of workbooks by calamine: sheets are pages, and rows between empty rows are tables."""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from ..._engine.data.blocks import TABLE
from ..pdf.paged_text import CELLS, Paged, PagedWriter
from .dispatch import ConversionError, plain

#: The maximum number of cells with values that are read, and the maximum number of sheets.
MAX_CELLS, MAX_SHEETS = 5_000_000, 10_000
#: The maximum number of cells of the range from A1 to the last row and column that have values. calamine takes 32 bytes
#: for each cell of the range: 1.6 GB of the 4 GB that a process may have.
MAX_RANGE = 50_000_000
#: The number of a row; and the columns from AA or AAA, which are the 27th and the 703rd.
_ROW, _AA, _AAA = (re.compile(rb"""r=["']""" + each) for each in (rb"(\d{1,7})", b"[A-Za-z]{2}", b"[A-Za-z]{3}"))
#: The column and the row of a cell with a value. A cell that only has a style is empty.
_CELL = re.compile(rb"""<(?:\w+:)?c\s(?:[^>]*?\s)?r=["']([A-Za-z]{1,3})(\d{1,7})["'][^>]*(?<!/)>(?!</)""")
#: A formula without a value; a text may be a value without characters.
_BARE = re.compile(
    rb"""<c\b(?![^>]*\st=["']str["'])[^>]*>\s*<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"""
)

#: The white space between cells, rows and tables of OpenDocument.
_INDENT = re.compile(rb">\s+(?=</?table:)")


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document with a page for each sheet, whose text is plain text.

    The name of a sheet is a heading. Empty rows separate tables, whose first row is the header. ` | ` separates cells.
    Formulas are the values that the workbook holds for them. A merged cell has its value in its first cell. Numbers
    are written as they are stored, without their formats, so that 12.5 % is 0.125; dates and times are formatted. The
    fact ``rows`` lists the first character of each table and the number of its first row, from 1; each line is a row.

    Notes name the sheets without cells, such as charts, and those whose cells are too far apart. In .xlsx and .xlsm
    they count the formulas without values, too.

    Raises:
        ConversionError: The workbook is damaged, or has too many cells or sheets.
        ImportError: python-calamine is not installed.
    """
    import python_calamine

    with _quiet():
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(_without_indents(data)))
    kinds = [(each.name, str(each.typ).rpartition(".")[2]) for each in book.sheets_metadata]
    if len(kinds) > MAX_SHEETS:
        raise ConversionError(f"it has {len(kinds):,} sheets; at most {MAX_SHEETS:,} are read: divide the workbook")
    writer = PagedWriter()
    notes = []
    firsts: list[int] = []
    left = MAX_CELLS
    sources = _Sources(data)
    for page, (name, kind) in enumerate(kinds, 1):
        sheet, problem = _opened(book, name, kind, sources)
        if problem:
            notes.append((page, f"the sheet {name!r} {problem}"))
        tables = []
        for table, first, cells in _tables(sheet) if sheet is not None else ():
            left -= cells
            if left < 0:
                raise ConversionError(f"it has more than {MAX_CELLS:,} cells: divide the workbook")
            tables.append(table)
            firsts.append(first)
        if tables:
            writer.put("heading", 1, plain(" ".join(name.split())) or f"{page}", page)
        for table in tables:
            writer.put("table", 0, table, page)
    found = writer.done(title, len(kinds), notes, facts)
    starts = found.blocks.start[found.blocks.kind == TABLE].tolist()
    found.facts["rows"] = [{"start": start, "row": first} for start, first in zip(starts, firsts, strict=True)]
    return found


def _without_indents(data: bytes) -> bytes:
    """Return a workbook of OpenDocument without white space between cells, which calamine refuses, and others as is."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if "content.xml" not in archive.namelist() or not _INDENT.search(archive.read("content.xml")):
            return data
        members = {name: archive.read(name) for name in archive.namelist() if name.endswith((".xml", "mimetype"))}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, _INDENT.sub(b">", content) if name == "content.xml" else content)
    return written.getvalue()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Discard what Rust prints about a fault, such as a stack of 30 lines, and raise an error that can be caught.

    Raises:
        ConversionError: Rust panicked. Its own error is none that ``except Exception`` catches.
    """
    kept = os.dup(2)
    try:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ConversionError(f"a damaged workbook: calamine fails with {error!s:.200}; save it again") from None
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class _Sources:
    """The XML of the sheets of a workbook of Excel, by the names of the sheets.

    It is empty for a sheet without XML, such as those of other workbooks, and for one that is damaged.

    Args:
        data: The bytes of the workbook.
    """

    def __init__(self, data: bytes) -> None:
        self._members: dict[str | None, str] = {}
        with contextlib.suppress(zipfile.BadZipFile, KeyError, ElementTree.ParseError):
            self._archive = zipfile.ZipFile(io.BytesIO(data))
            links: Any = ElementTree.fromstring(self._archive.read("xl/_rels/workbook.xml.rels"))
            targets = {
                each.get("Id"): each.get("Target", "").removeprefix("/xl/").removeprefix("xl/") for each in links
            }
            book: Any = ElementTree.fromstring(self._archive.read("xl/workbook.xml"))
            for each in book.iterfind("{*}sheets/{*}sheet"):
                link = next((value for name, value in each.items() if name.endswith("}id")), None)
                self._members[each.get("name")] = f"xl/{targets.get(link)}"

    def __getitem__(self, name: str) -> bytes:
        if name not in self._members:
            return b""
        try:
            return self._archive.read(self._members[name])
        except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError):
            return b""  # the reader of the workbook says why it cannot read the sheet


def _opened(book: Any, name: str, kind: str, sources: _Sources) -> tuple[Any, str]:
    """Return a sheet, or None if it cannot be read, and what is wrong with it; "" if nothing is."""
    if kind not in ("WorkSheet", "MacroSheet"):
        return None, f"is left out: it is a {kind}, which has no cells"
    source = sources[name]
    far = _far(source)
    if far:
        return None, f"is left out: {far}: delete the cells that are far from the others, and save it again"
    try:
        with _quiet():
            sheet = book.get_sheet_by_name(name)
    except Exception as error:
        return None, f"cannot be read: {error}"
    bare = sum(1 for _ in _BARE.finditer(source)) if b"<f" in source else 0
    told = f"has formulas without values ({bare:,}), which are left out: save it in a program that computes them"
    return sheet, told if bare else ""


def _far(source: bytes) -> str:
    """Return what is wrong with the range of a sheet's cells, or "" if calamine can read it."""
    last = _ROW.search(source, max(0, source.rfind(b"row ")))
    most = MAX_RANGE // max(1, int(last[1]) if last else 1 << 20)
    # A sheet has at most 16,384 columns. The numbers of rows increase, so that few sheets need a look at all cells.
    if most >= 1 << 14 or not (_AA if most < 702 else _AAA).search(source):
        return ""
    cells = _CELL.findall(source)
    column = max({letters.upper() for letters, _ in cells}, key=lambda letters: (len(letters), letters), default=b"")
    row = max((int(number) for _, number in cells), default=0)
    count = row * sum((letter - 64) * 26**at for at, letter in enumerate(reversed(column)))
    if count <= MAX_RANGE:
        return ""
    return f"its range A1:{column.decode()}{row} has {count:,} cells, and at most {MAX_RANGE:,} are read"


def _tables(sheet: Any) -> Iterator[tuple[str, int, int]]:
    """Yield the text of each table, the number of its first row and that of its cells, without empty columns."""
    rows: list[list[str]] = []
    for number, row in enumerate(itertools.chain(sheet.iter_rows(), [[]]), 1):
        values = [] if row.count("") == len(row) else [_text(value) for value in row]
        if any(values):
            rows.append(values)
        elif rows:
            width = max(map(len, rows))
            used = [at for at in range(width) if any(at < len(each) and each[at] for each in rows)]
            lines = [CELLS.join(each[at] if at < len(each) else "" for at in used).strip() for each in rows]
            yield "\n".join(lines), number - len(rows), len(used) * len(rows)
            rows = []


def _text(value: Any) -> str:
    """Return a value as a person reads it: whole numbers without a point, times in ISO 8601, durations in hours."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.timedelta):
        minutes, rest = divmod(round(abs(value) / datetime.timedelta(milliseconds=1)), 60_000)
        seconds = f"{rest / 1000:06.3f}".rstrip("0").rstrip(".")
        return f"{'-' if value.days < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds}"
    if isinstance(value, datetime.datetime) and not (value.hour or value.minute or value.second or value.microsecond):
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat(*([" "] if isinstance(value, datetime.datetime) else []))
    return plain(" ".join(str(value).split()))
