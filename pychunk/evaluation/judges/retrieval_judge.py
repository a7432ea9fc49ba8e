"""What a search finds, judged by a model: questions made of sampled chunks, grades of hits, weighted precision.

Source: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025), section 4.5. The
prompts and the words of the grades are ours, and figures cannot be held against those of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...defaults import SEARCH
from ..measures.intervals import Interval, by_documents
from ..measures.quality_counts import MOST, relevance
from .agreement import Agreement, cohen_kappa
from .chunk_judge import checked_texts, documents_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ...llm import LLM

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The first k hits of a query: (queries, k) to rows of chunks, int[queries, k], -1 where there are fewer.
Search = Callable[[Sequence[str], int], npt.ArrayLike]


@dataclass(frozen=True)
class HitGrades:
    """What a judge said of hits.

    Attributes:
        grades: int64[questions, k], 0 to 4, -1 an abstention, or no hit.
        hits: rows of chunks, int64[questions, k]; -1 where there is no hit.
        documents: of each question, int64[questions], for intervals.
        faults: why there are abstentions, counted; see :class:`pychunk.llm.verdicts.Verdicts`.
        facts: what grades depend on besides the texts.
        reasons: why calls had no answer of use, each once, at most five.
    """

    grades: I64
    hits: I64
    documents: I64
    faults: Mapping[str, int]
    facts: Mapping[str, object]
    reasons: tuple[str, ...] = ()

    @property
    def abstained(self) -> int:
        """Hits without a grade."""
        return int(((self.grades < 0) & (self.hits >= 0)).sum())

    def precisions(self, k: int) -> F64:
        """float64[questions]: the grades of the first k hits, as a share of what k perfect ones have.

        Where fewer were found the others count as irrelevant; one without a grade does not count. NaN where none does.

        Raises:
            ValueError: ``k`` below 1.

        Source: AutoChunker, section 4.5.2 (there in per cent, of hits that all have grades).
        """
        if k < 1:
            raise ValueError(f"k must be at least 1; got {k}")
        grades, hits = self.grades[:, :k], self.hits[:, :k]
        counted = k - ((grades < 0) & (hits >= 0)).sum(axis=1)
        sums = np.maximum(grades, 0).sum(axis=1)
        return np.where(counted > 0, sums / (MOST * np.maximum(1, counted)), np.nan)

    def weighted_precision(self, k: int, *, level: float = 0.95, seed: int = 0) -> Interval:
        """The mean of :meth:`precisions`, its interval over documents; NaN where no hit has a grade."""
        return by_documents(self.precisions(k), self.documents, level=level, seed=seed)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Cohen's kappa, weighted by the square of the difference, with grades that were counted, int[questions, k]."""
        rows = np.repeat(self.documents, self.grades.shape[1])
        given = np.asarray(counted, np.int64).reshape(-1)
        return cohen_kappa(self.grades.reshape(-1), given, rows, weights="quadratic", level=level, seed=seed)


def grade(
    llm: LLM,
    questions: Sequence[str],
    hits: npt.ArrayLike,
    texts: Sequence[str],
    documents: npt.ArrayLike | None = None,
    *,
    together: int = 10,
    window_tokens: int = 4000,
    seed: int | None = 0,
    language: str = "en",
) -> HitGrades:
    """Ask a model how well each hit answers its question, from 0 (not at all) to 4 (it is the answer).

    The hits of one question are shown together, in an order drawn with ``seed``, so that their rank says nothing.

    Args:
        hits: rows of ``texts``, int[questions, k]; -1 where there are fewer.
        texts: the chunks.
        documents: of each question, for intervals; default: each question is one.
        together, window_tokens, seed, language: as in :func:`~.chunk_judge.judge`; with more hits than ``together`` a
            question takes several calls.

    Raises:
        ValueError: hits that are not [questions, k], or no rows of ``texts``.
        LLMError: no endpoint, a wrong key, a limit; see :meth:`pychunk.llm.LLM.ask_many`.
    """
    from ...llm.verdicts import Judge

    texts, rows = checked_texts(texts), np.asarray(hits, np.int64)
    if rows.ndim != 2 or len(rows) != len(questions):
        raise ValueError(f"hits must be [questions, k]; got shape {rows.shape} for {len(questions)} questions")
    if rows.size and not -1 <= rows.min() <= rows.max() < len(texts):
        raise ValueError(f"hits must be rows of {len(texts)} texts, or -1; got {rows.min()} to {rows.max()}")
    of = documents_of(len(questions), documents, "question")
    words = tuple(map(str, range(MOST + 1)))
    asking = Judge(
        llm,
        "judge_relevance",
        words,
        stage="judge relevance",
        language=language,
        together=together,
        window_tokens=window_tokens,
    )
    places = np.argwhere(rows >= 0)  # question and rank of each hit
    shown = [texts[rows[question, rank]] for question, rank in places]
    begins = np.searchsorted(places[:, 0], np.arange(len(questions) + 1)).tolist()
    calls = (
        (f"Question: {text}", window)
        for number, text in enumerate(questions)
        for window in asking.windows(shown, _order(begins[number], begins[number + 1], number, seed))
    )
    found = asking.of_windows(len(shown), calls, shown)
    grades = np.full(rows.shape, -1, np.int64)
    grades[places[:, 0], places[:, 1]] = found.values
    return HitGrades(grades, rows, of, found.faults, {**asking.facts, "seed": seed}, found.reasons)


