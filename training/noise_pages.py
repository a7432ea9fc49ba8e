"""Marked pages to learn noise from, with each block's share of content, from the text that people marked."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from pychunk.parsing.html.noise_features import NoiseFeatures, noise_features
from pychunk.parsing.html.page import parse_html

F32 = npt.NDArray[np.float32]
FOLDS = 5
_WORD = re.compile(r"\w+")
#: Second-level names under which anybody can register domains.
_SHARED = frozenset(("co", "com", "org", "ac", "gov", "net", "edu"))


class Page(NamedTuple):
    """A page to learn from.

    Attributes:
        features: The features of the page.
        content: The share of each block's words that is content, float32[b].
        words: The words of each block.
        wanted: The words of the marked text.
        kind: The type of the page, such as "forum".
        domain: The domain of the page.
    """

    features: NoiseFeatures
    content: F32
    words: list[list[str]]
    wanted: list[str]
    kind: str
    domain: str

    @property
    def fold(self) -> int:
        """The number, of five, of the part that the page's domain belongs to."""
        return fold_of(self.domain)


def fold_of(domain: str) -> int:
    """Return the number of the part that a domain belongs to."""
    return zlib.crc32(domain.encode()) % FOLDS


def words_of(text: str) -> list[str]:
    """Return the words that F1 counts: runs of letters and digits in lower case."""
    return _WORD.findall(text.lower())


def domain_of(url: str | None, row: int) -> str:
    """Return the registered domain; each page without an address has a domain of its own.

    >>> domain_of("https://cooking.stackexchange.com/q/1", 0), domain_of("http://www.bbc.co.uk/", 1), domain_of("", 7)
    ('stackexchange.com', 'bbc.co.uk', 'row 7')
    """
    if not url or "//" not in url:
        return f"row {row}"
    names = url.split("/")[2].lower().split(":")[0].removeprefix("www.").split(".")
    return ".".join(names[-3:] if len(names) > 2 and names[-2] in _SHARED else names[-2:])


def f1(kept: list[str], wanted: list[str]) -> float:
    """Return the F1 of two multisets of words: twice the shared words divided by all words; 1 if both are empty.

    >>> f1(["a", "b"], ["b", "b", "c"])
    0.4
    """
    if not kept and not wanted:
        return 1.0
    shared = sum((Counter(kept) & Counter(wanted)).values())
    return 2 * shared / (len(kept) + len(wanted))


def content_of(blocks: list[list[str]], wanted: list[str]) -> F32:
    """Return the share of each block that is in the wanted text, float32[b].

    The share counts runs of three words. Blocks of less than five words are either wholly in the text or not. Each word
    of the text counts for one block only. Long blocks come first, those with the highest shares before others. Then
    come short blocks, those nearest to other content before others. A block for whose words too few are left is not
    content. It is a copy, or a menu's "Home" on a page whose text contains that word.
    """
    text = f" {' '.join(wanted)} "
    runs = {tuple(wanted[at : at + 3]) for at in range(len(wanted) - 2)}
    share = np.zeros(len(blocks))
    for number, words in enumerate(blocks):
        if len(words) < 5:
            share[number] = bool(words) and f" {' '.join(words)} " in text
        else:
            own = [tuple(words[at : at + 3]) for at in range(len(words) - 2)]
            share[number] = sum(run in runs for run in own) / len(own)
    size = np.array([min(len(words), 50) if len(words) >= 5 else 0 for words in blocks], np.float64)
    around = np.zeros(len(blocks))
    for step in range(1, 7):
        for shift in (step, -step):
            around += np.roll(share * size, shift) / step - 0.3 * np.roll((1 - share) * size, shift) / step
    left = Counter(wanted)
    short = [len(words) < 5 for words in blocks]
    likely = np.flatnonzero(share > 0.5).tolist()
    for number in sorted(likely, key=lambda row: (short[row], -around[row] * short[row], -share[row], -around[row])):
        own_words = Counter(blocks[number])
        there = sum(min(left[word], count) for word, count in own_words.items()) / len(blocks[number])
        if there < (1 if short[number] else 0.5):
            share[number] = 0
            continue
        share[number] = min(share[number], there)
        left -= own_words
    return share.astype(np.float32)


def page_of(html: bytes, text: str, kind: str, domain: str) -> Page:
    """Return a page of HTML with its marked text."""
    page = parse_html(html)
    features = noise_features(page.blocks, page.facts, page.text, page.title)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True)
    words = [words_of(page.text[start:end]) for start, end in spans]
    wanted = words_of(text)
    return Page(features, content_of(words, wanted), words, wanted, kind, domain)


def read_pages(file: Path, processes: int = 1, limit: int = 0) -> list[Page]:
    """Read the pages of WCXB's Parquet file in its order; ``limit`` reads that number of them, spread over the file."""
    table = pq.read_table(file, columns=["html", "main_content", "page_type", "url"])
    step = max(1, table.num_rows // limit) if limit else 1

    def rows() -> Iterator[tuple[Any, ...]]:
        for row in range(0, table.num_rows, step):
            html, text, kind, url = (column[row].as_py() for column in table.columns)
            yield html, text or "", kind, domain_of(url, row)

    if processes < 2:
        return [page_of(*row) for row in rows()]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(page_of, *zip(*rows(), strict=True), chunksize=16))
