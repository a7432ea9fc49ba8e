"""The facts that every file of figures states: title, command, commit, versions, encoder, machine, day.

    record.save(path, "Linear time", {"rows": rows}, packages=["faiss-cpu"])

``python bench/results.py`` makes docs/results from the files in bench/results.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pychunk
from pychunk.encoders import static_encoder

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # for training/, which is not installed
ALWAYS = ("numpy", "pyarrow")


def save(
    path: Path,
    title: str,
    figures: Mapping[str, Any],
    *,
    about: str = "",
    packages: Iterable[str] = (),
    command: str = "",
    encoder: str = "",
) -> None:
    """Write figures as JSON, after the facts about how they were made.

    Args:
        path: The file; missing folders are made.
        title: The subject of the measurement, in a few words.
        figures: Lists of rows (dictionaries with the same keys), and single facts; plain JSON types.
        about: A sentence or two that a reader of the figures needs.
        packages: Packages whose versions matter besides NumPy's and PyArrow's; those that are not installed are
            skipped.
        command: The command that gives the same figures; default: the one that started this process.
        encoder: The fingerprint of the encoder that made the vectors (:func:`shipped`); default: none.
    """
    facts = {
        "title": title,
        "about": about,
        "command": command or started_by(),
        "commit": commit(),
        "versions": versions(packages),
        "encoder": encoder,
        "machine": machine(),
        "day": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**facts, **figures}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path}", file=sys.stderr)


def shipped() -> str:
    """Return the fingerprint of the static table, which pychunk uses to cut by default."""
    return static_encoder.load().fingerprint


def started_by() -> str:
    """Return the command that started this process, relative to the checkout; for other folders only the name."""
    return shlex.join(["python", *map(_plain, sys.orig_argv[1:])])


def _plain(word: str) -> str:
    path = Path(word)
    if not path.is_absolute():
        return word
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def commit() -> str | None:
    """Return the checkout's commit, and whether files differ from it, or None if git knows none."""
    try:
        found = _git("rev-parse", "--short=12", "HEAD").strip()
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{found} with changes" if changed.strip() else found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, pychunk and the installed packages."""
    found = {"python": platform.python_version(), "pychunk": pychunk.__version__ or _source_version()}
    for name in (*ALWAYS, *packages):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _source_version() -> str:
    """Return the version of the checkout, for a package that is not installed and so does not know its version."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^version = "(.*)"', project, re.MULTILINE)
    return found[1] if found else ""


def machine() -> str:
    """Return the CPU, the number of cores this process may use, the instruction set, and the GPUs."""
    backend = pychunk.backend()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parts = [_cpu(), f"{usable} CPUs", f"{backend['threads']} threads", str(backend["isa"]), platform.system()]
    return ", ".join([*parts, *backend["cuda"].get("devices", [])])


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
