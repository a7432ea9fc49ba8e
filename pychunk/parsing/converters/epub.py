"""The conversion of e-books in EPUB to Markdown: the chapters in the order of the spine, by the reader of HTML."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from ..pdf.paged_text import Paged
from .dispatch import ConversionError, joined, of_html, of_markdown

#: The maximum size of a book's chapters in bytes, as the archive declares it; no archive unpacks to more than that.
MAX_BYTES = 256 << 20
#: The maximum size of the files that describe the book, in bytes. Those of books have some kilobytes.
_XML_BYTES = 16 << 20
_XHTML = "application/xhtml+xml"
_CONTENTS = (_XHTML, "text/html", "application/x-dtbook+xml")


def convert(data: bytes) -> Paged:
    """Convert a book to a document without pages.

    If a chapter has no heading, the entry of the table of contents that leads to it becomes its heading. The table of
    contents itself is left out, and chapters that are missing in the archive are noted. The title, the author and the
    date are those of the book's metadata.

    Raises:
        ConversionError: The archive is not a book, is encrypted, or has more than ``MAX_BYTES``.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        place = _package(archive)
        package = _xml(archive, place)
        folder = posixpath.dirname(place)
        items = {item.get("id", ""): item for item in _all(package, "item")}
        spine = _spine(package, items, folder)
        names = set(archive.namelist())
        parts = [part for part in spine if part in names]
        protected = _encrypted(archive)
        if any(part in protected for part in parts):
            raise ConversionError("the chapters are encrypted (DRM): get a copy of the book without it")
        size = sum(archive.getinfo(part).file_size for part in parts)
        if size > MAX_BYTES:
            raise ConversionError(f"its chapters have {size:,} bytes; at most {MAX_BYTES:,} are read: divide the book")
        titles = _titles(archive, package, items, folder)
        chapters = []
        for part in parts:
            chapter = of_html(archive.read(part), is_xhtml=spine[part] == _XHTML)
            if part in titles and chapter.text and not (chapter.blocks.kind == 1).any():
                chapters.append(of_markdown(f"# {titles[part]}"))
            chapters.append(chapter)
    facts = {"author": ", ".join(_said(package, "creator")), "date": next(iter(_said(package, "date")), "")}
    made = joined(chapters, next(iter(_said(package, "title")), ""), facts)
    made.notes.extend((0, f"the chapter {part} is missing in the archive") for part in spine if part not in names)
    return made


def _package(archive: zipfile.ZipFile) -> str:
    try:
        root = _xml(archive, "META-INF/container.xml")
    except KeyError:
        raise ConversionError("not an EPUB: META-INF/container.xml is missing") from None
    place = next((each.get("full-path", "") for each in _all(root, "rootfile")), "")
    if place not in archive.namelist():
        raise ConversionError(f"damaged: the package file {place!r} is missing")
    return place


def _spine(package: Any, items: dict[str, Any], folder: str) -> dict[str, str]:
    """Return the members that are chapters, in order, with their types."""
    found: dict[str, str] = {}
    for reference in _all(package, "itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or item.get("media-type") not in _CONTENTS or "nav" in item.get("properties", "").split():
            continue
        found[_place(folder, item.get("href", ""))] = item.get("media-type", "")
    return found


def _titles(archive: zipfile.ZipFile, package: Any, items: dict[str, Any], folder: str) -> dict[str, str]:
    """Return the first entry of the table of contents for each member."""
    found: dict[str, str] = {}
    for item in items.values():
        is_nav = "nav" in item.get("properties", "").split()
        if not is_nav and item.get("media-type") != "application/x-dtbncx+xml":
            continue
        name = _place(folder, item.get("href", ""))
        try:
            root = _xml(archive, name)
        except (KeyError, ElementTree.ParseError):
            continue
        for link, title in _links(root) if is_nav else _points(root):
            words = " ".join(title.split())
            if words:
                found.setdefault(_place(posixpath.dirname(name), link.partition("#")[0]), words)
    return found


def _links(root: Any) -> Iterator[tuple[str, str]]:
    for each in _all(root, "a"):
        yield each.get("href", ""), "".join(each.itertext())


def _points(root: Any) -> Iterator[tuple[str, str]]:
    for point in _all(root, "navPoint"):
        label = next(_all(point, "text"), None)
        content = next(_all(point, "content"), None)
        if label is not None and content is not None:
            yield content.get("src", ""), "".join(label.itertext())


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    try:
        root = _xml(archive, "META-INF/encryption.xml")
    except KeyError:
        return set()
    return {unquote(each.get("URI", "")) for each in _all(root, "CipherReference")}


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    size = archive.getinfo(name).file_size
    if size > _XML_BYTES:
        raise ConversionError(f"{name} has {size:,} bytes; at most {_XML_BYTES:,} are read")
    return ElementTree.fromstring(archive.read(name))


def _all(root: Any, name: str) -> Iterator[Any]:
    """Yield the elements of a name in any namespace."""
    return (each for each in root.iter() if isinstance(each.tag, str) and each.tag.rpartition("}")[2] == name)


def _said(package: Any, name: str) -> list[str]:
    found = (" ".join("".join(each.itertext()).split()) for each in _all(package, name))
    return [each for each in found if each]


def _place(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href)))
