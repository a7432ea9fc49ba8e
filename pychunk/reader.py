"""The function read(): the documents of files as one batch, for :func:`pychunk.segment`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._engine.data.columns import COLUMNS
from .inputs import TextBatch
from .io.document_batches import documents_of
from .io.source import open_source


def read(path: str | Path | Sequence[str | Path], **options: Any) -> TextBatch:
    r"""Read all documents of files, folders or URLs into memory, as one batch.

    For more text than fits into memory, call :func:`pychunk.io.open_source`, which reads in batches of bounded size, or
    :func:`pychunk.ingest.ingest`.

    Args:
        path: A file, a folder or a URL, or several: Markdown, HTML, PDF, text, Parquet, CSV, JSON Lines and other
            kinds.
        **options: The options of :func:`pychunk.io.open_source`, such as ``kind``, ``column``, ``ids`` and
            ``metadata_columns``.

    Returns:
        The documents with their ids and with the structure that the reader found, by which method ``structure`` cuts.
        Every chunk repeats the columns that ``metadata_columns`` names.

    Raises:
        ValueError: A file does not exist, or a document cannot be read; with ``dead_letters=``, such documents are left
            out instead. Or some files have structure and others, such as plain text, have none.

    Example:
        >>> import pathlib, pychunk, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "cats.md")
        ...     _ = path.write_text("# Cats\n\nThey purr.")
        ...     [chunk.path for chunk in pychunk.segment(pychunk.read(path))]
        [['Cats']]
    """
    tables = [batch.table for batch in open_source(path, **options).batches()]
    if not tables:
        return TextBatch.of(pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.large_string())}))
    # If any document has blocks, the default method of the whole batch is structure, which does not suit plain text.
    if len({("blocks" in table.column_names, str(table.schema.metadata)) for table in tables}) > 1:
        raise ValueError(
            f"{path} has files with structure and files without, which need different methods; pass kind= to "
            "read files of one kind only, or segment the batches of pychunk.io.open_source() one by one"
        )
    # Files of one kind may have columns that files of another kind lack.
    whole = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="default")
    found = documents_of(whole.replace_schema_metadata(tables[0].schema.metadata))
    own = {column.name for column in COLUMNS}
    return replace(found, metadata_columns=tuple(x for x in options.get("metadata_columns", ()) if x not in own))
