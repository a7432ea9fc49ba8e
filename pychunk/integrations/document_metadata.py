"""The metadata of other packages' documents: the Segmenter's arguments about each document, and facts about chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..chunks.batch import Chunk
from ..chunks.render import BETWEEN
from ..inputs.document_columns import columns_by_role, wanted_columns
from ..io.markup import Markup, parse
from ..io.source import open_source
from ..placement import Placement
from ..segmenter import Segmenter
from ..vectors import Vectors

#: The key of metadata with the structure that a reader found in a document, by role: see :func:`pychunk.segment`.
STRUCTURE = "pychunk_structure"
_ROLES = ("blocks", "removed", "page_starts")


class Loaded(NamedTuple):
    """A document that was read from a file, with its id and metadata."""

    id: str
    text: str
    metadata: dict[str, Any]


def loaded(path: str | Path | Sequence[str | Path], options: Mapping[str, Any]) -> Iterator[Loaded]:
    """Yield the documents of files, with metadata for :func:`chunks_of`.

    The metadata have the file as ``source``, the ``title`` if the file has one, and the other columns of the file.
    :data:`STRUCTURE` has the headings, pages and removed spans that the reader found.

    Args:
        path: See :func:`pychunk.io.open_source`.
        options: Options of :func:`pychunk.io.open_source`.
    """
    for batch in open_source(path, **options).batches():
        for row in batch.table.to_pylist():
            own = {name: value for name, value in row.items() if value is not None}
            name, text, file = (own.pop(each) for each in ("id", "text", "file"))
            structure = {role: own.pop(role) for role in _ROLES if role in own}
            yield Loaded(name, text, {"source": file, **own, **({STRUCTURE: structure} if structure else {})})


def chunks_of(
    segmenter: Segmenter,
    texts: Sequence[str],
    metadatas: Sequence[Mapping[Any, Any]],
    *,
    keys: Mapping[str, str],
    markup: Markup | None,
    ids: Sequence[str] | None,
    **options: Any,
) -> list[list[Chunk]]:
    """Return the chunks of each document, from one native call for all documents whose metadata have the same roles.

    Args:
        segmenter: The Segmenter.
        texts: The texts.
        metadatas: The metadata of each text. A document with :data:`STRUCTURE` is not parsed again.
        keys: The result of :func:`keys_of`.
        markup: The markup of the texts, or None for plain text.
        ids: The id of each document.
        **options: Options of the call of the Segmenter.
    """
    found: list[list[Chunk]] = [[] for _ in texts]
    groups: dict[tuple[str, ...], list[int]] = {}
    for row, metadata in enumerate(metadatas):
        groups.setdefault(tuple(metadata.get(STRUCTURE) or ()), []).append(row)
    for roles, rows in groups.items():
        own = [metadatas[row] for row in rows]
        said = said_of(segmenter, keys, own)
        said.update({role: [metadata[STRUCTURE][role] for metadata in own] for role in roles})
        batch = segmenter(
            parsed([texts[row] for row in rows], None if roles else markup),
            columns=said,
            ids=None if ids is None else [ids[row] for row in rows],
            **options,
        )
        for row, chunks in zip(rows, batch.by_document(), strict=True):
            found[row] = list(chunks)
    return found


def described(metadata: Mapping[Any, Any], chunk: Chunk) -> dict[Any, Any]:
    """Return a document's metadata with the headings and pages of a chunk.

    ``path`` has the headings above the chunk, joined by " > ", because many stores take no lists. ``page`` and
    ``page_end`` are its first and last page. A key of the document stays as it is.
    """
    facts = {"path": BETWEEN.join(chunk.path or ()) or None, "page": chunk.page, "page_end": chunk.page_end}
    found = {name: value for name, value in metadata.items() if name != STRUCTURE}
    return {**{name: value for name, value in facts.items() if value is not None}, **found}


def keys_of(options: dict[str, Any]) -> dict[str, str]:
    """Remove the option ``columns`` from an adapter's options, and return its keys of the metadata by role.

    Raises:
        TypeError: A role has a value that is not the name of a key.
        ValueError: A role is unknown, or it is ``text``, which documents of these packages hold themselves.
    """
    keys = columns_by_role(options.pop("columns", None))
    if "text" in keys:
        raise ValueError(
            f"columns must not name the text, which each document holds itself; got text={keys['text']!r:.80}: leave "
            "it out"
        )
    for name, key in keys.items():
        if not isinstance(key, str):
            raise TypeError(f"{name} must be a key of the documents' metadata; got {type(key).__name__}")
    return keys


def restored(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return an adapter's options, with the objects that its stored form holds as dictionaries restored."""
    kinds = {"placement": Placement, "vectors": Vectors}
    return {
        name: kinds[name](**value) if name in kinds and isinstance(value, Mapping) else value
        for name, value in options.items()
    }


def parsed(texts: list[str], markup: Markup | None) -> Any:
    """Return texts as a Segmenter takes them, with the structure of their markup if there is one."""
    return texts if markup is None else parse(texts, markup)


def said_of(made: Segmenter, keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> Any:
    """Return the argument ``columns`` for a call of the Segmenter: by role, one value for each document.

    A key that the method looks for by default, such as ``title``, is used if every document has it.

    Raises:
        ValueError: A document lacks a key that was named.
    """
    shared = set.intersection(*map(set, metadatas)) if metadatas else set()
    return values_of(wanted_columns(made.method.wants, shared, keys), metadatas)


def values_of(keys: Mapping[str, str], metadatas: Sequence[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the values of keys of the metadata by the keys' roles, one for each document.

    Raises:
        ValueError: A document lacks a key.
    """
    found: dict[str, list[Any]] = {}
    for name, key in keys.items():
        missing = [row for row, metadata in enumerate(metadatas) if key not in metadata]
        if missing:
            keys_there = ", ".join(map(str, metadatas[missing[0]]))
            has = f"its keys are {keys_there:.200}" if keys_there else "it has no keys"
            raise ValueError(
                f"{name}={key!r}: document {missing[0]} has no such key in its metadata; {has}: add the key, or name "
                "one that all documents have"
            )
        found[name] = [metadata[key] for metadata in metadatas]
    return found
