"""Collect sections of translated manuals from Debian packages, for training topics in many languages.

The command takes a folder of ``.deb`` files (``MANUALS`` names them and their licences). It writes a Parquet file with
a row for each chapter: its part of the split, language and name, its lines, and which of these are headings. Pages that
are not translated are left out.

    python -m training.manuals --debs debs --out manuals.parquet
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.training.corpus import Part, part_of

from .multilingual.texts import clean, code, members


@dataclass(frozen=True)
class Manual:
    """A manual in Debian's packages.

    Attributes:
        pages: The pattern of its pages' names, with the groups ``page`` and ``language``.
        chapter: How pages are joined to chapters: "page" (each is one), "number" (by the first number in its heading),
            "name" (by the first four letters of the name) or "folder" (twelve of a folder).
        licence: The licence.
        deepest: The deepest headings that begin sections.
    """

    pages: str
    chapter: str
    licence: str
    deepest: int = 6


#: The manuals that the command reads, by the beginnings of their packages' names. LibreOffice's headings below the
#: second level name single options.
MANUALS = {
    "libreoffice-help-": Manual(r"/help/(?P<language>[\w-]+)/text/(?P<page>.*)\.html$", "folder", "MPL-2.0", 2),
    "debian-handbook": Manual(r"/html/(?P<language>[\w-]+)/(?P<page>.*)\.html$", "number", "CC-BY-SA-3.0 or GPL-2+"),
    "debian-reference-": Manual(r"/debian-reference/(?P<page>.*)\.(?P<language>[\w-]+)\.html$", "page", "GPL-2+"),
    "maint-guide": Manual(r"/html/(?P<page>.*)\.(?P<language>[\w-]+)\.html$", "page", "GPL-2+"),
    "debian-faq": Manual(r"/FAQ/(?:[\w-]+/)?(?P<page>.*)\.(?P<language>[\w-]+)\.html$", "page", "GPL-2+"),
    "installation-guide-amd64": Manual(
        r"/installation-guide-amd64/(?P<language>[\w-]+)/(?P<page>.*)\.html$", "name", "GPL-2"
    ),
    "gnome-user-docs": Manual(r"/help/(?P<language>[\w@]+)/(?P<page>.*)\.page$", "folder", "CC-BY-SA-3.0"),
}
#: The share of a manual's pages on which a line must stand to be left out, as navigation and repeated notes are.
REPEATED = 0.03
#: The fewest lines of a page, and the pages of a folder that are one chapter.
LINES, TOGETHER = 3, 12
#: The most chapters of a language that are learned from.
MOST = 150
#: The end of LibreOffice's pages.
_NOTE = "This page is: |Title is: |Help content debug"

Lines = list[tuple[str, bool]]


class Chapter(NamedTuple):
    """A chapter of a manual.

    Attributes:
        part: The part of the split, the same for the same pages in every language.
        language: The language.
        name: The manual and its chapter.
        lines: The lines, each with whether it is a heading.
    """

    part: Part
    language: str
    name: str
    lines: Lines


def _html(content: bytes, deepest: int) -> Lines:
    """Return the lines of a page after its first heading, without code, tables, forms and deeper headings."""
    try:
        parsed = pychunk.parse(content.decode("utf-8", "replace"), markup="html")
    except ValueError:  # a page without text
        return []
    assert parsed.source is not None
    text, lines = parsed.texts[0][0].as_py(), Lines()
    for block in parsed.source.column("blocks")[0].as_py():
        heading = block["kind"] == "heading"
        if heading and block["level"] > deepest:
            continue
        if block["kind"] in {"heading", "paragraph", "item", "quote"} and (heading or lines):
            line = clean(re.sub(r"^\s*(#+|[-*]|\d+\.)\s|[`*|\\]+", " ", text[block["start"] : block["end"]]))
            lines.append((line, heading))
    return [each for each in lines if each[0] and not re.match(_NOTE, each[0])]


def _mallard(content: bytes) -> Lines:
    """Return the lines of a page of GNOME's help."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError:
        return []
    lines: Lines = []

    def visit(node: ElementTree.Element) -> None:
        tag = node.tag.rpartition("}")[2]
        if tag in {"info", "code", "screen", "table", "media"}:
            return
        if tag in {"p", "title"}:
            lines.append((clean("".join(node.itertext())), tag == "title"))
            return
        for child in node:
            visit(child)

    visit(root)
    return [each for each in lines if each[0]]


def _chapter(manual: Manual, page: str, lines: Lines) -> str:
    """Return what the pages of a chapter have in common, the same in every language."""
    if manual.chapter == "folder":
        return page.rpartition("/")[0]
    if manual.chapter == "number":
        number = re.search(r"\d+", lines[0][0]) if lines else None
        return str(int(number[0])) if number else "preface"  # int() reads Arabic digits, too
    return page[:4] if manual.chapter == "name" else page


