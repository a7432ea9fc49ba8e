"""The conversion of files of Office, which are read as what they are, whatever their names say."""

from __future__ import annotations

import importlib
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from ..pdf.paged_text import Paged
from .dispatch import ConversionError, plain

#: The maximum number of members of a file, and of bytes of their XML, as the archive declares them. No member unpacks
#: to more than it declares. The tree of 128 MB of XML takes about the 4 GB that a process may have.
MAX_MEMBERS, MAX_XML = 10_000, 128 << 20
#: The member that each format has, with the converter, the package that reads the format, and the endings of names.
_FORMATS = {
    "word/document.xml": "docx",
    "ppt/presentation.xml": "pptx",
    "xl/workbook.xml": "sheets",
    "xl/workbook.bin": "sheets",
}
_NUMBER = re.compile(r"\d+(?=\.xml$)")
#: The marks before the parts of fractions, powers, indexes and roots in equations.
_MARKS = {"num": "", "den": "/", "sub": "_", "sup": "^", "rad": "√"}
_SPREADSHEET = b"application/vnd.oasis.opendocument.spreadsheet"
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def convert(data: bytes) -> Paged:
    """Convert a document, a presentation or a workbook; macros, links and embedded files are neither run nor read.

    Raises:
        ConversionError: The file is encrypted, damaged, of another format, or above the limits.
        ImportError: The package that reads the format is not installed.
    """
    name, facts = "sheets", {"title": "", "author": "", "date": ""}
    if data.startswith(_OLD):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise ConversionError("protected by a password: save it without one")
        if "Workbook".encode("utf-16-le") not in data and "Book".encode("utf-16-le") not in data:
            raise ConversionError("an old Office document, not a workbook: save it as .docx or .pptx")
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive)
            name = _format(archive)
            facts = _facts(archive)
    module = importlib.import_module(f"{__package__}.{name}")
    found: Paged = module.read(data, facts.pop("title"), facts)
    return found


def _check(archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise ConversionError(f"it has {len(members):,} parts; at most {MAX_MEMBERS:,} are read: divide the document")
    size = sum(each.file_size for each in members if each.filename.lower().endswith((".xml", ".rels", ".bin")))
    if size > MAX_XML:
        raise ConversionError(f"its text has {size:,} bytes of XML; at most {MAX_XML:,} are read: divide the document")


def _format(archive: zipfile.ZipFile) -> str:
    names = set(archive.namelist())
    usual = {_NUMBER.sub("", name) for name in names}  # some programs write word/document2.xml
    found = next((name for member, name in _FORMATS.items() if member in usual), "")
    if not found and "mimetype" in names and archive.read("mimetype").startswith(_SPREADSHEET):
        found = "sheets"
    if not found:
        raise ConversionError("not a document of Office: it is another ZIP archive")
    return found


def _facts(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the title, the author and the time of the last change, from the properties of the document."""
    found = {"title": "", "author": "", "date": ""}
    try:
        root: Any = ElementTree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ElementTree.ParseError):
        return found
    names = {"title": "title", "creator": "author", "modified": "date"}
    for each in root:
        name = names.get(str(each.tag).rpartition("}")[2])
        if name:
            found[name] = plain(" ".join((each.text or "").split()))
    return found


def formula(element: Any) -> Iterator[str]:
    """Yield the texts in an equation or a paragraph of Office, without deleted ones, and spaces at ends of lines.

    Marks stand for what only the layout says, as in ``(a+b)/2``, ``c^2``, ``√x`` and ``∑_i``.
    """
    for each in element:
        name = str(each.tag).rpartition("}")[2]
        if name == "t":
            yield each.text or ""
        elif name in _MARKS:
            text = "".join(formula(each)).strip()
            if text:
                yield _MARKS[name] + (text if text.isalnum() or name == "rad" else f"({text})")
        elif name == "d":  # brackets, whose signs are attributes
            inside = ["".join(formula(part)) for part in each if str(part.tag).endswith("}e")]
            yield _sign(each, "begChr", "(") + _sign(each, "sepChr", "|").join(inside) + _sign(each, "endChr", ")")
        elif name not in ("del", "moveFrom"):
            if name == "nary":
                yield _sign(each, "chr", "∫")
            yield from formula(each)
            if name in ("oMath", "br") or str(element.tag).endswith(("}eqArr", "}mr")):
                yield " "


def _sign(element: Any, name: str, default: str) -> str:
    """Return the sign that the properties of a part of an equation name."""
    found = next((each for each in element.iterfind("{*}*/{*}" + name)), None)
    return default if found is None else next((v for key, v in found.items() if key.endswith("val")), "")
