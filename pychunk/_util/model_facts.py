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
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}); {remedy}") from error
    if not isinstance(facts, dict):
        raise ValueError(f"{file} is damaged (it must hold an object, not a {type(facts).__name__}); {remedy}")
    form = facts.pop("format", None)
    if form != FORMAT:
        mend = "upgrade pychunk" if isinstance(form, int) and form > FORMAT else remedy
        raise ValueError(f"{file} has format {form!r}, but this pychunk reads {FORMAT}; {mend}")
    missing = sorted(set(needed) - set(facts))
    if missing:
        raise ValueError(f"{file} is damaged (it lacks {', '.join(missing)}); {remedy}")
    found: dict[str, Any] = facts
    return found
