"""The public surface is a checked-in list: names, parameters, flags and columns. It changes on purpose only."""

import inspect
import subprocess
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import pychunk
import pychunk.index
import pychunk.ingest
import pychunk.io
from pychunk._engine.data.columns import COLUMNS
from pychunk.cli.main import app
from pychunk.methods import METHODS

ROOT = Path(__file__).resolve().parents[2]
LISTED = ROOT / "tests" / "house" / "surface.txt"
#: Parameters of a call at most, its options of methods (``**options``) counted as one.
MOST_PARAMETERS = {
    **dict.fromkeys(("segment", "segment_levels", "Segmenter"), 15),
    **dict.fromkeys(("Index.search", "Index.search_documents"), 8),
    "Index.create": 10,
}
#: Flags of a command at most.
MOST_FLAGS = {"pychunk segment": 32, "pychunk ingest": 32, "pychunk index": 38}


def parameters(function: Any) -> list[str]:
    """Return the names of a function's parameters, without ``self`` and ``cls``."""
    found = inspect.signature(function).parameters.values()
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(each.kind, "") + each.name for each in found if each.name not in ("self", "cls")]


def surface() -> list[str]:
    """Return a line for each public function, method, attribute, flag and column."""
    objects = {f"pychunk.{name}": getattr(pychunk, name) for name in pychunk.__all__ if name != "__version__"}
    objects |= {f"pychunk.ingest.{name}": getattr(pychunk.ingest, name) for name in ("ingest", "Report")}
    names = ("Bm25", "Expansion", "Ranking", "Rerank", "Rewrite", "assemble")
    objects |= {f"pychunk.index.{name}": getattr(pychunk.index, name) for name in names}
    objects |= {"pychunk.io.open_source": pychunk.io.open_source}
    lines = []
    for name, value in sorted(objects.items()):
        if not inspect.isclass(value):
            lines.append(f"{name}({', '.join(parameters(value))})")
            continue
        lines.append(f"{name}({', '.join(parameters(value))})" if "__init__" in vars(value) else name)
        for own in sorted(each for each in dir(value) if not each.startswith("_")):
            member = inspect.getattr_static(value, own)
            function = getattr(member, "__func__", member)
            arguments = f"({', '.join(parameters(function))})" if inspect.isfunction(function) else ""
            lines.append(f"{name}.{own}{arguments}")
    lines += [f"method {name}({', '.join(parameters(made))})" for name, made in sorted(METHODS.items())]
    lines += [f"column {column.name}" for column in COLUMNS]
    for command, flags in sorted(flags_of_commands().items()):
        lines += [f"{command} {flag}" for flag in flags]
    return lines


def flags_of_commands() -> dict[str, list[str]]:
    """Return the flags of each command; the second form of a switch, ``--no-...``, does not count."""
    import typer.main

    found: dict[str, list[str]] = {}

    def walk(command: Any, path: str) -> None:
        if hasattr(command, "list_commands"):
            context = command.make_context(path, [], resilient_parsing=True)
            for name in command.list_commands(context):
                walk(command.get_command(context, name), f"{path} {name}")
            return
        options = [each for each in command.params if each.param_type_name == "option"]
        found[path] = sorted(max(each.opts, key=len) for each in options)

    walk(typer.main.get_command(app), "pychunk")
    return found


def test_the_surface_is_the_checked_in_one() -> None:
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    found = surface()
    gone, new = sorted(set(listed) - set(found)), sorted(set(found) - set(listed))
    assert not gone, f"gone: {gone}. If that is on purpose, say so in CHANGELOG.md and write {LISTED.name} again"
    assert not new, f"new: {new}. If that is on purpose, say so in CHANGELOG.md and write {LISTED.name} again"


def test_the_commit_that_changed_the_surface_changed_the_changelog() -> None:
    last = subprocess.run(
        ["git", "log", "-1", "--format=", "--name-only", "--full-diff", "--", str(LISTED)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if last.returncode or not last.stdout:
        pytest.skip("no history of git")
    assert "CHANGELOG.md" in last.stdout.splitlines()


def test_calls_have_few_parameters() -> None:
    for name, most in MOST_PARAMETERS.items():
        assert len(parameters(attrgetter(name)(pychunk))) <= most


def test_commands_have_few_flags() -> None:
    found = flags_of_commands()
    for command, most in MOST_FLAGS.items():
        assert len(found[command]) <= most


if __name__ == "__main__":
    LISTED.write_text("\n".join(surface()) + "\n", encoding="utf-8")
