"""The accuracy of section starts (area under the curve, F1, Pk, WindowDiff), and thresholds for wanted lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pychunk.api import split_sentences
from pychunk.evaluation.measures import boundaries, intervals

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

#: The number of bins of scores, with equal shares, from which the area under the curve is computed. Binning changes the
#: area by less than 1e-4.
_BINS = 500


@dataclass(frozen=True)
class Article:
    """An article's section starts, as indices of sentences, int64[sections - 1], and its number of sentences.

    The start of the first section, sentence 0, is left out.
    """

    begins: I64
    sentences: int


def curve(affinities: Sequence[F32], articles: Sequence[Article]) -> intervals.Interval:
    """Return the area under the curve over the gaps of all articles, with an interval over articles.

    It is the probability that a gap where a section begins has a lower affinity than another gap.
    """
    edges = np.unique(np.quantile(np.concatenate(affinities), np.linspace(0, 1, _BINS + 1)[1:-1]))
    counts = np.zeros((len(articles), 2, len(edges) + 1))
    for row, (own, article) in enumerate(zip(affinities, articles, strict=True)):
        begins = np.zeros(article.sentences, bool)
        begins[article.begins] = True
        bins = np.searchsorted(edges, own, side="right")
        for kind in (0, 1):
            counts[row, kind] = np.bincount(bins[begins[1:] == bool(kind)], minlength=len(edges) + 1)

    def area(sums: F64) -> F64:
        others, found = sums.reshape(2, len(edges) + 1, -1)
        above = others[::-1].cumsum(axis=0)[::-1] - others
        right: F64 = (found * (above + others / 2)).sum(axis=0) / (found.sum(axis=0) * others.sum(axis=0))
        return right

    return intervals.of_sums(counts.reshape(len(articles), -1), area)


def measures(cuts: Sequence[I64], articles: Sequence[Article]) -> dict[str, intervals.Interval]:
    """Return F1, Pk and WindowDiff as means over articles with intervals.

    ``cuts`` are, for each article, the indices of the sentences at which predicted sections begin, without sentence 0.
    """
    pairs = list(zip(cuts, articles, strict=True))
    return {
        "F1": intervals.interval([boundaries.boundary_f1(a.begins, found, a.sentences).f1 for found, a in pairs]),
        "Pk": intervals.interval([boundaries.pk(a.begins, found, a.sentences) for found, a in pairs]),
        "WindowDiff": intervals.interval([boundaries.window_diff(a.begins, found, a.sentences) for found, a in pairs]),
    }


#: The mean lengths for which thresholds are stored, in tokens; between them, thresholds are interpolated.
SIZES = (16, 24, 32, 48, 64, 96, 128, 160, 200, 250, 300, 350, 400, 500, 600, 800, 1000, 1500, 2000, 3000, 4000)


def thresholds(affinities: Sequence[F32], tokens: int) -> list[tuple[int, float]]:
    """Return (size, affinity) for each of :data:`SIZES`: cuts below the affinity make chunks of that mean size.

    ``tokens`` is the number of tokens of all documents.
    """
    flat = np.sort(np.concatenate(affinities).astype(np.float64))
    found = []
    for size in SIZES:
        cuts = round(tokens / size) - len(affinities)
        if 0 < cuts < len(flat):
            found.append((size, float(flat[cuts])))
    return found


def articles_of(shown: Sequence[tuple[str, list[int]]]) -> list[Article]:
    """Return articles from texts and their section starts in characters, with pychunk's sentences."""
    spans = split_sentences([text for text, _ in shown])
    return [
        Article(boundaries.in_units(starts, [a for a, _ in own]), len(own))
        for (_, starts), own in zip(shown, spans, strict=True)
    ]
