"""The texts for choosing defaults, with headings that people other than pychunk's authors marked; seeded samples."""

from __future__ import annotations

import hashlib
import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from pychunk.evaluation import datasets
from pychunk.evaluation.datasets import Dataset

#: The number of words that make a document worth cutting.
LEAST_WORDS = 100
Span = tuple[int, int]

_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
#: Kinds of pages with headings of sections; the headings of others are names of products, people and places.
SECTIONED = ("article", "documentation")
#: The sections that Ukrainian law prescribes for a leaflet, on lines of their own; marks at the end do not count.
LEAFLET_SECTIONS = frozenset(
    {
        "склад",
        "склад лікарського засобу",
        "загальна характеристика",
        "лікарська форма",
        "основні фізико-хімічні властивості",
        "фармакотерапевтична група",
        "фармакологічні властивості",
        "фармакодинаміка",
        "фармакокінетика",
        "фармацевтичні характеристики",
        "клінічні характеристики",
        "показання",
        "показання для застосування",
        "протипоказання",
        "взаємодія з іншими лікарськими засобами",
        "взаємодія з іншими лікарськими засобами та інші види взаємодій",
        "особливості застосування",
        "особливі заходи безпеки",
        "застосування у період вагітності або годування груддю",
        "спосіб застосування та дози",
        "діти",
        "передозування",
        "побічні реакції",
        "термін придатності",
        "умови зберігання",
        "несумісність",
        "упаковка",
        "категорія відпуску",
        "виробник",
        "заявник",
        "місцезнаходження",
        "місцезнаходження заявника",
    }
)


@dataclass(frozen=True)
class Corpus:
    """A corpus of documents and their headings.

    Attributes:
        headings: For each document, the spans of lines in characters; empty if nobody marked any.
    """

    name: str
    data: Dataset
    headings: list[list[Span]] = field(default_factory=list)


def lines(text: str) -> Iterator[Span]:
    """Yield the spans of the lines that are not blank, without white space at their edges."""
    at = 0
    for line in text.split("\n"):
        if line.strip():
            yield at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        at += len(line) + 1


def wiki_headings(text: str) -> list[Span]:
    """Return the headings of a WikiExtractor text, by the rule of the data set of sections."""
    found = []
    for start in datasets.section_starts(text):
        while True:
            end = text.find("\n", start)
            found.append((start, end))
            start = end + len(text[end:]) - len(text[end:].lstrip())
            # Of several headings in a row the first begins the section; any other follows a line of text.
            if 2 not in datasets.section_starts("x\n" + text[start:]):
                break
    return found


def hidden(text: str, headings: list[Span]) -> tuple[str, list[int]]:
    """Return the text without its headings, and the starts of sections there, in characters, without 0."""
    kept, starts, at, size = [], [], 0, 0
    for start, end in headings:
        kept.append(text[at:start])
        size += start - at
        if size and (not starts or starts[-1] != size):
            starts.append(size)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return "".join([*kept, text[at:]]), starts


def held_out(identifier: str) -> bool:
    """Return whether an article belongs to the tenth, by a hash of its id, that method ``topic`` is tested on."""
    share = int.from_bytes(hashlib.sha256(f"topic:{identifier}".encode()).digest()[:8], "big") / 2**64
    return share < 0.1


def wiki(data: Path, count: int, seed: int = 0) -> tuple[Corpus, Corpus]:
    """Return the articles that topic is tested on, unchanged, and without headings but with section starts."""
    table = pq.read_table(data / "wiki" / "articles.parquet", columns=["id", "text"])
    rows = zip(map(str, table["id"].to_pylist()), table["text"].to_pylist())
    chosen = _drawn(
        [row for row in rows if held_out(row[0]) and len((row[1] or "").split()) >= LEAST_WORDS], count, seed
    )
    ids, texts = [each for each, _ in chosen], [text for _, text in chosen]
    headings = [wiki_headings(text) for text in texts]
    whole = Corpus("Wikipedia", Dataset("wiki", "boundaries", ids, texts), headings)
    bare = [hidden(text, own) for text, own in zip(texts, headings)]
    boundaries = Dataset("wiki", "boundaries", ids, [text for text, _ in bare], boundaries=[own for _, own in bare])
    return whole, Corpus("Wikipedia, headings hidden", boundaries)


