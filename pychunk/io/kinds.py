"""The kinds of files that are read, one entry each: the names and the first bytes that tell one, and its parser."""

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
else:  # as files of their kinds are read
    arrow_files, csv_files = LazyModule("pychunk.io.formats.arrow_files"), LazyModule("pychunk.io.formats.csv_files")
    json_lines, parquet_files = (
        LazyModule("pychunk.io.formats.json_lines"),
        LazyModule("pychunk.io.formats.parquet_files"),
    )
    pdf_files, text_files = LazyModule("pychunk.io.formats.pdf_files"), LazyModule("pychunk.io.formats.text_files")


class ParserOptions(NamedTuple):
    """What a parser is asked for: columns of a table (``every``: all, in types of their own), pages of a dump.

    ``noise``, ``noise_threshold``: how what is noise in pages of HTML is found. ``links``: what of their links is text.
    ``written``: those of ``keep`` that are strings, as they stand in the file, where the file declares no types.
    ``quotes``: whether those of CSV stand around fields. ``elsewhere``: those of ``keep`` that other files have.
    """

    column: str | None = None
    ids: str | None = None
    keep: tuple[str, ...] = ()
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
        """The columns by their roles."""
        found = {"column": self.column, "ids": self.ids, "keep": self.keep, "written": self.written}
        return found | {"elsewhere": self.elsewhere}

    @property
    def columns(self) -> list[str] | None:
        """The columns that are all there is to be read; None where which they are is not known."""
        return [self.column, *([self.ids] if self.ids else []), *self.keep] if self.column else None

    @property
    def optional(self) -> tuple[str, ...]:
        """Columns that are read where they are there."""
        return () if self.ids else ("id",)


@dataclass(frozen=True)
class ParserInput:
    """A file for its parser, which takes one of ``blocks()``, ``stored()`` and ``at()``."""

    name: str
    size: int
    tell: DeadLetters
    stream: Callable[[], AbstractContextManager[BinaryIO]]
    place: Callable[[], AbstractContextManager[Any]]
    threads: int = 1
    encoding: str = ""

    def blocks(self) -> Iterator[Block]:
        """The bytes, decompressed, as UTF-8 without its mark."""
        with self.stream() as file:
            blocks = streams.blocks(file, self.name, self.tell, threads=self.threads)
            if self.encoding == "iso8859-1":
                blocks = _watched(blocks, self.name)
            yield from streams.without_mark(streams.as_utf8(blocks, self.encoding) if self.encoding else blocks)

    def lines(self) -> Iterator[Block]:
        """Yield what ``blocks`` does, for kinds of many documents; nothing, and a letter, where that is no text."""
        blocks = self.blocks()
        first = next(blocks, None)
        if first is None:
            return
        if reason := "" if self.encoding else not_text(first.data):
            self.tell(DeadLetter(self.name, "whole file", reason, first.data[:EXCERPT_BYTES]))
            return
        yield first
        del first  # a block is let go before the next one is read
        yield from blocks

    def stored(self) -> Iterator[Block]:
        """The bytes, decompressed, of what is no text."""
        with self.stream() as file:
            yield from streams.blocks(file, self.name, self.tell, threads=self.threads)

    def at(self) -> AbstractContextManager[Any]:
        """The file as it is, for reading at any place."""
        return self.place()


#: Bytes that are control characters in latin-1, and quotation marks, dashes and letters in windows-1252.
_WINDOWS = re.compile(rb"[\x80\x82-\x84\x86-\x8c\x8e\x91-\x9c\x9e\x9f]")


