"""``python -m pychunk``, and the command ``pychunk``."""

import sys


def main() -> None:
    """Runs the command line; Ctrl-C while it loads ends it without a word."""
    try:
        from .cli.main import app
        from .plumbing.quick_start import leave
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        app(prog_name="pychunk")
    except SystemExit as end:
        leave(end.code)
        raise


if __name__ == "__main__":
    main()
