"""The front door of the readers: a path or URL to a stream of batches of documents."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from .._util import urls
from .._util.worker_process import Processes
from ..inputs.value_columns import NoTextColumnError, plain
from . import column_batches, files
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
from .formats import json_paths, pdf_files
from .formats.html_files import How, Links, check_links, check_noise
from .kinds import (
    KINDS,
    ParserInput,
    ParserOptions,
    kind_of,
    why_unread,
)
from .listing import head_of, listed, opened, opened_at
from .listing import unread as unread_files
from .wiki import mediawiki
from .wiki.mediawiki import PageFilter, RawPage

if TYPE_CHECKING:
    from .page_workers import Task, Workers

#: Raw text that one process cleans at a time.
_TASK_BYTES = 1 << 20
#: Columns that an error lists.
_LISTED = 20
#: The columns of every batch, which a column that is kept beside them must not be called.
_OWN = ("id", "text", "file")


@dataclass(frozen=True)
class Source:
    """Documents of files; ``batches()`` reads them. Made by ``open_source``.

    ``files`` are the files in reading order, with sizes, times and ETags, and ``kinds`` what each is; ``ignored`` those
    of a folder that are of no known kind. ``inputs`` are several paths that are read one after the other, and empty for
    one. ``needed`` are those columns to keep that no document may lack. ``written``
    are those columns to keep that JSON Lines yield as strings, as they stand there, and not in the type that the values
    of a part share. ``kept`` are the types of those that files may lack, which are null there; default: what
    ``kept_types`` finds. ``hide_parameters`` are those of URLs that no file's name has, as they are compared. Files of
    several kinds are read kind by kind, each kind's by path.
    """

    path: str
    files: list[SourceFile]
    kinds: list[str]
    ignored: list[str]
    column: str | None = None
    ids: str | None = None
    keep: tuple[str, ...] = ()
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
    kept: tuple[tuple[str, pa.DataType], ...] = ()
    hide_parameters: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the files, or their kinds: ``jsonl, text``."""
        return ", ".join(dict.fromkeys(self.kinds))

    @property
    def total_bytes(self) -> int:
        """Bytes of the files as they are stored; 0 for standard input."""
        return sum(file.size for file in self.files)

    def column_names(self) -> list[str]:
        """The columns that every file has, of tables as their first rows do; none where one cannot be read."""
        found = list(self.columns_by_kind().values())
        return [name for name in (found[0] if found else []) if all(name in names for names in found)]

    def columns_by_kind(self) -> dict[str, list[str]]:
        """Of each kind of its files the columns, of tables those of the first file's first rows."""
        found: dict[str, list[str]] = {}
        for kind in dict.fromkeys(self.kinds):
            first = self.files[self.kinds.index(kind)]
            try:
                found[kind] = self._columns_of(first, kind)
            except OSError:
                if not files.scheme_of(first.path):
                    raise
                found[kind] = []  # a letter says why when it is read
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
        """Return the type of each column to keep in the first file that has it, if not null; of CSV strings.

        Those that JSON Lines may have further down are left out, and needed ones, of which each file tells for itself.

        Raises:
            ValueError: no file has such a column; it says what there is.
        """
        wanted = [name for name in self.keep if name not in _OWN and name not in self.needed]
        types, seen, is_sure = self._found_types(wanted)
        absent = [name for name in wanted if name not in seen]
        if absent and is_sure:
            names = [name for name in seen if name not in _OWN]
            close = get_close_matches(absent[0], names, 1)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            of_files = f"the file {self.path}" if len(self.files) == 1 else f"any file of {self.path}"
            raise ValueError(
                f"keep: {absent[0]!r} is no column of {of_files}{meant}; what can be kept: "
                f"{', '.join(names[:_LISTED]) or 'nothing'}{more}"
            )
        return types

    def lacking(self, names: Sequence[str]) -> list[str]:
        """Return the columns that no file has, as far as that can be said before all is read."""
        _, seen, is_sure = self._found_types([name for name in names if name not in _OWN])
        return [name for name in names if name not in _OWN and name not in seen] if is_sure else []

    def _found_types(self, wanted: Sequence[str]) -> tuple[dict[str, pa.DataType], dict[str, None], bool]:
        """(types of columns, columns that were seen, whether no file may have others), of files up to the last needed.

        A path into objects is seen where its first key is.
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
        """The columns of a file with their types, of tables those of its first rows; none where they cannot be read."""
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
        except (OSError, ValueError, ImportError):  # told when it is read
            return {}
        return {name: _plain_type(type_) for name, type_ in found.items()}

    def unread(self) -> Iterator[DeadLetter]:
        """Yield a letter for each file of a folder that is not read: what it is, and what to do to have it read.

        None are about what holds no document by its name: the index of a dump, what an ingest could not read, and a
        dump that is there in another compression as well.
        """
        for path in unread_files(self.ignored, self.files):
            try:
                reason = why_unread(path, b"" if files.scheme_of(path) else head_of(path))
                yield DeadLetter(path, "whole file", f"not read: {reason}")
            except (OSError, ImportError) as error:
                yield DeadLetter(path, "whole file", f"not read: {error}")

    def tables(self) -> Iterator[pa.Table]:
        """Tables of bounded size with every column, in types of their own: what chunks are read with."""
        return (part.table for part in self._parts(self.dead_letters))

    def _parts(self, tell: DeadLetters) -> Iterator[Any]:
        for file, kind in zip(self.files, self.kinds, strict=True):
            yield from KINDS[kind].read(self._opened(file, tell), ParserOptions(every=True, quotes=self.quotes))

    def batches(self, skip: int = 0, *, in_pieces: bool = False) -> Iterator[Batch]:
        """The documents in order; the same batches each time, however many threads and workers there are.

        ``skip`` leaves out that many batches at the beginning without cleaning their text, and without telling again
        what was broken in them: the rest has the numbers it would have had. What was broken before a batch was
        full is told before that batch, in one order whatever is read ahead. Standard input can be read once.
        ``in_pieces``: texts of tables may be in several chunks, as they were read, for who takes few of them.
        """
        if skip < 0:
            raise ValueError(f"skip must not be negative; got {skip}")
        # Of one table reading it says as much.
        several = len(self.files) > 1 or any(not KINDS[name].is_table for name in self.kinds)
        if self.keep and not self.kept and several and (types := self.kept_types()):
            yield from replace(self, kept=tuple(types.items())).batches(skip, in_pieces=in_pieces)
            return
        groups = self._groups(skip)
        parsers = pdf_files.processes(self.workers) if "pdf" in self.kinds else None
        try:
            if "mediawiki" in self.kinds and self.workers > 1:
                yield from self._in_processes(groups, parsers)
                return
            for group in groups:
                self._tell(group.letters)
                if group.items:
                    yield self._made(group, parsers, in_pieces=in_pieces)
        finally:
            if parsers is not None:
                parsers.close()

    def _groups(self, skip: int) -> Iterator[_Group]:
        """The items of each batch; at the end a group without items, for what was broken behind the last."""
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
        except Exception as error:
            self._tell(told)
            others = [name for name in dict.fromkeys(self.kinds) if not KINDS[name].is_table]
            if isinstance(error, NoTextColumnError) and others:
                raise NoTextColumnError(
                    f"{error}; to leave tables out, pass kind= and what to read: {', '.join(others)}"
                ) from None
            raise
        if number >= skip:
            yield _Group(number, kind, [], told)

    def _tell(self, letters: list[DeadLetter]) -> None:
        for letter in letters:
            self.dead_letters(letter)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def _made(self, group: _Group, parsers: Processes | None, *, in_pieces: bool = False) -> Batch:
        """A batch of a group that nobody else cleans; leaves the group empty."""
        last = group.items[-1]
        if KINDS[group.kind].is_table:
            table = (column_batches.in_pieces if in_pieces else column_batches.joined)(group.items)
            return Batch(table, group.number, last.file, last.bytes_read)
        documents = cast("list[Document]", group.items)
        if group.kind == "mediawiki":
            documents, letters = mediawiki.rendered(group.items, self.wanted)
            self._tell(letters)
        elif group.kind == "pdf":
            documents, letters = pdf_files.parsed(group.items, cast(Processes, parsers))
            self._tell(letters)
        batch = self._batch(group.number, group.kind, documents, last)
        documents.clear()  # while the caller works, a long document is in memory once
        group.items.clear()
        return batch

    def _batch(self, number: int, kind: str, documents: list[Document], last: Any) -> Batch:
        table = table_of(documents, KINDS[kind].schema)
        for name in self.keep:
            if name not in table.column_names:  # a file without columns has none of this name
                table = table.append_column(name, pa.nulls(len(table), dict(self.kept).get(name, pa.null())))
        return Batch(table, number, last.file, last.bytes_read)

    def _in_processes(self, groups: Iterator[_Group], parsers: Processes | None) -> Iterator[Batch]:
        """Batches whose pages are cleaned by other processes, a bounded number of tasks ahead, in order."""
        from .page_workers import Workers  # here, as few inputs are dumps: .01 s of every command's start

        waiting: deque[tuple[_Group, list[Task]]] = deque()
        pool = Workers(self.workers, self.wanted)
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
                while sum(len(tasks) for _, tasks in waiting) > 4 * self.workers and len(waiting) > 1:
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
        """What becomes documents, of all files of a kind; each counts its bytes over the whole source."""
        for file in found:
            if shown := files.unwritable(file.path):
                tell(DeadLetter(shown, "whole file", "the file's name is not UTF-8: rename it"))
                continue
            if lacking := self._lacking(kind):
                tell(
                    DeadLetter(file.path, "whole file", f"{kind} has no column {lacking!r}, which every document needs")
                )
                continue
            # A file whose name does not say its kind must not end the run of a folder.
            guessed = kind_of(file.path, kind) != kind and files.plain(self.path) != file.path
            own = _softened(tell) if guessed else tell
            try:
                for item in self._read(kind, file, own):
                    yield item._replace(bytes_read=before + min(item.bytes_read, file.size or item.bytes_read))
            except OSError as error:
                tell(DeadLetter(file.path, "whole file", f"cannot be read: {error}"))
            except ValueError as error:
                if not guessed:
                    raise
                reason = str(error).removeprefix(f"{file.path}: ")
                own(DeadLetter(file.path, "whole file", f"cannot be read as {kind}: {reason}"))
            before += file.size

    def _lacking(self, kind: str) -> str:
        """A needed column that no file of this kind has; "" where tables say it themselves."""
        known = {*_OWN, *(name for name, _ in KINDS[kind].columns)}
        return "" if KINDS[kind].is_table else next((name for name in self.needed if name not in known), "")

    def _read(self, kind: str, file: SourceFile, tell: DeadLetters) -> Iterator[Any]:
        keep = tuple(name for name in self.keep if name not in _OWN)
        opened = self._opened(file, tell)
        elsewhere = {name: type_ for name, type_ in self.kept if name in keep and name not in self.needed}
        asked = ParserOptions(
            self.column,
            self.ids,
            keep,
            self.written,
            self.wanted,
            noise=self.noise,
            noise_threshold=self.noise_threshold,
            links=self.links,
            quotes=self.quotes,
            elsewhere=tuple(elsewhere),
        )
        items = KINDS[kind].read(opened, asked)
        if not KINDS[kind].is_table:
            return items
        needed = [name for name in self.needed if name in keep]
        return column_batches.runs(
            items,
            file.path,
            opened.tell,
            column=self.column,
            ids=self.ids,
            keep=keep,
            needed=needed,
            elsewhere=elsewhere,
        )

    def _opened(self, file: SourceFile, tell: DeadLetters) -> ParserInput:
        def tell_encoding(letter: DeadLetter) -> None:
            reason = letter.reason.partition(MAY_BE)[0]  # no guess if an encoding was named
            tell(letter._replace(reason=reason.replace("invalid UTF-8", f"invalid {self.encoding}, made UTF-8,")))

        path = file.path
        said = tell_encoding if self.encoding else tell
        return ParserInput(
            path, file.size, said, lambda: opened(path), lambda: opened_at(path), self.threads, self.encoding
        )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column to keep has in a batch: without dictionaries and views."""
    try:
        return plain(pa.array([], kind)).type
    except (pa.ArrowException, NotImplementedError):  # without a cast columns stay as they are: no value is lost
        return kind


