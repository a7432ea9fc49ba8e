"""The front door of the readers: a path or URL to a stream of batches of documents."""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from . import arrow_files, columns, files, json_lines, parquet_files, streams, tables, text_files
from .bzip2 import Block
from .documents import BATCH_BYTES, Batch, DeadLetter, DeadLetters, Document, grouped, refuse, schema, table_of
from .files import SourceFile
from .wiki import mediawiki, wikiextractor
from .wiki.mediawiki import RawPage, Wanted
from .workers import Task, Workers

#: The kinds of source, with what the names of their files look like, compressed or not.
KINDS = {
    "mediawiki": re.compile(r".*\.xml(-p\d+p\d+)?$", re.IGNORECASE),
    "wikiextractor": re.compile(r".*\bwiki_\d+$|.*\.wikiextractor$", re.IGNORECASE),
    "jsonl": re.compile(r".*\.(jsonl|ndjson|jsonlines)$", re.IGNORECASE),
    "parquet": re.compile(r".*\.(parquet|pq)$", re.IGNORECASE),
    "arrow": re.compile(r".*\.(arrow|feather|ipc|arrows)$", re.IGNORECASE),
    "text": re.compile(r".*\.(txt|text|md|markdown)$", re.IGNORECASE),
}
#: The index beside a multistream dump is no document.
_INDEX = re.compile(r".*-index\d*\.txt(-p\d+p\d+)?$", re.IGNORECASE)
#: Raw text that one process cleans at a time.
_TASK_BYTES = 1 << 20
#: The kinds whose documents are rows of tables.
_TABLES = ("parquet", "arrow", "jsonl")


