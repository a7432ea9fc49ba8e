"""Segmentation of documents from files, batch by batch, with progress, for all commands."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..._engine.arrow import primitive
from ..._util.pipeline import Pipeline
from ...chunks.batch import ChunkBatch
from ...ingest.empty_tables import empty_tables, fitted, nothing, tables_of
from ...inputs import TextBatch
from ...inputs.document_columns import DOCUMENT_COLUMNS, DocumentColumns, arguments_of
from ...io import KINDS, DeadLetter, Source
from ...io.document_batches import Batch, DeadLetters, documents_of
from ...io.duplicate_ids import DuplicateIds
from ...io.files import scheme_of
from ...io.listing import check_once
from ...io.recognition import on_request
from ...segmenter import Segmenter
from .console import errors, has_terminal, is_json, say
from .errors import in_flags
from .merge_rows import joined
from .segment_options import ReaderOptions

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: A function that returns the rows to cut, given the table of a batch, the keywords that name its columns, and the
#: numbers of its documents.
Choose = Callable[[pa.Table, dict[str, Any], npt.NDArray[np.int64]], npt.NDArray[np.int64]]
#: A function that returns bool[n]: whether to skip each of the n files of a source unread. Its arguments are the
#: source, the keywords that name the source's columns, and the number of the source's first document. Each skipped
#: file counts as one document.
Skip = Callable[[Source, dict[str, Any], int], npt.NDArray[np.bool_]]
#: The fewest bytes of chosen documents that are cut at once. Smaller batches wait for more documents, because each
#: addition to an index looks at the whole index.
_LEAST = 4 << 20
COLUMNS = {each.name: each for each in DOCUMENT_COLUMNS}


class InputProgress:
    """The share of the input that is done, reported to a callback, even within a batch that takes minutes."""

    def __init__(self) -> None:
        self.done = 0.0
        self.show: Callable[[float], None] = lambda _: None

    def within(self, stop: float) -> Callable[[int, int], None]:
        """Return a progress callback for a batch that ends at the share `stop`."""
        begun = self.done
        return lambda done, total: self.show(begun + (stop - begun) * done / max(1, total))


class SkippedDocuments:
    """A handler of dead letters that prints the first 20 documents that could not be read, and counts all."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, letter: DeadLetter) -> None:
        """Count a dead letter, and print it if it is among the first 20."""
        self.count += 1
        if self.count <= 20:
            place = "" if letter.position == "whole file" else f", {letter.position}"
            say(f"skipped {letter.source}{place}: {in_flags(letter.reason, {})}", "yellow")


def refuse(letter: DeadLetter) -> None:
    """Raise an error for a document that cannot be read, or print a warning for one that was read in part."""
    if letter.partial:
        SkippedDocuments()(letter)
        return
    advice = "or pass" if "correct the file, or pass" in letter.told else "fix it, or pass"
    raise ValueError(f"{letter.told}; {advice} --on-error skip")


