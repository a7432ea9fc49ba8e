"""The kinds of files that can be read, each with the names and first bytes that identify it, and its parser."""

from __future__ import annotations

import codecs
import itertools
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa

from .._util.lazy_imports import LazyModule
from ..parsing.block_columns import PROSE
from ..parsing.docling import BEGINS
from . import files
from .decompression import streams
from .decompression.bzip2 import Block
from .document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, schema
from .formats import docling_files, html_files, json_arrays, markdown_files, paged_files
from .formats.html_files import How, Links
from .formats.text_files import BINARY, is_binary, not_text
from .wiki import mediawiki, wikiextractor
from .wiki.mediawiki import PageFilter

if TYPE_CHECKING:
    from .formats import arrow_files, csv_files, json_lines, parquet_files, pdf_files, text_files
else:  # the modules are imported when files of their kinds are read
    arrow_files, csv_files = LazyModule("pychunk.io.formats.arrow_files"), LazyModule("pychunk.io.formats.csv_files")
    json_lines, parquet_files = (
        LazyModule("pychunk.io.formats.json_lines"),
        LazyModule("pychunk.io.formats.parquet_files"),
    )
    pdf_files, text_files = LazyModule("pychunk.io.formats.pdf_files"), LazyModule("pychunk.io.formats.text_files")


class ParserOptions(NamedTuple):
    """The options of a parser: the columns of a table, the pages of a dump, the treatment of noise and links.

    Attributes:
        column: The column of texts.
        ids: The column of ids.
        metadata_columns: The columns to keep.
        written: The columns of ``metadata_columns`` that are strings, as the file writes them, if the file declares no
            types.
        wanted: The pages of a dump to read.
        every: Whether to read all columns, in their own types.
        noise, noise_threshold: The way in which noise in HTML is found.
        links: What a link in HTML becomes in the text: only its words, or its words and target.
        quotes: Whether quotation marks in CSV enclose fields.
        elsewhere: The columns of ``metadata_columns`` that other files of the source have, so this file may lack them.
    """

    column: str | None = None
    ids: str | None = None
    metadata_columns: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    wanted: PageFilter = PageFilter()
    every: bool = False
    noise: How = "model"
    noise_threshold: float | None = None
    links: Links = "text"
    quotes: bool = True
    elsewhere: tuple[str, ...] = ()

    @property
    def named(self) -> dict[str, Any]:
        """The options about columns, as keywords of a reader."""
        found = {
            "column": self.column,
            "ids": self.ids,
            "metadata_columns": self.metadata_columns,
            "written": self.written,
        }
        return found | {"elsewhere": self.elsewhere}

    @property
    def columns(self) -> list[str] | None:
        """The only columns that must be read; None if the column of the text is not known."""
        return [self.column, *([self.ids] if self.ids else []), *self.metadata_columns] if self.column else None

    @property
    def optional(self) -> tuple[str, ...]:
        """The columns that are read if they exist."""
        return () if self.ids else ("id",)


@dataclass(frozen=True)
class ParserInput:
    """A file as input of its parser, which calls one of ``blocks()``, ``lines()``, ``stored()`` and ``at()``."""

    name: str
    size: int
    tell: DeadLetters
    stream: Callable[[], AbstractContextManager[BinaryIO]]
    place: Callable[[], AbstractContextManager[Any]]
    threads: int = 1
    encoding: str = ""

    def blocks(self) -> Iterator[Block]:
        """Yield the decompressed bytes of a text file, as UTF-8 without the byte order mark."""
        with self.stream() as file:
            blocks = streams.blocks(file, self.name, self.tell, threads=self.threads)
            if self.encoding == "iso8859-1":
                blocks = _watched(blocks, self.name)
            yield from streams.without_mark(streams.as_utf8(blocks, self.encoding) if self.encoding else blocks)

    def lines(self) -> Iterator[Block]:
        """Yield the blocks of a text file with many documents; if it is not text, report a dead letter instead."""
        blocks = self.blocks()
        first = next(blocks, None)
        if first is None:
            return
        if reason := "" if self.encoding else not_text(first.data):
            self.tell(DeadLetter(self.name, "whole file", reason, first.data[:EXCERPT_BYTES]))
            return
        yield first
        del first  # this releases a block before the next one is read
        yield from blocks

    def stored(self) -> Iterator[Block]:
        """Yield the decompressed bytes of a file without converting them to UTF-8."""
        with self.stream() as file:
            yield from streams.blocks(file, self.name, self.tell, threads=self.threads)

    def at(self) -> AbstractContextManager[Any]:
        """Return the file without decompression, for random access."""
        return self.place()


