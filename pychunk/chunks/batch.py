"""The chunks that one call returns: the class ChunkBatch, which holds them in an Arrow table, and Chunk."""

from __future__ import annotations

import functools
import itertools
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, make_dataclass
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
import pyarrow as pa

from .._engine.arrow import primitive, python_values
from .._engine.data.columns import COLUMNS, ChunkFields
from .._util.counting import counted
from .._util.lazy_imports import by_name
from .._util.reprs import one_line
from ..defaults import SEARCH
from ..inputs import RowError, TextBatch

if TYPE_CHECKING:
    from os import PathLike

    import numpy.typing as npt

    from .._util.html_page import Page
    from .call_stats import CallStats
    from .heading_tree import Node
    from .sizes import Sizes


class Provenance(Protocol):
    """The documents that chunks were cut from and the Segmenter that cut them, for :meth:`ChunkBatch.view`."""

    @property
    def texts(self) -> TextBatch | None:
        """The documents, or None if they were too large to be kept."""
        ...

    def of(self, texts: TextBatch, first_document: int) -> Provenance:
        """Return the same provenance for the documents ``texts``, numbered from ``first_document``."""
        ...

    @property
    def table_encoder(self) -> Any:
        """The encoder with which :meth:`again` computes vectors, as the argument of a Segmenter."""
        ...

    @property
    def has_vectors(self) -> bool:
        """True if the caller passed the sentence vectors."""
        ...

    def scores(self) -> pa.Table | None:
        """Return the method's scores of these documents, as ``Segmenter.scores`` does, or None if it has none."""
        ...

    def again(self, ids: pa.Array) -> ChunkBatch:
        """Return the same chunks with sentence vectors, under other ids of the documents."""
        ...


_OWN = frozenset(column.name for column in COLUMNS)


