"""Documents from files through a segmenter, batch by batch, with progress: what the commands share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..._engine.arrow import primitive
from ..._util.pipeline import Pipeline
from ...chunks.batch import ChunkBatch
from ...ingest.empty_tables import empty_tables, fitted, nothing
from ...inputs import TextBatch
from ...inputs.document_columns import DOCUMENT_COLUMNS
from ...io import KINDS, DeadLetter, Source
from ...io.document_batches import Batch, DeadLetters, documents_of
from ...io.duplicate_ids import DuplicateIds
from ...io.files import scheme_of
from ...io.listing import check_once
from ...segmenter import Segmenter
from .console import errors, has_terminal, say
from .errors import in_flags
from .merge_rows import joined
from .segment_options import ReaderOptions

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

#: Of a batch's table, the keywords that name its columns, and its documents' numbers, the rows to be cut.
Choose = Callable[[pa.Table, dict[str, Any], npt.NDArray[np.int64]], npt.NDArray[np.int64]]
#: Of a source, the keywords that name its columns, and the number of its first document, bool[n]: which of its files
#: are passed over unread, each of which is one document.
Skip = Callable[[Source, dict[str, Any], int], npt.NDArray[np.bool_]]
#: Bytes of chosen documents that are cut in one go: fewer wait for more, as adding to an index looks at all of it.
_LEAST = 4 << 20
COLUMNS = {each.name: each for each in DOCUMENT_COLUMNS}


class InputProgress:
    """How much of the input is done, told to whoever shows it, also inside a batch that takes minutes."""

    def __init__(self) -> None:
        self.done = 0.0
        self.show: Callable[[float], None] = lambda _: None

    def within(self, stop: float) -> Callable[[int, int], None]:
        """Progress of a batch that ends at the share `stop`."""
        begun = self.done
        return lambda done, total: self.show(begun + (stop - begun) * done / max(1, total))


class SkippedDocuments:
    """What is told of documents that could not be read: the first 20, and how many there are."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, letter: DeadLetter) -> None:
        self.count += 1
        if self.count <= 20:
            place = "" if letter.position == "whole file" else f", {letter.position}"
            say(f"left out {letter.source}{place}: {in_flags(letter.reason, {})}", "yellow")


def refuse(letter: DeadLetter) -> None:
    """Ends the command at what is broken, and says what a document lacks that is read without."""
    if letter.partial:
        SkippedDocuments()(letter)
        return
    raise ValueError(f"{letter.told}; mend it, or pass --on-error skip")


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
    """(chunks, bytes of text) batch by batch; `shares` knows how much of the input is done.

    The inputs are listed now, and read as the batches are asked for. ``alike``: every batch has the columns of all
    kinds of files, as one file of chunks needs them. ``choose``: which documents of a batch are cut; the others are
    passed over, and counted all the same; no file may be there twice then. ``skip``: which files are not even read; all
    are where documents are limited in number, or are of several rows. ``kept``, ``ids``: columns that are kept, and
    taken for ids, where nothing else is said, of inputs that have them. ``merge``: rows of one id that follow each
    other are one document. ``few``: most documents are likely to be passed over. ``repeats``: looks at the ids.
    """
    sources = reading.sources(inputs, kind, made.method.wants, dead_letters, kept, ids)
    if any(source.ids != reading.ids for source, _ in sources):
        said = f"ids are those of column {ids}, as in the index (--ids names another)"
        say(said)
    if choose is not None:
        check_once((source.path, source.files) for source, _ in sources)
    if kept and reading.keep is None:
        _tell_kept(sources, kept)
    elif dropped := [name for name in kept if name not in (reading.keep or ())]:
        said = f"not kept of what is cut now: {', '.join(dropped)}, which the index has (--keep names columns)"
        say(said, "yellow")
    tell_ignored([path for source, _ in sources for path in source.ignored], kind)
    sources = _together(sources)
    whole = reading.limit is None and not merge
    found = _segmented(
        made, sources, reading.keep or [], reading.limit, shares, choose, skip if whole else None, merge, few, repeats
    )
    kinds = {kind: said for source, said in sources for kind in source.kinds}
    if not alike or len(kinds) < 2:
        return found
    types = dict(sources[0][0].kept)
    columns = empty_tables(nothing(made, said, kind, types) for kind, said in kinds.items())[""]
    return ((out.with_table(fitted(out.table, columns)), size) for out, size in found)


