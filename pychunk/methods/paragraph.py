"""One chunk a paragraph."""

from .base import Method


class Paragraph(Method):
    """Cut at line breaks that are not mere wraps (see ``wrap``)."""

    name = "paragraph"
    keeps_short = True
    reason = "paragraph"
