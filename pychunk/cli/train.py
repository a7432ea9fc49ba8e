"""The commands that train models on the user's own data. Each trainer parses its own options."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import typer

from .shared.errors import readable_errors

#: The module of each trainer in :mod:`pychunk.training`, and a line of help, by the name of the command.
TRAINERS = {
    "planner": ("planner", "Train the network that chooses the levels for a query."),
    "rank": ("rank", "Train the weights of --rerank features from articles alone."),
    "static": ("static", "Train a static encoder that replaces a transformer."),
    "traces": ("stitch.traces", "Make the questions and traces that stitch learns from, with an LLM."),
    "stitch": ("stitch.command", "Train a language model that reasons about levels, with STITCH."),
}

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train a model on your own data (extra train). Pass --help to a command for its options.",
)


def _command(module: str) -> Callable[[typer.Context], None]:
    def train(context: typer.Context) -> None:
        with readable_errors("interrupted"):
            status = importlib.import_module(f"pychunk.training.{module}").main(context.args)
        raise typer.Exit(status)

    return train


for _name, (_module, _text) in TRAINERS.items():
    app.command(
        _name,
        help=_text,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_command(_module))
