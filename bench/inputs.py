"""The location of the data that the benchmarks run on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

#: The data folder is next to a checkout; $PYCHUNK_DATA names another.
BESIDE = "../shared/data"


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add ``--data FOLDER``, a folder that must exist."""
    parser.add_argument(
        "--data",
        type=_folder,
        default=os.environ.get("PYCHUNK_DATA") or BESIDE,
        metavar="FOLDER",
        help=f"default: $PYCHUNK_DATA, else {BESIDE}",
    )


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"no folder {text}: name the one that holds the data, or set $PYCHUNK_DATA")
    return Path(text)
