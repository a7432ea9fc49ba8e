"""What is said on standard error: by one console, so that a bar that is shown there stays below it."""

from __future__ import annotations

import os
import sys
import textwrap
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: By which Rich takes a file or a pipe for a terminal.
_AS_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
#: What Rich leaves out of what it prints: bell, backspace, and what moves the paper.
_CONTROL = dict.fromkeys([7, 8, 11, 12, 13])


@cache
def errors() -> Console:
    """The one that bars are shown on; a line that another one prints would go on in that of the bar."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def has_terminal() -> bool:
    """Whether standard error is one. Elsewhere Rich, which takes .02 s to load, has nothing to add to lines."""
    return sys.stderr.isatty() or any(name in os.environ for name in _AS_TERMINAL)


def say(text: str, style: str = "", console: Console | None = None) -> None:
    """Prints lines, cut between words on a terminal; a path that is wider stays whole, as a line elsewhere does.

    Example:
        >>> from rich.console import Console
        >>> say("saved", console=Console())
        saved
    """
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


def counted(number: int, noun: str, several: str = "") -> str:
    """``1 shard``, ``1,200 shards``; ``several``: where that is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def sized(count: float) -> str:
    """Bytes in words.

    >>> sized(20), sized(5_700), sized(1_234_500_000)
    ('20 bytes', '5.7 kB', '1,234.5 MB')
    """
    if count < 1e3:
        return f"{count:.0f} bytes"
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
