"""Query rewriting: one question becomes several texts, terms or vectors, which are searched together.

:class:`pychunk.index.Rewrite` takes ``"feedback"``, ``"options"``, ``"hyde"`` and ``"multi"``, an instance of
:class:`Feedback`, or a function. ``"hyde"`` and ``"multi"`` ask a model (see :mod:`pychunk.llm.query_generation`).

A function receives a query's text and returns what to search instead: one text, or a list whose items are texts, pairs
(text, weight) or instances of :class:`Subquery`. The query itself is searched only if the function returns it, too. A
function with an attribute ``batched = True`` receives a list of all queries and returns one answer for each. This suits
a function that asks a server. In place of an answer, it may return an exception that says why there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._util.counting import counted
from .. import argument_checks
from ..scoring.subqueries import Subquery

if TYPE_CHECKING:
    from ..scoring.ranking import RankingOptions
    from ..scoring.scorers import Mask
    from .searcher import Searcher

#: The names that ``Rewrite`` accepts.
NAMES = ("feedback", "options", "hyde", "multi")


@dataclass(frozen=True)
class Choice:
    """A multiple-choice question with its answers, as a query for ``Rewrite("options")``.

    Example:
        >>> [probe.text for probe in Choice("What do cats do?", ("purr", "bark")).probes()]
        ['What do cats do?', 'What do cats do? purr bark']
    """

    question: str
    options: tuple[str, ...]

    def probes(self) -> list[Subquery]:
        """Return two subqueries: the question, and the question followed by all its answers.

        The right passage mostly names one of the answers. On a set of leaflets, the right page comes first for 0.802 of
        the questions. With one subquery for each answer instead, this share is 0.775 (interval of the difference: 0.004
        to 0.050), and there are three times as many subqueries.
        """
        return [Subquery(self.question), Subquery(" ".join((self.question, *self.options)))]


@dataclass(frozen=True)
class Feedback:
    """Pseudo-relevance feedback: the best hits of a first search determine what else to search for.

    One more subquery is added to the query, with ``weight``. Of all terms in the hits, it has those whose ``sum over
    hits of share * f / (f + norm) * idf`` is highest, as in relevance models (Lavrenko and Croft, 2001). Here f is the
    count of the term in the hit, and norm is the hit's length norm in BM25. The vector is the weighted mean of the
    hits' best sentences, or of their own vectors if the index has no sentences, as in Rocchio's method. The share of a
    hit, which also weights its vector, is its score divided by the sum of all scores. Nothing is random and no model is
    asked, so the same query gives the same hits.

    Args:
        hits: The number of hits of the first search that are used.
        terms: The number of terms of the added subquery.
        weight: The weight of the added subquery, where the original query has 1.

    Raises:
        ValueError: A number is out of range.
    """

    hits: int = 5
    terms: int = 20
    weight: float = 0.2

    def __post_init__(self) -> None:
        argument_checks.whole("hits", self.hits, 1)
        argument_checks.whole("terms", self.terms, 1)
        argument_checks.number("weight", self.weight, 0)


Rewrite = str | Feedback | Callable[[Any], Any]


def load(rewrite: Any) -> Rewrite:
    """Return the rewrite for the value of ``Rewrite.by``: a name, a :class:`Feedback` or a function.

    ``"hyde"`` and ``"multi"`` ask the model that the environment variables name.

    Raises:
        ValueError: The name is unknown, or the environment names no model.
        TypeError: The value is neither a name nor a function.
        ImportError: The extra ``llm``, which is needed to ask a model, is not installed.
    """
    if rewrite == "feedback":
        return Feedback()
    if isinstance(rewrite, str) and rewrite in ("hyde", "multi"):
        from ...llm.query_generation import Hyde, MultiQuery

        return Hyde() if rewrite == "hyde" else MultiQuery()
    if isinstance(rewrite, str) and rewrite not in NAMES:
        raise ValueError(f"rewrite must be one of {', '.join(map(repr, NAMES))}, or a function; got {rewrite!r:.80}")
    if not (callable(rewrite) or isinstance(rewrite, (str, Feedback))):
        raise TypeError(f"rewrite must be one of {', '.join(map(repr, NAMES))}, or a function; got {rewrite!r:.80}")
    found: Rewrite = rewrite
    return found


def choices(queries: Any) -> tuple[list[Any], list[Choice | None]]:
    """Return (the texts, the choices) of queries, each of which is a text or a pair of a question and its answers.

    Example:
        >>> choices([("What do cats do?", ["purr", "bark"]), "plain"])
        (['What do cats do?', 'plain'], [Choice(question='What do cats do?', options=('purr', 'bark')), None])
    """
    single = isinstance(queries, (str, Choice))
    texts: list[Any] = []
    found: list[Choice | None] = []
    for each in [queries] if single else queries:
        own = each
        if isinstance(each, (tuple, list)) and len(each) == 2 and not isinstance(each[1], str):
            own = Choice(each[0], tuple(each[1]))
        found.append(own if isinstance(own, Choice) else None)
        texts.append(own.question if isinstance(own, Choice) else own)
    return texts, found


def rewritten(
    rewrite: Rewrite,
    texts: Sequence[str],
    given: Sequence[Choice | None],
    *,
    mode: str,
    dim: int,
    skip: bool = False,
) -> tuple[list[list[Subquery]], dict[int, str]]:
    """Return (the subqueries of each query; the reason why the rewriting failed, by the row of the query).

    Args:
        rewrite: The rewrite, ``"options"`` or a function.
        texts: The texts of the queries.
        given: The choice of each query, for ``"options"``.
        mode: The mode of the search.
        dim: The width of vectors.
        skip: Whether a query whose rewriting fails is searched by its own text. If False, an error is raised.

    Raises:
        ValueError: The function returned nothing for a query, or nothing that can be searched. The message names the
            stage and the row.
        RuntimeError: The function failed. The message names the stage and the row.
    """
    found: list[list[Subquery]] = []
    reasons: dict[int, str] = {}
    remedy = "" if skip else "; fix the rewrite, leave it out, or set Rewrite(..., on_error='skip') in Python"
    answers = _asked_together(rewrite, texts, remedy) if getattr(rewrite, "batched", False) else None
    for row, text in enumerate(texts):
        try:
            if rewrite == "options":
                own = _of_options(row, given[row])
            else:
                answer = _answer(rewrite, answers, row, text, remedy)
                own = [_checked(row, probe, dim) for probe in _probes(row, text, answer)]
                if not any(_serves(probe, mode) for probe in own):
                    raise ValueError(
                        f"the stage rewrite gave nothing for query {row} that mode={mode!r} can search: give a text"
                    )
        except (ValueError, RuntimeError) as error:
            if not skip:
                raise
            own, reasons[row] = [Subquery(text)], str(error)
        found.append(own)
    return found, reasons


def _answer(rewrite: Any, answers: Sequence[Any] | Exception | None, row: int, text: str, remedy: str) -> Any:
    """Return a function's answer to one query: from ``answers``, if it answered all at once, else by calling it.

    ``remedy`` ends the message of an error.
    """
    if isinstance(answers, Exception):
        raise answers
    failed = f"the stage rewrite failed for query {row} ({text!r:.80})"
    if answers is not None:
        if isinstance(answers[row], Exception):
            raise RuntimeError(f"{failed}: {str(answers[row]).removesuffix('.')}{remedy}") from answers[row]
        return answers[row]
    try:
        return rewrite(text)
    except Exception as error:
        raise RuntimeError(f"{failed}: {type(error).__name__}: {error}{remedy}") from error


def _asked_together(rewrite: Any, texts: Sequence[str], remedy: str) -> Sequence[Any] | Exception:
    """Return a function's answers to all queries at once, or the error."""
    try:
        answers = list(rewrite(list(texts)))
    except Exception as error:
        rows = f"queries 0 to {len(texts) - 1}" if len(texts) > 1 else "query 0"
        failed = RuntimeError(f"the stage rewrite failed for {rows}: {type(error).__name__}: {error}{remedy}")
        failed.__cause__ = error
        return failed
    if len(answers) != len(texts):
        return ValueError(
            f"the stage rewrite gave {counted(len(answers), 'answer')} for {counted(len(texts), 'query', 'queries')}: "
            "return one for each"
        )
    return answers


