"""The entry point of the command line, which lists the commands and imports each one when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from .._util.startup import loaded
from .shared.commands import Command
from .shared.value_types import read_quickly

#: The file of each command and the name of its function or group there, by command. The most common ones come first.
COMMANDS = {
    "segment": ("segment", "segment"),
    "view": ("view", "view"),
    "diff": ("diff", "diff"),
    "methods": ("methods", "methods"),
    "formats": ("formats", "formats"),
    "index": ("index", "index"),
    "search": ("search", "search"),
    "ingest": ("ingest", "command"),
    "serve": ("serve", "serve"),
    "eval": ("evaluate", "evaluate"),
    "model": ("model", "app"),
    "export": ("model", "export"),
    "train": ("train", "app"),
    "llm": ("llm", "app"),
    "bench": ("bench", "bench"),
    "doctor": ("doctor", "doctor"),
}
#: The line about each command in the list of commands, short enough for a list of 80 columns. The lines are not taken
#: from the commands' own help, because all commands would have to be imported for that.
IN_SHORT = {
    "segment": "Cut documents into chunks: show them, or write them to a file.",
    "view": "Show chunks, scores and sizes on one page of HTML.",
    "diff": "Compare two files of chunks: kept, moved, added, removed.",
    "methods": "Explain the methods and their options.",
    "formats": "List the kinds of files, and which are readable here.",
    "index": "Cut documents and add them to an index, or update it.",
    "search": "Find the chunks of an index that answer a question.",
    "ingest": "Cut a whole corpus into Parquet files; --resume continues.",
    "serve": "Answer HTTP requests: segment, tokenise, embed, search.",
    "eval": "Compare methods on the same questions, with intervals and costs.",
    "model": "Get and list the transformers for --encoder and --rerank.",
    "export": "Export a transformer to a folder for --encoder or --rerank.",
    "train": "Fit a planner, a reranker or an encoder on your own data.",
    "llm": "Check what the LLM at an endpoint offers.",
    "bench": "Time fixed workloads with known answers, to find slowdowns.",
    "doctor": "Check this installation: what works, what is missing.",
}


class _CommandLoader(dict[str, Any]):
    """The commands by name, each imported at first use, because importing all of them takes most of a second."""

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
        super().__init__(**{**options, "commands": _CommandLoader()})

    def get_params(self, ctx: Any) -> list[Any]:
        return read_quickly(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, IN_SHORT[name]) for name in self.list_commands(ctx)])


def _command(name: str) -> Any:
    file, called = COMMANDS[name]
    try:
        module = importlib.import_module(f".{file}", __package__)
        loaded()
    except KeyboardInterrupt:  # Ctrl-C ends the command without a message here, as it does during other imports
        sys.exit(130)
    found = getattr(module, called)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.callback()(lambda: None)  # a callback makes it a group even with a single command
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name, cls=Command, epilog=getattr(module, "EPILOG", None))(found)
    group: Any = typer.main.get_command(alone)
    command = group.commands[name]
    command.short_help = IN_SHORT[name]
    if isinstance(command, Command):
        command.headings = getattr(found, "headings", {})
    return command


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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    log_format: Annotated[
        str,
        typer.Option(
            metavar="text|json",
            help="Messages on standard error: text, or json, one object a line, without a progress bar.",
        ),
    ] = "text",
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Memory that a run may use, such as 2GB. It decides how many processes start and how much text is cut "
            "at a time, never what is written; a run that needs more ends with a message. Default: that of the "
            "machine or the container.",
        ),
    ] = None,
) -> None:
    """Cut documents into exact, semantically coherent chunks."""
    from .shared.console import use_json  # imported here, like memory below, because --help needs neither

    if log_format not in ("text", "json"):
        raise typer.BadParameter(f"--log-format must be text or json; got {log_format!r:.80}")
    use_json(log_format == "json")
    if memory_limit is not None:
        from .._util import memory

        try:
            memory.bytes_of(memory_limit)
        except ValueError as error:
            raise typer.BadParameter(f"--memory-limit: {error}") from None
        os.environ[memory.VARIABLE] = memory_limit
        memory.cap()
