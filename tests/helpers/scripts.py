"""Python scripts that run in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def run_script(script: str, *, timeout: float = 60, **environment: str) -> str:
    """Return the output of the script, which must end by itself with status 0."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr[-2000:]}"
    return done.stdout
