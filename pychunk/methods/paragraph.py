"""The method ``paragraph``: one chunk for each paragraph."""

from .base import Method


class Paragraph(Method):
    """A method that cuts at line breaks, except those that only wrap a long line (see ``unwrap_lines``)."""

    name = "paragraph"
    keeps_short = True
    reason = "paragraph"
