"""The entry point of the readers, from a path or URL to a stream of batches of documents."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from .._util import memory, urls
from ..inputs.value_columns import NoTextColumnError, plain
from . import column_batches, files
from .conversion import Conversion
from .decompression import streams
from .document_batches import (
    BATCH_BYTES,
    MAY_BE,
    Batch,
    DeadLetter,
    DeadLetters,
    Document,
    grouped,
    refuse,
    table_of,
)
from .files import SourceFile
from .formats import json_paths
from .formats.converted_files import RawFile
from .formats.html_files import How, Links, check_links, check_noise
from .kinds import KINDS, ParserInput, ParserOptions
from .listing import head_of, listed, opened, opened_at
from .listing import unread as unread_files
from .markup import Markup, check_markup, with_blocks
from .recognition import Endings, checked, kind_by, kind_of, why_unread
from .wiki import mediawiki
from .wiki.mediawiki import PageFilter, RawPage

if TYPE_CHECKING:
    from .page_workers import Task, Workers

#: The raw text, in bytes, that one process cleans at a time.
_TASK_BYTES = 1 << 20
#: The memory that such a process takes: 65 MB of its own with the sample of a dump, and its share of the libraries.
_WORKER_BYTES = 80_000_000
#: The maximum number of columns that an error lists.
_LISTED = 20
#: The columns of every batch. A further column that is kept from tables must not have one of these names.
_OWN = ("id", "text", "file")


@dataclass(frozen=True)
class Source:
    """A source of documents in files, made by :func:`open_source`; ``batches()`` reads them.

    Files of several kinds are read kind by kind, and the files of each kind by path.

    Attributes:
        path: The path, or several paths joined by commas.
        files: The files in reading order, with sizes, times and ETags.
        kinds: The kind of each file.
        ignored: The files of a folder that have no known kind.
        column: The column of texts; None for the default.
        ids: The column of ids; None for the default.
        metadata_columns: The columns to keep.
        needed: The columns of ``metadata_columns`` that no document may lack.
        written: The columns of ``metadata_columns`` that are strings in JSON Lines, as the file writes them. Other
            columns have the type that all their values in a part of the file share.
        encoding: The character encoding; "" for UTF-8.
        wanted: The pages of a MediaWiki dump to read.
        workers: The number of processes that clean or parse text.
        threads: The number of threads that decompress bzip2.
        batch_bytes: The raw text of a batch, in bytes.
        dead_letters: The callable that gets each dead letter.
        noise: The way in which noise in HTML is found.
        noise_threshold: The score above which the model removes a block; None for a threshold fitted to each page.
        links: What a link becomes in the text: only its words, or its words and target.
        inputs: The paths in the order in which they are read, if there are several; else empty.
        quotes: Whether quotation marks in CSV enclose fields.
        markup: The markup of texts in tables; None for plain text.
        kept: The types of the columns to keep. A file that lacks such a column has nulls of its type. Default: the
            types that :meth:`kept_types` finds.
        hide_parameters: The names of secret parameters of URLs, normalized for comparison. Names of files do not show
            these parameters.
        endings: The kinds that the caller gave for endings of files' names.
        ocr: Whether text in images is recognized.
    """

    path: str
    files: list[SourceFile]
    kinds: list[str]
    ignored: list[str]
    column: str | None = None
    ids: str | None = None
    metadata_columns: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    encoding: str = ""
    wanted: PageFilter = field(default_factory=PageFilter)
    workers: int = 1
    threads: int = 1
    batch_bytes: int = BATCH_BYTES
    dead_letters: DeadLetters = field(default=refuse, compare=False)
    noise: How = "model"
    noise_threshold: float | None = None
    links: Links = "text"
    inputs: tuple[str, ...] = ()
    quotes: bool = True
    markup: Markup | None = None
    kept: tuple[tuple[str, pa.DataType], ...] = ()
    hide_parameters: tuple[str, ...] = ()
    endings: Endings = ()
    ocr: bool = False

    @property
    def kind(self) -> str:
        """The kind of the files, or their kinds, such as ``jsonl, text``."""
        return ", ".join(dict.fromkeys(self.kinds))

    @property
    def total_bytes(self) -> int:
        """The bytes of the files as they are stored; 0 for standard input."""
        return sum(file.size for file in self.files)

    def column_names(self) -> list[str]:
        """Return the columns that the first files of all kinds have in common; see :meth:`columns_by_kind`.

        The list is empty if one of these files is remote and cannot be read.

        Raises:
            OSError: One of these files is local and cannot be read.
        """
        found = list(self.columns_by_kind().values())
        return [name for name in (found[0] if found else []) if all(name in names for names in found)]

    def columns_by_kind(self) -> dict[str, list[str]]:
        """Return the columns of the first file of each kind, by kind; for a table, the columns of its first rows."""
        found: dict[str, list[str]] = {}
        for kind in dict.fromkeys(self.kinds):
            first = self.files[self.kinds.index(kind)]
            try:
                found[kind] = self._columns_of(first, kind)
            except OSError:
                if not files.scheme_of(first.path):
                    raise
                found[kind] = []  # when the file is read later, a dead letter gives the reason
        return found

    def _columns_of(self, file: SourceFile, kind: str) -> list[str]:
        listed = KINDS[kind].listed
        if listed is not None:
            return list(listed(self._opened(file, lambda _: None)))
        if KINDS[kind].is_table:
            parts = replace(self, files=[file], kinds=[kind])._parts(lambda _: None)
            return next((part.table.column_names for part in parts), [])
        return [name for name, _ in KINDS[kind].columns]

    def kept_types(self) -> dict[str, pa.DataType]:
        """Return the type of each column to keep, from the first file that has it with values other than null.

        The columns of CSV are strings. The result lacks columns that JSON Lines have only further down in the file. It
        also lacks the columns in ``needed``, because every file must have them, with its own type.

        Raises:
            ValueError: No file has such a column; the message lists the columns that exist.
        """
        wanted = [name for name in self.metadata_columns if name not in _OWN and name not in self.needed]
        types, seen, is_sure = self._found_types(wanted)
        absent = [name for name in wanted if name not in seen]
        if absent and is_sure:
            names = [name for name in seen if name not in _OWN]
            close = get_close_matches(absent[0], names, 1)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            of_files = f"the file {self.path}" if len(self.files) == 1 else f"any file of {self.path}"
            raise ValueError(
                f"metadata_columns: {absent[0]!r} is not a column of {of_files}{meant}; columns that can be kept: "
                f"{', '.join(names[:_LISTED]) or 'none'}{more}; {'name one of them' if names else 'leave it out'}"
            )
        return types

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Return the columns that certainly no file has.

        JSON Lines may have a column further down, so a source with such files has no result.
        """
        _, seen, is_sure = self._found_types([name for name in names if name not in _OWN])
        return [name for name in names if name not in _OWN and name not in seen] if is_sure else []

    def _found_types(self, wanted: Sequence[str]) -> tuple[dict[str, pa.DataType], dict[str, None], bool]:
        """Return the types of columns, the columns found, and whether the files cannot have other columns.

        The search stops at the file in which the last wanted column is found. A path into objects counts as found if
        its first key is found.
        """
        types: dict[str, pa.DataType] = {}
        seen: dict[str, None] = {}
        is_sure = True
        for file, kind in zip(self.files, self.kinds, strict=True):
            if all(name in types for name in wanted):
                break
            own = {} if file.path == "-" else self._types(file, kind)
            is_sure &= kind != "jsonl" and file.path != "-" and not (KINDS[kind].is_table and not own)
            seen |= dict.fromkeys(own)
            for name in wanted:
                inside = kind == "jsonl" and any(head in own for head in json_paths.heads(name))
                found = pa.large_string() if inside else own.get(name)
                if found is not None:
                    seen[name] = None
                    if not pa.types.is_null(found):
                        types.setdefault(name, found)
        return types, seen, is_sure

    def _types(self, file: SourceFile, kind: str) -> dict[str, pa.DataType]:
        """Return a file's columns with their types; for tables, from the first rows. Empty if it cannot be read."""
        spec = KINDS[kind]
        if not spec.is_table:
            return dict(spec.columns)
        try:
            if spec.listed is not None:
                found = spec.listed(self._opened(file, lambda _: None))
            else:
                parts = replace(self, files=[file], kinds=[kind])._parts(lambda _: None)
                schema = next((part.table.schema for part in parts), pa.schema([]))
                is_text = kind in ("csv", "tsv", "jsonl")
                found = {each.name: pa.large_string() if is_text else each.type for each in schema}
        except (OSError, ValueError, ImportError):  # reading the file reports the error
            return {}
        return {name: _plain_type(type_) for name, type_ in found.items()}

    def unread(self) -> Iterator[DeadLetter]:
        """Yield a dead letter for each file of a folder that is not read, with its kind and how to have it read.

        Files whose names show that they hold no further documents get no dead letter. These are the index of a dump,
        the dead letters of an ingest, and a dump that also exists in another compression.
        """
        for path in unread_files(self.ignored, self.files):
            try:
                reason = why_unread(path, b"" if files.scheme_of(path) else head_of(path))
                yield DeadLetter(path, "whole file", f"not read: {reason}")
            except (OSError, ImportError) as error:
                yield DeadLetter(path, "whole file", f"not read: {error}")

    def tables(self) -> Iterator[pa.Table]:
        """Yield tables of bounded size with all columns in their own types, which is how files of chunks are read.

        Raises:
            ValueError: A file is no table.
        """
        for file, kind in zip(self.files, self.kinds, strict=True):
            if not KINDS[kind].is_table:
                raise ValueError(
                    f"{file.path} holds no chunks, because it is no table but of kind {kind}: name a file that "
                    "`pychunk segment -o` wrote"
                )
        return (part.table for part in self._parts(self.dead_letters))

    def _parts(self, tell: DeadLetters) -> Iterator[Any]:
        for file, kind in zip(self.files, self.kinds, strict=True):
            yield from KINDS[kind].read(self._opened(file, tell), ParserOptions(every=True, quotes=self.quotes))

    def batches(self, skip: int = 0, *, in_pieces: bool = False) -> Iterator[Batch]:
        """Yield the documents in order; the batches are the same for any number of threads and workers.

        Dead letters always come in the same order, no matter how far ahead the reader reads. Each is reported before
        the batch that was being filled when it occurred.

        Args:
            skip: The number of batches to leave out at the beginning. Their text is not cleaned and their dead letters
                are not reported again. The remaining batches have the numbers that they would have without ``skip``.
                Standard input can be read only once.
            in_pieces: Whether texts of tables may stay in several Arrow chunks, as they were read. This is faster for a
                caller that uses few of the texts.
        """
        if skip < 0:
            raise ValueError(f"skip must not be negative; got {skip}")
        # If the source is a single table, the reader itself reports columns that do not exist.
        several = len(self.files) > 1 or any(not KINDS[name].is_table for name in self.kinds)
        if self.metadata_columns and not self.kept and several and (types := self.kept_types()):
            yield from replace(self, kept=tuple(types.items())).batches(skip, in_pieces=in_pieces)
            return
        groups = self._groups(skip)
        parsers = Conversion(self.workers)
        try:
            if "mediawiki" in self.kinds and self.workers > 1:
                yield from self._in_processes(groups, parsers)
                return
            for group in groups:
                self._tell(group.letters)
                if group.items:
                    yield self._made(group, parsers, in_pieces=in_pieces)
        finally:
            parsers.close()

    def _groups(self, skip: int) -> Iterator[_Group]:
        """Yield the items of each batch, then a group without items, for dead letters after the last batch."""
        told: list[DeadLetter] = []
        number = before = 0
        kind = ""
        try:
            for kind, own in groupby(zip(self.kinds, self.files, strict=True), itemgetter(0)):
                files = [file for _, file in own]
                items = self._items(kind, files, before, told.append)
                for found in (column_batches.grouped if KINDS[kind].is_table else grouped)(items, self.batch_bytes):
                    if number >= skip:
                        yield _Group(number, kind, found, told[:])
                    told.clear()
                    number += 1
                before += sum(file.size for file in files)
        except Exception:
            self._tell(told)
            raise
        if number >= skip:
            yield _Group(number, kind, [], told)

    def _tell(self, letters: list[DeadLetter]) -> None:
        for letter in letters:
            self.dead_letters(letter)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def _made(self, group: _Group, parsers: Conversion, *, in_pieces: bool = False) -> Batch:
        """Return the batch of a group that is not cleaned by ``Workers``, and empty the group."""
        last = group.items[-1]
        if KINDS[group.kind].is_table:
            table = (column_batches.in_pieces if in_pieces else column_batches.joined)(group.items)
            if self.markup is not None:
                table = with_blocks(table, self.markup, self.dead_letters, self.noise, self.noise_threshold, self.links)
            return Batch(table, group.number, last.file, last.bytes_read)
        documents = cast("list[Document]", group.items)
        if group.kind == "mediawiki":
            documents, letters = mediawiki.rendered(group.items, self.wanted)
            self._tell(letters)
        elif any(isinstance(item, RawFile) for item in group.items):
            documents, letters = parsers.documents(group.items, group.kind, self._options())
            self._tell(letters)
        batch = self._batch(group.number, group.kind, documents, last)
        documents.clear()  # otherwise a long document would be in memory twice while the caller works
        group.items.clear()
        return batch

    def _batch(self, number: int, kind: str, documents: list[Document], last: Any) -> Batch:
        table = table_of(documents, KINDS[kind].schema)
        for name in self.metadata_columns:
            if name not in table.column_names:  # the file is no table, for example a text file, so it has nulls here
                table = table.append_column(name, pa.nulls(len(table), dict(self.kept).get(name, pa.null())))
        return Batch(table, number, last.file, last.bytes_read)

    def _in_processes(self, groups: Iterator[_Group], parsers: Conversion) -> Iterator[Batch]:
        """Yield batches in order, whose pages other processes clean. At most a few tasks are submitted ahead."""
        # The import is here since few inputs are dumps; it would add 0.01 s to the start of every command.
        from .page_workers import Workers

        waiting: deque[tuple[_Group, list[Task]]] = deque()
        count = memory.processes(self.workers, _WORKER_BYTES)
        pool = Workers(count, self.wanted)
        rest: list[DeadLetter] = []
        try:
            for group in groups:
                if not group.items:
                    rest = group.letters
                    break
                if group.kind != "mediawiki":
                    while waiting:
                        yield self._collected(pool, *waiting.popleft())
                    self._tell(group.letters)
                    yield self._made(group, parsers)
                    continue
                tasks = [pool.submit(pages) for pages in grouped(cast("list[RawPage]", group.items), _TASK_BYTES)]
                waiting.append((group._replace(items=[group.items[-1]._replace(data=b"")]), tasks))
                while sum(len(tasks) for _, tasks in waiting) > 4 * count and len(waiting) > 1:
                    yield self._collected(pool, *waiting.popleft())
            while waiting:
                yield self._collected(pool, *waiting.popleft())
            self._tell(rest)
        finally:
            pool.close()

    def _collected(self, pool: Workers, group: _Group, tasks: list[Task]) -> Batch:
        self._tell(group.letters)
        documents: list[Document] = []
        for task in tasks:
            made, letters = pool.result(task)
            documents += made
            self._tell(letters)
        return self._batch(group.number, group.kind, documents, group.items[-1])

    def _items(self, kind: str, found: list[SourceFile], before: int, tell: DeadLetters) -> Iterator[Any]:
        """Yield the items of all files of a kind that become documents.

        Their ``bytes_read`` counts from the beginning of the whole source.
        """
        for file in found:
            if shown := files.unwritable(file.path):
                tell(DeadLetter(shown, "whole file", "the file's name is not UTF-8: rename it"))
                continue
            if lacking := self._lacking(kind):
                tell(
                    DeadLetter(file.path, "whole file", f"{kind} has no column {lacking!r}, which every document needs")
                )
                continue
            # If the name of a file in a folder does not identify its kind, an error in this file only becomes a
            # warning. Otherwise one such file would end the reading of the whole folder.
            in_folder = files.plain(self.path) != file.path
            named = kind_by(file.path, self.endings) or kind_of(file.path, kind)
            guessed = named != kind and in_folder
            own = _softened(tell) if guessed else tell
            try:
                for item in self._read(kind, file, own):
                    yield item._replace(bytes_read=before + min(item.bytes_read, file.size or item.bytes_read))
            except OSError as error:
                tell(DeadLetter(file.path, "whole file", f"cannot be read: {error}"))
            except ValueError as error:
                # A table without a known column of text is no document of a folder that has documents.
                among = isinstance(error, NoTextColumnError) and in_folder and self._has_documents
                if not guessed and not among:
                    raise
                reason = str(error).removeprefix(f"{file.path}: ")
                _softened(tell)(DeadLetter(file.path, "whole file", f"cannot be read as {kind}: {reason}"))
            before += file.size

    @property
    def _has_documents(self) -> bool:
        return not all(KINDS[kind].is_table for kind in self.kinds)

    def _lacking(self, kind: str) -> str:
        """Return a needed column that files of this kind never have, or ""; the readers of tables check this later."""
        known = {*_OWN, *(name for name, _ in KINDS[kind].columns)}
        return "" if KINDS[kind].is_table else next((name for name in self.needed if name not in known), "")

    def _read(self, kind: str, file: SourceFile, tell: DeadLetters) -> Iterator[Any]:
        opened = self._opened(file, tell)
        asked = self._options()
        items = KINDS[kind].read(opened, asked)
        if not KINDS[kind].is_table:
            return items
        return column_batches.runs(
            items,
            file.path,
            opened.tell,
            column=self.column,
            ids=self.ids,
            metadata_columns=asked.metadata_columns,
            needed=[name for name in self.needed if name in asked.metadata_columns],
            elsewhere={name: type_ for name, type_ in self.kept if name in asked.elsewhere},
        )

    def _options(self) -> ParserOptions:
        """Return the options of the parsers."""
        metadata_columns = tuple(name for name in self.metadata_columns if name not in _OWN)
        kept = dict(self.kept)
        return ParserOptions(
            self.column,
            self.ids,
            metadata_columns,
            self.written,
            self.wanted,
            noise=self.noise,
            noise_threshold=self.noise_threshold,
            links=self.links,
            quotes=self.quotes,
            elsewhere=tuple(name for name in kept if name in metadata_columns and name not in self.needed),
            endings=self.endings,
            ocr=self.ocr,
        )

    def _opened(self, file: SourceFile, tell: DeadLetters) -> ParserInput:
        def tell_encoding(letter: DeadLetter) -> None:
            reason = letter.reason.partition(MAY_BE)[0]  # the caller named the encoding, so the guess is left out
            tell(
                letter._replace(
                    reason=reason.replace("invalid UTF-8", f"invalid {self.encoding} (after conversion to UTF-8)")
                )
            )

        path = file.path
        said = tell_encoding if self.encoding else tell
        return ParserInput(
            path, file.size, said, lambda: opened(path), lambda: opened_at(path), self.threads, self.encoding
        )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column of this type has in a batch, which has no dictionaries and views."""
    try:
        return plain(pa.array([], kind)).type
    except (pa.ArrowException, NotImplementedError):  # without a cast, columns stay unchanged, so that no value is lost
        return kind


def _softened(tell: DeadLetters) -> DeadLetters:
    """Return a callable that makes dead letters partial, so that :func:`refuse` warns instead of raising."""
    return lambda letter: tell(letter._replace(partial=True))


class _Group(NamedTuple):
    """The items that become one batch, and the dead letters that occurred while it was filled.

    Dead letters stay with their batch, so that they are reported in the order of the batches, no matter how far ahead
    files are read.
    """

    number: int
    kind: str
    items: list[Any]
    letters: list[DeadLetter]


def open_source(
    path: str | Path | Sequence[str | Path],
    *,
    kind: str = "auto",
    endings: Mapping[str, str] | None = None,
    column: str | None = None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    needed: Sequence[str] = (),
    encoding: str | None = None,
    redirects: bool = False,
    namespaces: Sequence[int] | None = (0,),
    workers: int = 1,
    threads: int | None = None,
    batch_bytes: int = BATCH_BYTES,
    dead_letters: Callable[[DeadLetter], None] = refuse,
    noise: How = "model",
    noise_threshold: float | None = None,
    links: Links = "text",
    ocr: bool = False,
    quotes: bool = True,
    markup: Markup | None = None,
    hide_parameters: Sequence[str] = (),
) -> Source:
    """Return a source of batches of documents: a file, a folder, a URL, "-" (standard input), or several of these.

    Args:
        path: The file, folder or URL, or several, which are read one after the other in this order. A URL that cannot
            be reached becomes a dead letter. Where names of URLs are shown or stored, they lack the user, the password
            and secret parameters such as ``token``. If URLs differ only in these, the second one gets ``#2`` at its
            end, the third ``#3``.
        kind: The kind of the files, one of ``pychunk.io.KINDS`` (``pychunk formats`` lists them), or auto. auto takes
            the kind from the files' names, else from their first bytes. Standard input is read as text. If ``path``
            names a single file of unknown kind that holds text, it is also read as text. Subfolders of a folder are
            read, too. If ``kind`` is not auto, a file in a folder is read if its name identifies that kind, or if its
            name identifies no kind and its first bytes fit ``kind``. ``Source.unread()`` says why other files are not
            read. Files of all kinds but Parquet and Arrow may be compressed: .gz, .bz2, .zst, .xz, .7z.
        endings: The kinds of files by the endings of their names, such as ``{".log": "text", ".rec": "csv"}``, also
            of files inside archives. They come before all other signs of a kind. A ``kind`` other than auto still
            leaves out the files of other kinds.
        column: jsonl, csv, tsv, parquet, arrow: the column of the text. Default: the only string column, else ``text``.
        ids: jsonl, csv, tsv, parquet, arrow: the column of ids. Default: ``id``, else the file's name and the row's
            number. Ids are strings, as the file writes them. The id of a text, Markdown, HTML or PDF file is its path
            in the form in which ``path`` names it, without ``./``.
        metadata_columns: The columns of tables to keep in every batch. They have the types that the file declares. In
            JSON Lines a column has the type that all its values share, and in CSV it is a string. Files that lack a
            column, such as text files, have nulls in it. It is an error if no file has the column. The columns of wikis
            (title, url, ns, ...) are always kept.
        needed: Further columns to keep, which no document may lack. A row with a null in one of them becomes a dead
            letter.
        encoding: The character encoding of text, Markdown, CSV, JSON Lines and wiki text, by a name that Python knows.
            Default: UTF-8. For HTML, the default is the encoding that the page is really in, even if it declares
            another.
        redirects: mediawiki: whether redirects are kept.
        namespaces: mediawiki: the namespaces whose pages are kept. None: all.
        workers: mediawiki: the number of processes that clean text; with 1, this process does it. More processes are
            spawned, so the script needs ``if __name__ == "__main__":``. pdf, docx and other kinds that
            are converted: the number of processes that convert. If ``workers`` is below 4, there are 4 of these
            processes, or one for each CPU if there are fewer than 4 CPUs. For these processes the script needs no such
            line.
        threads: The number of threads that decompress bzip2; default: one for each CPU, at most 8.
        batch_bytes: The raw text of a batch, in bytes; a longer document is a batch of its own.
        dead_letters: A callable that gets a ``DeadLetter`` for each broken input, after which reading goes on. The
            default raises an error.
        noise: html: the way in which menus, banners, footers and other noise are found: "model" (a trained model),
            "rules" (names of elements and share of links) or "off" (not at all). The column ``removed`` lists the
            noise.
        noise_threshold: html: the threshold of the model, 0 to 1. A block is removed if its score, the probability that
            it is noise, is above the threshold. A lower threshold removes more. Default: each page gets a threshold of
            its own, chosen from the scores of its blocks so that the content is expected to be kept best.
        links: html: what a link becomes in the text. "text": only its words. "inline": its words and its target, as in
            Markdown, and also the alternative texts of images that stand alone. Links in headings, and links to the
            page itself, get no target.
        ocr: pdf, and images in folders and archives: whether the text of pages without text, and of images, is
            recognized. It needs the extra ``ocr``, which knows Latin, Chinese and Japanese letters, and takes 1 to 7
            seconds a page and core. The column ``ocr`` lists these pages, each with the mean confidence of its lines.
            An image that ``path`` names itself is read without ``ocr``, too.
        quotes: csv, tsv: whether quotation marks enclose fields. By default, a field that begins with a quotation mark
            ends with one, and may hold separators and line breaks. With False, quotation marks are ordinary characters,
            so that each line is a row.
        markup: jsonl, csv, tsv, parquet, arrow: the markup of texts, "markdown", "html" or "auto". Texts are then
            parsed as Markdown and HTML files are. Default: texts are plain text.
        hide_parameters: The names of further parameters of URLs that are secret. Case and punctuation in these names do
            not matter. No name of a file, error or dead letter shows these parameters.

    Raises:
        ValueError: A kind, the encoding, ``noise`` or ``links`` is unknown. The ``noise_threshold`` is invalid.
            ``hide_parameters`` has a value with a name. There is no path, two paths name the same file, or "-" is one
            of several paths. Columns do not exist (raised while reading).
        FileNotFoundError: There is no such file.
        ImportError: A URL or ``ocr`` needs a package that is not installed.

    >>> source = open_source("enwiki.xml.bz2", dead_letters=print)  # doctest: +SKIP
    >>> for batch in source:  # doctest: +SKIP
    ...     chunks = pychunk.segment(batch.table, columns={"text": "text"}, ids="id")
    """
    paths = [os.fspath(each) for each in ([path] if isinstance(path, (str, Path)) else path)]
    hides = urls.parameters(hide_parameters)
    paths = urls.named(paths, hides)
    for name, value in (("workers", workers), ("threads", threads or 1), ("batch_bytes", batch_bytes)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")
    if kind != "auto" and kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r:.80}; the kinds are {', '.join(KINDS)} and auto: choose one of them")
    check_noise(noise, noise_threshold)
    check_links(links)
    if markup is not None:
        check_markup(markup)
    needed = tuple(dict.fromkeys(needed))
    metadata_columns = tuple(
        dict.fromkeys([*([metadata_columns] if isinstance(metadata_columns, str) else metadata_columns), *needed])
    )
    codec = streams.encoding_of(encoding)
    if ocr and (lacks := KINDS["image"].lacks):
        raise ImportError(f"ocr=True needs {lacks}: {KINDS['image'].install}")
    known = checked(endings or {})
    found, kinds, ignored = listed(paths, kind, codec, known, ocr=ocr)
    _check_kept(metadata_columns, column, ids, kinds)
    if kind == "auto" and dead_letters is refuse and (missing := unread_files(ignored, found)):
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        said = (
            f"files not read, because their kind is unknown or not the requested one: {', '.join(missing[:3])}{more}; "
            "Source.unread() gives the reason for each"
        )
        warnings.warn(said, stacklevel=2)
    return Source(
        paths[0] if len(paths) == 1 else ", ".join(paths),
        found,
        kinds,
        ignored,
        column,
        ids,
        metadata_columns,
        needed,
        (),
        codec,
        PageFilter(frozenset(() if namespaces is None else namespaces), redirects),
        workers,
        threads or min(8, os.cpu_count() or 1),
        batch_bytes,
        dead_letters,
        noise,
        noise_threshold,
        links,
        tuple(paths) if len(paths) > 1 else (),
        quotes,
        markup,
        hide_parameters=tuple(sorted(hides)),
        endings=known,
        ocr=ocr,
    )


def _check_kept(metadata_columns: Sequence[str], column: str | None, ids: str | None, kinds: Sequence[str]) -> None:
    """Raise ValueError if a column to keep has the name of another column of the batch, or if no file has it."""
    for name, given in (("id", ids), ("text", column), ("file", "")):
        if name in metadata_columns and given not in (None, name):
            raise ValueError(
                f"metadata_columns: every batch has a column {name!r} of its own: leave it out, or rename the column "
                "in the files"
            )
    for kind in kinds:
        known = [name for name, _ in KINDS[kind].columns]
        if (
            known
            and (absent := [name for name in metadata_columns if name not in known and name not in _OWN])
            and len(set(kinds)) == 1
        ):
            raise ValueError(
                f"{kind} has no column {absent[0]!r}; its columns are {', '.join(known)}: name one of them"
            )
