"""The command that builds an index, or adds to one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from .._util.durable_files import remove
from .._util.urls import named, parameters
from ..index import chunk_tables
from ..index.add_result import AddResult
from ..index.index import Index
from ..index.lexical.analyzer import Analyzer
from ..index.store.document_digests import Digests
from ..inputs.texts import PartialRowError
from ..io import KINDS, DeadLetter, open_source
from ..io.listing import check_once, has_documents
from ..segmenter import Segmenter
from . import file_cache
from .incremental import Changes
from .llm import LLMOptions, LLMReport, with_llm
from .shared.batches import InputProgress, SkippedDocuments, progress_bar, rate_of, refuse, segmented
from .shared.console import counted, say, sized
from .shared.errors import readable_errors
from .shared.option_groups import given_in, with_groups
from .shared.outputs import check_folder
from .shared.segment_options import ContextOptions, OnError, ReaderOptions, SegmentOptions

#: How this command counts, where the user does not say.
_USUAL = {"recursive": {"size": 110, "unit": "words"}, "fixed": {"size": 110, "unit": "words"}}
#: What an index is made with, apart from how its terms are made.
_OF_VECTORS = ("encoder", "vectors", "kind", "dtype", "terms")
#: Options of cutting that also say how vectors of chunks are made.
_BESIDE_CUTTING = ("--runtime", "--device", "--precision", "--threads")

EPILOG = """Examples:

pychunk index articles.parquet --ids id --keep title -o wiki.idx

