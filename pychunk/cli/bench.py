"""The command `bench`, which finds slowdowns."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..benchmark import report
from ..benchmark.launch import other_installation, this_installation
from ..benchmark.session import BenchmarkResult, Session
from ..benchmark.workloads import WORKLOADS
from .shared.console import errors, say
from .shared.errors import readable_errors
from .shared.outputs import Overwrite, check_output
from .shared.value_types import share_of

EPILOG = """Examples:

pychunk bench

pychunk bench --save base.json

pychunk bench --compare base.json --max-regression 10%

pychunk bench --against parent/bin/python --only pic,semantic

pychunk bench --list

The exit status is 1 if a workload is slower by more than --max-regression, 2 after an error or a wrong answer, else 0.
Times are CPU time on one thread. Each round starts a fresh process, because times vary by a few percent with the
placement of a process's memory. A workload that looks slower is measured again before it counts.

--save base.json also writes base.json.pychunk.zip, a copy of this pychunk (28 MB). --compare times this copy and the
present pychunk in turn, so that a slow machine slows both. If the copy cannot run, for example on another Python,
--compare uses the figures in base.json. It then expresses times in units of reference loops that are timed alongside.
The copy is code, so compare only with files that you trust. --against takes turns with the pychunk of another
environment. If that is the same code, the result shows the machine's noise."""


def bench(
    only: Annotated[str | None, typer.Option(metavar="NAME,...", help="The workloads to time; default: all.")] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Number of new processes to time, or of pairs of processes in a comparison.")
    ] = 10,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the figures and a copy of this pychunk, for a later --compare."),
    ] = None,
    overwrite: Overwrite = False,
    no_copy: Annotated[
        bool, typer.Option("--no-copy", help="With --save, write the figures without a copy of pychunk.")
    ] = False,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Compare with a file from --save: time its copy of pychunk and this one in turn."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="PYTHON",
            help="Time the pychunk of another interpreter or virtual environment and this one in turn.",
        ),
    ] = None,
    max_regression: Annotated[
        str, typer.Option(help="Largest slowdown with which a comparison passes, such as 10% or 0.1.")
    ] = "10%",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the workloads and exit.")] = False,
) -> None:
    """Time fixed workloads with known answers, and compare with an earlier run or another installation."""
    out = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    with readable_errors("interrupted; nothing was written"):
        if list_:
            for workload in WORKLOADS.values():
                out.print(f"{workload.name:22}{workload.purpose}")
            return
        names, limit = _names(only), share_of("--max-regression", max_regression, most=10)
        if compare is not None and against is not None:
            raise ValueError("--compare cannot be combined with --against")
        if save is not None:
            check_output(save, [compare] if compare else [], overwrite=overwrite)
        with _progress(errors()) as (announce, step):
            session = Session(names, rounds, announce, step)
            here = this_installation()
            if compare is not None:
                outcome = session.with_saved(here, compare, limit)
            elif against is not None:
                outcome = session.with_other(here, other_installation(against), limit)
            else:
                outcome = session.alone(here)
        if save is not None:
            session.save(save, outcome, None if no_copy else here)
        (_print_json if as_json else _print)(outcome, limit, out)
        for note in outcome.notes:
            say(f"note: {note}", "yellow")
    if any(verdict.status == "regressed" for verdict in outcome.verdicts):
        raise typer.Exit(1)


def _names(only: str | None) -> list[str]:
    if only is None:
        return list(WORKLOADS)
    wanted = [name.strip() for name in only.split(",")]
    for name in wanted:
        if name not in WORKLOADS:
            raise ValueError(f"--only must name workloads ({', '.join(WORKLOADS)}); got {name!r}")
    return [name for name in WORKLOADS if name in wanted]


@contextmanager
def _progress(console: Console) -> Iterator[tuple[Callable[[str, int], None], Callable[[], None]]]:
    """Yield (announce, step), the two callbacks of a progress bar, which is shown only on a terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("preparing", total=None)

        def announce(what: str, steps: int) -> None:
            bar.reset(task, description=what, total=steps)

        yield announce, lambda: bar.advance(task)


def _figures(outcome: BenchmarkResult) -> dict[str, dict[str, Any]]:
    return report.figures(outcome.run, outcome.sizes, {name: each.unit for name, each in WORKLOADS.items()})


def _print(outcome: BenchmarkResult, limit: float, out: Console) -> None:
    purposes = {name: each.purpose for name, each in WORKLOADS.items()}
    report.print_figures(outcome.run, _figures(outcome), purposes, out)
    if outcome.verdicts:
        out.print()
        report.print_comparison(outcome.verdicts, limit, out)


def _print_json(outcome: BenchmarkResult, limit: float, out: Console) -> None:
    found: dict[str, Any] = {
        "facts": outcome.run.facts,
        "workloads": _figures(outcome),
        "missing": outcome.run.missing,
        "max_regression": limit,
        "comparison": [report.verdict_json(verdict) for verdict in outcome.verdicts],
        "notes": outcome.notes,
    }
    typer.echo(json.dumps(found, indent=1))
