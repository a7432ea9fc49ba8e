"""Questions of mixed breadth about articles, and the share of the wanted text that a search returns within some words.

A third of the questions asks for a sentence, a third for a section or several passages, a third for an article. The
leads of articles are withheld for all questions, because their first sentences are questions. A mark replaces each
heading, as in :mod:`pychunk.training.section_questions`. Every question also has a stripped version of its content
words alone. The stripped versions of all kinds are equally long, so that their form does not reveal the breadth.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._engine.data.blocks import BLOCK_KINDS, HEADING, Blocks
from ..api import segment
from ..evaluation import datasets
from ..evaluation.datasets import Span
from . import section_questions

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Part = Literal["train", "validation", "test"]
Kind = Literal["sentence", "passages", "section", "document"]
Rows = list[tuple[str, int, int, int]]

#: The numbers of words that a search may return.
BUDGETS = (150, 500, 1500)
#: The breadth of each kind of question.
BREADTH = {"sentence": "narrow", "passages": "middle", "section": "middle", "document": "broad"}
#: The levels at which the documents are searched. ``group`` has plain chunks
#: (:data:`pychunk.evaluation.hierarchies.CHUNKS`).
LEVELS = ("sentence", "group", "paragraph", "section", "document")
#: The shares of articles for validation and for the test. Nothing is learned from them.
VALIDATION, TEST = 0.1, 0.3
#: The fewest words of a document that answers a broad question, and the fewest content words of that question. The
#: question is the first sentence of the document's lead.
LEAST_WORDS, LEAST_ASKED = 300, 4

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_TITLE_LINE = re.compile(r"^ = [^=;]+ = $", re.MULTILINE)
_FORM = """
a about after all also although among an and any are as at be because been before being between both but by can
could describe did difference do does doing done during each either era every example explain few following for
found from give had has have he her him his how if in include included into is it its itself kind kinds known like
list made main make many may might more most much must name named no nor not of off on one only or other others
our out over own part period refer referred refers said same say see several she should since so some such
summarise summarize tell than that the their them then there these they this those through to too two type types
under until up upon us use used various very was way ways we well were what when where whether which while who
whom whose why will with within would you your
"""
#: Words that belong to the form of a question and not to its subject.
FORM = frozenset(_FORM.split())


@dataclass(frozen=True)
class Question:
    """A question with the spans that answer it.

    Attributes:
        text: The question as it is asked.
        stripped: Its content words in lower case, about as many for every kind of question.
        kind: The kind of question; see :data:`BREADTH`.
        document: The row of the document.
        spans: The characters of the document that answer it, in order and apart from each other.
    """

    text: str
    stripped: str
    kind: Kind
    document: int
    spans: tuple[Span, ...]

    @property
    def breadth(self) -> str:
        """The breadth: ``"narrow"``, ``"middle"`` or ``"broad"``."""
        return BREADTH[self.kind]


@dataclass(frozen=True)
class Questions:
    """Documents with their names and blocks, and questions about them."""

    names: list[str]
    documents: list[str]
    blocks: Blocks
    questions: list[Question]


@dataclass(frozen=True)
class _Article:
    """A candidate document. ``asked`` lists the questions about it as (kind, text, spans)."""

    name: str
    text: str
    rows: Rows
    asked: list[tuple[Kind, str, tuple[Span, ...]]]


def part_of(name: str) -> Part:
    """Return the part of the split that an article belongs to, by a hash of its title in any spelling.

    Example:
        >>> part_of("Steam_engine") == part_of("Steam engine")
        True
    """
    plain = " ".join(_WORD.findall(name.replace("_", " ").casefold()))
    share = int.from_bytes(hashlib.sha256(f"breadth:{plain}".encode()).digest()[:8], "big") / 2**64
    return "test" if share < TEST else "validation" if share < TEST + VALIDATION else "train"


def load(folder: str | Path, part: Part, count: int = 0, seed: int = 0) -> Questions:
    """Load at most ``count`` questions about the articles of a part, equally many of each breadth; 0 loads all.

    The function reads ``wiki/articles.parquet``, and ``squad/dev-v2.0.json`` and ``chunking_evaluation`` if they exist.
    Chroma's questions in ``chunking_evaluation`` are too few to divide, so nothing is learned from them.

    Raises:
        FileNotFoundError: There are no articles.
    """
    import pyarrow.parquet as pq

    where = Path(folder)
    file = where / "wiki" / "articles.parquet"
    if not file.is_file():
        raise FileNotFoundError(
            f"no articles at {file}: pass --data, or set PYCHUNK_DATA, with the folder that contains wiki/"
        )
    articles: list[_Article] = []
    squad, references = where / "squad" / "dev-v2.0.json", where / "chunking_evaluation"
    if squad.is_file():
        articles += of_squad(datasets.squad(squad), part)
    if references.is_dir() and part != "train":
        articles += of_references(datasets.chunking_evaluation(references), part)
    known = {_plain(each.name) for each in articles}
    rows = pq.read_table(file, columns=["title", "text"]).to_pylist()
    own = [row for row in rows if part_of(row["title"]) == part and _plain(row["title"]) not in known]
    articles += of_articles([row["title"] for row in own], [row["text"] or "" for row in own])
    return mixed(articles, count, seed)


def of_articles(titles: Sequence[str], texts: Sequence[str]) -> list[_Article]:
    r"""Make section and document questions about articles of WikiExtractor that have sections.

    Example:
        >>> body = "She was born in London and wrote about engines. " * 40
        >>> text = f"Ada Lovelace was an early English writer of programs.\nLife.\n{body}"
        >>> found = of_articles(["Ada Lovelace"], [text])[0]
        >>> [(kind, asked) for kind, asked, _ in found.asked]
        [('section', 'Ada Lovelace: Life'), ('document', 'was an early English writer of programs.')]
        >>> found.text[:12]
        '§\n\nShe was b'
    """
    made = section_questions.section_questions(titles, texts)
    by_document: dict[int, list[section_questions.Question]] = {}
    for question in made.questions:
        by_document.setdefault(question.document, []).append(question)
    leads = []
    for row in range(len(titles)):
        own = made.blocks.rows(row, row + 1)
        headings = np.flatnonzero(own.kind == HEADING)
        leads.append(int(own.start[headings[0]]) if len(headings) else 0)
    firsts = first_sentences([text[:lead] for text, lead in zip(made.documents, leads, strict=True)])
    found = []
    for row, (title, text, lead) in enumerate(zip(titles, made.documents, leads, strict=True)):
        if not lead:
            continue
        own = made.blocks.rows(row, row + 1)
        kept = zip(own.kind.tolist(), own.level.tolist(), own.start.tolist(), own.end.tolist(), strict=True)
        rows = [(BLOCK_KINDS[k], level, a - lead, b - lead) for k, level, a, b in kept if a >= lead]
        asked: list[tuple[Kind, str, tuple[Span, ...]]] = [
            ("section", each.text, ((each.start - lead, each.end - lead),)) for each in by_document.get(row, [])
        ]
        found.append(_with_document(_Article(title, text[lead:], rows, asked), firsts[row]))
    return found


def of_squad(data: datasets.Dataset, part: Part) -> list[_Article]:
    """Make questions about the articles of a part, with the sentences that contain their answers.

    Questions about first paragraphs are left out, because these are leads.
    """
    found = []
    rows = [row for row, name in enumerate(data.ids) if part_of(name) == part]
    texts = [data.documents[row] for row in rows]
    leads = [text.find("\n") + 1 for text in texts]
    bodies = [text[lead:] for text, lead in zip(texts, leads, strict=True)]
    firsts = first_sentences([text[:lead] for text, lead in zip(texts, leads, strict=True)])
    bounds = _sentences(bodies)
    for place, row in enumerate(rows):
        asked: list[tuple[Kind, str, tuple[Span, ...]]] = []
        for question in (each for each in data.questions if each.document == row):
            assert question.paragraph is not None
            begin, end = (each - leads[place] for each in question.paragraph)
            at = bodies[place].find(question.answers[0], begin, end) if begin >= 0 else -1
            if at < 0:
                continue
            own = bounds[place]
            first, last = np.searchsorted(own[:, 0], [at, at + len(question.answers[0]) - 1], "right") - 1
            asked.append(("sentence", question.text, ((int(own[first, 0]), int(own[last, 1])),)))
        article = _Article(data.ids[row].replace("_", " "), bodies[place], _lines(bodies[place]), asked)
        found.append(_with_document(article, firsts[place]))
    return found


def of_references(data: datasets.Dataset, part: Part) -> list[_Article]:
    """Make Chroma's questions about the documents of a part.

    With one reference, a question is narrow. A question with two to four references asks for several passages. A file
    of several articles, with title lines `` = Title = ``, becomes one document for each article. Marks of the same
    length replace headings, so that spans stay valid.
    """
    found = []
    for row, (name, text) in enumerate(zip(data.ids, data.documents, strict=True)):
        starts = [match.start() for match in _TITLE_LINE.finditer(text)]
        edges = [0, *(start for start in starts if start), len(text)]
        for begin, end in pairwise(edges):
            title = text[begin : text.find("\n", begin)].strip(" =") if starts else name
            if end <= begin or part_of(title) != part:
                continue
            own, rows = _marked(text[begin:end])
            asked: list[tuple[Kind, str, tuple[Span, ...]]] = []
            for question in data.questions:
                spans = _apart((a - begin, b - begin) for a, b in question.spans)
                if question.document == row and spans[0][0] >= 0 and spans[-1][1] <= end - begin:
                    kind: Kind = "sentence" if len(question.spans) == 1 else "passages"
                    if len(question.spans) <= 4:
                        asked.append((kind, question.text, spans))
            found.append(_Article(title, own, rows, asked))
    return found


def mixed(articles: Sequence[_Article], count: int = 0, seed: int = 0) -> Questions:
    """Draw equally many questions of each breadth, at most ``count`` in total, with ``seed``.

    Among questions of middle breadth, those about several passages are taken first, because they are few. Questions
    about sections come from the articles of the broad questions, if these have enough sections. The documents are all
    articles that the drawn questions are about.
    """
    rng = np.random.default_rng(seed)
    every = [(row, *asked) for row, article in enumerate(articles) for asked in article.asked]
    by_kind = {kind: [each for each in every if each[1] == kind] for kind in BREADTH}
    middle = len(by_kind["passages"]) + len(by_kind["section"])
    each = min(len(by_kind["sentence"]), middle, len(by_kind["document"]), *([count // 3] if count else []))
    broad = _drawn(by_kind["document"], each, rng)
    narrow = _drawn(by_kind["sentence"], each, rng)
    several = _drawn(by_kind["passages"], each, rng)
    asked_of = {row for row, *_ in broad}
    near = [one for one in by_kind["section"] if one[0] in asked_of]
    pool = near if len(near) >= each - len(several) else by_kind["section"]
    chosen = [*narrow, *several, *_drawn(pool, each - len(several), rng), *broad]
    documents = sorted({row for row, *_ in chosen})
    place = {row: number for number, row in enumerate(documents)}
    texts = [articles[row].text for row in documents]
    made = [Question(text, "", kind, place[row], spans) for row, kind, text, spans in sorted(chosen)]
    return Questions(
        [articles[row].name for row in documents],
        texts,
        Blocks.of([articles[row].rows for row in documents]),
        _stripped(made, texts, rng),
    )


def content_words(text: str) -> list[str]:
    """Return the words of a text that are neither question words nor function words, in lower case, each once.

    Example:
        >>> content_words("Who was the first King of the Normans?")
        ['first', 'king', 'normans']
    """
    words = (word.casefold() for word in _WORD.findall(text))
    return [word for word in dict.fromkeys(words) if word not in FORM and (len(word) > 1 or word.isdigit())]


def _stripped(questions: list[Question], documents: Sequence[str], rng: np.random.Generator) -> list[Question]:
    """Return the questions with their stripped versions.

    For each question, a section question is drawn at random. The stripped version keeps as many content words as the
    section question has: the rarest ones, in their order. Section questions are the shortest kind. If there are none,
    all content words stay.
    """
    words = [content_words(question.text) for question in questions]
    lengths = [len(own) for own, question in zip(words, questions, strict=True) if question.kind == "section"]
    counts = Counter(word for text in documents for word in set(content_words(text)))
    found = []
    for question, own in zip(questions, words, strict=True):
        most = int(rng.choice(lengths)) if lengths and question.kind != "section" else len(own)
        rare = set(sorted(own, key=lambda word: (counts[word], word))[: max(1, most)])
        found.append(replace(question, stripped=" ".join(word for word in own if word in rare)))
    return found


def _drawn(values: list[Any], count: int, rng: np.random.Generator) -> list[Any]:
    if count >= len(values):
        return list(values)
    return [values[i] for i in np.sort(rng.choice(len(values), count, replace=False))]


def _with_document(article: _Article, first: str) -> _Article:
    """Add the question for the whole document, if the lead's first sentence says enough apart from the title."""
    title = {word.casefold() for word in _WORD.findall(article.name)}
    asked = " ".join(word for word in first.split() if not set(map(str.casefold, _WORD.findall(word))) & title)
    if len(content_words(asked)) < LEAST_ASKED or len(article.text.split()) < LEAST_WORDS:
        return article
    return replace(article, asked=[*article.asked, ("document", asked, ((0, len(article.text)),))])


