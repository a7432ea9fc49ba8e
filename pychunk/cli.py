"""The command line: a thin shell over segment(), the methods and the readers."""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import bench_cli, engine, eval_cli, index_cli, model_cli
from .chunks import Chunk, ChunkBatch
from .cli_batches import Shares, progress_bar, rate_of, segmented
from .cli_errors import readable_errors
from .io import readers, writers
from .methods import METHODS
from .segmenter import Segmenter

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    help="Cut documents into exact, semantically coherent chunks.",
)


app.add_typer(model_cli.app, name="model")
app.command("export")(model_cli.export)
app.command("eval", epilog=eval_cli.EPILOG)(eval_cli.evaluate)
app.command("index", epilog=index_cli.INDEX_EPILOG)(index_cli.index)
app.command("bench", epilog=bench_cli.EPILOG)(bench_cli.bench)
app.command("search", epilog=index_cli.SEARCH_EPILOG)(index_cli.search)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pychunk {engine.backend()['version']}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cut documents into exact, semantically coherent chunks."""


EPILOG = """Examples:

pychunk segment README.md

pychunk segment articles.parquet --id-column id -o chunks.parquet

cat notes.txt | pychunk segment - --method fixed --size 100 --unit words

pychunk segment docs.jsonl.gz --method semantic --threshold percentile:10 -o chunks.jsonl

