"""augment(): a column ``context`` for a chunk table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import compute as pc
from ..chunks.batch import ChunkBatch
from ..defaults import CONTEXTS
from ..inputs.inputs import Inputs
from ..inputs.passthrough import kept_columns
from ..inputs.texts import PartialRowError
from . import context_columns, custom, extractive_summary, lead_text, llm_contexts
from .chunk_documents import Documents

if TYPE_CHECKING:
    from ..llm import LLM

#: The column's name, and what it is made of.
CONTEXT = "context"
#: What stands between the contexts of several ways.
_BETWEEN = "\n"
_REQUIRED = ("document", "chunk", "start", "text")
#: The ways that have a name, with their options and what these are where nobody says.
WAYS: dict[str, dict[str, int]] = {
    "head": {"characters": CONTEXTS.characters},
    "title": {},
    "path": {},
    "summary": {"characters": CONTEXTS.characters, "window": CONTEXTS.ends},
    "neighbours": {"characters": CONTEXTS.characters, "window": CONTEXTS.around},
    **{name: each.usual for name, each in llm_contexts.BY_MODEL.items()},
}

How = str | Callable[..., Any] | Sequence["str | Callable[..., Any]"]


@dataclass(frozen=True)
class ContextSource:
    """One way to make contexts.

    Attributes:
        name: of :data:`WAYS`, or ``"column"``, or what a function is called. options: its own.
        column: the column, of ``column:NAME``. function: a function of one's own, or what asks a model.
    """

    name: str
    options: Mapping[str, int]
    column: str | None = None
    function: Callable[..., Any] | None = None

    def __str__(self) -> str:
        said = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"column:{self.column}" if self.name == "column" else f"{self.name}:{said}" if said else self.name

    @property
    def reads(self) -> str | None:
        """The column that it reads besides those that all chunks have."""
        return self.column or (self.name if self.name in ("title", "path") else None)

    @property
    def facts(self) -> dict[str, object] | None:
        """What a model's contexts depend on; None of other ways."""
        return self.function.facts if isinstance(self.function, llm_contexts.LLMContextSource) else None

    def contexts(
        self, documents: Documents, given: Mapping[str, Any], notes: llm_contexts.Notes, skip: bool
    ) -> pa.Array:
        """large_string[n], without nulls; to ``notes`` what a model left without an answer is added.

        With ``skip`` so is why a function failed, of documents that then have no context.
        """
        if isinstance(self.function, llm_contexts.LLMContextSource):
            written, lost = self.function.contexts(documents.each())
            notes += lost
            return pa.array([each for custom in written for each in custom], pa.large_string())
        if self.function is not None:
            return custom.contexts(documents, self.function, notes if skip else None)
        if self.reads is not None:
            return context_columns.contexts(documents, self.reads, given)
        if self.name == "neighbours":
            return pa.array(extractive_summary.neighbours(documents, **self.options), pa.large_string())
        made = extractive_summary.summaries if self.name == "summary" else lead_text.heads
        return documents.repeated(made(documents, **self.options))


def ways_of(how: How, options: Mapping[str, Any] | None = None, llm: LLM | None = None) -> tuple[ContextSource, ...]:
    """What ``how`` names; ``llm``: whom those ask whose name asks a model, by default that of the environment.

    Raises:
        ValueError: an unknown way or option; names the choices. TypeError: neither a name nor a function.

    >>> [str(way) for way in ways_of(["title", "head:characters=100", "column:section"])]
    ['title', 'head:characters=100', 'column:section']
    """
    several = list(how) if isinstance(how, (list, tuple)) else [how]
    if not several:
        raise ValueError("augment must name a way to make contexts; got an empty list")
    if options and (len(several) > 1 or callable(several[0])):
        raise ValueError(f"augment: {', '.join(options)} is an option of one way that has a name: write 'head:...=...'")
    return tuple(_way_of(each, options or {}, llm) for each in several)