pychunk index notes/*.md -o notes.idx --encoder minilm --stemmer english

pychunk index notes -o notes.idx --prune        (again: only what changed, without files that are gone)

pychunk index --verify wiki.idx

pychunk index leaflets -o leaflets.idx --method page --augment head    (found by their documents' heads)

pychunk index articles.parquet -o levels.idx --levels sentence,paragraph,section,document

pychunk index articles.parquet -o levels.idx --levels sentence,section,document --pooling compressor

pychunk index chunks.parquet -o wiki.idx        (chunks of `pychunk segment`, with or without vectors)

pychunk search wiki.idx "Who crossed the Andes?" """


@with_groups
def index(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files, folders, URLs ({', '.join(KINDS)}) or -; or chunks."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="INDEX", help="The index's folder, new or not.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="Whose vectors to hold: static (default), a name of `pychunk model list`, a folder."),
    ] = None,
    vectors: Annotated[str | None, typer.Option(help="Vectors to hold: sentence (default), chunk or both.")] = None,
    kind: Annotated[str | None, typer.Option(help="flat, pq, hnsw or auto (default).")] = None,
    dtype: Annotated[str | None, typer.Option(help="Of vectors: int8 (default), float16 or float32.")] = None,
    terms: Annotated[
        str | None,
        typer.Option(help="Terms of BM25: auto (default: words, and n-grams if not English), words, ngrams or none."),
    ] = None,
    ngram: Annotated[int | None, typer.Option(min=1, help="Characters of an n-gram (default: 4).")] = None,
    stemmer: Annotated[str | None, typer.Option(help="Language to stem words in, such as english.")] = None,
    fold_diacritics: Annotated[
        bool | None, typer.Option(help="Whether words count without their diacritics (default: with them).")
    ] = None,
    cjk_bigrams: Annotated[
        bool | None,
        typer.Option(
            help="Whether unspaced scripts, such as Chinese and Thai, count by pairs of characters (default: yes)."
        ),
    ] = None,
    *,
    cutting: SegmentOptions,
    beside: ContextOptions,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL,...",
            help="Hold documents at these levels, from fine to coarse, such as sentence,paragraph,section,document; "
            "remembered by the index. With pages of HTML: --noise off.",
        ),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            metavar="tokens|compressor|FOLDER",
            help="How levels get their vectors: tokens (default), the mean of their sentences'; compressor, by the "
            "compression encoder, which finds sections and documents better (static encoder, English); or the folder "
            "of one that was trained for the encoder. Remembered by the index.",
        ),
    ] = None,
    source_kind: Annotated[str, typer.Option(help=f"Of the inputs: {', '.join(KINDS)}, or auto.")] = "auto",
    reading: ReaderOptions,
    on_error: OnError = "raise",
    on_duplicate: Annotated[
        str,
        typer.Option(help="Of rows of one id: raise, or merge those that follow each other to one document."),
    ] = "raise",
    prune: Annotated[
        bool, typer.Option("--prune", help="Drop the index's documents that are in none of the inputs.")
    ] = False,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read every file again, also one whose size and times are as they were.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Nothing is added: the inputs are indexes, of which every byte is checked.")
    ] = False,
    asking: LLMOptions,
) -> None:
    """Cut documents and add them to an index, or add chunks from a file; what is there stays, or is replaced by id.

    The id of a text file is its path as given, without ./ before it. Given again, a document whose text and kept
    columns are unchanged is left alone; without --keep the columns are kept that the index has. With other options of
    cutting, or by another version of pychunk, all that is given is cut again. Methods fixed and recursive count in
    words here, 110 of them, unless told otherwise. Columns that are kept can be filtered by.

    With --on-duplicate merge a table of paragraphs, sorted by --ids, is documents: their rows are cut as one text, with
    a blank line between, and keep the first one's columns.

    The index is saved once all is added: until then, and if the command is stopped, it is as it was before.
    """
    wanted = {
        "encoder": encoder,
        "vectors": vectors,
        "kind": kind,
        "dtype": dtype,
        "terms": terms,
        "ngram": ngram,
        "stemmer": stemmer,
        "fold_diacritics": fold_diacritics,
        "cjk_bigrams": cjk_bigrams,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    if levels is not None and vectors is None and not (output and (output / "manifest.json").is_file()):
        given["vectors"] = "chunk"
    if verify:
        others = [f"--{name.replace('_', '-')}" for name in given] + ["--prune"] * prune + ["--rehash"] * rehash
        others += ["--on-duplicate"] * (on_duplicate != "raise") + ["--pooling"] * (pooling is not None)
        groups = (cutting, beside, reading, asking)
        _verify(inputs, output, [*others, *(name for group in groups for name in given_in(group))])
        return
    inputs = reading.named(inputs)
    with (
        readable_errors("interrupted; the index is as it was", {"kind": "--source-kind"}, inputs),
        _asked(asking, cutting, beside, reading) as told,
        _writing(output, given, inputs) as made,
    ):
        if on_duplicate not in ("raise", "merge"):
            raise ValueError(f"--on-duplicate must be raise or merge; got {on_duplicate!r}")
        if prune and reading.limit is not None:
            raise ValueError(
                "--prune drops what is in none of the inputs, of which --limit reads a part: leave out one"
            )
        if made.info["terms"] is None and (beside.augment or (cutting.method or "").startswith("proposition")):
            raise ValueError(
                f"{'--augment' if beside.augment else '--method proposition'} finds chunks by the words of a context, "
                "and an index with --terms none has no words: leave out one of them (of an index that is there, name a "
                "new folder)"
            )
        pooling = _pooling(made, pooling, levels or made.notes.get("levels"))
        hides = _hidden_parameters(made, reading, prune=prune)
        inputs = named(inputs, parameters(hides))
        begun = time.monotonic()
        done, size_ = AddResult(), 0
        changes = Changes(made, prune=prune, merge=on_duplicate == "merge", rehash=rehash)
        tell = ReadErrors(on_error)
        shares = InputProgress()
        source = _batches(
            made.info,
            inputs,
            cutting,
            beside,
            source_kind,
            reading,
            shares,
            on_error,
            changes,
            tell,
            made.notes.get("ids"),
            levels,
            made.notes.get("levels"),
            pooling,
            told,
        )
        if asking.dry_run:
            for _ in source:
                pass
            raise typer.Exit
        if reading.ids is not None:
            made.notes["ids"] = reading.ids
        if hides:
            made.notes["hide_parameters"] = ",".join(hides)
        if levels is not None:
            made.notes["levels"] = levels
        if pooling is not None:
            made.notes["pooling"] = pooling
        bar = progress_bar("index")
        with bar:
            task = bar.add_task("", total=1.0, rate="")
            shares.show = lambda share: bar.update(task, completed=share)
            for table, documents, bytes_ in source:
                done, size_ = done + made.add(table, documents=documents, on_duplicate=on_duplicate), size_ + bytes_
                rate = f"{counted(done.added + done.replaced + changes.kept, 'document')}, {counted(done, 'chunk')}"
                bar.update(task, completed=shares.done, rate=f"{rate}, {rate_of(size_, begun)}")
            lost = tell.count + sum(path not in changes.files for path in tell.files)
            if prune and not lost:
                done += changes.prune(tell.files + tell.noted)
            bar.remove_task(task)  # how long saving takes, and building what is approximate, nobody can tell
            bar.add_task("", total=None, rate=f"saving {counted(len(made), 'chunk')}")
            made.save()
            changes.seen.save(made.changed)
        if prune and lost:
            said = f"nothing was dropped: {counted(lost, 'document')} could not be read, and may be in the index"
            say(said, "yellow")
        rate = f", {rate_of(size_, begun)}" if done else ""
        say(
            f"{counted(done.added, 'document')} added, {changes.kept:,} kept, {done.replaced:,} replaced, "
            f"{done.removed:,} removed; {counted(done, 'chunk')} made{rate}: {output} holds "
            f"{counted(len(made), 'chunk')} in {sized(made.info['bytes'])}"
        )
        if not len(made):
            say("no document has text, and a search will find nothing", "yellow")


def _hidden_parameters(made: Index, reading: ReaderOptions, *, prune: bool) -> list[str]:
    """Parameters that no name in the index has: those that were named as secret now, or ever before."""
    before = frozenset(filter(None, made.notes.get("hide_parameters", "").split(",")))
    new = sorted(parameters(reading.hide_parameter) - before)
    if new and len(made) and not prune:
        said = f"documents that were added before {', '.join(new)} was hidden keep their names: --prune drops them"
        say(said, "yellow")
    return sorted(before.union(new))


def _asked(asking: LLMOptions, cutting: SegmentOptions, beside: ContextOptions, reading: ReaderOptions) -> LLMReport:
    """The model that the method asks, if it asks one; known before the index is made."""
    return LLMReport(asking.client(cutting.options(reading.said, usual=_USUAL, **vars(beside))))


def _verify(paths: list[str], output: Path | None, others: list[str]) -> None:
    """Says of each index that it is whole, or which file of it is damaged; ``others``: options that say how to add."""
    from rich.console import Console
    from rich.text import Text

    with readable_errors("interrupted"):
        if output is not None:
            raise ValueError(f"--verify adds nothing to {output}: name the indexes to check alone, without -o")
        if others:
            raise ValueError(f"--verify adds nothing, and {others[0]} changes nothing beside it: leave out one of them")
        damaged = []
        for path in paths:
            try:
                with Index.open(path, verify=True) as made:
                    size = f"{counted(len(made), 'chunk')} in {sized(made.info['bytes'])}"
                    levels = made.notes.get("levels")
                file_cache.check(Path(path))
                of = f", of levels {levels}" if levels else ""
                Console(highlight=False, soft_wrap=True).print(Text(f"{path} is whole: {size}{of}"))
            except ValueError as error:
                damaged.append(str(error))
        if damaged:
            raise ValueError("\n".join(damaged))


class ReadErrors:
    """Is told of what cannot be read, as ``--on-error`` says.

    Attributes:
        files: those that were left out whole.
        noted: those whose letters are warnings: of unknown names, or whose text was all taken for noise.
        count: documents that were left out of others.
    """

    def __init__(self, on_error: str) -> None:
        self._tell = SkippedDocuments() if on_error == "skip" else refuse
        self.files: list[str] = []
        self.noted: list[str] = []
        self.count = 0

    def __call__(self, letter: DeadLetter) -> None:
        self._tell(letter)
        whole = letter.position == "whole file"
        if whole:
            (self.noted if letter.partial else self.files).append(letter.source)
        else:
            self.count += not letter.partial


@contextmanager
def _writing(path: Path | None, given: dict[str, Any], inputs: list[str]) -> Iterator[Index]:
    """The index, new or not; what is not saved is left out, and nothing said of it: the command says what ended it."""
    if path is None:
        raise ValueError("name the index's folder, new or not: -o INDEX")
    check_folder(path, inputs)
    made, new = _opened(path, given)
    saved = False
    try:
        yield made
        saved = True
    finally:
        made.close(discard=True)
        if new and not saved:  # or else the command, mended, would be refused for the options of an empty index
            remove(path)


def _check_terms(given: dict[str, Any]) -> None:
    """That options of BM25's terms are such, before anything is opened, and that none is said without effect."""
    if given.get("terms") not in (None, "words", "ngrams", "auto", "none"):
        raise ValueError(f"--terms must be one of words, ngrams, auto, none; got {given['terms']!r}")
    if "stemmer" in given:
        Analyzer(stemmer=given["stemmer"])
    terms = given.get("terms")
    idle = [name for name in given if terms == "none" and name not in _OF_VECTORS]
    idle += [name for name in given if terms == "words" and name == "ngram"]
    if idle:
        option = f"--{idle[0].replace('_', '-')}"
        raise ValueError(f"{option} changes nothing with --terms {terms}: leave out one of them")


def _opened(path: Path, given: dict[str, Any]) -> tuple[Index, bool]:
    """(the index, whether it is new)."""
    _check_terms(given)
    if (path / "manifest.json").is_file():
        made = Index.open(path, verify=False)  # checking 490 MB took .3 s of every call
        facts = made.info
        terms = facts["terms"] or {}
        known = {
            "encoder": facts["encoder"]["name"],
            "vectors": facts["vectors"],
            "kind": facts["kind"],
            "dtype": facts["dtype"],
            "terms": terms.get("unit", "none"),
            "ngram": terms.get("ngram"),
            "stemmer": terms.get("stemmer"),
            "fold_diacritics": terms.get("fold_diacritics", False),
            "cjk_bigrams": terms.get("cjk_bigrams", False),
        }
        if given.get("terms") == "auto" and terms.get("version", 4) < 4:
            known["terms"] = "auto"  # an older index keeps its analysis: its default was "words"
        other = [name for name, value in given.items() if value != known[name]]
        if other:
            raise ValueError(
                f"{path} is there already, and what it was made with cannot change: "
                + ", ".join(
                    f"--{name.replace('_', '-')} is {_said(known[name])}, not {_said(given[name])}" for name in other
                )
                + "; leave out the option, or remove the folder to build it anew"
            )
        return made, False
    options = {**given, "terms": None} if given.get("terms") == "none" else given
    try:
        return Index.create(path, **options), True
    except ValueError:
        if not (path / "manifest.json").is_file():
            raise
        return _opened(path, given)  # another process has just made it


def _said(value: Any) -> str:
    """An option's value in the words of a message."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value or "none")


def _batches(
    facts: dict[str, Any],
    inputs: list[str],
    cutting: SegmentOptions,
    beside: ContextOptions,
    kind: str,
    reading: ReaderOptions,
    shares: InputProgress,
    on_error: str,
    changes: Changes,
    tell: ReadErrors,
    ids: str | None,
    levels: str | None,
    levels_before: str | None,
    pooling: str | None,
    told: LLMReport,
) -> Iterator[tuple[pa.Table, Digests | None, int]]:
    """(chunk table, its documents, bytes of text), cut here from documents or read from files of chunks.

    ``levels``: as said now. ``levels_before``: of the documents that the index has, which new ones get where none are
    said: or else they would be replaced by plain chunks, and a search by levels would miss them. ``pooling``: of both.
    """
    encoder, vectors = facts["encoder"]["name"], facts["vectors"]
    if levels is not None and vectors != "chunk":
        raise ValueError(
            "--levels needs an index of chunk vectors, with a score of each level's own; this one is of "
            f"{vectors} vectors: name a new folder, without --vectors"
        )
    if vectors == "both":
        raise ValueError("an index of both vectors takes chunks from Python: see pychunk.Index.add")
    are_tables = kind not in KINDS or KINDS[kind].is_table  # chunks are
    chunk_files = [path for path in inputs if are_tables and _holds_chunks(path)]
    if chunk_files and len(chunk_files) < len(inputs):
        raise ValueError(f"{chunk_files[0]} holds chunks, and other inputs documents: add them one after the other")
    if chunk_files and levels is not None:
        raise ValueError(f"--levels cuts documents, and {chunk_files[0]} holds chunks: leave it out")
    if chunk_files and (idle := [name for name in given_in(cutting) if name not in _BESIDE_CUTTING]):
        raise ValueError(f"{idle[0]} says how to cut documents, and {chunk_files[0]} holds chunks: leave it out")
    if chunk_files:
        check_once((path, open_source(path).files) for path in inputs)
        for path in inputs:
            for table in _whole_documents(path, merge=changes.merge):
                if chunk_tables.fingerprint(table) != facts["encoder"]["fingerprint"]:
                    table = chunk_tables.encode_chunks(table, encoder, vectors=vectors, threads=cutting.threads)
                if beside.augment:
                    from ..augmentation import augment  # here, and what makes levels below, as few runs need it

                    table = augment(table, beside.augment, llm=told.llm)
                changes.see(chunk_tables.keys(table).unique() if "id" in table.column_names else None)
                yield table, None, table["text"].nbytes
        return
    if levels is not None and levels_before not in (None, levels):
        say(f"documents that are not read now keep their levels, {levels_before}", "yellow")
    levels = levels_before if levels is None else levels
    if levels is not None and "group" not in levels.split(","):
        idle = [name for name in given_in(cutting) if name not in (*_BESIDE_CUTTING, "--atoms", "--wrap")]
        if idle:
            raise ValueError(
                f"{idle[0]} changes nothing with --levels {levels}: leave it out, add level group, which is the "
                "method's chunks, or name a new folder for chunks without levels"
            )
    options = cutting.options(reading.said, usual=_USUAL, **vars(beside))
    options |= {"vector_encoder": encoder, "vectors": vectors, "threads": cutting.threads, "on_error": on_error}
    if told.llm is not None:
        options = with_llm(options, told.llm)
    made = Segmenter(**options)
    if levels is not None:
        from ..levels.level_segmenter import NodeSegmenter

        made = NodeSegmenter(levels.split(","), **options, pooling=pooling or "tokens")
    changes.cut_by(made)
    choice: dict[str, Any] = {
        "choose": changes.rows,
        "skip": changes.unread,
        "kept": changes.columns,
        "ids": ids,
        "merge": changes.merge,
        "few": changes.has_documents,
    }
    for out, bytes_ in segmented(made, inputs, kind, reading, shares, tell, **choice):
        lost = [error.row for error in out.errors if not isinstance(error, PartialRowError)]
        tell.count += len(lost)
        told.see(out)
        yield out.table, changes.cut(lost), bytes_


def _pooling(made: Index, given: str | None, levels: str | None) -> str | None:
    """How vectors of levels are made: as said now, or of an index that is there as it has them; None without levels.

    Raises:
        ValueError: said without levels, or otherwise than the vectors of an index that is there are made.
    """
    if levels is None:
        if given is not None:
            raise ValueError("--pooling says how vectors of levels are made: add --levels, or leave it out")
        return None
    known = made.info.get("pooling")
    chosen = given or made.notes.get("pooling") or ("tokens" if known in (None, "tokens") else "compressor")
    if Path(chosen).is_dir():
        chosen = str(Path(chosen).resolve())  # for the next time, from wherever that is
    from ..levels.compressor import compressor_for

    compressor = compressor_for(chosen, made.info["encoder"]["fingerprint"])
    own = "tokens" if compressor is None else compressor.fingerprint
    if known is not None and own != known:
        raise ValueError(
            f"vectors of this index's levels are made by {known}, not by {own}, as --pooling {chosen} says: leave it "
            "out, name the folder of that compressor, or build a new index"
        )
    return chosen


def _holds_chunks(path: str) -> bool:
    if path == "-" or has_documents(path):
        return False
    return set(chunk_tables.REQUIRED) <= set(open_source(path, dead_letters=lambda _: None).column_names())


def _whole_documents(path: str, *, merge: bool) -> Iterator[pa.Table]:
    """Tables of a file of chunks, each document in one: adding part of one would replace the other part.

    With ``merge`` rows of one id that follow each other are one document.
    """
    held: pa.Table | None = None
    for table in open_source(path, dead_letters=refuse).tables():
        joined = table if held is None else pa.concat_tables([held, table], promote_options="permissive")
        if merge and "id" in joined.column_names:
            document = np.asarray(chunk_tables.keys(joined).dictionary_encode().indices)
        else:
            document = np.asarray(joined["document"].cast(pa.int64()))
        changes = np.flatnonzero(np.diff(document))
        border = int(changes[-1]) + 1 if len(changes) else 0
        if border:
            yield joined.slice(0, border)
        held = joined.slice(border)
    if held is not None and held.num_rows:
        yield held
