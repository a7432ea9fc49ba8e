"""The tree of headings as objects, and chunks joined to one clean document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .._engine.data.columns import ChunkFields


@dataclass(slots=True)
class Node:
    r"""A chunk and its children in the tree of headings, in reading order.

    Iterating over a node yields its own chunk, then the chunks of its descendants.

    Example:
        >>> import pychunk
        >>> chunks = pychunk.segment("Cats\n\nCats purr. They sleep all day.", "structure", size=5, unit="words")
        >>> [(node.chunk.text, len(node.children)) for node in chunks.tree()]
        [('Cats\n\nCats purr.', 1)]
    """

    chunk: ChunkFields
    children: list[Node] = field(default_factory=list)

    def __iter__(self) -> Iterator[ChunkFields]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node.chunk
            waiting += reversed(node.children)

    @property
    def text(self) -> str:
        """The text of the subtree, with a blank line between chunks."""
        return joined(list(self))


def tree_of(chunks: Iterable[ChunkFields]) -> list[Node]:
    """Return the outermost nodes of one document, from its chunks in order.

    In a slice of the chunks, nodes whose parent is not in the slice are outermost, too.
    """
    nodes = {chunk.chunk_index: Node(chunk) for chunk in chunks}
    top: list[Node] = []
    for node in nodes.values():
        above = None if node.chunk.parent is None else nodes.get(node.chunk.parent)
        (top if above is None else above.children).append(node)
    return top


def _is_underlined(text: str, heading: str) -> bool:
    lines = text[len(heading) :].lstrip(" \t").splitlines()
    mark = lines[1].strip(" \t") if len(lines) > 1 and not lines[0] else ""
    return mark != "" and mark.strip(mark[0]) == "" and mark[0] in "=-"


def joined(chunks: Sequence[ChunkFields]) -> str:
    """Return the texts of one document's chunks in order as one text, each character once.

    A chunk that continues a block that was cut, such as a long paragraph, begins on a new line. Any other chunk follows
    a blank line. A heading without marks, as in plain text, gets the marks of Markdown (``#``).
    """
    text = ""
    known: list[str] = []
    for chunk in chunks:
        own = chunk.text[chunk.overlap :].lstrip() if text else chunk.text
        path = chunk.path or []
        if path and path != known[: len(path)] and own.startswith(path[-1]) and not _is_underlined(own, path[-1]):
            own = f"{'#' * min(len(path), 6)} {own}"
        known = path
        follows = (chunk.part or 1) > 1
        text += ("" if not text else "\n" if follows else "\n\n") + own
    return text