def with_client(how: Any, llm: LLM) -> Any:
    """Ways, where those whose name asks a model ask this one; for options that are kept and handed on.

    >>> with_client(["title"], None)
    ['title']
    """
    if isinstance(how, (list, tuple)):
        return [with_client(each, llm) for each in how]
    return _way_of(how, {}, llm).function if isinstance(how, str) and llm_contexts.asks_model(how) else how


def client_of(ways: Sequence[ContextSource]) -> LLM | None:
    """The client that the first of the ways asks; None where none asks a model."""
    return next((way.function.llm for way in ways if isinstance(way.function, llm_contexts.LLMContextSource)), None)


def _way_of(how: Any, options: Mapping[str, Any], llm: LLM | None) -> ContextSource:
    if isinstance(how, llm_contexts.LLMContextSource):
        return ContextSource(how.name, how.options, function=how)
    if callable(how):
        return ContextSource(custom.name_of(how), {}, function=how)
    choices = f"{', '.join(WAYS)}, column:NAME, or a function"
    if not isinstance(how, str):
        raise TypeError(f"augment must be one of {choices}; got {how!r}")
    name, _, rest = how.partition(":")
    if name == "column":
        if not rest or options:
            raise ValueError(f"augment: write column:NAME; got {how!r}{' with options' if options else ''}")
        return ContextSource(name, {}, column=rest)
    if rest.split(":")[0] == "llm" and f"{name}:llm" in WAYS:
        name, rest = f"{name}:llm", rest[4:]
    if name not in WAYS:
        raise ValueError(f"augment must be one of {choices}; got {how!r}")
    said: dict[str, Any] = dict(options)
    for pair in rest.split(",") if rest else ():
        key, _, value = pair.partition("=")
        said[key.strip()] = value.strip()
    usual = WAYS[name]
    for key, value in said.items():
        if key not in usual:
            known = f"its options are {', '.join(usual)}" if usual else "it has none"
            raise ValueError(f"augment: {name} has no option {key!r}: {known}")
        said[key] = _whole(name, key, value)
    made = ContextSource(name, {**usual, **said})
    return (
        replace(made, function=llm_contexts.BY_MODEL[name](llm, **made.options))
        if name in llm_contexts.BY_MODEL
        else made
    )


def _whole(name: str, key: str, value: Any) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"augment: {name}'s {key} must be a whole number from 1; got {value!r}")
    return number


def augment(
    chunks: Any,
    how: How = "head",
    *,
    columns: Mapping[str, Any] | None = None,
    llm: LLM | None = None,
    **options: Any,
) -> Any:
    """Chunks with a column ``context``: text that an index finds them by beside their own.

    ``text``, spans and ids stay what they are; :meth:`pychunk.Index.add` counts the context's words with the chunk's,
    and no hit shows them as the document's.

    Args:
        chunks: what ``segment()`` returned, or a chunk table, the chunks of each document one after the other.
        how: ``"head"``: the first words of the document, up to 250 ``characters``; ``"title"``: its column ``title``;
            ``"path"``: the headings above the chunk; ``"summary"``: of the first and last chunks of the document, a
            ``window`` of 10 together, the most central sentences that fit 250 ``characters``; ``"neighbours"``: the
            most central sentence of the 4 chunks (``window``) around the chunk, at a document's borders of as many;
            both by sentence vectors, which are made where chunks have none; ``"summary:llm"`` and ``"context:llm"``:
            what a model writes of the same chunks, and these in place of an answer of no use, which ``errors`` says,
            or in a plain table the metadata (:mod:`pychunk.augmentation.llm_contexts`); ``"propositions:llm"``: what
            chunks state, in sentences that a model makes to be understood alone; ``"column:NAME"``: any column.
            Options are keywords, or part of the name: ``"head:characters=100"``. A function of one's own takes a list
            of :class:`~pychunk.augmentation.Document` and returns for each a string, or a list with a string a chunk.
            Of several in a list one follows the other.
        columns: columns of the documents, for ``title`` and ``column:NAME``: one value for each document that has
            chunks.
        llm: the client that ``summary:llm``, ``context:llm`` and ``propositions:llm`` ask; default: by the environment.

    Returns:
        The same type, with ``context`` as the last column: large_string, never null.

    Raises:
        ValueError: an unknown way or option, a column that is not there, chunks that have contexts already, a function
            that raises or returns too few strings; names the stage and the document.

    Example:
        >>> import pychunk
        >>> text = "Aspirin, for adults. Take it with food. Never twice a day."
        >>> chunks = pychunk.augment(pychunk.segment(text, "sentence", atoms=False), "head", characters=24)
        >>> [(chunk.text, context) for chunk, context in zip(chunks, chunks.table["context"].to_pylist())][1]
        ('Take it with food.', 'Aspirin, for adults.')
    """
    return with_contexts(chunks, ways_of(how, options, llm), columns or {})


