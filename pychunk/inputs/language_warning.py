"""The warning about documents in a script that a tokenizer does not know; it names the first such document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._engine import native
from .._engine.arrow import flat_text
from ..telemetry import logger

if TYPE_CHECKING:
    from .._engine.data.models import TokenTable
    from .texts import TextBatch


#: The bytes that are examined at the start of each document, and the most documents with non-ASCII text that are
#: examined in a batch. To examine them all takes some 0.1 s.
_BYTES, _DOCUMENTS = 4096, 2000


def _first_row(texts: TextBatch, words: TokenTable, share: float) -> int | None:
    """Return the first document whose share of [UNK] or single-letter tokens is above ``share``, or None."""
    row = looked = 0
    for column in texts.texts:
        data, offsets = flat_text(column)
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            text = bytes(data[begin : min(end, begin + _BYTES)]).decode(errors="ignore")
            if not text.isascii():
                looked += 1
                if looked > _DOCUMENTS:
                    return None
                if native.fallback_share(words, np.frombuffer(text.encode(), np.uint8)) > share:
                    return row
            row += 1
    return None


def first_of(texts: TextBatch, words: TokenTable, share: float, first_document: int) -> str:
    """Return a clause for the warning that names the first document whose share of unknown tokens is above ``share``.

    The clause has the form ``, first in document 17 ('id' of FILE)``. It is "" if there is no such document.
    """
    row = _first_row(texts, words, share)
    if row is None:
        return ""
    known = [] if texts.ids is None else [repr(texts.ids[row].as_py())]
    if "file" in getattr(texts.source, "column_names", ()) and texts.source is not None:
        file = str(texts.source.column("file")[row])
        known = known if known == [repr(file)] else [*known, file]
    return f", first in document {first_document + row}" + (f" ({' of '.join(known)})" if known else "")


_warned: set[str] = set()


def warn(share: float, where: Callable[[], str], decided: Mapping[str, bool]) -> None:
    """Warn that tokens of an unknown script decide cuts, vectors or token budgets, once per process for each of these.

    Args:
        share: The share of tokens that are single letters or unknown, 0 to 1.
        where: A function that returns the clause of :func:`first_of`.
        decided: For "cuts", "vectors" and "budgets", whether such tokens decide them.
    """
    new = {name for name, there in decided.items() if there} - _warned
    if not new:
        return
    _warned.update(new)
    told = []
    if new & {"cuts", "vectors"}:
        they = {"cuts": "is cut by the vectors of single letters", "vectors": "has vectors that carry little meaning"}
        ways = {
            "cuts": "cut by a method without vectors (fixed, recursive, sentence, paragraph)",
            "vectors": "leave such text to BM25, by which an index finds it",
        }
        effects, remedies = (" and ".join(each[name] for name in each if name in new) for each in (they, ways))
        to = " to a method that takes any encoder (semantic, pic, cluster)" if "cuts" in new else ""
        told.append(
            f"the static encoder knows English; text in other scripts {effects}. Pass a model of this "
            f"language as encoder={to}, or {remedies}"
        )
    if "budgets" in new:
        told.append(
            'token budgets count single letters: pass a size with unit="characters" to a method that has one (fixed, '
            "recursive, structure), or max_tokens='auto'"
        )
    logger.warning(
        "%.0f %% of the tokens are single letters or unknown%s: %s", 100 * share, where(), ". And ".join(told)
    )
