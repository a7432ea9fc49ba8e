"""embed(): vectors of texts, for queries and for stores of vectors elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._util.progress import Progress
from .api import segment
from .encoders import registry
from .encoders.runtime.placement import Placement
from .inputs import TextBatch

TASKS = ("passage", "query")


def embed(
    texts: Any,
    *,
    encoder: str | Path = "static",
    task: str = "passage",
    column: str | None = None,
    device: str = "auto",
    threads: int | None = None,
    runtime: str = "auto",
    precision: str = "auto",
    progress: bool | Progress = False,
) -> npt.NDArray[np.float32]:
    """Unit vectors of texts, as :func:`segment` gives them to chunks and an index to queries.

    Args:
        texts: a str, a list of str, an Arrow array, record batch or table, a pandas or Polars series or data frame.
        encoder: ``"static"``, a name from ``pychunk model list``, or a directory that ``pychunk export`` wrote.
        task: ``"passage"``: as a chunk of this text has it with ``vectors="chunk"``, the mean of the vectors of its
            sentences by their tokens, so that no text is too long; ``"query"``: the text in one piece, as
            :meth:`pychunk.Index.search` sees queries, after the model's prompt for them, if it has one.
        column: the column that holds the text; default: the only string column, else ``text``.
        device, threads, runtime, precision: as for :func:`segment`.
        progress: of passages, True for a progress bar, or a function of (bytes done, bytes in all).

    Returns:
        float32[n, dim], of a single str float32[dim]; rows of length 1, the zero vector for a text without a word that
        the encoder knows.

    Raises:
        ValueError, TypeError: an unknown encoder or task, or a row that is not text, by its number.

    Example:
        >>> import pychunk
        >>> cats, stars = pychunk.embed(["Cats purr when they are content.", "The sun is a star."])
        >>> question = pychunk.embed("Why do cats purr?", task="query")
        >>> bool(question @ cats > question @ stars)
        True
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}; got {task!r}")
    batch = TextBatch.of(texts, column=column)
    if task == "query":
        found = registry.vector_encoder(encoder, Placement.of(runtime, device, precision))
        parts = [found.encode_queries(part, threads=threads) for part in batch.texts if len(part)]
        vectors = np.concatenate(parts) if parts else np.zeros((0, found.dim), np.float32)
    else:
        vectors = _passages(
            pa.chunked_array(batch.texts, pa.large_string()),
            progress,
            encoder=encoder,
            device=device,
            threads=threads,
            runtime=runtime,
            precision=precision,
        )
    return vectors[0] if isinstance(texts, str) else vectors


def _passages(texts: pa.ChunkedArray, progress: bool | Progress, **options: Any) -> npt.NDArray[np.float32]:
    """Each text as a document of one chunk; none where a text is blank."""
    chunks = segment(
        texts, "fixed", size=1 << 40, unit="characters", atoms=False, vectors="chunk", progress=progress, **options
    )
    found = chunks.table["vector"].combine_chunks()
    out = np.zeros((len(texts), found.type.list_size), np.float32)
    out[np.asarray(chunks.table["document"])] = np.asarray(found.flatten()).reshape(len(found), found.type.list_size)
    return out
