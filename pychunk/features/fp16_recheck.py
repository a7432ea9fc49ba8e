"""Which sentences half precision leaves in doubt: those whose errors could decide a cut.

In fp16 a transformer's scores are off by 6e-5 in the median and by up to 6e-4 (bench/encoders/half_precision.py), and
40 % of long documents have a score nearer to its threshold than 1e-3. So those sentences are encoded again in fp32;
then whole documents whose threshold, which the other sentences' errors move, too, is still near to a score.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Half precision's largest error of a score, with room.
SCORE_ERROR = 1e-3
#: By how much errors of the other sentences move a document's threshold, with room.
THRESHOLD_ERROR = 5e-5


def near(scores: F32, thresholds: F64, counts: I64, margin: float) -> Mask:
    """Which scores lie within ``margin`` of their document's threshold; document d has ``counts[d]`` of them."""
    distance = np.abs(scores.astype(np.float64) - np.repeat(thresholds, counts))
    return np.asarray(distance <= margin, np.bool_)  # NaN, no threshold, is near to nothing


def sentences_near(scores: F32, thresholds: F64, documents: I64, margin: float, *, pairs: bool) -> Mask:
    """bool[n] of the sentences of which a score is near its threshold.

    ``scores`` are one a sentence, or with ``pairs`` one for each two neighbours, both of which it concerns.
    """
    counts = np.diff(documents)
    if not pairs:
        return near(scores, thresholds, counts, margin)
    found = near(scores, thresholds, np.maximum(counts - 1, 0), margin)
    out = np.zeros(int(documents[-1]), np.bool_)
    # The first sentence of pair p, in document d, has as many pairs before it as p and d make.
    document = np.repeat(np.arange(len(counts)), np.maximum(counts - 1, 0))
    before = np.concatenate([[0], np.cumsum(np.maximum(counts - 1, 0))])
    first = np.arange(len(found)) - before[document] + documents[:-1][document]
    out[first[found]] = True
    out[first[found] + 1] = True
    return out


def whole_documents(sentences: Mask, documents: I64) -> Mask:
    """bool[n]: all sentences of the documents that have one of these."""
    counts = np.diff(documents)
    touched = np.zeros(len(counts), np.bool_)
    touched[np.repeat(np.arange(len(counts)), counts)[sentences]] = True
    return np.repeat(touched, counts)
