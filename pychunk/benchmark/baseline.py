"""The file with a saved run, with which later runs are compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._util.durable_files import write_text
from .measure import Run, Timings

#: The version of the file and of the calibration loops. Changing either makes older files incomparable.
FORMAT = 1


@dataclass(frozen=True)
class Base:
    """A saved run, its workloads' definitions, and the SHA-256 of the copy of the measured package ("" if no copy)."""

    run: Run
    definitions: dict[str, str]
    copy: str = ""


def save(path: Path, base: Base) -> None:
    """Write the run as JSON; the file appears completely or not at all."""
    run = base.run
    workloads = {
        name: {"definition": base.definitions[name], "answer": run.answers[name], **asdict(figures)}
        for name, figures in run.figures.items()
    }
    text = json.dumps({"format": FORMAT, "facts": run.facts, "copy": base.copy, "workloads": workloads}, indent=1)
    write_text(path, text + "\n")


def load(path: Path) -> Base:
    """Return the run in a file.

    Raises:
        ValueError: `pychunk bench --save` did not write the file, or wrote another format.
        OSError: The file cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path} is not JSON ({error}); make it with `pychunk bench --save {path} --overwrite`"
        ) from None
    number = found.get("format") if isinstance(found, dict) else None
    if number != FORMAT:
        raise ValueError(
            f"{path} has format {number!r}, but this pychunk reads {FORMAT}; make it again with "
            f"`pychunk bench --save {path} --overwrite`"
        )
    try:
        workloads = found["workloads"]
        figures = {name: _figures(each) for name, each in workloads.items()}
        answers = {name: str(each["answer"]) for name, each in workloads.items()}
        definitions = {name: str(each["definition"]) for name, each in workloads.items()}
        run = Run(facts=dict(found["facts"]), figures=figures, answers=answers)
        return Base(run, definitions, str(found.get("copy", "")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"{path} is damaged ({_reason(error)}); make it again with `pychunk bench --save {path} --overwrite`"
        ) from None


def _reason(error: Exception) -> str:
    """Return the reason why the entries of a file cannot be read."""
    return f"an entry has no key {error}" if isinstance(error, KeyError) else f"{error!s:.80}"


def _figures(entry: dict[str, Any]) -> Timings:
    columns = {name: [float(value) for value in entry[name]] for name in ("cpu", "wall", "calibration", "waiting")}
    if len({len(values) for values in columns.values()}) != 1 or not columns["cpu"]:
        raise ValueError(
            "cpu, wall, calibration and waiting must have one number for each round, got "
            f"{', '.join(str(len(values)) for values in columns.values())}"
        )
    least = min(min(columns[name]) for name in ("cpu", "wall", "calibration"))
    if least <= 0:
        raise ValueError(f"times must be above 0, got {least:g}")
    return Timings(**columns)