def chapters(deb: Path) -> Iterator[Chapter]:
    """Yield the chapters of the manuals in a package."""
    for begin, manual in MANUALS.items():
        if not deb.name.startswith(begin):
            continue
        pages: dict[str, list[tuple[str, Lines]]] = defaultdict(list)
        for name, content in sorted(members(deb, manual.pages), key=lambda member: member[0].string):
            lines = _mallard(content) if name.string.endswith(".page") else _html(content, manual.deepest)
            pages["en" if name["language"] == "C" else name["language"]].append((name["page"], lines))
        for language, own in pages.items():
            yield from _joined(begin.strip("-"), manual, code(language), own)


def _joined(package: str, manual: Manual, language: str, pages: list[tuple[str, Lines]]) -> Iterator[Chapter]:
    """Yield the chapters of a manual in a language.

    Not all languages have all pages, so a page of a folder is in the part that its own name decides. Otherwise a page
    could be learned from in one language and measured in another.
    """
    counts = Counter(line for _, lines in pages for line in {line for line, _ in lines})
    repeated = {line for line, count in counts.items() if count > max(2, REPEATED * len(pages))}
    joined: dict[tuple[Part, str], list[Lines]] = defaultdict(list)
    for page, lines in pages:
        name = f"{package}/{_chapter(manual, page, lines)}"
        part = part_of(f"{package}/{page}" if manual.chapter == "folder" else name)
        joined[part, name].append([each for each in lines if each[0] not in repeated])
    for (part, name), found in joined.items():
        if manual.chapter == "number":
            found.sort(key=lambda lines: [int(each) for each in re.findall(r"\d+", lines[0][0])] if lines else [])
        size = TOGETHER if manual.chapter == "folder" else len(found)
        for at in range(0, len(found), size):
            lines = [line for own in found[at : at + size] if _translated(own, language) for line in own]
            if sum(heading for _, heading in lines) > 2:
                yield Chapter(part, language, f"{name}/{at // size}", lines)


def _translated(lines: Lines, language: str) -> bool:
    """Return whether a page is long enough, and most of its text is in its manual's language."""
    shown = [line for line, _ in lines]
    if len(shown) < LINES:
        return False
    found = pychunk.detect_languages([" ".join(shown)])[0].as_py()
    return any({found, language} <= each for each in ({language}, {"id", "ms"}, {"no", "nb", "nn"}))


def read(file: Path, part: Part, without: Sequence[str] = (), languages: Sequence[str] = ()) -> list[Chapter]:
    """Return the chapters of a part of the split, at most :data:`MOST` of each language.

    Args:
        file: The Parquet file.
        part: The part.
        without: Languages that are left out.
        languages: The languages that are read; empty reads all others.
    """
    counts, kept = Counter[str](), []
    for row in sorted(pq.read_table(file).to_pylist(), key=_order):
        language = row["language"]
        if row["part"] != part or language in without or (languages and language not in languages):
            continue
        counts[language] += 1
        if counts[language] <= MOST:
            kept.append(Chapter(part, language, row["name"], list(zip(row["lines"], row["headings"], strict=True))))
    return kept


def _order(row: dict[str, Any]) -> bytes:
    return hashlib.sha256(f"{row['language']}:{row['part']}:{row['name']}".encode()).digest()


def sections(chapter: dict[str, Any]) -> list[tuple[str, str]]:
    """Return each heading of a row of the Parquet file, without its number, and the text below it."""
    found: list[tuple[str, list[str]]] = []
    for line, is_heading in zip(chapter["lines"], chapter["headings"], strict=True):
        if is_heading:
            found.append((re.sub(r"^[\d.\s]+", "", line).strip(), []))
        elif found:
            found[-1][1].append(line)
    return [(heading, " ".join(lines)) for heading, lines in found]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the packages, write the file, and print how many chapters and headings each language has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debs", type=Path, required=True, help="folder of .deb files")
    parser.add_argument("--out", type=Path, required=True, help="Parquet file")
    options = parser.parse_args(arguments)
    found = [chapter for deb in sorted(options.debs.glob("*.deb")) for chapter in chapters(deb)]
    rows = [
        {
            "part": each.part,
            "language": each.language,
            "name": each.name,
            "lines": [line for line, _ in each.lines],
            "headings": [heading for _, heading in each.lines],
        }
        for each in found
    ]
    pq.write_table(pa.Table.from_pylist(rows), options.out)
    for language, count in Counter(each.language for each in found).most_common():
        own = [each for each in found if each.language == language]
        lines = sum(len(each.lines) for each in own)
        headings = sum(heading for each in own for _, heading in each.lines)
        print(f"{language}: {count} chapters, {lines:,} lines, {headings:,} of them headings")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
