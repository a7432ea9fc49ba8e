"""Errors of the command line as one line that says what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text


@contextmanager
def readable_errors(interrupted: str) -> Iterator[None]:
    """Ends the command with status 2 and the error's message, or 130 and ``interrupted`` after Ctrl-C."""
    console = Console(stderr=True, soft_wrap=True)
    try:
        yield
    except KeyboardInterrupt:
        console.print(interrupted)
        raise typer.Exit(130) from None
    except BrokenPipeError:  # whoever read the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError, ImportError) as error:
        console.print(Text(f"error: {error}", style="red"))
        raise typer.Exit(2) from None
