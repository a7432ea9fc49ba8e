"""A Segmenter whose chunks are the nodes of a hierarchy, for building an index of levels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .._engine.data.columns import ID_TYPE, UUIDS
from ..chunks.batch import ChunkBatch
from ..inputs.passthrough import with_kept
from ..segmenter import Segmenter, refuse
from .compressor import check_pooling
from .hierarchy_builder import inputs_and_levels
from .level_names import check_levels

if TYPE_CHECKING:
    from .._util.progress import Progress
    from ..inputs.document_columns import DocumentColumns


class NodeSegmenter(Segmenter):
    r"""A :class:`pychunk.Segmenter` that returns all nodes of ``levels`` instead of the method's chunks.

    Each node is one row, as in :meth:`Hierarchy.chunks`. No progress is reported.

    Args:
        levels, pooling: See :func:`pychunk.segment_levels`.
        method: The method that makes the chunks of level ``"group"``.
        **options: The options of :class:`pychunk.Segmenter`.

    Raises:
        ValueError: The levels are unknown, out of order or not nested, or the pooling is invalid.

    Example:
        >>> seg = NodeSegmenter(["paragraph", "document"])
        >>> seg("One. Two.\n\nThree.").texts
        ['One.', 'Two.', 'Three.', 'One. Two.', 'One. Two.\n\nThree.']
    """

    def __init__(
        self, levels: Sequence[str | int], method: Any = None, *, pooling: str | Path = "tokens", **options: Any
    ) -> None:
        self.levels, self.pooling = check_levels(levels), pooling
        check_pooling(pooling)
        super().__init__(method, **options)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the segmenter, with its levels, and with the pooling unless that is ``"tokens"``."""
        pooling = {} if self.pooling == "tokens" else {"pooling": str(self.pooling)}
        return {**super().options, "levels": list(self.levels), **pooling}

    def __getstate__(self) -> dict[str, Any]:
        return self.options

    def __setstate__(self, options: dict[str, Any]) -> None:
        NodeSegmenter.__init__(self, **options)

    def __repr__(self) -> str:
        return f"Node{super().__repr__()[:-1]}, levels={list(self.levels)})".replace("(, ", "(")

    @functools.cached_property
    def _plain(self) -> Segmenter:
        return Segmenter(**super().options)

    def __call__(
        self,
        batch: Any,
        *,
        columns: DocumentColumns | None = None,
        ids: Any = None,
        metadata_columns: Sequence[str] = (),
        progress: bool | Progress = False,
        first_document: int = 0,
        **unknown: NoReturn,
    ) -> ChunkBatch:
        """Return the nodes of a batch of documents. See :func:`pychunk.segment` for the arguments."""
        refuse(unknown)
        arguments = {"ids": ids, "metadata_columns": metadata_columns, "first_document": first_document}
        inputs, found = inputs_and_levels(self._plain, batch, self.levels, self.pooling, columns, **arguments)
        table = found.chunks().table
        if inputs.texts.uuids:
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), ID_TYPE: UUIDS})
        if inputs.columns_of_chunks:
            table = with_kept(table, inputs.columns_of_chunks, first_document)
        return ChunkBatch(
            table, documents=len(inputs.texts), first_document=first_document, errors=inputs.errors_with([])
        )
