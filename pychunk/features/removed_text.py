"""The sentences in removed spans, which no chunk contains and no model of the table reads."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._engine.data.features import Features

I64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
U8 = npt.NDArray[np.uint8]

#: The first bytes of all white space in UTF-8, except for ASCII white space.
_SPACE_BYTES = (0xC2, 0xE1, 0xE2, 0xE3)


def removed_sentences(features: Features) -> Flags | None:
    """Return whether each sentence is removed, bool[n], or None if no sentence is.

    A sentence is removed if its first character that is no white space is in a removed span, as in the engine. In a
    document with such a sentence, sentences of white space alone also count as removed, so that no node ends with one.
    """
    spans = features.removed
    if spans is None or not len(spans.start):
        return None
    bounds, doc_offsets = features.bounds, features.doc_offsets
    begins = _after_space(features.text, bounds)
    base = np.repeat(features.offsets[:-1], np.diff(spans.offsets))
    start, end = spans.start + base, spans.end + base
    span = np.searchsorted(start, begins, "right") - 1
    out: Flags = (span >= 0) & (begins < end[span]) & (begins < bounds[1:])
    if not out.any():
        return None
    row = np.repeat(np.arange(len(doc_offsets) - 1), np.diff(doc_offsets))
    out |= (begins == bounds[1:]) & (np.bincount(row, out, minlength=len(doc_offsets)) > 0)[row]
    return out


def _after_space(text: U8, bounds: I64) -> I64:
    """Return the first byte of each sentence that is no white space; the end of the sentence if there is none."""
    begins: I64 = bounds[:-1].copy()
    lead = text[begins]  # No sentence is empty.
    doubtful = (lead <= ord(" ")) | np.isin(lead, _SPACE_BYTES)
    for s in np.flatnonzero(doubtful).tolist():
        here = text[bounds[s] : min(bounds[s] + 4, bounds[s + 1])].tobytes().decode(errors="ignore")
        if here[:1].isspace():
            sentence = text[bounds[s] : bounds[s + 1]].tobytes().decode()
            begins[s] += len(sentence[: len(sentence) - len(sentence.lstrip())].encode())
    return begins
