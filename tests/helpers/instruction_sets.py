"""Runs a piece of code once for each instruction set of this processor."""

import os
import subprocess
import sys

from pychunk._engine import native


def printed_by_each(code: str) -> set[str]:
    """What it prints in a process of its own with each; one text where all give the same."""
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
