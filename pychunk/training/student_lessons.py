"""Unlabelled questions about articles, and the chunks that hybrid search finds for them.

A query is a title, a title with a heading, or a sentence. In a sentence, words are left out, or a question word
replaces a name or number. The sentence may be removed from its paragraph before the articles are indexed. The best
chunk then answers in other words, or not at all.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import api
from ..encoders.cross_encoder import PairScorer
from ..evaluation.datasets import lines_with_headings
from ..index.index import Index
from ..index.options import Bm25
from ..segmenter import Segmenter
from .corpus import Part, part_of, read_rows
from .rank import PARAGRAPH, SENTENCE, thinned

I32 = npt.NDArray[np.int32]

#: The number of hits from which candidates are drawn. A search reranks the same number by default.
DEPTH = 20
#: The shares of an article's queries that are a title, a title with a heading, and a thinned sentence.
TITLE, HEADING, THINNED = 0.05, 0.15, 0.3
#: The share of sentences that are removed from their paragraph, and the most words of a question.
ABSENT, WORDS = 0.35, 14
#: A name inside a sentence, a year, or another number.
_ASKED = re.compile(
    r"(?<=[a-z,] )(?P<name>[A-Z]\w+(?: (?:of |the )?[A-Z]\w+)*)"
    r"|\b(?P<year>1\d{3}|20\d\d)\b|\b(?P<number>\d[\d,.]*\d|\d)\b"
)
_WORDS = {
    "name": ("who", "what", "which", "where", "what", "who was"),
    "year": ("when", "in what year", "when did"),
    "number": ("how many", "how much", "what"),
}


class Article(NamedTuple):
    """An article's title and text."""

    title: str
    text: str


@dataclass(frozen=True)
class Lessons:
    """The queries and candidates as the model reads them.

    Attributes:
        ids: The tokens of each pair, including those around the texts.
        first: The number of tokens that belong to the query, int64[pairs].
        offsets: Query i has the pairs [offsets[i], offsets[i + 1]), best hit first; int64[queries + 1].
    """

    ids: list[I32]
    first: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def read(file: Path, part: Part) -> list[Article]:
    """Return the articles of a part, in the order of the file.

    Raises:
        FileNotFoundError: There is no such file.
    """
    rows = read_rows(file, "id", "title", "text")
    return [Article(title, text) for identifier, title, text in rows if part_of(identifier) == part]


def drawn(articles: Sequence[Article], each: int, seed: int) -> tuple[list[str], list[str]]:
    """Return documents, from some of which a sentence was removed, and at most ``each`` queries about each article."""
    random = np.random.default_rng(seed)
    documents, queries = [], []
    for article in articles:
        lines = article.text.split("\n")
        long = [place for place, line in enumerate(lines) if len(line.split()) >= PARAGRAPH]
        for place in random.permutation(long)[:each].tolist():
            kind = random.random()
            if kind < TITLE:
                queries.append(article.title)
            elif kind < TITLE + HEADING:
                queries.append(f"{article.title} {heading(article.text, random)}".strip())
            else:
                lines[place], query = _of_sentence(lines[place], kind < TITLE + HEADING + THINNED, random)
                queries += [query] if query else []
        documents.append("\n".join(lines))
    return documents, queries


def heading(text: str, random: np.random.Generator) -> str:
    """Return one of an article's headings without its stop, empty if it has none."""
    found = [line.rstrip(". ") for _, line, is_heading in lines_with_headings(text) if is_heading]
    return found[int(random.integers(len(found)))] if found else ""


def _of_sentence(line: str, thin: bool, random: np.random.Generator) -> tuple[str, str]:
    """Return a paragraph and a query about one of its sentences, which may have been removed; "" if it is too short."""
    spans = api.split_sentences(line)[0]
    start, end = spans[int(random.integers(len(spans)))]
    sentence = line[start:end].strip()
    if len(spans) < 3 or not SENTENCE[0] <= len(sentence.split()) <= SENTENCE[1]:
        return line, ""
    taken_out = bool(random.random() < ABSENT)
    query = thinned(sentence, taken_out, random) if thin else question(sentence, random)
    return (line[:start] + line[end:] if taken_out else line), query


def question(sentence: str, random: np.random.Generator) -> str:
    """Turn a sentence into a question for one of its names or numbers, or else for one of its words.

    Example:
        >>> question("It was built by Gustave Eiffel.", np.random.default_rng(0))
        'where It was built by?'
    """
    found = list(_ASKED.finditer(sentence)) or list(re.finditer(r"(?P<name>\w{5,})", sentence))
    if not found:
        return sentence
    match = found[int(random.integers(len(found)))]
    choices = _WORDS[match.lastgroup or "name"]
    before, after = sentence[: match.start()].split(), sentence[match.end() :].split()
    room = int(random.integers(WORDS // 2, WORDS + 1))
    left = min(len(before), max(room // 2, room - len(after)))
    kept = [word.strip(".,;:()\"'") for word in [*before[len(before) - left :], *after[: room - left]]]
    return " ".join([choices[int(random.integers(len(choices)))], *filter(None, kept)]) + "?"


def lessons(articles: Sequence[Article], each: int, length: int, seed: int, model: PairScorer) -> Lessons:
    """Index the articles, search for the queries, and tokenize the hits, cut at ``length`` tokens a pair."""
    documents, queries = drawn(articles, each, seed)
    segmenter = Segmenter("recursive", size=110, unit="words", vectors="sentence")
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "i", bm25=Bm25(stemmer="english")) as index,
    ):
        index.add(segmenter(documents, ids=[str(number) for number in range(len(documents))]))
        index.save()
        found: Any = index.search(queries, DEPTH)
        texts = [[hit.text for hit in own] for own in found]
    flat = [query.encode() for query in queries] + [text.encode() for own in texts for text in own]
    bounds = np.cumsum([0, *map(len, flat)]).astype(np.int64)
    tokens = model.tokens_of(np.frombuffer(b"".join(flat), np.uint8), bounds)
    pieces = np.split(tokens.ids, tokens.offsets[1:-1])
    around = model.facts
    ids, first, at = [], [], len(queries)
    for query, own in enumerate(texts):
        asked = [*around.prefix, *pieces[query][: length // 2].tolist(), *around.middle]
        for _ in own:
            end = list(around.suffix)
            ids.append(np.array([*asked, *pieces[at][: length - len(asked) - len(end)].tolist(), *end], np.int32))
            first.append(len(asked))
            at += 1
    return Lessons(ids, np.array(first, np.int64), np.cumsum([0, *map(len, texts)]).astype(np.int64))
