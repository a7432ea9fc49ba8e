"""A copy of the measured package, which a later run can time again, in turn with the later package.

On one machine, figures of the same code that were measured at different times differ by 6 %, more than calibration
loops explain. The best calibration is the base's own code, timed in the same minute.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._util.checksums import sha256
from .._util.durable_files import whole_file
from .launch import Installation

#: Parts of the names of files that are not copied: bytecode, which Python makes again, type stubs, and the GPU code,
#: which no workload runs.
_LEFT_OUT = ("__pycache__", ".pyc", ".pyi", "_cuda.")


def path_of(base: Path) -> Path:
    """Return the path of the copy that belongs to a base file, in the same folder."""
    return base.with_name(f"{base.name}.pychunk.zip")


def keep(installation: Installation, path: Path) -> str:
    """Write the installation's package to a .zip that appears completely or not at all, and return its SHA-256."""
    options: dict[str, Any] = {"compresslevel": 1, "strict_timestamps": False}
    with whole_file(path) as out, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, file in sorted(_files(Path(str(installation.package))).items()):
            archive.write(file, name)
    return sha256(path)


@contextmanager
def unpacked(path: Path, digest: str) -> Iterator[Path]:
    """Unpack the package to a temporary folder for the duration of the context, and yield the package's folder.

    Raises:
        ValueError: The copy is missing, or is not the one with this SHA-256.
    """
    if not digest:
        raise ValueError("the base was saved without a copy of its package")
    if not path.is_file():
        raise ValueError(f"{path}, the copy of the base's package, is missing")
    if sha256(path) != digest:
        raise ValueError(f"{path} is not the copy that was saved with the base")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        yield Path(folder).resolve() / "pychunk"


def _files(package: Path) -> dict[str, Path]:
    """Return the files of the package by their names in the archive."""
    found = {f"pychunk/{file.relative_to(package).as_posix()}": file for file in package.rglob("*") if file.is_file()}
    core = sys.modules.get("pychunk._core")
    if core is not None and core.__file__ is not None:  # an editable install has the core elsewhere
        found[f"pychunk/{Path(core.__file__).name}"] = Path(core.__file__)
    libraries = package.with_name("pychunk_native.libs")  # the libraries that a wheel contains
    found |= {f"{libraries.name}/{file.name}": file for file in libraries.glob("*") if file.is_file()}
    return {name: file for name, file in found.items() if not any(part in name for part in _LEFT_OUT)}
