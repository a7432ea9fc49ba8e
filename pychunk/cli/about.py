"""The commands that say what is here: methods and backend."""

from __future__ import annotations

import inspect
import re

from rich.console import Console
from rich.text import Text

from .. import engine
from ..methods import METHODS
from .errors import readable_errors


def methods() -> None:
    """Explain the methods and their options."""
    console = Console(highlight=False)
    for name, method in METHODS.items():
        options = inspect.signature(method).parameters.values()
        shown = ", ".join(f"{option.name}={option.default!r}" for option in options) or "no options of its own"
        console.print(Text(name, style="bold cyan").append(f"  {shown}", style="dim"))
        paragraphs = _plain(inspect.cleandoc(method.__doc__ or "")).split("\n\n")
        console.print(Text("\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)))
        console.print()
    console.print("All methods take --max-tokens, --min-tokens, --overlap, --atoms and --vectors.")


def _plain(text: str) -> str:
    """Without the marks of a docstring: :func:`name` and ``value``."""
    text = re.sub(r":(?:func|meth):`([^`]*)`", r"\1()", text)
    return re.sub(r":[a-z]+:`([^`]*)`", r"\1", text).replace("``", "")


def backend() -> None:
    """Say what runs: version, instruction set, threads, CUDA."""
    console = Console(highlight=False)
    with readable_errors("interrupted"):
        facts = engine.backend()
    for name, value in facts.items():
        shown = value["why"] or ", ".join(value["devices"]) if name == "cuda" else value
        line = ", ".join(shown) if isinstance(shown, list) else str(shown)
        console.print(Text(f"{name:<8} {line}"), soft_wrap=True)  # a command in it can be copied
