"""A timed process in which one workload uses more CPU time, for regression_check.py to find.

PYCHUNK_SLOWED names the workload and the share, as in pic:0.15.
"""

import os
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "pychunk" / "benchmark"


def slow_down(call, share: float):
    """Return the call followed by a loop that lasts this share of the call's own CPU time."""

    def slowed():
        begun = time.process_time()
        found = call()
        until = time.process_time() + share * (time.process_time() - begun)
        while time.process_time() < until:
            pass
        return found

    return slowed


def main() -> None:
    sys.path[0] = str(FOLDER)
    import timed_process

    name, _, share = os.environ["PYCHUNK_SLOWED"].partition(":")
    workload_class = timed_process.module("workloads").Workload
    prepare = workload_class.prepare

    def prepare_slowed(self, texts):
        call = prepare(self, texts)
        return slow_down(call, float(share)) if self.name == name else call

    workload_class.prepare = prepare_slowed
    timed_process.main()


if __name__ == "__main__":
    main()
