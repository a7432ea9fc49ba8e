"""An HTML page that needs no network: written to a file, opened in the browser, or shown by a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike


class Page:
    """A page that shows chunks: :meth:`write` it to a file, :meth:`open` it, or let a notebook show it.

    Attributes:
        html: The HTML of the page.
    """

    def __init__(self, html: str) -> None:
        self.html = html

    def write(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, which appears as a whole or not at all, and replaces an existing one.

        Raises:
            FileNotFoundError: The folder does not exist.
        """
        from pathlib import Path

        from .durable_files import write_text

        if not Path(path).parent.is_dir():
            raise FileNotFoundError(f"{Path(path).parent}: no such folder")
        write_text(Path(path), self.html)

    def open(self) -> str:
        """Write the page to a new temporary file, open it in the browser, and return its path."""
        import tempfile
        import webbrowser
        from pathlib import Path

        with tempfile.NamedTemporaryFile("wb", suffix=".html", prefix="pychunk-", delete=False) as file:
            file.write(self.html.encode())
        webbrowser.open(Path(file.name).as_uri())
        return file.name

    def __repr__(self) -> str:
        return f"<Page of {len(self.html.encode()):,} bytes: .write(path) or .open()>"

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, which can reach neither the notebook nor the network."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="chunks" width="100%" height="640"'
            ' style="border:1px solid rgba(128,128,128,.4)"></iframe>'
        )