def with_contexts(chunks: Any, ways: Sequence[ContextSource], given: Mapping[str, Any], *, skip: bool = False) -> Any:
    """:func:`augment` by ways that were read; with ``skip`` documents for which a function fails have no context.

    Raises:
        TypeError, ValueError: as :func:`augment`.
    """
    table = chunks.table if isinstance(chunks, ChunkBatch) else chunks if isinstance(chunks, pa.Table) else None
    if table is None:
        if not hasattr(chunks, "__arrow_c_stream__"):
            raise TypeError(f"augment takes chunks as segment() returns them, or an Arrow table; got {type(chunks)}")
        table = pa.table(chunks)
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        raise ValueError(f"a chunk table has the columns {', '.join(_REQUIRED)}; missing: {', '.join(missing)}")
    if CONTEXT in table.column_names:
        raise ValueError("augment: the chunks have a column 'context' already: drop it, or name it another way")
    documents = Documents.of(table)
    values = {name: _of_chunks(name, value, documents) for name, value in given.items()}
    notes: llm_contexts.Notes = []
    made = [way.contexts(documents, values, notes, skip) for way in ways]
    context = made[0] if len(made) == 1 else _joined(made)
    facts = dict(table.schema.metadata or {})
    known = json.loads(facts.get(b"pychunk", b"{}"))
    known |= {"augment": [str(way) for way in ways]}
    models = {way.name: way.facts for way in ways if way.facts is not None}
    known |= {"augment_llm": models} if models else {}
    known |= {"augment_instead": len(notes)} if notes and not isinstance(chunks, ChunkBatch) else {}
    facts[b"pychunk"] = json.dumps(known).encode()
    table = table.append_column(CONTEXT, context).replace_schema_metadata(facts)
    if not isinstance(chunks, ChunkBatch):
        return table
    return chunks.with_table(table, [PartialRowError(row, note) for row, note in notes])


def with_contexts_of(chunks: ChunkBatch, ways: Sequence[ContextSource], inputs: Inputs) -> ChunkBatch:
    """:func:`with_contexts` of chunks of these inputs, for which columns are read that no chunk repeats."""
    names = {way.reads for way in ways}.difference(chunks.table.column_names, ["path"])  # of headings alone
    values = kept_columns([name for name in inputs.texts.column_names if name in names], inputs.texts)
    document = np.asarray(chunks.table["document"], np.int64) - chunks.first_document
    rows = pa.array(document[np.append(True, document[1:] != document[:-1])[: len(document)]])
    given = {name: value.take(rows) for name, value in values.items()}
    found: ChunkBatch = with_contexts(chunks, ways, given, skip=inputs.skips)
    return found


def _of_chunks(name: str, values: Any, documents: Documents) -> Any:
    """A column of documents on their chunks."""
    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(list(values))
    if len(column) != len(documents):
        raise ValueError(
            f"augment: the column {name!r} must have a value for each of the {len(documents)} documents that have "
            f"chunks; got {len(column)}"
        )
    return column.take(pa.array(documents.of_chunks))


def _joined(made: list[pa.Array]) -> pa.Array:
    """Contexts one after the other, without empty lines."""
    blank = pa.scalar("", pa.large_string())
    found = made[0]
    for each in made[1:]:
        both = pc.and_(pc.not_equal(found, blank), pc.not_equal(each, blank))
        between = pc.if_else(both, pa.scalar(_BETWEEN, pa.large_string()), blank)
        found = pc.binary_join_element_wise(found, between, each, blank)
    return found
