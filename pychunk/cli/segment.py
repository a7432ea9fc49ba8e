"""The command `segment`, which cuts documents."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.text import Text

from .._util.counting import counted
from ..chunks.batch import ChunkBatch
from ..io import KINDS, writers
from ..io.duplicate_ids import DuplicateIds
from ..segmenter import Segmenter
from .llm import LLMOptions, LLMReport, with_llm
from .shared.batches import InputProgress, SkippedDocuments, documents, progress_bar, rate_of, refuse, segmented
from .shared.console import say
from .shared.errors import readable_errors
from .shared.option_groups import with_groups
from .shared.outputs import Overwrite, check_output
from .shared.score_listing import header, with_curves
from .shared.segment_options import ContextOptions, Kind, OnError, ReaderOptions, SegmentOptions, Vectors
from .shared.tree_listing import has_tree, print_removed, print_tree

_OUTPUT = f"File to write ({', '.join(writers.KNOWN)}), or - for JSON Lines on standard output; default: a listing."

EPILOG = """Examples:

pychunk segment README.md

pychunk segment articles.parquet --ids id --metadata-columns title -o chunks.parquet

pychunk segment README.md -m semantic --scores

pychunk segment page.html --reader noise=off

cat notes.txt | pychunk segment - -m fixed:size=100,unit=words

pychunk segment docs.jsonl.gz -m semantic:threshold=percentile:10 -o - | gzip > chunks.jsonl.gz

pychunk model get minilm && pychunk segment notes.md --encoder minilm --vectors chunk -o chunks.parquet"""


@with_groups
def segment(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files, folders, URLs ({', '.join(KINDS)}), or - for standard input."),
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help=_OUTPUT),
    ] = None,
    overwrite: Overwrite = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Show the scores of each chunk's sentences, and each document's threshold.")
    ] = False,
    *,
    cutting: SegmentOptions,
    vectors: Vectors,
    beside: ContextOptions,
    kind: Kind = "auto",
    reading: ReaderOptions,
    on_error: OnError = "raise",
    asking: LLMOptions,
) -> None:
    """Cut documents into chunks and show them, or write them to a file.

    The output file appears only once it is complete.
    """
    inputs = reading.named(inputs)
    with readable_errors("interrupted; nothing was written", inputs=inputs):
        if scores and output is not None:
            raise ValueError("--scores cannot be combined with -o; in Python, Segmenter.scores() returns a table")
        if output not in (None, "-"):
            check_output(output, inputs, overwrite=overwrite)
        options = cutting.options(reading.said, **vars(vectors), **vars(beside))
        told = LLMReport(asking.client(options))
        if told.llm is not None:
            options = with_llm(options, told.llm)
        made = Segmenter(**options, on_error=cast(Any, on_error))
        shares = InputProgress()
        left_out = SkippedDocuments()
        tell = left_out if on_error == "skip" else refuse
        if scores:
            with_curves(made, documents([made], inputs, kind, reading, tell))
            return
        repeats = DuplicateIds()
        batches = segmented(made, inputs, kind, reading, shares, tell, alike=output is not None, repeats=repeats)
        batches = _seen(batches, told)
        with told:
            if asking.dry_run:
                for _ in batches:
                    pass
            elif output is None:
                _show(batches)
            else:
                _write(batches, output, shares, left_out)
        if repeats.found:
            say(f"{repeats.found} (counted from 0)", "yellow")


def _seen(batches: Iterator[tuple[ChunkBatch, int]], told: LLMReport) -> Iterator[tuple[ChunkBatch, int]]:
    for out, bytes_ in batches:
        told.see(out)
        yield out, bytes_


def _write(
    batches: Iterator[tuple[ChunkBatch, int]], output: str, shares: InputProgress, left_out: SkippedDocuments
) -> None:
    documents = chunks = size = 0
    begun = time.monotonic()
    bar = progress_bar("segment")
    with writers.Writer(output) as writer, bar:
        task = bar.add_task("", total=1.0, rate="")
        shares.show = lambda share: bar.update(task, completed=share)
        for out, bytes_ in batches:
            writer.write(out.table)
            documents, chunks, size = documents + out.documents, chunks + len(out), size + bytes_
            rate = f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}, {rate_of(size, begun)}"
            bar.update(task, completed=shares.done, rate=rate)
    skipped = f", {left_out.count:,} skipped" if left_out.count else ""
    say(f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}, {rate_of(size, begun)}{skipped}: {output}")


def _show(batches: Iterator[tuple[ChunkBatch, int]]) -> None:
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    shown = 0
    for out, _ in batches:
        shown += len(out)
        if has_tree(out):
            print_tree(console, out)
        for chunk in () if has_tree(out) else out:
            console.print(header(chunk))
            console.print(Text(chunk.text))
            console.print()
        print_removed(console, out)
    if not shown:
        say("there is nothing to show, because no document has text", "yellow")