@dataclass(frozen=True)
class Source:
    """Documents of files; ``batches()`` reads them. Made by ``open_source``.

    ``files`` are the files in reading order, with sizes, times and ETags; ``ignored`` those of a folder that are of no
    known kind.
    """

    path: str
    kind: str
    files: list[SourceFile]
    ignored: list[str]
    column: str | None = None
    id_column: str | None = None
    metadata: tuple[str, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    workers: int = 1
    threads: int = 1
    batch_bytes: int = BATCH_BYTES
    dead_letters: DeadLetters = field(default=refuse, compare=False)

    @property
    def total_bytes(self) -> int:
        """Bytes of the files as they are stored; 0 for standard input."""
        return sum(file.size for file in self.files)

    @property
    def schema(self) -> pa.Schema:
        """The columns of every batch."""
        return schema(self._more())

    def batches(self, skip: int = 0) -> Iterator[Batch]:
        """The documents in order; the same batches each time, however many threads and workers there are.

        ``skip`` leaves out that many batches at the beginning without cleaning their text, and without telling again
        what was broken in them: the rest has the numbers it would have had. What was broken before a batch was
        full is told before that batch, in one order whatever is read ahead. Standard input can be read once.
        """
        if skip < 0:
            raise ValueError(f"skip must not be negative; got {skip}")
        groups = self._groups(skip)
        if self.kind == "mediawiki" and self.workers > 1:
            yield from self._in_processes(groups)
            return
        for number, group, letters in groups:
            self._tell(letters)
            if not group:
                return
            if self.kind in _TABLES:
                yield Batch(columns.joined(group), number, group[-1].file, group[-1].bytes_read)
                continue
            documents = self._rendered(group) if self.kind == "mediawiki" else cast("list[Document]", group)
            batch = self._batch(number, documents, group[-1])
            documents.clear()  # while the caller works, a long document is in memory once
            group.clear()
            yield batch

    def _groups(self, skip: int) -> Iterator[tuple[int, list[Any], list[DeadLetter]]]:
        """(number, items, what was broken before the group was full) of each batch; at the end one without items.

        Letters travel with their batch, so that they are told in the batches' order however far ahead the files are
        read.
        """
        told: list[DeadLetter] = []
        items = self._items(told.append)
        groups = (columns.grouped if self.kind in _TABLES else grouped)(items, self.batch_bytes)
        number = 0
        try:
            for number, group in enumerate(groups):
                if number >= skip:
                    yield number, group, told[:]
                told.clear()
        except Exception:
            self._tell(told)
            raise
        if number + 1 >= skip:
            yield number + 1, [], told

    def _tell(self, letters: list[DeadLetter]) -> None:
        for letter in letters:
            self.dead_letters(letter)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches()

    def _more(self) -> tuple[tuple[str, pa.DataType], ...]:
        if self.kind == "mediawiki":
            return mediawiki.COLUMNS
        if self.kind == "wikiextractor":
            return wikiextractor.COLUMNS
        return tuple((name, pa.string()) for name in self.metadata)

    def _batch(self, number: int, documents: list[Document], last: Any) -> Batch:
        return Batch(table_of(documents, self.schema), number, last.file, last.bytes_read)

    def _rendered(self, group: Sequence[Any]) -> list[Document]:
        documents, letters = mediawiki.rendered(group, self.wanted)
        for letter in letters:
            self.dead_letters(letter)
        return documents

    def _in_processes(self, groups: Iterator[tuple[int, list[Any], list[DeadLetter]]]) -> Iterator[Batch]:
        """Batches cleaned by other processes, a bounded number of tasks ahead, in order."""
        waiting: deque[tuple[int, Any, list[DeadLetter], list[Task]]] = deque()
        pool = Workers(self.workers, self.wanted)
        rest: list[DeadLetter] = []
        try:
            for number, group, letters in groups:
                if not group:
                    rest = letters
                    break
                tasks = [pool.submit(pages) for pages in grouped(cast("list[RawPage]", group), _TASK_BYTES)]
                waiting.append((number, group[-1]._replace(data=b""), letters, tasks))
                while sum(len(tasks) for *_, tasks in waiting) > 4 * self.workers and len(waiting) > 1:
                    yield self._collected(pool, *waiting.popleft())
            while waiting:
                yield self._collected(pool, *waiting.popleft())
            self._tell(rest)
        finally:
            pool.close()

    def _collected(self, pool: Workers, number: int, last: Any, told: list[DeadLetter], tasks: list[Task]) -> Batch:
        self._tell(told)
        documents: list[Document] = []
        for task in tasks:
            made, letters = pool.result(task)
            documents += made
            for letter in letters:
                self.dead_letters(letter)
        return self._batch(number, documents, last)

    def _items(self, tell: DeadLetters) -> Iterator[Any]:
        """Documents, or pages still to be cleaned, of all files; each counts its bytes over the whole source."""
        before = 0
        for file in self.files:
            if shown := files.unwritable(file.path):
                tell(DeadLetter(shown, "whole file", "the file's name is not UTF-8: rename it"))
                continue
            try:
                for item in self._read(file, tell):
                    yield item._replace(bytes_read=before + min(item.bytes_read, file.size or item.bytes_read))
            except OSError as error:
                tell(DeadLetter(file.path, "whole file", f"cannot be read: {error}"))
            before += file.size

    def _read(self, file: SourceFile, tell: DeadLetters) -> Iterator[Any]:
        name = file.path
        asked = [each for each in (self.column, self.id_column, *self.metadata) if each]
        wanted = asked if self.column else None
        optional = () if self.id_column else ("id",)
        if self.kind == "parquet":
            ahead = bool(files.scheme_of(name))
            with _opened_at(name) as found:
                parts = parquet_files.parts(found, name, file.size, tell, wanted, optional, ahead=ahead)
                yield from self._rows(parts, name, tell)
            return
        if self.kind == "arrow":
            with _opened_at(name) as found:
                source = found if isinstance(found, pa.NativeFile) else pa.PythonFile(found, mode="r")
                parts = arrow_files.parts(source, name, file.size, tell, wanted, optional)
                yield from self._rows(parts, name, tell)
            return
        with _opened(name) as opened:
            blocks = streams.blocks(opened, name, tell, threads=self.threads)
            if self.kind == "mediawiki":
                yield from mediawiki.pages(blocks, name, tell, self.wanted)
            elif self.kind == "wikiextractor":
                yield from wikiextractor.documents(blocks, name, tell)
            elif self.kind == "jsonl":
                yield from self._rows(json_lines.parts(blocks, name, tell, **self._chosen()), name, tell)
            elif (document := text_files.document(blocks, name, tell)) is not None:
                yield document

    def _rows(self, parts: Iterator[tables.Part], name: str, tell: DeadLetters) -> Iterator[columns.Run]:
        return columns.runs(parts, name, tell, self.schema, **self._chosen())

    def _chosen(self) -> dict[str, Any]:
        return {"column": self.column, "id_column": self.id_column, "metadata": self.metadata}


def open_source(
    path: str | Path,
    *,
    kind: str = "auto",
    column: str | None = None,
    id_column: str | None = None,
    metadata: Sequence[str] = (),
    redirects: bool = False,
    namespaces: Sequence[int] | None = (0,),
    workers: int = 1,
    threads: int | None = None,
    batch_bytes: int = BATCH_BYTES,
    dead_letters: Callable[[DeadLetter], None] = refuse,
) -> Source:
    """A file, a folder, a URL or "-" (standard input) as a source of batches of documents.

    Args:
        kind: mediawiki (XML dump), wikiextractor, jsonl, parquet, arrow, text, or auto: by the files' names, else by
            their first bytes. A folder is read below as well, by path; its files must be of one kind. Dumps, JSON
            Lines, WikiExtractor output and text may be compressed (gzip, bzip2, Zstandard, 7z).
        column, id_column, metadata: jsonl, parquet, arrow: the column of the text (default: the only string column,
            else ``text``), of ids (default: ``id``, else the file's name and the row's number), and those to keep.
        redirects, namespaces: mediawiki: whether redirects are kept, and pages of which namespaces (None: all).
        workers: mediawiki: processes that clean text; 1 does it in this one. Others are spawned: a script that asks
            for them needs ``if __name__ == "__main__":``.
        threads: threads that decompress bzip2; default: one a CPU, at most 8.
        batch_bytes: raw text of a batch; a longer document is a batch of its own.
        dead_letters: is called with a ``DeadLetter`` for what is broken, and reading goes on; the default raises.

    Raises:
        ValueError: an unknown kind, or a folder of several; columns that are not there (while reading).
        FileNotFoundError: there is no such file.
        ImportError: a URL that needs a package which is not installed.

    >>> source = open_source("enwiki.xml.bz2", dead_letters=print)  # doctest: +SKIP
    >>> for batch in source:  # doctest: +SKIP
    ...     chunks = pychunk.segment(batch.table, column="text", ids="id")
    """
    path = os.fspath(path)
    for name, value in (("workers", workers), ("threads", threads or 1), ("batch_bytes", batch_bytes)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")
    if kind != "auto" and kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}; the kinds are {', '.join(KINDS)} and auto")
    kind, found, ignored = _listed(path, kind)
    return Source(
        path,
        kind,
        found,
        ignored,
        column,
        id_column,
        tuple(metadata),
        Wanted(frozenset(() if namespaces is None else namespaces), redirects),
        workers,
        threads or min(8, os.cpu_count() or 1),
        batch_bytes,
        dead_letters,
    )


def kind_of(name: str) -> str | None:
    """The kind that a file's name says, without the ending of a compression; None where it says none.

    >>> kind_of("enwiki-20240601-pages-articles1.xml-p1p41242.bz2"), kind_of("notes.md"), kind_of("data.bin")
    ('mediawiki', 'text', None)
    """
    bare = streams.bare(files.base_name(name))
    if _INDEX.fullmatch(bare):
        return None
    return next((kind for kind, pattern in KINDS.items() if pattern.fullmatch(bare)), None)


def _listed(path: str, kind: str) -> tuple[str, list[SourceFile], list[str]]:
    """(kind, files to read, files that are not)."""
    if path == "-":
        return "text" if kind == "auto" else kind, [SourceFile("-", 0, None)], []
    found = files.find(path)
    if len(found) == 1 and found[0].path == path:
        return kind if kind != "auto" else _recognised(path), found, []
    kinds = {file.path: kind_of(file.path) for file in found}
    for name in _again(kinds):
        kinds[name] = None
    if not any(kinds.values()):
        kinds = {file.path: _sniffed(file.path) for file in found} if kind == "auto" else dict.fromkeys(kinds, kind)
    if kind == "auto":
        names = sorted({each for each in kinds.values() if each})
        if len(names) != 1:
            held = f"files of several kinds ({', '.join(names)})" if names else "no file of a known kind"
            raise ValueError(f"{path} holds {held}; pass kind=, one of {', '.join(KINDS)}")
        kind = names[0]
    chosen = [file for file in found if kinds[file.path] == kind]
    if not chosen:
        raise ValueError(f"{path} holds no file whose name is that of kind {kind!r}")
    others = [file.path for file in found if kinds[file.path] != kind]
    return kind, chosen, [files.unwritable(path) or path for path in others]


def _again(names: Iterable[str]) -> list[str]:
    """Those .7z that are there in another compression, too, as Wikimedia offers them."""
    others = {streams.bare(name) for name in names if not name.lower().endswith(".7z")}
    return [name for name in names if name.lower().endswith(".7z") and streams.bare(name) in others]


def _recognised(path: str) -> str:
    kind = kind_of(path) or _sniffed(path)
    if kind is None:
        raise ValueError(f"{path}: unknown kind of file; pass kind=, one of {', '.join(KINDS)}")
    return kind


def _sniffed(path: str) -> str | None:
    """The kind that a file's first bytes say."""
    quiet: list[DeadLetter] = []
    with _opened(path) as opened:
        head = next(iter(streams.blocks(opened, path, quiet.append)), Block(b"", 0)).data[:4096]
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if encoding := mediawiki.utf_16(head):
        head = head.decode(encoding, "replace").encode()
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"<mediawiki" in start:
        return "mediawiki"
    return "wikiextractor" if start.startswith(b"<doc ") else "jsonl" if start.startswith(b"{") else None


class _StandardInput:
    """Standard input, which is not closed after reading."""

    def __enter__(self) -> BinaryIO:
        return sys.stdin.buffer

    def __exit__(self, *_: object) -> None:
        return None


def _opened_at(path: str) -> Any:
    """For Arrow's readers: Arrow's own file, if it can be. Their threads call a Python one even as the process ends."""
    return _StandardInput() if path == "-" else files.open_at(path)


def _opened(path: str) -> Any:
    return _StandardInput() if path == "-" else files.open_binary(path)
