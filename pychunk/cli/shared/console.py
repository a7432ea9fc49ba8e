"""Messages on standard error, all through one console, so that a progress bar stays below them."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

#: The environment variables that make Rich treat a file or a pipe as a terminal.
_AS_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
#: The control characters that Rich removes: bell, backspace, vertical tab, form feed and carriage return.
_CONTROL = dict.fromkeys([7, 8, 11, 12, 13])
_is_json = False


@cache
def errors() -> Console:
    """Return the console for progress bars and messages.

    Messages must use the same console as a bar, because the output of another console would appear inside the bar.
    """
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def has_terminal() -> bool:
    """Return whether standard error is a terminal. If it is not, Rich need not be loaded, which takes 0.02 s."""
    if _is_json:
        return False
    return sys.stderr.isatty() or any(name in os.environ for name in _AS_TERMINAL)


def use_json(wanted: bool) -> None:
    """Print each message from now on as an object of JSON on one line, without progress bars, or as text again."""
    global _is_json
    _is_json = wanted


def is_json() -> bool:
    """Return whether messages are printed as JSON."""
    return _is_json


def write_json(level: str, event: str, message: str, fields: Mapping[str, Any] = {}) -> None:
    """Print an event as one line of JSON: its time in UTC, level, name and message, then its fields."""
    time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    line = {"time": time, "level": level, "event": event, "message": message, **fields}
    sys.stderr.write(json.dumps(line, default=str) + "\n")


def say(text: str, style: str = "", console: Console | None = None) -> None:
    """Print a message, wrapped between words on a terminal, with long paths kept whole.

    As JSON, the style decides the level: red is an error, and yellow a warning.

    Example:
        >>> from rich.console import Console
        >>> say("saved", console=Console())
        saved
    """
    if _is_json:
        if console is None or not console.quiet:
            level = {"red": "error", "yellow": "warning"}.get(style, "info")
            write_json(level, "message", text.removeprefix(f"{level}: "))
        return
    if console is None and not has_terminal():
        sys.stderr.write(text.translate(_CONTROL).expandtabs() + "\n")
        return
    from rich.text import Text

    console = console or errors()
    if console.is_terminal:
        width = console.width
        lines = text.splitlines() or [""]
        text = "\n".join(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False) for line in lines)
    console.print(Text(text, style=style), soft_wrap=True)


def sized(count: float) -> str:
    """Return a number of bytes with its unit.

    >>> sized(20), sized(5_700), sized(1_234_500_000)
    ('20 bytes', '5.7 kB', '1,234.5 MB')
    """
    if count < 1e3:
        return f"{count:.0f} bytes"
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
