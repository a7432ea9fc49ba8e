"""The command `methods`."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..methods import METHODS
from .shared.errors import readable_errors


def methods(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="METHOD...", help="The methods to explain; default: all.")
    ] = None,
) -> None:
    """Explain the methods and their options."""
    console = Console(highlight=False)
    with readable_errors("interrupted"):
        unknown = [name for name in names or () if name not in METHODS]
        if unknown:
            raise ValueError(f"there is no method {unknown[0]!r}; the methods are {', '.join(METHODS)}")
    for name in names or METHODS:
        method = METHODS[name]
        options = [each for each in inspect.signature(method).parameters.values() if each.name != "llm"]
        shown = ", ".join(f"{each.name}={_value(each.default)}" for each in options) or "no options of its own"
        console.print(Text(name, style="bold cyan").append(f"  {shown}", style="dim"))
        paragraphs = _plain(inspect.cleandoc(method.__doc__ or "")).split("\n\n")
        console.print(Text("\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)))
        console.print()
    console.print(
        "On the command line, write -m METHOD:OPTION=VALUE,OPTION=VALUE. All methods take --max-tokens, --min-tokens, "
        "--overlap, --tokenizer, --keep-together and --vectors. Without -m, pychunk cuts Markdown, HTML and PDF by "
        "structure. It cuts other documents by topic:size=150 into chunks of 64 to 200 tokens."
    )


def _value(value: Any) -> str:
    """Return the value as it is written after ``-m METHOD:OPTION=``."""
    if isinstance(value, tuple):
        return ":".join(map(str, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _plain(text: str) -> str:
    """Return a docstring without its markup, such as :func:`name` and ``value``."""
    text = re.sub(r":(?:func|meth):`([^`]*)`", r"\1()", text)
    return re.sub(r":[a-z]+:`([^`]*)`", r"\1", text).replace("``", "")
