"""Real files of the kinds that people have, and a slow, obvious reading of each kind for the tests.

The readings use the standard library alone. They know which text, headings, tables, items and pages a file has, and
nothing about how a converter shows them.

Python's own tests and the installed packages have mails, reStructuredText, YAML, TOML, JSON and XML. For the others
name a folder in ``PYCHUNK_FILES``. Packages' source distributions have documents, presentations, workbooks, notebooks
and subtitles in their tests:

    pip download --no-deps --no-binary :all: python-docx python-pptx mammoth odfpy ezodf openpyxl xlrd xlsx2csv \
        tablib messytables pyexcel-ods3 docxcompose py3o.template nbconvert nbformat jupytext papermill srt pysrt \
        webvtt-py pycaption
    for each in *.tar.gz; do tar xf $each; done
"""

from __future__ import annotations

import ast
import codecs
import email
import email.policy
import fnmatch
import io
import json
import os
import re
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

FILES = os.environ.get("PYCHUNK_FILES", "")
#: The number of files of each kind that are tried.
MOST = 120
_PATHS = sysconfig.get_paths()
#: The folders of files that every machine with the extra ``test`` has.
INSTALLED = (Path(_PATHS["purelib"]), Path(_PATHS["stdlib"]) / "test" / "test_email" / "data")


@dataclass
class Raw:
    """The text and the structure that a file has.

    Attributes:
        pieces: Its text, in order, in pieces between which other text may be.
        loose: Pieces that may be anywhere, such as those of notes and text boxes.
        headings: The texts of its headings, in order.
        tables, items: The least numbers of its tables and of the items of its lists. Charts may be tables, too.
        pages: The pieces of each page, in any order; None if the kind has no pages.
    """

    pieces: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    tables: int = 0
    items: int = 0
    pages: list[list[str]] | None = None


def letters(text: str) -> str:
    """Return the letters and digits of a text, so that marks of Markdown and white space do not count."""
    return "".join(filter(str.isalnum, text))


