"""Chunks of a Ray dataset, by actors that load their Segmenter once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..inputs.inputs import CALL_BYTES
from .data_frame_chunks import BlockSegmenter

if TYPE_CHECKING:
    from ray.data import Dataset

#: Rows of a call on a GPU, where Ray wants a number: its batches are joined from small blocks.
GPU_ROWS = 1024


def segment(
    dataset: Dataset,
    method: str | None = None,
    *,
    column: str | None = None,
    ids: str | None = None,
    keep: Sequence[str] = (),
    on_error: str = "raise",
    concurrency: int | tuple[int, int] | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    batch_size: int | None = None,
    batch_bytes: int = CALL_BYTES,
    **options: Any,
) -> Dataset:
    """Segments the documents of a Ray dataset; lazy, as all of Ray Data.

    The rows are those of :func:`pychunk.segment`, whatever the blocks, with one difference: ``document`` is a number
    made from the hash of the document's id (without ids, of its text), as a dataset has no row numbers. Chunks of one
    document stay together and in order. Documents with the same text and no ids cannot be told apart. The metadata of
    ``ChunkBatch`` stays with the blocks. A worker that dies is replaced, its block done again.

    Args:
        dataset: with the text in a column.
        method: as for :class:`pychunk.Segmenter`.
        column, ids: names of columns, as for :func:`pychunk.segment`; ``column`` lets Ray read no others than needed.
        keep: columns of the input to repeat on every chunk.
        on_error: ``"raise"`` ends the job at a row that is not text; ``"skip"`` leaves such rows out, with a warning in
            the worker's log; ``"row"`` returns them as rows with the reason in the column ``error`` (null for chunks).
        concurrency: actors, or the least and the most of them; default: as many as the cluster has room for. Actors
            hold their CPUs for the whole job: leave one for reading, or the job waits for ever.
        num_cpus, num_gpus: of an actor. An actor runs ``num_cpus`` threads unless ``threads=`` says otherwise;
            ``num_gpus=1`` goes with ``device="cuda"``.
        batch_size: rows of a call; default: a block, with GPUs 1,024 rows.
        batch_bytes: text cut at a time, which bounds an actor's memory.
        **options: of the method and of :class:`pychunk.Segmenter`, checked here, before anything runs. ``summaries``,
            ``titles``, ``sentence_vectors``, ``sentence_spans``, ``page_starts``, ``blocks``, ``removed`` and ``cuts``
            are names of columns.

    Raises:
        ValueError, TypeError: an unknown option; a column that is not there, or one to keep that chunks have, too.
        ImportError: without the extra ``ray``.

    Example:
        >>> import ray  # doctest: +SKIP
        >>> articles = ray.data.read_parquet("articles.parquet")  # doctest: +SKIP
        >>> segment(articles, column="text", ids="id", concurrency=4).write_parquet("chunks")  # doctest: +SKIP
    """
    data = _ray_data()
    options.setdefault("threads", max(1, int(num_cpus)))
    blocks = BlockSegmenter.of(
        method, column=column, ids=ids, keep=keep, on_error=on_error, batch_bytes=batch_bytes, **options
    )
    known = dataset.schema(fetch_if_missing=False)  # what it costs nothing to know
    if known is not None and isinstance(known.base_schema, pa.Schema):
        blocks.schema(known.base_schema)
    least, most = concurrency if isinstance(concurrency, tuple) else (concurrency or 1, concurrency)
    needed = blocks.needed(None if known is None else known.names)
    return (dataset.select_columns(needed) if needed else dataset).map_batches(
        _Actor,
        fn_constructor_args=(blocks,),
        batch_format="pyarrow",
        zero_copy_batch=True,
        batch_size=batch_size or (GPU_ROWS if num_gpus else None),
        compute=data.ActorPoolStrategy(min_size=least, max_size=most),
        num_cpus=num_cpus,
        num_gpus=num_gpus or None,
    )


class _Actor:
    """What Ray runs in a process of its own."""

    def __init__(self, blocks: BlockSegmenter) -> None:
        self.blocks = blocks

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        return self.blocks(block)


def _ray_data() -> Any:
    try:
        from ray import data
    except ImportError:
        raise ImportError('integrations.ray needs Ray Data: pip install "pychunk-native[ray]"') from None
    return data
