"""A demonstration of linear time: hostile inputs at two sizes, one four times the other.

The status is 1 if the time is not proportional to the size. Each input was quadratic once, or is the worst of its kind.
Seconds are those of the CPU, of one thread, the best of rounds in which the sizes take turns, so that other work on the
machine does not count. This process reads pages of any size itself, since the start of another one would hide growth.

    python bench/scaling/linear.py
    python bench/scaling/linear.py --only wikitext --rounds 5 --save bench/results/linear.json
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pychunk
from pychunk.index.index import Index
from pychunk.io.decompression.bzip2 import Block
from pychunk.io.document_batches import DeadLetter
from pychunk.io.formats import html_files
from pychunk.io.wiki import mediawiki, wikiextractor
from pychunk.io.wiki.mediawiki import PageFilter
from pychunk.io.wiki.wikitext import clean
from pychunk.parsing.html import html_guard
from pychunk.parsing.markdown import blocks_of
from pychunk.parsing.pdf.pdf_document import PdfError, read_pdf

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.scaling.heavy_pdfs import HEAVY

#: The ratio of the sizes, and the ratio of the seconds above which an input is not linear; a quadratic one has 16.
TIMES, LIMIT = 4, 5.0
ABOUT = (
    "Each input at one size and at four times that size. Seconds are CPU time on one thread, the best of the rounds. "
    "The time counts as linear if the ratio of the two times is below the limit."
)
#: A size is doubled until it takes this long, so that the measurement exceeds the noise, or until it has this many
#: bytes.
SECONDS, BYTES = 0.1, 32 << 20
#: The nodes of the larger page, below the limit above which pages are flattened.
NODES = 250_000
#: The least seconds for a ratio: those of getrusage are exact to 0.004.
SHORTEST = 0.02
CHINESE = "中文没有空格"
_BLOCK = 1 << 20
_WORDS = ["cats", "purr", "loudly", "while", "dogs", "bark", "at", "night", "and", "the", "moon", "is", "old"]


#: Repeated tags, each of which keeps something of the parser's open, or seems to; ``#`` is another number each time.
HTML = {
    "end tags of nothing": "<div></zz>", "unclosed": "<p>x", "in a comment": "<div><!--</div>-->",
    "in an attribute": '<div a="</div>">', "in a script": "<div><script>'</div>'</script>x",
    "drawings": "<svg><g></zz></zz>", "closed drawings": "<p>x<svg/><math/>",
    "HTML in drawings": "<svg><desc><div></desc>x",
    "formulas": "<math><mi><p>x", "unclosed terms": "<dl><dt></zz></zz>x", "lists": "<ul><li>x",
    "misnested formatting": "<b><div></b>x", "eight formats": "<b>" * 8 + "<div></b>", "links": "<a href=x>y<div>",
    "links over blocks": "<a>" + "<div>" * 20, "nobr": "<nobr>x<p>", "options": "<select><optgroup><option>x",
    "frames": "<frameset><frame>", "ruby": "<ruby>a<rt>b", "foster parents": "<table>x<tr>", "cells": "<table><td>x",
    "captions": "<table><caption>x", "attributes without an end": "<p a=' ", "entities": "&amp;&notit;&#x41;",
    "doctypes": "<!doctype html>x", "instructions": "<?x y?>x", "buttons": "<button>x<div>",
    "templates": "<template>", "forms": "<form><div></form>x", "CDATA": "<svg><![CDATA[</svg>]]>x",
    "raw text": "<textarea></div>", "details": "<details></zz>x", "headings": "<h1>x<h2>", "objects": "<object>x</zz>",
    "unclosed blockquotes": "<blockquote></zz>x", "unclosed spans": "<span></zz>", "list items": "<ul><li></zz></zz>",
    "unquoted attributes": "<div a=</div>x", "closed paragraphs": "<p>x</p>",
    "names of elements": "<x#>y</x#>", "unclosed names": "<x-#>y", "names of end tags": "</x#>y",
    "names of attributes": "<p a#>y", "names in drawings": "<svg><x# y#=1 /></svg>x",
    "ids and classes": "<p id=a# class=b#>y",
    "comments": "<!>x", "comments ended by a bang": "<!--x--!>y", "unclosed comments": "<!--x",
    "scripts in comments of scripts": "<script><!--<script>", "framesets": "<frameset>" + "x" * 100,
    "ends of paragraphs": "</p>x", "depths": "<div>" * 400 + "x" + "</div>" * 400,
    "spanned rows and columns": "<table><tr><td rowspan=65534 colspan=1000>x<td>y<tr><td>a<td>b</table>",
    "rows over rows": "<table>" + ("<tr>" + "<td rowspan=9>x" * 40) * 20 + "</table>",
    "tables in tables": "<table><tr><td>a<td>" * 100 + "x" + "<tr><td>b<td>c</table>" * 100,
    "lists that count down": "<ol reversed><li>x" * 100 + "</ol>" * 100, "terms": "<dl><dt>x</dt><dd>y</dd></dl>",
    "formulas in scripts": '<span class=MathJax></span><script type="math/tex">x</script>',
    "types in JSON": '<script>{"@type":"Article"}</script>', "texts in JSON": '"text":"',
    "articles in JSON": '<script type="application/ld+json">{"@type":"Article","articleBody":"One."}</script>',
    "lines of code": "<pre>" + "<div class=line>x</div>" * 50 + "</pre>", "hidden": "<p hidden>x",
    "breaks": "x<br>", "notes": "x<sup>2</sup>", "permalinks": "<h2>x<a href=#y>#</a></h2>",
    "lists of links": "<ul><li><a href=x>One</a></li></ul>", "selections": "<select><option>x</select>",
    "the same sentence": "<p>The same sentence stands here again and again, up to the end.",
    "quotes in quotes": "<blockquote>x" * 200 + "</blockquote>" * 200, "no tags": "< <3 &lt;",
}  # fmt: skip
#: Tags that occur once, then others repeated below them.
BELOW = {
    "paragraphs in 500 elements": ("<div>" * 500, "<p>x</p>"), "ends in 500 elements": ("<span>" * 500, "</zz>x"),
    "blocks in 190 formats": ("".join(f"<b id={i}>" for i in range(190)), "<div>x</div>"),
    "items of a list": ("<ol reversed>", "<li>x"), "cells of a row": ("<table><tr>", "<td>x"),
    "instructions in a table": ("<table>", "<?x>pike"), "scripts in a table": ("<table>", "<script>x</script>pike"),
    "document types with ids": ("", "<!doctype html public 'a'>pike"), "cells and text": ("<table>", "<td>x</tr>pike"),
    "rows of a table": ("<table>", "<tr><td>x<td>y"), "one definition list": ("<dl>", "<dt>x<dd>y"),
    "a text that is told": (f"<meta name=description content='{'word ' * 12_000}'>", "<p>" + "worx " * 12),
}  # fmt: skip


class Entry(NamedTuple):
    """A timed workload: ``make`` gives the input of a size, ``run`` takes it; sizes over ``most`` are refused."""

    name: str
    first: int
    make: Callable[[int], Any]
    run: Callable[[Any], object]
    most: int = sys.maxsize


def blocks(data: bytes) -> list[Block]:
    return [Block(data[i : i + _BLOCK], i) for i in range(0, len(data), _BLOCK)]


def dump(data: bytes) -> None:
    letters: list[DeadLetter] = []
    wanted = PageFilter(frozenset(), True)
    mediawiki.rendered(list(mediawiki.pages(blocks(data), "dump", letters.append, wanted)), wanted)


def extracted(data: bytes) -> None:
    """Extract documents and drop dead letters, as ingest does once they are written; keeping many would cost time."""
    for _ in wikiextractor.documents(blocks(data), "extracted", lambda letter: None):
        pass


def repeated(tags: str, count: int) -> bytes:
    return (tags * count if "#" not in tags else "".join(tags.replace("#", str(i)) for i in range(count))).encode()


def below(head: str, tags: str, count: int) -> bytes:
    return (head + tags * count).encode()


def html(name: str, tags: str, make: Callable[[int], bytes]) -> Entry:
    work = html_guard.work_of(made := make(count := 5_000))
    nodes = max(1, work.nodes, made.count(b"<") if work.is_suspect else 0)  # from the limit on each "<" counts as one
    most = (NODES if work.is_suspect else html_guard.NODES) * count // nodes
    return Entry(f"HTML, {name}", max(1, min(5_000, most // (2 * TIMES))), make, page, most)


def page(data: bytes) -> None:
    html_files.document([Block(data, len(data))], "page", lambda letter: None)


def pages(data: bytes) -> None:
    with contextlib.suppress(PdfError):
        read_pdf(data)


def segmented(method: str, **options: Any) -> Callable[[Any], object]:
    segmenter = pychunk.Segmenter(method, placement=pychunk.Placement(threads=1), **options)
    return lambda text: segmenter([text])


def scanned(text: str) -> None:
    blocks_of([text], threads=1)


def searched(folder: str) -> Callable[[Any], object]:
    """Return a sparse search of some thousand chunks, done eight times, since queries outside the cache take longer."""
    drawn = random.Random(0)
    texts = [" ".join(drawn.choices(_WORDS, k=12)).capitalize() + "." for _ in range(2000)]
    with Index.create(Path(folder) / "linear.idx") as index:
        index.add(pychunk.Segmenter("sentence", vectors="sentence")(texts, ids=[str(i) for i in range(len(texts))]))
        index.save()
    opened = Index.open(Path(folder) / "linear.idx")
    return lambda query: [opened.search(query, mode="sparse") for _ in range(8)]


def query(words: int) -> str:
    """Return a query of this many words, most of them different."""
    return " ".join(f"w{i}" if i % 4 else _WORDS[i % len(_WORDS)] for i in range(words))


def unclosed(tag: bytes, count: int) -> bytes:
    """Return text before pages: up to 1 MB between two pages is kept."""
    return (tag * 50_000 + b"<page></page>") * (count // 50_000)


def entries(folder: str) -> list[Entry]:
    head, foot = b"<mediawiki>", b"</mediawiki>"
    return [
        Entry("Chinese, recursive, 100 tokens", 100_000, lambda n: CHINESE * n, segmented("recursive", size=100)),
        Entry(
            "Chinese, recursive, 200 characters",
            200_000,
            lambda n: CHINESE * n,
            segmented("recursive", size=200, unit="characters"),
        ),
        Entry("French without sentence ends, pic", 200_000, lambda n: "été chaud " * n, segmented("pic")),
        Entry("English without sentence ends, pic", 200_000, lambda n: "a warm summer " * n, segmented("pic")),
        Entry("», recursive, 1 token", 100_000, lambda n: "»" * n, segmented("recursive", size=1)),
        Entry("BM25 query", 10_000, query, searched(folder)),
        Entry("wikitext of short lines", 500_000, lambda n: "ab\n" * n, lambda text: clean(text)),
        Entry(
            "wikitext of unclosed templates", 200_000, lambda n: "{{a|[[b|" * n, lambda text: clean(text)
        ),
        Entry(
            "wikitext of a number in a template",
            500_000,
            lambda n: "{{convert|" + "1" * n + "x|km}}",
            lambda text: clean(text),
        ),
        Entry("XML, nested tags", 100_000, lambda n: head + b"<page>" + b"<a>" * n + b"</page>" + foot, dump),
        Entry("XML, many tags", 100_000, lambda n: head + b"<page>" + b"<a></a>" * n + b"</page>" + foot, dump),
        Entry("XML, unclosed <page>", 500_000, lambda n: head + b"<page>" * n + b"</page>" + foot, dump),
        Entry("XML, unclosed <siteinfo", 50_000, lambda n: unclosed(b"<siteinfo ", n), dump),
        Entry("XML, unclosed <mediawiki", 50_000, lambda n: unclosed(b"<mediawiki ", n), dump),
        Entry("XML, empty pages", 20_000, lambda n: head + b"<page></page>" * n + foot, dump),
        Entry("WikiExtractor, unclosed <doc>", 50_000, lambda n: b'<doc id="1">\n' * n + b"\n</doc>\n", extracted),
        Entry("Markdown, headings", 20_000, lambda n: "## Heading\n\nSome words.\n\n" * n, scanned),
        Entry("Markdown, quotes that end at once", 20_000, lambda n: "> > a\n    - b\n" * n, scanned),
        Entry("Markdown, lines of deep quotes", 20_000, lambda n: ">" * 40 + "a\n" + "b\n" * n, scanned),
        Entry("Markdown, titles never closed", 20_000, lambda n: "[a]: b 'x\n" + "[a]: b (x\n" * n, scanned),
        Entry("Markdown, one line of list items", 50_000, lambda n: "- " * n + "a", scanned),
        Entry("Markdown, attributes", 50_000, lambda n: "<a" + " b=c" * n, scanned),
        Entry(
            "WikiExtractor, attributes", 200_000, lambda n: b"<doc " + b'a="x" ' * n + b">\n</doc>\n", extracted
        ),
        *(html(name, tags, partial(repeated, tags)) for name, tags in HTML.items()),
        *(html(name, tags, partial(below, head, tags)) for name, (head, tags) in BELOW.items()),
        *(Entry(f"PDF, {name}", 2_000, make, pages) for name, make in HEAVY.items()),
    ]  # fmt: skip


def seconds(entry: Entry, given: Any) -> float:
    """Return the process's own seconds: the system's time for new pages depends on other processes."""
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    entry.run(given)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - begun


def measured(entry: Entry, rounds: int) -> tuple[int, float, float]:
    """Return the smaller size, its seconds, and those of four times the size."""
    entry.run(entry.make(entry.first))  # models are loaded here
    size = entry.first
    while seconds(entry, given := entry.make(size)) < SECONDS and len(given) < BYTES and 2 * TIMES * size <= entry.most:
        size *= 2
    small, large = entry.make(size), entry.make(TIMES * size)
    best_small = best_large = math.inf
    for turn in range(3 * rounds):  # additional rounds only if other work on the machine seems to be the cause
        best_small, best_large = min(best_small, seconds(entry, small)), min(best_large, seconds(entry, large))
        if turn + 1 >= rounds and best_large < LIMIT * best_small:
            break
    return size, best_small, best_large


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only what has this in its name")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--save", type=Path, help="a JSON file for the figures")
    arguments = parser.parse_args()
    html_guard.LARGE = html_guard.LARGE_NODES = html_guard.LARGE_STEPS = sys.maxsize
    rows = []
    print(f"{'input':>38} {'size':>10} {'seconds':>8} {'4 times':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries(folder):
            if arguments.only.lower() not in entry.name.lower():
                continue
            size, small, large = measured(entry, arguments.rounds)
            ratio = large / max(small, SHORTEST)
            linear = ratio < LIMIT
            mark = "" if linear else f"  not below {LIMIT}"
            print(f"{entry.name:>38} {size:>10,} {small:>8.3f} {large:>8.3f} {ratio:>6.2f}{mark}", flush=True)
            facts = {"input": entry.name, "size": size, "seconds": round(small, 4), "four times": round(large, 4)}
            rows.append({**facts, "ratio": round(ratio, 3), "linear": linear})
    if arguments.save:
        figures = {"limit": LIMIT, "rounds": arguments.rounds, "rows": rows}
        record.save(arguments.save, "Time in proportion to size", figures, about=ABOUT, encoder=record.shipped())
    if not all(row["linear"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
