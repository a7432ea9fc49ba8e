"""A judge of searches: a model writes questions about sampled chunks and grades the hits, for a weighted precision.

Source: Jain, Aggarwal and Saladi, "AutoChunker: Structured Text Chunking and its Evaluation" (2025), section 4.5. The
prompts and the wording of the grades are our own, so the figures are not comparable with the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..._util.counting import counted
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

#: A function from (queries, k) to the rows of the first k hits of each query, int[queries, k], -1 for none.
Search = Callable[[Sequence[str], int], npt.ArrayLike]


@dataclass(frozen=True)
class HitGrades:
    """The grades that a judge gave to hits.

    Attributes:
        grades: The grade of each hit, int64[questions, k], 0 to 4; -1 for an abstention or no hit.
        hits: The row of the chunk of each hit, int64[questions, k], -1 for none.
        documents: The document of each question, int64[questions], for intervals.
        faults: The number of abstentions for each reason; see :class:`pychunk.llm.verdicts.Verdicts`.
        facts: What the grades depend on in addition to the texts.
        reasons: Why calls had no usable answer, each reason once, at most five.
    """

    grades: I64
    hits: I64
    documents: I64
    faults: Mapping[str, int]
    facts: Mapping[str, object]
    reasons: tuple[str, ...] = ()

    @property
    def abstained(self) -> int:
        """The number of hits without a grade."""
        return int(((self.grades < 0) & (self.hits >= 0)).sum())

    def precisions(self, k: int) -> F64:
        """Return the sum of each question's first k grades, as a share of k times the best grade; float64[questions].

        If a question has fewer than k hits, the missing ones count as irrelevant. A hit without a grade is not counted.
        The value is NaN if all k hits lack a grade.

        Raises:
            ValueError: ``k`` is below 1.

        Source: AutoChunker, section 4.5.2 (in per cent there, and for hits that all have grades).
        """
        if k < 1:
            raise ValueError(f"k must be at least 1; got {k}")
        grades, hits = self.grades[:, :k], self.hits[:, :k]
        counted = k - ((grades < 0) & (hits >= 0)).sum(axis=1)
        sums = np.maximum(grades, 0).sum(axis=1)
        return np.where(counted > 0, sums / (MOST * np.maximum(1, counted)), np.nan)

    def weighted_precision(self, k: int, *, level: float = 0.95, seed: int = 0) -> Interval:
        """Return the mean of :meth:`precisions` with its interval over documents, NaN if no hit has a grade."""
        return by_documents(self.precisions(k), self.documents, level=level, seed=seed)

    def agreement(self, counted: npt.ArrayLike, *, level: float = 0.95, seed: int = 0) -> Agreement:
        """Return Cohen's kappa (quadratic weights) of these grades and ``counted``, int[questions, k].

        ``counted`` holds grades that were counted without a model.
        """
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

    The model sees the hits of one question together, in an order drawn with ``seed``, so that their rank tells it
    nothing.

    Args:
        llm: The client.
        questions: The questions.
        hits: Rows of ``texts``, int[questions, k], -1 for none.
        texts: The chunks.
        documents: The document of each question, for intervals. By default, each question has a document of its own.
        together: The most hits in a call. A question with more hits takes several calls.
        window_tokens: The most tokens of the hits in a call, as estimated.
        seed: The seed of the order. None keeps the order of ``hits``.
        language: The language of the prompt.

    Raises:
        ValueError: The hits are not [questions, k], or are not rows of ``texts``.
        LLMError: There is no endpoint, the key is wrong, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.
    """
    from ...llm.verdicts import Judge

    texts, rows = checked_texts(texts), np.asarray(hits, np.int64)
    if rows.ndim != 2 or len(rows) != len(questions):
        raise ValueError(
            f"hits must be [questions, k]; got shape {rows.shape} for {counted(len(questions), 'question')}"
        )
    if rows.size and not -1 <= rows.min() <= rows.max() < len(texts):
        raise ValueError(
            f"hits must be from 0 to {len(texts) - 1}, the number of a text, or -1 for none; got "
            f"{rows.min() if rows.min() < -1 else rows.max()}"
        )
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
    places = np.argwhere(rows >= 0)  # the question and the rank of each hit
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
    """Return the positions from begin to end in an order that is drawn for this question alone.

    The calls for this question therefore do not change if other questions do.
    """
    if seed is None:
        return list(range(begin, end))
    return list(map(int, begin + np.random.default_rng([seed, question]).permutation(end - begin)))


@dataclass(frozen=True)
class JudgedRetrieval:
    """Questions, the grades of their hits, and the same grades counted without a model.

    Attributes:
        questions: The questions.
        sources: The row of the chunk that each question was made from, int64[questions].
        graded: The grades of the hits.
        counted: The counted grade of each hit, int64[questions, k], -1 if there is no hit. It depends on how much of
            the hit is in the chunk that the question was made from (:func:`~.quality_counts.relevance`).
        without: The number of sampled chunks that gave no question.
        reasons: Why answers were unusable, each reason once.
    """

    questions: list[str]
    sources: I64
    graded: HitGrades
    counted: I64
    without: int
    reasons: tuple[str, ...] = ()

    @property
    def agreement(self) -> Agreement:
        """The agreement of grades and counted grades."""
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
    """Draw chunks, let a model write questions about them, search with the questions, and let it grade the hits.

    Each drawn chunk takes one call for its questions, and each question one call for its grades. A dry run counts the
    calls for questions. It can only estimate the calls for grades. It assumes that every chunk gives ``each``
    questions, and that their hits are as long as the drawn chunks.

    Args:
        llm: The client.
        table: Chunks with the columns ``text``, ``document_index``, ``start`` and ``end``.
        search: A search that returns rows of ``table``, such as ``lambda queries, k: index.rank(queries, k)[0]``.
        sample: The number of chunks drawn with ``seed``. If there are fewer, all are taken.
        each: The number of questions for each chunk.
        k: The number of hits to grade.
        seed: The seed of the sample and of the order of hits.
        language: The language of the prompts.

    Raises:
        ValueError: A number is out of range, or a column is missing.
        LLMError: There is no endpoint, the key is wrong, or a limit is reached; see :meth:`pychunk.llm.LLM.ask_many`.
    """
    from ...llm.question_generation import make_questions

    for name, value in (("sample", sample), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
    missing = sorted({"text", "document_index", "start", "end"} - set(table.column_names))
    if missing:
        raise ValueError(
            f"table must have the columns text, document_index, start and end, as chunks.table has; missing: "
            f"{', '.join(missing)}"
        )
    texts = table["text"].to_pylist()
    drawn = np.sort(np.random.default_rng(seed).choice(len(texts), min(sample, len(texts)), replace=False))
    made = make_questions(llm, [texts[row] for row in drawn], each=each, language=language)
    questions, sources = made.texts, drawn[np.asarray(made.rows, np.int64)]
    if llm.dry_run:
        questions = [
            f"{number:?>80}" for number in range(len(drawn) * each)
        ]  # the client would ask equal questions only once
        sources = np.repeat(drawn, each)
        hits = np.resize(drawn, (len(questions), k))
    else:
        hits = np.asarray(search(questions, k), np.int64) if questions else np.zeros((0, k), np.int64)
    documents = np.asarray(table["document_index"], np.int64)
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
