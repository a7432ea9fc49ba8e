"""The parsing of Markdown and HTML texts in memory or in tables, which gives the documents their blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast, get_args

import pyarrow as pa

from ..inputs import TextBatch
from ..inputs.texts import text_column
from .decompression.bzip2 import Block
from .document_batches import DeadLetter, DeadLetters, Document, documents_of, refuse, schema, table_of
from .formats import html_files, markdown_files
from .formats.html_files import How, Links, check_links, check_noise

#: The markup of a text. ``"auto"``: HTML if the text begins like a page, else Markdown. Plain text is valid Markdown.
Markup = Literal["auto", "markdown", "html"]
#: The columns that are made from a document's markup, in addition to its text.
COLUMNS = markdown_files.COLUMNS
#: The byte order mark of UTF-8. It overrides an encoding that the page declares, because the text is UTF-8 already.
_MARK = b"\xef\xbb\xbf"


def parse(
    batch: Any,
    markup: Markup = "auto",
    *,
    column: str | None = None,
    ids: Any = None,
    noise: How = "model",
    noise_threshold: float | None = None,
    links: Links = "text",
) -> TextBatch:
    r"""Parse texts that are Markdown or HTML, as :func:`pychunk.read` does for files.

    The text of a Markdown document stays unchanged. The text of an HTML document becomes the page's text as Markdown,
    and the spans of chunks count the characters of this new text.

    Args:
        batch: The documents, in any form that :func:`pychunk.segment` takes. An Arrow table keeps its other columns.
        markup: ``"markdown"``, ``"html"``, or ``"auto"``: HTML for a text that begins like a page, else Markdown.
        column: The column of a table that holds the text.
        ids: One id for each document, or the name of a column.
        noise: The way in which menus, banners and other noise are found. See :func:`pychunk.io.open_source`.
        noise_threshold: See :func:`pychunk.io.open_source`.
        links: See :func:`pychunk.io.open_source`.

    Returns:
        The documents with the structure that the parser found, for :func:`pychunk.segment`.

    Raises:
        ValueError: An option is unknown, or a document cannot be parsed. The message names the document's id or row.

    Example:
        >>> import pychunk
        >>> documents = pychunk.parse("# Cats\n\nThey purr.", "markdown")
        >>> [(chunk.path, chunk.text) for chunk in pychunk.segment(documents)]
        [(['Cats'], '# Cats\n\nThey purr.')]
    """
    check_markup(markup)
    check_noise(noise, noise_threshold)
    check_links(links)
    texts = TextBatch.of(batch, column=column, ids=ids)
    names = pa.array(map(str, range(len(texts)))) if texts.ids is None else texts.ids.cast(pa.string())
    table = pa.table({"id": names, "text": pa.chunked_array(texts.texts, pa.large_string())})
    if isinstance(texts.source, pa.Table):
        taken = {*table.column_names, text_column(texts.source, column)}
        for name in texts.source.column_names:
            if name not in taken:
                table = table.append_column(name, texts.source[name])
    table = with_blocks(table, markup, refuse, noise, noise_threshold, links)
    if texts.ids is None:
        table = table.drop_columns(["id"])
        return TextBatch(table["text"].chunks, None, [], table)
    return replace(documents_of(table), uuids=texts.uuids)


def check_markup(markup: Any) -> None:
    """Raise ValueError if a markup is unknown."""
    if markup not in get_args(Markup):
        raise ValueError(f"markup must be one of {', '.join(map(repr, get_args(Markup)))}; got {markup!r:.80}")


def with_blocks(
    table: pa.Table,
    markup: Markup,
    dead_letters: DeadLetters,
    noise: How = "model",
    threshold: float | None = None,
    links: Links = "text",
) -> pa.Table:
    """Return a batch's table with the columns that parsing adds (``COLUMNS``), without rows that cannot be parsed.

    Args:
        table: A table with the columns ``id`` and ``text``. Its other columns stay. If it has a column ``title``, that
            column stays in place of the parsed titles.
        markup: The markup of the texts.
        dead_letters: The callable that gets a dead letter for each row that cannot be parsed.
        noise: See :func:`parse`.
        threshold: See :func:`parse`.
        links: See :func:`parse`.

    Raises:
        ValueError: The table has a column that parsing adds, other than ``title``.
    """
    taken = [name for name, _ in COLUMNS if name in table.column_names and name != "title"]
    if taken:
        raise ValueError(f"parsing makes a column {taken[0]!r}, and the table has one: rename it or drop it first")
    documents: list[Document] = []
    rows: list[int] = []
    for row, (name, text) in enumerate(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True)):
        data = text.encode()

        def tell(letter: DeadLetter, name: str = name) -> None:
            dead_letters(letter._replace(source=name, position="text"))

        if markup == "html" or (markup == "auto" and html_files.begins(data[:4096])):
            found: Document | None = html_files.document(
                [Block(_MARK + data, len(data))], name, tell, noise, threshold, links
            )
        else:
            plain = Document(name, text, name, (), len(data), len(data))
            found = markdown_files.with_blocks(plain, cleaned=noise != "off")
        if found is not None:
            documents.append(found)
            rows.append(row)
    parsed = table_of(documents, schema(COLUMNS))
    kept = table if len(rows) == table.num_rows else table.take(pa.array(rows, pa.int64()))
    kept = kept.set_column(kept.column_names.index("text"), "text", parsed["text"])
    for name, _ in COLUMNS:
        if name not in kept.column_names:
            kept = kept.append_column(parsed.schema.field(name), parsed[name])
    return cast(pa.Table, kept)
