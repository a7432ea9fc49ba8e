"""The chunks of a Ray dataset, made by actors that load their Segmenter once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..inputs.inputs import CALL_BYTES
from ..methods.method_options import MethodName
from ..placement import Placement, PlacementLike
from .data_frame_chunks import BlockSegmenter

if TYPE_CHECKING:
    from ray.data import Dataset

#: The number of rows in a call on a GPU. If Ray gets a number of rows, it joins small blocks into batches of that size.
GPU_ROWS = 1024


def segment(
    dataset: Dataset,
    method: MethodName | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    on_error: str = "raise",
    concurrency: int | tuple[int, int] | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    batch_size: int | None = None,
    batch_bytes: int = CALL_BYTES,
    placement: PlacementLike | None = None,
    **options: Any,
) -> Dataset:
    """Segment the documents of a Ray dataset. Like all of Ray Data, this is lazy.

    The result has the rows of :func:`pychunk.segment`, however the dataset is divided into blocks, with one difference.
    ``document_index`` is a number made from the hash of the document's id, or of its text if there are no ids, because
    a dataset has no row numbers. Chunks of one document stay together and in order. Documents with the same text and no
    ids cannot be distinguished. Each block has the metadata of its own ``ChunkBatch``. A worker that dies is replaced,
    and its block is processed again.

    Args:
        dataset: A dataset with the text in a column.
        method: The method. See :class:`pychunk.Segmenter`.
        columns: The names of columns by role: see :func:`pychunk.segment`. With ``{"text": ...}`` Ray reads only the
            columns that are needed.
        ids: The name of the column with the ids.
        metadata_columns: The columns of the input to repeat on every chunk.
        on_error: ``"raise"`` ends the job at a row that is not text. ``"skip"`` leaves such rows out, with a warning in
            the worker's log. ``"row"`` returns them as rows with the reason in the column ``error``, which is null for
            chunks.
        concurrency: The number of actors, or the least and the most of them. The default is as many as the cluster has
            room for. Actors hold their CPUs for the whole job. Leave one CPU for reading, or the job waits for ever.
        num_cpus: The CPUs of an actor, and the number of its threads unless ``placement`` sets a number of threads.
        num_gpus: The GPUs of an actor. Combine ``num_gpus=1`` with ``placement="cuda"``.
        batch_size: The number of rows in a call. The default is one block, or 1,024 rows with GPUs.
        batch_bytes: The bytes of text that are cut at a time, which limits an actor's memory.
        placement: The device, threads and runtime of an actor: a :class:`pychunk.Placement`, or the name of a device.
            The default for threads is ``num_cpus``.
        **options: The options of the method and of :class:`pychunk.Segmenter`. They are checked here, before anything
            runs.

    Raises:
        ValueError, TypeError: An option is unknown, or a column does not exist, or a name in ``metadata_columns`` is
            also the name of a column of the chunks.
        ImportError: The extra ``ray`` is not installed.

    Example:
        >>> import ray  # doctest: +SKIP
        >>> articles = ray.data.read_parquet("articles.parquet")  # doctest: +SKIP
        >>> chunks = segment(articles, columns={"text": "text"}, ids="id", concurrency=4)  # doctest: +SKIP
        >>> chunks.write_parquet("chunks")  # doctest: +SKIP
    """
    data = _ray_data()
    where = Placement.of(placement)
    if where.threads is None:
        where = replace(where, threads=max(1, int(num_cpus)))
    blocks = BlockSegmenter.of(
        method,
        columns=columns,
        ids=ids,
        metadata_columns=metadata_columns,
        on_error=on_error,
        batch_bytes=batch_bytes,
        placement=where,
        **options,
    )
    known = dataset.schema(fetch_if_missing=False)  # Fetching an unknown schema would run the job.
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
    """The actor that Ray runs in a process of its own."""

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
