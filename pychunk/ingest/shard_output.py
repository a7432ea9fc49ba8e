"""The writer of shards, which decides where a shard ends and adds complete shards to the data set."""

from __future__ import annotations

import errno
import hashlib
import logging
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._engine.data.columns import CUT_REASONS
from ..io import DeadLetter
from ..telemetry import record
from . import dead_letters
from .direct_file import DirectFile
from .empty_tables import fitted
from .run_folder import DIGESTS, REMOVED, SUMMARIES, settle, shard_name
from .run_manifest import Manifest, Shard
from .run_report import Report
from .shards import ShardWriter
from .source_batches import BatchPart, Range

#: The bytes of a shard that may wait in the page cache, if the shard is written through the cache.
FLUSH_BYTES = 32 << 20


class IngestError(RuntimeError):
    """An error that stops a run. Complete shards are kept, and the message says what to do."""


@dataclass(frozen=True)
class ShardResult:
    """A shard that is written but not yet part of the data set: its facts, its files and its dead letters."""

    shard: Shard
    files: list[DirectFile]
    letters: bytes


class Output:
    """The writer of the shards of a range of batches. ``write`` and ``settle`` may run in separate threads."""

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        report: Report,
        empty: dict[str, pa.Table],
        shard_bytes: int,
        compression: str,
        flag: str = "--resume (resume=True)",
    ) -> None:
        self.folder, self.manifest, self.report = folder, manifest, report
        self._empty = empty  # One table without rows for each data set.
        self.sink_seconds = 0.0
        self._shard_bytes, self._compression, self._flag = shard_bytes, compression, flag
        self.first_shard = 0  # The number in the name of the first shard.
        # The keys are the folders of the data sets below the run's folder, "" for the chunks.
        self._writers: dict[str, ShardWriter] = {}
        self._closing: list[dict[str, ShardWriter]] = []

    def begin(self, where: Range, wanted: Shard | None) -> None:
        """Start to write the parts of a range.

        ``wanted`` is the damaged shard that the range writes again, or None if the range writes new shards.
        """
        self._wanted = wanted
        self._at, self._end = where, where
        self._number = self.manifest.shards.index(wanted) if wanted else len(self.manifest.shards)
        done = self.manifest.shards[: self._number]
        self._letters_at = sum(shard.letter_bytes for shard in done)
        self._letters: list[DeadLetter] = []
        self._text_bytes = self._blank = self._dropped = 0

    def write(
        self, found: tuple[BatchPart | None, dict[str, pa.Table] | None]
    ) -> tuple[BatchPart | None, ShardResult | None]:
        """Add the chunks of a part, and return the part and the shard that ended before it, or None if none ended.

        If the part is None, the last shard ends. A full shard ends only when the next part comes. The last shard can
        therefore still take the dead letters that are reported after the last batch.
        """
        part, given = found
        try:
            if part is None:
                return None, self._close()
            closed = self._close() if self._is_full(part) else None
            if given is not None:
                tables = self._tables(given)
                writers = self._opened(tables)
                for name, table in tables.items():
                    writers[name].write(table, part.text_bytes)
            self._add(part)
        except OSError as error:
            raise self.unfinished(error) from error
        return part, closed

    def settle(self, closed: ShardResult, last: bool) -> None:
        """Put a shard on the disk, then its dead letters, then the manifest that names it."""
        try:
            for file in closed.files:
                file.sync()
                file.close()
            for path, _, _ in closed.shard.files(self.folder):
                settle(path)
            dead_letters.put(self.folder, closed.shard.letters_at, closed.letters)
            if self._wanted is None:
                self.manifest.shards.append(closed.shard)
                self.manifest.complete = last
                self.manifest.save(self.folder)
        except OSError as error:
            raise self.unfinished(error) from error
        self._closing.pop(0)
        self.report.new_shards += 1
        shard = closed.shard
        record(
            logging.INFO,
            "ingest.shard",
            "%(shard)s is written",
            shard=shard.name,
            documents=shard.documents,
            bytes=shard.text_bytes,
            chunks=shard.chunks,
            letters=shard.letters,
            cuts=shard.cuts,
        )

    def flush(self) -> None:
        """Send the bytes written so far to the disk, so that little remains to wait for at the end of a shard."""
        for writer in list(self._writers.values()):
            if writer.sink.file.waiting >= FLUSH_BYTES:
                try:
                    writer.sink.file.sync()
                except OSError as error:
                    raise self.unfinished(error) from error

    def abandon(self) -> None:
        """Remove incomplete shards after an error. After a range without errors this does nothing."""
        for writers in [*self._closing, self._writers]:
            for writer in writers.values():
                writer.abandon()
        self._writers, self._closing = {}, []

    def _is_full(self, part: BatchPart) -> bool:
        more = part.table_rows is not None and self._wanted is None
        return more and bool(self._writers) and self._text_bytes >= self._shard_bytes

    def _name(self) -> str:
        return shard_name(self.first_shard + self._number)

    def _tables(self, found: dict[str, pa.Table]) -> dict[str, pa.Table]:
        """Return the tables for the files of a shard, each with all columns that any document of the source has."""
        return {name: fitted(found.get(name, empty), empty) for name, empty in self._empty.items()}

    def _opened(self, tables: dict[str, pa.Table]) -> dict[str, ShardWriter]:
        for name, table in tables.items():
            if name not in self._writers:
                folder = self.folder / name
                folder.mkdir(exist_ok=True)
                path = folder / self._name()
                self._writers[name] = ShardWriter(path, table.schema, self._compression)
        return self._writers

    def _add(self, part: BatchPart) -> None:
        at = self._end
        batch = at.batch if part.table_rows is None else part.number + 1
        self._end = Range(batch, None, at.read + part.read, at.document + (part.table_rows or 0))
        self._text_bytes += part.text_bytes
        self._letters += part.letters
        self._blank += part.blank
        self._dropped += part.dropped
        self.report.new_text_bytes += part.text_bytes

    def _close(self) -> ShardResult:
        """End the shard, and return it."""
        writers = self._opened(self._empty)
        self._closing.append(writers)
        self._writers = {}
        files = [writer.finish() for writer in writers.values()]
        self.sink_seconds += sum(writer.sink.seconds for writer in writers.values())
        lines = dead_letters.encoded(self._letters)
        begun, ended = self._at, self._end
        shard = Shard(
            name=self._name(),
            first_batch=begun.batch,
            batches=ended.batch - begun.batch,
            first_read=begun.read,
            read=ended.read - begun.read,
            first_document=begun.document,
            documents=ended.document - begun.document,
            text_bytes=self._text_bytes,
            letters=len(self._letters),
            letters_at=self._letters_at,
            letter_bytes=len(lines),
            letters_sha256=hashlib.sha256(lines).hexdigest(),
            blank=self._blank,
            dropped=self._dropped,
            **facts_of_files(writers),
        )
        if self._wanted is not None and shard != self._wanted:
            raise IngestError(_unlike(self._wanted, shard))
        self._number += 1
        self._letters_at += len(lines)
        self._at, self._letters, self._text_bytes, self._blank, self._dropped = ended, [], 0, 0, 0
        return ShardResult(shard, files, lines)

    def unfinished(self, error: OSError, remedy: str = "") -> IngestError:
        """Return the error that ends a run which can be resumed."""
        count = len(self.manifest.shards)
        causes = {errno.ENOSPC: "Make room on the disk", errno.EDQUOT: "Make room", errno.EIO: "Check the disk"}
        remedy = remedy or f"{causes.get(error.errno or 0, 'Fix the cause')}, then go on"
        return IngestError(
            f"{self.folder}: {error}; {count} shard{' is' if count == 1 else 's are'} complete. {remedy} with "
            f"{self._flag}"
        )


def facts_of_files(writers: dict[str, ShardWriter]) -> dict[str, Any]:
    """Return the facts of a shard that its finished files show, as arguments of :class:`Shard`."""
    cuts = writers[""].cuts
    found: dict[str, Any] = {"chunks": writers[""].chunks}
    found["cuts"] = {reason: cuts[reason] for reason in CUT_REASONS if reason in cuts}
    for name, front in (("", ""), (SUMMARIES, "summaries_"), (REMOVED, "removed_"), (DIGESTS, "digests_")):
        if name in writers:
            sink = writers[name].sink
            found |= {f"{front}bytes": sink.file.bytes, f"{front}sha256": sink.sha256.hexdigest()}
    return found


def _unlike(before: Shard, now: Shard) -> str:
    names = [field.name for field in fields(Shard) if getattr(before, field.name) != getattr(now, field.name)]
    values: list[Any] = [getattr(each, names[0]) for each in (before, now)]
    return (
        f"{before.name} was written again, and its {names[0]} is {values[1]} instead of {values[0]}: the source or "
        "the software has changed. Ingest into another folder"
    )
