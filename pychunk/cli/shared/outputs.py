"""Files that a command writes: never one of its inputs, and another one that is there only with --overwrite."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output that is there already.")]


def check_folder(output: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raises ValueError where a folder that is written lies in one that is read: its files would be inputs."""
    for each in inputs:
        if os.path.isdir(each) and Path(output).resolve().is_relative_to(Path(each).resolve()):
            raise ValueError(f"{output} lies in {each}, and its files would be read as documents: name another folder")


def check_output(output: str | Path, inputs: Iterable[str | Path] = (), *, overwrite: bool) -> None:
    """Before any work: whether the output may be written.

    Raises:
        ValueError: it is an input, by whatever name (a link, standard input), or there already.
    """
    try:
        there = os.stat(output)
    except OSError:
        if os.path.islink(output):
            raise ValueError(f"{output} is a link to nothing: remove it, or name another output") from None
        return
    for each in inputs:
        try:
            own = os.fstat(0) if str(each) == "-" else os.stat(each)
        except OSError:
            continue
        if os.path.isdir(each) and Path(output).resolve().is_relative_to(Path(each).resolve()):
            raise ValueError(f"the output {output} lies in {each}, and would be read as an input: name another output")
        if os.path.samestat(own, there):
            name = "standard input" if str(each) == "-" else each
            raise ValueError(f"the output {output} is the input {name}, which would be lost: name another output")
    if os.path.isdir(output):
        raise ValueError(f"the output {output} is a folder: name a file")
    if not overwrite:
        raise ValueError(f"{output} is there already: name another output, or replace it with --overwrite")
