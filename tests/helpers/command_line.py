"""The command, run within this process, alike with every Typer and Click that the package allows."""

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from typer.testing import CliRunner

from pychunk.cli.main import app


class Done(NamedTuple):
    """The end of a run, and its output: each of the two streams, and both together."""

    exit_code: int
    stdout: str
    stderr: str
    output: str


# Click before 8.2 separates the two outputs only on request, and then gives the first alone as both.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def invoke(arguments: Sequence[str], **more: Any) -> Done:
    done = CliRunner(**APART).invoke(app, arguments, **more)
    output = done.stdout + done.stderr if APART else done.output
    return Done(done.exit_code, done.stdout, done.stderr, output)
