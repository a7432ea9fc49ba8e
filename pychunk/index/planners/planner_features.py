"""The features of a query, and of the first pass over an index, that a learned planner reads."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from .planner import FirstPass, Metadata
    from .term_statistics import Held, Terms

    F32 = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
#: Patterns of words that show the kind of a question; each is one feature of its form.
FORMS = (
    r"\bwh(o|om|ose)\b",
    r"\bwhen\b",
    r"\bwhere\b",
    r"\bwhich\b",
    r"\bwhat\b",
    r"\bhow (many|much|long|old|far|often)\b",
    r"\bhow\b",
    r"\bwhy\b",
    r"\b(compare|difference|differ|versus|both)\b",
    r"\b(summari[sz]e|summary|overview|describe|explain)\b",
    r"\?",
    r":",
    r"\.\s*$",
    r"^\W*(is|are|was|were|the|an?)\b",
)
_COMPILED = tuple(map(re.compile, FORMS))
#: For each of these numbers of best hits, the shares of documents among these hits are features.
_TOP = (4, 8, 32)
#: The levels over whose nodes the spread of fine hits is a feature.
_SPREAD_OVER = ("group", "paragraph")
#: The best hits by vectors and by BM25 that are compared.
_BEST_BY_BOTH = 4
#: Two hits whose beginnings are fewer characters apart than this are in the same paragraph in most texts.
_NEAR = 500


def features(query: str, metadata: Metadata) -> F32:
    """Return the features of a query, float32[inputs].

    They are its form and length, the result of the first pass, how rare its terms are, and which of its terms the best
    sentences and documents have. Further features say whether vectors and BM25 agree on the hits, and over how many
    documents, paragraphs and chunks these spread. They do not include the lengths of documents, their numbers of
    sections, or which documents were found, because such numbers distinguish collections, not questions.

    Raises:
        ValueError: The metadata has no first pass.
    """
    if metadata.fine is None or metadata.coarse is None:
        raise ValueError(
            "a learned planner needs the results of the first pass: call Index.plan_metadata(..., look=True)"
        )
    passes = [*_pass(metadata.fine), *_spread_of(metadata.fine.document.tolist()), *_pass(metadata.coarse)]
    seen = [*_form(query), *passes, *_between(metadata)]
    agreed = [*_agreement(metadata.fine), *_agreement(metadata.coarse)]
    return np.array([*seen, *_terms(metadata.terms), *agreed, *_over_nodes(metadata)], np.float32)


def _form(query: str) -> list[float]:
    lower = query.casefold()
    words = _WORD.findall(query)
    count = max(1, len(words))
    own = [float(each.search(lower) is not None) for each in _COMPILED]
    capitals = sum(word[0].isupper() for word in words)
    return [
        *own,
        min(len(words), 40) / 10,
        math.log1p(len(words)),
        capitals / count,
        float(bool(words) and words[0][0].isupper()),
        sum(any(map(str.isdigit, word)) for word in words) / count,
        sum(map(len, words)) / count / 10,
    ]


def _pass(found: FirstPass) -> list[float]:
    """Return how high the best hits score, and how sharply scores fall."""
    out: list[float] = []
    for scores in (found.score, found.dense, found.sparse):
        kept = np.zeros(max(_TOP))
        kept[: len(scores)] = scores[: len(kept)]
        own = kept.tolist()
        top, mean = own[0], sum(own) / len(own)
        deviation = math.sqrt(sum((each - mean) ** 2 for each in own) / len(own))
        out += [top, top - own[1], top - own[3], top - own[7], top - own[-1], max(own), mean, deviation]
    return out


def _spread_of(numbers: list[int]) -> list[float]:
    """Return, for each of :data:`_TOP`, how many different numbers the first hits have, and how many hits the same.

    Both are shares of these hits.
    """
    out: list[float] = []
    for most in _TOP:
        few = numbers[:most]
        counts = Counter(few).values()
        out += [len(counts) / len(few), max(counts) / len(few)] if few else [0.0, 0.0]
    return out


def _between(metadata: Metadata) -> list[float]:
    """Return to what degree fine and coarse hits are from the same documents, and how close the fine hits are."""
    fine, coarse = metadata.fine, metadata.coarse
    assert fine is not None
    assert coarse is not None
    if not len(fine.document) or not len(coarse.document):
        return [0.0] * 10
    near, far = fine.document.tolist(), coarse.document.tolist()
    best = far[0]
    out = [float(near[0] == best)]
    out += [near[:most].count(best) / len(near[:most]) for most in _TOP]
    out.append(1 / (1 + far.index(near[0])) if near[0] in far else 0.0)
    out += [float(two[0]) - float(one[0]) for one, two in _scores(fine, coarse)]
    counts = Counter(near)
    most_hits = min(counts, key=lambda document: (-counts[document], document))
    start = sorted(first for first, document in zip(fine.start.tolist(), near, strict=True) if document == most_hits)
    gaps = sorted(later - earlier for earlier, later in pairwise(start))
    if not gaps:
        return [*out, 0.0, 0.0]
    middle = (gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]) / 2
    return [*out, math.log1p(middle) / 10, sum(gap < _NEAR for gap in gaps) / len(gaps)]


def _agreement(found: FirstPass) -> list[float]:
    """Return six features that say how much vectors and BM25 agree on the hits of a pass.

    They are the correlation of the ranks by both; the share of the best hits by both that is common; whether both have
    the same best hit; how far the best hit by one is below the highest score by the other, for both; and the share of
    hits with at least half of the highest BM25.
    """
    dense, sparse = found.dense, found.sparse
    count = len(dense)
    if count < 2:
        return [0.0] * 6
    by_dense, by_sparse = np.argsort(-dense, kind="stable"), np.argsort(-sparse, kind="stable")
    rank = np.empty((2, count))
    rank[0, by_dense] = rank[1, by_sparse] = np.arange(count)
    centred = rank - (count - 1) / 2
    common = set(by_dense[:_BEST_BY_BOTH].tolist()) & set(by_sparse[:_BEST_BY_BOTH].tolist())
    first, other = int(by_dense[0]), int(by_sparse[0])
    return [
        float(centred[0] @ centred[1]) * 12 / (count * (count * count - 1)),
        len(common) / _BEST_BY_BOTH,
        float(first == other),
        float(sparse[first] - sparse[other]),
        float(dense[other] - dense[first]),
        float((sparse > 0.5 * sparse[other]).mean()),
    ]


def _over_nodes(metadata: Metadata) -> list[float]:
    """Return how far the fine hits spread over chunks and paragraphs: see :func:`_spread_of`.

    The spread over sections is not a feature, because the documents of narrow questions to learn from have none.
    """
    assert metadata.fine is not None
    inside = dict(zip(metadata.levels, metadata.fine.inside.tolist(), strict=False))  # empty if unknown
    return [each for level in _SPREAD_OVER for each in _spread_of(inside.get(level, []))]


def _scores(fine: FirstPass, coarse: FirstPass) -> tuple[tuple[F32, F32], ...]:
    return (fine.score, coarse.score), (fine.dense, coarse.dense), (fine.sparse, coarse.sparse)


def _terms(terms: Terms | None) -> list[float]:
    """Return the number of terms, how rare they are, and how many of them the best hits have.

    This tells narrow questions from broad ones: the answer to a narrow question is usually in one sentence, while the
    subject of a document is named all over it.
    """
    if terms is None or not len(terms.weight):
        return [0.0] * 40
    rarest = np.sort(terms.weight)[::-1].tolist()
    count, total = len(rarest), sum(rarest)
    mean = total / count
    deviation = math.sqrt(sum((each - mean) ** 2 for each in rarest) / count)
    second = rarest[1] if count > 1 else 0.0
    share = rarest[0] / max(total, 1e-9)
    out = [count / 10, float(terms.known.mean()), rarest[0], rarest[-1], mean, deviation, second, share]
    for held in (terms.fine, terms.coarse):
        out += _held(held, terms.weight)
    for held in (terms.near, terms.far):
        out += _spread(held, terms.weight)
    return out


def _held(held: Held, weight: F32) -> list[float]:
    """Return six features of the terms that hits have.

    The first three are shares of the total weight of the query's terms: the share that the best hit has, the highest
    share that any hit has, and the share that all hits have together. The other three describe the best hit: the share
    of the query's terms that it has, whether it has all of them, and the weight of its heaviest term as a share of the
    weight of the query's heaviest term.
    """
    total = float(weight.sum())
    if not len(held) or total <= 0:
        return [0.0] * 6
    shares = (held @ weight / total).tolist()
    together = float(weight[held.any(axis=0)].sum()) / total
    heaviest = float((held[0] * weight).max() / weight.max())
    return [shares[0], max(shares), together, float(held[0].mean()), float(held[0].all()), heaviest]


def _spread(held: Held, weight: F32) -> list[float]:
    """Return how the terms are distributed over a document's sentences.

    The words of a document's subject occur all over it, the words of a fact once or twice, and the words of a section's
    subject close together.
    """
    total = float(weight.sum())
    if not len(held) or total <= 0:
        return [0.0] * 10
    share, count = held.mean(axis=0), held.sum(axis=0)
    rarest, commonest = int(weight.argmax()), int(count.argmax())
    some = held.any(axis=1)
    others = np.flatnonzero(np.delete(held, commonest, axis=1).any(axis=1))
    apart = float(others.std()) / len(held) if len(others) else 0.0
    return [
        float(share.max()),
        float(share.min()),
        float(share @ weight) / total,
        math.log1p(count[rarest]),
        math.log1p(count.min()),
        math.log1p(count.max()),
        float((held @ weight).max()) / total,
        float(weight[held.any(axis=0)].sum()) / total,
        float(some.mean()),
        apart,
    ]