def web(data: Path, count: int, seed: int = 0) -> Corpus:
    """Return web pages' text; a line is a heading if h1 to h6 of the page have its words at least as often.

    If a word is a heading once, and by itself a line in many sentences, as names in a monospaced font are, it does not
    count. Only :data:`SECTIONED` pages have headings.
    """
    table = pq.read_table(data / "wcxb" / "dev.parquet", columns=["id", "page_type", "main_content", "html"])
    long = [row for row in range(len(table)) if len((table["main_content"][row].as_py() or "").split()) >= LEAST_WORDS]
    ids, texts, headings = [], [], []
    for row in _drawn(long, count, seed):
        text = table["main_content"][row].as_py()
        source = table["html"][row].as_py().decode("utf-8", "replace")
        sectioned = table["page_type"][row].as_py() in SECTIONED
        marked = Counter(plain(content) for _, content in _HTML_HEADING.findall(source) if sectioned)
        written = [(" ".join(text[a:b].split()), (a, b)) for a, b in lines(text)]
        times = Counter(words for words, _ in written)
        ids.append(str(table["id"][row]))
        texts.append(text)
        headings.append([span for words, span in written if words and times[words] <= marked[words]])
    return Corpus("web pages", Dataset("wcxb", "boundaries", ids, texts), headings)


def plain(content: str) -> str:
    """Return the words of HTML's content."""
    return " ".join(html.unescape(_TAG.sub(" ", content)).split())


def leaflets(data: Path, count: int | None = None) -> Corpus:
    """Return the leaflets with their pages; a line is a heading if it is the name of a prescribed section."""
    full = datasets.unlp(data / "unlp2026")
    texts = full.documents[:count]
    found = [[(a, b) for a, b in lines(text) if text[a:b].rstrip(" .:").lower() in LEAFLET_SECTIONS] for text in texts]
    kept = Dataset("leaflets", "pages", full.ids[:count], texts, page_starts=full.page_starts[:count])
    return Corpus("leaflets", kept, found)


def with_what_follows(
    text: str, headings: list[Span], pages: list[int], sentences: np.ndarray, fits: Callable[[str], bool]
) -> list[Span]:
    """Return headings, in runs of one or more, that fit into a chunk with the text that follows on their page.

    The text that follows is a sentence, or as much of it as is on the line: no chunk has to hold more.
    """
    kept: list[Span] = []
    first = 0
    while first < len(headings):
        last = first
        while last + 1 < len(headings) and not text[headings[last][1] : headings[last + 1][0]].strip():
            last += 1
        begin, end = headings[first][0], headings[last][1]
        follows = end + len(text[end:]) - len(text[end:].lstrip())
        page = bisect_right(pages, begin)
        if follows < len(text) and bisect_right(pages, follows) == page:
            sentence = sentences[np.searchsorted(sentences[:, 0], follows, side="right") - 1, 1]
            line = text.find("\n", follows)
            if fits(text[begin : min(sentence, line if line >= 0 else len(text))]):
                kept += headings[first : last + 1]
        first = last + 1
    return kept


def squad(data: Path, count: int, seed: int = 0) -> Corpus:
    """Return all articles of SQuAD v2 dev, and this many answerable questions, drawn from all articles."""
    full = datasets.squad(data / "squad" / "dev-v2.0.json")
    return Corpus("SQuAD", replace(full, questions=_drawn(full.questions, count, seed)))


def _drawn(rows: list, count: int, seed: int) -> list:
    order = np.random.default_rng(seed).permutation(len(rows))[:count]
    return [rows[row] for row in sorted(order)]
