"""Commands that fit models on the user's own data; each trainer reads its options itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import typer

from .shared.errors import readable_errors

#: By name the trainer's module in :mod:`pychunk.training`, and a line about it.
TRAINERS = {
    "planner": ("planner", "The network that chooses levels of an index for a query."),
    "rank": ("rank", "The weights of --rerank features, from articles alone."),
    "student": ("student", "A cross-encoder of half the layers of another."),
    "static": ("static", "A table of vectors that stands in for a transformer."),
    "stitch": ("stitch.command", "A language model that reasons about levels, by STITCH."),
}

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Fit a model on your own data (extra train). Each command explains itself with --help.",
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
