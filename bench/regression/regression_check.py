"""A test that `pychunk bench` raises no false alarm and finds planted slowdowns.

Each trial makes two comparisons. The first is a slowdown of 15 %, planted in one workload (another in each trial),
against the base. The second is the same code with the slowdown, and its run becomes the base of the next trial. The
script prints every alarm and the counts. --against compares with an installation instead of a saved base, --figures
with a base whose copy cannot run.

    python bench/regression/regression_check.py --quick
    python bench/regression/regression_check.py --quick --against
    python bench/regression/regression_check.py --quick --figures
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pychunk.benchmark import report
from pychunk.benchmark.compare import Verdict
from pychunk.benchmark.launch import this_installation
from pychunk.benchmark.session import Session
from pychunk.benchmark.workloads import WORKLOADS

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

#: The fastest and the noisiest kinds: tables that outgrow a cache, small calls, plain scanning.
QUICK = ["pic", "cluster", "recursive-tokens", "tiny-documents", "latency"]
ABOUT = (
    "Each trial makes two comparisons with a saved base: of the same code, and of the code with one workload slowed. "
    'Cells are CPU time divided by the base\'s. "Beside" counts trials with an alarm on a workload that was not slowed.'
)
SLOWED = Path(__file__).resolve().parent / "slowed_child.py"


def trial(session: Session, slowed: str, options: argparse.Namespace, base: Path) -> tuple[list[Verdict], ...]:
    """Return verdicts on the same code, and on the code with a slowdown in one workload."""
    here = this_installation()
    there = replace(here, program=SLOWED)
    os.environ["PYCHUNK_SLOWED"] = f"{slowed}:{options.slowdown}"
    if options.against:
        return tuple(session.with_other(new, here, options.limit).verdicts for new in (here, there))
    kept = None if options.figures else here
    if not base.exists():
        session.save(base, session.alone(here), kept)
    planted = session.with_saved(there, base, options.limit)
    same = session.with_saved(here, base, options.limit)
    session.save(base, same, kept)  # the next trial's base: each run but the first serves twice
    return same.verdicts, planted.verdicts


def described(verdict: Verdict) -> str:
    first = f", first measured {report.percent(verdict.first.value)}" if verdict.first else ""
    shown = [report.percent(value) for value in (verdict.ratio.value, verdict.ratio.low, verdict.ratio.high)]
    return f"{verdict.name} {verdict.status} {shown[0]} ({shown[1]} to {shown[2]}{first})"


def is_alarm(verdict: Verdict) -> bool:
    return verdict.status == "regressed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--against", action="store_true", help="measure both in turns in place of a saved base")
    parser.add_argument("--figures", action="store_true", help="save no copy of the base: compare figures alone")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=0.10)
    parser.add_argument("--slowdown", type=float, default=0.15)
    parser.add_argument("--json", "--save", type=Path, metavar="FILE", help="write every ratio")
    options = parser.parse_args()
    names = QUICK if options.quick else list(WORKLOADS)
    false_alarms, found, bystanders, rows = 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.trials):
            slowed = names[number % len(names)]
            begun = time.monotonic()
            same, planted = trial(Session(names, options.rounds), slowed, options, Path(folder) / "base.json")
            alarms = [each for each in same if is_alarm(each)]
            hit = [each for each in planted if is_alarm(each) and each.name == slowed]
            others = [each for each in planted if is_alarm(each) and each.name != slowed]
            false_alarms += bool(alarms)
            found += bool(hit)
            bystanders += bool(others)
            target = next(each for each in planted if each.name == slowed)
            ratios = {each.name: each.ratio.value for each in same}
            rows.append({"slowed": slowed, "by": target.ratio.value, "found": bool(hit), "same code": ratios})
            load = os.getloadavg()[0]
            taken = f"{time.monotonic() - begun:.0f} s, load {load:.1f}"
            print(f"trial {number + 1} ({taken}; {found} found, {false_alarms} false so far): {described(target)}")
            for each in alarms:
                print(f"  false alarm, same code: {described(each)}")
            for each in others:
                print(f"  false alarm beside the planted one: {described(each)}")
            print(end="", flush=True)
    noise = [ratio for row in rows for ratio in row["same code"].values()]
    print(
        f"\nsame code: {false_alarms} of {options.trials} comparisons raised an alarm "
        f"(ratios {report.percent(min(noise))} to {report.percent(max(noise))}, deviation "
        f"{100 * statistics.pstdev(noise):.1f} %)\n"
        f"{100 * options.slowdown:g} % planted: {found} of {options.trials} found, "
        f"{bystanders} with an alarm on another workload"
    )
    if options.json:
        counts = {"trials": options.trials, "false alarms": false_alarms, "found": found, "beside": bystanders}
        figures = {"slowdown": options.slowdown, "limit": options.limit, **counts, "rows": rows}
        record.save(options.json, "Does pychunk bench find slowdowns", figures, about=ABOUT, encoder=record.shipped())


if __name__ == "__main__":
    main()
