"""One chunk a page."""

from .base import Method


class Page(Method):
    """Cut at form feeds, or where ``page_starts=`` says; adds the columns ``page`` and ``page_end``, from 1."""

    name = "page"
    keeps_short = True
    reason = "page"
    pages = True
