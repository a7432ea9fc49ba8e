"""The conversion of documents of Word: by mammoth to HTML, and by the reader of HTML to Markdown."""

from __future__ import annotations

import contextlib
import hashlib
import html
import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

from ..pdf.paged_text import Paged
from . import graphics
from .dispatch import of_html
from .office import formula

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
#: The members whose text mammoth reads, and bytes that each of the elements has that it leaves out with their text.
_BODIES = re.compile(r"word/(?:document|footnotes|endnotes|comments)\d*\.xml")
_LEFT_OUT = (
    b":fldSimple|:bdo|:dir |:ruby|:cr/|:cr |:ptab|:sym |:oMath|:txbx|:textbox|:AlternateC|:checkbox|:chart|:relIds"
).split(b"|")
#: Elements of Word that mammoth does not know, with those that it reads in the same way: a smart tag is its content.
#: The reading aid of a ruby stays unknown.
_KNOWN = dict.fromkeys(["fldSimple", "bdo", "dir", "ruby", "rubyBase"], "smartTag") | {"cr": "br", "ptab": "tab"}
#: The elements that stand for a chart and for a SmartArt graphic, with the attribute that names its part.
_GRAPHICS = {"chart": "id", "relIds": "dm"}
#: The property of a control that makes a box without text of its sign, such as ☒.
_CHECKBOX = "{http://schemas.microsoft.com/office/word/2010/wordml}checkbox"
#: What mammoth does not map by itself. A comment is at the end, and its mark at its place. Without a break of pages or
#: columns, the words around it would be one.
_STYLES = (
    *("comment-reference => sup", "p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"),
    *("br[type='page'] => br", "br[type='column'] => br"),
)
#: The links that lead from a note, and from a comment, back to their marks.
_BACK = re.compile(r' ?<a href="#(?:footnote|endnote|comment)-ref-[^"]*">↑</a>')
#: The first row of a table that marks no row as its header, if another row follows.
_FIRST_ROW = re.compile(r"<table><tr>((?:(?!<table|</tr>).)*)</tr>(?=<tr>)", re.DOTALL)


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document whose text is Markdown: headings, lists, tables, notes and comments, without images.

    A paragraph is a heading if its style is one of Word's headings, or has an outline level. If a table marks no header
    row, its first row is the header. Insertions count as accepted, and deletions as made. Fields are their last result,
    equations their letters and signs in a row, and text boxes follow their paragraph. So do charts, as their title and
    a table of their numbers, and SmartArt graphics, as lists. Footnotes, endnotes and comments follow the text.

    Raises:
        ImportError: mammoth or selectolax is not installed.
    """
    import mammoth

    drawn: dict[str, str] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rules, known = _outline(archive), _known(archive, drawn)
    found = mammoth.convert_to_html(
        io.BytesIO(known or data),
        style_map="\n".join([*rules, *_STYLES]),
        convert_image=mammoth.images.img_element(lambda image: {}),
        id_prefix="",
    )
    body = _BACK.sub("", found.value)
    for mark, own in drawn.items():
        body = body.replace(f"<p>{mark}</p>", own).replace(mark, own)
    body = _FIRST_ROW.sub(_as_header, body)
    return of_html(f"<html><body>{body}</body></html>", title, facts)


def _as_header(row: re.Match[str]) -> str:
    return f"<table><thead><tr>{row[1].replace('<td', '<th').replace('</td>', '</th>')}</tr></thead>"


def _known(archive: zipfile.ZipFile, drawn: dict[str, str]) -> bytes:
    """Return the XML of the archive in another, in elements that mammoth knows; nothing if it knows all of them.

    A chart or SmartArt graphic is a paragraph whose text is a mark. Its HTML is added to ``drawn`` under the mark.
    """
    changed = {}
    for name in filter(_BODIES.fullmatch, archive.namelist()):
        text = archive.read(name)
        if any(mark in text for mark in _LEFT_OUT):
            root = ElementTree.fromstring(text)
            _mark_graphics(root, _parts(archive, name), drawn)
            changed[name] = _rewritten(root)
    if not changed:
        return b""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for name in dict.fromkeys(archive.namelist()):
            if name.lower().endswith((".xml", ".rels")):  # mammoth opens no image
                made.writestr(name, changed.get(name) or archive.read(name))
    return held.getvalue()


def _parts(archive: zipfile.ZipFile, body: str) -> Callable[[str], bytes]:
    """Return a function that gives the bytes of the part that an id in a body means, or nothing."""
    folder, base = posixpath.split(body)
    places = {}
    with contextlib.suppress(KeyError, ElementTree.ParseError):
        for each in ElementTree.fromstring(archive.read(f"{folder}/_rels/{base}.rels")):
            if each.get("TargetMode") != "External":
                places[each.get("Id")] = posixpath.normpath(posixpath.join("/", folder, each.get("Target", "")))[1:]

    def part(name: str) -> bytes:
        try:
            return archive.read(places.pop(name))  # of two references to a part, the first one shows it
        except KeyError:
            return b""

    return part


def _mark_graphics(root: Any, part: Callable[[str], bytes], drawn: dict[str, str]) -> None:
    """Put a paragraph with a mark after each paragraph with a graphic, and the graphic's HTML under its mark."""
    word = root.tag.partition("}")[0] + "}"
    above = {each: parent for parent in root.iter() for each in parent}
    marks: dict[Any, list[str]] = {}
    for each in root.iter():
        kind = each.tag.rpartition("}")[2]
        at = each if kind in _GRAPHICS else None
        while at is not None and at.tag != f"{word}p":
            at = above.get(at)
        if at is None:
            continue
        names = (value for key, value in each.attrib.items() if key.rpartition("}")[2] == _GRAPHICS[kind])
        data, own = part(next(names, "")), ""
        with contextlib.suppress(ElementTree.ParseError, ValueError):  # a damaged part loses no other text
            own = _chart(data) if kind == "chart" else _listed(graphics.nodes(data))
        if own:
            mark = hashlib.sha256(data).hexdigest()
            drawn[mark] = own
            marks.setdefault(at, []).append(mark)
    for at, own_marks in marks.items():
        place = list(above[at]).index(at) + 1
        for mark in reversed(own_marks):
            made = ElementTree.Element(f"{word}p")
            ElementTree.SubElement(ElementTree.SubElement(made, f"{word}r"), f"{word}t").text = mark
            above[at].insert(place, made)


