"""A chunker for the harness of Chroma's chunking_evaluation."""

from __future__ import annotations

from typing import Any

from ..methods.method_options import MethodName
from ..segmenter import Segmenter


class PychunkChunker:
    """A chunker for chunking_evaluation, without its base class, because the harness calls only ``split_text``.

    Args:
        method, **options: The arguments of :class:`pychunk.Segmenter`.

    Example:
        >>> PychunkChunker("sentence").split_text("One. Two.")
        ['One.', 'Two.']
    """

    def __init__(self, method: MethodName | None = None, **options: Any) -> None:
        self.segmenter = Segmenter(method, **options)

    def split_text(self, text: str) -> list[str]:
        """Return the texts of a document's chunks, each exactly as in the document."""
        return [chunk.text for chunk in self.segmenter(text)]
