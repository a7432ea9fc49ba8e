"""The columns of the chunk table, declared once for the table, ``Chunk``, shards, hits and the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

#: The reasons why a chunk ends, in the order of CutReason in csrc/segment/columns.h.
CUT_REASONS = ("end", "score", "sentence", "paragraph", "page", "size", "budget", "given", "heading", "removed")
KINDS = ("irrelevant", "relevant")
#: A key and its value in a chunk table's metadata, which say that the ids were UUIDs before they were stored as text.
ID_TYPE, UUIDS = b"pychunk.ids", b"uuid"


@dataclass(frozen=True)
class Column:
    """A column of the chunk table.

    Attributes:
        text: One line that explains the column to a reader of the table.
        when: The condition under which the table has the column. Empty means always.
        nullable: Whether the engine may return no values for the column, which is then null in every row.
        labels: The values of the column if the engine returns positions in this list; a negative position means null.
        in_hits: Whether a hit of a search shows the column.
        delta: Whether Parquet stores the differences of values, because they are integers that grow or repeat.
    """

    name: str
    text: str
    when: str = ""
    nullable: bool = False
    labels: tuple[str, ...] = ()
    in_hits: bool = False
    delta: bool = False


#: The condition for columns about the tree of headings.
_HEADINGS = 'method="structure", or documents have blocks'


def _about(text: str, **facts: Any) -> dict[str, Any]:
    return {"text": text, **facts}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFields:
    """A row of the chunk table: the columns in their order, with defaults for columns that a table may lack."""

    document_index: int = field(
        metadata=_about("row of the input; over a stream it keeps counting", in_hits=True, delta=True)
    )
    document_id: Any = field(
        default=None, metadata=_about("the caller's document id", when="ids are given", in_hits=True)
    )
    chunk_index: int = field(metadata=_about("position in the document", in_hits=True, delta=True))
    chunk_id: str = field(metadata=_about("128-bit hash of document id, span and text", in_hits=True))
    text_id: str = field(
        default="", metadata=_about("128-bit hash of document id, text and number among equal texts", in_hits=True)
    )
    start: int = field(metadata=_about("first character, counted from 0", in_hits=True, delta=True))
    end: int = field(metadata=_about("one after its last character", in_hits=True, delta=True))
    start_byte: int = field(metadata=_about("first byte in UTF-8, counted from 0", delta=True))
    end_byte: int = field(metadata=_about("one after its last byte in UTF-8", delta=True))
    line: int | None = field(
        default=None,
        metadata=_about("line of its first character, counted from 1 by line feeds", in_hits=True, delta=True),
    )
    end_line: int | None = field(default=None, metadata=_about("line of its last character", in_hits=True, delta=True))
    text: str = field(metadata=_about("the chunk: document[start:end]", in_hits=True))
    tokens: int | None = field(
        default=None,
        metadata=_about("number of tokens by the encoder's tokenizer; null if not counted", nullable=True, delta=True),
    )
    overlap: int = field(default=0, metadata=_about("characters repeated from the chunk before", delta=True))
    relevance: str | None = field(default=None, metadata=_about("method pic: relevant or irrelevant", labels=KINDS))
    score: float | None = field(
        default=None, metadata=_about("mean of the method's scores of its sentences, or of pairs of neighbours")
    )
    end_reason: str | None = field(
        default=None, metadata=_about("why the chunk ends: " + ", ".join(CUT_REASONS), labels=CUT_REASONS)
    )
    page: int | None = field(
        default=None,
        metadata=_about("page of its first character, from 1", when="there are pages", in_hits=True, delta=True),
    )
    page_end: int | None = field(
        default=None,
        metadata=_about("page of its last character", when="there are pages", in_hits=True, delta=True),
    )
    page_breaks: list[int] | None = field(
        default=None,
        metadata=_about("first characters of the pages that begin inside it", when="there are page_starts"),
    )
    boxes: list[dict[str, Any]] | None = field(
        default=None,
        metadata=_about("page and sides of its blocks, in points", when="there are pages and blocks"),
    )
    holes: list[dict[str, int]] | None = field(
        default=None,
        metadata=_about(
            "spans of the removed text inside it", when="it is a node of levels with removed spans", in_hits=True
        ),
    )
    parent: int | None = field(
        default=None,
        metadata=_about("position in the document of its parent chunk", when=_HEADINGS),
    )
    depth: int | None = field(default=None, metadata=_about("number of its ancestors", when=_HEADINGS, delta=True))
    path: list[str] | None = field(
        default=None,
        metadata=_about("the headings above it, outermost first", when=_HEADINGS, in_hits=True),
    )
    sections: list[list[str]] | None = field(
        default=None,
        metadata=_about(
            "the paths of all sections whose text it holds, in order; [] before all headings",
            when=_HEADINGS,
            in_hits=True,
        ),
    )
    subtree: int | None = field(
        default=None,
        metadata=_about("rows of the chunk and all its descendants, which follow it", when=_HEADINGS, delta=True),
    )
    part: int | None = field(
        default=None,
        metadata=_about("number of this part of a unit that is too long, from 1", when=_HEADINGS, delta=True),
    )
    parts: int | None = field(default=None, metadata=_about("number of parts of that unit", when=_HEADINGS, delta=True))
    header: str | None = field(
        default=None,
        metadata=_about(
            "the header rows of the table, or the opening fence or signature of the code, that it continues",
            when=_HEADINGS,
            in_hits=True,
        ),
    )
    vector: list[float] | None = field(
        default=None, metadata=_about("the chunk's vector, of unit length", when='vectors="chunk"')
    )
    sentences: list[dict[str, Any]] | None = field(
        default=None, metadata=_about("spans and vectors of its sentences", when='vectors="sentence"')
    )
    #: The values of ``metadata_columns`` for the chunk's document. The table has no column of the name "metadata".
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)


COLUMNS = tuple(Column(each.name, **each.metadata) for each in fields(ChunkFields) if each.metadata)

#: The current names of columns of chunk tables and hierarchies, by the names that older versions wrote.
FORMER = {
    "document": "document_index",
    "id": "document_id",
    "chunk": "chunk_index",
    "kind": "relevance",
    "cut": "end_reason",
    "line_end": "end_line",
}


def current_names(names: list[str]) -> list[str]:
    """Return the current names of the columns of a table of chunks or nodes.

    If an old table has a column of the user with a name that is now pychunk's, it gets an underscore at its end.

    Example:
        >>> current_names(["document", "chunk", "start", "text", "relevance", "kind"])
        ['document_index', 'chunk_index', 'start', 'text', 'relevance_', 'relevance']
        >>> current_names(["document_index", "chunk_index", "document", "chunk"])
        ['document_index', 'chunk_index', 'document', 'chunk']
    """
    has_new_names = "document_index" in names and ("chunk_index" in names or "chunk" not in names)
    if "document" not in names or has_new_names:
        return names
    new = {FORMER[name] for name in names if name in FORMER}
    return [FORMER.get(name) or (f"{name}_" if name in new else name) for name in names]
