"""Query rewriting: one question as several texts, terms or vectors, which are searched together.

What ``search(rewrite=...)`` takes: ``"feedback"``, ``"options"``, ``"hyde"`` and ``"multi"`` (by a model, see
:mod:`pychunk.llm.query_generation`), an instance of :class:`Feedback`, or a function from a query's text to what it
is to be
searched by (one text, or a list of texts, pairs of text and weight, and :class:`Subquery`). The query itself is
searched
only if the function returns it, too. A function with an attribute ``batched = True`` gets a list of all queries and
returns as many answers, as one that asks a server would; an exception in the place of one says why there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import argument_checks
from ..scoring.subqueries import Subquery

if TYPE_CHECKING:
    from ..scoring.ranking import Ranking
    from ..scoring.scorers import Mask
    from .searcher import Searcher

#: What a name stands for.
NAMES = ("feedback", "options", "hyde", "multi")


@dataclass(frozen=True)
class Choice:
    """A multiple-choice question with its answers, as a query for ``rewrite="options"``.

    Example:
        >>> [probe.text for probe in Choice("What do cats do?", ("purr", "bark")).probes()]
        ['What do cats do?', 'What do cats do? purr bark']
    """

    question: str
    options: tuple[str, ...]

    def probes(self) -> list[Subquery]:
        """The question, and the question with all of its answers: what answers it names one of them, mostly.

        By the question with each answer in turn the leaflets' page comes first for .775 of the questions; so for .802
        (.004 to .050 more), at a third of the probes.
        """
        return [Subquery(self.question), Subquery(" ".join((self.question, *self.options)))]


@dataclass(frozen=True)
class Feedback:
    """Pseudo-relevance feedback: the best hits of a first search say what to search for, too.

    Beside the query counts, ``weight`` times, one more probe. Its terms are those of the best hits that speak most for
    them, ``sum over hits of share * f / (f + BM25's norm) * idf``, as relevance models have it (Lavrenko and Croft,
    2001); its vector is the mean of the hits' best sentences (of chunks' vectors, in an index of those), which is
    Rocchio's. A hit's share is that of its score in the sum of theirs. Nothing is drawn or asked: the same query gives
    the same hits.

    Args:
        hits: of the first search. terms: that are taken from them. weight: of the probe beside the query's 1.

    Raises:
        ValueError: a number out of range.
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
    """What ``rewrite=`` names; ``"hyde"`` and ``"multi"`` ask the model that the environment names.

    Raises:
        ValueError: an unknown name, or no model to ask. TypeError: neither a name nor a function. ImportError: without
            the extra ``llm`` nothing can be asked.
    """
    if rewrite == "feedback":
        return Feedback()
    if isinstance(rewrite, str) and rewrite in ("hyde", "multi"):
        from ...llm.query_generation import Hyde, MultiQuery

        return Hyde() if rewrite == "hyde" else MultiQuery()
    if isinstance(rewrite, str) and rewrite not in NAMES:
        raise ValueError(f"rewrite must be one of {', '.join(map(repr, NAMES))}, or a function; got {rewrite!r}")
    if not (callable(rewrite) or isinstance(rewrite, (str, Feedback))):
        raise TypeError(f"rewrite must be one of {', '.join(map(repr, NAMES))}, or a function; got {rewrite!r:.80}")
    found: Rewrite = rewrite
    return found


