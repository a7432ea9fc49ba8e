"""Runs of a piece of code, one for each instruction set of this processor."""

import os
import subprocess
import sys

from pychunk._engine import native


def printed_by_each(code: str) -> set[str]:
    """Return the output of a process for each instruction set; one text if all are equal."""
    return {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=os.sep,
            env={**os.environ, "PYCHUNK_ISA": isa},
        ).stdout
        for isa in native.available_isas()
    }