def files(names: str, folders: tuple[Path, ...]) -> list[Path]:
    """Return files of up to a megabyte whose names have one of some patterns, without copies."""
    found: dict[bytes, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if (
                any(fnmatch.fnmatch(path.name.lower(), name) for name in names.split())
                and path.is_file()
                and 0 < path.stat().st_size < 1 << 20
            ):
                found.setdefault(path.read_bytes(), path)
    return list(found.values())[:MOST]


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _attribute(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _find(element: Any, *names: str) -> Any:
    for name in names:
        element = next((each for each in element if _local(each) == name), None) if element is not None else None
    return element


def _xml(archive: zipfile.ZipFile, name: str) -> Any:
    return ElementTree.fromstring(archive.read(name))


def _relations(archive: zipfile.ZipFile, member: str) -> dict[str, tuple[str, str]]:
    """Return the type and the target of each relation of a member, by id."""
    folder, _, name = member.rpartition("/")
    try:
        root = _xml(archive, f"{folder}/_rels/{name}.rels".lstrip("/"))
    except KeyError:
        return {}
    found = {}
    for each in root:
        target = each.get("Target", "")
        whole = target.lstrip("/") if target.startswith("/") else os.path.normpath(f"{folder}/{target}".lstrip("/"))
        found[each.get("Id", "")] = (each.get("Type", "").rpartition("/")[2], whole)
    return found


# Documents of Word.


def docx(data: bytes) -> Raw:
    """Read the paragraphs of a document of Word; those of text boxes are loose."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    main = next(target for kind, target in _relations(archive, "").values() if kind == "officeDocument")
    styles = _styles(archive, main)
    raw = Raw()
    body = _find(_xml(archive, main), "body")
    _docx_blocks(body, raw, styles, top=True)
    for kind, target in _relations(archive, main).values():
        if kind in ("footnotes", "endnotes", "comments") and target in archive.namelist():
            for note in _xml(archive, target):
                if _attribute(note, "type") in ("", "normal"):
                    for paragraph in note.iter():
                        if _local(paragraph) == "p":
                            raw.loose += _docx_pieces(paragraph)[0]
    return raw


def _styles(archive: zipfile.ZipFile, main: str) -> dict[str, tuple[int, bool]]:
    """Return the level of headings of each style of paragraphs, 0 for others, and whether it makes a list."""
    named = [target for kind, target in _relations(archive, main).values() if kind == "styles"]
    if not named or named[0] not in archive.namelist():
        return {}
    own: dict[str, tuple[int | None, bool | None, str]] = {}
    for style in _xml(archive, named[0]):
        name, level = _find(style, "name"), _find(style, "pPr", "outlineLvl")
        based, numbers = _find(style, "basedOn"), _find(style, "pPr", "numPr", "numId")
        if _local(style) != "style" or _attribute(style, "type") != "paragraph":
            continue
        said = "" if name is None else _attribute(name, "val").lower()
        at = None if level is None else int(_attribute(level, "val")) + 1
        if heading := re.fullmatch(r"heading ([1-6])", said):
            at = int(heading[1])
        at = 1 if said == "title" else at
        lists = None if numbers is None else _attribute(numbers, "val") != "0"
        own[_attribute(style, "styleId")] = (at, lists, "" if based is None else _attribute(based, "val"))
    found = {}
    for name in own:
        at, level, lists = name, None, None
        for _ in range(20):
            if at not in own:
                break
            level = own[at][0] if level is None else level
            lists = own[at][1] if lists is None else lists
            at = own[at][2]
        found[name] = (0 if level is None or level > 9 else level, bool(lists))
    return found


def _docx_blocks(parent: Any, raw: Raw, styles: dict[str, tuple[int, bool]], top: bool) -> None:
    for each in parent:
        name = _local(each)
        if name == "tbl":
            filled = [_docx_row(row, raw, styles) for row in each if _local(row) in ("tr", "sdt", "ins")]
            if top and sum(map(bool, filled)) > 1 and max(filled) > 1:  # one row or column may be layout
                raw.tables += 1
        elif name in ("sdt", "sdtContent", "ins", "smartTag", "customXml", "moveTo"):
            _docx_blocks(each, raw, styles, top)
        elif name == "p":
            pieces, boxes = _docx_pieces(each)
            raw.pieces += pieces
            raw.loose += boxes
            style, numbers = _find(each, "pPr", "pStyle"), _find(each, "pPr", "numPr", "numId")
            level, lists = styles.get("" if style is None else _attribute(style, "val"), (0, False))
            lists = lists if numbers is None else _attribute(numbers, "val") != "0"
            if top and level and pieces:
                raw.headings.append("".join(pieces))
            elif top and lists and pieces:
                raw.items += 1


def _docx_row(parent: Any, raw: Raw, styles: dict[str, tuple[int, bool]]) -> int:
    """Read the cells of a row, and return how many of them have text."""
    filled = 0
    for each in parent:
        before = len(raw.pieces)
        if _local(each) == "tc":
            _docx_blocks(each, raw, styles, top=False)
            filled += len(raw.pieces) > before
        else:
            filled += _docx_row(each, raw, styles)
    return filled


def _docx_pieces(paragraph: Any) -> tuple[list[str], list[str]]:
    """Return the text of a paragraph between its references to notes, and the text of its boxes."""
    parts = [""]
    boxes: list[str] = []

    def walk(element: Any) -> None:
        for each in element:
            name = _local(each)
            if name == "t":
                parts[-1] += each.text or ""
            elif name in ("footnoteReference", "endnoteReference", "commentReference"):
                parts.append("")
            elif name == "txbxContent":
                for inner in each.iter():
                    if _local(inner) == "p":
                        boxes.extend(_docx_pieces(inner)[0])
            elif name not in ("del", "moveFrom", "Fallback", "pPr", "rPr", "rt"):
                walk(each)

    walk(paragraph)
    return [piece for part in parts if (piece := letters(part))], boxes


# Presentations and workbooks.


def pptx(data: bytes) -> Raw:
    """Read the slides of a presentation: paragraphs, tables, titles and notes."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    main = next(target for kind, target in _relations(archive, "").values() if kind == "officeDocument")
    related = _relations(archive, main)
    pages: list[list[str]] = []
    raw = Raw(pages=pages)
    listed = _find(_xml(archive, main), "sldIdLst")
    for slide in () if listed is None else listed:
        _, member = related[next(value for key, value in slide.attrib.items() if key.endswith("relationships}id"))]
        root = _xml(archive, member)
        page = _paragraphs_of_slide(_find(root, "cSld", "spTree"))
        tables = [each for each in root.iter() if _local(each) == "tbl"]
        raw.tables += sum(bool(_paragraphs_of_slide([each])) for each in tables)
        shapes = _find(root, "cSld", "spTree").iter()
        title = next((each for each in shapes if _is_placeholder(each, "title", "ctrTitle")), None)
        if title is not None and (said := "".join(_paragraphs_of_slide([title]))):
            raw.headings.append(said)
        for kind, target in _relations(archive, member).values():
            if kind == "notesSlide" and target in archive.namelist():
                shapes = [each for each in _xml(archive, target).iter() if _is_placeholder(each, "body")]
                page += _paragraphs_of_slide(shapes[:1])
        pages.append(page)
    return raw


def _is_placeholder(shape: Any, *kinds: str) -> bool:
    if _local(shape) != "sp":
        return False
    mark = _find(shape, "nvSpPr", "nvPr", "ph")
    return mark is not None and _attribute(mark, "type") in kinds


def _paragraphs_of_slide(elements: Any) -> list[str]:
    found = []
    for element in elements:
        for each in element.iter():
            if _local(each) == "p":
                said = "".join(
                    _find(run, "t").text or "" for run in each if _local(run) == "r" and _find(run, "t") is not None
                )
                found += filter(None, [letters(said)])
    return found


def xlsx(data: bytes) -> Raw:
    """Read the strings in the cells of a workbook's sheets."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    main = next(target for kind, target in _relations(archive, "").values() if kind == "officeDocument")
    related = _relations(archive, main)
    shared: list[str] = []
    for kind, target in related.values():
        if kind == "sharedStrings" and target in archive.namelist():
            for each in _xml(archive, target):
                shared.append(
                    "".join(part.text or "" for part in each if _local(part) == "t")
                    + "".join(
                        _find(run, "t").text or "" for run in each if _local(run) == "r" and _find(run, "t") is not None
                    )
                )
    pages: list[list[str]] = []
    for sheet in _find(_xml(archive, main), "sheets"):
        kind, member = related[next(value for key, value in sheet.attrib.items() if key.endswith("relationships}id"))]
        page = []
        for cell in _xml(archive, member).iter() if kind == "worksheet" else ():
            value = _find(cell, "v") if _local(cell) == "c" else None
            if value is not None and _attribute(cell, "t") == "s" and value.text:
                page.append(letters(shared[int(value.text)]))
            elif value is not None and _attribute(cell, "t") == "str":
                page.append(letters(value.text or ""))
            elif _local(cell) == "is":
                page.append(letters("".join(each.text or "" for each in cell.iter() if _local(each) == "t")))
        pages.append([*filter(None, page)])
    return Raw(pages=pages)


# OpenDocument, notebooks and books.


def ods(data: bytes) -> Raw:
    """Read the paragraphs in the cells of an OpenDocument spreadsheet's sheets."""
    root = _find(_xml(zipfile.ZipFile(io.BytesIO(data)), "content.xml"), "body", "spreadsheet")
    pages = []
    for sheet in root:
        page: list[str] = []
        for cell in sheet.iter() if _local(sheet) == "table" else ():
            kinds = {value for key, value in cell.attrib.items() if key.endswith("value-type")}
            if kinds == {"string"}:  # an error has the kind "error", too
                page += [letters("".join(each.itertext())) for each in cell if _local(each) == "p"]
        if _local(sheet) == "table":
            pages.append([*filter(None, page)])
    return Raw(pages=pages)


def odt(data: bytes) -> Raw:
    """Read the paragraphs and headings of an OpenDocument text; those of notes and text boxes are loose."""
    root = _xml(zipfile.ZipFile(io.BytesIO(data)), "content.xml")
    raw = Raw()

    def text(element: Any, parts: list[str]) -> list[str]:
        parts[-1] += element.text or ""
        for each in element:
            name = _local(each)
            if name == "note":
                parts.append("")
                raw.loose.extend(piece for inner in each.iter() if _local(inner) == "p" for piece in cut(inner))
            elif name == "text-box":
                raw.loose.extend(piece for inner in each.iter() if _local(inner) in ("p", "h") for piece in cut(inner))
            elif name not in ("annotation", "annotation-end", "desc", "title", "ruby-text"):
                text(each, parts)
            parts[-1] += each.tail or ""
        return parts

    def cut(element: Any) -> list[str]:
        return [piece for part in text(element, [""]) if (piece := letters(part))]

    def blocks(parent: Any, top: bool) -> None:
        for each in parent:
            name = _local(each)
            if name in ("p", "h"):
                pieces = cut(each)
                raw.pieces.extend(pieces)
                if name == "h" and top and pieces:
                    raw.headings.append("".join(pieces))
            elif name not in ("tracked-changes", "annotation"):
                before = len(raw.pieces)
                blocks(each, top and name not in ("table", "list") and "index" not in name and "content" not in name)
                if name == "table" and top and len(raw.pieces) > before:
                    raw.tables += 1

    blocks(_find(root, "body", "text"), top=True)
    return raw


def notebook(data: bytes) -> Raw:
    """Read the lines of a notebook's cells."""
    book = json.loads(data)
    cells = book.get("cells") or [cell for sheet in book.get("worksheets", ()) for cell in sheet["cells"]]
    raw = Raw()
    for cell in cells:
        source = cell.get("source", cell.get("input", ""))
        raw.pieces += filter(None, map(letters, ("".join(source)).splitlines()))
    return raw


class _Html(HTMLParser):
    """The text of a page between its tags, without styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.hidden += tag in ("style", "script", "title")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script", "title")

    def handle_data(self, data: str) -> None:
        self.pieces += [letters(data)] if not self.hidden and letters(data) else []


def epub(data: bytes) -> Raw:
    """Read the text of a book's chapters in the order of its spine, and the headings in their tags."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    container = _xml(archive, "META-INF/container.xml")
    package = next(_attribute(each, "full-path") for each in container.iter() if _local(each) == "rootfile")
    root = _xml(archive, package)
    named = {each.get("id"): each for each in _find(root, "manifest")}
    raw = Raw()
    for item in _find(root, "spine"):
        found = named[item.get("idref")]
        if _attribute(item, "linear") == "no" or "nav" in _attribute(found, "properties").split():
            continue
        page = _Html()
        member = os.path.normpath(f"{os.path.dirname(package)}/{found.get('href')}".lstrip("/"))
        text = archive.read(member).decode()
        page.feed(text[text.find("<body") :])
        raw.pieces += page.pieces
        for level in re.findall(r"<h[1-6][^>]*>(.*?)</h[1-6]>", text, re.DOTALL):
            own = _Html()
            own.feed(level)
            raw.headings += filter(None, ["".join(own.pieces)])
    return raw


# Text with marks.


def mail(data: bytes) -> Raw:
    """Read the lines of the plain body of a mail, else nothing."""
    message = email.message_from_bytes(data.lstrip(), policy=email.policy.default)
    body = message.get_body(("plain",))
    try:
        said = body.get_content() if body is not None else ""
    except (LookupError, ValueError):
        said = ""
    return Raw(pieces=[*filter(None, map(letters, str(said).splitlines()))])


def subtitles(data: bytes) -> Raw:
    """Read the lines after those with the times of cues, up to a blank line.

    If words have times, a line may repeat the one before it, and counts once.
    """
    raw, inside, before = Raw(), False, ""
    text = decoded(data)
    rolls = re.search(r"<\d\d:[\d:]+[.,]\d{3}>", text)
    for line in text.splitlines():
        whole = letters(unescape(re.sub(r"<[^<>]*>", "", line)))
        if "-->" in line or not line.strip():
            inside = "-->" in line
        elif inside and not (rolls and whole == before):
            raw.pieces += filter(None, map(letters, map(unescape, re.split(r"<[^<>]*>|\{[^{}]*\}", line))))
            before = whole
    return raw


def structured_text(data: bytes) -> Raw:
    """Read the lines of reStructuredText, and the headings by a rule of one repeated mark below them."""
    lines = data.decode("utf-8-sig").splitlines()
    raw = Raw(pieces=[*filter(None, map(letters, lines))])
    for before, line, rule in zip(["", *lines], lines, lines[1:], strict=False):
        marked = re.fullmatch(r"""([=\-~^"'`*+#.:_])\1{3,}""", rule.rstrip()) and len(rule.rstrip()) >= len(
            line.strip()
        )
        alone = not before.strip() or before.rstrip() == rule.rstrip()
        if marked and alone and letters(line) and line == line.lstrip():
            raw.headings.append(letters(line))
    return raw


def decoded(data: bytes) -> str:
    """Return the text of bytes in UTF-8, or in UTF-16 or UTF-32 after a byte order mark."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return data.decode("utf-32")
    return data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig")


def json_text(data: bytes) -> Raw:
    """Read the keys and strings of JSON."""
    return Raw(pieces=[*filter(None, map(letters, _leaves(json.loads(data))))])


def toml(data: bytes) -> Raw:
    """Read the keys and strings of TOML."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 has it")
    return Raw(pieces=[*filter(None, map(letters, _leaves(tomllib.loads(data.decode()))))])


def yaml(data: bytes) -> Raw:
    """Read the scalars of YAML without its anchors, as the file writes them."""
    library = pytest.importorskip("yaml", reason="YAML is read by PyYAML")
    scalars = [
        event.value for event in library.parse(data, library.SafeLoader) if isinstance(event, library.ScalarEvent)
    ]
    return Raw(pieces=[*filter(None, map(letters, scalars))])


def tex(data: bytes) -> Raw:
    """Read the lines of LaTeX, and its headings on lines of their own."""
    text = data.decode()
    body = text[text.find("\\begin{document}") :]
    names = re.findall(r"^\\(?:chapter|(?:sub)*section)\*?\{([\w ]+)\}", body, re.MULTILINE)
    return Raw(pieces=[*filter(None, map(letters, text.splitlines()))], headings=[*map(letters, names)])


def python(data: bytes) -> Raw:
    """Read the lines of Python, and the names that are defined in it at the top."""
    tree = ast.parse(data)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    several = [each.name for each in tree.body if isinstance(each, kinds) and (each.end_lineno or 0) > each.lineno]
    return Raw(pieces=[*filter(None, map(letters, data.decode().splitlines()))], headings=[*map(letters, several)])


def rtf(data: bytes) -> Raw:
    """Read the paragraphs of RTF, and those of its footnotes as loose pieces."""
    stack: list[str] = ["text"]
    texts: dict[str, list[str]] = {"text": [""], "note": [""], "": [""]}
    skip = 0
    for mark in re.finditer(
        r"\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}]+)", data.decode("latin-1")
    ):
        word, number, byte, sign, brace, said = mark.groups()
        to = texts[stack[-1]]
        if brace:
            stack = [*stack, stack[-1]] if brace == "{" else stack[:-1] or ["text"]
        elif (
            word in ("fonttbl", "colortbl", "stylesheet", "info", "pict", "listtable", "listoverridetable")
            or sign == "*"
        ):
            stack[-1] = ""
        elif word == "footnote":
            stack[-1] = "note"
            texts["text"].append("")
            texts["note"].append("")
        elif word in ("par", "cell", "line", "tab", "row"):
            to.append("")
        elif word == "u":
            to[-1] += chr(int(number) % 65536)
            skip = 1
        elif byte and skip:
            skip = 0
        elif byte:
            to[-1] += bytes.fromhex(byte).decode("cp1252", "replace")
        elif said:
            to[-1] += said.replace("\r", "").replace("\n", "")[skip:]
            skip = 0
    whole = {name: [*filter(None, map(letters, parts))] for name, parts in texts.items()}
    return Raw(pieces=whole["text"], loose=whole["note"])


def _leaves(value: Any) -> Iterator[str]:
    """Yield the strings in a value, with the keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def xml(data: bytes) -> Raw:
    """Read the texts of an XML file's elements."""
    root = ElementTree.fromstring(data)
    return Raw(pieces=[*filter(None, map(letters, root.itertext()))])
