"""The method ``page``: one chunk for each page."""

from .base import Method


class Page(Method):
    """A method that cuts at form feeds, or at the positions in the column ``page_starts``.

    It adds the columns ``page`` and ``page_end``, which count from 1.
    """

    name = "page"
    keeps_short = True
    reason = "page"
    pages = True
