"""A search for unexpected faults: ``python -m tests.fuzz --minutes 10``, from the root of a checkout.

A target makes inputs from a seed, checks what pychunk does with them, and proposes simpler inputs. The runner manages
the processes, the clock and the findings. Every finding is shrunk and written as a test.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# `python -m` and `python -c` put the checkout first, whose pychunk/ has no native module. The installed package is
# tested instead.
sys.path[:] = [*(each for each in sys.path if Path(each).resolve() != ROOT), str(ROOT)]
