"""A batch of documents at several levels: the sentences of each node, the nesting of nodes, and vectors."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engine.arrow import flat_text
from .._engine.data.cuts import Cuts
from .._engine.data.ragged import offsets_of
from .._util.counting import counted
from .._util.lazy_imports import by_name
from .level_names import Level
from .removed_sentences import Holes, KeptSentences, holes_of

if TYPE_CHECKING:
    from os import PathLike

    import numpy.typing as npt
    import pyarrow as pa

    from ..chunks.batch import ChunkBatch

    I64 = npt.NDArray[np.int64]
    I8 = npt.NDArray[np.int8]
    F32 = npt.NDArray[np.float32]
    Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    r"""A hierarchy of k documents with n sentences at L levels, from fine to coarse, in flat arrays.

    At each level the nodes cover every document that has a sentence, without gaps or overlap. Each node holds whole
    nodes of the finer level. A node with a single child is the same node as that child, at one more level. It is stored
    once, with a range of levels.

    Removed spans are sentences, too, but they count as no text. Their sentences have no tokens and are in no vector. No
    node begins with one, except the first node of a document and the sentence itself. A node is the same node as its
    child if all other children are removed sentences.

    Attributes:
        levels: The names of levels, or numbers of tokens. The finest is ``"sentence"``.
        doc_offsets: The first sentence of each document, then n, int64[k + 1].
        sentence_bytes: The first byte of each sentence, counted in its document, int64[n]. The sentences cover the
            document without gaps.
        firsts: For each level, the first sentence of each of its m nodes, then n, int64[m + 1].
        texts: The documents, large_string[k].
        tokens: The token count of each sentence, int64[n], or None if nothing had to count tokens.
        stored_vectors: For each level, the vectors of its s nodes that are at no finer level, float32[s, d]. None if
            there are no vectors. A node of several sentences has the vector of a chunk of the same sentences, or the
            vector that the requested pooling computed from the sentences.
        ids: The caller's ids, one for each document, or None.
        first_document: The row of the first document.
        metadata: The metadata of a chunk table: the method, the options, and the fingerprints of the encoder and
            compressor.
        removed: Whether each sentence is removed, bool[n], or None if no sentence is.

    Example:
        >>> import pychunk
        >>> text = "Cats purr. They sleep.\n\nDogs bark."
        >>> found = pychunk.segment_levels(text, ["sentence", "paragraph", "document"])
        >>> found.texts_of("paragraph"), found.parents("sentence").tolist()
        (['Cats purr. They sleep.', 'Dogs bark.'], [0, 0, 1])
        >>> found.children("document").tolist(), len(found)  # the second paragraph is its only sentence
        ([0, 2], 5)
    """

    levels: tuple[Level, ...]
    doc_offsets: I64
    sentence_bytes: I64
    firsts: tuple[I64, ...]
    texts: pa.LargeStringArray
    tokens: I64 | None = None
    stored_vectors: tuple[F32, ...] | None = None
    ids: pa.Array | None = None
    first_document: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    removed: Flags | None = None

    def __len__(self) -> int:
        """Return the number of nodes, each counted once, whatever its levels."""
        return int(self._bases[-1])

    def __repr__(self) -> str:
        counts = ", ".join(f"{level}: {self.count(level):,}" for level in self.levels)
        return f"<Hierarchy of {counted(self.documents, 'document')}; {counts}{', with vectors' * self.has_vectors}>"

    @property
    def documents(self) -> int:
        """The number of documents, including blank documents."""
        return len(self.doc_offsets) - 1

    @property
    def has_vectors(self) -> bool:
        """True if the nodes have vectors."""
        return self.stored_vectors is not None

    def place(self, level: Any) -> int:
        """Return the position of a level in ``levels``, from 0.

        Raises:
            ValueError: There is no such level. The message names the levels that exist.
        """
        wanted = int(level) if isinstance(level, str) and level.isascii() and level.isdigit() else level
        if isinstance(wanted, bool) or wanted not in self.levels:
            raise ValueError(
                f"no level {level!r} here; the levels are {', '.join(map(str, self.levels))}: name one of them"
            )
        return self.levels.index(wanted)

    def count(self, level: Level) -> int:
        """Return the number of nodes of a level."""
        return len(self.firsts[self.place(level)]) - 1

    def first(self, level: Level) -> I64:
        """Return the first sentence of each of the m nodes of a level, then n, int64[m + 1]."""
        return self.firsts[self.place(level)]

    def documents_of(self, level: Level) -> I64:
        """Return the document of each node, as a row of the input, int64[m]."""
        rows = np.searchsorted(self.doc_offsets, self.first(level)[:-1], "right") - 1
        out: I64 = rows + self.first_document
        return out

    def children(self, level: Level) -> I64:
        """Return the offsets of the children of the m nodes of a level, int64[m + 1].

        Node i has the nodes from ``offsets[i]`` up to, but not including, ``offsets[i + 1]`` of the next finer level.

        Raises:
            ValueError: The level is the finest.
        """
        place = self.place(level)
        if place == 0:
            others = f"name {_one_of(self.levels[1:])}" if len(self.levels) > 1 else "build a coarser level, too"
            raise ValueError(f"{level!r} is the finest level, which has no children: {others}")
        return self._children[place]

    def parents(self, level: Level) -> I64:
        """Return the node of the next coarser level that holds each node, int64[m].

        Raises:
            ValueError: The level is the coarsest.
        """
        place = self.place(level)
        if place == len(self.levels) - 1:
            others = f"name {_one_of(self.levels[:-1])}" if len(self.levels) > 1 else "build a finer level, too"
            raise ValueError(f"{level!r} is the coarsest level, which has no parents: {others}")
        counts = np.diff(self._children[place + 1])
        return np.repeat(np.arange(len(counts)), counts)

    def nodes(self, level: Level) -> I64:
        """Return the number under which each node of a level is stored, int64[m].

        A node that is at several levels has the same number at each.
        """
        return self._nodes[self.place(level)]

    def stored(self, level: Level) -> Flags:
        """Return a mask of the nodes of this level that are at no finer level, bool[m]."""
        return self._stored[self.place(level)]

    @functools.cached_property
    def lowest(self) -> I8:
        """The finest level of each node, as a position in ``levels``, int8[nodes]."""
        return np.repeat(np.arange(len(self.levels), dtype=np.int8), np.diff(self._bases))

    @functools.cached_property
    def highest(self) -> I8:
        """The coarsest level of each node, as a position in ``levels``, int8[nodes]."""
        out: I8 = self.lowest.copy()
        for place, nodes in enumerate(self._nodes):
            out[nodes] = place
        return out

    def vectors(self, level: Level) -> F32:
        """Return the vectors of the nodes of a level, float32[m, d], of unit length.

        They are token-weighted means of the nodes' sentences, or the vectors that ``pooling=`` computed from the
        sentences. The vector of a node without text, such as a removed sentence, is 0. The array is a copy if some of
        the nodes are also at a finer level.

        Raises:
            ValueError: The hierarchy was made without vectors.
        """
        place = self.place(level)
        if self.stored_vectors is None:
            raise ValueError(f'{self!r} has no vectors. Call segment_levels with vectors="sentence"')
        found = self.stored_vectors[place]
        if place == 0 or self._stored[place].all():
            return found
        out = np.empty((self.count(level), found.shape[1]), np.float32)
        nodes = self._nodes[place]
        for finer, (vectors, base) in enumerate(zip(self.stored_vectors[: place + 1], self._bases, strict=False)):
            here = (nodes >= base) & (nodes < self._bases[finer + 1])
            out[here] = vectors[nodes[here] - base]
        return out

    def spans_in_bytes(self, level: Level) -> tuple[I64, I64]:
        """Return (start, end) of each node in its document, in bytes, int64[m] each.

        The spans of a level cover each document without gaps or overlap.
        """
        first = self.first(level)
        return self.sentence_bytes[first[:-1]], self._ends(first, self.sentence_bytes, self._document_bytes)

    def spans(self, level: Level) -> tuple[I64, I64]:
        """Return (start, end) of each node in its document, in characters, int64[m] each."""
        first = self.first(level)
        return self._characters[first[:-1]], self._ends(first, self._characters, self._document_characters)

    def token_counts(self, level: Level) -> I64:
        """Return the token count of each node, the sum over its sentences that are not removed, int64[m].

        Raises:
            ValueError: No tokens were counted.
        """
        if self.tokens is None:
            raise ValueError(f'{self!r} has no token counts. Call segment_levels with vectors="sentence"')
        sums = offsets_of(self.tokens)
        out: I64 = np.diff(sums[self.first(level)])
        return out

    def texts_of(self, level: Level) -> list[str]:
        r"""Return the text of each node without white space at its ends and without removed sentences.

        A blank line takes the place of removed sentences if they contain a line break or are next to one, else a space
        does. The text of a removed sentence is empty.

        Example:
            >>> import pychunk
            >>> columns = {"removed": [[(10, 17), (27, 33)]]}
            >>> text = "Cats purr [edit]  by day.\n\nPage 1\n\nDogs bark."
            >>> pychunk.segment_levels([text], ["document"], columns=columns).texts_of("document")
            ['Cats purr by day.\n\nDogs bark.']
        """
        if self.removed is not None:
            return self._kept_texts(self.first(level))
        start, end = self.spans_in_bytes(level)
        text, offsets = flat_text(self.texts)
        base = offsets[self.documents_of(level) - self.first_document]
        rows = zip((base + start).tolist(), (base + end).tolist(), strict=True)
        return [text[a:b].tobytes().decode().strip() for a, b in rows]

    def cuts(self, level: Level) -> Cuts:
        r"""Return the nodes of a level as cuts for ``segment(..., method="precomputed", columns={"cuts": ...})``.

        Example:
            >>> import pychunk
            >>> found = pychunk.segment_levels("One. Two.\n\nThree.", ["paragraph"])
            >>> found.cuts("paragraph").first.tolist()
            [0, 2]
        """
        first = self.first(level)[:-1]
        rows = np.searchsorted(self.doc_offsets, first, "right") - 1
        counts = np.bincount(rows, minlength=self.documents)
        return Cuts((first - self.doc_offsets[rows]).astype(np.int32), offsets_of(counts))

    def chunks(self) -> ChunkBatch:
        r"""Return all nodes as chunks for an index of levels, each node once.

        The chunks are ordered by document, and within a document from fine to coarse. Their column ``levels`` lists the
        levels of each node. A search with ``where={"levels": ["section"]}`` therefore finds only sections. If there are
        vectors, the column ``vector`` holds the vector of each node.

        Example:
            >>> import pychunk
            >>> found = pychunk.segment_levels("One. Two.\n\nThree.", ["paragraph", "document"])
            >>> found.chunks().table["levels"].to_pylist()[2:]
            [['sentence', 'paragraph'], ['paragraph'], ['document']]
        """
        found: ChunkBatch = by_name("pychunk.levels.node_rows", "chunks_of")(self)
        return found

    def to_arrow(self) -> pa.Table:
        """Return a table with a row for each node, from which :meth:`from_arrow` makes the same hierarchy."""
        return by_name("pychunk.levels.hierarchy_table", "table_of")(self)

    @staticmethod
    def from_arrow(table: Any) -> Hierarchy:
        r"""Return the hierarchy of a table that :meth:`to_arrow` made. The order of the rows does not matter.

        Raises:
            ValueError: :meth:`to_arrow` did not make the table, or rows are missing.

        Example:
            >>> import pychunk
            >>> table = pychunk.segment_levels("One. Two.\n\nThree.", ["paragraph", "document"]).to_arrow()
            >>> Hierarchy.from_arrow(table).texts_of("paragraph")
            ['One. Two.', 'Three.']
        """
        found: Hierarchy = by_name("pychunk.levels.hierarchy_table", "hierarchy_from")(table)
        return found

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table to a ``.parquet``, ``.arrow`` or ``.feather`` file, which appears complete or not at all.

        Raises:
            ValueError: The path has another extension.
        """
        by_name("pychunk.levels.hierarchy_table", "write")(self, path)

    @staticmethod
    def read(path: str | PathLike[str]) -> Hierarchy:
        """Return the hierarchy in a file that :meth:`write` wrote.

        Raises:
            ValueError: The file holds another table, or not all of its rows.
            FileNotFoundError: There is no such file.
        """
        found: Hierarchy = by_name("pychunk.levels.hierarchy_table", "read")(path)
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _kept_texts(self, first: I64) -> list[str]:
        """Return the text of each node without removed sentences."""
        assert self.removed is not None
        text, (start, end) = flat_text(self.texts)[0], self._bounds
        holes = self._holes
        begins, ends, breaks = (each.tolist() for each in (holes.first, holes.last, holes.breaks))
        lower, upper = np.searchsorted(holes.last, first[:-1], "right"), np.searchsorted(holes.first, first[1:])
        out = []
        for a, b, low, high in zip(
            first[:-1].tolist(), first[1:].tolist(), lower.tolist(), upper.tolist(), strict=True
        ):
            found, joint, at = "", "", a
            for hole in range(low, high + 1):
                stop = begins[hole] if hole < high else b
                piece = text[start[at] : end[stop - 1]].tobytes().decode().strip() if at < stop else ""
                found += f"{joint if found and piece else ''}{piece}"
                if hole < high:
                    joint, at = "\n\n" if breaks[hole] else " ", ends[hole]
            out.append(found)
        return out

    @functools.cached_property
    def _holes(self) -> Holes:
        assert self.removed is not None
        return holes_of(flat_text(self.texts)[0], *self._bounds, self.removed, self.doc_offsets)

    @functools.cached_property
    def _kept(self) -> KeptSentences:
        removed = np.zeros(len(self.sentence_bytes), np.bool_) if self.removed is None else self.removed
        return KeptSentences(removed, self.doc_offsets)

    def _kept_children(self, place: int) -> tuple[I64, I64]:
        """Return the number of children that are not only removed sentences, and the first of them, int64[m] each.

        The first child of all takes its place in a node of removed sentences alone.
        """
        children = self._children[place]
        if self.removed is None:
            return np.diff(children), children[:-1]
        has_text = np.diff(self._kept.before[self.firsts[place - 1]]) > 0
        before, kept = offsets_of(has_text), np.flatnonzero(has_text)
        counts = np.diff(before[children])
        return counts, np.where(counts > 0, np.append(kept, 0)[before[children[:-1]]], children[:-1])

    @functools.cached_property
    def _children(self) -> tuple[I64, ...]:
        pairs = zip(self.firsts[:-1], self.firsts[1:], strict=True)
        return np.empty(0, np.int64), *(np.searchsorted(finer, coarser) for finer, coarser in pairs)

    @functools.cached_property
    def _stored(self) -> tuple[Flags, ...]:
        finest = np.ones(len(self.firsts[0]) - 1, np.bool_)
        return finest, *(self._kept_children(place)[0] > 1 for place in range(1, len(self.levels)))

    @functools.cached_property
    def _bases(self) -> I64:
        """The number of the first node that each of the L levels stores, then the number of nodes, int64[L + 1]."""
        return offsets_of([np.count_nonzero(stored) for stored in self._stored])

    @functools.cached_property
    def _nodes(self) -> tuple[I64, ...]:
        out: list[I64] = []
        for place, (stored, base) in enumerate(zip(self._stored, self._bases, strict=False)):
            numbers: I64 = base + np.cumsum(stored) - 1
            out.append(numbers if place == 0 else np.where(stored, numbers, out[-1][self._kept_children(place)[1]]))
        return tuple(out)

    @functools.cached_property
    def _document_bytes(self) -> I64:
        return np.diff(flat_text(self.texts)[1])

    @functools.cached_property
    def _bounds(self) -> tuple[I64, I64]:
        """The start and end of each sentence in the text of all documents one after the other, in bytes."""
        offsets = flat_text(self.texts)[1]
        counts = np.diff(self.doc_offsets)
        base = np.repeat(offsets[:-1], counts)
        end = self._ends(np.arange(len(base) + 1), self.sentence_bytes, self._document_bytes)
        return base + self.sentence_bytes, base + end

    @functools.cached_property
    def _lengths(self) -> I64:
        """The number of characters of each sentence."""
        if not len(self.sentence_bytes):
            return np.empty(0, np.int64)
        text = flat_text(self.texts)[0]
        start, end = self._bounds
        inside = ((text[start[0] : end[-1]] & 0xC0) != 0x80).view(np.uint8)
        edges = np.stack([start, end], 1).reshape(-1)[:-1] - start[0]
        found: I64 = np.add.reduceat(inside, edges, dtype=np.int64)[::2]
        return found

    @functools.cached_property
    def _characters(self) -> I64:
        """The first character of each sentence in its document."""
        before = offsets_of(self._lengths)
        out: I64 = before[:-1] - np.repeat(before[self.doc_offsets[:-1]], np.diff(self.doc_offsets))
        return out

    @functools.cached_property
    def _document_characters(self) -> I64:
        return np.diff(offsets_of(self._lengths)[self.doc_offsets])

    def _ends(self, first: I64, starts: I64, lengths: I64) -> I64:
        """Return the end of each node, which is the start of the next node or the end of the document."""
        if len(first) == 1:
            return np.empty(0, np.int64)
        following = np.append(starts, 0)[first[1:]]
        document = np.searchsorted(self.doc_offsets, first[:-1], "right") - 1
        last = first[1:] == self.doc_offsets[document + 1]
        return np.where(last, lengths[document], following)


def _one_of(levels: tuple[Level, ...]) -> str:
    return f"one of {', '.join(map(str, levels))}" if len(levels) > 1 else repr(levels[0])
