"""Collect sections of translated manuals from Debian packages, for training topics in many languages.

The command takes a folder of ``.deb`` files (``PACKAGES`` names them and their licences). It writes a Parquet file with
a row for each chapter: its key, which is the same in every language, the language, its lines, and which of these are
headings. Chapters whose pages are not translated are left out.

    python -m training.manuals --debs debs --out manuals.parquet
"""

from __future__ import annotations

import argparse
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.training.corpus import Part, part_of

from .multilingual.texts import clean, code, members

#: The packages that the command reads, by the beginnings of their names: the pattern of pages and of the language in
#: it, how pages become chapters, and the licence.
PACKAGES = {
    "libreoffice-help-": (r"/help/([\w-]+)/text/(.*)\.html$", "twelve", "MPL-2.0"),
    "debian-handbook": (r"/html/([\w-]+)/(.*)\.html$", "number", "CC-BY-SA-3.0 or GPL-2+"),
    "debian-reference-": (r"/debian-reference/(.*)\.([\w-]+)\.html$", "page", "GPL-2+"),
    "maint-guide": (r"/html/(.*)\.([\w-]+)\.html$", "page", "GPL-2+"),
    "debian-faq": (r"/FAQ/(?:[\w-]+/)?(.*)\.([\w-]+)\.html$", "page", "GPL-2+"),
    "installation-guide-amd64": (r"/installation-guide-amd64/([\w-]+)/(.*)\.html$", "chapter", "GPL-2"),
    "gnome-user-docs": (r"/help/([\w@]+)/(.*)\.page$", "twelve", "CC-BY-SA-3.0"),
}
#: The share of a manual's pages on which a line must stand to be left out, as navigation and repeated notes are.
REPEATED = 0.03
#: The fewest lines of a page, and the most pages of a manual of short pages that are one chapter.
LINES, TOGETHER = 3, 12
#: The most chapters of a language that are learned from.
MOST = 150

#: The deepest headings of LibreOffice's pages that begin sections; deeper ones name single options.
LIBREOFFICE = 2
#: The end of LibreOffice's pages.
_NOTE = "This page is: |Title is: |Help content debug"

Lines = list[tuple[str, bool]]


class Chapter(NamedTuple):
    """A chapter of a manual: its key, language, and lines, each with whether it is a heading."""

    key: str
    language: str
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


def _chapter(how: str, page: str, place: int, lines: Lines) -> str:
    """Return the name of the chapter that a page belongs to."""
    if how == "twelve":
        return f"{page.rpartition('/')[0]}/{place // TOGETHER}"
    if how == "number":
        found = re.search(r"(\d+)\.", lines[0][0]) if lines else None
        return found[1] if found else "preface"
    return page[:4] if how == "chapter" else page


def chapters(deb: Path) -> Iterator[Chapter]:
    """Yield the chapters of the manuals in a package."""
    begin = next((begin for begin in PACKAGES if deb.name.startswith(begin)), None)
    if begin is None:
        return
    pattern, how, _ = PACKAGES[begin]
    deepest = LIBREOFFICE if begin.startswith("libreoffice") else 6
    pages: dict[str, list[tuple[str, Lines]]] = defaultdict(list)
    for name, content in sorted(members(deb, pattern)):
        groups = [each for each in re.search(pattern, name).groups() if each]  # type: ignore[union-attr]
        page, language = groups if how == "page" and len(groups) > 1 else (groups[-1], groups[0])
        language = "en" if language == "C" else language
        pages[language].append((page, _mallard(content) if name.endswith(".page") else _html(content, deepest)))
    for language, found in pages.items():
        seen = Counter(line for _, lines in found for line in {line for line, _ in lines})
        repeated = {line for line, count in seen.items() if count > max(2, REPEATED * len(found))}
        joined: dict[str, list[Lines]] = defaultdict(list)
        for place, (page, lines) in enumerate(found):
            kept = [each for each in lines if each[0] not in repeated]
            joined[_chapter(how, page, place, lines)].append(kept)
        for name, parts in joined.items():
            if how == "number":
                parts.sort(key=lambda part: [int(each) for each in re.findall(r"\d+", part[0][0])] if part else [])
            chapter = [line for part in parts if _translated(part, code(language)) for line in part]
            if sum(heading for _, heading in chapter) > 2:
                yield Chapter(f"{begin.strip('-')}/{name}", code(language), chapter)


def _translated(lines: Lines, language: str) -> bool:
    """Return whether a page is long enough, and most of its text is in its manual's language."""
    shown = [line for line, _ in lines]
    if len(shown) < LINES:
        return False
    found = pychunk.detect_languages([" ".join(shown)])[0].as_py()
    return any({found, language} <= each for each in ({language}, {"id", "ms"}, {"no", "nb", "nn"}))


def read(file: Path, part: Part, without: Sequence[str] = (), languages: Sequence[str] = ()) -> list[Chapter]:
    """Return the chapters of a part of the split, which is decided by the key and thus the same in every language.

    Args:
        file: The Parquet file.
        part: The part.
        without: Languages that are left out.
        languages: The languages that are read; empty reads all others.
    """
    counts, kept = Counter[str](), []
    for row in sorted(pq.read_table(file).to_pylist(), key=_order):
        language = row["language"]
        if part_of(row["key"]) != part or language in without or (languages and language not in languages):
            continue
        counts[language] += 1
        if counts[language] <= MOST:
            kept.append(Chapter(row["key"], language, list(zip(row["lines"], row["headings"], strict=True))))
    return kept


def _order(row: dict[str, Any]) -> bytes:
    return hashlib.sha256(f"{row['language']}:{row['key']}".encode()).digest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the packages, write the file, and print how many chapters and headings each language has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debs", type=Path, required=True, help="folder of .deb files")
    parser.add_argument("--out", type=Path, required=True, help="Parquet file")
    options = parser.parse_args(arguments)
    found = [chapter for deb in sorted(options.debs.glob("*.deb")) for chapter in chapters(deb)]
    rows = [
        {
            "key": each.key,
            "language": each.language,
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