def _together(sources: list[tuple[Source, dict[str, Any]]]) -> list[tuple[Source, dict[str, Any]]]:
    """Inputs of PDF that follow each other as one: their files are parsed side by side, by processes that stay.

    Thirty leaflets, one by one, took 11 s to parse, 9 of them for processes to start.
    """
    found: list[tuple[Source, dict[str, Any]]] = []
    for source, said in sources:
        if found and set(source.kinds) == set(found[-1][0].kinds) == {"pdf"} and said == found[-1][1]:
            before = found[-1][0]
            both = {name: getattr(before, name) + getattr(source, name) for name in ("files", "kinds", "ignored")}
            found[-1] = replace(before, **both), said
        else:
            found.append((source, said))
    return found


def _segmented(
    made: Segmenter,
    sources: list[tuple[Source, dict[str, Any]]],
    keep: list[str],
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
    if first == 0:  # a file without documents becomes a table without rows
        nothing: dict[str, Any] = {name: [] for name in made.method.wants}
        empty = pa.table({name: pa.array([], pa.string()) for name in ("text", *keep)})
        yield made(empty, column="text", ids=[], keep=keep, **nothing), 0


class _Places:
    """Where documents of a source stand among all of it, of whose files some are not read.

    Attributes:
        skipped: files that are not, each of which counts as one document.
    """

    def __init__(self, source: Source, unread: npt.NDArray[np.bool_]) -> None:
        self._before: dict[str, int] = {}
        self.skipped = 0
        if not unread.any():
            return
        order = {kind: place for place, kind in enumerate(dict.fromkeys(source.kinds))}
        for at in sorted(range(len(unread)), key=lambda at: order[source.kinds[at]]):  # as it is read: kind by kind
            self._before[source.files[at].path] = self.skipped
            self.skipped += int(unread[at])

    def of(self, table: pa.Table) -> npt.NDArray[np.int64]:
        """Of each row of the next batch, as if the batch were the source's first."""
        own = np.arange(len(table), dtype=np.int64)
        if self.skipped:
            own += np.array([self._before[path] for path in table["file"].to_pylist()], np.int64)
        return own


def _read(source: Source, *, ahead: bool, few: bool) -> Iterable[Batch]:
    """The batches of a source, of local tables one while another is cut or compared: of 124 MB of Parquet .4 s.

    Other kinds have threads or processes of their own; what never ends cannot be waited for.
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
    """The columns of a source that count characters of its texts, whatever users call them."""
    names = [name for name, column in COLUMNS.items() if column.characters or name in ("blocks", "removed")]
    return [*names, *(said[name] for name in names if name in said)]


class _PendingDocuments:
    """Documents of a source that wait to be cut, with their numbers; few of each batch make one batch of their own."""

    def __init__(self, made: Segmenter, said: dict[str, Any]) -> None:
        self._made, self._said = made, said
        self._clear()

    def _clear(self) -> None:
        self.tables: list[pa.Table] = []
        self.numbers: list[npt.NDArray[np.int64]] = []
        self.size = 0

    def add(self, table: pa.Table, rows: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> None:
        """Some rows of a batch, whose documents have these numbers."""
        if len(rows):
            chosen = table if len(rows) == len(table) else _taken(table, rows)
            self.tables.append(chosen)
            self.numbers.append(numbers[rows])
            self.size += chosen["text"].nbytes

    def cut(self, progress: Callable[[int, int], None]) -> tuple[ChunkBatch, int]:
        """The chunks of all of them, and bytes of text; none waits any more."""
        numbers, table = np.concatenate(self.numbers), pa.concat_tables(self.tables)
        if table["text"].num_chunks > len(self.tables):  # one piece is one native call
            table = table.combine_chunks()
        self._clear()
        begin = int(numbers[0])
        out = self._made(documents_of(table), progress=progress, first_document=begin, **self._said)
        if int(numbers[-1]) - begin >= len(numbers):
            out = _numbered(out, numbers)
        return out, text_bytes(out)


def _taken(table: pa.Table, rows: npt.NDArray[np.int64]) -> pa.Table:
    """Some rows, in order, copied: Arrow joins the chunks of a column that it takes any from."""
    if table["text"].num_chunks == 1:
        return table.take(primitive(rows))
    borders = np.flatnonzero(np.diff(rows) != 1) + 1
    runs = [(int(own[0]), len(own)) for own in np.split(rows, borders)]
    return pa.concat_tables([table.slice(begin, size).take(primitive(np.arange(size))) for begin, size in runs])


def _numbered(out: ChunkBatch, numbers: npt.NDArray[np.int64]) -> ChunkBatch:
    """Chunks of documents that have these numbers in their source."""
    own = numbers[np.asarray(out.table["document"], np.int64) - out.first_document]
    at = out.table.column_names.index("document")
    errors = [error._replace(row=int(numbers[error.row - out.first_document])) for error in out.errors]
    table = out.table.set_column(at, out.table.schema.field(at), primitive(own))
    return ChunkBatch(**{**vars(out), "table": table, "errors": errors})


def documents(
    made: Sequence[Segmenter], inputs: list[str], kind: str, reading: ReaderOptions, dead_letters: DeadLetters = refuse
) -> Iterator[tuple[TextBatch, list[dict[str, Any]]]]:
    """Batches of documents, and for each Segmenter the keywords of a call that name columns of theirs."""
    wants = frozenset[str]().union(*(each.method.wants for each in made))
    sources = reading.sources(inputs, kind, wants, dead_letters)
    tell_ignored([path for source, _ in sources for path in source.ignored], kind)
    left = reading.limit
    for source, said in sources:
        names = {name: value for name, value in said.items() if name != "keep"}
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
    """Says on standard error which columns are kept unasked, and which tables have none of that name."""
    again = [name for name in kept if any(name in said["keep"] for _, said in sources)]
    if again:
        say(f"kept, as in the index: {', '.join(again)} (--keep names others)")
    for source, said in sources:
        lacking = [name for name in kept if name not in said["keep"]]
        if lacking and any(KINDS[kind].is_table for kind in source.kinds):
            say(f"{source.path} has no column {', '.join(lacking)}, as the index has: null for its documents", "yellow")


def tell_ignored(ignored: list[str], kind: str) -> None:
    """Says on standard error which files of folders are not read."""
    if ignored:
        more = f" and {len(ignored) - 3} more" if len(ignored) > 3 else ""
        said = f"not read, of no known kind or another: {', '.join(ignored[:3])}{more}"
        say(f"{said} (--kind text reads text of any name)" if kind == "auto" else said, "yellow")


def text_bytes(out: ChunkBatch) -> int:
    """Bytes of text in chunks."""
    ends, starts = out.table.column("end_byte"), out.table.column("start_byte")
    return int(pc.sum(pc.subtract(ends, starts)).as_py() or 0)


class NullProgress:
    """Takes what bars of Rich are told."""

    def __enter__(self) -> NullProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_task(self, *_: Any, **__: Any) -> Any:
        return 0

    def update(self, *_: Any, **__: Any) -> None:
        pass

    def remove_task(self, _: Any) -> None:
        pass

    def stop(self) -> None:
        pass


def progress_bar(name: str, console: Console | None = None) -> Progress | NullProgress:
    """A bar with a field ``rate``, shown on a terminal alone."""
    if console is None and not has_terminal():
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
        transient=True,  # what it came to is said after it
    )


def rate_of(size: int, begun: float) -> str:
    """Megabytes a second since a moment of ``time.monotonic``."""
    return rate_in(size, time.monotonic() - begun)


def rate_in(size: int, seconds: float) -> str:
    """Megabytes a second of so many seconds."""
    rate = size / 1e6 / max(1e-9, seconds)
    if rate < 0.1:
        return f"{1e3 * rate:.2g} kB/s"
    return f"{rate:.0f} MB/s" if rate >= 10 else f"{rate:.2g} MB/s"
