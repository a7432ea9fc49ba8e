"""Noise, completeness and context switches of chunks of web pages, compared with other splitters; sizes and time.

The first set is pages of WCXB, drawn by seed, whose text people marked, for some pages only in part. The networks that
find their noise saw no page of the same domain. The second set is the articles of article_extraction, which people
marked in full and no model learned from. The shipped model finds their noise. Every way to cut is judged only by the
texts of its chunks, in the same manner (pychunk/evaluation/measures/quality_counts.py):

- noise: characters of words outside the marked text; chunks with more than 20 % of them. A second column is the share
  of the marked text that chunks hold, since it is easy to have no noise by returning nothing.
- snippets: the lines that people noted as noise of a page ("We use cookies") and that chunks hold; also the noted
  sentences of its text. Text that was not marked though it might be (later replies of a forum, code, the second half of
  a guide) is in neither.
- complete: no dangling start, and no cut inside a unit. A unit is a paragraph, a list with its introduction, a table or
  code, each with the headings above it, of at most 200 tokens, found by its words.
- context switch: one of the document's sharpest turns, or two headings of one level.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import importlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk._engine import native
from pychunk._engine.data.blocks import CODE, HEADING, ITEM, PARAGRAPH, QUOTE, TABLE
from pychunk.encoders import static_encoder
from pychunk.evaluation import systems
from pychunk.evaluation.measures import chunk_starts, intervals, plain_text_blocks, quality_counts
from pychunk.io.formats.html_files import removed_spans
from pychunk.parsing.html.noise_model import NoiseModel
from pychunk.parsing.html.noise_model import load as shipped_model
from pychunk.parsing.html.page import HtmlPage, parse_html
from training.noise_pages import FOLDS, domain_of, fold_of

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.structure.extraction import fold_models

#: The tokens of a chunk, and the characters that peers get instead: English prose has four or more a token.
SIZE, CHARACTERS = 200, 800
PAGES = 400
PACKAGES = (
    "selectolax",
    "trafilatura",
    "langchain-text-splitters",
    "beautifulsoup4",
    "chonkie",
    "semantic-text-splitter",
)
#: The natures of noise blocks; the first that applies counts. Prose means paragraphs, items and quotes of this many
#: characters.
NATURES = ("hidden", "links", "prose", "tables and code", "short", "in no block")
PROSE = 100
#: The words that may be between two blocks of a page in a text that other packages made from it.
NEAR = 100
BAR = 0.05

_WORD = re.compile(r"\w+")
#: LangChain's HTML splitter takes scripts and styles for text, nine tenths of its output; its page therefore has none.
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_MARKS = re.compile(r"^(?:> )*[ ]*(?:#{1,6} |- |\d+\. )?(?:> )*", re.MULTILINE)
_RULE = re.compile(r"^\|(?: --- \|)+\n?", re.MULTILINE)


@dataclass(frozen=True)
class Loaded:
    """A page in the forms that ways to cut take: its source, Markdown with blocks, and the text without marks.

    Attributes:
        source: The page as it was fetched.
        html: The source without scripts and styles.
        removed: The spans that the networks of its fold leave out: start, end, reason, score.
        units: The first block of each unit, and the one after its last.
        unwanted, wanted: Snippets of noise and of text of the page, as :func:`spaced` writes them.
    """

    source: bytes
    html: str
    page: HtmlPage
    plain: str
    removed: list[tuple[int, int, str, float]]
    units: list[tuple[int, int]]
    marked: str
    kind: str
    unwanted: list[str]
    wanted: list[str]


@dataclass(frozen=True)
class Way:
    """A way to cut: its input, and how it cuts that.

    Attributes:
        reading: The part of the loading seconds that it needs: "html", "blocks", "noise" or "nothing".
        given: The text that its chunks must hold, every character that is not white space; None if it reads HTML
            itself.
    """

    name: str
    form: str
    reading: str
    given: Callable[[Loaded], str] | None
    cut: Callable[[Loaded], list[str]]


def markdown(page: Loaded) -> str:
    return page.page.text


def without_noise(page: Loaded) -> str:
    at, parts = 0, []
    for start, end, _, _ in page.removed:
        parts.append(page.page.text[at:start])
        at = end
    return "".join([*parts, page.page.text[at:]])


def plain_text(page: HtmlPage) -> str:
    """Return the words of the blocks, without marks of Markdown, with a tab between cells of a table."""
    shown = []
    for kind, start, end in zip(page.blocks.kind.tolist(), page.blocks.start.tolist(), page.blocks.end.tolist()):
        text = page.text[start:end]
        if kind == CODE:
            text = "\n".join(text.split("\n")[1:-1])
        elif kind == TABLE:
            text = "\n".join(line.strip("| ").replace(" | ", "\t") for line in _RULE.sub("", text).split("\n"))
        else:
            text = _MARKS.sub("", text)
        if text.strip():
            shown.append(text.strip())
    return "\n\n".join(shown)


#: A function that cuts a page without its removed spans.
Cut = Callable[[Loaded, Sequence[tuple[int, int, str, float]]], list[str]]


def cutter(method: str, **options: Any) -> Cut:
    """Return our own way to cut: by blocks and without noise for a method of structure, else all of the text."""
    made = pychunk.Segmenter(method, placement=pychunk.Placement(threads=1), **options)
    if method != "structure":
        return lambda page, _: made([page.page.text]).texts

    def cut(page: Loaded, removed: Sequence[tuple[int, int, str, float]]) -> list[str]:
        return made(
            [page.page.text], columns={"blocks": page.page.blocks, "removed": [removed] if removed else None}
        ).texts

    return cut


def _ours(method: str, noise: bool, **options: Any) -> Callable[[Loaded], list[str]]:
    cut = cutter(method, **options)
    return lambda page: cut(page, page.removed if noise else ())


def _recursive() -> Callable[[str], list[str]]:
    splitters = importlib.import_module("langchain_text_splitters")
    split: Callable[[str], list[str]] = splitters.RecursiveCharacterTextSplitter(
        chunk_size=CHARACTERS, chunk_overlap=0
    ).split_text
    return split


def _langchain_recursive() -> Callable[[Loaded], list[str]]:
    split = _recursive()
    return lambda page: split(page.plain)


def _trafilatura() -> Callable[[Loaded], list[str]]:
    extract = importlib.import_module("trafilatura").extract
    split = _recursive()
    return lambda page: split(extract(page.source) or "")


def _langchain_html() -> Callable[[Loaded], list[str]]:
    importlib.import_module("bs4")
    splitters = importlib.import_module("langchain_text_splitters")
    made = splitters.HTMLHeaderTextSplitter([(f"h{level}", f"Header {level}") for level in range(1, 7)])
    return lambda page: [part.page_content for part in made.split_text(page.html)]


def _langchain_markdown() -> Callable[[Loaded], list[str]]:
    splitters = importlib.import_module("langchain_text_splitters")
    marks = [("#" * level, f"Header {level}") for level in range(1, 7)]
    made = splitters.MarkdownHeaderTextSplitter(marks, strip_headers=False)
    return lambda page: [part.page_content for part in made.split_text(page.page.text)]


def _chonkie() -> Callable[[Loaded], list[str]]:
    made = importlib.import_module("chonkie").RecursiveChunker(tokenizer="character", chunk_size=CHARACTERS)
    return lambda page: [chunk.text for chunk in made.chunk(page.plain)]


def _semantic_text_splitter() -> Callable[[Loaded], list[str]]:
    made = importlib.import_module("semantic_text_splitter").MarkdownSplitter(CHARACTERS)
    return lambda page: made.chunks(page.page.text)


STRUCTURE, TRAFILATURA = "pychunk structure", "trafilatura, LangChain recursive"
WHOLE = "tenets, articles that people marked whole"
#: The name, input, part of loading, text that must be kept, and maker of each.
WAYS: tuple[tuple[str, str, str, Any, Callable[[], Callable[[Loaded], list[str]]]], ...] = (
    (STRUCTURE, "HTML", "noise", without_noise, lambda: _ours("structure", True)),
    ("pychunk structure, nothing removed", "HTML", "blocks", markdown, lambda: _ours("structure", False)),
    ("pychunk recursive", "Markdown", "blocks", markdown, lambda: _ours("recursive", False, size=SIZE, unit="tokens")),
    ("LangChain recursive", "text", "blocks", lambda page: page.plain, _langchain_recursive),
    (TRAFILATURA, "HTML", "nothing", None, _trafilatura),
    ("LangChain HTML headers", "HTML", "html", None, _langchain_html),
    ("LangChain Markdown headers", "Markdown", "blocks", markdown, _langchain_markdown),
    ("chonkie recursive", "text", "blocks", lambda page: page.plain, _chonkie),
    ("semantic-text-splitter Markdown", "Markdown", "blocks", markdown, _semantic_text_splitter),
)


def ways() -> list[Way]:
    """Return the ways that are installed, and print the names of the others."""
    found = []
    for name, form, reading, given, make in WAYS:
        try:
            found.append(Way(name, form, reading, given, make()))
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return found


def tokens(texts: Sequence[str]) -> np.ndarray:
    """Return the WordPiece tokens of each text, int64[n]."""
    data = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, data)]).astype(np.int64)
    _, offsets, _ = native.encode_words(static_encoder.load(), np.frombuffer(b"".join(data), np.uint8), bounds)
    return np.diff(offsets)


def units_of(page: HtmlPage) -> list[tuple[int, int]]:
    """Return the first and last block of each unit of at most ``SIZE`` tokens."""
    own = page.blocks
    headings = [(a, b) for kind, a, b in zip(own.kind, own.start, own.end) if kind == HEADING]
    spans = plain_text_blocks.find_blocks(page.text, headings)
    counts = tokens([page.text[start:end] for start, end in spans])
    found = []
    for start, end in spans[counts <= SIZE].tolist():
        first, last = int(np.searchsorted(own.start, start)), int(np.searchsorted(own.end, end, side="right"))
        for row in range(first, last - 1):  # a heading before one of the same or a higher level heads nothing
            if own.kind[row] == own.kind[row + 1] == HEADING and own.level[row] >= own.level[row + 1]:
                first = row + 1
        if first < last:
            found.append((first, last))
    return found


def load(row: dict[str, Any], number: int, models: Sequence[NoiseModel], seconds: dict[str, float]) -> Loaded:
    """Return a page, read once for all; the time of each stage of reading is added to ``seconds``."""
    begun = time.process_time()
    page = parse_html(row["html"])
    read = time.process_time()
    removed = removed_spans(page, model=models[fold_of(domain_of(row["url"], number))])
    seconds["blocks"] += read - begun
    seconds["noise"] += time.process_time() - begun
    html = _UNSEEN.sub(" ", row["html"].decode(page.encoding or "utf-8", "replace"))
    there, marked = spaced(page.text), spaced(row["main_content"])
    unwanted, wanted = (
        [snippet for each in row[name] or () if (snippet := spaced(each)).strip() and snippet in there]
        for name in ("must_not_contain", "must_contain")
    )
    return Loaded(
        row["html"],
        html,
        page,
        plain_text(page),
        removed,
        units_of(page),
        row["main_content"],
        row["page_type"],
        [snippet for snippet in unwanted if snippet not in marked],
        wanted,
    )


def spaced(text: str) -> str:
    """Return the words in lower case with a space around each, for tests of whether one text contains another."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def words_in(text: str) -> int:
    """Return the number of characters of the words."""
    return sum(map(len, _WORD.findall(text)))


