"""The process that is timed, which prepares workloads and times them on demand, in lines of JSON over its pipes.

It runs as a file under any interpreter, and times the pychunk that this interpreter imports. The workloads are those
next to this file, although that pychunk may be of another version. Therefore this process imports the modules of this
folder under another name than ``pychunk.benchmark``.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import platform
import signal
import sys
import time
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
NAME = "pychunk_benchmark"


def module(name: str) -> Any:
    """Return a module of this folder, whatever pychunk the interpreter imports."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            NAME, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{FOLDER} contains no package; install pychunk again")
        package = sys.modules[NAME] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(package)
    return importlib.import_module(f"{NAME}.{name}")


class PackageFinder:
    """An import finder that finds pychunk in one folder only.

    It comes before the search path and before the finders of editable installs.
    """

    def __init__(self, package: Path) -> None:
        self._parent = str(package.parent)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the specification of a module of pychunk; None for modules of other packages."""
        if name.partition(".")[0] != "pychunk":
            return None
        found = PathFinder.find_spec(name, [self._parent] if path is None else path)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found


def import_pychunk(package: str | None) -> dict[str, Any]:
    """Import pychunk and return its facts.

    Raises:
        ImportError: The interpreter imports another pychunk than the one in the folder `package`.
    """
    if package is not None:
        found = importlib.util.find_spec("pychunk")
        if found is None or found.origin is None or Path(found.origin).resolve().parent != Path(package):
            sys.meta_path.insert(0, PackageFinder(Path(package)))
    import numpy as np

    import pychunk

    backend = pychunk.backend()
    folder = Path(pychunk.__file__).resolve().parent
    if package is not None and folder != Path(package):
        raise ImportError(
            f"{sys.executable} imports pychunk from {folder}, not from {package}; remove what imports it at the start, "
            "such as a .pth file"
        )
    return {
        "package": str(folder),
        "pychunk": backend.get("version"),
        "isa": backend.get("isa"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpu": cpu_model(),
    }


def cpu_model() -> str:
    """Return the name of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


class Bench:
    """The prepared workloads of this process."""

    def __init__(self, names: list[str], corpora: dict[str, list[str]]) -> None:
        self.workloads = module("workloads").WORKLOADS
        self.calibration = module("calibration").Calibration()
        self.calls: dict[str, Any] = {}
        self.missing: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.answers: dict[str, str] = {}
        for name in names:
            self._prepare(name, corpora)

    def _prepare(self, name: str, corpora: dict[str, list[str]]) -> None:
        workload = self.workloads[name]
        texts = corpora[workload.corpus]
        try:
            call = workload.prepare(texts)
            self.answers[name] = workload.check(call(), texts)
        except ImportError as error:
            self.missing[name] = str(error)
        except Exception as error:  # another version may lack a method or an option, which is not a failure
            self.wrong[name] = f"{type(error).__name__}: {error}"
        else:
            self.calls[name] = call

    def time(self, name: str, warm: bool) -> dict[str, float]:
        """Return the CPU and wall seconds of a call, and the calibration's seconds, measured just before."""
        call, times = self.calls[name], self.workloads[name].calls
        if warm:  # so that the caches contain this workload's data, whatever ran before
            call()
        calibration = self.calibration.seconds()
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(times):
            call()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        return {"cpu": cpu / times, "wall": wall / times, "calibration": calibration}


def serve(lines: Any, out: Any) -> None:
    """Answer requests until the pipe is closed, first ``{package, texts, names}``, then ``{name, warm}``."""

    def answer(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    line = lines.readline()
    if not line:  # the parent was interrupted before the first request
        return
    first = json.loads(line)
    facts = import_pychunk(first["package"])
    corpora = json.loads(Path(first["texts"]).read_text(encoding="utf-8")) if first["names"] else {}
    bench = Bench(first["names"], corpora)
    answer({"facts": facts, "answers": bench.answers, "missing": bench.missing, "wrong": bench.wrong})
    del corpora
    gc.collect()
    gc.disable()  # a collection in one timing and none in the next would be noise
    for line in lines:
        answer(bench.time(**json.loads(line)))


def main() -> None:
    """Answer the parent's requests on standard input until it closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C; closing the pipe ends this process
    sys.path[:1] = [] if Path(sys.path[0]).resolve() == FOLDER else sys.path[:1]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of libraries must not mix with the answers
    serve(sys.stdin, out)


if __name__ == "__main__":
    main()