pychunk model get minilm && pychunk segment notes.md --encoder minilm --vectors chunk -o chunks.parquet"""


@app.command(epilog=EPILOG)
def segment(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files ({', '.join(readers.KNOWN)}), or - for standard input."),
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help=f"File to write ({', '.join(writers.KNOWN)}); default: show.")
    ] = None,
    method: Annotated[str, typer.Option("-m", "--method", help="How to cut; see `pychunk methods`.")] = "pic",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="What sees the sentences: static, a name from `pychunk model list`, or an exported model's folder."
        ),
    ] = None,
    vector_encoder: Annotated[
        str | None, typer.Option(help="Encoder of the vectors that --vectors adds; default: the same.")
    ] = None,
    runtime: Annotated[
        str, typer.Option(help="What runs a transformer: onnxruntime, openvino or torch; auto: torch on a GPU.")
    ] = "auto",
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:1; auto is cpu.")] = "auto",
    precision: Annotated[
        str, typer.Option(help="torch: fp32, fp16, bf16 or mixed; auto: mixed on a GPU, else fp32.")
    ] = "auto",
    column: Annotated[str | None, typer.Option(help="Column that holds the text, if there are several.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of document ids, kept as `id`.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N documents.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default: every CPU at hand.")] = None,
    max_tokens: Annotated[str, typer.Option(help="Longest chunk in tokens: a number, none or auto.")] = "auto",
    min_tokens: Annotated[int, typer.Option(help="Shorter chunks join a neighbour.")] = 0,
    overlap: Annotated[int, typer.Option(help="Tokens repeated from the chunk before.")] = 0,
    vectors: Annotated[str | None, typer.Option(help="Add vectors: chunk or sentence.")] = None,
    wrap: Annotated[bool, typer.Option(help="Treat line breaks in hard-wrapped text as spaces.")] = True,
    on_error: Annotated[str, typer.Option(help="Rows that are not text: raise or skip.")] = "raise",
    size: Annotated[int | None, typer.Option(help="fixed, recursive: longest chunk, in --unit.")] = None,
    unit: Annotated[str | None, typer.Option(help="fixed, recursive: tokens, words or characters.")] = None,
    threshold: Annotated[
        str | None, typer.Option(help="semantic, nsp: a number, or kind:value such as percentile:20, std:1, iqr:1.5.")
    ] = None,
    window: Annotated[int | None, typer.Option(help="semantic: sentences compared on either side.")] = None,
    summary: Annotated[
        str | None, typer.Option(help="pic: extractive, mean, lead, title, given, sentence, random.")
    ] = None,
    summary_column: Annotated[str | None, typer.Option(help="pic: column of summaries, or of titles.")] = None,
    k: Annotated[float | None, typer.Option(help="pic: threshold = mean + k deviations.")] = None,
) -> None:
    """Cut documents into chunks and show them, or write them to a file that appears whole or not at all."""
    options: dict[str, Any] = {"size": size, "unit": unit, "window": window, "summary": summary, "k": k}
    options = {name: value for name, value in options.items() if value is not None}
    with readable_errors("interrupted; nothing was written"):
        if threshold is not None:
            options["threshold"] = _threshold(threshold)
        if summary_column is not None and "summary" not in options:
            options["summary"] = "given"
        made = Segmenter(
            method,
            encoder=encoder,
            vector_encoder=vector_encoder,
            runtime=runtime,
            device=device,
            precision=precision,
            max_tokens=_tokens(max_tokens),
            min_tokens=min_tokens,
            overlap=overlap,
            vectors=vectors,
            wrap="auto" if wrap else False,
            threads=threads,
            on_error=on_error,
            **options,
        )
        shares = Shares()
        batches = segmented(made, inputs, column, id_column, summary_column, limit, shares)
        if output is None:
            _show(batches)
        else:
            _write(batches, output, shares)


def _tokens(value: str) -> int | str | None:
    if value == "auto":
        return value
    if value.lower() == "none":
        return None
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--max-tokens must be a number, none or auto; got {value!r}") from None


def _threshold(value: str) -> tuple[str, float] | float:
    kind, colon, number = value.rpartition(":")
    try:
        return (kind, float(number)) if colon else float(number)
    except ValueError:
        raise ValueError(f"--threshold must be a number or kind:value such as percentile:20; got {value!r}") from None


def _write(batches: Iterator[tuple[ChunkBatch, int]], output: str, shares: Shares) -> None:
    errors = Console(stderr=True)
    documents = chunks = size = left_out = 0
    begun = time.monotonic()
    bar = progress_bar("segment", errors)
    with writers.Writer(output) as writer, bar:
        task = bar.add_task("", total=1.0, rate="")
        shares.show = lambda share: bar.update(task, completed=share)
        for out, bytes_ in batches:
            writer.write(out.table)
            documents, chunks, size = documents + out.documents, chunks + len(out), size + bytes_
            left_out += len(out.errors)
            rate = f"{documents:,} documents, {chunks:,} chunks, {rate_of(size, begun)}"
            bar.update(task, completed=shares.done, rate=rate)
            for error in out.errors[:20]:
                bar.console.print(Text(f"left out row {error.row}: {error.reason}", style="yellow"))
    skipped = f", {left_out} rows left out" if left_out else ""
    errors.print(
        f"{documents:,} documents, {chunks:,} chunks, {rate_of(size, begun)}{skipped}: {output}", highlight=False
    )


def _show(batches: Iterator[tuple[ChunkBatch, int]]) -> None:
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    for out, _ in batches:
        for chunk in out:
            console.print(_header(chunk))
            console.print(Text(chunk.text))
            console.print()
        for error in out.errors:
            Console(stderr=True).print(Text(f"left out row {error.row}: {error.reason}", style="yellow"))


def _header(chunk: Chunk) -> Text:
    name = chunk.document if chunk.id is None else chunk.id
    header = Text(f"document {name}, chunk {chunk.chunk}", style="bold cyan")
    header.append(f"  {chunk.start}:{chunk.end}", style="dim")
    if chunk.tokens is not None:
        header.append(f"  {chunk.tokens} tokens", style="dim")
    if chunk.kind is not None:
        header.append(f"  {chunk.kind}", style="green" if chunk.kind == "relevant" else "dim")
    if chunk.score is not None:
        header.append(f"  {chunk.score:.3f}", style="dim")
    return header


@app.command()
def methods() -> None:
    """Explain the methods and their options."""
    console = Console(highlight=False)
    for name, method in METHODS.items():
        options = inspect.signature(method).parameters.values()
        shown = ", ".join(f"{option.name}={option.default!r}" for option in options) or "no options of its own"
        console.print(Text(name, style="bold cyan").append(f"  {shown}", style="dim"))
        console.print(Text(inspect.cleandoc(method.__doc__ or "").replace("``", "")))
        console.print()
    console.print("All methods take --max-tokens, --min-tokens, --overlap and --vectors.")


@app.command()
def backend() -> None:
    """Say what runs: version, instruction set, threads, CUDA."""
    table = Table(show_header=False, box=None)
    for name, value in engine.backend().items():
        shown = value["why"] or ", ".join(value["devices"]) if name == "cuda" else value
        table.add_row(name, ", ".join(shown) if isinstance(shown, list) else str(shown))
    Console(highlight=False).print(table)


if __name__ == "__main__":
    app()
