"""Train a planner that reasons, with STITCH or a method to compare it with, and write it with its card.

--tiny trains a random model on a synthetic task whose best policy is known, in minutes on one core. Otherwise, --config
names a file of settings with a model of Hugging Face, and --data a file of questions with the plans that answer them.
A checkpoint goes to --work after every measurement, and the same command resumes from it. With --tiny, a resumed run
has the same losses on the same machine, bit for bit.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..train_options import cache_home, new_parser
from .settings import METHODS, Settings


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser(
        "pychunk train stitch",
        __doc__,
        "examples:\n"
        "  pychunk train stitch --tiny\n"
        "  pychunk train stitch --tiny --method grpo --seed 1\n"
        "  pychunk train stitch --config qwen2.5-1.5b.yaml --data questions.jsonl",
    )
    kind = made.add_mutually_exclusive_group(required=True)
    kind.add_argument("--tiny", action="store_true", help="random weights, synthetic task; needs only torch")
    kind.add_argument(
        "--config", type=Path, metavar="FILE", help="YAML: the model, and settings that differ from the defaults"
    )
    made.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="JSON lines that pychunk train traces writes: question, levels, answers",
    )
    made.add_argument("--method", choices=METHODS, default="stitch", help="default: %(default)s")
    made.add_argument(
        "--work",
        type=Path,
        default=cache_home() / "stitch",
        metavar="DIR",
        help="folder of checkpoints and models, with a subfolder for each run (default: the user's cache)",
    )
    for each in fields(Settings):
        made.add_argument(
            f"--{each.name.replace('_', '-')}",
            type=type(each.default),
            default=argparse.SUPPRESS,
            help=f"{each.metadata['help']} (default: {each.default})",
        )
    return made


def training(options: argparse.Namespace) -> Any:
    """Return the training that the options describe, before its first step."""
    given = {each.name: getattr(options, each.name) for each in fields(Settings) if hasattr(options, each.name)}
    if options.tiny:
        if options.data is not None:
            raise ValueError("--tiny makes its own questions and cannot be combined with --data")
        from . import tiny

        return tiny.training(options.method, replace(Settings(), **given))
    if options.data is None:
        raise ValueError("--config needs --data, a file of questions with the plans that answer them")
    from . import config, hub

    model, settings = config.read(options.config)
    return hub.training(model, options.data, options.method, replace(settings, **given))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, or resume a training, and return the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = parser().parse_args(arguments)
    try:
        made = training(options)
        folder = options.work / f"{Path(made.name).name}-{made.method}-{made.settings.seed}"
        if made.resume(folder):
            logging.info("resumes after step %d", made.step)
        made.run(folder)
    except KeyboardInterrupt:
        print("interrupted; the next run resumes from the last checkpoint", file=sys.stderr)
        return 130
    except (OSError, ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    from .card import write

    write(folder, made)
    print(f"{folder}: {made.curve[-1]}")
    return 0
