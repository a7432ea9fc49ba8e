"""The facts of a model: a JSON file of a known format next to the model's other files."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

FORMAT = 1


def read_facts(file: Path, remedy: str, needed: Collection[str] = ()) -> dict[str, Any]:
    """Return the facts in a file, without its format.

    Raises:
        ValueError: The file is not JSON, lacks a ``needed`` fact, or has the format of a newer pychunk. The message
            says what to do.
    """
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        form = facts.pop("format", None)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}); {remedy}") from error
    if form != FORMAT:
        raise ValueError(f"{file} has format {form!r}, but this pychunk reads {FORMAT}; upgrade it")
    missing = sorted(set(needed) - set(facts))
    if missing:
        raise ValueError(f"{file} is damaged ({', '.join(missing)} missing); {remedy}")
    found: dict[str, Any] = facts
    return found
