"""Documents from files through a segmenter, batch by batch, with progress: what the commands share."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..chunks import ChunkBatch
from ..io import readers
from ..io.documents import DeadLetter, DeadLetters
from ..io.tables import Part
from ..segmenter import Segmenter


class Shares:
    """How much of the input is done, told to whoever shows it, also inside a batch that takes minutes."""

    def __init__(self) -> None:
        self.done = 0.0
        self.show: Callable[[float], None] = lambda _: None

    def within(self, stop: float) -> Callable[[int, int], None]:
        """Progress of a batch that ends at the share `stop`."""
        begun = self.done
        return lambda done, total: self.show(begun + (stop - begun) * done / max(1, total))


class LeftOut:
    """What is told of documents that could not be read: the first 20, and how many there are."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, soft_wrap=True)
        self.count = 0

    def __call__(self, letter: DeadLetter) -> None:
        self.count += 1
        if self.count <= 20:
            place = "" if letter.position == "whole file" else f", {letter.position}"
            self.console.print(Text(f"left out {letter.source}{place}: {letter.reason}", style="yellow"))


def segmented(
    made: Segmenter,
    inputs: list[str],
    column: str | None,
    id_column: str | None,
    summary_column: str | None,
    limit: int | None,
    shares: Shares,
    dead_letters: DeadLetters = readers.refuse,
    *,
    named: bool = False,
) -> Iterator[tuple[ChunkBatch, int]]:
    """(chunks, bytes of text) batch by batch; `shares` knows how much of the input is done.

    The id of a text file is its name where there are several inputs; with `named` that of a single one, too.
    """
    first = 0
    others = [summary_column] if summary_column else []
    total = readers.size_of(inputs)
    before = 0
    for path in inputs:
        size = readers.size_of([path])
        rows, start = 0, first
        is_text = path == "-" or readers.kind_of(path) in readers.TEXT
        for part in readers.read(path, column=column, id_column=id_column, others=others, dead_letters=dead_letters):
            table = part.table
            if limit is not None:
                table = table.slice(0, max(0, limit - first))
                if table.num_rows == 0:
                    return
            arguments: dict[str, Any] = {"first_document": first}
            if summary_column is not None:
                by_title = getattr(made.method, "summary", None) == "title"
                arguments["titles" if by_title else "summaries"] = summary_column
            ids = id_column if not is_text else "file" if len(inputs) > 1 or (named and path != "-") else None
            rows += table.num_rows
            read = before + min(
                size, rows * size // max(1, _rows(path, rows, None if limit is None else limit - start))
            )
            share = read / total if total else 0.0
            try:
                out = made(table, column=part.column or column, ids=ids, progress=shares.within(share), **arguments)
            except (ValueError, TypeError) as error:
                raise _placed(error, path, part) from None
            for row, reason in out.errors:
                dead_letters(DeadLetter(path, _place(part, row - first), reason))
            first += out.documents
            shares.done = share
            yield out, text_bytes(out)
        before += size
    if first == 0:  # a file without documents becomes a table without rows
        yield made([], ids=[] if id_column else None), 0


def _placed(error: ValueError | TypeError, path: str, part: Part) -> Exception:
    """An error about a row of a table, as one about a row or line of a file, with the command line's remedy."""
    found = re.match(
        r"row (\d+): (.*?)( \(\d+ more rows cannot be used\))?; mend it or pass on_error='skip'$", str(error)
    )
    if found is None:
        return error
    place = _place(part, int(found[1]))
    return ValueError(f"{path}, {place}: {found[2]}{found[3] or ''}; mend it, or segment with --on-error skip")


def _place(part: Part, row: int) -> str:
    return f"{part.unit} {part.numbers[row]}"


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
