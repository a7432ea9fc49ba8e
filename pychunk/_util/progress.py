"""The progress of long calls, shown as a bar in the terminal or a notebook, or reported to the caller's function."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int], None]
#: The fewest seconds between two updates of a notebook's bar, because each update is a message to the browser.
PAUSE = 0.2


def share_of(report: Progress, done: int, size: int, total: int) -> Callable[[float], None]:
    """Return a function that takes the share of a request that is done, and reports the progress of the whole call.

    ``size`` is the number of bytes of the request, ``done`` that of all requests before it, and ``total`` that of all
    requests.
    """
    return lambda share: report(done + int(share * size), total)


def reporter(progress: bool | Progress) -> Progress | None:
    if callable(progress):
        return progress
    if not progress:
        return None
    shell = notebook()
    return _bar() if shell is None else _drawn(shell)


def notebook() -> Any:
    """Return IPython's display module if this process serves a notebook, else None, without loading IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    # ZMQInteractiveShell is the shell of a notebook's kernel, and Colab's shell is a subclass of it. In a terminal, the
    # shell is a TerminalInteractiveShell.
    if shell is None or not any(each.__name__ == "ZMQInteractiveShell" for each in type(shell).__mro__):
        return None
    return importlib.import_module("IPython.display")


def _drawn(display: Any) -> Progress:
    """Show a bar of plain HTML in a notebook, and return the function that updates it.

    Plain HTML needs no widgets to be installed, and stays readable in a saved notebook.
    """
    begun = time.monotonic()
    drawn = [float("-inf")]
    handle = display.display(display.HTML(bar_html(0, 0, 0.0)), display_id=True)

    def report(done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - drawn[0] < PAUSE:
            return
        drawn[0] = now
        handle.update(display.HTML(bar_html(done, total, now - begun)))

    return report


def bar_html(done: int, total: int, seconds: float) -> str:
    """Return the HTML of a bar with the megabytes done, the total, and the rate.

    >>> bar_html(1_500_000, 3_000_000, 0.5)
    '<progress value="0.500" max="1" style="width:16em"></progress> 1.5 of 3.0 MB, 3.0 MB/s'
    """
    rate = f", {done / 1e6 / seconds:.1f} MB/s" if done and seconds > 0 else ""
    share = f"{done / total:.3f}" if total else "0"
    return (
        f'<progress value="{share}" max="1" style="width:16em"></progress> '
        f"{done / 1e6:.1f} of {total / 1e6:.1f} MB{rate}"
    )


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
