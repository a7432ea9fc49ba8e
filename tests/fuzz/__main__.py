"""The command ``python -m tests.fuzz --minutes 60``: all targets, half of the time on the native core.

The status is 1 after a finding.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from . import ROOT, runner, worker
from .schedule import schedule
from .shrink import Checker

PYTHON_TARGETS = ("damage", "endpoints", "files", "pages", "segmenting", "urls", "writes")
NATIVE_ORDER = (
    "markdown",
    "splitting",
    "recursive",
    "wordpiece",
    "sentencepiece",
    "methods",
    "budgets",
    "structure",
    "wikitext",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="time for all targets together (default: 10)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument(
        "--seed", type=int, help="first seed (default: from the clock, so that every run sees new inputs)"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="TARGET", help="these targets; native ones as native:NAME, all: native"
    )
    parser.add_argument("--executions", type=int, help="end a target after so many inputs")
    parser.add_argument("--case", type=int, metavar="SEED", help="try the one input of this seed (with --only TARGET)")
    parser.add_argument(
        "--findings", type=Path, default=Path("findings"), help="folder for findings (default: findings)"
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "fuzz", help="folder for the native targets")
    parser.add_argument("--json", "--save", type=Path, help="write the outcome to this file")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns() // 1000
    if arguments.case is not None:
        return _one(arguments.only[0], arguments.case)

    wanted = arguments.only or [*PYTHON_TARGETS, "native"]
    python = [name for name in wanted if not name.startswith("native")]
    chosen = [name.removeprefix("native").removeprefix(":") for name in wanted if name.startswith("native")]
    for name in python:
        try:
            worker.load(name)
        except ImportError as error:
            parser.error(f"no target {name!r} ({error}); there are {', '.join(PYTHON_TARGETS)}, native and native:NAME")
    programs: dict[str, Path] = {}
    if chosen:
        from . import native

        why = native.unavailable()
        if why:
            print(f"native targets are left out: {why}", flush=True)
            if arguments.only:
                return 2
        else:
            print("building the native targets", flush=True)
            programs = native.build(arguments.build)
            programs = {name: path for name, path in programs.items() if "" in chosen or name in chosen}

    def say(line: str) -> None:
        print(time.strftime("%H:%M:%S"), line, flush=True)

    if chosen and not programs and not why:
        parser.error(f"no native target {chosen[0]!r}; there are {', '.join(native.build(arguments.build))}")
    # Native targets come first, the fast ones first: the slower ones get the rest of their time.
    order = sorted(programs, key=lambda name: NATIVE_ORDER.index(name) if name in NATIVE_ORDER else -1)

    def search(name: str, seconds: float, seed: int, executions: int | None) -> runner.Outcome:
        options: dict[str, Any] = {"seconds": seconds, "jobs": arguments.jobs, "seed": seed, "executions": executions}
        options |= {"findings": arguments.findings, "say": say}
        return native.run(name, programs[name], **options) if name in programs else runner.run(name, **options)

    say(f"seed {seed}, {arguments.jobs} processes")
    outcomes: dict[str, runner.Outcome] = {}
    status = 0
    try:
        for outcome in schedule([*order, *python], arguments.minutes * 60, seed, arguments.executions, search):
            outcomes[outcome.target] = outcome
            say(f"{outcome.target}: {outcome.executions:,} inputs in {outcome.seconds:,.0f} s")
    except KeyboardInterrupt:
        say("interrupted")
        status = 130
    found = sum(len(outcome.findings) for outcome in outcomes.values())
    print(f"\n{'target':<24}{'inputs':>14}{'a second':>10}{'findings':>10}")
    for outcome in outcomes.values():
        print(f"{outcome.target:<24}{outcome.executions:>14,}{outcome.rate:>10,.0f}{len(outcome.findings):>10}")
    if arguments.json:
        rows = [
            {"target": o.target, "inputs": o.executions, "seconds": round(o.seconds, 1), "findings": len(o.findings)}
            for o in outcomes.values()
        ]
        from bench import record

        about = f"All targets together for {arguments.minutes:g} minutes, in {arguments.jobs} processes."
        record.save(arguments.json, "Random inputs", {"seed": seed, "targets": rows}, about=about)
    return 1 if found else status


def _one(name: str, seed: int) -> int:
    target = worker.load(name)
    case = target.make(worker.rng_of(name, seed))
    print(case)
    checker = Checker(name, timeout=300)
    failure = checker.failure(case)
    checker.close()
    print(failure or "all is well")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