def _order(begin: int, end: int, question: int, seed: int | None) -> list[int]:
    """Places from begin to end, drawn for this question alone: another question changes none of its calls."""
    if seed is None:
        return list(range(begin, end))
    return list(map(int, begin + np.random.default_rng([seed, question]).permutation(end - begin)))


@dataclass(frozen=True)
class JudgedRetrieval:
    """Questions, grades of what was found, and the same counted without a model.

    Attributes:
        questions: what was asked.
        sources: the row of the chunk that each question was made of, int64[questions].
        graded: of the hits.
        counted: int64[questions, k], by how much of a hit is in the chunk that the question was made of
            (:func:`~.tenets.relevance`); -1 where there is no hit.
        without: sampled chunks of which no question was made.
        reasons: why, where answers were of no use, each once.
    """

    questions: list[str]
    sources: I64
    graded: HitGrades
    counted: I64
    without: int
    reasons: tuple[str, ...] = ()

    @property
    def agreement(self) -> Agreement:
        """Of grades and counts."""
        return self.graded.agreement(self.counted)


def judge_retrieval(
    llm: LLM,
    table: pa.Table,
    search: Search,
    *,
    sample: int = 50,
    each: int = 1,
    k: int = SEARCH.k,
    seed: int = 0,
    language: str = "en",
) -> JudgedRetrieval:
    """Draw chunks, have a model make questions of them, search for these, and have it grade what is found.

    Questions are one call a drawn chunk, grades one a question. A dry run counts the questions' calls, and the grades'
    as if every chunk gave ``each`` questions that found k chunks as long as the first ones drawn.

    Args:
        table: chunks, with the columns ``text``, ``document``, ``start`` and ``end``.
        search: such as ``lambda queries, k: index.rank(queries, k)[0]``, its rows those of ``table``.
        sample: chunks drawn with ``seed``; all where there are fewer.
        each: questions of a chunk.
        k: hits that are graded.

    Raises:
        ValueError: a number out of range, a column that is missing.
        LLMError: no endpoint, a wrong key, a limit; see :meth:`pychunk.llm.LLM.ask_many`.
    """
    from ...llm.question_generation import make_questions

    for name, value in (("sample", sample), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
    missing = sorted({"text", "document", "start", "end"} - set(table.column_names))
    if missing:
        raise ValueError(f"table has no column {', '.join(missing)}")
    texts = table["text"].to_pylist()
    drawn = np.sort(np.random.default_rng(seed).choice(len(texts), min(sample, len(texts)), replace=False))
    made = make_questions(llm, [texts[row] for row in drawn], each=each, language=language)
    questions, sources = made.texts, drawn[np.asarray(made.rows, np.int64)]
    if llm.dry_run:
        questions = [f"{number:?>80}" for number in range(len(drawn) * each)]  # equal ones would be asked once
        sources = np.repeat(drawn, each)
        hits = np.resize(drawn, (len(questions), k))
    else:
        hits = np.asarray(search(questions, k), np.int64) if questions else np.zeros((0, k), np.int64)
    documents = np.asarray(table["document"], np.int64)
    graded = grade(llm, questions, hits, texts, documents[sources], seed=seed, language=language)
    spans = np.stack([np.asarray(table[name], np.int64) for name in ("start", "end")], axis=1)
    counted = np.full(hits.shape, -1, np.int64)
    for number, source in enumerate(sources):
        there = hits[number] >= 0
        own = documents[hits[number, there]] == documents[source]
        gold = int(spans[source, 0]), int(spans[source, 1])
        counted[number, there] = relevance(spans[hits[number, there]], gold, own, own)
    reasons = tuple(dict.fromkeys(why for _, why in made.faults))[:5]
    return JudgedRetrieval(questions, sources, graded, counted, len(drawn) - len(set(made.rows)), reasons)
