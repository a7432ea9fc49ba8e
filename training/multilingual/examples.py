"""The examples of contrastive training: texts that belong together, in one language or in two.

An example is a query and the sentences of the passage that answers it. All examples of a batch are of one kind and, on
each side, in one language. Otherwise, the language alone would tell which passage is right.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import pychunk
from pychunk.training.corpus import part_of
from pychunk.training.token_bags import Bags

from ..manuals import sections
from .texts import GENERAL

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]

#: The most sentences of a source in a language and pairs of a kind, and the part of it for manuals of software.
MOST, SOFTWARE = 60_000, 3
#: The most headings of a language's manuals, and paragraphs of English articles.
HEADINGS, PARAGRAPHS = 8_000, 60_000
#: The fewest characters of a heading, and those that the text below it exceeds.
HEADING, SECTION = 9, 120
#: The fewest documents, pairs, titles, headings and questions of a language that is learned from.
LEAST = 300
#: The sentences of a passage at most.
SENTENCES = 6
#: The share of passages that contain the sentence from which the query is taken.
SAME = 0.75
#: About the most queries that a document gives, the sentences between two, and the fewest of one with passages.
TOGETHER, APART, LONG = 4, 5, 4
#: The fewest pieces of a part of a sentence, one more than the most, and the share that is then left out.
SHORTEST, LONGEST, DROPPED = 4, 16, 0.15
#: The share of queries that are asked as questions, the most characters of a question whose words they take, and the
#: most pieces that they take of its beginning and of its end.
ASKED, QUESTION, TAKEN = 0.3, 120, 4
#: The ends of questions.
MARKS = ("?", "？", "؟", "\u037e")


@dataclass
class Batch:
    """Examples: queries, sentences, and the number of the query whose passage each sentence is in."""

    queries: list[I32] = field(default_factory=list)
    sentences: list[I32] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def add(self, query: I32, passage: Sequence[I32]) -> None:
        """Add an example, unless a side has no piece."""
        passage = [sentence for sentence in passage if len(sentence)][:SENTENCES]
        if len(query) and passage:
            self.owners += [len(self.queries)] * len(passage)
            self.queries.append(query)
            self.sentences += passage


class Passages:
    """Queries, such as headings, and the rows of the sentences of the passage that each begins."""

    def __init__(self, rows: Rows, queries: Sequence[str], passages: Sequence[str]) -> None:
        cut = pychunk.segment(list(passages), "sentence").table
        self.first = rows.add(queries)
        owners = np.array(cut["document_index"].to_pylist())
        self.bounds: I64 = rows.add(cut["text"].to_pylist()) + np.searchsorted(owners, np.arange(len(queries) + 1))

    def __len__(self) -> int:
        return len(self.bounds) - 1


class Rows:
    """Texts, which become pieces all at once."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, texts: Sequence[str]) -> int:
        """Add texts, and return the number of the first."""
        self.texts += texts
        return len(self.texts) - len(texts)


def held_out(article: dict[str, list[str]]) -> bool:
    """Return whether a parallel article is measured on, as half of them are."""
    return hashlib.sha256(article["en"][0].encode()).digest()[0] % 2 == 0


def parallel(folder: Path) -> list[dict[str, list[str]]]:
    """Return the parallel articles of ``parallel.jsonl``."""
    with (folder / "parallel.jsonl").open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


