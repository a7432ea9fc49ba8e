"""The choice of sentences to encode again in fp32, because an error of half precision could change a cut.

In fp16 a transformer's scores are off by 6e-5 in the median and by up to 6e-4 (bench/encoders/half_precision.py). In 40
% of long documents a score is nearer to its threshold than 1e-3. The sentences with such scores are encoded again in
fp32. The errors of the other sentences also move a document's threshold. If the threshold is then still near to a
score, the whole document is encoded again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The largest error of a score in half precision, with a margin.
SCORE_ERROR = 1e-3
#: The largest change of a document's threshold by the errors of sentences that stay in fp16, with a margin.
THRESHOLD_ERROR = 5e-5


def near(scores: F32, thresholds: F64, counts: I64, margin: float) -> Mask:
    """Return a mask of the scores within ``margin`` of their document's threshold.

    Document d has ``counts[d]`` scores.
    """
    distance = np.abs(scores.astype(np.float64) - np.repeat(thresholds, counts))
    return np.asarray(distance <= margin, np.bool_)  # NaN stands for no threshold, and is near to no score.


def sentences_near(scores: F32, thresholds: F64, documents: I64, margin: float, *, pairs: bool) -> Mask:
    """Return a mask of the n sentences with a score near their document's threshold, bool[n].

    There is one score for each sentence, or with ``pairs`` one for each pair of neighbouring sentences. A pair's score
    marks both sentences.
    """
    counts = np.diff(documents)
    if not pairs:
        return near(scores, thresholds, counts, margin)
    found = near(scores, thresholds, np.maximum(counts - 1, 0), margin)
    out = np.zeros(int(documents[-1]), np.bool_)
    # The first sentence of pair p is the first one of its document, plus the number of pairs before p in this document.
    document = np.repeat(np.arange(len(counts)), np.maximum(counts - 1, 0))
    before = np.concatenate([[0], np.cumsum(np.maximum(counts - 1, 0))])
    first = np.arange(len(found)) - before[document] + documents[:-1][document]
    out[first[found]] = True
    out[first[found] + 1] = True
    return out


def whole_documents(sentences: Mask, documents: I64) -> Mask:
    """Return a mask of all sentences of each document that has at least one marked sentence, bool[n]."""
    counts = np.diff(documents)
    touched = np.zeros(len(counts), np.bool_)
    touched[np.repeat(np.arange(len(counts)), counts)[sentences]] = True
    return np.repeat(touched, counts)
