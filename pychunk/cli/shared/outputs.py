"""The checks of a command's outputs, which never replace an input, and other files only with --overwrite."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")]


def check_folder(output: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise ValueError if the output folder is inside an input folder, because its files would become inputs."""
    for each in inputs:
        if os.path.isdir(each) and Path(output).resolve().is_relative_to(Path(each).resolve()):
            raise ValueError(f"{output} is inside {each}, so its files would be read as documents; name another folder")


def check_output(output: str | Path, inputs: Iterable[str | Path] = (), *, overwrite: bool) -> None:
    """Check before any work whether the output may be written.

    Raises:
        ValueError: The output is an input under any name (a link, standard input), or exists already.
    """
    try:
        there = os.stat(output)
    except OSError:
        if os.path.islink(output):
            raise ValueError(f"{output} is a broken link; remove it, or name another output") from None
        return
    for each in inputs:
        try:
            own = os.fstat(0) if str(each) == "-" else os.stat(each)
        except OSError:
            continue
        if os.path.isdir(each) and Path(output).resolve().is_relative_to(Path(each).resolve()):
            raise ValueError(
                f"the output {output} is inside {each}, and would be read as an input; name another output"
            )
        if os.path.samestat(own, there):
            name = "standard input" if str(each) == "-" else each
            raise ValueError(f"the output {output} is the input {name}, which would be lost; name another output")
    if os.path.isdir(output):
        raise ValueError(f"the output {output} is a folder; name a file")
    if not overwrite:
        raise ValueError(f"{output} exists already; name another output, or replace it with --overwrite")
