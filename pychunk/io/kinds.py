"""The kinds of files that can be read, each with the names and first bytes that identify it, and its parser."""

from __future__ import annotations

import functools
import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa

from .._util.lazy_imports import LazyModule
from ..parsing.block_columns import PROSE
from ..parsing.converters.grammars import ENDINGS as CODE_ENDINGS
from ..parsing.docling import BEGINS
from . import files
from .decompression import streams
from .decompression.bzip2 import Block
from .document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, schema
from .formats import converted_files, docling_files, html_files, json_arrays, markdown_files, paged_files
from .formats.html_files import How, Links
from .formats.text_files import not_text
from .wiki import mediawiki, wikiextractor
from .wiki.mediawiki import PageFilter

if TYPE_CHECKING:
    from .formats import arrow_files, csv_files, json_lines, parquet_files, text_files
else:  # the modules are imported when files of their kinds are read
    arrow_files, csv_files = LazyModule("pychunk.io.formats.arrow_files"), LazyModule("pychunk.io.formats.csv_files")
    json_lines, parquet_files = (
        LazyModule("pychunk.io.formats.json_lines"),
        LazyModule("pychunk.io.formats.parquet_files"),
    )
    text_files = LazyModule("pychunk.io.formats.text_files")


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
        endings: The kinds that the caller gave for endings of files' names (:mod:`.recognition`).
        ocr: Whether text in images is recognized.
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
    endings: tuple[tuple[str, str], ...] = ()
    ocr: bool = False

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
    depth: int = 0
    outer: str = ""

    @property
    def file(self) -> str:
        """The file on the disk, which may contain this one."""
        return self.outer or self.name

    def inside(self, name: str, data: bytes) -> ParserInput:
        """Return a file that this one contains, as input of its parser."""

        def opened() -> AbstractContextManager[Any]:
            return io.BytesIO(data)

        return replace(
            self, name=name, size=len(data), stream=opened, place=opened, depth=self.depth + 1, outer=self.file
        )

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
            ``RawPage`` or ``RawFile``, from which documents are still to be made.
        begins: A function that recognizes the first bytes of a file whose name does not identify its kind.
        is_table: Whether its files are tables.
        listed: A function that returns the columns of a table, if that is faster than reading its first rows.
        columns: The columns that its documents have in addition to id, text and file.
        prose: Whether its documents are plain prose. Then only the method ``structure`` uses their blocks, unless the
            caller passes ``columns={"blocks": ...}``.
        function: The converter of its files, as ``"package.module:name"``, if separate processes convert them.
        endings: The endings of its file names, as they are shown.
        needs: The packages that reading needs, by the names to import.
        install: The command that installs them.
        is_container: Whether a file may hold several documents, each of a kind of its own.
        wants: The packages without which reading finds less structure, by the names to import. ``install`` installs
            them, too.
        by_ending: Whether its converter reads several languages, and gets the ending of the file's name, too.
    """

    names: re.Pattern[str]
    read: Callable[[ParserInput, ParserOptions], Iterator[Any]]
    begins: Callable[[bytes], bool] = field(default=lambda head: False)
    is_table: bool = False
    listed: Callable[[ParserInput], dict[str, pa.DataType]] | None = None
    columns: tuple[tuple[str, pa.DataType], ...] = ()
    prose: bool = False
    function: str = ""
    endings: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    install: str = ""
    is_container: bool = False
    wants: tuple[str, ...] = ()
    by_ending: bool = False

    @property
    def lacks(self) -> str:
        """The first package that reading needs and that is not installed; "" if there is none."""
        return converted_files.lacks(self.needs)

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
        file.tell(DeadLetter(file.name, "whole file", FOREIGN_XML, first.data[:EXCERPT_BYTES]))
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


#: The converted kinds whose files are text, so that the caller may name their encoding.
_TEXTUAL = ("subtitles", "json", "yaml", "toml", "code", "rst", "tex")


def _raw(kind: str) -> Callable[[ParserInput, ParserOptions], Iterator[Any]]:
    def read(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
        blocks = file.blocks() if file.encoding and kind in _TEXTUAL else file.stored()
        item = converted_files.raw(blocks, file.name, kind, file.tell, file.depth)
        return iter(() if item is None else (item,))

    return read


def _container(name: str) -> Callable[[ParserInput, ParserOptions], Iterator[Any]]:
    def read(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
        from . import containers  # imported here because it imports this module, for the kinds of contained files

        return containers.whole(file, getattr(containers, name)(file, asked))

    return read


def _docling(file: ParserInput, asked: ParserOptions) -> Iterator[Any]:
    document = docling_files.document(file.stored(), file.name, file.tell)
    return iter(() if document is None else (document,))


def name_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern of file names, in any case. A name may contain line breaks."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _starts(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(marks)


#: The beginning of JSON Lines or of an array of objects, and the beginning of a notebook.
_JSON_BEGINS = re.compile(rb'\s*(?:\{[ \t]*(?:"|\})|\[\s*\{)')
_NOTEBOOK = re.compile(rb'\s*\{[^{}\[\]]*"(?:cells|nbformat)"\s*:')


def _begins_jsonl(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf")
    return _JSON_BEGINS.match(head) is not None and _NOTEBOOK.match(head) is None


def _magic(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(marks)


#: The reason why XML that is no dump is not read as one.
FOREIGN_XML = "XML, but not a MediaWiki dump: pass kind='xml' to read its text"
_MARKDOWN = "(mdx?|markdown|mdown|mdwn|mkdn|mkd)"
_MARKDOWNS = (".md", ".mdx", ".markdown", ".mdown", ".mdwn", ".mkdn", ".mkd")
_DOCS = 'pip install "pychunk-native[docs]"'
_OFFICE = 'pip install "pychunk-native[office]"'


def converter(
    kind: str,
    endings: Sequence[str],
    function: str,
    *,
    begins: Callable[[bytes], bool] = lambda head: False,
    columns: Sequence[tuple[str, pa.DataType]] = (),
    pages: bool = False,
    needs: Sequence[str] = (),
    install: str = "",
) -> Kind:
    """Return a kind of files that a function converts to documents, for the entry points ``pychunk.kinds``.

    Args:
        kind: The name of the kind, which is also the name of the entry point.
        endings: The endings of its file names, with the dot.
        function: The converter, as ``"package.module:name"``. It takes the bytes of a file. It returns the text as
            Markdown, or a :class:`pychunk.parsing.pdf.paged_text.Paged`. To refuse a file it raises an error whose
            message is the reason. It runs in a process with limits of time and memory, in which ``import pychunk``
            gives an empty package. Its modules, such as ``pychunk.io``, can be imported.
        begins: A function that recognizes the first 4,096 bytes of a file whose name does not identify its kind.
        columns: The columns whose values the function returns in ``Paged.facts``, with their types.
        pages: Whether its documents have pages.
        needs: The packages that the function needs, by the names to import.
        install: The command that installs them.

    Example:
        >>> kind = converter("shout", [".shout"], "shouting:convert", needs=["shouting"])
        >>> kind.endings, kind.lacks
        (('.shout',), 'shouting')
    """
    return Kind(
        name_pattern(".*(" + "|".join(map(re.escape, endings)) + ")$"),
        _raw(kind),
        begins,
        columns=(*(paged_files if pages else html_files).COLUMNS, *columns),
        function=function,
        endings=tuple(endings),
        needs=tuple(needs),
        install=install,
    )


_ZIP = b"PK\x03\x04"
_IMAGES = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|BM....\0\0\0\0|RIFF....WEBP", re.DOTALL)
#: The beginning of a mail: some lines of headers. The beginning of a mailbox: a line ``From`` and a header.
_MAIL_BEGINS = re.compile(
    rb"(?:[A-Za-z][A-Za-z0-9-]*:[ \t][^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*)*"
    rb"(?:Received|Message-ID|MIME-Version|Return-Path):[ \t]",
    re.IGNORECASE,
)
_MBOX_BEGINS = re.compile(rb"From \S+ [^\r\n]*\d\d:\d\d[^\r\n]*\r?\n[A-Za-z-]+:")
_MAIL = (("sender", pa.string()), ("recipients", pa.string()), ("date", pa.string()))
_CUES = ("cues", pa.list_(pa.struct([("start", pa.int64()), ("seconds", pa.float64())])))
_ROWS = ("rows", pa.list_(pa.struct([("start", pa.int64()), ("row", pa.int64())])))
_CONVERTERS = "pychunk.parsing.converters."
#: The columns of documents that name their authors.
_AUTHOR = (("author", pa.string()),)


def _office(
    kind: str,
    endings: list[str],
    folder: bytes,
    needs: tuple[str, ...],
    pages: bool = False,
    columns: Sequence[tuple[str, pa.DataType]] = (),
) -> Kind:
    """Return a kind of Office, whose archives have a member in ``folder`` near the beginning."""
    return converter(
        kind,
        endings,
        _CONVERTERS + "office:convert",
        begins=lambda head: head.startswith(_ZIP) and folder in head,
        columns=(*_AUTHOR, ("date", pa.string()), *columns),
        pages=pages,
        needs=needs,
        install=_OFFICE,
    )


#: Every kind that can be read. If a name fits several kinds, the first one counts unless the caller asks for another.
KINDS = {
    "mediawiki": Kind(
        name_pattern(r".*\.xml(-p\d+p\d+)?$"),
        _mediawiki,
        mediawiki.begins,
        columns=mediawiki.COLUMNS,
        prose=True,
        endings=(".xml",),
    ),
    "wikiextractor": Kind(
        name_pattern(r".*\bwiki_\d+$|.*\.wikiextractor$"),
        _wikiextractor,
        _starts(b"<doc "),
        columns=wikiextractor.COLUMNS,
        endings=("wiki_00", ".wikiextractor"),
    ),
    "docling": Kind(
        name_pattern(r".*\.docling(\.json)?$"),
        _docling,
        lambda head: BEGINS.match(head.removeprefix(b"\xef\xbb\xbf")) is not None,
        columns=paged_files.COLUMNS,
        endings=(".docling", ".docling.json"),
    ),
    "jsonl": Kind(
        name_pattern(r".*\.(jsonl|ndjson|jsonlines)$"),
        _json_lines,
        _begins_jsonl,
        is_table=True,
        endings=(".jsonl", ".ndjson", ".jsonlines"),
    ),
    "csv": Kind(name_pattern(r".*\.csv$"), _csv(b""), is_table=True, endings=(".csv",)),
    "tsv": Kind(name_pattern(r".*\.(tsv|tab)$"), _csv(b"\t"), is_table=True, endings=(".tsv", ".tab")),
    "parquet": Kind(
        name_pattern(r".*\.(parquet|pq)$"),
        _parquet,
        _magic(b"PAR1"),
        is_table=True,
        listed=_parquet_columns,
        endings=(".parquet", ".pq"),
    ),
    "arrow": Kind(
        name_pattern(r".*\.(arrow|feather|ipc|arrows)$"),
        _arrow,
        _magic(b"ARROW1", b"\xff\xff\xff\xff"),
        is_table=True,
        endings=(".arrow", ".feather", ".ipc", ".arrows"),
    ),
    "html": Kind(
        name_pattern(r".*\.(html?|xhtml)$"),
        _html,
        html_files.begins,
        columns=html_files.COLUMNS,
        endings=(".html", ".htm", ".xhtml"),
        needs=("selectolax",),
        install=_DOCS,
    ),
    "pdf": Kind(
        name_pattern(r".*\.pdf$"),
        _raw("pdf"),
        lambda head: b"%PDF-" in head[:1024],
        columns=(*paged_files.COLUMNS, *converted_files.OCR),
        function=converted_files.PDF,
        endings=(".pdf",),
        needs=("pypdfium2",),
        install=_DOCS,
    ),
    "image": converter(
        "image",
        [".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"],
        converted_files.IMAGE,
        begins=lambda head: _IMAGES.match(head) is not None,
        columns=converted_files.OCR,
        pages=True,
        needs=("rapidocr",),
        install='pip install "pychunk-native[ocr]"',
    ),
    "docx": _office("docx", [".docx", ".docm"], b"word/", ("mammoth", "selectolax")),
    "pptx": _office("pptx", [".pptx", ".pptm", ".ppsx"], b"ppt/", ("pptx",), pages=True),
    "xlsx": _office(
        "xlsx", [".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"], b"xl/", ("python_calamine",), pages=True, columns=(_ROWS,)
    ),
    "notebook": converter(
        "notebook",
        [".ipynb"],
        _CONVERTERS + "notebooks:convert",
        begins=lambda head: _NOTEBOOK.match(head.removeprefix(b"\xef\xbb\xbf")) is not None,
        columns=_AUTHOR,
    ),
    "epub": converter(
        "epub",
        [".epub"],
        _CONVERTERS + "epub:convert",
        begins=lambda head: head.startswith(_ZIP) and b"mimetypeapplication/epub+zip" in head[:80],
        columns=(*_AUTHOR, ("date", pa.string())),
        needs=("selectolax",),
        install=_DOCS,
    ),
    "subtitles": converter(
        "subtitles", [".srt", ".vtt"], _CONVERTERS + "subtitles:convert", begins=_magic(b"WEBVTT"), columns=(_CUES,)
    ),
    "odt": converter(
        "odt",
        [".odt", ".ott"],
        _CONVERTERS + "odt:convert",
        begins=lambda head: head.startswith(_ZIP) and b"mimetypeapplication/vnd.oasis.opendocument.text" in head[:90],
        columns=(*_AUTHOR, ("date", pa.string())),
    ),
    "rtf": converter("rtf", [".rtf"], _CONVERTERS + "rtf:convert", begins=_magic(b"{\\rtf")),
    "json": converter("json", [".json"], _CONVERTERS + "json_text:convert"),
    "yaml": converter("yaml", [".yaml", ".yml"], _CONVERTERS + "yaml_toml:yaml"),
    "toml": converter("toml", [".toml"], _CONVERTERS + "yaml_toml:toml"),
    "xml": converter("xml", [".xml"], _CONVERTERS + "xml_text:convert"),
    "rst": converter("rst", [".rst", ".rest"], _CONVERTERS + "rst:convert"),
    "tex": converter("tex", [".tex", ".latex"], _CONVERTERS + "tex:convert"),
    "code": replace(
        converter("code", CODE_ENDINGS, _CONVERTERS + "code:convert", install='pip install "pychunk-native[code]"'),
        wants=("tree_sitter",),
        by_ending=True,
    ),
    "markdown": Kind(name_pattern(rf".*\.{_MARKDOWN}$"), _markdown, columns=markdown_files.COLUMNS, endings=_MARKDOWNS),
    # This kind includes Markdown, code and other markup, for callers who ask for text.
    "text": Kind(
        name_pattern(rf".*(\.(txt|text|rst|rest|tex|latex|{_MARKDOWN})|{'|'.join(map(re.escape, CODE_ENDINGS))})$"),
        _text,
        endings=(".txt", ".text"),
    ),
}
#: The kinds that are not read inside other files: tables, and dumps, whose pages other processes clean.
OUTSIDE = ("mediawiki", *(name for name, kind in KINDS.items() if kind.is_table))
#: The columns of all kinds that other files may contain, and those of the headers of mails.
CONTAINED = tuple(
    dict(
        [*paged_files.COLUMNS, *_MAIL, *(each for kind in KINDS if kind not in OUTSIDE for each in KINDS[kind].columns)]
    ).items()
)
KINDS |= {
    "mail": replace(
        converter(
            "mail", [".eml"], _CONVERTERS + "mail:convert", begins=lambda head: _MAIL_BEGINS.match(head) is not None
        ),
        columns=CONTAINED,
        is_container=True,
    ),
    "mbox": Kind(
        name_pattern(r".*\.(mbox|mbx)$"),
        _container("mailbox"),
        lambda head: _MBOX_BEGINS.match(head) is not None,
        columns=CONTAINED,
        endings=(".mbox", ".mbx"),
        is_container=True,
    ),
    "zip": Kind(
        name_pattern(r".*\.zip$"), _container("zipped"), columns=CONTAINED, endings=(".zip",), is_container=True
    ),
    "tar": Kind(
        name_pattern(r".*\.(tar|tgz|tbz2?|txz|tzst)$"),
        _container("tarred"),
        lambda head: head[257:262] == b"ustar",
        columns=CONTAINED,
        endings=(".tar", ".tgz", ".tbz2", ".txz"),
        is_container=True,
    ),
}
#: The group of entry points by which other packages add kinds.
GROUP = "pychunk.kinds"


@functools.cache  # A search through 60 packages takes 0.02 s.
def add_installed() -> tuple[str, ...]:
    """Add the kinds of other packages to ``KINDS`` once, and return their names.

    A kind of pychunk's own cannot be replaced. If a package cannot be imported, a warning names it, and the files of
    its kinds stay unread.
    """
    from importlib import metadata  # imported here because only files that no kind of pychunk's own fits need it

    added = []
    for entry in metadata.entry_points(group=GROUP):
        of = f"the entry point {entry.name!r} of {GROUP}, {entry.value}"
        if entry.name in KINDS:
            warnings.warn(f"{of}, has the name of another kind: rename it", stacklevel=2)
            continue
        try:
            found = entry.load()
        except Exception as error:
            warnings.warn(f"{of}, cannot be loaded: {type(error).__name__}: {error}", stacklevel=2)
            continue
        if not isinstance(found, Kind):
            warnings.warn(f"{of}, must be a result of pychunk.io.converter; got {found!r:.80}", stacklevel=2)
            continue
        KINDS[entry.name] = found
        added.append(entry.name)
    return tuple(added)