class Examples:
    """The texts to learn from, and batches of them.

    Args:
        folder: What ``training.multilingual.texts`` wrote.
        manuals: What ``training.manuals`` wrote.
        articles: A Parquet file of English articles, with the columns ``id``, ``title`` and ``text``.
        full: The languages that are three times as frequent as others.
        unseen: The languages whose headings are not read, because the network of topics is measured on them.
        seed: The seed.
    """

    def __init__(
        self, folder: Path, manuals: Path, articles: Path, full: Sequence[str], unseen: Sequence[str], seed: int
    ) -> None:
        self.random, self.full = np.random.default_rng(seed), frozenset(full)
        self.rows = Rows()
        self.questions: dict[str, list[int]] = defaultdict(list)
        self.articles = [article for article in parallel(folder) if not held_out(article)]
        self.languages = sorted(self.articles[0])
        self.documents = self._documents(folder)
        self.pairs = self._pairs(folder)
        self.news = {
            language: self.rows.add([line for article in self.articles for line in article[language]])
            for language in self.languages
        }
        self.article_of = np.repeat(np.arange(len(self.articles)), [len(each["en"]) for each in self.articles])
        self.headings = self._headings(manuals, unseen)
        self.paragraphs, named = self._paragraphs(articles)
        self.titles, english = self._titles(folder)
        self.subjects = {language: list(rows) for language, rows in self.titles.items()}
        self.about = np.array([english.get(name, -1) for name in named])
        self.ids, self.offsets = np.empty(0, np.int32), np.zeros(1, np.int64)

    def tokenize(self, bags: Bags) -> None:
        """Take the pieces of ``rows.texts``, which are no longer needed."""
        self.ids, self.offsets = bags.ids, bags.offsets
        self.rows.texts.clear()

    def _add(self, language: str, texts: Sequence[str]) -> int:
        """Add texts to the rows, note which are questions, and return the number of the first."""
        first = self.rows.add(texts)
        marks = (*MARKS, ";") if language == "el" else MARKS
        self.questions[language] += [
            first + at for at, text in enumerate(texts) if len(text) <= QUESTION and text.endswith(marks)
        ]
        return first

    def _documents(self, folder: Path) -> dict[str, I64]:
        """Read consecutive sentences: the first and last row of each document of a language."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        sizes: dict[tuple[str, str], int] = defaultdict(int)
        lines = (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines()
        for at in self.random.permutation(len(lines)):
            document = json.loads(lines[at])
            key = document["language"], document["source"]
            most = MOST if document["source"] in GENERAL else MOST // SOFTWARE
            if document["language"] not in self.languages or sizes[key] >= most:
                continue
            sizes[key] += len(document["sentences"])
            first = self._add(document["language"], document["sentences"])
            found[document["language"]].append((first, first + len(document["sentences"])))
        return {language: np.array(own) for language, own in sorted(found.items()) if len(own) >= LEAST}

    def _pairs(self, folder: Path) -> dict[str, list[I64]]:
        """Read translations: the rows of text and English, of sentences of general text and of all other sources."""
        found: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = defaultdict(lambda: ([], []))
        with (folder / "pairs.jsonl").open(encoding="utf-8") as stream:
            for line in stream:
                pair = json.loads(line)
                if pair["language"] in self.languages:
                    general = pair["source"] in {"tatoeba", "treebanks", "wesnoth"}
                    found[pair["language"]][general].append((pair["text"], pair["english"]))
        kept: dict[str, list[I64]] = {}
        for language, kinds in sorted(found.items()):
            kept[language] = []
            for own in kinds:
                chosen = [own[at] for at in self.random.permutation(len(own))[:MOST]]
                first = self._add(language, [text for text, _ in chosen])
                second = self._add("en", [english for _, english in chosen])
                if chosen:
                    kept[language].append(np.stack([np.arange(first, second), np.arange(second, second * 2 - first)]))
        return {language: own for language, own in kept.items() if sum(each.shape[1] for each in own) >= LEAST}

    def _headings(self, file: Path, unseen: Sequence[str]) -> dict[str, Passages]:
        """Read headings of manuals and what is below them."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for chapter in pq.read_table(file).to_pylist():
            if chapter["part"] == "train" and chapter["language"] not in unseen:
                found[chapter["language"]] += [
                    (heading, text)
                    for heading, text in sections(chapter)
                    if len(heading) >= HEADING and len(text) > SECTION
                ]
        passages = {}
        for language, own in sorted(found.items()):
            chosen = [own[at] for at in self.random.permutation(len(own))[:HEADINGS]]
            if len(chosen) >= LEAST:
                passages[language] = Passages(self.rows, *zip(*chosen, strict=True))
        return passages

    def _paragraphs(self, file: Path) -> tuple[Passages, list[str]]:
        """Read paragraphs of English articles, below title and heading, and the titles."""
        found: list[tuple[str, str, str]] = []
        for article in pq.read_table(file, columns=["id", "title", "text"]).to_pylist():
            if part_of(str(article["id"])) != "train":  # topics and features are measured on the others
                continue
            title, text = article["title"], article["text"]
            query, taken = title, 0
            for line in text.split("\n"):
                if len(line) < 60 and re.fullmatch(r"(\S+ ?){1,6}\.", line):
                    query = f"{title} {line[:-1]}"
                elif len(line) > 150 and taken < 12:
                    found.append((title, query, line))
                    taken += 1
        chosen = [found[at] for at in self.random.permutation(len(found))[:PARAGRAPHS]]
        titles, queries, lines = zip(*chosen, strict=True)
        return Passages(self.rows, queries, lines), list(titles)

    def _titles(self, folder: Path) -> tuple[dict[str, dict[int, int]], dict[str, int]]:
        """Read titles in many languages: the row of each subject in each language, and subjects by English title."""
        own: dict[str, dict[int, str]] = defaultdict(dict)
        with (folder / "titles.jsonl").open(encoding="utf-8") as stream:
            for subject, line in enumerate(stream):
                for language, title in json.loads(line).items():
                    if language in self.languages:
                        own[language][subject] = title
        found = {}
        for language, names in sorted(own.items()):
            if len(names) >= LEAST:
                first = self.rows.add(list(names.values()))
                found[language] = dict(zip(names, range(first, len(self.rows.texts)), strict=True))
        articles = Counter(own["en"].values())  # several can differ in their brackets alone, which are left out
        return found, {title: subject for subject, title in own["en"].items() if articles[title] == 1}

    def pieces(self, row: int) -> I32:
        """Return the pieces of a text."""
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def batches(self, size: int) -> Iterator[tuple[Batch, bool]]:
        """Yield batches without end, each with whether it is of translations."""
        kinds = (self._parts, self._parts, self._about, self._below, self._translations, self._news, self._names)
        while True:
            kind = kinds[int(self.random.integers(len(kinds)))]
            batch = kind(size)
            if len(batch.queries) >= size // 8:
                yield batch, kind in (self._translations, self._news, self._names)

    def _language(self, among: Sequence[str]) -> str:
        weights = np.array([3.0 if language in self.full else 1.0 for language in among])
        return str(self.random.choice(among, p=weights / weights.sum()))

    def _two(self, among: Sequence[str]) -> tuple[str, str]:
        """Return two languages, half of the time one of them English."""
        first = "en" if self.random.random() < 0.5 else self._language(among)
        other = self._language([language for language in among if language != first])
        return (first, other) if self.random.random() < 0.5 else (other, first)

    def _part(self, ids: I32, longest: int = LONGEST) -> I32:
        """Return some consecutive pieces of a sentence, without some."""
        size = int(self.random.integers(SHORTEST, longest))
        if len(ids) > size:
            start = int(self.random.integers(len(ids) - size + 1))
            ids = ids[start : start + size]
        return ids[self.random.random(len(ids)) >= DROPPED]

    def _asked(self, ids: I32, language: str) -> I32:
        """Return a query, sometimes between the first and last pieces of a question in its language.

        So pieces that only ask, such as "what is the", come to weigh little.
        """
        questions = self.questions.get(language, ())
        if len(questions) < LEAST or self.random.random() >= ASKED:
            return ids
        question = self.pieces(questions[int(self.random.integers(len(questions)))])
        before, after = self.random.integers(TAKEN + 1, size=2)
        return np.concatenate([question[:before], ids, question[max(before, len(question) - after) :]])

    def _parts(self, size: int) -> Batch:
        """Return parts of sentences, and what is around them with or without the sentence.

        A document gives some four, as in search, where passages of one document are the hardest to tell apart.
        """
        language = self._language(list(self.documents))
        batch, documents = Batch(), self.documents[language]
        while len(batch.queries) < size:
            first, end = documents[int(self.random.integers(len(documents)))]
            apart = max(APART, (end - first) // TOGETHER)
            for row in range(first + int(self.random.integers(min(apart, end - first))), end, apart):
                ids, same = self.pieces(row), self.random.random() < SAME
                if end - first >= LONG:
                    near = range(max(first, row - 2), min(end, row + 3))
                    query = self._asked(self._part(ids), language)
                    batch.add(query, [self.pieces(other) for other in near if same or other != row])
                elif same:
                    batch.add(self._asked(self._part(ids, 10), language), [ids])
                elif len(ids) >= 12:
                    half = len(ids) // 2
                    batch.add(ids[:half], [ids[half:]])
        return batch

    def _below(self, size: int) -> Batch:
        """Return headings of manuals, and what is below them."""
        language = self._language(list(self.headings))
        passages = self.headings[language]
        return self._passages(passages, language, self.random.integers(len(passages), size=size), None)

    def _about(self, size: int) -> Batch:
        """Return English paragraphs, and their titles in any language."""
        language = "en" if self.random.random() < 0.4 else self._language(list(self.titles))
        chosen = self.random.integers(len(self.paragraphs), size=size)
        return self._passages(self.paragraphs, language, chosen, None if language == "en" else self.titles[language])

    def _passages(self, passages: Passages, language: str, chosen: I64, titles: dict[int, int] | None) -> Batch:
        batch = Batch()
        for at in chosen:
            query = passages.first + int(at) if titles is None else titles.get(int(self.about[at]))
            if query is not None:
                rows = range(passages.bounds[at], passages.bounds[at + 1])
                batch.add(self._asked(self.pieces(query), language), [self.pieces(row) for row in rows])
        return batch

    def _translations(self, size: int) -> Batch:
        """Return texts and their English translations, half of them general text where there is some."""
        batch, kinds = Batch(), self.pairs[self._language(list(self.pairs))]
        english_first = self.random.random() < 0.5
        for _ in range(size):
            pairs = kinds[int(self.random.integers(len(kinds)))]
            query, answer = pairs[:: -1 if english_first else 1, int(self.random.integers(pairs.shape[1]))]
            ids = self.pieces(query)
            batch.add(self._part(ids) if self.random.random() < 0.3 else ids, [self.pieces(answer)])
        return batch

    def _news(self, size: int) -> Batch:
        """Return sentences of news, and their translations, half of the time with what is around these.

        What is around them has no sentence in common, since a passage of another query would be right, too.
        """
        batch, (one, other) = Batch(), self._two(self.languages)
        first, second = self.news[one], self.news[other]
        around = 2 if self.random.random() < 0.5 else 0
        apart = 2 * around + 1
        rows = np.arange(int(self.random.integers(apart)), len(self.article_of), apart)
        for at in self.random.permutation(rows)[:size]:
            ids = self.pieces(first + at)
            near = [row for row in range(at - around, at + around + 1) if self._together(at, row)]
            batch.add(
                self._part(ids) if self.random.random() < 0.7 else ids, [self.pieces(second + row) for row in near]
            )
        return batch

    def _together(self, at: int, row: int) -> bool:
        return 0 <= row < len(self.article_of) and bool(self.article_of[at] == self.article_of[row])

    def _names(self, size: int) -> Batch:
        """Return titles and those of the same articles in another language."""
        batch, (one, other) = Batch(), self._two(list(self.titles))
        subjects, own, answers = self.subjects[one], self.titles[one], self.titles[other]
        for at in self.random.integers(len(subjects), size=4 * size):
            subject = subjects[at]
            if subject in answers and len(batch.queries) < size:
                batch.add(self.pieces(own[subject]), [self.pieces(answers[subject])])
        return batch
