"""What must outlive a power cut goes to the disk now."""

from __future__ import annotations

import os
from pathlib import Path


def flush(path: Path) -> None:
    """Ask the operating system to write a file, or a folder's names, to the disk now."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
