"""Which document of a batch is of a script that a tokenizer does not know, so that a warning can name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import _native
from .._arrow import flat_text

if TYPE_CHECKING:
    from ..data.models import TokenTable
    from .texts import TextBatch

#: Of each document its first bytes are looked at, and of a batch so many documents that are not ASCII: some 0.1 s.
_BYTES, _DOCUMENTS = 4096, 2000


def unknown_script(texts: TextBatch, words: TokenTable, share: float) -> int | None:
    """The first document of whose tokens more than ``share`` are [UNK] or single letters; None where none begins so."""
    row = looked = 0
    for column in texts.texts:
        data, offsets = flat_text(column)
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            text = bytes(data[begin : min(end, begin + _BYTES)]).decode(errors="ignore")
            if not text.isascii():
                looked += 1
                if looked > _DOCUMENTS:
                    return None
                if _native.fallback_share(words, np.frombuffer(text.encode(), np.uint8)) > share:
                    return row
            row += 1
    return None
