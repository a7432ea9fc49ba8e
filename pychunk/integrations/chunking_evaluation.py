"""A chunker for the harness of Chroma's chunking_evaluation."""

from __future__ import annotations

from typing import Any

from ..segmenter import Segmenter


class PychunkChunker:
    """What that package calls a BaseChunker, without importing it: its harness asks for ``split_text`` alone.

    Args:
        method, **options: as for :class:`pychunk.Segmenter`.

    Example:
        >>> PychunkChunker("sentence").split_text("One. Two.")
        ['One.', 'Two.']
    """

    def __init__(self, method: str | None = None, **options: Any) -> None:
        self.segmenter = Segmenter(method, **options)

    def split_text(self, text: str) -> list[str]:
        """The texts of a document's chunks, each of them exactly as it stands in the document."""
        return [chunk.text for chunk in self.segmenter(text)]