def _of_options(row: int, choice: Choice | None) -> list[Subquery]:
    if choice is None or not choice.options:
        raise ValueError(
            f"the stage rewrite ('options') found no options for query {row}: pass (question, [options]) as a query"
        )
    for option in choice.options:
        if not isinstance(option, str):
            raise ValueError(
                f"the stage rewrite ('options') takes texts; query {row} has the option {option!r:.80}: pass a str"
            )
    return choice.probes()


def _probes(row: int, text: str, answer: Any) -> list[Subquery]:
    """Return a function's answer to a query as subqueries. Raise ValueError if it is invalid or empty."""
    each = [answer] if isinstance(answer, (str, Subquery)) else list(answer) if hasattr(answer, "__iter__") else []
    found = []
    for own in each:
        probe: Any = own
        if isinstance(own, str):
            probe = Subquery(own)
        elif isinstance(own, tuple) and len(own) == 2:
            probe = Subquery(own[0], weight=own[1])
        if not isinstance(probe, Subquery) or not (isinstance(probe.text, str) or probe.text is None):
            raise ValueError(
                f"the stage rewrite must give texts, (text, weight) or Subquery; for query {row} ({text!r:.80}) it "
                f"gave {own!r:.80}"
            )
        real = isinstance(probe.weight, (int, float)) and math.isfinite(probe.weight) and probe.weight > 0
        if not real:
            raise ValueError(
                f"the stage rewrite must give finite weights above 0; for query {row} ({text!r:.80}) it gave "
                f"{probe.weight!r}"
            )
        if (probe.text and probe.text.strip()) or probe.terms is not None or probe.vector is not None:
            found.append(probe)
    if not found:
        raise ValueError(
            f"the stage rewrite gave nothing for query {row} ({text!r:.80}): give a text, terms or a vector"
        )
    return found