def segmented(
    made: Segmenter,
    inputs: list[str],
    kind: str,
    reading: ReaderOptions,
    shares: InputProgress,
    dead_letters: DeadLetters = refuse,
    *,
    alike: bool = False,
    choose: Choose | None = None,
    skip: Skip | None = None,
    kept: Sequence[str] = (),
    ids: str | None = None,
    merge: bool = False,
    few: bool = False,
    repeats: DuplicateIds | None = None,
) -> Iterator[tuple[ChunkBatch, int]]:
    """Return an iterator over (chunks, bytes of text), one pair for each batch.

    The function lists the inputs at once and reads them as the caller asks for batches.

    Args:
        made: The segmenter.
        inputs: The paths and URLs to read.
        kind: The kind of the inputs, or ``auto``.
        reading: The options of the readers.
        shares: The progress, which this function updates.
        dead_letters: The handler of documents that cannot be read.
        alike: Whether every batch gets the columns of all kinds of files, as a single file of chunks needs.
        choose: The function that chooses which documents of a batch to cut. Other documents are skipped, but they are
            counted. With ``choose``, no file may occur twice in the inputs.
        skip: The function that chooses files that need not be read. It is ignored if the number of documents is
            limited, or with ``merge``.
        kept: The columns to keep if the user names none, from inputs that have them.
        ids: The column of ids if the user names none, from inputs that have it.
        merge: Whether consecutive rows with the same id are one document.
        few: Whether most documents are likely to be skipped.
        repeats: The finder of duplicate ids, to which all ids are passed.
    """
    sources = reading.sources(inputs, kind, made.method.wants, dead_letters, kept, ids)
    if any(source.ids != reading.ids for source, _ in sources):
        said = f"ids come from column {ids}, as in the index (--ids names another)"
        say(said)
    if choose is not None:
        check_once((source.path, source.files) for source, _ in sources)
    if kept and reading.metadata_columns is None:
        _tell_kept(sources, kept)
    elif dropped := [name for name in kept if name not in (reading.metadata_columns or ())]:
        said = f"not kept in this run, although the index has them: {', '.join(dropped)}"
        say(f"{said} (--metadata-columns names columns)", "yellow")
    tell_ignored([path for source, _ in sources for path in source.ignored], kind)
    sources = _together(sources)
    whole = reading.limit is None and not merge
    found = _segmented(
        made,
        sources,
        reading.metadata_columns or [],
        reading.limit,
        shares,
        choose,
        skip if whole else None,
        merge,
        few,
        repeats,
    )
    kinds = {kind: said for source, said in sources for kind in source.kinds}
    if not alike or len(kinds) < 2:
        return found
    types = dict(sources[0][0].kept)
    columns = empty_tables(tables_of(nothing(made, said, kind, types)) for kind, said in kinds.items())[""]
    return ((out.with_table(fitted(out.table, columns)), size) for out, size in found)


def _together(sources: list[tuple[Source, dict[str, Any]]]) -> list[tuple[Source, dict[str, Any]]]:
    """Join consecutive inputs of one converted kind into one source, so that the same processes convert all files.

    Parsing 30 leaflets as separate inputs took 11 s, of which 9 s were spent on starting processes.
    """
    found: list[tuple[Source, dict[str, Any]]] = []
    for source, said in sources:
        kinds = set(source.kinds)
        alike = bool(found) and len(kinds) == 1 and kinds == set(found[-1][0].kinds) and said == found[-1][1]
        if alike and KINDS[source.kind].function:
            before = found[-1][0]
            both = {name: getattr(before, name) + getattr(source, name) for name in ("files", "kinds", "ignored")}
            found[-1] = replace(before, **both), said
        else:
            found.append((source, said))
    return found


def _segmented(
    made: Segmenter,
    sources: list[tuple[Source, dict[str, Any]]],
    metadata_columns: list[str],
    limit: int | None,
    shares: InputProgress,
    choose: Choose | None,
    skip: Skip | None,
    merge: bool,
    few: bool,
    repeats: DuplicateIds | None,
) -> Iterator[tuple[ChunkBatch, int]]:
    known = all(source.path != "-" for source, _ in sources)
    total = sum(source.total_bytes for source, _ in sources) if known else 0
    first = before = 0
    for source, said in sources:
        held = _PendingDocuments(made, said)
        unread = np.zeros(len(source.files), np.bool_) if skip is None else skip(source, said, first)
        places = _Places(source, unread)
        batches = _read(_without(source, unread), ahead=limit is None and made.threads != 1, few=few and not merge)
        for batch in joined(batches, _counting(said)) if merge else batches:
            table = batch.table if limit is None else batch.table.slice(0, limit - first)
            if repeats is not None:
                repeats.see(table["id"], first)
            share = (before + batch.bytes_read) / total if total else 0.0
            if held.numbers and held.tables[0].schema != table.schema:
                yield held.cut(lambda done, of: None)
            numbers = first + places.of(table)
            rows = np.arange(len(table)) if choose is None else choose(table, said, numbers)
            held.add(table, rows, numbers)
            first += len(table)
            if held.numbers and (choose is None or held.size >= _LEAST):
                yield held.cut(shares.within(share))
            shares.done = share
            shares.show(share)
            if first == limit:
                break
        if held.numbers:
            yield held.cut(lambda done, of: None)
        if first == limit:
            return
        first += places.skipped
        before += source.total_bytes
    if first == 0:  # a file without documents yields a table without rows
        nothing: dict[str, Any] = {name: [] for name in made.method.wants}
        empty = pa.table({name: pa.array([], pa.string()) for name in ("text", *metadata_columns)})
        yield (
            made(
                empty,
                columns=cast("DocumentColumns", {"text": "text", **nothing}),
                ids=[],
                metadata_columns=metadata_columns,
            ),
            0,
        )