def check(way: Way, page: Loaded, texts: Sequence[str]) -> None:
    """Check that chunks hold the whole input, in order; LangChain's Markdown splitter drops unprintable characters."""
    if way.given is None:
        assert way.name == TRAFILATURA or any(text.strip() for text in texts) or not page.plain.strip(), way.name
        return
    wanted, found = dense(way.given(page)), dense("".join(texts))
    assert wanted == found, f"{way.name}: chunks do not rebuild their text: {wanted[:50]!r}, {found[:50]!r}"


def dense(text: str) -> str:
    return "".join(each for each in text if not each.isspace() and each.isprintable())


@dataclass
class Judged:
    """The sums over a way's chunks of each page: (count, total) by measure, and the tokens of each chunk."""

    pairs: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    tokens: list[np.ndarray] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, **measures: tuple[float, float]) -> None:
        for name, pair in measures.items():
            self.pairs.setdefault(name, []).append((float(pair[0]), float(pair[1])))


def together(texts: Sequence[str]) -> tuple[str, np.ndarray]:
    """Return chunks as one text, with a blank line between, and their spans, int64[chunks, 2]."""
    ends = np.cumsum([len(text) + 2 for text in texts], dtype=np.int64) - 2
    return "\n\n".join(texts), np.stack([ends - [len(text) for text in texts], ends], axis=1)


