"""The search for keys in the bytes of a page, as in csrc/parsing/html/html_bytes.h."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt


def find_keys(page: npt.NDArray[np.uint8], keys: list[bytes]) -> list[list[int]]:
    """Return the result of :func:`pychunk._engine.native.find_keys`."""
    data = page.tobytes()
    return [[found.start() for found in re.finditer(b"(?=%b)" % re.escape(key), data)] for key in keys]
