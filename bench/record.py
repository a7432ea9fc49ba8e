"""What every file of figures says about itself: title, command, commit, versions, encoder, machine, day.

    record.save(path, "Linear time", {"rows": rows}, packages=["faiss-cpu"])

``python bench/results.py`` makes docs/results of the files in bench/results.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
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
    """Writes figures as JSON, after what says how they came to be.

    Args:
        path: the file; folders on the way are made.
        title: what was measured, in a few words.
        figures: lists of rows (dictionaries of the same keys), and single facts; plain JSON types.
        about: what a reader of the figures has to know, in a sentence or two.
        packages: whose versions matter besides NumPy's and PyArrow's; those that are not installed are left out.
        command: what readers run for the same figures; default: what started this process.
        encoder: whose vectors the figures rest on, by fingerprint (:func:`shipped`); default: none's.
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
    """The fingerprint of the static table, by which pychunk cuts where nothing else is named."""
    return static_encoder.load().fingerprint


def started_by() -> str:
    """What started this process, from the checkout's folder; of other folders the name alone."""
    return shlex.join(["python", *map(_plain, sys.orig_argv[1:])])


def _plain(word: str) -> str:
    path = Path(word)
    if not path.is_absolute():
        return word
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def commit() -> str | None:
    """The checkout's commit, and whether files differ from it; None where git knows none."""
    try:
        found = _git("rev-parse", "--short=12", "HEAD").strip()
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{found} with changes" if changed.strip() else found


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Of Python, pychunk and the packages that are installed."""
    found = {"python": platform.python_version(), "pychunk": pychunk.__version__}
    for name in (*ALWAYS, *packages):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """CPU, how many of them this process may use, instruction set, and GPUs."""
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
