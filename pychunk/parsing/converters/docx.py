"""The conversion of documents of Word: by mammoth to HTML, and by the reader of HTML to Markdown."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any
from xml.etree import ElementTree

from ..pdf.paged_text import Paged
from .dispatch import of_html

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: The styles that mammoth does not map by itself. A comment is at the end, and its mark at its place.
_STYLES = ("comment-reference => sup", "p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh")
#: The links that lead from a note, and from a comment, back to their marks.
_BACK = re.compile(r' ?<a href="#(?:footnote|endnote|comment)-ref-[^"]*">↑</a>')
#: The first row of a table that marks no row as its header, if another row follows.
_FIRST_ROW = re.compile(r"<table><tr>((?:(?!<table|</tr>).)*)</tr>(?=<tr>)", re.DOTALL)


def read(data: bytes, title: str, facts: dict[str, Any]) -> Paged:
    """Return a document whose text is Markdown: headings, lists, tables, notes and comments, without images.

    A paragraph is a heading if its style is one of Word's headings, or has an outline level. If a table marks no header
    row, its first row is the header. Insertions count as accepted, and deletions as made. Footnotes, endnotes and
    comments follow the text.

    Raises:
        ImportError: mammoth or selectolax is not installed.
    """
    import mammoth

    found = mammoth.convert_to_html(
        io.BytesIO(data),
        style_map="\n".join([*_outline(data), *_STYLES]),
        convert_image=mammoth.images.img_element(lambda image: {}),
        id_prefix="",
    )
    body = _FIRST_ROW.sub(_as_header, _BACK.sub("", found.value))
    return of_html(f"<html><body>{body}</body></html>", title, facts)


def _as_header(row: re.Match[str]) -> str:
    return f"<table><thead><tr>{row[1].replace('<td', '<th').replace('</td>', '</th>')}</tr></thead>"


def _outline(data: bytes) -> list[str]:
    """Return rules of mammoth for the styles that have an outline level, of their own or of the style they base on."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
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