def located(page: Loaded, words: Sequence[str], noise: bool) -> list[tuple[int, int]]:
    """Return the first and last word of each block of a page in a text, in order; (-1, -1) if it is not there whole.

    ``noise``: Skip blocks that are noise, whose words another block may have, too.
    """
    own = page.page.blocks
    gone: set[int] = set()
    for first, last, *_ in page.removed if noise else ():
        gone.update(own.start[np.searchsorted(own.start, first) : np.searchsorted(own.start, last)].tolist())
    found, at, near = [], 0, NEAR
    for start, end in zip(own.start.tolist(), own.end.tolist()):
        wanted = _WORD.findall(page.page.text[start:end].lower())
        place = -1
        if wanted and start not in gone:
            reach = min(at + near, len(words) - len(wanted) + 1)
            place = next((i for i in range(at, reach) if words[i : i + len(wanted)] == wanted), -1)
            at, near = (at, near + len(wanted)) if place < 0 else (place + len(wanted), NEAR)
        found.append((place, place + len(wanted)) if place >= 0 else (-1, -1))
    return found


def nature(page: HtmlPage, row: int) -> str:
    """Return the nature of a block, one of :data:`NATURES`."""
    facts, kind = page.facts, page.blocks.kind[row]
    if facts.hidden[row]:
        return "hidden"
    if 2 * facts.link_chars[row] > facts.text_chars[row]:
        return "links"
    if kind in (PARAGRAPH, ITEM, QUOTE):
        return "prose" if facts.text_chars[row] >= PROSE else "short"
    return "tables and code" if kind in (TABLE, CODE) else "short"


