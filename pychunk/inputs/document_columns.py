"""The arguments with a value for each document, each declared once for all interfaces.

Each declaration serves ``segment()``, ``Segmenter``, ``stream()``, ``ingest()``, Ray and Spark, and with ``flag`` also
the command line. Every argument takes one value for each document, or the name of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from .._engine.data.cuts import Cuts
from .._engine.data.ragged import Ragged
from .block_inputs import blocks_of, removed_of
from .span_inputs import matrices, ragged_counts, ragged_spans, ragged_starts, sentence_matrix
from .summary_inputs import unit_or_text
from .value_columns import column_of, only_column, package_of

if TYPE_CHECKING:
    from ..methods.base import Method
    from . import TextBatch


class DocumentColumns(TypedDict, total=False):
    """The argument ``columns`` of a call: further facts about each document, by role.

    Each role has the name of a column of the batch, or one value for each document. ``text`` is always the name of the
    column that holds the text.
    """

    text: str | None
    summaries: Any
    titles: Any
    sentence_spans: Any
    sentence_vectors: Any
    token_counts: Any
    page_starts: Any
    blocks: Any
    removed: Any
    cuts: Any


@dataclass(frozen=True)
class Call:
    """The data of a call that the check of an argument may read.

    Attributes:
        method: The method that will cut.
        texts: The documents.
        said: The caller's arguments by keyword.
        split: A function that returns the sentences of texts and their flags.
        names: For each keyword, its name in errors, which includes the column that it names.
        parts: The features made of the arguments before this one.
    """

    method: Method
    texts: TextBatch
    said: Mapping[str, Any]
    split: Callable[[TextBatch], tuple[Ragged, Ragged]]
    names: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DocumentColumn:
    """An argument with a value for each document.

    Attributes:
        name: The keyword.
        text: A description of the values, for errors and ``--help``.
        flat: A function that checks the values of a call and returns features made of them, by name.
        only: A phrase that names the methods that accept the argument, if all others reject it. Those are the methods
            that list the argument in ``wants``. "" if every method accepts it.
        usual: The column of a table that is read if the method requires the argument and the caller passes none.
        flag: Whether the command line takes ``--column NAME=COLUMN``.
        characters: The name of the feature if its positions are in characters; the engine needs them in bytes.
        of_column: A function that turns an Arrow column into values that ``flat`` accepts; None if ``flat`` accepts the
            column itself.
    """

    name: str
    text: str
    flat: Callable[[Any, Call], dict[str, Any]]
    only: str = ""
    usual: str = ""
    flag: bool = False
    characters: str = ""
    of_column: Callable[[Any], Any] | None = None


def _summaries(name: str) -> Callable[[Any, Call], dict[str, Any]]:
    def flat(values: Any, call: Call) -> dict[str, Any]:
        has_encoder = call.said.get("sentence_vectors") is None
        return {"summaries": unit_or_text(values, call.texts, call.names[name], has_encoder=has_encoder)}

    return flat


def _vectors(values: Any, call: Call) -> dict[str, Any]:
    if (given := call.parts.get("sentences")) is not None:
        return {"vectors": sentence_matrix(values, given.offsets)}
    sentences, flags = call.split(call.texts)  # gives the number of vectors of each document
    return {"sentences": sentences, "flags": flags, "vectors": sentence_matrix(values, sentences.offsets)}


def _cuts(values: Any, call: Call) -> dict[str, Any]:
    documents = len(call.texts)
    if not isinstance(values, Cuts):
        lists = list(values)
        alone = documents == 1 and len(lists) > 0 and np.ndim(lists[0]) == 0
        values = Cuts.of([lists] if alone else lists)
    if values.documents != documents:
        raise ValueError(f"cuts must hold as many lists as there are documents, {documents}; got {values.documents}")
    return {"cuts": values}


def _lists(array: Any) -> Any:
    return array.to_pylist()


#: The arguments in the order of help and errors.
DOCUMENT_COLUMNS = (
    DocumentColumn(
        "titles",
        "a title for each document",
        _summaries("titles"),
        only="method 'pic' with summary='title'",
        usual="title",
        flag=True,
    ),
    DocumentColumn(
        "summaries",
        "a summary for each document, or one array of vectors float[k, d] for k documents",
        _summaries("summaries"),
        only="method 'pic' with summary='given'",
        usual="summary",
        flag=True,
    ),
    DocumentColumn(
        "sentence_spans",
        "for each document its sentences as (start, end) in characters",
        lambda values, call: {"sentences": ragged_spans(values, call.texts.lengths)},
        characters="sentences",
        of_column=_lists,
    ),
    DocumentColumn(
        "sentence_vectors", "for each document float[n, d], a vector for each sentence", _vectors, of_column=matrices
    ),
    DocumentColumn(
        "token_counts",
        "for each document the number of tokens of each sentence",
        lambda values, call: {"token_counts": ragged_counts(values, len(call.texts))},
        of_column=_lists,
    ),
    DocumentColumn(
        "page_starts",
        "for each document the positions, in characters, at which its pages begin",
        lambda values, call: {"page_starts": ragged_starts(values, len(call.texts), "page_starts")},
        flag=True,
        characters="page_starts",
        of_column=_lists,
    ),
    DocumentColumn(
        "blocks",
        "for each document its blocks as (kind, level, start, end)",
        lambda values, call: {"blocks": blocks_of(values, call.texts)},
        flag=True,
    ),
    DocumentColumn(
        "removed",
        "for each document the spans that no chunk holds, as (start, end, reason, score)",
        lambda values, call: {"removed": removed_of(values, call.texts)},
        flag=True,
    ),
    DocumentColumn(
        "cuts",
        "for each document the number of the first sentence of each chunk, from 0",
        _cuts,
        only="method 'precomputed'",
        of_column=_lists,
    ),
)
NAMES = tuple(column.name for column in DOCUMENT_COLUMNS)
#: The roles that the command line takes, as ``--column ROLE=COLUMN``.
ROLES = tuple(column.name for column in DOCUMENT_COLUMNS if column.flag)


def columns_by_role(columns: DocumentColumns | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the argument ``columns`` as a dict without the roles that are None.

    Raises:
        TypeError: ``columns`` is not a mapping, or ``text`` is not the name of a column.
        ValueError: A role is unknown.
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise TypeError(f'columns must map roles to columns, such as {{"titles": "headline"}}; got {columns!r:.80}')
    for name in columns:
        if name not in NAMES and name != "text":
            from .._util.suggestions import did_you_mean  # imported here because only an error needs it

            meant = did_you_mean(name, ["text", *NAMES])
            raise ValueError(f"columns has no role {name!r}: the roles are text, {', '.join(NAMES)}{meant}")
    if not isinstance(columns.get("text"), (str, type(None))):
        kind = type(columns["text"]).__name__
        raise TypeError(f"columns={{'text': ...}} must be the name of a column; got {kind}: pass texts as the batch")
    return {name: value for name, value in columns.items() if value is not None}


def arguments_of(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments ``columns`` and ``metadata_columns`` of a call, from one mapping that holds both."""
    roles = {name: value for name, value in named.items() if name != "metadata_columns"}
    return {"columns": roles, "metadata_columns": named.get("metadata_columns", ())}


