"""The search for the built extension if the package is imported from a checkout's source folder, which lacks it."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


def add_build(package: str) -> None:
    """Extend the package's path by the folder below ``build/`` that has its extension for this Python, if there is one.

    Raises:
        ImportError: The sources in ``csrc`` have changed since pip built the extension.
    """
    found = sys.modules[package]
    root = Path(str(found.__file__)).parents[1]
    if not (root / "pyproject.toml").is_file():
        return
    # The manifest tells the time of the last install. Each install writes one, even if nothing had to be compiled.
    built = {
        manifest.stat().st_mtime: manifest.parent
        for suffix in EXTENSION_SUFFIXES
        for manifest in root.glob("build/*/install_manifest.txt")
        if (manifest.parent / f"_core{suffix}").is_file()
    }
    if not built:
        return
    for source in (root / "csrc").rglob("*.*"):
        if source.suffix in (".cc", ".h", ".inc") and source.stat().st_mtime > max(built):
            raise ImportError(
                f"{source} is newer than the extension built in {built[max(built)]}: install {root} again, or "
                "run Python in another folder"
            )
    found.__path__.append(str(built[max(built)]))
