"""What is said on standard error: by one console, so that a bar that is shown there stays below it."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

#: The one that bars are shown on; a line that another one prints would go on in that of the bar.
ERRORS = Console(stderr=True, highlight=False)


def say(text: str, style: str = "", console: Console = ERRORS) -> None:
    """Prints lines, cut between words on a terminal; a path that is wider stays whole, as a line elsewhere does.

    Example:
        >>> say("saved", console=Console())
        saved
    """
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
