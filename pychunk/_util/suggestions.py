"""Suggestions for names that are nearly right, in messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` with the nearest known name, or ``""`` if none is near.

    >>> did_you_mean("recursiv", ["recursive", "fixed"])
    "; did you mean 'recursive'?"
    """
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
