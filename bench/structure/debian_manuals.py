"""Chunks of manuals: by kind of block, the share of a page's main element that no chunk holds.

The pages are those of Debian packages, downloaded with apt-get and unpacked, not installed. The main element is named
here for each package, so that it does not depend on the extractor. Lists in which every line is a link do not count.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pychunk
from pychunk.io import open_source

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.structure import manuals_pdf


class Manual(NamedTuple):
    """A package: the folder of its pages, and selectors of their main element, of which the first match counts."""

    package: str
    folder: str
    main: tuple[str, ...]
    outside: str = ""


_DOCBOOK = ("div.refentry", "div.sect1", "div.chapter", "div.preface", "div.appendix", "div.section")
MANUALS = (
    Manual("python3.11-doc", "python3.11/html", ("[role=main]",)),
    Manual("postgresql-doc-15", "postgresql-doc-15/html", _DOCBOOK),
    Manual("git-doc", "git", ("body",), "#footer, #toc"),  # the line with its name is in #header
    Manual("debian-handbook", "debian-handbook/html/en-US", _DOCBOOK),
    Manual("bash-doc", "bash", ("body",), ".header, .nav-panel"),
    Manual("libstdc++-12-doc", "gcc-12-base/libstdc++", ("div.contents", *_DOCBOOK), ".lineno, .navheader, .navfooter"),
    Manual(  # its diagrams are collapsed and hold names of diagrams
        "sqlite3-doc",
        "sqlite3",
        ("body",),
        ".nosearch, .menu, .searchmenu, .mainmenu, .fancy_toc, #document_footer, .imgcontainer[style*='display:none']",
    ),
    Manual("debian-policy", "debian-policy", ("[role=main]", "div.body")),
)
#: Manuals as PDF: their places in the packages.
PDFS = {
    "bash-doc": ("doc/bash/bash.pdf", "doc/bash/bashref.pdf"),
    "debian-policy": ("doc/debian-policy/policy.pdf.gz",),
    "developers-reference": ("developers-reference/developers-reference.pdf",),
}
KINDS = ("heading", "dt", "dd", "caption", "table", "list item", "paragraph", "code", "NAME line")
#: Inline elements; all others separate words.
_INLINE = frozenset(("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i"))
_INLINE |= {"ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "tt", "u", "var"}
_UNSEEN = frozenset(("script", "style", "template", "noscript", "svg", "head", "button", "iframe"))
_HOLDS_OTHERS, _OTHERS = ("li", "dd"), frozenset(("ul", "ol", "dl", "table", "pre"))
_SIMPLE = {"dt": "dt", "dd": "dd", "li": "list item", "pre": "code", "caption": "caption", "figcaption": "caption"}
_SIMPLE |= {f"h{level}": "heading" for level in range(1, 7)}
_WORD = re.compile(r"\w+")
_NO_LETTER = re.compile(r"[\W_]+")


class Block(NamedTuple):
    kind: str
    text: str


def text_of(top: Any, without: frozenset[str] = frozenset()) -> str:
    """Return the text below a node, with a blank where an element that is no part of a line begins or ends.

    A NUL replaces each element ``without``: its content is a block of its own, whose marks chunks write.
    """
    parts: list[str] = []
    stack = [(top, False)]
    while stack:
        node, ended = stack.pop()
        tag = node.tag or "-comment"
        if tag == "-text":
            parts.append(node.text_content or "")
            continue
        if tag.startswith("-") or tag in _UNSEEN:
            continue
        if tag in without and node.mem_id != top.mem_id:
            parts.append("\0")
            continue
        if tag not in _INLINE:
            parts.append(" ")
        if not ended:
            stack.append((node, True))
            child = node.last_child
            while child is not None:
                stack.append((child, False))
                child = child.prev
    return "".join(parts)


def _is_links(node: Any) -> bool:
    """Return whether a line is a link to elsewhere and nothing else."""
    words = len(_WORD.findall(text_of(node)))
    return sum(len(_WORD.findall(text_of(link))) for link in node.css("a[href]")) >= words


def _lists_of_links(main: Any) -> set[int]:
    """Return the lists and tables of which every line is a link, and all that is inside."""
    found: set[int] = set()
    for node in main.css("ul, ol, dl, table"):
        lines = node.css("li, dt, dd" if node.tag != "table" else "td, th")
        if lines and all(_is_links(line) for line in lines):
            found |= {each.mem_id for each in node.css("*")} | {node.mem_id}
    return found


def blocks_of(main: Any, skipped: set[int]) -> Iterator[Block]:
    """Yield the blocks of the main element, by the elements that its author wrote."""
    name = False
    captions = {node.mem_id for node in main.css("div.caption")}
    for node in main.traverse():
        if node.mem_id in skipped or not (node.tag in _SIMPLE or node.tag in ("p", "table") or node.mem_id in captions):
            continue
        runs = text_of(node, _OTHERS if node.tag in _HOLDS_OTHERS else frozenset()).split("\0")
        text = " ".join(max(runs, key=len).split())
        if not _NO_LETTER.sub("", text):
            continue
        if name:
            yield Block("NAME line", text)
        name = node.tag in ("h1", "h2") and text.upper() == "NAME"
        around = node.parent
        within = set()
        while around is not None and around.mem_id != main.mem_id:
            within.add(around.tag)
            around = around.parent
        if node.tag == "table":
            if len(node.css("tr")) > 1 and len(node.css("td, th")) > 3 and not node.css_first("pre, form, h2, h3"):
                yield Block("table", text)
        elif node.tag == "p":
            title = "title" in (node.attributes.get("class") or "").split()
            if title or not within & {"table", "li", "dd"}:
                yield Block("caption" if title else "paragraph", text)
        elif not (node.tag in ("li", "dd") and _is_links(node)):
            yield Block(_SIMPLE.get(node.tag, "caption"), text)


def letters_of(text: str) -> str:
    return _NO_LETTER.sub("", text.lower())


def lost(blocks: list[Block], held: str) -> Iterator[Block]:
    """Yield the blocks whose text the chunks hold less often than the page."""
    letters = letters_of(held)
    words = _WORD.findall(held.lower())
    threes = {tuple(words[at : at + 3]) for at in range(len(words))} | {(word,) for word in words}
    spaced = f" {'  '.join(words)} "  # two blanks, so that a repeated one is counted twice
    for block, count in Counter(blocks).items():
        own = letters_of(block.text)
        written = _WORD.findall(block.text.lower())
        # The letters of a short one may be inside any word.
        found = letters.count(own) if len(own) > 20 else spaced.count(f" {'  '.join(written)} ")
        if (missing := count - found) <= 0:
            continue
        # Cells that span rows are repeated, and header rows joined, so that words of a table have other neighbours.
        size = 1 if block.kind == "table" else 3
        pieces = [tuple(written[at : at + size]) for at in range(max(1, len(written) - size + 1))]
        # Longer ones may hold formulas, repeated cells or nested tables, which are written differently.
        if len(written) > 8 and sum(piece in threes for piece in pieces) >= 0.9 * len(pieces):
            continue
        yield from [block] * min(missing, count)


def words_lost(main: Any, skipped: set[int], held: str) -> tuple[int, int]:
    """Return the words of the main element that no chunk holds, and all its words; lists of links do not count."""
    for node in main.css("ul, ol, dl, table"):
        if node.mem_id in skipped:
            held += " " + text_of(node)
    own = Counter(_WORD.findall(text_of(main).lower()))
    return sum((own - Counter(_WORD.findall(held.lower()))).values()), sum(own.values())


def fetched(folder: Path) -> bool:
    """Download and unpack the packages that are not there yet; return whether all are there."""
    share = folder / "usr/share"
    missing = [each.package for each in MANUALS if not (share / "doc" / each.folder).exists()]
    missing += [package for package, paths in PDFS.items() if not (share / paths[0]).exists()]
    if not missing:
        return True
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        print("skipped: the manuals are Debian packages, and there is no apt-get or dpkg-deb here")
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for package in dict.fromkeys(missing):
        done = subprocess.run(["apt-get", "download", "-q", package], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            print(f"skipped: apt-get download {package}: {done.stderr.strip()[-200:]}")
            return False
        for file in folder.glob(package + "_*.deb"):
            subprocess.run(["dpkg-deb", "-x", file.name, "."], cwd=folder, check=True)
    return True


def pages_of(folder: Path, manual: Manual, most: int) -> list[Path]:
    found = []
    for top, _, names in os.walk(folder / "usr/share/doc" / manual.folder, followlinks=True):
        found += [Path(top, name) for name in names if name.endswith((".html", ".html.gz"))]
    found.sort()
    return found if len(found) <= most else sorted(random.Random(5).sample(found, most))


def _ends_with_a_term(chunk: Any, blocks: list[dict[str, Any]]) -> bool:
    """Return whether the chunk ends with a term whose definition begins the next one."""
    last = [block for block in blocks if block["start"] < chunk.end <= block["end"]]
    after = next((block for block in blocks if block["start"] >= chunk.end), None)
    return bool(last) and last[-1]["kind"] == "term" and after is not None and after["kind"] not in ("heading", "term")


def measured(folder: Path, manual: Manual, most: int, show: bool, total: Counter[str]) -> dict[str, Any]:
    """Count what the chunks of one manual lack, and add the counts to the total."""
    from selectolax.lexbor import LexborHTMLParser

    held: dict[str, str] = {}
    chunks = terms = 0
    paths = pages_of(folder, manual, most)
    for batch in open_source([str(path) for path in paths], dead_letters=lambda letter: None).batches():
        table = batch.table
        blocks = table["blocks"].to_pylist()
        files = table["file"].to_pylist()
        for row, found in enumerate(pychunk.segment(batch.documents(), "structure").by_document()):
            held[files[row]] = "\n".join(chunk.text for chunk in found)
            chunks += len(found)
            terms += sum(_ends_with_a_term(chunk, blocks[row] or []) for chunk in found)
    have, gone = Counter(), Counter()
    missing = words = pages = 0
    for path in paths:
        data = path.read_bytes()
        tree = LexborHTMLParser(gzip.decompress(data) if path.suffix == ".gz" else data)
        for node in tree.css(manual.outside) if manual.outside else ():
            node.decompose()
        main = next((node for selector in manual.main if (node := tree.css_first(selector)) is not None), None)
        if main is None:
            continue
        pages += 1
        skipped = _lists_of_links(main)
        text = held.get(str(path), "")
        page = list(blocks_of(main, skipped))
        have.update(block.kind for block in page)
        for block in lost(page, text):
            gone[block.kind] += 1
            if show:
                print(f"  {path.name} {block.kind}: {block.text[:100]}")
        own_missing, own_words = words_lost(main, skipped, text)
        missing, words = missing + own_missing, words + own_words
    counts = Counter(pages=pages, missing=missing, words=words, chunks=chunks, terms=terms)
    counts.update(have)
    counts.update({f"lost {kind}": count for kind, count in gone.items()})
    total.update(counts)
    return shares(manual.package, counts)


def shares(name: str, counts: Counter[str]) -> dict[str, Any]:
    """Return the row of one manual, or of all."""
    return {
        "manual": name,
        "pages": counts["pages"],
        **{
            f"{kind} lost, %": round(100 * counts[f"lost {kind}"] / counts[kind], 2) if counts[kind] else None
            for kind in KINDS
        },
        "words lost, %": round(100 * counts["missing"] / max(counts["words"], 1), 2),
        "chunks": counts["chunks"],
        "end with a term, %": round(100 * counts["terms"] / max(counts["chunks"], 1), 2),
    }


def measured_pdfs(name: str, paths: Iterable[Path]) -> dict[str, Any]:
    """Count paragraphs and words of PDFs that the reader split or joined."""
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(manuals_pdf.rows(path))
    return {
        "manual": name,
        "blocks": counts["blocks"],
        "paragraphs torn": counts["torn"],
        "chunks": counts["chunks"],
        "begin in mid-sentence, %": round(100 * counts["inside"] / max(counts["chunks"], 1), 2),
        "words": counts["words"],
        "words run together, %": round(100 * counts["together"] / max(counts["words"], 1), 3),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--folder", type=Path, default=Path("build/manuals"), help="where packages are unpacked")
    parser.add_argument("--pages", type=int, default=200, help="of each manual at most, drawn by a seed")
    parser.add_argument("--only", nargs="+", metavar="PACKAGE", help="these packages alone")
    parser.add_argument("--show", action="store_true", help="print each block that is lost")
    parser.add_argument("--save", type=Path, help="keep the figures in this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if not fetched(options.folder):
        return
    rows: list[dict[str, Any]] = []
    pdfs: list[dict[str, Any]] = []
    total: Counter[str] = Counter()

    def add(table: list[dict[str, Any]], row: dict[str, Any]) -> None:
        table.append(row)
        print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)

    for manual in MANUALS:
        if not options.only or manual.package in options.only:
            add(rows, measured(options.folder, manual, options.pages, options.show, total))
    add(rows, shares("all", total))
    for package, names in PDFS.items():
        for path in [options.folder / "usr/share" / name for name in names]:
            if not options.only or package in options.only:
                add(pdfs, measured_pdfs(path.name.removesuffix(".gz"), [path]))
    leaflets = sorted(Path(options.data).glob("unlp2026/*/pdf/*.pdf"))
    if not leaflets:
        print("skipped: the leaflets are not in the folder of data")
    elif not options.only:
        add(pdfs, measured_pdfs("30 leaflets", leaflets))
    if options.save:
        about = (
            "Blocks inside each page's main element that no chunk of method `structure` holds, as a share of all "
            "blocks of this kind there. For PDFs: the number of boundaries of paragraphs inside a sentence "
            '("paragraphs torn"), and the shares of chunks that begin inside a sentence and of words that are run '
            "together."
        )
        record.save(options.save, "Manuals", {"rows": rows, "pdfs": pdfs}, about=about, packages=["selectolax"])


if __name__ == "__main__":
    main()
