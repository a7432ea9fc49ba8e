"""The facts about a model, which are in a JSON file next to the model's other files."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

FORMAT = 1


def read_facts(file: Path, remedy: str, needed: Collection[str] = ()) -> dict[str, Any]:
    """Return the facts in a file, without the number of the file's format.

    Raises:
        ValueError: The file is not JSON, lacks a ``needed`` fact, or has the format of a newer pychunk. The message
            ends with the remedy.
    """
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        form = facts.pop("format", None)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}); {remedy}") from error
    if form != FORMAT:
        raise ValueError(f"{file} has format {form!r}, but this pychunk reads {FORMAT}; upgrade pychunk")
    missing = sorted(set(needed) - set(facts))
    if missing:
        raise ValueError(f"{file} is damaged ({', '.join(missing)} missing); {remedy}")
    found: dict[str, Any] = facts
    return found
