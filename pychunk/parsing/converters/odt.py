"""The conversion of OpenDocument texts: headings, lists, tables with their header, footnotes after the text."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from ..pdf.paged_text import CELLS, CONTENTS, Paged, PagedWriter
from .dispatch import ConversionError, plain
from .office import MAX_MEMBERS, MAX_XML

#: The maximum number of empty columns between two cells of a table.
MAX_COLUMNS = 1000
#: The elements whose text is not that of the document: deleted text, comments, the notes, which follow it, and the
#: reading aids of rubies.
_APART = frozenset(["tracked-changes", "annotation", "annotation-end", "note", "ruby-text", "svg:desc", "svg:title"])
_CONTENTS = frozenset(["table-of-content", "illustration-index", "table-index", "alphabetical-index"])


def convert(data: bytes) -> Paged:
    """Convert an OpenDocument text to plain text; macros, links and embedded files are neither run nor read.

    Deletions count as made, comments and images are left out. Tables of contents are removed text. A formula is its
    text in StarMath, or its letters and signs in a row; other embedded objects are left out.

    Raises:
        ConversionError: The file is encrypted, damaged, of another format, or above the limits.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        size = sum(each.file_size for each in members if each.filename.endswith(".xml"))
        if len(members) > MAX_MEMBERS or size > MAX_XML:
            raise ConversionError(
                f"it has {len(members):,} parts and {size:,} bytes of XML; at most {MAX_MEMBERS:,} and {MAX_XML:,} "
                "are read: divide the document"
            )
        names = set(archive.namelist())
        if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise ConversionError("protected by a password: save it without one")
        if "content.xml" not in names:
            raise ConversionError("not an OpenDocument text: it has no content.xml; save it as .odt again")
        content: Any = ElementTree.fromstring(archive.read("content.xml"))
        _put_formulas(content, archive)
        facts = _facts(archive) if "meta.xml" in names else {"author": "", "date": ""}
    body = next((each for each in content.iter() if str(each.tag).endswith(":office:1.0}text")), None)
    if body is None:
        raise ConversionError("not an OpenDocument text: it is another kind of OpenDocument; save it as .odt")
    writer = _Writer(content)
    writer.blocks(body, 0)
    return writer.done(facts)


def _name(element: Any) -> str:
    """Return an element's name; with svg: before it for the titles of pictures, which are not those of documents."""
    space, _, name = str(element.tag).rpartition("}")
    return f"svg:{name}" if "svg" in space else name


