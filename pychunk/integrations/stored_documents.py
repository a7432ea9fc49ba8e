"""The documents of other packages in an index: metadata that come back unchanged, and columns to filter by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from .._engine.data.columns import COLUMNS
from ..api import segment
from ..index.index import Index
from ..index.search.hits import Hit

#: The column that holds each document's metadata as JSON, with every key and type.
METADATA = "metadata_json"
#: The names of columns that have a meaning for the index. A key of the same name gets a column with ``PREFIX``.
RESERVED = {each.name for each in COLUMNS} | {METADATA, "level", "context", "propositions", "vector", "sentences"}
PREFIX = "metadata_"
#: The key of ``Index.user_data`` with the keys of metadata that no filter can compare, and why.
MIXED = "pychunk.integrations.mixed"
#: The Arrow types of columns, by the names that errors use for types of values.
TYPES = {
    "boolean": pa.bool_(),
    "number": pa.int64(),
    "string": pa.string(),
    "list of strings": pa.list_(pa.string()),
}
#: Above this, not every integer is exact as float64, which a column becomes if it gets a fraction.
EXACT = 2**53


def best(index: Index, options: dict[str, Any], **asked: Any) -> list[Hit]:
    """Return the hits for the one query in ``asked``. ``options`` are those of :meth:`pychunk.Index.search`."""
    return cast("list[Hit]", index.search(**asked, **options)[0])


def text_of(hit: Hit) -> str:
    """Return the text of a hit, including the chunks around it if the search has an expansion."""
    return "\n\n".join(each.text for each in hit.around) if hit.around else hit.text


def add(
    index: Index,
    ids: Sequence[str],
    texts: Sequence[str],
    metadatas: Sequence[Mapping[str, Any]],
    *,
    vectors: Sequence[Sequence[float]] | None = None,
) -> None:
    """Add texts to an index, each as one chunk. A text whose id exists replaces the old one.

    Args:
        index: The index.
        ids: The id of each text.
        texts: The texts.
        metadatas: The metadata of each text, a dictionary of JSON values.
        vectors: The vector of each text, for an index with ``encoder=None`` and ``vectors="chunk"``.

    Raises:
        TypeError: Metadata hold a value that JSON cannot give back.
        ValueError: There is not one value for each text, or a text is blank.
    """
    for name, own in (("ids", ids), ("metadatas", metadatas), ("vectors", vectors)):
        if own is not None and len(own) != len(texts):
            raise ValueError(f"{name} must hold one value for each of {len(texts)} texts; got {len(own)}")
    blank = [row for row, text in enumerate(texts) if not text.strip()]
    if blank:
        raise ValueError(f"text {blank[0]} is blank: there is nothing in it to find: leave it out")
    last = {name: row for row, name in enumerate(ids)}  # As in a dictionary, the last of several equal ids stays.
    rows = sorted(last.values())
    ids, texts = [ids[row] for row in rows], [texts[row] for row in rows]
    metadatas = [metadatas[row] for row in rows]
    columns, mixed = _columns(index, ids, metadatas)
    options: dict[str, Any] = {}
    if vectors is not None:
        spans = [[(0, len(text))] for text in texts]
        given = {"sentence_spans": spans, "sentence_vectors": [[vectors[row]] for row in rows]}
        options = {"columns": given, "vectors": "chunk"}
    whole: dict[str, Any] = {"size": 1 << 40, "unit": "characters", "keep_together": False}
    index.add(segment(list(texts), "fixed", ids=list(ids), **whole, **options), metadata=columns)
    if mixed:
        index.user_data[MIXED] = json.dumps(mixed)


def metadata_of(values: Mapping[str, Any], own: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the metadata of a chunk from its values by column.

    Args:
        values: The values by column, such as ``Hit.metadata``.
        own: The columns of metadata, if ``values`` has others, too.
    """
    if values.get(METADATA) is not None:
        return cast("dict[str, Any]", json.loads(values[METADATA]))
    names = values if own is None else own
    return {name: values[name] for name in names if name != METADATA and values[name] is not None}


def column_of(key: str) -> str:
    """Return the name of the column that holds a key's values.

    Example:
        >>> column_of("year"), column_of("page"), column_of("metadata_page")
        ('year', 'metadata_page', 'metadata_metadata_page')
    """
    return f"{PREFIX}{key}" if key in RESERVED or key.startswith(PREFIX) else key


