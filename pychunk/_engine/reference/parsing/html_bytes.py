"""Searches in the bytes of a page, as in csrc/parsing/html/html_bytes.h."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

#: ASCII, the letters of Latin-1, and common punctuation.
_KNOWN = re.compile(r"[\x00-\x7f\xc0-\xff\u2000-\u206f\xa0«»·]*")


def find_keys(page: npt.NDArray[np.uint8], keys: list[bytes]) -> list[list[int]]:
    """Return the result of :func:`pychunk._engine.native.find_keys`."""
    data = page.tobytes()
    return [[found.start() for found in re.finditer(b"(?=%b)" % re.escape(key), data)] for key in keys]


def find_told(
    text: npt.NDArray[np.uint8],
    start: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    told: npt.NDArray[np.uint8],
    *,
    least: int,
    most: int,
) -> npt.NDArray[np.uint8]:
    """Return the result of :func:`pychunk._engine.native.find_told`."""
    page, wanted = text.tobytes().decode(), told.tobytes().decode()
    found = np.zeros(len(start), np.uint8)
    for row, (first, last) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        beginning = page[first : min(last, first + 3 * most)]
        bare = re.sub(r"[\W_]+", "", beginning).lower()[:most]
        if last - first >= most:
            found[row] = (len(bare) >= least and bare in wanted) if _KNOWN.fullmatch(beginning) else 2
    return found
