"""The import of the package from a checkout's source folder, which does not contain the built extension."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path


def add_build(package: str) -> None:
    """Add to the package's path the folder in ``build/`` in which pip built its extension for this Python, if any.

    Raises:
        ImportError: Its sources have changed since then.
    """
    found = sys.modules[package]
    root = Path(str(found.__file__)).parents[1]
    if not (root / "pyproject.toml").is_file():
        return
    # Each install writes a new manifest, even if nothing had to be compiled.
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
                f"{source} is newer than its build in {built[max(built)]}: install {root} again, or run "
                "Python elsewhere"
            )
    found.__path__.append(str(built[max(built)]))
