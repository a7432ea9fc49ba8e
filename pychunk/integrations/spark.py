"""The chunks of a Spark data frame, made by mapInArrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..inputs.inputs import CALL_BYTES
from ..methods.method_options import MethodName
from ..placement import Placement, PlacementLike
from .data_frame_chunks import BlockSegmenter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def segment(
    df: DataFrame,
    method: MethodName | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    on_error: str = "raise",
    batch_bytes: int = CALL_BYTES,
    placement: PlacementLike | None = None,
    **options: Any,
) -> DataFrame:
    """Segment the documents of a Spark data frame. Like all of Spark, this is lazy.

    The result has the rows of :func:`pychunk.segment`, however the frame is partitioned, with these differences:

    - ``document_index`` is a number made from the hash of the document's id, or of its text if there are no ids,
      because a data frame has no row numbers.
    - ``relevance`` is a string, vectors are arrays of float, and ``sentences`` is an array of structs.
    - The metadata of ``ChunkBatch`` is lost.

    Documents with the same text and no ids cannot be distinguished.

    Args:
        df: A data frame with the text in a column.
        method: The method. See :class:`pychunk.Segmenter`. Each Python worker of Spark makes one Segmenter and keeps
            it.
        columns: The names of columns by role: see :func:`pychunk.segment`. With ``{"text": ...}`` Spark reads only the
            columns that are needed.
        ids: The name of the column with the ids.
        metadata_columns: The columns of the input to repeat on every chunk.
        on_error: ``"raise"`` fails the job at a row that is not text. ``"skip"`` leaves such rows out, with a warning
            in the worker's log. ``"row"`` returns them as rows with the reason in the column ``error``, which is null
            for chunks.
        batch_bytes: The bytes of text that are cut at a time. Spark itself determines how many rows it passes at a
            time. For long documents, set ``spark.sql.execution.arrow.maxRecordsPerBatch`` below its default of 10,000
            rows.
        placement: The device, threads and runtime of a task: a :class:`pychunk.Placement`, or the name of a device.
            The default for threads is 1. Pass as many threads as ``spark.task.cpus`` reserves CPUs.
        **options: The options of the method and of :class:`pychunk.Segmenter`. They are checked here, before anything
            runs.

    Raises:
        ValueError, TypeError: An option is unknown, or a column does not exist, or a name in ``metadata_columns`` is
            also the name of a column of the chunks.
        ImportError: The extra ``spark`` is not installed.

    Example:
        >>> articles = spark.read.parquet("articles.parquet")  # doctest: +SKIP
        >>> segment(articles, columns={"text": "text"}, ids="id").write.parquet("chunks")  # doctest: +SKIP
    """
    types, arrow = _pyspark()
    where = Placement.of(placement)
    blocks = BlockSegmenter.of(
        method,
        columns=columns,
        ids=ids,
        metadata_columns=metadata_columns,
        on_error=on_error,
        batch_bytes=batch_bytes,
        placement=replace(where, threads=where.threads or 1),
        **options,
    )
    chunks = blocks.schema(arrow.to_arrow_schema(df.schema, timezone="UTC"))
    # The columns of the input, which keep their Spark types.
    taken = {"document_id": ids, **{name: name for name in blocks.metadata_columns}}
    plain = pa.schema([field if field.name in taken else pa.field(field.name, _plain(field.type)) for field in chunks])
    declared = types.StructType([_taken(field, df.schema, taken) for field in arrow.from_arrow_schema(plain)])

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for table in blocks(pa.Table.from_batches([batch])):
                fields = [table.schema.field(name) if name in taken else plain.field(name) for name in plain.names]
                yield from table.cast(pa.schema(fields)).to_batches()

    needed = blocks.needed(df.columns)
    return (df.select(*needed) if needed else df).mapInArrow(run, declared)


def _taken(field: Any, source: Any, taken: dict[str, str | None]) -> Any:
    """Return a field of the result, with its Spark type in the input if the column comes from the input."""
    if field.name in taken:
        field.dataType = source[taken[field.name]].dataType
    return field


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type, or the nearest one that Spark's Java side can read."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type)) for field in kind])
    return kind


def _pyspark() -> tuple[Any, Any]:
    try:
        from pyspark.sql import types
        from pyspark.sql.pandas import types as arrow
    except ImportError:
        raise ImportError(
            'integrations.spark needs PySpark (and Java 17): pip install "pychunk-native[spark]"'
        ) from None
    return types, arrow
