"""The command `ingest`, which cuts whole corpora."""

from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TaskID

from .._util.counting import counted
from ..ingest import IngestError, Report, ingest
from ..ingest.dead_letters import NAME as LETTERS
from ..ingest.run import SHARD_BYTES, Progress
from ..ingest.run_folder import DUPLICATES
from ..ingest.shards import COMPRESSIONS
from ..io import KINDS
from .llm import LLMOptions, LLMReport, with_llm
from .shared.batches import NullProgress, progress_bar, rate_in, rate_of, tell_ignored
from .shared.console import errors, say, sized
from .shared.errors import cap_memory, readable_errors
from .shared.option_groups import with_groups
from .shared.segment_options import ContextOptions, Kind, ReaderOptions, SegmentOptions, Vectors

EPILOG = """Examples:

pychunk ingest articles.parquet --column text -o wiki.chunks

pychunk ingest enwiki-20240601-pages-articles.xml.bz2 -o wiki.chunks --reader workers=16 --compression zstd

pychunk ingest enwiki-20240601-pages-articles.xml.bz2 -o wiki.chunks --reader workers=16 --compression zstd --resume

pychunk ingest 2023.jsonl 2024.jsonl notes/ --ids id -o all.chunks

pychunk ingest notes/ --kind text -m recursive:size=200,unit=words --vectors chunk -o notes.chunks

pychunk ingest articles.parquet --column text --update -o wiki.chunks    (each night: cuts only what has changed)

pychunk ingest articles.parquet --column text --sample 1000,seed=7 -o sample.chunks

pychunk ingest docs/ -m autochunker --llm-price 0.5,1.5 --max-cost 2 -o docs.chunks --resume

To read the chunks: duckdb -c "select count(*) from 'wiki.chunks/*.parquet'", or
pyarrow.dataset.dataset("wiki.chunks").

The exit status is 0 if the run is complete, 2 after wrong use, and 130 after Ctrl-C. It is 1 if the run was stopped
(also by --max-cost), if nothing could be read, or if something could not be read with --strict."""


