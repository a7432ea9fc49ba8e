"""``python -m pychunk``, and the command ``pychunk``."""

import sys


def main() -> None:
    """Runs the command line; Ctrl-C while it loads ends it without a word."""
    try:
        from .cli.main import app
    except KeyboardInterrupt:
        sys.exit(130)
    app(prog_name="pychunk")


if __name__ == "__main__":
    main()
