"""The function find_duplicates(): the documents of a batch that are copies or near-copies of an earlier one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ._engine import native
from ._engine.arrow import flat_text
from ._engine.threads import threads_of
from .inputs import TextBatch

#: The columns that :func:`find_duplicates` returns.
SCHEMA = pa.schema([("row", pa.int64()), ("of", pa.int64()), ("share", pa.float64())])
#: The least share that can be asked for. Below it, most candidates would be no near-copies.
LEAST = 0.5
#: The number of values in a sketch, and the numbers of values that a band may have.
_SKETCH, _BANDS = 128, (8, 6, 5, 4, 3, 2, 1)
#: The least probability with which two documents of exactly the share are compared.
_FOUND = 0.999


def find_duplicates(
    batch: Any, share: float = 0.8, *, column: str | None = None, threads: int | None = None
) -> pa.Table:
    """Return the documents that are copies or near-copies of an earlier document, with the earlier one.

    Each document is compared with the earlier documents that are not near-copies themselves. It is a near-copy of the
    first of them with which it has at least ``share`` of its text in common. If you remove the rows that are returned,
    one document of each group of near-copies remains.

    The share counts shingles, which are three consecutive words. It is the number of shingles that both documents have,
    each as often as it occurs in both, divided by that of the longer document. Words are separated by white space; in
    scripts without spaces, each character is a word. Case and punctuation count. The share is 1 only if the words are
    equal. Documents of fewer than three words are only compared for that.

    Shares are counted, but only for candidates that sketches find. Sketches find two documents of exactly ``share``
    with a probability of about 0.999, and more similar documents nearly always.

    Args:
        batch: A str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        share: The least share of a near-copy, from 0.5 to 1. 1: only documents with the same words.
        column: The column that holds the text. Default: the only string column, else ``text``.
        threads: The number of threads. Default: ``PYCHUNK_THREADS``, else the CPUs that the process may use.

    Returns:
        A table with a row for each near-copy, in their order: ``row``; ``of``, the row of the earlier document; and
        ``share``. It does not depend on ``threads``, or on how Arrow divides the batch.

    Raises:
        ValueError: ``share`` or ``threads`` is out of range.
        ValueError, TypeError: A row is not text; the message has the row's number.

    Example:
        >>> import pychunk
        >>> texts = ["Cats purr at night.", "Stars shine.", "Cats  purr at night."]
        >>> pychunk.find_duplicates(texts).to_pylist()
        [{'row': 2, 'of': 0, 'share': 1.0}]
    """
    is_number = isinstance(share, (int, float, np.integer, np.floating)) and not isinstance(share, bool)
    if not is_number or not LEAST <= share <= 1:
        raise ValueError(f"share must be a number from {LEAST} to 1; got {share!r:.80}")
    parts = TextBatch.of(batch, column=column).texts
    texts = parts[0] if len(parts) == 1 else pa.chunked_array(parts, pa.large_string()).combine_chunks()
    found = native.near_copies(*flat_text(texts), share, band_of(share), threads=threads_of(threads))
    return pa.table(list(found), SCHEMA)


def band_of(share: float) -> int:
    """Return the number of values in a band, the largest that finds near-copies of exactly the share.

    If two documents of the same length have a share s, their Jaccard similarity is s / (2 - s).

    Example:
        >>> [band_of(share) for share in (0.5, 0.8, 0.9)]
        [2, 4, 6]
    """
    similarity = share / (2 - share)
    return next(band for band in _BANDS if 1 - (1 - similarity**band) ** (_SKETCH // band) >= _FOUND)