def _softened(tell: DeadLetters) -> DeadLetters:
    """Return a callable that makes letters warnings for callers who ask for none."""
    return lambda letter: tell(letter._replace(partial=True))


class _Group(NamedTuple):
    """What becomes one batch, and what was broken before it was full.

    Letters travel with their batch, so that they are told in the batches' order however far ahead files are read.
    """

    number: int
    kind: str
    items: list[Any]
    letters: list[DeadLetter]


def open_source(
    path: str | Path | Sequence[str | Path],
    *,
    kind: str = "auto",
    column: str | None = None,
    ids: str | None = None,
    keep: Sequence[str] = (),
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
    quotes: bool = True,
    hide_parameters: Sequence[str] = (),
) -> Source:
    """A file, a folder, a URL or "-" (standard input) as a source of batches of documents; or several of these.

    Args:
        path: where they are. Several are read one after the other, as they are named. A URL that cannot be reached is
            a dead letter. URLs are named without user, password and secret parameters, such as ``token``; of those
            that differ in these alone the second is named with ``#2`` at its end, in their order here.
        kind: mediawiki (XML dump), wikiextractor, docling, jsonl, csv, tsv, parquet, arrow, html, pdf, markdown, text,
            or auto: by the files' names, else by their first bytes; standard input is text, and so is text of an
            unknown name that is named by itself. A folder is read below as well: each file by its kind, or, if a kind
            is named, those whose names are of it or of none; ``Source.unread()`` says why others are not read. All but
            Parquet and Arrow may be compressed: .gz, .bz2, .zst, .xz, .7z.
        column, ids: jsonl, csv, tsv, parquet, arrow: the column of the text (default: the only string column, else
            ``text``) and of ids (default: ``id``, else the file's name and the row's number). Ids are strings, as they
            are written. The id of a text, Markdown, HTML or PDF file is its path as given, without ``./``.
        keep: columns of tables to keep in every batch, in the types that they have: those of the file, of JSON Lines
            the one that all values have, of CSV strings. Files that lack one have nulls there, as text files do; that
            none has it is an error. Those of wikis (title, url, ns, ...) are there anyhow.
        needed: columns kept besides, which no document may lack: one whose value is null is broken.
        encoding: of text, Markdown, CSV, JSON Lines and wiki text: a name that Python knows; default: UTF-8. Of pages
            of HTML: default: the one that they are in, whatever they declare.
        redirects, namespaces: mediawiki: whether redirects are kept, and pages of which namespaces (None: all).
        workers: mediawiki: processes that clean text; 1 does it in this one. Others are spawned: a script that asks
            for them needs ``if __name__ == "__main__":``. pdf: processes that parse, 4 or as many as there are CPUs
            where more are not asked for; they need nothing of a script.
        threads: threads that decompress bzip2; default: one a CPU, at most 8.
        batch_bytes: raw text of a batch; a longer document is a batch of its own.
        dead_letters: is called with a ``DeadLetter`` for what is broken, and reading goes on; the default raises.
        noise: html: how menus, banners, footers and the like are found, which the column ``removed`` lists: "model" (a
            trained one), "rules" (names of elements and share of links) or "off" (none).
        noise_threshold: of the model, 0 to 1: blocks are removed whose score, that of being noise, is above it; the
            lower, the more is removed. Default: for each page the one that keeps its content best, by the scores.
        links: html: what of links is text: their words ("text"), or with their targets, as Markdown writes them, and
            the alternative texts of images that stand alone ("inline"). Links of headings, and to the page itself, have
            no target.
        quotes: csv, tsv: False reads quotation marks as characters like others: a line is a row. Default: a field that
            begins with one ends with one, and holds separators and line breaks.
        hide_parameters: further parameters of URLs that are secret, by their names, in any case and with any marks
            between letters: no name, error or letter has them.

    Raises:
        ValueError: an unknown kind, encoding, ``noise`` or ``links``; a ``noise_threshold`` that is none; a parameter
            to hide with its value; no path, one file by two of several, or "-" among them; columns that are not there
            (while reading).
        FileNotFoundError: there is no such file.
        ImportError: a URL that needs a package which is not installed.

    >>> source = open_source("enwiki.xml.bz2", dead_letters=print)  # doctest: +SKIP
    >>> for batch in source:  # doctest: +SKIP
    ...     chunks = pychunk.segment(batch.table, column="text", ids="id")
    """
    paths = [os.fspath(each) for each in ([path] if isinstance(path, (str, Path)) else path)]
    hides = urls.parameters(hide_parameters)
    paths = urls.named(paths, hides)
    for name, value in (("workers", workers), ("threads", threads or 1), ("batch_bytes", batch_bytes)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")
    if kind != "auto" and kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; the kinds are {', '.join(KINDS)} and auto")
    check_noise(noise, noise_threshold)
    check_links(links)
    needed = tuple(dict.fromkeys(needed))
    keep = tuple(dict.fromkeys([*([keep] if isinstance(keep, str) else keep), *needed]))
    codec = streams.encoding_of(encoding)
    found, kinds, ignored = listed(paths, kind, codec)
    _check_kept(keep, column, ids, kinds)
    if kind == "auto" and dead_letters is refuse and (missing := unread_files(ignored, found)):
        more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
        said = (
            f"not read, of no known kind or another: {', '.join(missing[:3])}{more}; Source.unread() says of each why"
        )
        warnings.warn(said, stacklevel=2)
    return Source(
        paths[0] if len(paths) == 1 else ", ".join(paths),
        found,
        kinds,
        ignored,
        column,
        ids,
        keep,
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
        hide_parameters=tuple(sorted(hides)),
    )


def _check_kept(keep: Sequence[str], column: str | None, ids: str | None, kinds: Sequence[str]) -> None:
    """That the names of columns to keep are not those of others, or of none."""
    for name, given in (("id", ids), ("text", column), ("file", "")):
        if name in keep and given not in (None, name):
            raise ValueError(f"keep: every batch has a column {name!r} of its own: rename that of the files")
    for kind in kinds:
        known = [name for name, _ in KINDS[kind].columns]
        if (
            known
            and (absent := [name for name in keep if name not in known and name not in _OWN])
            and len(set(kinds)) == 1
        ):
            raise ValueError(f"{kind} has no column {absent[0]!r}; its columns are {', '.join(known)}")