def judge(way: Way, page: Loaded, texts: Sequence[str], judged: Judged) -> None:
    """Add the counts of a page's chunks."""
    kept = [text for text in texts if text.strip()]
    text, spans = together(kept)
    marked_there = quality_counts.marked_spans(text, page.marked)
    noise = quality_counts.noise(text, spans, marked_there)
    places = [found.span() for found in _WORD.finditer(text)]
    at = located(page, [text[a:b].lower() for a, b in places], way.reading == "noise")
    units = [
        (places[at[first][0]][0], places[at[last - 1][1] - 1][1])
        for first, last in page.units
        if all(a >= 0 for a, _ in at[first:last])
        and at[last - 1][1] - at[first][0] == sum(b - a for a, b in at[first:last])
    ]
    headings = [
        (places[a][0], level)
        for (a, _), kind, level in zip(at, page.page.blocks.kind, page.page.blocks.level)
        if kind == HEADING and a >= 0
    ]
    sentences = np.array(pychunk.split_sentences([text])[0], np.int64).reshape(-1, 2)
    vectors = shared_encoder().encode([text[a:b] for a, b in sentences])
    rows = chunk_starts.holders(sentences[:, 0], spans)
    heading_rows = chunk_starts.holders([start for start, _ in headings], spans)
    levels = [level for _, level in headings]
    words_there = spaced(text)
    inside, marked = noise.of.sum() - noise.outside.sum(), words_in(page.marked)
    count = len(kept)
    judged.add(
        **{
            "noise": noise.characters,
            "noisy chunks": noise.chunks,
            "marked text kept": (inside, marked),
            "noise snippets": (sum(each in words_there for each in page.unwanted), len(page.unwanted)),
            "text snippets": (sum(each in words_there for each in page.wanted), len(page.wanted)),
            "complete": quality_counts.completeness(text, spans, units),
            "dangling": (quality_counts.dangling(text, spans).sum(), count),
            "cuts a unit": (quality_counts.cuts_a_unit(spans, units).sum(), count),
            "context switch": quality_counts.context_switch(vectors, rows, heading_rows, levels, count),
            "sharp turn": (quality_counts.breaks_inside(vectors, rows, count).sum(), count),
            "equal headings": (quality_counts.equal_headings(heading_rows, levels, count).sum(), count),
            "units found": (len(units), len(page.units)),
        }
    )
    judged.tokens.append(tokens(kept))
    if way.name == STRUCTURE:
        there = [row for row, (first, _) in enumerate(at) if first >= 0]
        whole = [(places[at[row][0]][0], places[at[row][1] - 1][1]) for row in there]
        outside = dict.fromkeys(NATURES, 0)
        for row, count in zip(there, quality_counts.noise(text, whole, marked_there).outside.tolist()):
            outside[nature(page.page, row)] += count
        total = int(noise.outside.sum())
        outside["in no block"] = total - sum(outside.values())
        judged.add(**{name: (count, total) for name, count in outside.items()})


