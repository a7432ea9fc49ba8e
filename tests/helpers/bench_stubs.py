"""Made-up figures, bases and installations for the tests of `pychunk bench`."""

import json
import sys
from pathlib import Path

from pychunk.benchmark import measure


def flat(cost: float) -> measure.Timings:
    return measure.Timings([cost] * 5, [cost] * 5, [1.0] * 5, [0.25] * 5)


def base_of(path: Path, factor: float, **changes: str) -> None:
    """Divide the saved times, so that the next run is slower by `factor`, and change entries of its workload."""
    found = json.loads(path.read_text())
    for entry in found["workloads"].values():
        entry["cpu"] = [value / factor for value in entry["cpu"]]
        entry.update(changes)
    path.write_text(json.dumps(found))


#: A segmenter that returns one empty chunk.
FAST = (
    "import pyarrow as pa\n    t = pa.table({name: pa.array([0]) for name in ('document', 'start', 'end')})\n"
    "    class Found:\n        table = t\n    return lambda batch: Found"
)


def interpreter(folder: Path, path: Path) -> Path:
    """Return a virtual environment's folder whose interpreter finds pychunk in `path`."""
    (folder / "bin").mkdir(parents=True)
    file = folder / "bin" / "python"
    file.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" "$@"\n')
    file.chmod(0o755)
    return folder


def stub(folder: Path, segmenter: str) -> Path:
    """Return a folder with another pychunk."""
    (folder / "pychunk").mkdir(parents=True)
    code = f"def backend():\n    return {{'version': '0.0'}}\n\n\ndef Segmenter(*_, **__):\n    {segmenter}\n"
    (folder / "pychunk" / "__init__.py").write_text(code)
    return folder
