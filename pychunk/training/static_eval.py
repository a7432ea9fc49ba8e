"""How closely a static encoder follows its teacher on articles it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .token_bags import Bags

Floats = npt.NDArray[np.floating[Any]]

_MIN_SENTENCES = 10


@dataclass(frozen=True)
class Scores:
    """Agreement of student and teacher on held-out articles; 1 is perfect.

    Attributes:
        adjacent: Pearson correlation of the cosines of neighbouring sentences, all pairs of all articles together.
        adjacent_per_document: the same inside each article with at least 10 sentences, averaged over those articles.
        to_mean: Pearson correlation of each sentence's cosine to the mean vector of its article, all together.
        to_mean_per_document: the same inside each such article, averaged.
        cosine: mean cosine of the student's sentence vector to the teacher's reduced to the student's width.
    """

    adjacent: float
    adjacent_per_document: float
    to_mean: float
    to_mean_per_document: float
    cosine: float

    def rounded(self) -> dict[str, float]:
        """The five figures by name, to four decimals."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def unit(vectors: Floats) -> npt.NDArray[np.float64]:
    """Rows scaled to length one; a zero row stays zero."""
    wide = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0))


def sentence_vectors(table: npt.NDArray[Any], bags: Bags) -> npt.NDArray[np.float64]:
    """Unit vectors ``float64 [n, dim]``: the normalised sum of each sentence's rows, as the engine computes it."""
    # Integer rows are summed as integers, so the result does not depend on the order of summation.
    kind = np.int64 if table.dtype.kind == "i" else np.float64
    sums = np.zeros((len(bags), table.shape[1]), kind)
    for row in range(len(bags)):
        ids = bags.ids[bags.offsets[row] : bags.offsets[row + 1]]
        sums[row] = table[ids].sum(axis=0, dtype=kind)
    return unit(sums.astype(np.float64))


def adjacent_similarities(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cosines of the unit vectors of neighbouring sentences of one document: ``n - 1`` of them."""
    return np.asarray((vectors[:-1] * vectors[1:]).sum(axis=1))


def mean_similarities(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cosine of each unit vector of one document to the document's mean vector."""
    return np.asarray(vectors @ unit(vectors.mean(axis=0, keepdims=True))[0])


def _correlation(
    pairs: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]],
) -> tuple[float, float]:
    """Pearson correlation pooled over all documents, and the mean of the documents' own."""
    pooled = np.corrcoef(np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs]))[0, 1]
    own = [np.corrcoef(a, b)[0, 1] for a, b in pairs if len(a) >= _MIN_SENTENCES - 1 and a.std() > 0 and b.std() > 0]
    return float(pooled), float(np.mean(own)) if own else float("nan")


def score(
    student: npt.NDArray[np.float64],
    teacher: npt.NDArray[np.float64],
    reduced: npt.NDArray[np.float64],
    documents: Sequence[npt.NDArray[np.int64]],
) -> Scores:
    """Compare unit vectors of the student with the teacher's.

    Args:
        student: ``[n, dim]``, one row per distinct sentence.
        teacher: ``[n, width]``, the full teacher.
        reduced: ``[n, dim]``, the teacher reduced to the student's width.
        documents: row numbers of each document's sentences in reading order.
    """
    adjacent, to_mean = [], []
    for rows in documents:
        mine, theirs = student[rows], teacher[rows]
        if len(rows) > 1:
            adjacent.append((adjacent_similarities(mine), adjacent_similarities(theirs)))
        to_mean.append((mean_similarities(mine), mean_similarities(theirs)))
    order = np.concatenate(list(documents))
    cosines = (student * reduced).sum(axis=1)
    return Scores(*_correlation(adjacent), *_correlation(to_mean), float(cosines[order].mean()))
