"""Documents of a script that a tokenizer does not know: which is the first, and the warning that names it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._engine import native
from .._engine.arrow import flat_text

if TYPE_CHECKING:
    from .._engine.data.models import TokenTable
    from .texts import TextBatch

logger = logging.getLogger("pychunk")

#: Of each document its first bytes are looked at, and of a batch so many documents that are not ASCII: some 0.1 s.
_BYTES, _DOCUMENTS = 4096, 2000


def _first_row(texts: TextBatch, words: TokenTable, share: float) -> int | None:
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
                if native.fallback_share(words, np.frombuffer(text.encode(), np.uint8)) > share:
                    return row
            row += 1
    return None


def first_of(texts: TextBatch, words: TokenTable, share: float, first_document: int) -> str:
    """``, first in document 17 ('id' of FILE)``, of whose tokens more than ``share`` are unknown; "" where none is."""
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
    """Once a run for cuts, for vectors and for token budgets, of what tokens of a script unknown to them decide."""
    new = {name for name, there in decided.items() if there} - _warned
    if not new:
        return
    _warned.update(new)
    told = []
    if new & {"cuts", "vectors"}:
        they = {"cuts": "are cut by little more than their letters", "vectors": "have vectors that say little"}
        ways = {
            "cuts": "cut by a method without vectors (fixed, recursive, sentence, paragraph)",
            "vectors": "leave such text to BM25, by which an index finds it",
        }
        effects, remedies = (" and ".join(each[name] for name in each if name in new) for each in (they, ways))
        to = " to a method that takes any (semantic, pic, cluster)" if "cuts" in new else ""
        told.append(
            f"the static encoder knows English; other scripts {effects}. Pass encoder= a model of this language{to}, "
            f"or {remedies}"
        )
    if "budgets" in new:
        told.append(
            'token budgets are spent on letters: give a size with unit="characters" to a method that has one (fixed, '
            "recursive, structure), or max_tokens='auto'"
        )
    logger.warning(
        "%.0f %% of the tokens are single letters or unknown%s: %s", 100 * share, where(), ". And ".join(told)
    )
