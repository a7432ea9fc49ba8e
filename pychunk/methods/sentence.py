"""The method ``sentence``: one chunk for each sentence."""

from .base import Method


class Sentence(Method):
    """A method that makes each sentence a chunk: the finest baseline in table 1 of PIC."""

    name = "sentence"
    keeps_short = True
    reason = "sentence"
