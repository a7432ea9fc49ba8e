"""A LlamaIndex reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

try:
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document
except ImportError:
    raise ImportError("integrations.llama_index_reader needs LlamaIndex: pip install llama-index-core") from None

from .document_metadata import STRUCTURE, loaded


class PychunkReader(BaseReader):
    r"""A LlamaIndex reader of files, folders or URLs, which gives one Document for each document.

    A Document has the id that pychunk gives it: the path of a file, or the id of a row. Ids are therefore the same in
    each run. Its metadata have the file as ``source``, and its ``title`` if there is one. Their key
    ``pychunk_structure`` has the headings and pages that the reader found. :class:`.llama_index.PychunkNodeParser` cuts
    by these, and gives each node its ``path`` and ``page`` instead.

    Args:
        **options: Options of :func:`pychunk.io.open_source`, such as ``kind``, ``column`` and ``metadata_columns``.

    Example:
        >>> import pathlib, tempfile
        >>> from pychunk.integrations.llama_index import PychunkNodeParser
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "cats.md").write_text("# Cats\n\nThey purr.")
        ...     documents = PychunkReader().load_data(folder)
        >>> [node.metadata["path"] for node in PychunkNodeParser().get_nodes_from_documents(documents)]
        ['Cats']
    """

    def __init__(self, **options: Any) -> None:
        self.options = options

    def lazy_load_data(self, path: str | Path | Sequence[str | Path], **options: Any) -> Iterable[Document]:
        """Yield the documents of a file, a folder or a URL, or of several.

        Raises:
            ValueError: A document cannot be read. With ``dead_letters=``, such documents are left out.
        """
        for each in loaded(path, {**self.options, **options}):
            hidden = [STRUCTURE] if STRUCTURE in each.metadata else []
            yield Document(
                text=each.text,
                id_=each.id,
                metadata=each.metadata,
                excluded_embed_metadata_keys=hidden,
                excluded_llm_metadata_keys=hidden,
            )

    def load_data(self, path: str | Path | Sequence[str | Path], **options: Any) -> list[Document]:
        """Return the documents of a file, a folder or a URL, or of several. See :meth:`lazy_load_data`."""
        return list(self.lazy_load_data(path, **options))
