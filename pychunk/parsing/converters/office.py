"""The conversion of files of Office, which are read as what they are, whatever their names say."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import zipfile
import zlib
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


class Sources:
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