def choices(queries: Any) -> tuple[list[Any], list[Choice | None]]:
    """(the questions' texts, the choices) of queries that may be pairs of a question and its answers.

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
    """The probes of each query by answers or by a function, and why a row has only its text, where ``skip`` says so.

    Raises:
        ValueError: nothing came back for a query, or what no query can be; RuntimeError: the function failed. Both name
            the stage and the row.
    """
    found: list[list[Subquery]] = []
    reasons: dict[int, str] = {}
    answers = _asked_together(rewrite, texts) if getattr(rewrite, "batched", False) else None
    for row, text in enumerate(texts):
        try:
            if rewrite == "options":
                own = _of_options(row, given[row])
            else:
                answer = _answer(rewrite, answers, row, text)
                own = [_checked(row, probe, dim) for probe in _probes(row, text, answer)]
                if not any(_serves(probe, mode) for probe in own):
                    raise ValueError(f"the stage rewrite gave nothing for query {row} that mode={mode!r} searches by")
        except (ValueError, RuntimeError) as error:
            if not skip:
                raise
            own, reasons[row] = [Subquery(text)], str(error)
        found.append(own)
    return found, reasons


def _answer(rewrite: Any, answers: Sequence[Any] | Exception | None, row: int, text: str) -> Any:
    """What a function answers to a query: of ``answers`` to all at once, else asked for now."""
    if isinstance(answers, Exception):
        raise answers
    failed = f"the stage rewrite failed for query {row} ({text!r:.80})"
    if answers is not None:
        if isinstance(answers[row], Exception):
            raise RuntimeError(f"{failed}: {answers[row]}") from answers[row]
        return answers[row]
    try:
        return rewrite(text)
    except Exception as error:
        raise RuntimeError(f"{failed}: {type(error).__name__}: {error}") from error


def _asked_together(rewrite: Any, texts: Sequence[str]) -> Sequence[Any] | Exception:
    """What a function answers to all queries at once, or what is wrong with that."""
    try:
        answers = list(rewrite(list(texts)))
    except Exception as error:
        failed = RuntimeError(f"the stage rewrite failed for queries 0 to {len(texts) - 1}: {error!r}")
        failed.__cause__ = error
        return failed
    if len(answers) != len(texts):
        return ValueError(f"the stage rewrite gave {len(answers)} answers for {len(texts)} queries, row 0 first")
    return answers


def _of_options(row: int, choice: Choice | None) -> list[Subquery]:
    if choice is None or not choice.options:
        raise ValueError(
            f"the stage rewrite ('options') found no options for query {row}: pass (question, [options]) as a query"
        )
    for option in choice.options:
        if not isinstance(option, str):
            raise ValueError(f"the stage rewrite ('options') takes texts; query {row} has the option {option!r:.80}")
    return choice.probes()


def _probes(row: int, text: str, answer: Any) -> list[Subquery]:
    """What a function returned for a query, as probes."""
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
                f"the stage rewrite must give texts, (text, weight) or Probe; for query {row} ({text!r:.80}) it gave "
                f"{own!r:.80}"
            )
        real = isinstance(probe.weight, (int, float)) and math.isfinite(probe.weight) and probe.weight > 0
        if not real:
            raise ValueError(
                f"the stage rewrite must give weights above 0; for query {row} ({text!r:.80}) it gave {probe.weight!r}"
            )
        if (probe.text and probe.text.strip()) or probe.terms is not None or probe.vector is not None:
            found.append(probe)
    if not found:
        raise ValueError(f"the stage rewrite gave nothing for query {row} ({text!r:.80})")
    return found


def with_feedback(
    feedback: Feedback,
    searcher: Searcher,
    probes: Sequence[Sequence[Subquery]],
    ranking: Ranking,
    allowed: Mask | None,
    threads: int | None,
) -> list[list[Subquery]]:
    """Queries, each with a probe more of what its first hits say; none where there are no hits."""
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
    """The terms of chunks that speak most for them, with how much, by falling weight."""
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
    """Probes with the terms and vectors of their texts, where there are analyzer and encoder to make them.

    A text that several probes have is encoded once.
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
    """Whether a mode can search by a probe."""
    words, vectors = probe.terms is not None, probe.vector is not None
    return probe.text is not None or (words and mode != "dense") or (vectors and mode != "sparse")


def _checked(row: int, probe: Subquery, dim: int) -> Subquery:
    """A probe whose terms are such, and whose vector has unit length.

    Raises:
        ValueError: terms that are none, or a vector that is not of ``dim`` finite numbers; names the row.
    """
    terms = probe.terms or ()
    for term, times in terms.items() if isinstance(terms, Mapping) else ((term, 1.0) for term in terms):
        if not isinstance(term, str) or not isinstance(times, (int, float)) or not 0 < times < math.inf:
            raise ValueError(
                f"the stage rewrite must give terms as texts with how often each comes; for query {row} it gave "
                f"{term!r:.40}: {times!r:.40}"
            )
    if probe.vector is None:
        return probe
    vector = np.asarray(probe.vector, np.float32)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise ValueError(
            f"the stage rewrite must give vectors of {dim} finite numbers; for query {row} it gave one of shape "
            f"{vector.shape}"
        )
    return replace(probe, vector=vector / np.maximum(np.linalg.norm(vector), np.float32(1e-12)))