def _value(element: Any, name: str) -> str:
    """Return an attribute in any namespace."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _put_formulas(content: Any, archive: zipfile.ZipFile) -> None:
    """Make the text of a formula that of the object that holds it, or links to it; other objects become empty."""
    read: dict[str, str] = {}  # an object may be at several places
    for each in reversed([each for each in content.iter() if _name(each) == "object"]):
        member = posixpath.normpath(f"{_value(each, 'href').lstrip('#')}/content.xml")
        if member not in read:
            try:
                read[member] = _formula(ElementTree.fromstring(archive.read(member)))
            except (KeyError, zipfile.BadZipFile, ElementTree.ParseError):
                read[member] = ""
        each.text = "".join(map(_formula, each)) or read[member]
        each[:] = []


def _formula(math: Any) -> str:
    """Return the annotation of MathML, which is StarMath in LibreOffice, else its text, and nothing for other XML."""
    said = next((each for each in math.iter() if _name(each) == "annotation" and each.text), math)
    return "".join(said.itertext()) if _name(math) == "math" else ""


def _facts(archive: zipfile.ZipFile) -> dict[str, str]:
    try:
        root: Any = ElementTree.fromstring(archive.read("meta.xml"))
    except ElementTree.ParseError:
        return {"author": "", "date": ""}
    found = {_name(each): plain(" ".join((each.text or "").split())) for each in root.iter()}
    author = found.get("initial-creator") or found.get("creator", "")
    return {"title": found.get("title", ""), "author": author, "date": found.get("date", "")}


class _Writer:
    """The blocks of a document, and the notes that follow them."""

    def __init__(self, content: Any) -> None:
        self.writer = PagedWriter()
        self.notes: list[str] = []
        self.title = ""
        styles = [each for each in content.iter() if _name(each) == "style"]
        named = {_value(each, "name") for each in styles if _value(each, "parent-style-name") == "Title"}
        self.titles = {"Title"} | named

    def done(self, facts: dict[str, str]) -> Paged:
        for number, note in enumerate(self.notes, 1):
            self.writer.put("paragraph", 0, f"[{number}] {note}", 1)
        return self.writer.done(facts.pop("title", "") or self.title, 0, [], facts)

    def blocks(self, parent: Any, depth: int, removed: str = "") -> None:
        """Write the blocks inside an element, which is in lists of this depth."""
        for each in parent:
            name = _name(each)
            if name in ("p", "h", "object"):
                is_title = _value(each, "style-name") in self.titles
                text = self.line(each)
                if is_title and not self.title:
                    self.title = text
                level = int(_value(each, "outline-level") or 1) if name == "h" else int(is_title)
                kind = "heading" if level else "item" if depth else "paragraph"
                self.put(kind, min(6, level) or min(depth, 100), text, removed)
                for box in _boxes(each):
                    self.blocks(box, depth, removed)
            elif name == "table":
                rows = [row for row in self.rows(each) if row.strip(" |")]
                self.put("table", 0, "\n".join(rows), removed)
            elif name in _CONTENTS:
                self.blocks(each, depth, CONTENTS)
            elif name not in _APART:
                self.blocks(each, depth + (name == "list"), removed)

    def put(self, kind: str, level: int, text: str, removed: str) -> None:
        if text.strip():
            self.writer.put(kind, level, text, 1, removed=removed)

    def rows(self, table: Any) -> Iterator[str]:
        """Yield the rows of a table. A cell's paragraphs are joined, and tables in cells are part of the cell."""
        for each in table:
            name = _name(each)
            if name == "table-row":
                cells: list[str] = []
                empty = 0  # the number of empty cells before the next one; a repeated value counts once
                for cell in each:
                    text = " ".join(filter(None, map(self.line, _paragraphs(cell))))
                    if text:
                        cells += [*[""] * min(empty, MAX_COLUMNS), text]
                    empty = int(_value(cell, "number-columns-repeated") or 1) - bool(text) + (0 if text else empty)
                yield CELLS.join(cells)
            elif name in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self.rows(each)

    def line(self, element: Any) -> str:
        """Return the text of a paragraph, and keep its notes for the end."""
        return plain(" ".join("".join(self.parts(element)).replace("\f", " ").split()))

    def parts(self, element: Any) -> Iterator[str]:
        yield element.text or ""
        for each in element:
            name = _name(each)
            if name == "note":
                self.notes.append("")
                number = len(self.notes)
                self.notes[number - 1] = " ".join(filter(None, map(self.line, _paragraphs(each))))
                yield f"[{number}]"
            elif name in ("tab", "s", "line-break"):
                yield " "
            elif name not in _APART and name != "text-box":
                yield from self.parts(each)
            yield each.tail or ""


def _paragraphs(element: Any) -> Iterator[Any]:
    """Yield the paragraphs and headings inside an element, without those of comments and notes."""
    for each in element:
        if _name(each) in ("p", "h"):
            yield each
            yield from (part for box in _boxes(each) for part in _paragraphs(box))
        elif _name(each) not in _APART:
            yield from _paragraphs(each)


def _boxes(element: Any) -> Iterator[Any]:
    """Yield the text boxes in a paragraph, without those inside others."""
    for each in element:
        if _name(each) == "text-box":
            yield each
        elif _name(each) not in _APART:
            yield from _boxes(each)