class _Places:
    """The positions of documents in a source, some of whose files are not read but count as documents.

    Attributes:
        skipped: The number of files that are not read, each of which counts as one document.
    """

    def __init__(self, source: Source, unread: npt.NDArray[np.bool_]) -> None:
        self._before: dict[str, int] = {}
        self.skipped = 0
        if not unread.any():
            return
        order = {kind: place for place, kind in enumerate(dict.fromkeys(source.kinds))}
        for at in sorted(
            range(len(unread)), key=lambda at: order[source.kinds[at]]
        ):  # in the order of reading, one kind after another
            self._before[source.files[at].path] = self.skipped
            self.skipped += int(unread[at])

    def of(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """Return for each row of a batch its index, plus the number of files before its file that are not read."""
        own = np.arange(len(table), dtype=np.int64)
        if self.skipped:
            own += np.array([self._before[path] for path in table["file"].to_pylist()], np.int64)
        return own


def _read(source: Source, *, ahead: bool, few: bool) -> Iterable[Batch]:
    """Return the batches of a source, with local tables read one batch ahead, which saves 0.4 s on 124 MB of Parquet.

    Other kinds of input have threads or processes of their own. Standard input and remote files are not read ahead,
    because reading ahead cannot wait for a stream without an end.
    """
    tables = all(KINDS[kind].is_table for kind in source.kinds)
    if ahead and tables and source.files and not any(each.path == "-" or scheme_of(each.path) for each in source.files):
        return Pipeline(source.batches(in_pieces=few), [], depth=1)
    return source.batches(in_pieces=few)


def _without(source: Source, unread: npt.NDArray[np.bool_]) -> Source:
    if not unread.any():
        return source
    kept = np.flatnonzero(~unread)
    return replace(source, files=[source.files[at] for at in kept], kinds=[source.kinds[at] for at in kept])


def _counting(said: dict[str, Any]) -> list[str]:
    """Return the columns of a source that hold positions in its texts, under pychunk's and the user's names."""
    names = [name for name, column in COLUMNS.items() if column.characters or name in ("blocks", "removed")]
    return [*names, *(said[name] for name in names if name in said)]


class _PendingDocuments:
    """The documents of a source that wait to be cut, with their numbers, so that small batches become a large one."""

    def __init__(self, made: Segmenter, said: dict[str, Any]) -> None:
        self._made, self._said = made, said
        self._clear()

    def _clear(self) -> None:
        self.tables: list[pa.Table] = []
        self.numbers: list[npt.NDArray[np.int64]] = []
        self.size = 0

    def add(self, table: pa.Table, rows: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> None:
        """Add the documents in ``rows`` of a batch's table; ``numbers`` are the numbers of these documents."""
        if len(rows):
            chosen = table if len(rows) == len(table) else _taken(table, rows)
            self.tables.append(chosen)
            self.numbers.append(numbers[rows])
            self.size += chosen["text"].nbytes

    def cut(self, progress: Callable[[int, int], None]) -> tuple[ChunkBatch, int]:
        """Cut all waiting documents, and return their chunks and bytes of text."""
        numbers, table = np.concatenate(self.numbers), pa.concat_tables(self.tables)
        if table["text"].num_chunks > len(self.tables):  # else one native call for each Arrow chunk
            table = table.combine_chunks()
        self._clear()
        begin = int(numbers[0])
        out = self._made(documents_of(table), progress=progress, first_document=begin, **arguments_of(self._said))
        if int(numbers[-1]) - begin >= len(numbers):
            out = _numbered(out, numbers)
        return out, text_bytes(out)


def _taken(table: pa.Table, rows: npt.NDArray[np.int64]) -> pa.Table:
    """Return copies of rows, one run of adjacent rows at a time, because Arrow's take joins all chunks of a column."""
    if table["text"].num_chunks == 1:
        return table.take(primitive(rows))
    borders = np.flatnonzero(np.diff(rows) != 1) + 1
    runs = [(int(own[0]), len(own)) for own in np.split(rows, borders)]
    return pa.concat_tables([table.slice(begin, size).take(primitive(np.arange(size))) for begin, size in runs])


def _numbered(out: ChunkBatch, numbers: npt.NDArray[np.int64]) -> ChunkBatch:
    """Return the chunks, with their documents numbered by ``numbers``."""
    own = numbers[np.asarray(out.table["document_index"], np.int64) - out.first_document]
    at = out.table.column_names.index("document_index")
    made = out.with_table(out.table.set_column(at, out.table.schema.field(at), primitive(own)))
    made.errors = [error._replace(row=int(numbers[error.row - out.first_document])) for error in out.errors]
    return made


def documents(
    made: Sequence[Segmenter], inputs: list[str], kind: str, reading: ReaderOptions, dead_letters: DeadLetters = refuse
) -> Iterator[tuple[TextBatch, list[dict[str, Any]]]]:
    """Yield batches of documents, each with a list: for each segmenter, the keywords that name the batch's columns."""
    wants = frozenset[str]().union(*(each.method.wants for each in made))
    sources = reading.sources(inputs, kind, wants, dead_letters)
    tell_ignored([path for source, _ in sources for path in source.ignored], kind)
    left = reading.limit
    for source, said in sources:
        names = {name: value for name, value in said.items() if name != "metadata_columns"}
        own = [
            {name: value for name, value in names.items() if not COLUMNS[name].only or name in each.method.wants}
            for each in made
        ]
        for batch in source.batches():
            table = batch.table if left is None else batch.table.slice(0, left)
            yield documents_of(table), own
            if left is not None:
                left -= table.num_rows
                if left == 0:
                    return


def _tell_kept(sources: Sequence[tuple[Source, dict[str, Any]]], kept: Sequence[str]) -> None:
    """Print on standard error the columns that are kept by default, and the tables that lack them."""
    again = [name for name in kept if any(name in said["metadata_columns"] for _, said in sources)]
    if again:
        say(f"kept, as in the index: {', '.join(again)} (--metadata-columns names others)")
    for source, said in sources:
        lacking = [name for name in kept if name not in said["metadata_columns"]]
        if lacking and any(KINDS[kind].is_table for kind in source.kinds):
            say(f"{source.path} lacks the index's columns {', '.join(lacking)}; its documents get null there", "yellow")


def tell_ignored(ignored: list[str], kind: str) -> None:
    """Print on standard error the files in folders that are not read."""
    if ignored:
        more = f" and {len(ignored) - 3} more" if len(ignored) > 3 else ""
        said = f"not read, because of an unknown or different kind: {', '.join(ignored[:3])}{more}"
        how = ["--kind text reads files of any name as text", "--ext .log=text those of one ending"]
        how += ["--reader ocr=yes reads images"] if any(on_request(path) == "image" for path in ignored) else []
        say(f"{said} ({', '.join(how)})" if kind == "auto" else said, "yellow")


def text_bytes(out: ChunkBatch) -> int:
    """Return the number of bytes of text in chunks."""
    ends, starts = out.table.column("end_byte"), out.table.column("start_byte")
    return int(pc.sum(pc.subtract(ends, starts)).as_py() or 0)


class NullProgress:
    """A progress bar that shows nothing, with the methods of Rich's bars."""

    def __enter__(self) -> NullProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_task(self, *_: Any, **__: Any) -> Any:
        """Return 0 as the number of the task."""
        return 0

    def update(self, *_: Any, **__: Any) -> None:
        """Do nothing."""

    def remove_task(self, _: Any) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


def progress_bar(name: str, console: Console | None = None) -> Progress | NullProgress:
    """Return a progress bar with a field ``rate``. The bar is shown only on a terminal."""
    if is_json() or (console is None and not has_terminal()):
        return NullProgress()
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = console or errors()
    return Progress(
        TextColumn(name),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,  # the totals follow the bar
    )


def rate_of(size: int, begun: float) -> str:
    """Return the rate in bytes a second since a moment of ``time.monotonic``, such as ``29 MB/s``."""
    return rate_in(size, time.monotonic() - begun)


def rate_in(size: int, seconds: float) -> str:
    """Return the rate in bytes a second over a number of seconds, such as ``29 MB/s``."""
    rate = size / 1e6 / max(1e-9, seconds)
    if rate < 0.1:
        return f"{1e3 * rate:.2g} kB/s"
    return f"{rate:.0f} MB/s" if rate >= 10 else f"{rate:.2g} MB/s"