#: The bytes that are control characters in latin-1, but quotation marks, dashes and letters in windows-1252.
_WINDOWS = re.compile(rb"[\x80\x82-\x84\x86-\x8c\x8e\x91-\x9c\x9e\x9f]")


def _watched(blocks: Iterator[Block], name: str) -> Iterator[Block]:
    """Yield blocks unchanged; warn if they are probably windows-1252 although the caller said latin-1."""
    warned = False
    for block in blocks:
        if not warned and (found := _WINDOWS.search(block.data)):
            warned = True
            warnings.warn(
                f"{name}: byte 0x{found[0][0]:X} is a control character in latin-1; windows-1252 has quotation marks, "
                "dashes and the euro sign there: pass encoding='cp1252'",
                stacklevel=2,
            )
        yield block


@dataclass(frozen=True)
class Kind:
    """A format of files, with the names that identify it, and its parser.

    Attributes:
        names: The pattern of its file names, without the suffix of a compression.
        read: The parser. It yields ``table_parts.Part`` if ``is_table``. Other parsers yield ``Document``, or
            ``RawPage`` or ``RawPdf``, from which documents are still to be made.
        begins: A function that recognizes the first bytes of a file whose name does not identify its kind.
        is_table: Whether its files are tables.
        listed: A function that returns the columns of a table, if that is faster than reading its first rows.
        columns: The columns that its documents have in addition to id, text and file.
        prose: Whether its documents are plain prose. Then only the method ``structure`` uses their blocks, unless the
            caller passes ``columns={"blocks": ...}``.
    """

    names: re.Pattern[str]
    read: Callable[[ParserInput, ParserOptions], Iterator[Any]]
    begins: Callable[[bytes], bool] = field(default=lambda head: False)
    is_table: bool = False
    listed: Callable[[ParserInput], dict[str, pa.DataType]] | None = None
    columns: tuple[tuple[str, pa.DataType], ...] = ()
    prose: bool = False

    @property
    def schema(self) -> pa.Schema:
        """The columns of its batches."""
        return schema(self.columns, PROSE if self.prose else None)


