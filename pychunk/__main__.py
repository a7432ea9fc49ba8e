"""The entry point of ``python -m pychunk`` and of the command ``pychunk``."""

import contextlib
import ctypes
import sys


def main() -> None:
    """Run the command line.

    Ctrl-C while the package loads ends the process without a message.
    """
    # Load libgcc_s now. Otherwise the C library loads it when the first thread ends, and aborts the process if there is
    # no memory for it then.
    with contextlib.suppress(OSError):
        ctypes.CDLL("libgcc_s.so.1")
    try:
        from ._util.startup import leave
        from .cli.main import app
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="pychunk")
    except SystemExit as end:
        leave(end.code)
        raise
    except MemoryError:  # Loading a command ran out of memory.
        sys.stderr.write("error: there is not enough memory to start\n")
        leave(2)
        sys.exit(2)


if __name__ == "__main__":
    main()
