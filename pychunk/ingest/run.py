"""A run, which cuts the documents of a source, writes shards, and continues where an earlier run stopped."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._engine.data.columns import CUT_REASONS
from .._util.counting import counted
from .._util.durable_files import remove
from .._util.pipeline import Pipeline
from .._util.urls import named, parameters
from ..inputs.document_columns import DocumentColumns, arguments_of, columns_by_role, wanted_columns
from ..inputs.texts import PartialRowError
from ..io import KINDS, DeadLetter, Source, open_source
from ..io.duplicate_ids import DuplicateIds
from ..io.files import find_if_reached, scheme_of
from ..io.formats.html_files import How, Links
from ..io.markup import Markup
from ..placement import Placement, PlacementLike
from ..segmenter import Segmenter
from ..telemetry import record, span
from . import dead_letters, empty_tables, run_facts
from . import duplicate_documents as duplicates
from . import update as updates
from .empty_tables import columns_of
from .former_run import SCHEMA, FormerRun, digest_table
from .kept_shards import check_types, empty_tables_of
from .run_folder import BESIDE, CHANGES, DIGESTS, DUPLICATES, LOCK, Lock, strangers, sweep
from .run_manifest import NAME, Manifest, Shard, told
from .run_report import Report
from .sample import Sample, sample_of
from .shard_output import IngestError, Output
from .shards import COMPRESSIONS
from .source_batches import BatchPart, Range, parts
from .verification import check, damage

#: The bytes of text in a shard.
SHARD_BYTES = 128_000_000
#: The number of items that may wait between two stages. Each item may be a copy of a document of 200 MB.
_DEPTH = 1

Progress = Callable[[float, Report], None]


def ingest(
    source: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    kind: str = "auto",
    endings: Mapping[str, str] | None = None,
    columns: DocumentColumns | None = None,
    ids: str | None = None,
    metadata_columns: Sequence[str] = (),
    encoding: str | None = None,
    quotes: bool = True,
    markup: Markup | None = None,
    redirects: bool = False,
    namespaces: tuple[int, ...] | None = (0,),
    noise: How = "model",
    noise_threshold: float | None = None,
    links: Links = "text",
    ocr: bool = False,
    hide_parameters: Sequence[str] = (),
    limit: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    shard_bytes: int = SHARD_BYTES,
    compression: str = "none",
    resume: bool = False,
    update: bool = False,
    dedupe: str | float | None = None,
    strict: bool = False,
    workers: int = 1,
    placement: PlacementLike | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Report:
    """Cut all documents of a source into chunk tables, in a folder that holds only complete Parquet files.

    The bytes of the files depend on the source and the options. They do not depend on threads, workers, or how often
    the run was killed and resumed. The folder holds these files:

    - ``part-000000.parquet`` and so on: the shards.
    - ``_manifest.json``: the source, the options, the versions, and every shard with its SHA-256.
    - ``_dead_letters.jsonl``: the inputs that could not be read, with the reasons.
    - ``_lock``: the lock of the run.
    - ``_changes.parquet``: the chunks that the last update changed.
    - ``_duplicates.parquet``: the documents that ``dedupe`` left out.

    Args:
        source: A file, a folder or a URL, or several of them, which are read in this order. ``pychunk.io.open_source``
            describes the source in detail, and the arguments that it shares with this function.
        out: The output folder. It is created if it does not exist.
        kind: The kind of the files, such as ``"parquet"``. ``"auto"`` takes the kind from their names or first bytes.
        endings: The kinds of files by the endings of their names, such as ``{".log": "text"}``.
        columns: The columns of tables that hold the text and further facts about each document, by role. See
            :func:`pychunk.segment`.
        ids: The column of the ids in tables. The default is ``id``, else the file's name and the row's number.
        metadata_columns: The columns of the source that every chunk repeats.
        encoding: The character encoding of the files. The default is UTF-8, or for HTML the encoding of the page.
        quotes: Whether quotation marks of CSV and TSV files enclose fields.
        markup: The markup of texts in tables, ``"markdown"``, ``"html"`` or ``"auto"``. Default: plain text.
        redirects: Whether the redirects of MediaWiki dumps are kept.
        namespaces: The namespaces of MediaWiki dumps whose pages are kept. None: all.
        noise: The way in which noise of HTML pages is found: ``"model"``, ``"rules"`` or ``"off"``.
        noise_threshold: The score above which the model removes a block, 0 to 1. The default adapts to each page.
        links: What a link becomes in the text: only its words (``"text"``), or its words and target (``"inline"``).
        ocr: Whether the text of scanned pages of PDF, and of images, is recognized (extra ``ocr``).
        hide_parameters: The names of further parameters of URLs that are secret, so that no file or error shows them.
        limit: The number of documents to read, from the first on.
        sample: The number of documents to draw. The sample consists of the documents with the lowest hashes of id and
            ``seed``. The source is read twice. With ``limit``, only the first documents of the sample are used.
        seed: The seed of the sample.
        shard_bytes: The bytes of text in a shard. A shard ends with the batch that reaches this number.
        compression: ``none``, ``lz4`` or ``zstd``.
        resume: Whether to continue a run of the same source, options and versions. Several sources must be the same
            as before, in the same order, because the order numbers the documents. If there is no run to continue, a new
            run begins. If the method asks an LLM, the client's cache holds the answers received so far, so they are not
            requested again.
        update: Whether to bring the folder to the present state of the source, as ``resume`` does for the same state.
            The first run must have been an update, too, because only updates store digests of the documents, in
            ``_digests``. Documents with the same id, text and columns as before keep their chunks, and the others are
            cut. The folder changes in one step, and has the rows of a new run. Until then, the update is written to
            the folder ``.NAME.update`` next to it.
        dedupe: Whether to leave out copies of earlier documents: ``"exact"`` copies, or ``"near"`` ones, or the least
            share of common text of a near-copy, from 0.5 to 1; see :func:`pychunk.find_duplicates`. Near-copies are
            found with all texts in memory. An update cannot do this. Default: all documents are cut.
        strict: Whether to write a dead letter also for each file in a folder that is not read, because its kind is
            unknown or not the requested kind.
        workers: The number of processes that clean wiki text or parse PDFs.
        placement: The device, threads and runtime; the threads decompress, too. Default: every CPU.
        progress: A function that is called with the share of the source that is done, 0 to 1, and the report so far.
        options: The options of ``Segmenter``. ``pic`` with ``summaries_out=True`` also writes its summaries, as a
            second data set in ``_summaries``. If text is removed, by the method or ``columns={"removed": ...}``, the
            removed spans are written to ``_removed``. ``llm=`` is the client of a method that asks an LLM. With
            ``resume`` it may be another client with the same model and parameters. If the client has ``dry_run=True``,
            the run reads everything, the client counts its requests, and nothing is written.

    Raises:
        ValueError: The folder holds another run, or an unfinished run without ``resume``, or an option is wrong. Or, in
            an update, two documents have the same id, or the source has no id of the last run.
        IngestError: The disk is full, or the source changed during the run, or the LLM cannot be asked any more. The
            last happens if a limit is reached, the endpoint is gone or the cache is locked. Complete shards are kept.

    >>> report = ingest("wiki.parquet", "wiki.chunks", resume=True)  # doctest: +SKIP
    """
    begun = time.perf_counter()
    folder = Path(out).resolve() if update else Path(out)
    sources = [os.fspath(each) for each in ([source] if isinstance(source, (str, Path)) else source)]
    sources = named(sources, parameters(hide_parameters))
    if update and dedupe is not None:
        raise ValueError(
            "dedupe= cannot be combined with update=: if the first of several copies changes, documents that did not "
            "change would have to come or go. Leave out one of them"
        )
    _check(sources, folder, limit=limit, sample=sample, shard_bytes=shard_bytes, compression=compression)
    said: dict[str, Any] = {"metadata_columns": list(metadata_columns), **columns_by_role(columns)}
    column = said.pop("text", None)
    options["on_error"] = "skip"
    where = Placement.of(placement)
    opened = open_source(
        sources,
        kind=kind,
        endings=endings,
        column=column,
        ids=ids,
        metadata_columns=metadata_columns,
        needed=columns_of(said | {"metadata_columns": []}),
        encoding=encoding,
        quotes=quotes,
        markup=markup,
        redirects=redirects,
        namespaces=namespaces,
        noise=noise,
        noise_threshold=noise_threshold,
        links=links,
        ocr=ocr,
        hide_parameters=hide_parameters,
        workers=workers,
        threads=where.threads,
        dead_letters=lambda _: None,
    )
    _check_used(
        opened,
        {"columns={'text': ...}": column, "ids=": ids, "markup=": markup},
        {"quotes=": not quotes},
        {"redirects=": redirects, "namespaces=": namespaces != (0,)},
    )
    made = Segmenter(placement=where, **options)
    # A stored column must have one type in all shards, even if the files declare no types.
    opened = replace(opened, written=tuple(name for name in metadata_columns if name not in opened.needed))
    if made.method.wants - said.keys():
        said = wanted_columns(made.method.wants, opened.column_names(), said)
        opened = replace(
            opened, metadata_columns=tuple(columns_of(said)), needed=tuple(columns_of(said | {"metadata_columns": []}))
        )
    if made.llm is not None and made.llm.dry_run:
        return _dry(opened, made, said, limit, None if sample is None else sample_of(opened, sample, seed), folder)
    chosen: dict[str, Any] = {"limit": limit, "sample": sample, "seed": seed, "shard_bytes": shard_bytes}
    chosen |= {"compression": compression, "columns": said}
    chosen |= {"update": True} if update else {}
    if dedupe is not None:
        chosen["dedupe"] = duplicates.share_of(dedupe) or "exact"
    options |= run_facts.of_placement(where)
    with span("pychunk.ingest"):
        report = _written(opened, made, said, folder, options, chosen, resume=resume, strict=strict, progress=progress)
    report.seconds = time.perf_counter() - begun
    record(
        logging.INFO,
        "ingest.end",
        "%(folder)s is complete",
        folder=str(report.folder),
        documents=report.documents,
        bytes=report.text_bytes,
        chunks=report.chunks,
        letters=report.letters,
        shards=report.shards,
        cuts=report.cuts,
        seconds=round(report.seconds, 3),
        stages={name: round(spent, 3) for name, spent in report.stages.items()},
    )
    return report


def _written(
    opened: Source,
    made: Segmenter,
    said: dict[str, Any],
    folder: Path,
    options: dict[str, Any],
    chosen: dict[str, Any],
    *,
    resume: bool,
    strict: bool,
    progress: Progress | None,
) -> Report:
    """Write the shards that the folder lacks for the run with these options, and return the report."""
    types = opened.kept_types() if opened.metadata_columns else {}
    opened = replace(opened, kept=tuple(types.items()))
    nothing = [empty_tables.nothing(made, said, kind, types) for kind in dict.fromkeys(opened.kinds or ["text"])]
    facts = run_facts.of(opened, options, chosen, nothing[0])
    columns = empty_tables.empty_tables(map(empty_tables.tables_of, nothing))
    is_update = "update" in chosen
    if is_update:
        columns[DIGESTS] = SCHEMA.empty_table()
        updates.recover(folder)

    @functools.cache
    def drawn() -> Sample | None:
        return None if chosen["sample"] is None else sample_of(opened, chosen["sample"], chosen["seed"])

    def filled(place: Path, *, resume: bool, update: updates.Update | None = None) -> tuple[Report, Manifest]:
        manifest = _manifest(place, facts, resume)
        report = Report(place, ignored=opened.ignored)
        bad = _damage(report, manifest, resume)
        report.removed = sweep(place, {shard.name for shard in manifest.shards})
        report.did_nothing = manifest.complete and not bad
        if not report.did_nothing:
            flag = "--update (update=True)" if is_update else "--resume (resume=True)"
            output = Output(place, manifest, report, columns, chosen["shard_bytes"], chosen["compression"], flag)
            run = _Run(opened, made, said, output, chosen["limit"], progress)
            run.sample, run.update, run.is_update = drawn(), update, is_update
            run.dedupe = chosen.get("dedupe")
            if update is not None:
                output.first_shard = update.first_shard
            run.finish(bad)
        elif update is not None:
            deque(update.parts(Range()), 0)
        return report, manifest

    def ended(report: Report, manifest: Manifest) -> Report:
        _total(report, manifest)
        if manifest.complete:
            _tell_unread(report, manifest, opened if strict else None)
        return report

    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder):
        before = Manifest.load(folder) if is_update else None
        if before is None or not told(before.facts, facts):
            if is_update:
                remove(updates.beside(folder))
            return ended(*filled(folder, resume=resume or is_update))
        former = _former(folder, before, facts)
        if own := empty_tables_of(former):
            check_types(own[""], columns[""], said["metadata_columns"])
            columns = empty_tables.empty_tables([columns, own])
        update = updates.Update(former, opened, chosen["limit"], drawn())
        place = updates.begun(folder, facts, update.first_shard)
        with Lock(place):
            report, manifest = filled(place, resume=True, update=update)
            update.finish(report, manifest, columns, chosen)
            ended(report, manifest)
            updates.take_place(folder)
        report.folder, report.did_nothing = folder, False
    return report


def _former(folder: Path, manifest: Manifest, now: dict[str, Any]) -> FormerRun:
    """Return the run that an update replaces.

    Raises:
        ValueError: The run has other options or versions, or is damaged.
    """
    if different := updates.differ_in_more_than_files(manifest.facts, now):
        raise ValueError(_of_another_run(folder, different))
    check(folder, manifest.shards, hashes=False)
    return FormerRun(folder, manifest)


def _damage(report: Report, manifest: Manifest, resume: bool) -> list[Shard]:
    """Return the damaged shards, and name them in the report.

    Raises:
        ValueError: There are damaged shards, and ``resume`` is False.
    """
    bad = damage(report.folder, manifest.shards, hashes=resume)
    report.damaged = [f"{shard.name}: {why}" for shard, why in bad]
    if bad and not resume:
        shard, why = bad[0]
        raise ValueError(
            f"{report.folder / shard.name}{':' * why.startswith('its')} {why}; pass --resume (resume=True) to write "
            "the shard again"
        )
    if bad and manifest.updated:
        shard, why = bad[0]
        raise ValueError(
            f"{report.folder / shard.name}{':' * why.startswith('its')} {why}, and a shard of an updated folder cannot "
            "be written again. Restore it from a copy, or ingest into another folder"
        )
    return [shard for shard, _ in bad]


def _check_used(source: Source, of_tables: dict[str, Any], of_csv: dict[str, Any], of_dumps: dict[str, Any]) -> None:
    """Raise an error if an option applies only to kinds of files that the source does not have."""
    tables = [name for name, kind in KINDS.items() if kind.is_table]
    for said, kinds in ((of_tables, tables), (of_csv, ["csv", "tsv"]), (of_dumps, ["mediawiki"])):
        given = [name for name, value in said.items() if value]
        if given and set(source.kinds).isdisjoint(kinds):
            raise ValueError(
                f"do not pass {given[0]}, which changes nothing for {source.kind}; or pass kind=, one of "
                f"{', '.join(kinds)}, if that is the kind of the source"
            )


class _Run:
    """The state that the stages of a run share."""

    def __init__(
        self,
        source: Source,
        made: Segmenter,
        said: dict[str, Any],
        output: Output,
        limit: int | None,
        progress: Progress | None,
    ) -> None:
        self.source, self.made, self.said, self.output = source, made, said, output
        self.limit, self.progress = limit, progress
        self.sample: Sample | None = None
        self.update: updates.Update | None = None
        self.dedupe: str | float | None = None
        self.unique: duplicates.UniqueDocuments | None = None
        self.is_update = False
        self.repeats = DuplicateIds()

    def finish(self, bad: Sequence[Shard]) -> None:
        """Write damaged shards again, then the missing ones. A failed run without any shard leaves no manifest."""
        try:
            self._all(bad)
            self.output.report.repeated = self.repeats.found
        except Exception:
            # There is nothing to resume, and nothing should block a run with other options.
            if not self.output.manifest.shards:
                self.output.manifest.remove(self.output.folder)
            raise

    def _all(self, bad: Sequence[Shard]) -> None:
        manifest = self.output.manifest
        if self.dedupe is not None:
            share = duplicates.share_of(self.dedupe)
            self.unique = duplicates.UniqueDocuments(self.source, share, self.limit, self.sample)
            manifest.duplicates = self.unique.write(self.output.folder)
        dead_letters.cut(self.output.folder, sum(shard.letter_bytes for shard in manifest.shards))
        for shard in bad:
            end = shard.first_batch + shard.batches
            self._range(Range(shard.first_batch, end, shard.first_read, shard.first_document), shard)
        if not manifest.complete:
            last = manifest.shards[-1] if manifest.shards else None
            where = Range()
            if last is not None:
                read, document = last.first_read + last.read, last.first_document + last.documents
                where = Range(last.first_batch + last.batches, None, read, document)
            self._range(where, None)

    def _range(self, where: Range, wanted: Shard | None) -> None:
        if self.unique is not None:
            found = self.unique.parts(where)
        elif self.update is None:
            found = parts(self.source, where, self.limit, self.sample)
            found = updates.digested(found) if self.is_update else found
        else:
            found = self.update.parts(where)
        self.output.begin(where, wanted)
        staged = Pipeline(_ended(found), [self._segmented, self.output.write, self._settled], depth=_DEPTH)
        try:
            for part in staged:
                if part is not None and self.progress is not None:
                    self.progress(part.bytes_read / max(1, self.source.total_bytes), self.output.report)
        finally:
            # After a second Ctrl-C the generator still runs, in a thread that ends with the process, and close() raises
            # ValueError.
            with contextlib.suppress(ValueError):
                found.close()
            self.output.abandon()
            self._count(staged.busy)

    def _segmented(self, part: BatchPart | None) -> tuple[BatchPart | None, Any]:
        if part is None:
            return None, None
        if part.table is None:
            return part, None
        self.repeats.see(part.table.column("id"), part.first)
        if self.is_update and self.repeats.found:
            raise ValueError(f"{self.repeats.found}. An update finds documents by their ids: give each one of its own")
        try:
            with span("pychunk.ingest.batch"):
                chunks = self.made(part.documents(), first_document=part.first, **arguments_of(self.said))
            tables, errors = empty_tables.tables_of(chunks), chunks.errors
            if part.digests is not None:
                failed = [each.row - part.first for each in errors]
                tables[DIGESTS] = digest_table(part.digests, part.table, part.first, failed)
        # Only the client of the LLM reads or writes during this call, so the error comes from it.
        except OSError as error:
            raise self.output.unfinished(error, "Go on") from error
        documents = np.asarray(tables[""].column("document_index"))
        cut = np.count_nonzero(np.diff(documents)) + (len(documents) > 0)
        part = replace(part, blank=len(part.table) - int(cut))
        return part.with_letters(self._noted(errors)).without_table(), tables

    def _noted(self, errors: Sequence[Any]) -> list[DeadLetter]:
        """Return a dead letter for each document that has a part for which the LLM gave no usable answer."""
        notes = [each for each in errors if isinstance(each, PartialRowError)]
        return [DeadLetter(self.source.path, f"document {row}", reason, partial=True) for row, reason in notes]

    def _settled(self, found: tuple[BatchPart | None, Any]) -> BatchPart | None:
        part, closed = found
        self.output.flush()
        if closed is not None:
            last = part is None
            if last:
                self._check_source()
            self.output.settle(closed, last)
        return part

    def _check_source(self) -> None:
        read = self.source.files if self.update is None else self.update.source.files
        try:
            paths: Sequence[str] = self.source.inputs or (self.source.path,)
            if not any(map(scheme_of, paths)):  # To list a folder again would cost an update a tenth of its time.
                paths = [file.path for file in read]
            now = {file.path: file for path in paths for file in find_if_reached(path)}
        except OSError:
            now = {}
        for file in read:
            if now.get(file.path) != file:
                raise IngestError(f"{file.path} changed while it was read. Ingest it again, into another folder")

    def _count(self, busy: list[float]) -> None:
        stages = self.output.report.stages
        reading, segmenting, writing, settling = busy
        put = self.output.sink_seconds
        self.output.sink_seconds = 0.0
        for name, seconds in (
            ("read", reading),
            ("segment", segmenting),
            ("encode", writing - put),
            ("write", put + settling),
        ):
            stages[name] = stages.get(name, 0.0) + seconds


def _dry(
    source: Source, made: Segmenter, said: dict[str, Any], limit: int | None, sample: Sample | None, folder: Path
) -> Report:
    """Read and cut all documents of a run, only to count the requests to the LLM, and return the report."""
    begun, report = time.perf_counter(), Report(folder, ignored=source.ignored)
    for part in parts(source, Range(), limit, sample):
        if part.table is not None:
            made(part.documents(), first_document=part.first, **arguments_of(said))
            report.documents += len(part.table)
            report.text_bytes += part.text_bytes
        report.letters += len(part.letters)
    report.seconds = time.perf_counter() - begun
    return report


def _ended(found: Iterator[BatchPart]) -> Iterator[BatchPart | None]:
    """Yield all parts, then None, which ends the last shard."""
    yield from found
    yield None


def _check(
    sources: Sequence[str | Path],
    folder: Path,
    *,
    limit: int | None,
    sample: int | None,
    shard_bytes: int,
    compression: str,
) -> None:
    for source in sources:
        if str(source) == "-":
            raise ValueError(
                "standard input cannot be read twice, so a run could not be resumed. Write the input to a file first"
            )
        if Path(source).is_dir() and folder.resolve().is_relative_to(Path(source).resolve()):
            raise ValueError(
                f"{folder} is inside {source}, where its shards would be read as documents. Choose another folder"
            )
    for name, value in (("limit", limit), ("sample", sample), ("shard_bytes", shard_bytes)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1; got {value}")
    if compression not in COMPRESSIONS:
        raise ValueError(f"compression must be one of {', '.join(COMPRESSIONS)}; got {compression!r:.80}")


def _manifest(folder: Path, now: dict[str, Any], resume: bool) -> Manifest:
    """Return the manifest of the folder if the run can be continued, else a new one."""
    manifest = Manifest.load(folder)
    if manifest is None:
        others = strangers(folder, {LOCK, NAME, CHANGES, DUPLICATES, *BESIDE, dead_letters.NAME})
        if others:
            raise ValueError(f"{folder} is not empty and holds no run (it contains {others[0]}). Choose another folder")
        manifest = Manifest(now)
        dead_letters.put(folder, 0, b"")
        dead_letters.cut(folder, 0)
        manifest.save(folder)
        return manifest
    if different := told(manifest.facts, now):
        raise ValueError(_of_another_run(folder, different))
    if not manifest.complete and not resume:
        raise ValueError(
            f"{folder} holds an unfinished run of {counted(len(manifest.shards), 'shard')}: go on with --resume "
            "(resume=True), or remove the folder"
        )
    return manifest


def _of_another_run(folder: Path, different: Sequence[str]) -> str:
    more = f"; and {len(different) - 5} more" if len(different) > 5 else ""
    if different == ["update: was not given, is true"]:
        return (
            f"{folder} holds a run that cannot be updated, because its first run had no --update (update=True): choose "
            "another folder, and pass it from the first run on"
        )
    return (
        f"{folder} holds a different run: {'; '.join(different[:5])}{more}. Pass the same sources in the same order "
        "with the same options and versions, or choose another folder"
    )


def _tell_unread(report: Report, manifest: Manifest, source: Source | None) -> None:
    """Write the dead letters of unread files after those of all shards, and remove those of an earlier run."""
    end = sum(shard.letter_bytes for shard in manifest.shards)
    dead_letters.cut(report.folder, end)
    if source is not None and (unread := list(source.unread())):
        dead_letters.put(report.folder, end, dead_letters.encoded(unread))
        report.letters += len(unread)


def _total(report: Report, manifest: Manifest) -> None:
    report.shards = len(manifest.shards)
    report.duplicates = manifest.duplicates or 0
    for shard in manifest.shards:
        report.documents += shard.documents
        report.chunks += shard.chunks
        report.text_bytes += shard.text_bytes
        report.letters += shard.letters
        report.blank += shard.blank
        report.dropped += shard.dropped
        for reason in CUT_REASONS:
            if reason in shard.cuts:
                report.cuts[reason] = report.cuts.get(reason, 0) + shard.cuts[reason]
