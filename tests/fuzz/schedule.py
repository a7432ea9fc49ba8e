"""A schedule that shares a time among targets of very different speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from .runner import Outcome

#: The inputs after which a target gives the rest of its share to later ones, until all have had their turn.
ENOUGH = 1_000_000
#: No target starts for less time: its processes take a second or two to start.
SHORTEST = 3.0


def schedule(
    names: list[str],
    seconds: float,
    seed: int,
    executions: int | None,
    search: Callable[[str, float, int, int | None], Outcome],
) -> Iterator[Outcome]:
    """Yield each target's outcome so far, after each of its turns.

    Every target gets an equal share of the time that is left when its turn comes, and ends early after `executions`
    (default: ENOUGH) inputs. Targets without findings share the remaining time in the same way, with other seeds. With
    `executions` each has one turn.
    """
    end = time.monotonic() + seconds
    sums: dict[str, Outcome] = {}
    turn = 0
    while turn == 0 or (executions is None and time.monotonic() + SHORTEST * len(names) < end):
        names = [name for name in names if name not in sums or not sums[name].findings]
        for place, name in enumerate(names):
            share = max((end - time.monotonic()) / (len(names) - place), SHORTEST)
            enough = executions if executions is not None else ENOUGH if turn == 0 else None
            now = search(name, share, seed + turn * 1_000_000_007, enough)
            before = sums.get(name, Outcome(now.target))
            sums[name] = Outcome(
                now.target,
                before.executions + now.executions,
                before.seconds + now.seconds,
                before.findings + now.findings,
            )
            yield sums[name]
        turn += 1
        if not names:
            return
