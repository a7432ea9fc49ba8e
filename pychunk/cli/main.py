"""The command line: a thin shell over segment(), the methods and the readers; one file a command."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__

#: By name the file of a command and what it is called there, or the group of commands.
COMMANDS = {
    "model": ("model", "app"),
    "export": ("model", "export"),
    "eval": ("evaluate", "evaluate"),
    "ingest": ("ingest", "command"),
    "index": ("index", "index"),
    "bench": ("bench", "bench"),
    "search": ("search", "search"),
    "segment": ("segment", "segment"),
    "view": ("view", "view"),
    "methods": ("about", "methods"),
    "backend": ("about", "backend"),
}


class _Made(dict[str, Any]):
    """Commands by name, each imported when it is asked for: all of them together take most of a second."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(COMMANDS))

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        if found is None:
            found = self[name] = _command(name)
        return found

    def get(self, name: str, default: Any = None) -> Any:
        if name not in self:
            return default
        return self[name]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]


class _Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "commands": _Made()})


def _command(name: str) -> Any:
    file, called = COMMANDS[name]
    try:
        module = importlib.import_module(f".{file}", __package__)
    except KeyboardInterrupt:  # without a word, as while the rest loads
        sys.exit(130)
    found = getattr(module, called)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.callback()(lambda: None)  # so that it is a group, also of one command
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name, epilog=getattr(module, "EPILOG", None))(found)
    group: Any = typer.main.get_command(alone)
    return group.commands[name]


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    help="Cut documents into exact, semantically coherent chunks.",
)


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