def first_sentences(texts: Sequence[str]) -> list[str]:
    """Return the first sentence of each text, empty for an empty text."""
    return [text[own[0, 0] : own[0, 1]] if len(own) else "" for text, own in zip(texts, _sentences(texts), strict=True)]


def _sentences(texts: Sequence[str]) -> list[I64]:
    """Return the characters of the sentences of each text, int64[n, 2]."""
    table = segment(list(texts), "sentence").table
    document = np.asarray(table["document_index"])
    spans = np.stack([np.asarray(table["start"]), np.asarray(table["end"])], 1).astype(np.int64)
    edges = np.searchsorted(document, np.arange(len(texts) + 1))
    return [spans[a:b] for a, b in pairwise(edges)]


def _lines(text: str) -> Rows:
    """Return each line as a block, a paragraph."""
    return [("paragraph", 0, match.start(), match.end()) for match in re.finditer(r"[^\n]+", text)]


def _marked(text: str) -> tuple[str, Rows]:
    """Return the text with marks for its headings, `` = = Title = = `` and ``# Title``, and its lines as blocks."""
    rows: Rows = []
    parts, at = [], 0
    for line in text.split("\n"):
        plain = line.strip()
        depth = _depth(plain)
        kind = "heading" if depth and plain.strip("=# ") else "paragraph"
        shown = section_questions.MARK + " " * (len(line) - 1) if kind == "heading" else line
        if plain:
            rows.append((kind, min(depth, 6) if kind == "heading" else 0, at, at + max(1, len(shown.rstrip()))))
        parts.append(shown)
        at += len(line) + 1
    return "\n".join(parts), rows