def _mediawiki(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    blocks = file.blocks()
    first = next(blocks, None)
    if first is None:
        return iter(())
    if not first.gap and not mediawiki.may_be(first.data):
        file.tell(DeadLetter(file.name, "whole file", _FOREIGN_XML, first.data[:EXCERPT_BYTES]))
        return iter(())
    return mediawiki.pages(itertools.chain([first], blocks), file.name, file.tell, asked.wanted)


def _wikiextractor(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    return wikiextractor.documents(file.lines(), file.name, file.tell)


def _json_lines(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    blocks, tell, unit = json_arrays.as_lines(file.lines(), file.name, file.tell)
    if asked.every:
        found = json_lines.typed(blocks, file.name, tell)
    else:
        found = json_lines.parts(blocks, file.name, tell, **asked.named)
    return (part._replace(unit=unit) for part in found)


def _csv(separator: bytes) -> Callable[[ParserInput, ParserOptions], Iterator[Any]]:
    def read(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
        return csv_files.parts(
            file.lines(),
            file.name,
            file.tell,
            asked.columns,
            asked.optional,
            separator=separator,
            quotes=asked.quotes,
            typed=asked.every,
        )

    return read


def _parquet(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    ahead = bool(files.scheme_of(file.name))
    with file.at() as found:
        yield from parquet_files.parts(
            found, file.name, file.size, file.tell, asked.columns, asked.optional, ahead=ahead
        )


def _parquet_columns(file: ParserInput) -> dict[str, pa.DataType]:
    with file.at() as found:
        return parquet_files.columns(found)


def _arrow(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    with file.at() as found:
        source = found if isinstance(found, pa.NativeFile) else pa.PythonFile(found, mode="r")
        yield from arrow_files.parts(source, file.name, file.size, file.tell, asked.columns, asked.optional)


def _text(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    document = text_files.document(file.blocks(), file.name, file.tell)
    return iter(() if document is None else (document,))


def _markdown(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    document = markdown_files.document(file.blocks(), file.name, file.tell, cleaned=asked.noise != "off")
    return iter(() if document is None else (document,))


def _html(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    # Pages declare their own encodings, so the reader decodes only if the caller named one.
    blocks = file.blocks() if file.encoding else file.stored()
    document = html_files.document(blocks, file.name, file.tell, asked.noise, asked.noise_threshold, asked.links)
    return iter(() if document is None else (document,))


def _pdf(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    item = pdf_files.raw(file.stored(), file.name, file.tell)
    return iter(() if item is None else (item,))


def _docling(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    document = docling_files.document(file.stored(), file.name, file.tell)
    return iter(() if document is None else (document,))


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)  # a name may contain line breaks


def _starts(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(marks)


#: The beginning of JSON Lines or of an array of objects, and the beginning of a notebook, which is other JSON.
_JSON_BEGINS = re.compile(rb'\s*(?:\{[ \t]*(?:"|\})|\[\s*\{)')
_NOTEBOOK = re.compile(rb'\s*\{[^{}\[\]]*"(?:cells|nbformat)"\s*:')


def _begins_jsonl(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf")
    return _JSON_BEGINS.match(head) is not None and _NOTEBOOK.match(head) is None


def _magic(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(marks)


_FOREIGN_XML = "XML, but not a MediaWiki dump: pass kind='text' to read it as text"
_MARKDOWN = "(mdx?|markdown|mdown|mdwn|mkdn|mkd)"
#: Every kind that can be read. If a name fits several kinds, the first one counts unless the caller asks for another.
KINDS = {
    "mediawiki": Kind(
        _named(r".*\.xml(-p\d+p\d+)?$"), _mediawiki, mediawiki.begins, columns=mediawiki.COLUMNS, prose=True
    ),
    "wikiextractor": Kind(
        _named(r".*\bwiki_\d+$|.*\.wikiextractor$"), _wikiextractor, _starts(b"<doc "), columns=wikiextractor.COLUMNS
    ),
    "docling": Kind(
        _named(r".*\.docling(\.json)?$"),
        _docling,
        lambda head: BEGINS.match(head.removeprefix(b"\xef\xbb\xbf")) is not None,
        columns=paged_files.COLUMNS,
    ),
    "jsonl": Kind(_named(r".*\.(jsonl|ndjson|jsonlines)$"), _json_lines, _begins_jsonl, is_table=True),
    "csv": Kind(_named(r".*\.csv$"), _csv(b""), is_table=True),
    "tsv": Kind(_named(r".*\.(tsv|tab)$"), _csv(b"\t"), is_table=True),
    "parquet": Kind(_named(r".*\.(parquet|pq)$"), _parquet, _magic(b"PAR1"), is_table=True, listed=_parquet_columns),
    "arrow": Kind(
        _named(r".*\.(arrow|feather|ipc|arrows)$"), _arrow, _magic(b"ARROW1", b"\xff\xff\xff\xff"), is_table=True
    ),
    "html": Kind(_named(r".*\.(html?|xhtml)$"), _html, html_files.begins, columns=html_files.COLUMNS),
    "pdf": Kind(_named(r".*\.pdf$"), _pdf, lambda head: b"%PDF-" in head[:1024], columns=paged_files.COLUMNS),
    "markdown": Kind(_named(rf".*\.{_MARKDOWN}$"), _markdown, columns=markdown_files.COLUMNS),
    # This kind includes Markdown, for callers who ask for text.
    "text": Kind(_named(rf".*\.(txt|text|{_MARKDOWN})$"), _text),
}
#: The names of files that hold no documents: the index of a multistream dump, and the dead letters of an ingest.
_NONE = _named(r".*-index\d*\.txt(-p\d+p\d+)?$|_dead_letters\.jsonl$")
#: The names of all kinds in one pattern, with a named group for each kind, so that the first matching kind is found.
_ANY = _named("|".join(f"(?P<{name}>{kind.names.pattern})" for name, kind in KINDS.items()))


def kind_of(name: str, wanted: str = "auto") -> str | None:
    r"""Return the kind that a file's name, without the suffix of a compression, identifies; None if there is none.

    If the name fits several kinds and ``wanted`` is one of them, the result is ``wanted``.

    >>> kind_of("enwiki-20240601-pages-articles1.xml-p1p41242.bz2"), kind_of("a\nb.md"), kind_of("data.bin")
    ('mediawiki', 'markdown', None)
    """
    bare = streams.bare(files.base_name(name))
    if _NONE.fullmatch(bare):
        return None
    if wanted in KINDS and KINDS[wanted].names.fullmatch(bare):
        return wanted
    found = _ANY.fullmatch(bare)
    return None if found is None else found.lastgroup


def kind_of_bytes(head: bytes) -> str | None:
    """Return the kind that the first decompressed bytes of a file identify, or None."""
    return next((name for name, kind in KINDS.items() if kind.begins(head)), None)


def holds_nothing(path: str) -> bool:
    """Return whether a file's name is that of the index of a dump, or of the dead letters of an ingest."""
    return _NONE.fullmatch(streams.bare(files.base_name(path))) is not None


def may_be(head: bytes, kind: str, encoding: str = "") -> bool:
    """Return whether the first bytes of a file, whose name identifies no kind, fit ``kind``.

    If ``encoding`` is not empty, a file of the kinds text, Markdown, CSV and TSV may have any bytes.
    """
    if kind in ("text", "markdown", "csv", "tsv"):
        return bool(encoding) or not (not_text(head) or (is_binary(head) and not _is_utf8(head)))
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") if kind == "html" else KINDS[kind].begins(head)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


_PLAIN = "text of an unknown kind: pass kind='text' to read it"


def is_plain(reason: str) -> bool:
    """Return whether the reason of :func:`why_unread` only says that a file is text."""
    return reason == _PLAIN


def why_unread(path: str, head: bytes) -> str:
    """Return why a file of a folder is not read, and what to do.

    ``head`` holds the first bytes of the file. It is empty for a remote file.

    Example:
        >>> why_unread("a.ipynb", b'{"cells": []}')
        'a Jupyter notebook, which pychunk cannot read: jupyter nbconvert --to markdown converts it to Markdown'
    """
    if _NOTEBOOK.match(head):
        return "a Jupyter notebook, which pychunk cannot read: jupyter nbconvert --to markdown converts it to Markdown"
    bare = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if bare.startswith(b"<?xml") or (kind_of(path) == "mediawiki" and head):
        return _FOREIGN_XML
    if (known := kind_of(path)) is not None:
        return f"its name is of kind {known}, but another kind was requested: pass kind='{known}' to read it"
    if not head:
        return "of an unknown kind: pass kind= and its kind to read it"
    if found := kind_of_bytes(head):
        return f"its first bytes are of kind {found}, but its name is of no kind: pass kind='{found}' to read it"
    if reason := not_text(head) or (BINARY if is_binary(head) else ""):
        return reason
    if bare.startswith((b"{", b"[")) and streams.bare(files.base_name(path)).lower().endswith(".json"):
        return "JSON that is neither an array of objects nor a DoclingDocument: pass kind='text' to read it as text"
    return _PLAIN