@functools.cache
def shared_encoder() -> Any:
    return systems.Encoder("static").model


def ratio(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    return intervals.of_sums(np.array(pairs), lambda sums: sums[0] / sums[1])._asdict()


def of_pages(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the mean of pages' shares, in which long pages count as much as short ones."""
    return intervals.interval([found / of for found, of in pairs if of])._asdict()


def drawn(file: Path, count: int, seed: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield this many pages with marked text, drawn by seed, in the file's order; 0 means all."""
    columns = ["html", "main_content", "page_type", "url", "must_contain", "must_not_contain"]
    table = pq.read_table(file, columns=columns)
    rows = np.array([row for row, text in enumerate(table["main_content"]) if (text.as_py() or "").strip()])
    if count and count < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(rows, count, replace=False))
    for row in rows.tolist():
        yield row, {name: table[name][row].as_py() for name in table.column_names}


def articles(folder: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the pages of article_extraction in the same form, without snippets."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for number, name in enumerate(sorted(truth)):
        if (file := folder / "html" / f"{name}.html.gz").is_file():
            row = {"html": gzip.decompress(file.read_bytes()), "main_content": truth[name]["articleBody"]}
            yield number, row | {"page_type": "article", "url": "", "must_contain": None, "must_not_contain": None}


MEASURES = (
    "noise",
    "noisy chunks",
    "marked text kept",
    "noise snippets",
    "text snippets",
    "complete",
    "context switch",
)
PARTS = ("dangling", "cuts a unit", "sharp turn", "equal headings")


def measured(
    pages: Iterator[tuple[int, dict[str, Any]]], models: Sequence[NoiseModel], spaced_words: bool = True
) -> dict[str, Any]:
    """Return the tables; with ``spaced_words`` all scripts have spaces, so that units are found by their words."""
    usable = ways()
    every = {way.name: Judged() for way in usable}
    reading = {"nothing": 0.0, "html": 0.0, "blocks": 0.0, "noise": 0.0}
    kinds: list[str] = []
    for number, row in pages:
        page = load(row, number, models, reading)
        kinds.append(page.kind)
        for way in usable:
            begun = time.process_time()
            texts = way.cut(page)
            every[way.name].seconds += time.process_time() - begun
            check(way, page, texts)
            judge(way, page, texts, every[way.name])
    found = every["pychunk recursive"].pairs["units found"]
    least = 0.99 if spaced_words else 0.9
    assert sum(own for own, _ in found) > least * sum(of for _, of in found), "units are not found by their words"
    measures = [measure for measure in MEASURES if any(of for _, of in every[STRUCTURE].pairs[measure])]
    shares, parts, sizes = [], [], []
    for way in usable:
        own = every[way.name]
        name = {"way": way.name, "given": way.form}
        shares.append(name | {measure: ratio(own.pairs[measure]) for measure in measures})
        shares[-1]["noise of a page"] = of_pages(own.pairs["noise"])
        parts.append(name | {measure: ratio(own.pairs[measure]) for measure in PARTS})
        counts = np.concatenate(own.tokens)
        sizes.append(
            name
            | {
                "seconds": round(reading[way.reading] + own.seconds, 2),
                "of these cutting": round(own.seconds, 2),
                "mean tokens": round(float(counts.mean()), 1),
                "p50 tokens": int(np.percentile(counts, 50)),
                "p90 tokens": int(np.percentile(counts, 90)),
                "chunks a document": round(len(counts) / len(kinds), 1),
            }
        )
    by_kind = [
        {"pages": kind, "number": kinds.count(kind)}
        | {
            measure: ratio([pair for pair, own in zip(every[STRUCTURE].pairs[measure], kinds) if own == kind])
            for measure in measures
        }
        for kind in sorted(set(kinds))
    ]
    own = every[STRUCTURE].pairs
    natures = [{"its noise": each, "share": ratio(own[each])} for each in NATURES if any(of for _, of in own[each])]
    return {
        "pages": len(kinds),
        "tenets": shares,
        "of which": parts,
        "sizes and time": sizes,
        STRUCTURE: by_kind,
        f"what the noise of {STRUCTURE} is": natures,
    }


def show(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print a table; intervals are in per cent."""

    def written(value: Any) -> str:
        if not isinstance(value, dict):
            return str(value)
        low, mean, high = (f"{100 * value[name]:.1f}" for name in ("low", "mean", "high"))
        return f"{mean} ({low} to {high})"

    cells = [list(rows[0]), *([written(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    print(f"\n{title}")
    for line in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help=f"0: all (default: {PAGES})")
    parser.add_argument("--processes", type=int, default=1, help="where networks must be trained (default: 1)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/tenets.json")
    return parser.parse_args()


def main() -> None:
    """Print the tables and save them."""
    options = arguments()
    file = Path(options.data) / "wcxb" / "dev.parquet"
    found = measured(drawn(file, options.pages), fold_models(file, options.processes))
    print(f"{found['pages']:,} pages; shares are of all chunks or characters, in per cent, with intervals over pages")
    for title, rows in found.items():
        if isinstance(rows, list) and rows:
            show(title, rows)
    whole = measured(articles(Path(options.data) / "article_extraction"), [shipped_model()] * FOLDS, False)
    print(f"\n{whole['pages']:,} articles that people marked whole")
    for title in ("tenets", "of which"):
        show(title, whole[title])
    found[WHOLE] = whole["tenets"]
    found["of which, articles"] = whole["of which"]
    for pages, own in (("of pages marked in part", found["tenets"]), ("of articles marked whole", found[WHOLE])):
        print(f"\nnoise of {STRUCTURE} {pages}: {100 * own[0]['noise']['mean']:.1f} %, at most {100 * BAR:.0f} % asked")
    if options.save:
        record.save(
            options.save,
            "Noise, completeness and context switches of chunks of web pages",
            found,
            about=(
                "The shares have 95 % intervals over pages: a sample draws whole pages. Noise: the share of the "
                "characters of words that are outside the text that people marked. A chunk with more than 20 % noise "
                "is a noisy chunk. No network that judged a page was trained on pages of its domain. No network was "
                "trained on the 120 articles of article_extraction, in which people marked the whole text except "
                "headlines. Noise snippets: lines that people noted as noise of a page. Text snippets: sentences that "
                "people noted as its text. Both columns give the share of these snippets that chunks hold, among those"
                " that the page contains. Complete: the chunk has no dangling start, and cuts no unit that would fit "
                "into a chunk. Context switch: the chunk contains one of the document's sharpest turns, or two "
                "headings of one level. Chunks have at most 200 tokens, those of other packages at most 800 "
                "characters. Splitters at headers have no limit, and the one for HTML gets pages without scripts and "
                "styles. Seconds are CPU time for all pages. Prose: paragraphs, list items and quotes of at least 100 "
                "characters that do not consist mostly of links."
            ),
            packages=PACKAGES,
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
