"""The columns of the chunk table, each declared here for the table, shards, hits and the documentation."""

from __future__ import annotations

from dataclasses import dataclass

#: Why a chunk ends (CutReason in csrc/columns.h, in this order).
CUT_REASONS = ("end", "score", "sentence", "paragraph", "page", "size", "budget", "given")
KINDS = ("irrelevant", "relevant")


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


COLUMNS = (
    Column("document", "row of the input; over a stream it keeps counting", in_hits=True, delta=True),
    Column("id", "the caller's document id", when="ids are given", in_hits=True),
    Column("chunk", "position in the document", in_hits=True, delta=True),
    Column("chunk_id", "128-bit hash of document id, span and text", in_hits=True),
    Column("start", "first character, counted from 0", in_hits=True, delta=True),
    Column("end", "one after its last character", in_hits=True, delta=True),
    Column("start_byte", "the same in UTF-8", delta=True),
    Column("end_byte", "the same in UTF-8", delta=True),
    Column("line", "line of its first character, counted from 1 by line feeds", in_hits=True, delta=True),
    Column("line_end", "line of its last character", in_hits=True, delta=True),
    Column("text", "the chunk: document[start:end]", in_hits=True),
    Column("tokens", "by the encoder's tokenizer; null where nothing had to count them", nullable=True, delta=True),
    Column("overlap", "characters repeated from the chunk before", delta=True),
    Column("kind", "pic: relevant or irrelevant", labels=KINDS),
    Column("score", "mean of the method's scores of its sentences, or of its neighbours"),
    Column("cut", "why the chunk ends: " + ", ".join(CUT_REASONS), labels=CUT_REASONS),
    Column("page", "page of its first character, from 1", when="there are pages", in_hits=True, delta=True),
    Column("page_end", "page of its last character", when="there are pages", in_hits=True, delta=True),
    Column("vector", "the chunk's, of unit length", when='vectors="chunk"'),
    Column("sentences", "its sentences' spans and vectors", when='vectors="sentence"'),
)
