"""Progress of long calls: a bar in the terminal, or a function of the caller."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]


def share_of(report: Progress, done: int, size: int, total: int) -> Callable[[float], None]:
    """Progress inside a request: a share of its bytes."""
    return lambda share: report(done + int(share * size), total)


def reporter(progress: bool | Progress) -> Progress | None:
    if callable(progress):
        return progress
    return _bar() if progress else None


def _bar() -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    bar = Progress(BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    task = bar.add_task("segment")
    bar.start()

    def report(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)
        if done >= total:
            bar.stop()

    return report
