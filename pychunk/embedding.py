"""The function embed(): vectors of texts, for queries and for external vector stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._util.progress import Progress
from .api import segment
from .encoders import registry
from .inputs import TextBatch
from .placement import Placement, PlacementLike

if TYPE_CHECKING:
    from .encoders.registry import EncoderLike

TASKS = ("passage", "query")


def embed(
    texts: Any,
    *,
    encoder: EncoderLike = "static",
    task: str = "passage",
    column: str | None = None,
    placement: PlacementLike | None = None,
    progress: bool | Progress = False,
) -> npt.NDArray[np.float32]:
    """Return unit vectors of texts, the same as :func:`segment` computes for chunks, or an index for queries.

    Args:
        texts: A str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        encoder: ``"static"``, a name from ``pychunk model list``, a directory that ``pychunk export`` wrote, or a
            :class:`pychunk.Encoder`.
        task: ``"passage"`` gives a text the vector that a chunk with this text has with ``vectors="chunk"``. This is
            the mean of the vectors of its sentences, weighted by tokens, so no text is too long. ``"query"`` encodes
            the text as a whole, as :meth:`pychunk.Index.search` encodes queries. If the model has a prompt for queries,
            it precedes the text.
        column: The column that holds the text; default: the only string column, else ``text``.
        placement: The device, threads and runtime: a :class:`pychunk.Placement`, or the name of a device.
        progress: For passages, True for a progress bar, or a function of (bytes done, total bytes).

    Returns:
        float32[n, dim], or float32[dim] for a single str. Rows have length 1; a text without a word that the encoder
        knows has the zero vector.

    Raises:
        ValueError, TypeError: The encoder or task is unknown, or a row is not text; the message has the row's number.

    Example:
        >>> import pychunk
        >>> cats, stars = pychunk.embed(["Cats purr when they are content.", "The sun is a star."])
        >>> question = pychunk.embed("Why do cats purr?", task="query")
        >>> bool(question @ cats > question @ stars)
        True
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}; got {task!r:.80}")
    registry.check_not_auto(encoder)
    batch = TextBatch.of(texts, column=column)
    if task == "query":
        where = Placement.of(placement)
        found = registry.vector_encoder(encoder, where.for_models)
        parts = [found.encode_queries(part, threads=where.threads) for part in batch.texts if len(part)]
        vectors = np.concatenate(parts) if parts else np.zeros((0, found.dim), np.float32)
    else:
        vectors = _passages(
            pa.chunked_array(batch.texts, pa.large_string()), progress, encoder=encoder, placement=placement
        )
    return vectors[0] if isinstance(texts, str) else vectors


def _passages(texts: pa.ChunkedArray, progress: bool | Progress, **options: Any) -> npt.NDArray[np.float32]:
    """Return the vectors of texts, each segmented as a document of one chunk.

    A blank text has no chunk, and gets the zero vector.
    """
    chunks = segment(
        texts,
        "fixed",
        size=1 << 40,
        unit="characters",
        keep_together=False,
        vectors="chunk",
        progress=progress,
        **options,
    )
    found = chunks.table["vector"].combine_chunks()
    out = np.zeros((len(texts), found.type.list_size), np.float32)
    out[np.asarray(chunks.table["document_index"])] = np.asarray(found.flatten()).reshape(
        len(found), found.type.list_size
    )
    return out
