"""The folder in which pychunk keeps the models and vocabularies that a user downloads."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Return the folder of this user's models: ``PYCHUNK_CACHE``, else ``pychunk`` in the user's cache."""
    own = os.environ.get("PYCHUNK_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pychunk"
