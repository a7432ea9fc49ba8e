"""The measures of the UNLP 2026 shared task: the right document, and the distance from the right page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .metrics import F64

I64 = npt.NDArray[np.int64]


def pages_at(page_starts: Sequence[int], positions: npt.ArrayLike) -> I64:
    """Return the page, counted from 1, of each position in characters; the pages begin at ``page_starts``.

    Example:
        >>> pages_at([0, 120, 300], [0, 119, 120, 450])
        array([1, 1, 2, 3])
    """
    return np.searchsorted(np.asarray(page_starts, np.int64), np.asarray(positions, np.int64), side="right")


def accuracy_doc(documents: npt.ArrayLike, gold_documents: npt.ArrayLike) -> F64:
    """Return 1 if the predicted document is the gold one, else 0, float64[questions]. Both arguments: int[questions].

    Source: the UNLP paper's Accuracy_doc, equation 1.
    """
    return np.asarray(np.equal(*_same_shape(documents, gold_documents)), np.float64)


def accuracy_page(
    documents: npt.ArrayLike,
    pages: npt.ArrayLike,
    gold_documents: npt.ArrayLike,
    gold_pages: npt.ArrayLike,
    page_counts: npt.ArrayLike,
) -> F64:
    """Return 1 - |page - gold page| / pages of the document if the document is right, else 0; float64[questions].

    All arguments are int[questions]. ``page_counts`` is the number of pages of the gold document.

    Example:
        >>> accuracy_page([0, 1], [3, 3], [0, 2], [1, 3], [4, 4])
        array([0.5, 0. ])

    Source: the UNLP paper's Accuracy_page, equations 2 and 3.
    """
    found, page, gold, gold_page, counts = _same_shape(documents, pages, gold_documents, gold_pages, page_counts)
    if (counts < 1).any():
        raise ValueError(f"page_counts must be at least 1; got {counts.min()}")
    return np.asarray(np.where(found == gold, 1 - np.abs(page - gold_page) / counts, 0.0), np.float64)


def page_recall_at_k(
    documents: npt.ArrayLike, pages: npt.ArrayLike, gold_documents: npt.ArrayLike, gold_pages: npt.ArrayLike
) -> F64:
    """Return 1 if the gold page is among the top k, else 0; float64[questions].

    Args:
        documents: The document of each retrieved chunk, int[questions, k], -1 for none.
        pages: The page of each retrieved chunk, int[questions, k], -1 for none.
        gold_documents: The right document, int[questions].
        gold_pages: The right page, int[questions].

    Source: the UNLP paper's page Recall@k.
    """
    found, page = _same_shape(documents, pages)
    gold, gold_page = _same_shape(gold_documents, gold_pages)
    if found.ndim != 2 or gold.shape != found.shape[:1]:
        raise ValueError(
            "documents must have the shape [questions, k], and gold_documents [questions]; "
            f"got {found.shape} and {gold.shape}"
        )
    return np.asarray(((found == gold[:, None]) & (page == gold_page[:, None])).any(axis=1), np.float64)


def _same_shape(*values: npt.ArrayLike) -> list[I64]:
    arrays = [np.asarray(value, np.int64) for value in values]
    if len({array.shape for array in arrays}) > 1:
        raise ValueError(
            f"the shapes of the arrays must be equal; got {', '.join(str(array.shape) for array in arrays)}"
        )
    return arrays