def with_feedback(
    feedback: Feedback,
    searcher: Searcher,
    probes: Sequence[Sequence[Subquery]],
    ranking: RankingOptions,
    allowed: Mask | None,
    threads: int | None,
) -> list[list[Subquery]]:
    """Return the subqueries of each query, with one more from its first hits. Without hits, none is added."""
    found = searcher.rank(probes, feedback.hits, ranking, allowed, threads)
    out = []
    for own, (ranked, _, sentences) in zip(probes, found, strict=True):
        scores = np.maximum(ranked.scores.astype(np.float64), 0)
        out.append(list(own))
        if feedback.weight == 0 or not scores.sum():
            continue
        shares = scores / scores.sum()
        terms = vector = None
        if ranking.mode != "dense":
            terms = _best_terms(searcher, ranked.chunks, shares, feedback.terms)
        if ranking.mode != "sparse":
            index = searcher.sentences if sentences is not None else searcher.pooled
            assert index is not None
            rows = ranked.chunks if sentences is None else sentences
            there = rows >= 0
            total = (shares[there, None] * index.rows(rows[there]).astype(np.float64)).sum(axis=0)
            norm = math.sqrt(float(np.square(total).sum()))
            vector = np.asarray(total / norm, np.float32) if norm > 0 else None
        weight = feedback.weight * sum(probe.weight for probe in own)
        if terms or vector is not None:
            out[-1].append(Subquery(terms=terms or None, vector=vector, weight=weight))
    return out


def _best_terms(searcher: Searcher, rows: Any, shares: Any, count: int) -> dict[str, float]:
    """Return the ``count`` terms of chunks with the highest gain, best first, each with its weight.

    A term's weight is the sum of ``share * f / (f + norm)`` over the chunks, and its gain is the weight times its idf.
    See :class:`Feedback`.
    """
    analyzer, bm25 = searcher.layout.analyzer, searcher.bm25
    assert analyzer is not None
    assert bm25 is not None
    weights: dict[str, float] = {}
    for row, share, values in zip(rows.tolist(), shares.tolist(), searcher.chunks.values(rows), strict=True):
        norm = float(bm25.norms[row])
        for term, times in Counter(analyzer.terms(values["text"])).items():
            weights[term] = weights.get(term, 0.0) + share * times / (times + norm)
    gains = {term: weights[term] * idf for term, idf in bm25.idf(list(weights)).items()}
    best = sorted(gains, key=lambda term: (-gains[term], term))[:count]
    return {term: weights[term] for term in best}


def filled(
    probes: Sequence[Sequence[Subquery]],
    terms: Callable[[str], Sequence[str]] | None,
    encode: Callable[[list[str]], Any] | None,
) -> list[list[Subquery]]:
    """Return subqueries with the terms and vectors of their texts.

    A text that several subqueries share is encoded once.

    Args:
        probes: The subqueries of each query.
        terms: The function that returns the terms of a text. None: the search uses no terms, and they are removed.
        encode: The function that encodes texts. None: the search uses no vectors, and they are removed.
    """
    wanted = [probe.text for own in probes for probe in own if probe.vector is None and probe.text is not None]
    known: Mapping[str, Any] = {}
    if encode is not None and wanted:
        each = list(dict.fromkeys(wanted))
        known = dict(zip(each, encode(each), strict=True))
    out: list[list[Subquery]] = []
    for own in probes:
        out.append([])
        for probe in own:
            found = replace(probe, vector=probe.vector if encode is not None else None)
            if terms is None:
                found = replace(found, terms=None)
            elif probe.text is not None and probe.terms is None:
                found = replace(found, terms=terms(probe.text))
            if found.vector is None and probe.text is not None and probe.text in known:
                found = replace(found, vector=known[probe.text])
            out[-1].append(found)
    return out


def _serves(probe: Subquery, mode: str) -> bool:
    """Return whether a mode can search with a subquery."""
    words, vectors = probe.terms is not None, probe.vector is not None
    return probe.text is not None or (words and mode != "dense") or (vectors and mode != "sparse")


def _checked(row: int, probe: Subquery, dim: int) -> Subquery:
    """Check the terms and vector of a subquery, and return it with its vector scaled to unit length.

    Raises:
        ValueError: Terms are invalid, or a vector does not have ``dim`` finite numbers. The message names the row.
    """
    terms = probe.terms or ()
    for term, times in terms.items() if isinstance(terms, Mapping) else ((term, 1.0) for term in terms):
        if not isinstance(term, str) or not isinstance(times, (int, float)) or not 0 < times < math.inf:
            raise ValueError(
                f"the stage rewrite must give terms as texts, each with a finite count above 0; for query {row} it "
                f"gave {term!r:.40}: {times!r:.40}"
            )
    if probe.vector is None:
        return probe
    vector = np.asarray(probe.vector, np.float32)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise ValueError(
            f"the stage rewrite must give vectors of {dim} finite numbers; for query {row} it gave one of shape "
            f"{vector.shape}{' with NaN or infinity' if vector.shape == (dim,) else ''}"
        )
    return replace(probe, vector=vector / np.maximum(np.linalg.norm(vector), np.float32(1e-12)))
