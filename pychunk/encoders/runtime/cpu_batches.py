"""Running a transformer over rows of tokens on the CPU: each thread takes one batch of rows of equal length at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._engine import native
from .sessions import IDS, MASK, TYPES, Session

if TYPE_CHECKING:
    from ..._core import ModelRows

I64 = npt.NDArray[np.int64]

#: The most tokens in a batch. They suffice for a core's full speed in matrix products, and their states fit its cache.
BATCH_TOKENS = 2048
#: A batch with fewer tokens than this also takes rows of other lengths, because each call reads all weights anyway.
LEAST_TOKENS = 256

#: A function that takes the model's output of a batch, the numbers of its rows, and the lengths of all rows in tokens.
Sink = Callable[[npt.NDArray[Any], I64, I64], None]
Report = Callable[[int, int], None]


def run_batches(
    session: Session,
    rows: ModelRows,
    sink: Sink,
    *,
    threads: int,
    batch_tokens: int = BATCH_TOKENS,
    report: Report | None = None,
) -> None:
    """Call ``sink`` with the model's output of every batch.

    Each thread runs whole batches by itself. Two calls with one thread each finish sooner than calls with two threads,
    and the number of threads does not change a row's result. Threads are not pinned to cores, because pinning saves no
    time (213 sentences/s with it, 214 without). Several services that pin their threads the same way would also share a
    core. ``report(done, total)`` gets numbers of tokens. An exception in a thread, or an interrupt, ends the other
    threads after their current batch.
    """
    lengths = rows.lengths()
    total = int(lengths.sum())
    if total == 0:
        return
    # If there are few tokens, the batches are smaller, so that every thread has work.
    budget = max(1, min(batch_tokens, -(-total // threads)))
    order, borders = native.plan_batches(lengths, budget=budget, least=min(LEAST_TOKENS, budget))
    batches = iter(range(len(borders) - 1))
    lock, stopped = threading.Lock(), threading.Event()
    done = 0

    def work() -> None:
        nonlocal done
        while not stopped.is_set():
            with lock:
                batch = next(batches, None)
            if batch is None:
                return
            chosen = order[borders[batch] : borders[batch + 1]]
            sink(session.run(_tensors(session, rows, chosen, int(lengths[chosen[0]]))), chosen, lengths)
            if report:
                with lock:
                    done += int(lengths[chosen].sum())
                    report(done, total)

    workers = min(threads, len(borders) - 1)
    if workers <= 1:
        work()
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="pychunk-encode") as pool:
        running = [pool.submit(work) for _ in range(workers)]
        try:
            for each in running:
                each.result()
        finally:
            stopped.set()


def _tensors(session: Session, rows: ModelRows, chosen: I64, width: int) -> dict[str, npt.NDArray[Any]]:
    by_role = {each.role: (each.name, np.empty((len(chosen), width), each.dtype)) for each in session.inputs}
    ids, mask, types = (by_role.get(role, (None, None))[1] for role in (IDS, MASK, TYPES))
    assert ids is not None
    if all(each is None or each.dtype == ids.dtype for each in (mask, types)):
        rows.fill(chosen, width, ids, mask, types)
    else:  # Some inputs are int32, others int64, so all are filled as the type of the ids and then copied.
        like = [None if each is None else np.empty_like(ids) for each in (mask, types)]
        rows.fill(chosen, width, ids, *like)
        for each, filled in zip((mask, types), like, strict=True):
            if each is not None and filled is not None:
                each[:] = filled
    return dict(by_role.values())
