"""The page that shows chunks, and small static tables of them for notebooks and terminals."""

from .._util.html_page import Page
from .page_data import Pages

__all__ = ["Page", "Pages"]
