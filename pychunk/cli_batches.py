"""Documents from files through a segmenter, batch by batch, with progress: what the commands share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from .chunks import ChunkBatch
from .io import readers
from .segmenter import Segmenter


class Shares:
    """How much of the input is done, told to whoever shows it, also inside a batch that takes minutes."""

    def __init__(self) -> None:
        self.done = 0.0
        self.show: Callable[[float], None] = lambda _: None

    def within(self, stop: float) -> Callable[[int, int], None]:
        """Progress of a batch that ends at the share `stop`."""
        begun = self.done
        return lambda done, total: self.show(begun + (stop - begun) * done / max(1, total))


def segmented(
    made: Segmenter,
    inputs: list[str],
    column: str | None,
    id_column: str | None,
    summary_column: str | None,
    limit: int | None,
    shares: Shares,
) -> Iterator[tuple[ChunkBatch, int]]:
    """(chunks, bytes of text) batch by batch; `shares` knows how much of the input is done."""
    first = 0
    wanted = [name for name in (column, id_column, summary_column) if name] if column else None
    total = readers.size_of(inputs)
    before = 0
    for path in inputs:
        size = readers.size_of([path])
        rows, start = 0, first
        for table in readers.read(path, columns=wanted):
            if limit is not None:
                table = table.slice(0, max(0, limit - first))
                if table.num_rows == 0:
                    return
            is_text = path == "-" or readers.kind_of(path) in readers.TEXT
            arguments: dict[str, Any] = {"first_document": first}
            if summary_column is not None:
                by_title = getattr(made.method, "summary", None) == "title"
                arguments["titles" if by_title else "summaries"] = summary_column
            ids = id_column if not is_text else "file" if len(inputs) > 1 else None
            rows += table.num_rows
            read = before + min(
                size, rows * size // max(1, _rows(path, rows, None if limit is None else limit - start))
            )
            share = read / total if total else 0.0
            out = made(table, column="text" if is_text else column, ids=ids, progress=shares.within(share), **arguments)
            first += out.documents
            shares.done = share
            yield out, text_bytes(out)
        before += size
    if first == 0:  # a file without documents becomes a table without rows
        yield made([], ids=[] if id_column else None), 0


def _rows(path: str, seen: int, limit: int | None) -> int:
    """Rows of a Parquet file, as far as they are wanted; of others, those seen."""
    rows = seen
    if path.lower().endswith(".parquet"):
        import pyarrow.parquet as pq

        rows = int(pq.read_metadata(path).num_rows)
    return rows if limit is None else min(rows, limit)


def text_bytes(out: ChunkBatch) -> int:
    """Bytes of text in chunks."""
    ends, starts = out.table.column("end_byte"), out.table.column("start_byte")
    return int(pc.sum(pc.subtract(ends, starts)).as_py() or 0)


def progress_bar(name: str, console: Console) -> Progress:
    """A bar with a field ``rate``, shown on a terminal alone."""
    return Progress(
        TextColumn(name),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def counted(number: int, noun: str) -> str:
    """``1 shard``, ``1,200 shards``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def rate_of(size: int, begun: float) -> str:
    """Megabytes a second since a moment of ``time.monotonic``."""
    rate = size / 1e6 / max(1e-9, time.monotonic() - begun)
    return f"{rate:.0f} MB/s" if rate >= 10 else f"{rate:.2g} MB/s"
