"""STITCH compared with plain GRPO, supervised training on traces, and both in sequence, on the task of --tiny.

The task is synthetic.

    python bench/levels/stitch.py --save bench/results/stitch.json

If --work names the folder of its checkpoints, a training that was stopped continues, and a finished one is read.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import Any

from pychunk.training.stitch import command
from pychunk.training.stitch.settings import METHODS

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

ABOUT = (
    "The synthetic task of `--tiny`: half of the questions need a plan of one hop, and the other half, the hard one, a"
    " plan of eight hops. Rewards and answers are means over 512 held-out questions, for plans drawn from the policy's"
    " probabilities. The best possible policy has a mean reward of 1.055, and of 1.02 on the hard half. Trace tokens "
    "are the tokens of the experts' traces that a method imitated. Each training used one thread on a machine that did"
    " much other work, so its seconds are only a rough guide."
)
#: Rivals with more than STITCH has: five times the steps, ten times the traces.
LONGER = {"grpo": ("--steps", "800", "--every", "40"), "sft": ("--sft-steps", "400", "--every", "40")}


def finished(method: str, seed: int, work: Path, *more: str) -> Any:
    """Run a training to its end."""
    options = command.parser().parse_args(["--tiny", "--method", method, "--seed", str(seed), *more])
    training = command.training(options)
    folder = work / f"tiny-{method}-{seed}"
    training.resume(folder)
    training.run(folder)
    return training


def row(training: Any) -> dict[str, Any]:
    """Return the row of a training's results."""
    first, last = training.curve[0], training.curve[-1]
    return {
        "method": training.method,
        "seed": training.settings.seed,
        "steps": training.step,
        "reward before": first["reward"],
        "reward": last["reward"],
        "reward, hard half": last["reward_hard"],
        "answered, hard half": last["solved_hard"],
        "trace tokens": training.trace_tokens,
        "seconds": round(training.seconds),
    }


def curves(trainings: Iterable[Any], measure: str) -> list[dict[str, Any]]:
    """Return by step the mean over seeds, with a column for each method."""
    found: dict[int, dict[str, list[float]]] = {}
    for training in trainings:
        for point in training.curve:
            found.setdefault(point["step"], {}).setdefault(training.method, []).append(point[measure])
    return [
        {"step": step, **{method: round(mean(values), 4) for method, values in found[step].items()}}
        for step in sorted(found)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--work", type=Path, help="where checkpoints go (default: nowhere that stays)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        trainings = [finished(method, seed, work) for method in options.methods for seed in options.seeds]
        longer = [finished(method, options.seeds[0], work / "longer", *more) for method, more in LONGER.items()]
    figures = {
        "parameters": sum(each.numel() for each in trainings[0].policy.net.parameters()),
        "rows": [row(training) for training in trainings],
        "rivals with more": [row(training) for training in longer],
        "mean reward by step": curves(trainings, "reward"),
        "mean reward by step, hard half": curves(trainings, "reward_hard"),
    }
    for each in figures["rows"] + figures["rivals with more"]:
        print(each)
    if options.save:
        shown = "python bench/levels/stitch.py --save bench/results/stitch.json"
        record.save(
            options.save,
            "STITCH on a synthetic task of planning",
            figures,
            about=ABOUT,
            packages=["torch"],
            command=shown,
        )


if __name__ == "__main__":
    main()
