"""Where the benches find the data that they run on."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

#: Beside a checkout; $PYCHUNK_DATA names another.
BESIDE = "../shared/data"


def add_data(parser: argparse.ArgumentParser) -> None:
    """``--data FOLDER``, which must be there."""
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
