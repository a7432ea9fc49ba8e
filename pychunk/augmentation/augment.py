"""The function augment(), which adds a column ``context`` to a chunk table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .._engine.arrow import compute as pc
from .._engine.arrow import with_current_names
from .._util.counting import counted
from ..chunks.batch import ChunkBatch
from ..defaults import CONTEXTS
from ..inputs.inputs import Inputs
from ..inputs.passthrough import kept_columns
from ..inputs.texts import PartialRowError
from . import context_columns, custom, extractive_summary, lead_text, llm_contexts
from .chunk_documents import Documents

if TYPE_CHECKING:
    from ..llm import LLM

#: The name of the column that :func:`augment` adds.
CONTEXT = "context"
#: The name of the column that it adds for sources of propositions.
PROPOSITIONS = "propositions"
_LISTS = pa.large_list(pa.large_string())
#: The text between the contexts of several sources.
_BETWEEN = "\n"
_REQUIRED = ("document_index", "chunk_index", "start", "text")
#: The sources that have a name, with the default values of their options.
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
    """A source of contexts.

    Attributes:
        name: A name in :data:`WAYS`, or ``"column"``, or the name of a function.
        options: The options of the source.
        column: The NAME in ``column:NAME``, or None for other sources.
        function: A function of the caller, or one that asks an LLM.
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
        """The column that the source reads in addition to the columns that every chunk table has, or None."""
        return self.column or (self.name if self.name in ("title", "path") else None)

    @property
    def has_propositions(self) -> bool:
        """True if each line of a context is a proposition."""
        return isinstance(self.function, llm_contexts.LLMPropositionSource)

    @property
    def facts(self) -> dict[str, object] | None:
        """The facts about client and prompt on which the contexts of an LLM depend. None for sources without an LLM."""
        return self.function.facts if isinstance(self.function, llm_contexts.LLMContextSource) else None

    def contexts(
        self, documents: Documents, given: Mapping[str, Any], notes: llm_contexts.Notes, skip: bool
    ) -> pa.Array:
        """Return the context of each of the n chunks, as large_string[n] without nulls.

        Args:
            documents: The documents with their chunks.
            given: The caller's columns by name. Each has one value for each chunk, which is the value of its document.
            notes: Receives a note for each document for which an LLM gave no usable answer.
            skip: If true, ``notes`` also receives the error of a function that fails, and its document gets no context.
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
    """Return the sources that ``how`` names.

    Args:
        how: A name, a function, or a list of these.
        options: The options of a single source with a name.
        llm: The client for sources that ask an LLM; the default is the one that the environment describes.

    Raises:
        ValueError: A source or an option is unknown. The message lists the choices.
        TypeError: A source is neither a name nor a function.

    >>> [str(way) for way in ways_of(["title", "head:characters=100", "column:section"])]
    ['title', 'head:characters=100', 'column:section']
    """
    several = list(how) if isinstance(how, (list, tuple)) else [how]
    if not several:
        raise ValueError("augment must name a source of contexts, such as 'title'; got an empty list")
    if options and (len(several) > 1 or callable(several[0])):
        raise ValueError(
            f"augment: the option {', '.join(options)} needs a single source that is named; got {how!r:.80}: write it "
            "into a source's name, as in 'head:characters=100'"
        )
    return tuple(_way_of(each, options or {}, llm) for each in several)


def with_client(how: Any, llm: LLM) -> Any:
    """Return ``how``, in which each name of a source that asks an LLM is replaced by that source, with this client.

    >>> with_client(["title"], None)
    ['title']
    """
    if isinstance(how, (list, tuple)):
        return [with_client(each, llm) for each in how]
    return _way_of(how, {}, llm).function if isinstance(how, str) and llm_contexts.asks_model(how) else how


def client_of(ways: Sequence[ContextSource]) -> LLM | None:
    """Return the client of the first source that asks an LLM, or None if no source does."""
    return next((way.function.llm for way in ways if isinstance(way.function, llm_contexts.LLMContextSource)), None)


def _way_of(how: Any, options: Mapping[str, Any], llm: LLM | None) -> ContextSource:
    if isinstance(how, llm_contexts.LLMContextSource):
        return ContextSource(how.name, how.options, function=how)
    if callable(how):
        return ContextSource(custom.name_of(how), {}, function=how)
    choices = f"{', '.join(WAYS)}, column:NAME, or a function"
    if not isinstance(how, str):
        raise TypeError(f"augment must be one of {choices}; got {how!r:.80}")
    name, _, rest = how.partition(":")
    if name == "column":
        if not rest or options:
            wrong = "takes no options: leave them out" if rest else "lacks the name of the column: write column:NAME"
            raise ValueError(f"augment={how!r:.80} {wrong}")
        return ContextSource(name, {}, column=rest)
    if rest.split(":")[0] == "llm" and f"{name}:llm" in WAYS:
        name, rest = f"{name}:llm", rest[4:]
    if name not in WAYS:
        raise ValueError(f"augment must be one of {choices}; got {how!r:.80}")
    said: dict[str, Any] = dict(options)
    for pair in rest.split(",") if rest else ():
        key, _, value = pair.partition("=")
        said[key.strip()] = value.strip()
    usual = WAYS[name]
    for key, value in said.items():
        if key not in usual:
            known = f"choose from {', '.join(map(repr, usual))}" if usual else "it has none, so leave it out"
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
        raise ValueError(f"augment: {name}'s {key} must be a whole number from 1; got {value!r:.80}")
    return number


def augment(
    chunks: Any,
    how: How = "head",
    *,
    columns: Mapping[str, Any] | None = None,
    llm: LLM | None = None,
    **options: Any,
) -> Any:
    """Return chunks with a column ``context``: text that an index searches in addition to the chunk's own.

    ``text``, spans and ids do not change. :meth:`pychunk.Index.add` indexes contexts with BM25 and vectors. BM25 counts
    the words of the context together with those of the chunk. Each stored vector of the chunk includes the vector of
    the context, with a weight of 0.3. The text of a hit does not contain the context.

    ``how`` is the source of the contexts, or a list of sources. The contexts of several sources follow one another. The
    sources are:

    - ``"head"``: the first words of the document, up to 250 ``characters``.
    - ``"title"``: the document's column ``title``.
    - ``"path"``: the headings above the chunk.
    - ``"summary"``: the most central sentences of the document's first and last chunks, as many as fit into 250
      ``characters``. Together, 10 chunks (``window``) are read.
    - ``"neighbours"``: the most central sentence of the 4 other chunks (``window``) around the chunk. Near the start or
      end of a document, more of the 4 come from the other side.
    - ``"summary:llm"`` and ``"context:llm"``: a text that an LLM writes after reading the same chunks as ``"summary"``
      or ``"neighbours"``. If an answer is not usable, the text of ``"summary"`` or ``"neighbours"`` replaces it.
      ``ChunkBatch.errors`` names the document; for a plain table, the metadata holds the number of such documents
      (:mod:`pychunk.augmentation.llm_contexts`).
    - ``"propositions:llm"``: the facts that a chunk states. An LLM writes each as a sentence that can be understood
      without the chunk. They are also in the column ``propositions``, a list of strings for each chunk. In an index
      with vectors of sentences, each of them finds the chunk by a vector of its own.
    - ``"column:NAME"``: any column of the chunks or of ``columns``.

    ``"summary"`` and ``"neighbours"`` use sentence vectors, which are computed if chunks have none. Options are
    keywords, or part of the name: ``"head:characters=100"``. A function of your own takes a list of
    :class:`~pychunk.augmentation.Document`. For each document it returns one string for all chunks, or a list with a
    string for each chunk.

    Args:
        chunks: The result of ``segment()``, or a chunk table in which the chunks of each document follow one another.
        how: The source of the contexts, or a list of sources.
        columns: Columns of the documents, for ``title`` and ``column:NAME``, with one value for each document that has
            chunks.
        llm: The client that ``summary:llm``, ``context:llm`` and ``propositions:llm`` ask; the default is the one that
            the environment describes.
        **options: Options of a single source.

    Returns:
        The chunks in the type in which they were passed, with ``context`` as the last column: large_string, never null.
        With ``propositions:llm``, the column before it is ``propositions``.

    Raises:
        ValueError: A source or an option is unknown, a column does not exist, chunks already have contexts, or a
            function raises or returns too few strings. The message names the stage and the document.

    Example:
        >>> import pychunk
        >>> text = "Aspirin, for adults. Take it with food. Never twice a day."
        >>> chunks = pychunk.augment(pychunk.segment(text, "sentence", keep_together=False), "head", characters=24)
        >>> [(chunk.text, context) for chunk, context in zip(chunks, chunks.table["context"].to_pylist())][1]
        ('Take it with food.', 'Aspirin, for adults.')
    """
    return with_contexts(chunks, ways_of(how, options, llm), columns or {})


def facts_of(ways: Sequence[ContextSource]) -> dict[str, object]:
    """Return the facts about the sources of contexts that the metadata of a chunk table holds."""
    models = {way.name: way.facts for way in ways if way.facts is not None}
    return {"augment": [str(way) for way in ways], **({"augment_llm": models} if models else {})}


def with_contexts(chunks: Any, ways: Sequence[ContextSource], given: Mapping[str, Any], *, skip: bool = False) -> Any:
    """Return chunks with contexts, as :func:`augment` does, from sources that are already parsed.

    With ``skip``, a function that fails raises no error. Its documents get an empty context and a note.

    Raises:
        TypeError, ValueError: See :func:`augment`.
    """
    table = chunks.table if isinstance(chunks, ChunkBatch) else chunks if isinstance(chunks, pa.Table) else None
    if table is None:
        if not hasattr(chunks, "__arrow_c_stream__"):
            raise TypeError(f"augment takes chunks as segment() returns them, or an Arrow table; got {type(chunks)}")
        table = pa.table(chunks)
    table = with_current_names(table)
    missing = [name for name in _REQUIRED if name not in table.column_names]
    if missing:
        raise ValueError(f"a chunk table must have the columns {', '.join(_REQUIRED)}; missing: {', '.join(missing)}")
    if CONTEXT in table.column_names:
        raise ValueError("augment: the chunks already have a column 'context': drop or rename it")
    known_lists = _propositions_of(table) if any(way.has_propositions for way in ways) else []
    documents = Documents.of(table)
    values = {name: _of_chunks(name, value, documents) for name, value in given.items()}
    notes: llm_contexts.Notes = []
    made = [way.contexts(documents, values, notes, skip) for way in ways]
    context = made[0] if len(made) == 1 else _joined(made)
    lists = [made[place] for place, way in enumerate(ways) if way.has_propositions]
    if lists:
        table = _with_propositions(table, known_lists, lists)
    facts = dict(table.schema.metadata or {})
    known = json.loads(facts.get(b"pychunk", b"{}"))
    known |= facts_of(ways)
    known |= {"augment_instead": len(notes)} if notes and not isinstance(chunks, ChunkBatch) else {}
    facts[b"pychunk"] = json.dumps(known).encode()
    table = table.append_column(CONTEXT, context).replace_schema_metadata(facts)
    if not isinstance(chunks, ChunkBatch):
        return table
    return chunks.with_table(table, [PartialRowError(row, note) for row, note in notes])


def with_contexts_of(chunks: ChunkBatch, ways: Sequence[ContextSource], inputs: Inputs) -> ChunkBatch:
    """Return chunks with contexts. Columns that the chunks lack are read from the documents in ``inputs``."""
    # The column "path" is never read from the inputs, because it comes only from the headings of a document.
    names = {way.reads for way in ways}.difference(chunks.table.column_names, ["path"])
    values = kept_columns([name for name in inputs.texts.column_names if name in names], inputs.texts)
    document = np.asarray(chunks.table["document_index"], np.int64) - chunks.first_document
    rows = pa.array(document[np.append(True, document[1:] != document[:-1])[: len(document)]])
    given = {name: value.take(rows) for name, value in values.items()}
    found: ChunkBatch = with_contexts(chunks, ways, given, skip=inputs.skips)
    return found


def _of_chunks(name: str, values: Any, documents: Documents) -> Any:
    """Return a column with one value for each chunk, from one with a value for each document."""
    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(list(values))
    if len(column) != len(documents):
        raise ValueError(
            f"augment: the column {name!r} must have one value for each document that has chunks; got "
            f"{counted(len(column), 'value')} for {counted(len(documents), 'document')}"
        )
    return column.take(pa.array(documents.of_chunks))


def _propositions_of(table: pa.Table) -> list[list[str]]:
    """Return the propositions that chunks already have. This is checked before an LLM is asked.

    Raises:
        ValueError: The table has a column of that name that does not hold lists of strings.
    """
    at = table.schema.get_field_index(PROPOSITIONS)
    if at < 0:
        return [[] for _ in range(table.num_rows)]
    kind = table.schema.field(at).type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if not lists or not any(own(kind.value_type) for own in strings):
        raise ValueError(
            f"augment: the chunks already have a column {PROPOSITIONS!r} of type {kind}, which is no list of strings: "
            "drop or rename it"
        )
    return [list(own or ()) for own in table[PROPOSITIONS].to_pylist()]


def _with_propositions(table: pa.Table, known: list[list[str]], contexts: list[pa.Array]) -> pa.Table:
    """Return the table with a column of propositions: those that are known, then the lines of contexts, each once."""
    for context in contexts:
        for own, text in zip(known, context.to_pylist(), strict=True):
            own += [line for line in text.split("\n") if line and line not in own]
    if PROPOSITIONS in table.column_names:
        table = table.drop_columns([PROPOSITIONS])
    return table.append_column(PROPOSITIONS, pa.array(known, _LISTS))


def _joined(made: list[pa.Array]) -> pa.Array:
    """Return contexts joined one after the other, without empty lines."""
    blank = pa.scalar("", pa.large_string())
    found = made[0]
    for each in made[1:]:
        both = pc.and_(pc.not_equal(found, blank), pc.not_equal(each, blank))
        between = pc.if_else(both, pa.scalar(_BETWEEN, pa.large_string()), blank)
        found = pc.binary_join_element_wise(found, between, each, blank)
    return found
