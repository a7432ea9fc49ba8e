"""Articles to learn from and to measure on, and sentences drawn from them.

The sentence splitter here is a simple pattern of its own on purpose. The learned table then depends only on this file
and the articles, and does not change with the engine's sentence rules.
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

#: The shares of articles for stopping and calibrating a training, and for the test. None of them are learned from.
VALIDATION, TEST = 0.1, 0.1

# A stop with any closing quotes or brackets and white space before the next sentence, or a line break.
_BREAK = re.compile(r"(?<=[.!?])([\"'”’)\]]*)\s+|\n+")


@dataclass(frozen=True)
class Document:
    """The sentences of one article in reading order, none of them empty."""

    id: str
    sentences: list[str]


def split_sentences(text: str) -> list[str]:
    r"""Split ``text`` after stops (with their closing quotes) and at line breaks; headings and fragments are kept.

    Example:
        >>> split_sentences('He said "no." She left.\nEtymology.')
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
    """Return the values of columns as texts, in the order of a Parquet file of articles; a missing value is "".

    Raises:
        FileNotFoundError: There is no such file.
    """
    import pyarrow.parquet as pq

    if not file.is_file():
        raise FileNotFoundError(f"no articles at {file}: pass --articles FILE or set PYCHUNK_DATA")
    table = pq.read_table(file, columns=list(columns))
    values = (table[column].to_pylist() for column in columns)
    return [tuple("" if value is None else str(value) for value in row) for row in zip(*values, strict=True)]


def part_of(identifier: str) -> Part:
    """Return the part of the split that an article belongs to, by a hash of its id, the same in every file.

    Example:
        >>> part_of("7"), part_of("12"), part_of("4")
        ('train', 'test', 'validation')
    """
    share = int.from_bytes(hashlib.sha256(f"topic:{identifier}".encode()).digest()[:8], "big") / 2**64
    return "test" if share < TEST else "validation" if share < TEST + VALIDATION else "train"


def read_articles(file: Path, part: Part, limit: int = 0) -> list[str]:
    """Return texts of the articles of a part, from a file with columns ``id`` and ``text``; ``limit=0`` is all.

    Raises:
        FileNotFoundError: There is no such file.
    """
    found = [text for identifier, text in read_rows(file, "id", "text") if part_of(identifier) == part]
    return found[:limit] if limit else found


def _rank(seed: int, identifier: str) -> str:
    return hashlib.sha256(f"{seed}:{identifier}".encode()).hexdigest()


def read_split(articles: Path, seed: int, held_out: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Read ``(id, text)`` pairs from a Parquet file with columns ``id`` and ``text``, and split them by whole article.

    The articles are ordered by a hash of the seed and the id. The order of two articles depends neither on the file's
    order nor on other articles in it. The first ``held_out`` articles are for measuring, the rest for learning.

    Returns:
        ``(training, held_out)``, both in hash order.

    Raises:
        FileNotFoundError: There is no such file.
    """
    rows = [(identifier, text) for identifier, text in read_rows(articles, "id", "text")]
    rows.sort(key=lambda row: _rank(seed, row[0]))
    return rows[held_out:], rows[:held_out]


def sample_runs(rows: list[tuple[str, str]], sentences: int, run: int, seed: int) -> list[Document]:
    """Take runs of up to ``run`` adjacent sentences, one from each article in turn, until ``sentences`` are collected.

    Runs keep neighbours together, because the encoder is used on neighbours. Taking turns spreads the runs over all
    articles before any article gives a second one. A repeated sentence in a run is kept once. A larger ``sentences``
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
    """Return disjoint runs that cover ``length`` sentences: a random one, then those after it, then those before it."""
    if length == 0:
        return []
    first = random_.randint(0, max(0, length - run))
    after = [(start, min(start + run, length)) for start in range(first, length, run)]
    before = [(max(0, stop - run), stop) for stop in range(first, 0, -run)]
    return after + before


def whole_documents(rows: list[tuple[str, str]]) -> list[Document]:
    """Return every sentence of every article, in order and with repetitions, for the measurements."""
    documents = [Document(identifier, split_sentences(text)) for identifier, text in rows]
    return [document for document in documents if document.sentences]
