"""``python -m pychunk``: the command line."""

from .cli import app

app(prog_name="pychunk")
