"""Curves in a line of text."""

from __future__ import annotations

from collections.abc import Sequence

#: The characters for values from the lowest to the highest. Terminals whose character encoding lacks the blocks get
#: digits.
BLOCKS, DIGITS = "▁▂▃▄▅▆▇█", "01234567"


def spark(values: Sequence[float | None], low: float, high: float, encoding: str | None = "utf-8") -> str:
    """Return one character for each value, by its height between ``low`` and ``high``, or a space for None.

    >>> spark([0.0, 0.5, 1.0, None], 0.0, 1.0)
    '▁▅█ '
    >>> spark([0.0, 1.0], 0.0, 1.0, "ascii")
    '07'
    """
    try:
        BLOCKS.encode(encoding or "ascii")
        steps = BLOCKS
    except (UnicodeEncodeError, LookupError):
        steps = DIGITS
    scale = (len(steps) - 1) / (high - low) if high > low else 0.0
    return "".join(
        " " if value is None else steps[min(len(steps) - 1, max(0, round((value - low) * scale)))] for value in values
    )