def _watched(blocks: Iterator[Block], name: str) -> Iterator[Block]:
    """Blocks as they are; warns where they are latin-1 by name alone."""
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
    """A format: what the names of its files look like, without the ending of a compression, and its parser.

    ``read`` yields ``tables.Part`` where ``is_table``, else ``Document``, ``RawPage`` where pages are still to be
    cleaned, or ``RawPdf``, which processes of their own make documents of. ``columns`` are those that its documents
    have beside id, text and file; ``prose``: they are plain prose, whose blocks are for ``structure`` alone unless they
    are named. ``listed`` says the columns of a table where that takes less than its first rows. ``begins`` knows the
    first bytes of a file whose name says nothing.
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
    # Pages declare encodings of their own: only one that was named is undone before.
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
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)  # a name may have line breaks


def _starts(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(marks)


#: How a line of JSON Lines begins, and an array of objects; a notebook is JSON of its own.
_JSON_BEGINS = re.compile(rb'\s*(?:\{[ \t]*(?:"|\})|\[\s*\{)')
_NOTEBOOK = re.compile(rb'\s*\{[^{}\[\]]*"(?:cells|nbformat)"\s*:')


def _begins_jsonl(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf")
    return _JSON_BEGINS.match(head) is not None and _NOTEBOOK.match(head) is None


def _magic(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(marks)


_FOREIGN_XML = "XML, but no MediaWiki dump: pass kind='text' to read it as it stands"
_MARKDOWN = "(mdx?|markdown|mdown|mdwn|mkdn|mkd)"
#: Every kind that is read; of those that a name is of, the first is meant unless another is asked for.
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
    "text": Kind(_named(rf".*\.(txt|text|{_MARKDOWN})$"), _text),  # Markdown, too, for those who ask for text
}
#: What no document is, whatever its ending: the index beside a multistream dump, what an ingest could not read.
_NONE = _named(r".*-index\d*\.txt(-p\d+p\d+)?$|_dead_letters\.jsonl$")
#: All names in one pattern, each kind's in a group of its own name: of several that match the first is found.
_ANY = _named("|".join(f"(?P<{name}>{kind.names.pattern})" for name, kind in KINDS.items()))


def kind_of(name: str, wanted: str = "auto") -> str | None:
    """The kind that a file's name says, without the ending of a compression; None where it says none.

    One that is ``wanted`` comes before the others.

    >>> kind_of("enwiki-20240601-pages-articles1.xml-p1p41242.bz2"), kind_of("a\\nb.md"), kind_of("data.bin")
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
    """The kind that a file's first bytes say, decompressed."""
    return next((name for name, kind in KINDS.items() if kind.begins(head)), None)


def holds_nothing(path: str) -> bool:
    """Return whether a file holds no documents by its name: the index of a dump, the dead letters of an ingest."""
    return _NONE.fullmatch(streams.bare(files.base_name(path))) is not None


def may_be(head: bytes, kind: str, encoding: str = "") -> bool:
    """Return whether a file of an unknown name may be of a kind, by its first bytes; text may be in ``encoding``."""
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
    """Return whether :func:`why_unread` says no more of a file than that it is text."""
    return reason == _PLAIN


def why_unread(path: str, head: bytes) -> str:
    """Return why a file of a folder is not read, and what to do; ``head``: its first bytes, none of a remote one.

    Example:
        >>> why_unread("a.ipynb", b'{"cells": []}')
        'a Jupyter notebook, of which no reader is there: jupyter nbconvert --to markdown makes Markdown of it'
    """
    if _NOTEBOOK.match(head):
        return "a Jupyter notebook, of which no reader is there: jupyter nbconvert --to markdown makes Markdown of it"
    bare = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if bare.startswith(b"<?xml") or (kind_of(path) == "mediawiki" and head):
        return _FOREIGN_XML
    if (known := kind_of(path)) is not None:
        return f"its name is that of kind {known}, and another was asked for: pass kind='{known}' to read it"
    if not head:
        return "of no known kind: pass kind= and its kind to read it"
    if found := kind_of_bytes(head):
        return f"its first bytes are those of kind {found}, its name is of none: pass kind='{found}' to read it"
    if reason := not_text(head) or (BINARY if is_binary(head) else ""):
        return reason
    if bare.startswith((b"{", b"[")) and streams.bare(files.base_name(path)).lower().endswith(".json"):
        return (
            "JSON that is neither an array of objects nor a DoclingDocument: pass kind='text' to read it as it stands"
        )
    return _PLAIN