@with_groups
def command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help=f"Files, folders or URLs ({', '.join(KINDS)}), read in this order."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUTDIR", help="Folder for the shards.")],
    *,
    cutting: SegmentOptions,
    vectors: Vectors,
    beside: ContextOptions,
    kind: Kind = "auto",
    reading: ReaderOptions,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="N[,seed=S]",
            help="Segment only a sample: the N documents whose ids have the lowest hashes, with seed S (default: 0). "
            "Reads the source twice.",
        ),
    ] = None,
    compression: Annotated[
        str,
        typer.Option(
            metavar="CODEC[,shard_size=MB]",
            help=f"Compression of the shards: {', '.join(COMPRESSIONS)}; megabytes of text in a shard (default: 128).",
        ),
    ] = "none",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a stopped run, or start if there is none.")
    ] = False,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Also continue if the sources have changed: cut only new and changed documents, and list the chunks "
            "that changed in _changes.parquet. Pass it from the first run on.",
        ),
    ] = False,
    dedupe: Annotated[
        str | None,
        typer.Option(
            metavar="exact|near[,share=S]",
            help="Leave out copies of earlier documents, and list them in _duplicates.parquet. near: with at least the "
            "share S of common text, 0.5 to 1 (default: 0.8); all texts are in memory.",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with status 1 if anything in the sources could not be read, or if a file was ignored.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors, no progress and no totals.")] = False,
    asking: LLMOptions,
) -> None:
    """Cut a whole corpus into a folder of Parquet files.

    If anything stops the run, the same command with --resume continues it and writes the same bytes as an uninterrupted
    run. It needs the same sources in the same order, because they number the documents. Threads and workers never
    change a byte of the output.

    With --update, the sources may have changed since the last run, which must have had --update, too. OUTDIR gets the
    rows of a new run in one step.

    OUTDIR holds complete shards (part-000000.parquet ...) and two other files. _manifest.json lists the source, the
    options, the versions and the SHA-256 of every shard. _dead_letters.jsonl lists what could not be read, where, and
    why.
    """
    console = Console(stderr=True, quiet=True) if quiet else errors()
    stopped = f"interrupted; complete shards are kept in {output}: the same command with --resume continues"
    if update:
        stopped = f"interrupted; {output} is unchanged or complete: the same command continues"
    with readable_errors(stopped, inputs=reading.named(sources), quiet=quiet):
        cap_memory(cutting.where)
        codec, shard_size = _compression_of(compression)
        drawn, seed = (None, 0) if sample is None else _sample_of(sample)
        options = cutting.options(reading.said, **vars(vectors), **vars(beside))
        told = LLMReport(asking.client(options), console)
        if told.llm is not None:
            options = with_llm(options, told.llm)
        with told, progress_bar("ingest", console) as bar:
            try:
                report = ingest(
                    sources,
                    output,
                    kind=kind,
                    columns=reading.roles,
                    ids=reading.ids,
                    metadata_columns=reading.metadata_columns or (),
                    **reading.reading,
                    limit=reading.limit,
                    sample=drawn,
                    seed=seed,
                    shard_bytes=round(shard_size * 1e6),
                    compression=codec,
                    resume=resume,
                    update=update,
                    dedupe=None if dedupe is None else _dedupe_of(dedupe),
                    strict=strict,
                    progress=_shown(bar, bar.add_task("", total=1.0, rate="")),
                    **options,
                )
            except IngestError as error:
                bar.stop()
                say(f"error: {error}", "red")
                raise typer.Exit(1) from None
    if asking.dry_run:
        return
    _summarise(report, console, kind, strict=strict)
    nothing = report.letters and not report.documents
    if nothing:
        message = f"error: nothing could be read; {output / LETTERS} lists the reasons, first: {_first_letter(output)}"
        say(message, "red")
    if nothing or (strict and report.letters):
        raise typer.Exit(1)


def _first_letter(output: Path) -> str:
    with open(output / LETTERS, encoding="utf-8") as file:
        letter = json.loads(file.readline())
    return f"{letter['source']}, {letter['position']}: {letter['reason']}"


def _shown(bar: Bar | NullProgress, task: TaskID) -> Progress:
    begun = time.monotonic()

    def show(share: float, report: Report) -> None:
        rate = f"{rate_of(report.new_text_bytes, begun)}, {counted(report.new_shards, 'shard')}"
        bar.update(task, completed=share, rate=rate)

    return show


def _summarise(report: Report, console: Console, kind: str, *, strict: bool) -> None:
    tell = partial(say, console=console)
    for name in report.removed:
        tell(f"removed {name}, which was incomplete", "yellow")
    for each in report.damaged:
        tell(f"made again: {each}", "yellow")
    if not console.quiet:
        tell_ignored(report.ignored, kind)
    if report.repeated:
        tell(f"{report.repeated} (counted from 0)", "yellow")
    if report.dropped:
        templates = counted(report.dropped, "template")
        tell(
            f"{templates} removed inside sentences, because their text is unknown "
            "(--metadata-columns dropped_templates lists them)"
        )
    if report.duplicates:
        copies = counted(report.duplicates, "document")
        tell(f"{copies} left out as copies of earlier ones, listed in {report.folder / DUPLICATES}")
    if report.letters:
        tell(f"{counted(report.letters, 'dead letter')}, listed in {report.folder / LETTERS}", "yellow")
    if report.changes:
        cut = counted(report.documents - report.kept, "document")
        listed = ", ".join(f"{count:,} {change}" for change, count in report.changes.items())
        tell(f"{cut} cut, {report.kept:,} unchanged; chunks of documents that changed: {listed}")
    documents, chunks = counted(report.documents, "document"), counted(report.chunks, "chunk")
    documents += f" ({report.blank:,} without text)" if report.blank else ""
    totals = f"{documents}, {chunks}, {sized(report.text_bytes)} of text"
    unread = f", {counted(len(report.ignored), 'file')} not read" if report.ignored and not strict else ""
    if report.did_nothing:
        tell(f"{report.folder} is complete already, nothing to do: {totals}{unread}, {counted(report.shards, 'shard')}")
        return
    rate = rate_in(report.new_text_bytes, report.seconds)
    shards = f"{counted(report.shards, 'shard')} ({report.new_shards} new)"
    tell(f"{totals}, {rate}, {counted(report.letters, 'failure')}{unread}, {shards}: {report.folder}")


def _compression_of(text: str) -> tuple[str, float]:
    """Return the codec and the megabytes of text in a shard that ``--compression`` names.

    Raises:
        ValueError: The text is not a codec, or a codec and a size of at least 0.001.

    >>> _compression_of("zstd,shard_size=64"), _compression_of("none")
    (('zstd', 64.0), ('none', 128.0))
    """
    found = re.fullmatch(rf"({'|'.join(COMPRESSIONS)})(?:,shard_size=(\d+(?:\.\d+)?))?", text)
    if found is None or float(found[2] or 1) < 0.001:
        raise ValueError(
            f"--compression must be one of {', '.join(COMPRESSIONS)}, or one with the megabytes of a shard (at least "
            f"0.001), zstd,shard_size=64; got {text!r:.80}"
        )
    return found[1], float(found[2] or SHARD_BYTES / 1e6)


def _dedupe_of(text: str) -> str | float:
    """Return the copies that ``--dedupe`` names, as the argument of ``ingest``.

    Raises:
        ValueError: The text is neither exact nor near, nor near with a share.

    >>> _dedupe_of("exact"), _dedupe_of("near,share=0.9")
    ('exact', 0.9)
    """
    found = re.fullmatch(r"(exact|near)|near,share=([01]?\.?\d+)", text)
    if found is None:
        raise ValueError(
            f"--dedupe must be exact, near, or near with the least share, near,share=0.9; got {text!r:.80}"
        )
    return found[1] or float(found[2])


def _sample_of(text: str) -> tuple[int, int]:
    """Return the size and the seed that ``--sample`` names.

    Raises:
        ValueError: The text is not a number of at least 1, or a number and a seed.
    """
    found = re.fullmatch(r"(\d+)(?:,seed=(-?\d+))?", text)
    if found is None or int(found[1]) < 1:
        raise ValueError(
            f"--sample must be a number of at least 1, or a number with a seed, 100,seed=7; got {text!r:.80}"
        )
    return int(found[1]), int(found[2] or 0)
