"""The page that shows chunks, and small static tables of them for notebooks and terminals."""

from .page import Page
from .pages import Pages
from .sizes import Sizes

__all__ = ["Page", "Pages", "Sizes"]