def _chart(data: bytes) -> str:
    root: Any = ElementTree.fromstring(data)
    title = graphics.title_of_chart(root)
    tables = graphics.tables_of_chart(root)
    return "".join([f"<p>{html.escape(title)}</p>" if title and tables else "", *map(_table, tables)])


def _table(rows: Sequence[Sequence[str]]) -> str:
    first, *others = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
    return f"<table><tr>{first}</tr>{''.join(f'<tr>{row}</tr>' for row in others)}</table>"


def _listed(nodes: Iterable[tuple[int, str]]) -> str:
    parts, depth = [], 0
    for level, text in nodes:
        parts += ["<ul>" * (level - depth), "</ul>" * (depth - level), f"<li>{html.escape(text)}</li>"]
        depth = level
    return "".join([*parts, "</ul>" * depth])


def _rewritten(root: Any) -> bytes:
    """Return XML in which a known element is in the place of each one that mammoth leaves out.

    The prefixes of names may change: mammoth knows names by their namespace, and reads no prefix in a value.
    """
    word = root.tag.partition("}")[0] + "}"  # Word has two namespaces: the usual one, and that of "strict" documents
    above = {each: parent for parent in root.iter() for each in parent}
    alternatives, said = list(root.iter(f"{_MC}AlternateContent")), set()
    for each in root.iter() if alternatives else ():
        if each.tag.endswith("}t") and each.text:
            while each in above and each not in said:
                said.add(each)
                each = above[each]
    for each in alternatives:  # mammoth reads the fallback, even if it has no text
        ways = [*each.findall(f"{_MC}Fallback"), *each.findall(f"{_MC}Choice")]
        kept = next((way for way in ways if way in said), None)
        if kept is not None:
            kept.tag = f"{_MC}Fallback"
            each[:] = [kept]
    for each in root.iter(f"{word}txbxContent"):  # mammoth reads it in a few shapes of old drawings alone
        at = above[each]
        while not at.tag.startswith(word):
            at.tag, at = f"{word}smartTag", above[at]
        if at.tag == f"{word}drawing":
            at.tag = f"{word}pict"
    for each in [*root.iterfind(".//{*}oMathPara"), *root.iterfind(".//{*}oMath")]:
        text = "".join(formula(each))
        each.clear()
        each.tag = f"{word}r"
        ElementTree.SubElement(each, f"{word}t").text = text
    for each in root.iter(f"{word}sym"):
        code = int(each.get(f"{word}char", "0"), 16)
        if 0xFF < code < 0xE000:  # others are places in a font, some of which mammoth knows
            each.tag, each.text = f"{word}t", chr(code)
    names = {_CHECKBOX: f"{word}text"} | {f"{word}{old}": word + new for old, new in _KNOWN.items()}
    for old, new in names.items():
        for each in root.iter(old):
            each.tag = new
    made: bytes = ElementTree.tostring(root, "utf-8")
    return made


def _outline(archive: zipfile.ZipFile) -> list[str]:
    """Return rules of mammoth for the styles that have an outline level, of their own or of the style they base on."""
    try:
        root: Any = ElementTree.fromstring(archive.read("word/styles.xml"))
    except (KeyError, ElementTree.ParseError):
        return []
    levels: dict[str, str | None] = {}
    bases: dict[str, str | None] = {}
    for style in root.iter(f"{_W}style"):
        if style.get(f"{_W}type") == "paragraph":
            name = style.get(f"{_W}styleId", "")
            level, base = style.find(f"{_W}pPr/{_W}outlineLvl"), style.find(f"{_W}basedOn")
            levels[name] = None if level is None else level.get(f"{_W}val")
            bases[name] = None if base is None else base.get(f"{_W}val")
    rules = []
    for name in levels:
        at: str | None = name
        for _ in range(20):  # styles may base on each other in a circle
            if at is None or levels.get(at) is not None:
                break
            at = bases.get(at)
        said = levels.get(at or "") or ""
        if said.isdecimal() and int(said) < 9 and re.fullmatch(r"[\w-]+", name, re.ASCII):
            rules.append(f"p.{name} => h{min(6, int(said) + 1)}:fresh")
    return rules
