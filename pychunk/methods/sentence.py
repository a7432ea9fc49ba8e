"""One chunk a sentence."""

from .base import Method


class Sentence(Method):
    """One chunk a sentence: the finest baseline of PIC's table 1."""

    name = "sentence"
    keeps_short = True
    reason = "sentence"
