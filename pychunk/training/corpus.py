"""Articles to learn from and to measure on, and sentences drawn from them.

The splitter here is deliberately a plain pattern of its own: the learned table then depends on nothing but this file
and the articles, and does not change when the engine's sentence rules do.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Part = Literal["train", "validation", "test"]

#: Shares of articles that nothing is learned from: those that training is stopped and calibrated on, and the test.
VALIDATION, TEST = 0.1, 0.1

# A stop, any closing quotes or brackets, white space before the next sentence; or a line break.
_BREAK = re.compile(r"(?<=[.!?])([\"'”’)\]]*)\s+|\n+")


@dataclass(frozen=True)
class Document:
    """One article's sentences in reading order, none of them empty."""

    id: str
    sentences: list[str]


def split_sentences(text: str) -> list[str]:
    """Split ``text`` after stops (with their closing quotes) and at line breaks; headings and fragments are kept.

    Example:
        >>> split_sentences('He said "no." She left.\\nEtymology.')
        ['He said "no."', 'She left.', 'Etymology.']
    """
    sentences: list[str] = []
    start = 0
    for match in _BREAK.finditer(text):
        end = match.end(1) if match.group(1) is not None else match.start()
        sentences.append(text[start:end].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def default_articles() -> Path:
    """Return ``wiki/articles.parquet`` in ``$PYCHUNK_DATA``, or in the working directory if that is not set."""
    return Path(os.environ.get("PYCHUNK_DATA", ".")) / "wiki" / "articles.parquet"


def read_rows(file: Path, *columns: str) -> list[tuple[str, ...]]:
    """Return the values of columns as texts, a missing one as "", in the order of a Parquet file of articles.

    Raises:
        FileNotFoundError: there is no such file.
    """
    import pyarrow.parquet as pq

    if not file.is_file():
        raise FileNotFoundError(f"no articles at {file}: pass --articles FILE or set PYCHUNK_DATA")
    table = pq.read_table(file, columns=list(columns))
    values = (table[column].to_pylist() for column in columns)
    return [tuple("" if value is None else str(value) for value in row) for row in zip(*values, strict=True)]


def part_of(identifier: str) -> Part:
    """Return the part of the split that an article belongs to, by a hash of its id: the same in every file.

    Example:
        >>> part_of("7"), part_of("12"), part_of("4")
        ('train', 'test', 'validation')
    """
    share = int.from_bytes(hashlib.sha256(f"topic:{identifier}".encode()).digest()[:8], "big") / 2**64
    return "test" if share < TEST else "validation" if share < TEST + VALIDATION else "train"


def read_articles(file: Path, part: Part, limit: int = 0) -> list[str]:
    """Return texts of the articles of a part, from a file with columns ``id`` and ``text``; ``limit=0`` is all.

    Raises:
        FileNotFoundError: there is no such file.
    """
    found = [text for identifier, text in read_rows(file, "id", "text") if part_of(identifier) == part]
    return found[:limit] if limit else found


def _rank(seed: int, identifier: str) -> str:
    return hashlib.sha256(f"{seed}:{identifier}".encode()).hexdigest()


def read_split(articles: Path, seed: int, held_out: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Read ``(id, text)`` pairs from a parquet file with columns ``id`` and ``text`` and split them by whole article.

    The order is that of a hash of the seed and the id, so it depends on neither the file's order nor on which other
    articles are in it. The first ``held_out`` articles are for measuring, the rest for learning.

    Returns:
        ``(training, held_out)``, both in hash order.

    Raises:
        FileNotFoundError: there is no such file.
    """
    rows = [(identifier, text) for identifier, text in read_rows(articles, "id", "text")]
    rows.sort(key=lambda row: _rank(seed, row[0]))
    return rows[held_out:], rows[:held_out]


def sample_runs(rows: list[tuple[str, str]], sentences: int, run: int, seed: int) -> list[Document]:
    """Take runs of up to ``run`` adjacent sentences, one from each article in turn, until ``sentences`` are collected.

    Runs keep neighbours together, which is what the encoder is used on; taking turns spreads them over all articles
    before any article gives a second one. A sentence that comes twice in one run is kept once. A larger ``sentences``
    only adds documents at the end, so everything cached for a smaller sample stays valid.
    """
    documents: list[Document] = []
    total = 0
    turn = 0
    waiting = list(rows)
    while waiting and total < sentences:
        more = []
        for identifier, text in waiting:
            if total >= sentences:
                break
            found = split_sentences(text)
            starts = _starts(len(found), run, random.Random(f"{seed}:{identifier}"))
            if turn < len(starts):
                start, stop = starts[turn]
                kept = list(dict.fromkeys(found[start:stop]))[: sentences - total]
                documents.append(Document(identifier, kept))
                total += len(kept)
                more.append((identifier, text))
        waiting = more
        turn += 1
    return documents


def _starts(length: int, run: int, random_: random.Random) -> list[tuple[int, int]]:
    """Disjoint runs that cover ``length`` sentences: one drawn at random, then those after it, then those before it."""
    if length == 0:
        return []
    first = random_.randint(0, max(0, length - run))
    after = [(start, min(start + run, length)) for start in range(first, length, run)]
    before = [(max(0, stop - run), stop) for stop in range(first, 0, -run)]
    return after + before


def whole_documents(rows: list[tuple[str, str]]) -> list[Document]:
    """Every sentence of every article, in order and with repetitions: what the measurements run on."""
    documents = [Document(identifier, split_sentences(text)) for identifier, text in rows]
    return [document for document in documents if document.sentences]
