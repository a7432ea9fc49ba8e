"""The command line: a thin shell over segment(), the methods and the readers; one file a command."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from . import about, bench, evaluate, index, ingest, model, search, segment, view

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    help="Cut documents into exact, semantically coherent chunks.",
)


app.add_typer(model.app, name="model")
app.command("export")(model.export)
app.command("eval", epilog=evaluate.EPILOG)(evaluate.evaluate)
app.command("ingest", epilog=ingest.EPILOG)(ingest.command)
app.command("index", epilog=index.EPILOG)(index.index)
app.command("bench", epilog=bench.EPILOG)(bench.bench)
app.command("search", epilog=search.EPILOG)(search.search)
app.command("segment", epilog=segment.EPILOG)(segment.segment)
app.command("view", epilog=view.EPILOG)(view.view)
app.command("methods")(about.methods)
app.command("backend")(about.backend)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pychunk {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cut documents into exact, semantically coherent chunks."""
