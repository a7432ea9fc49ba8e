"""A LangChain document loader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document
except ImportError:
    raise ImportError("integrations.langchain_loader needs LangChain: pip install langchain-core") from None

from .document_metadata import loaded


class PychunkLoader(BaseLoader):
    r"""A LangChain loader that reads files, folders or URLs, one Document for each document.

    A Document has the id that pychunk gives it: the path of a file, or the id of a row. Its metadata have the file as
    ``source``, and its ``title`` if there is one. Their key ``pychunk_structure`` has the headings and pages that the
    reader found. :class:`.langchain.PychunkTextSplitter` cuts by these, and gives each chunk its ``path`` and ``page``
    instead.

    Args:
        path: A file, a folder or a URL, or several.
        **options: Options of :func:`pychunk.io.open_source`, such as ``kind``, ``column`` and ``metadata_columns``.

    Raises:
        ValueError: A document cannot be read. With ``dead_letters=``, such documents are left out.

    Example:
        >>> import pathlib, tempfile
        >>> from pychunk.integrations.langchain import PychunkTextSplitter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "cats.md").write_text("# Cats\n\nThey purr.")
        ...     documents = PychunkLoader(folder).load()
        >>> [part.metadata["path"] for part in PychunkTextSplitter().split_documents(documents)]
        ['Cats']
    """

    def __init__(self, path: str | Path | Sequence[str | Path], **options: Any) -> None:
        self.path, self.options = path, options

    def lazy_load(self) -> Iterator[Document]:
        """Yield the documents, in memory that is bounded by the size of a batch of files."""
        for each in loaded(self.path, self.options):
            yield Document(page_content=each.text, metadata=each.metadata, id=each.id)