def wanted_columns(wants: Collection[str], names: Collection[str], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the caller's arguments, and the usual columns of a table for arguments that a method still needs."""
    usual = {
        each.name: each.usual
        for each in DOCUMENT_COLUMNS
        if each.name in wants and each.name not in said and each.usual in names
    }
    return {**said, **usual}


def name_of(keyword: str, value: Any, texts: TextBatch) -> str:
    """Return a role as errors name it: ``titles``, or ``titles='headline'`` if it names a column."""
    return f"{keyword}={value!r}" if isinstance(value, str) and texts.source is not None else keyword


def named_values(said: Mapping[str, Any], texts: TextBatch) -> dict[str, Any]:
    """Return the values of the roles for which the caller named a column of the documents."""
    named = {role: name for role, name in said.items() if isinstance(name, str) and texts.source is not None}
    return {
        column.name: values_of(column, named[column.name], texts) for column in DOCUMENT_COLUMNS if column.name in named
    }


def values_of(column: DocumentColumn, value: Any, texts: TextBatch) -> Any:
    """Return the caller's value, or the column of that name if the documents have columns."""
    if not isinstance(value, str) or texts.source is None:
        return value
    found = only_column(texts.source, value, column.name)
    if column.of_column is None:
        return found
    if package_of(found) == "pandas" or isinstance(found, list):
        return list(found)
    return column.of_column(column_of(found, len(texts), None, column.name))