def where_of(index: Index, where: Any) -> Any:
    """Return a filter on keys of metadata as a filter on columns.

    Raises:
        ValueError: The filter names a key whose values are of several types, which no filter can compare.
    """
    mixed = json.loads(index.user_data.get(MIXED, "{}"))
    if isinstance(where, Mapping):
        known = set(index.schema.names)
        named = [key for key in where if key in mixed]
        where = {_known(key, known): value for key, value in where.items()}
    else:
        said = re.sub(r"'[^']*'|\"[^\"]*\"", "", str(where))
        named = [key for key in mixed if re.search(rf"(?<!\w){re.escape(column_of(key))}(?!\w)", said)]
    if named:
        one, other, name = mixed[named[0]]
        raise ValueError(
            f"a filter cannot compare metadata {named[0]!r}, which has values of type {one} and, in document {name!r}, "
            f"of type {other}: build the store again with values of one type"
        )
    return where


def _known(key: Any, columns: set[str]) -> Any:
    """Return the column of a key: an index of segmented documents has columns such as ``page`` of its own."""
    own = column_of(key) if isinstance(key, str) else key
    return own if own in columns else key


def _columns(
    index: Index, ids: Sequence[str], metadatas: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of metadata, and the keys that no filter can compare, as {key: [type, other type, id]}.

    A key has a column of the type of its first value. Values of other types are only in the JSON. So are all values of
    keys that begin with "_", which packages use for data of their own, such as a whole node.
    """
    mixed = json.loads(index.user_data.get(MIXED, "{}"))
    written = [_written(metadata, name) for name, metadata in zip(ids, metadatas, strict=True)]
    columns: dict[str, Any] = {METADATA: pa.array(written, pa.large_string())}
    known = {field.name: field.type for field in index.schema if field.name not in RESERVED}
    for key in dict.fromkeys(key for metadata in metadatas for key in metadata):
        values = [metadata.get(key) for metadata in metadatas]
        kinds = {row: kind for row, value in enumerate(values) if (kind := _kind(value))}
        name = column_of(key)
        if not kinds or name.startswith("_") or not _is_utf8(name):
            continue
        own = _kind_of(known[name]) if name in known else next(iter(kinds.values()))
        odd = [row for row, kind in kinds.items() if kind != own or kind not in TYPES]
        if odd:
            mixed.setdefault(key, [own, kinds[odd[0]], ids[odd[0]]])
        if own in TYPES:
            kept = [value if kinds.get(row) == own else None for row, value in enumerate(values)]
            broken = own == "number" and any(isinstance(value, float) for value in kept)
            columns[name] = pa.array(kept, pa.float64() if broken else TYPES[own])
    for name, kind in known.items():  # Otherwise the index keeps the values of replaced documents.
        columns.setdefault(name, pa.nulls(len(ids), kind))
    return columns, mixed


def _kind(value: Any) -> str:
    """Return the name of the type of a value that a column can hold, or "" if a filter never meets the value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number" if isinstance(value, float) or abs(value) <= EXACT else "integer above 2**53"
    if isinstance(value, str):
        return "string" if _is_utf8(value) else "string that is not UTF-8"
    is_strings = isinstance(value, list) and all(isinstance(each, str) and _is_utf8(each) for each in value)
    return "list of strings" if value and is_strings else ""


def _kind_of(kind: pa.DataType) -> str:
    """Return the name of the type of a column's values."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"
    names = {pa.bool_(): "boolean", pa.string(): "string", pa.large_string(): "string"}
    return names.get(kind, "list of strings" if kind == TYPES["list of strings"] else str(kind))


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)


def _written(metadata: Mapping[str, Any], name: str) -> str:
    """Return metadata as JSON, which has every value as it is."""
    for path, value in _values(metadata, ""):
        if not isinstance(value, (str, int, float, type(None))):
            raise TypeError(
                f"metadata of document {name!r} must be JSON: strings, numbers, booleans, None, lists and dictionaries "
                f"with keys of str; got {type(value).__name__} at {path!r:.80}: convert it, such as with str()"
            )
    return json.dumps(metadata)


def _values(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield what must be a JSON scalar: all values and keys in a value, with their paths."""
    if type(value) is list:
        for each in value:
            yield from _values(each, f"{path}[]")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            # A number as a key would come back as a string.
            yield from [] if isinstance(key, str) else [(f"{path} keys", (key,))]
            yield from _values(each, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
