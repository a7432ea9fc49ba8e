"""The agreement of a static encoder with its teacher on articles that it never saw."""

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
    """The agreement of student and teacher on held-out articles; 1 is perfect.

    Attributes:
        adjacent: The Pearson correlation of the cosines of neighbouring sentences, over all pairs of all articles.
        adjacent_per_document: The same correlation inside each article with at least 10 sentences, averaged over these.
        to_mean: The Pearson correlation of each sentence's cosine to the mean vector of its article, over all
            sentences.
        to_mean_per_document: The same correlation inside each article with at least 10 sentences, averaged over these.
        cosine: The mean cosine of the student's sentence vector to the teacher's, reduced to the student's width.
    """

    adjacent: float
    adjacent_per_document: float
    to_mean: float
    to_mean_per_document: float
    cosine: float

    def rounded(self) -> dict[str, float]:
        """Return the five figures by name, to four decimals."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def unit(vectors: Floats) -> npt.NDArray[np.float64]:
    """Scale rows to length one; a zero row stays zero."""
    wide = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0))


def sentence_vectors(table: npt.NDArray[Any], bags: Bags) -> npt.NDArray[np.float64]:
    """Return unit vectors ``float64[n, dim]``: the normalised sums of sentences' rows, as the engine computes them."""
    # Integer rows are summed as integers, so that the result does not depend on the order of summation.
    kind = np.int64 if table.dtype.kind == "i" else np.float64
    sums = np.zeros((len(bags), table.shape[1]), kind)
    for row in range(len(bags)):
        ids = bags.ids[bags.offsets[row] : bags.offsets[row + 1]]
        sums[row] = table[ids].sum(axis=0, dtype=kind)
    return unit(sums.astype(np.float64))


def adjacent_similarities(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the ``n - 1`` cosines of the unit vectors of neighbouring sentences in one document."""
    return np.asarray((vectors[:-1] * vectors[1:]).sum(axis=1))


def mean_similarities(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the cosine of each unit vector of one document to the document's mean vector."""
    return np.asarray(vectors @ unit(vectors.mean(axis=0, keepdims=True))[0])


def _correlation(
    pairs: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]],
) -> tuple[float, float]:
    """Return the Pearson correlation over all documents together, and the mean of each document's correlation."""
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
        student: The student's vectors, ``[n, dim]``, one row for each distinct sentence.
        teacher: The full teacher's vectors, ``[n, width]``.
        reduced: The teacher's vectors reduced to the student's width, ``[n, dim]``.
        documents: The row numbers of each document's sentences in reading order.
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
