"""The command `formats`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ..io.formats.converted_files import lacks
from ..io.kinds import KINDS, add_installed
from .shared.errors import readable_errors

EPILOG = "All kinds but parquet and arrow may be compressed: .gz, .bz2, .zst, .xz, .7z."


def formats(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: one object with all kinds.")] = False,
) -> None:
    """List the kinds of files, whether this installation reads them, and the command for those that it does not."""
    with readable_errors("interrupted"):
        add_installed()
        rows: list[dict[str, Any]] = [
            {"kind": name, "files": list(kind.endings), "readable": not kind.lacks, "install": kind.install}
            for name, kind in KINDS.items()
        ]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(name) for name in KINDS)
    for row in rows:
        state = "yes" if row["readable"] else "no "
        line = Text(f"{row['kind']:{width}}  ", style="bold cyan").append(
            state, style="green" if row["readable"] else "red"
        )
        line.append(f"  {' '.join(row['files'])}", style="default")
        if not row["readable"]:
            line.append(f"  ({row['install']})", style="yellow")
        elif lacks(KINDS[row["kind"]].wants):
            line.append(f"  (finds more structure after {row['install']})", style="yellow")
        console.print(line)
