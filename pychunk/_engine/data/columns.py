"""The columns of the chunk table, each declared here for the table, ``Chunk``, shards, hits and the documentation."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

#: Why a chunk ends (CutReason in csrc/segment/columns.h, in this order).
CUT_REASONS = ("end", "score", "sentence", "paragraph", "page", "size", "budget", "given", "heading", "removed")
KINDS = ("irrelevant", "relevant")
#: In a chunk table's metadata: what the ids were whose text the column holds.
ID_TYPE, UUIDS = b"pychunk.ids", b"uuid"


@dataclass(frozen=True)
class Column:
    """A column: what it says, when it is there, and who else shows it.

    Attributes:
        text: one line for a reader of the table.
        when: what it takes for the column to be there; empty: always.
        nullable: whether the engine may leave it out, which the table then shows as null.
        labels: what the engine's small numbers stand for; a negative one is null.
        in_hits: whether a hit of a search shows it.
        delta: whole numbers that grow or repeat, which Parquet stores by their differences.
    """

    name: str
    text: str
    when: str = ""
    nullable: bool = False
    labels: tuple[str, ...] = ()
    in_hits: bool = False
    delta: bool = False


def _about(text: str, **facts: Any) -> dict[str, Any]:
    return {"text": text, **facts}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFields:
    """A row of the chunk table: its columns in their order, and what is None where a column is not there."""

    document: int = field(
        metadata=_about("row of the input; over a stream it keeps counting", in_hits=True, delta=True)
    )
    id: Any = field(default=None, metadata=_about("the caller's document id", when="ids are given", in_hits=True))
    chunk: int = field(metadata=_about("position in the document", in_hits=True, delta=True))
    chunk_id: str = field(metadata=_about("128-bit hash of document id, span and text", in_hits=True))
    start: int = field(metadata=_about("first character, counted from 0", in_hits=True, delta=True))
    end: int = field(metadata=_about("one after its last character", in_hits=True, delta=True))
    start_byte: int = field(metadata=_about("the same in UTF-8", delta=True))
    end_byte: int = field(metadata=_about("the same in UTF-8", delta=True))
    line: int | None = field(
        default=None,
        metadata=_about("line of its first character, counted from 1 by line feeds", in_hits=True, delta=True),
    )
    line_end: int | None = field(default=None, metadata=_about("line of its last character", in_hits=True, delta=True))
    text: str = field(metadata=_about("the chunk: document[start:end]", in_hits=True))
    tokens: int | None = field(
        default=None,
        metadata=_about("by the encoder's tokenizer; null where nothing had to count them", nullable=True, delta=True),
    )
    overlap: int = field(default=0, metadata=_about("characters repeated from the chunk before", delta=True))
    kind: str | None = field(default=None, metadata=_about("pic: relevant or irrelevant", labels=KINDS))
    score: float | None = field(
        default=None, metadata=_about("mean of the method's scores of its sentences, or of its neighbours")
    )
    cut: str | None = field(
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
        metadata=_about("first characters of the pages that begin inside it", when="page_starts= are given"),
    )
    boxes: list[dict[str, Any]] | None = field(
        default=None,
        metadata=_about("page and sides of its blocks, in points", when="there are pages and blocks"),
    )
    parent: int | None = field(
        default=None,
        metadata=_about("chunk that it hangs on, by its position in the document", when='method="structure"'),
    )
    depth: int | None = field(
        default=None, metadata=_about("how many chunks it hangs below", when='method="structure"', delta=True)
    )
    path: list[str] | None = field(
        default=None,
        metadata=_about("the headings above it, outermost first", when='method="structure"', in_hits=True),
    )
    subtree: int | None = field(
        default=None,
        metadata=_about(
            "rows of the chunk and all that hang on it, which follow it", when='method="structure"', delta=True
        ),
    )
    part: int | None = field(
        default=None,
        metadata=_about("which part of a unit that is too long, from 1", when='method="structure"', delta=True),
    )
    parts: int | None = field(
        default=None, metadata=_about("into how many parts that was cut", when='method="structure"', delta=True)
    )
    header: str | None = field(
        default=None,
        metadata=_about(
            "the header rows of the table, or the opening fence of the code, that it continues",
            when='method="structure"',
        ),
    )
    vector: list[float] | None = field(
        default=None, metadata=_about("the chunk's, of unit length", when='vectors="chunk"')
    )
    sentences: list[dict[str, Any]] | None = field(
        default=None, metadata=_about("its sentences' spans and vectors", when='vectors="sentence"')
    )
    #: Columns of its document that were kept; no column of the table's own.
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)


COLUMNS = tuple(Column(each.name, **each.metadata) for each in fields(ChunkFields) if each.metadata)