class Chunk(ChunkFields):
    """A chunk of a document, with ``document[start:end] == text``.

    ``start`` and ``end`` count characters, ``start_byte`` and ``end_byte`` UTF-8 bytes. The attributes of a chunk are
    the table's columns. An attribute is None if the table does not have its column. ``metadata`` holds the columns of
    the document that ``metadata_columns`` names.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        facts = {name: getattr(self, name) for name in ("document_index", "document_id", "chunk_index", "start", "end")}
        return one_line("Chunk", facts, self.text)

    def __len__(self) -> int:
        return self.end - self.start

    def render(self, *, path: bool = True, header: bool = True, fences: bool = True) -> str:
        r"""Return the text with what its span alone does not say, for a language model, an embedder or a person.

        Removed text inside the chunk is left out. ``text`` and the span stay as they are.

        Args:
            path: Whether to write the headings above the chunk's beginning before its text.
            header: Whether to repeat the header of a table that the chunk continues.
            fences: Whether to open code that the chunk continues, and to close code that goes on after it.

        Example:
            >>> import pychunk
            >>> text = "# Cats\n\nThey purr.\n\n## Food\n\nThey eat fish. They drink water, too."
            >>> chunks = pychunk.segment(pychunk.parse(text, "markdown"), "fixed", size=8, keep_together=False)
            >>> print(chunks[-1].render())
            Cats > Food
            <BLANKLINE>
            They drink water, too.
        """
        return str(by_name("pychunk.chunks.render", "rendered")(self, path=path, header=header, fences=fences))


@functools.cache
def _open_chunk() -> type[Any]:
    """Return a class with the slots of Chunk, but not frozen, so that they can be assigned.

    Creating a chunk through a frozen ``__init__`` takes three times as long.
    """
    return make_dataclass("_OpenChunk", [field.name for field in fields(ChunkFields)], slots=True, eq=False)


class ChunkBatch:
    """The chunks of a batch of documents.

    Attributes:
        table: Arrow table with one row for each chunk, in the order of the documents. ``document_index`` is the row of
            the input, ``document_id`` the caller's id, if given, and ``chunk_index`` the position in the document.
            ``chunk_id`` is a 128-bit hash of the document's id, the span and the text. ``text_id`` is one of the
            document's id, the text and its number among equal texts of the document. ``start`` and ``end`` count
            characters, ``start_byte`` and ``end_byte`` bytes. ``text`` is the chunk's text, and ``tokens`` the number
            of its tokens, null if no step counted them. ``overlap`` is the number of characters repeated from the chunk
            before. ``relevance`` and ``score`` come from the method. On request the table also has ``page``,
            ``page_end``, ``vector`` (the chunk's, of unit length) and ``sentences`` (spans and vectors of its
            sentences).
        documents: Number of input documents, including those without a chunk.
        first_document: Row of the first document.
        errors: Rows that ``on_error="skip"`` left out, each with its reason.
        summaries: With ``summaries_out=True``, a table with the summary of each document, else None. Its columns are
            ``document_index``, ``document_id`` (if given), ``source``, ``text``, ``sentences`` and ``vector``.
            ``sentences`` holds ``start``, ``end`` and ``text`` of the sentences that the summary is made of.
        removed: If a column ``removed`` or the method removes text, a table with the spans that no chunk holds, else
            None. Its columns are ``document_index``, ``document_id`` (if given), ``start``, ``end`` (characters),
            ``reason`` and ``score``. :meth:`removed_with_text` adds the text of the spans.
        windowed: Number of sentences that were longer than a transformer's input, so that it read them in windows (see
            :meth:`describe`).
        origin: The documents and the Segmenter that cut them, for :meth:`view`. It holds the documents only if their
            text has at most 4 MB in all. It is None in chunks that were read from a file or unpickled.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment("One sentence. Another one.", method="sentence")
        >>> [chunk.text for chunk in chunks]
        ['One sentence.', 'Another one.']
        >>> chunks.table.column("start").to_pylist()
        [0, 14]
        >>> chunks[-1].text, chunks[:1].texts
        ('Another one.', ['One sentence.'])
    """

    def __init__(
        self,
        table: pa.Table | Callable[[], pa.Table],
        *,
        documents: int,
        first_document: int = 0,
        errors: Sequence[RowError] = (),
        text_bytes: int | None = None,
        seconds: Sequence[float] = (),
        summaries: pa.Table | None = None,
        removed: pa.Table | None = None,
        origin: Provenance | None = None,
        windowed: int = 0,
    ) -> None:
        self._table = table
        self.documents = documents
        self.first_document = first_document
        self.errors = list(errors)
        #: The bytes of text, and the seconds of each stage of the call, of which :attr:`stats` is made when it is read.
        self._text_bytes, self._seconds = text_bytes, seconds
        self.summaries = summaries
        self.removed = removed
        self.origin = origin
        self.windowed = windowed

    @property
    def table(self) -> pa.Table:
        """The chunks as an Arrow table, which is made when it is first read: see the class."""
        table = self._table  # read once, because another thread may set it meanwhile
        if not isinstance(table, pa.Table):
            table = self._table = table()
        return table

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_table": self.table, "origin": None}

    def with_origin(self, origin: Provenance) -> ChunkBatch:
        """Return the same chunks with their provenance."""
        return self._with(origin=origin)

    def with_table(self, table: pa.Table, errors: Sequence[RowError] = ()) -> ChunkBatch:
        """Return the same chunks in a table with other columns, and with further errors."""
        every = sorted([*self.errors, *errors], key=lambda error: error.row) if errors else self.errors
        return self._with(table=table, errors=every)

    def _with(self, **parts: Any) -> ChunkBatch:
        own = {name.removeprefix("_"): value for name, value in vars(self).items()}
        return ChunkBatch(**{**own, **parts})

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        method = self.metadata.get("method")
        by = "" if method is None else f" by {method}"
        kinds = {"vector": "chunk", "sentences": "sentence"}
        held = [kind for column, kind in kinds.items() if column in self.table.column_names]
        holding = f", with {' and '.join(held)} vectors" if held else ""
        errors = f", {counted(len(self.errors), 'row')} left out" if self.errors else ""
        documents = counted(self.documents, "document")
        return f"<ChunkBatch: {counted(len(self), 'chunk')} of {documents}{by}{holding}{errors}>"

    def __iter__(self) -> Iterator[Chunk]:
        return _chunks_of(self.table)

    @overload
    def __getitem__(self, index: int) -> Chunk: ...

    @overload
    def __getitem__(self, index: slice) -> ChunkBatch: ...

    def __getitem__(self, index: int | slice) -> Chunk | ChunkBatch:
        """Return the chunk at an index, counted from the end if negative, or the chunks of a slice as a ChunkBatch.

        A slice shares the table's memory and keeps its metadata. Its ``documents`` and ``errors`` are those of the
        whole batch, so ``by_document()`` of a slice still has a list for each input document.
        """
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            if places.step == 1:
                table = self.table.slice(places.start, len(places))
            else:
                table = self.table.take(primitive(np.arange(places.start, places.stop, places.step)))
            facts = {name: getattr(self, name) for name in ("documents", "first_document", "errors", "origin")}
            return ChunkBatch(table, **facts)
        try:
            place = operator.index(index)
        except TypeError:
            raise TypeError(
                f"a ChunkBatch is indexed by whole numbers and slices, got {type(index).__name__}; its columns are in "
                ".table"
            ) from None
        if not -len(self) <= place < len(self):
            raise IndexError(
                f"chunk {place} is out of range for a ChunkBatch of {len(self)}; count from 0, or from -1 for the last"
            )
        row = {
            name: column[place].as_py()
            for name, column in zip(self.table.schema.names, self.table.columns, strict=True)
        }
        own = {column.name: row.pop(column.name) for column in COLUMNS if column.name in row}
        return Chunk(**own, metadata=row)

    @property
    def texts(self) -> list[str]:
        """The text of each chunk."""
        return [text for piece in self.table["text"].chunks for text in python_values(piece)]

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """The chunks' vectors, float32[n, d], for n chunks and d dimensions.

        If the column is contiguous in memory, the array shares that memory and is read-only. Otherwise it is a copy.

        Raises:
            ValueError: The table has no chunk vectors.
        """
        if "vector" not in self.table.column_names:
            has = "; it has its sentences' in .table['sentences']" if "sentences" in self.table.column_names else ""
            raise ValueError(f'{self!r} has no chunk vectors{has}: segment with vectors="chunk"')
        column = self.table["vector"]
        pieces = [np.asarray(piece.flatten()).reshape(len(piece), -1) for piece in column.chunks if len(piece)]
        if not pieces:
            return np.empty((0, column.type.list_size), np.float32)
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def tree(self, document: int | None = None) -> list[Node]:
        r"""Return the tree of headings of one document, as its outermost nodes with their chunks and children.

        Args:
            document: Row of the input; not needed for a single document.

        Raises:
            ValueError: A method other than ``structure`` made the chunks, so they have no tree, or there is no such
                document.

        Example:
            >>> import pychunk
            >>> text = "Cats\n\nCats purr.\n\nDogs\n\nDogs bark."
            >>> [node.chunk.path for node in pychunk.segment(text, "structure", size=4).tree()]
            [['Cats'], ['Dogs']]
        """
        if "parent" not in self.table.column_names:
            raise ValueError(f'{self!r} has no tree of headings: segment with method="structure"')
        found: list[Node] = by_name("pychunk.chunks.heading_tree", "tree_of")(self._of(document))
        return found

    def to_markdown(self, document: int | None = None) -> str:
        r"""Return the chunks of one document as one text, without removed spans and repeated text.

        The result is Markdown if the document was. Headings without marks get the marks of Markdown (``#``).

        Args:
            document: Row of the input; not needed for a single document.

        Example:
            >>> import pychunk
            >>> text = "Menu\n\n# Cats\n\nCats purr."
            >>> pychunk.segment(text, "structure", columns={"removed": [(0, 4)]}).to_markdown()
            '# Cats\n\nCats purr.'
        """
        return str(by_name("pychunk.chunks.heading_tree", "joined")(list(self._of(document))))

    def _of(self, document: int | None) -> Iterator[Chunk]:
        """Return the chunks of one document."""
        if document is None:
            if self.documents > 1:
                raise ValueError(
                    f"{self!r} holds several documents: pass document=, the row of one of them, from "
                    f"{self.first_document} to {self.first_document + self.documents - 1}"
                )
            document = self.first_document
        if not self.documents:
            raise ValueError(f"{self!r} holds no documents to take chunks from: segment at least one")
        if not self.first_document <= document < self.first_document + self.documents:
            last = self.first_document + self.documents - 1
            raise ValueError(f"document must be a row from {self.first_document} to {last}; got {document}")
        rows = np.asarray(self.table["document_index"])
        first, last = (int(np.searchsorted(rows, document, side)) for side in ("left", "right"))
        return _chunks_of(self.table.slice(first, last - first))

    def to_list(self) -> list[dict[str, Any]]:
        """Return one dict for each chunk, with the table's columns as plain Python values.

        Example:
            >>> import pychunk
            >>> [row["text"] for row in pychunk.segment("One sentence. Another one.", method="sentence").to_list()]
            ['One sentence.', 'Another one.']
        """
        return [row for batch in self.table.to_batches() for row in python_values(batch.to_struct_array())]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the table to a file, in the format that its extension names.

        Extensions are ``.parquet``, ``.jsonl``, ``.arrow``, ``.feather`` and ``.csv``; CSV files hold no vectors. The
        file appears as a whole or not at all, and replaces an existing file.

        Raises:
            ValueError: The extension is none of these.
            FileNotFoundError: The folder does not exist.
        """
        from ..io.writers import Writer

        with Writer(path) as writer:
            writer.write(self.table)

    def view(
        self,
        path: str | PathLike[str] | None = None,
        *,
        texts: Any = None,
        against: ChunkBatch | Sequence[ChunkBatch] = (),
        queries: Sequence[str] | Mapping[str, Sequence[Any]] = (),
        k: int = SEARCH.k,
        title: str | None = None,
    ) -> Page:
        """Return a page that shows the documents with these chunks, as one HTML file that needs no network.

        Next to the text the page shows the method's scores with their threshold, and the reason for each boundary. It
        also shows the sizes of the chunks with their limit.

        Args:
            path: A file to write the page to; an existing file is replaced.
            texts: The documents, if the chunks do not hold them (``origin``).
            against: Chunks of the same documents by other methods, shown side by side.
            queries: Questions, for which the page searches the chunks by an index that it builds (this needs the extra
                ``index``); or a dict that maps each question to the hits that ``Index.search`` returned for it.
            k: Number of hits for each query.
            title: Title of the page.

        Returns:
            The page. It shows itself in a notebook; ``write(path)`` saves it and ``open()`` opens it in the browser.

        Raises:
            ValueError: The documents are unknown, or not those that were cut, or have more than 16 MB of text.

        Example:
            >>> import pychunk
            >>> page = pychunk.segment("Cats purr. Stars burn hydrogen.", method="sentence").view()
            >>> page.html.startswith("<!doctype html>")
            True
        """
        view_of = by_name("pychunk.view.page_data", "view_of")
        page: Page = view_of(self, texts=texts, against=against, queries=queries, k=k, title=title)
        if path is not None:
            page.write(path)
        return page

    def removed_with_text(self, texts: Any = None) -> pa.Table:
        """Return ``removed`` with a column ``text`` that holds the removed text.

        Args:
            texts: The documents, if the chunks do not hold them (``origin``). Chunks that were read from a file, or cut
                from more than 4 MB of text, do not hold them.

        Raises:
            ValueError: The table of removed spans is missing, or the documents are unknown, or their number is wrong.

        Example:
            >>> import pychunk
            >>> columns = {"removed": [[(0, 5, "navigation", 0.9)]]}
            >>> chunks = pychunk.segment("Menu. Cats purr.", "sentence", columns=columns)
            >>> chunks.removed_with_text()["text"].to_pylist()
            ['Menu.']
        """
        if self.removed is None:
            raise ValueError("these chunks have no table of removed spans: segment with columns={'removed': ...}")
        held = None if self.origin is None else self.origin.texts
        if texts is not None:
            held = TextBatch.of(texts, on_error="skip")
        if held is None:
            raise ValueError(
                "these chunks do not hold their documents (they come from a file or a pickle, or from more than 4 MB "
                "of text): pass texts="
            )
        if len(held) != self.documents:
            raise ValueError(
                f"texts must be the documents of these chunks, {self.documents:,} in number; got {len(held):,}"
            )
        values = (value for part in held.texts for value in part.to_pylist())
        return by_name("pychunk.chunks.removed_table", "with_text")(self.removed, values, self.first_document)

    def describe(self) -> Sizes:
        """Return the sizes of the chunks in tokens (if they were counted), words and characters, with their limit.

        ``sentences`` counts the sentences that a transformer read in windows because they are longer than its input.

        Example:
            >>> import pychunk
            >>> pychunk.segment("Cats purr. Both sleep a lot.", method="sentence").describe()["words"]["max"]
            4
        """
        sizes: Sizes = by_name("pychunk.chunks.sizes", "sizes_of")(self.table, self.metadata, self.windowed)
        return sizes

    @property
    def stats(self) -> CallStats:
        """The counts and times of the call that made the chunks: see :class:`pychunk.chunks.call_stats.CallStats`.

        Example:
            >>> import pychunk
            >>> stats = pychunk.segment(["Cats purr. Dogs bark.", "Cows moo."], "sentence").stats
            >>> stats.documents, stats.bytes, stats.chunks, stats.cuts
            (2, 30, 3, {'end': 2, 'sentence': 1})
            >>> list(stats.seconds)
            ['features', 'cut', 'total']
        """
        stats_of = by_name("pychunk.chunks.call_stats", "stats_of")
        stats: CallStats = stats_of(self.table, self.documents, self._text_bytes, self._seconds)
        return stats

    def _repr_html_(self) -> str:
        return str(by_name("pychunk.chunks.notebook_tables", "chunks_html")(self))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    @property
    def metadata(self) -> dict[str, Any]:
        """The method, options, versions and the encoder's fingerprint, as stored with the table."""
        raw = (self.table.schema.metadata or {}).get(b"pychunk")
        return {} if raw is None else dict(json.loads(raw))

    def by_document(self) -> list[list[Chunk]]:
        """Return one list of chunks for each input document, in order.

        The list of a document without chunks is empty.
        """
        lists: list[list[Chunk]] = [[] for _ in range(self.documents)]
        for chunk in self:
            lists[chunk.document_index - self.first_document].append(chunk)
        return lists

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Return the table as a Polars data frame."""
        try:
            import polars
        except ImportError:
            raise ImportError("to_polars() needs Polars: pip install polars") from None
        return polars.from_arrow(self.table)


def _chunks_of(table: pa.Table) -> Iterator[Chunk]:
    made = _open_chunk()
    names = set(table.column_names)
    needed = [field.name for field in fields(ChunkFields) if field.metadata and field.default is MISSING]
    if lacking := [name for name in needed if name not in names]:
        raise ValueError(f"these chunks lack the column {lacking[0]!r}: add it to their table, or read .table instead")
    kept = [name for name in table.column_names if name not in _OWN]
    for batch in table.to_batches(max_chunksize=1024):
        columns: list[Iterable[Any]] = [
            python_values(batch.column(field.name))
            if field.name in names or field.default is MISSING
            else itertools.repeat(field.default)
            for field in fields(ChunkFields)
            if field.metadata
        ]
        columns.append(batch.select(kept).to_pylist() if kept else ({} for _ in range(batch.num_rows)))
        for chunk in map(made, *columns):
            chunk.__class__ = Chunk
            yield chunk