def _depth(line: str) -> int:
    """Return the number of marks before a heading, 0 for other lines.

    The marks are ``#``, or ``=`` with a space each if the line also ends with one.
    """
    if line.endswith("="):
        return sum(1 for _ in takewhile("=".__eq__, line.split(" ")))
    return len(line) - len(line.lstrip("#"))


def _apart(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with overlapping or touching spans joined."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return tuple(found)


def _plain(name: str) -> str:
    return " ".join(_WORD.findall(name.replace("_", " ").casefold()))


class Measure:
    """The character F1 of ranked spans compared with the spans that answer a question.

    Args:
        documents: The texts of the documents.

    Example:
        >>> asked = Question("?", "", "sentence", 0, ((0, 9),))
        >>> Measure(["One two. Three four."]).f1(asked, [0, 0], [9, 0], [20, 8], words=4)
        0.5714285714285714
    """

    def __init__(self, documents: Sequence[str]) -> None:
        #: For each document, int64[words]: the ends of its words.
        self.ends = [np.array([match.end() for match in re.finditer(r"\S+", text)], np.int64) for text in documents]

    def handed_over(
        self, document: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike, words: int, *, cut: bool = True
    ) -> list[tuple[int, int, int]]:
        """Return the first spans of a ranking that together contain ``words`` words.

        The last span is cut there, or left out without ``cut``. Spans that overlap an earlier one are skipped.
        """
        found: list[tuple[int, int, int]] = []
        taken: dict[int, list[Span]] = {}
        left = words
        for row, begin, finish in zip(*(np.asarray(each).tolist() for each in (document, start, end)), strict=True):
            own = taken.setdefault(row, [])
            if any(begin < b and a < finish for a, b in own):
                continue
            first, last = np.searchsorted(self.ends[row], [begin + 1, finish + 1]).tolist()
            if last - first > left and not cut:
                break
            end_here = finish if last - first <= left else int(self.ends[row][first + left - 1])
            found.append((row, begin, end_here))
            own.append((begin, finish))
            left -= last - first
            if left <= 0:
                break
        return found

    def holds(
        self, question: Question, document: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike, words: int
    ) -> bool:
        """Return whether one of the first spans that fit into ``words`` words as wholes contains a wanted span.

        Example:
            >>> asked = Question("?", "", "sentence", 0, ((0, 9),))
            >>> measure = Measure(["One two. Three four."])
            >>> [measure.holds(asked, [0, 0], [9, 0], [20, 8], words) for words in (3, 4)]
            [False, False]
            >>> [measure.holds(asked, [0, 0], [9, 0], [20, 9], words) for words in (3, 4)]
            [False, True]
        """
        spans = self.handed_over(document, start, end, words, cut=False)
        own = [(a, b) for row, a, b in spans if row == question.document]
        return any(a <= c and d <= b for a, b in own for c, d in question.spans)

    def f1(
        self, question: Question, document: npt.ArrayLike, start: npt.ArrayLike, end: npt.ArrayLike, words: int
    ) -> float:
        """Return 2 x shared / (returned + wanted) in characters, for the spans that :meth:`handed_over` returns."""
        spans = self.handed_over(document, start, end, words)
        own = [(a, b) for row, a, b in spans if row == question.document]
        shared = sum(max(0, min(b, d) - max(a, c)) for a, b in own for c, d in question.spans)
        total = sum(b - a for _, a, b in spans) + sum(d - c for c, d in question.spans)
        return 2 * shared / total if total else 0.0


def ranges(levels: Sequence[str] = LEVELS) -> list[tuple[str, str]]:
    """Return every (finest, coarsest) pair of levels: single levels first, then wider ranges, fine before coarse.

    Example:
        >>> ranges(["sentence", "document"])
        [('sentence', 'sentence'), ('document', 'document'), ('sentence', 'document')]
    """
    count = len(levels)
    return [(levels[low], levels[low + wide]) for wide in range(count) for low in range(count - wide)]


def pseudo_labels(scores: npt.ArrayLike) -> I64:
    """Return the range with the highest score for each question, int64[questions], -1 if all its scores are 0.

    Of equal scores, the first counts.

    Args:
        scores: The score of each question at each range, [questions, ranges].

    Example:
        >>> pseudo_labels([[0.1, 0.5, 0.5], [0, 0, 0]]).tolist()
        [1, -1]
    """
    found = np.asarray(scores, np.float64)
    return np.where(found.max(axis=1, initial=0) > 0, found.argmax(axis=1), -1).astype(np.int64)
