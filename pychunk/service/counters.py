"""Counters that all workers share, in a file that each maps into its memory, and their text for Prometheus."""

from __future__ import annotations

import bisect
import fcntl
import os
import tempfile

import numpy as np

#: The most workers that have lived at the same time.
WORKERS = 64
ROUTES = ("segment", "sentences", "tokenize", "embeddings", "rerank", "search", "chunk", "other")
STATUSES = (200, 400, 401, 404, 405, 406, 408, 413, 415, 422, 429, 499, 500, 501, 503, 504)
SUMS = {
    "documents": "Documents segmented.",
    "text_bytes": "Bytes of text segmented.",
    "chunks": "Chunks returned.",
    "batches": "Batches that the engine ran.",
    "batched_requests": "Requests in these batches.",
}
#: The upper bounds of the histogram of times, in seconds.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_TIMES = 1 + len(SUMS) + len(ROUTES) * len(STATUSES)
#: For each worker: its process, the sums, requests by route and status, times by bound with all, and their sum.
_SLOTS = _TIMES + len(BOUNDS) + 2


def new_file() -> str:
    """Make a file of counters, all 0, and return its path."""
    handle, path = tempfile.mkstemp(prefix="pychunk-serve-")
    os.truncate(handle, WORKERS * _SLOTS * 8)
    os.close(handle)
    return path


class Counters:
    """The counters of a worker, which has a row of the file to itself. A row outlives its worker, as counts only rise.

    Args:
        path: A file that :func:`new_file` made.
    """

    def __init__(self, path: str) -> None:
        self._all = np.memmap(path, np.float64, "r+", shape=(WORKERS, _SLOTS))
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            free = [row for row in range(WORKERS) if not _alive(int(self._all[row, 0]))]
            self._own = self._all[free[0] if free else WORKERS - 1]
            self._own[0] = os.getpid()

    def add(self, name: str, value: float) -> None:
        """Add to a sum."""
        self._own[1 + list(SUMS).index(name)] += value

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        route = route if route in ROUTES else "other"
        status = status if status in STATUSES else 500
        self._own[1 + len(SUMS) + ROUTES.index(route) * len(STATUSES) + STATUSES.index(status)] += 1
        self._own[_TIMES + bisect.bisect_left(BOUNDS, seconds)] += 1
        self._own[-1] += seconds

    def text(self) -> str:
        """Return the counters of all workers in Prometheus' text format."""
        totals = self._all.sum(axis=0)
        lines = []
        for number, (name, about) in enumerate(SUMS.items()):
            lines += _head(f"pychunk_{name}_total", about, "counter")
            lines.append(f"pychunk_{name}_total {totals[1 + number]:.0f}")
        lines += _head("pychunk_requests_total", "Requests by route and status.", "counter")
        counts = totals[1 + len(SUMS) : _TIMES].reshape(len(ROUTES), len(STATUSES))
        for route, row in zip(ROUTES, counts, strict=True):
            lines += [
                f'pychunk_requests_total{{route="{route}",status="{status}"}} {count:.0f}'
                for status, count in zip(STATUSES, row, strict=True)
                if count
            ]
        lines += _head("pychunk_request_seconds", "Seconds from a request to its answer.", "histogram")
        times = np.cumsum(totals[_TIMES:-1])
        for bound, count in zip((*BOUNDS, "+Inf"), times, strict=True):
            lines.append(f'pychunk_request_seconds_bucket{{le="{bound}"}} {count:.0f}')
        lines.append(f"pychunk_request_seconds_sum {totals[-1]:.6f}")
        lines.append(f"pychunk_request_seconds_count {times[-1]:.0f}")
        return "\n".join(lines) + "\n"


def _head(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]


def _alive(process: int) -> bool:
    if not process:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
