"""The command `index`, which builds or updates an index."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from .._engine.arrow import with_current_names
from .._engine.data.columns import current_names
from .._util.counting import counted
from .._util.durable_files import remove
from .._util.urls import named, parameters
from ..encoders import registry
from ..index import chunk_tables
from ..index.add_result import AddResult
from ..index.index import Index
from ..index.lexical.analyzer import Analyzer
from ..index.options import Bm25
from ..index.store.document_digests import Digests
from ..inputs.texts import PartialRowError
from ..io import KINDS, DeadLetter, open_source
from ..io.listing import check_once, has_documents
from ..io.recognition import checked
from ..segmenter import Segmenter
from ..vectors import Vectors
from . import file_cache
from .incremental import Changes
from .index_encoder import with_encoder
from .llm import LLMOptions, LLMReport, with_llm
from .shared.batches import InputProgress, SkippedDocuments, progress_bar, rate_of, refuse, segmented
from .shared.console import say, sized
from .shared.errors import cap_memory, readable_errors
from .shared.option_groups import given_in, with_groups
from .shared.outputs import check_folder
from .shared.segment_options import ContextOptions, OnError, ReaderOptions, SegmentOptions

#: The sizes and units that this command gives methods by default.
_USUAL = {"recursive": {"size": 110, "unit": "words"}, "fixed": {"size": 110, "unit": "words"}}
#: The options of a new index that do not concern its terms.
_OF_VECTORS = ("encoder", "vectors", "kind", "dtype")
#: The options of chunking that also apply to inputs of chunks, when their vectors are computed.
_BESIDE_CUTTING = ("--placement",)

EPILOG = """Examples:

pychunk index articles.parquet --ids id --metadata-columns title -o wiki.idx

pychunk index notes/*.md -o notes.idx --encoder minilm --stemmer english

pychunk index notes -o notes.idx --prune        (again: cuts only what changed, removes deleted files)

pychunk index --verify wiki.idx

pychunk index leaflets -o leaflets.idx --method page --augment head    (with each document's head as context)

pychunk index articles.parquet -o levels.idx --levels sentence,paragraph,section,document

pychunk index articles.parquet -o levels.idx --levels sentence,section,document --pooling compressor

pychunk index chunks.parquet -o wiki.idx        (chunks from `pychunk segment`, with or without vectors)

pychunk search wiki.idx "Who crossed the Andes?" """


@with_groups
def index(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files, folders, URLs ({', '.join(KINDS)}) or -; or files of chunks."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="INDEX", help="Folder of the index, new or existing.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of the vectors: static (default), multilingual, auto (one of these, by the first documents), "
            "a name from `pychunk model list`, or a folder."
        ),
    ] = None,
    vectors: Annotated[str | None, typer.Option(help="Vectors to store: sentence (default), chunk or both.")] = None,
    kind: Annotated[str | None, typer.Option(help="Kind of vector index: flat, pq, hnsw or auto (default).")] = None,
    dtype: Annotated[str | None, typer.Option(help="Type of the vectors: int8 (default), float16 or float32.")] = None,
    terms: Annotated[
        str | None,
        typer.Option(help="Terms of BM25: auto (default; words, plus n-grams if not English), words, ngrams or none."),
    ] = None,
    ngram: Annotated[int | None, typer.Option(min=1, help="Length of an n-gram in characters (default: 4).")] = None,
    stemmer: Annotated[str | None, typer.Option(help="Language of the stemmer, such as english.")] = None,
    fold_diacritics: Annotated[bool | None, typer.Option(help="Ignore diacritics in words, or not (default).")] = None,
    cjk_bigrams: Annotated[
        bool | None,
        typer.Option(
            help="Index scripts without spaces, such as Chinese and Thai, by pairs of characters (default), or not."
        ),
    ] = None,
    *,
    cutting: SegmentOptions,
    beside: ContextOptions,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL,...",
            help="Levels at which to index documents, from fine to coarse, such as "
            "sentence,paragraph,section,document. The index remembers them. Removed text, such as page headers, "
            "is in no node.",
        ),
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(
            metavar="tokens|compressor|FOLDER",
            help="Pooling of sentences' vectors into the vectors of levels. tokens (default) takes their mean. "
            "compressor takes the compression encoder, which finds sections and documents better than the mean (only "
            "with the static encoder, in English). FOLDER is a compressor trained for the encoder. The index remembers "
            "the choice.",
        ),
    ] = None,
    source_kind: Annotated[str, typer.Option(help=f"Kind of the inputs: {', '.join(KINDS)}, or auto.")] = "auto",
    reading: ReaderOptions,
    on_error: OnError = "raise",
    on_duplicate: Annotated[
        str,
        typer.Option(help="Action on rows with the same id: raise, or merge consecutive ones into one document."),
    ] = "raise",
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove from the index the documents that are in none of the inputs.")
    ] = False,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read every file again, even if its size and times are unchanged.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check every byte of the indexes given as inputs, and add nothing."),
    ] = False,
    asking: LLMOptions,
) -> None:
    """Cut documents and add them to an index, or add chunks from a file.

    Documents in the index stay, and new documents replace those with the same id. The id of a text file is its path as
    given, without a leading ./. Run the command again to update an index. It skips documents whose text and kept
    columns are unchanged. It cuts all inputs again if the options of chunking or the version of pychunk changed.

    Without --metadata-columns, documents keep the columns that the index has. Searches can filter by kept columns.
    Methods fixed and recursive make chunks of 110 words here by default.

    With --on-duplicate merge, consecutive rows with the same id are one document, so a table of paragraphs must be
    sorted by --ids. The rows become one text with blank lines between them, and the document keeps the columns of its
    first row.

    The command saves the index once, after all inputs. If it stops before that, the index stays unchanged.
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
        readable_errors("interrupted; the index is unchanged", {"kind": "--source-kind"}, inputs),
        _asked(asking, cutting, beside, reading) as told,
        _writing(output, with_encoder(given, output, inputs, source_kind, reading), inputs) as made,
    ):
        cap_memory(cutting.where)
        if on_duplicate not in ("raise", "merge"):
            raise ValueError(f"--on-duplicate must be raise or merge; got {on_duplicate!r}")
        if prune and reading.limit is not None:
            raise ValueError("--prune cannot be combined with --limit, because it removes documents that were not read")
        if made.info["terms"] is None and (beside.augment or (cutting.method or "").startswith("proposition")):
            raise ValueError(
                f"{'--augment' if beside.augment else '--method proposition'} needs terms, and an index with --terms "
                "none has none; leave out one of them, or name a new folder if the index exists"
            )
        pooling = _pooling(made, pooling, levels or made.user_data.get("levels"))
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
            made.user_data.get("ids"),
            levels,
            made.user_data.get("levels"),
            pooling,
            told,
        )
        if asking.dry_run:
            for _ in source:
                pass
            raise typer.Exit
        if reading.ids is not None:
            made.user_data["ids"] = reading.ids
        if hides:
            made.user_data["hide_parameters"] = ",".join(hides)
        if levels is not None:
            made.user_data["levels"] = levels
        if pooling is not None:
            made.user_data["pooling"] = pooling
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
            bar.remove_task(task)  # the time for saving and for building an approximate index cannot be predicted
            bar.add_task("", total=None, rate=f"saving {counted(len(made), 'chunk')}")
            made.save()
            changes.seen.save(made.diff)
        if prune and lost:
            said = f"nothing was removed, because {counted(lost, 'document')} could not be read and may be in the index"
            say(said, "yellow")
        rate = f", {rate_of(size_, begun)}" if done else ""
        say(
            f"{counted(done.added, 'document')} added, {changes.kept:,} kept, {done.replaced:,} replaced, "
            f"{done.removed:,} removed; {counted(done, 'chunk')} made{rate}: {output} holds "
            f"{counted(len(made), 'chunk')} in {sized(made.info['bytes'])}"
        )
        if not len(made):
            say("no document has text, so a search will find nothing", "yellow")


def _hidden_parameters(made: Index, reading: ReaderOptions, *, prune: bool) -> list[str]:
    """Return the URL parameters that names in the index must not contain, hidden in this or an earlier run."""
    before = frozenset(filter(None, made.user_data.get("hide_parameters", "").split(",")))
    new = sorted(reading.hidden - before)
    if new and len(made) and not prune:
        said = (
            f"documents that were added before {', '.join(new)} was hidden keep their names; remove them with --prune"
        )
        say(said, "yellow")
    return sorted(before.union(new))


def _asked(asking: LLMOptions, cutting: SegmentOptions, beside: ContextOptions, reading: ReaderOptions) -> LLMReport:
    """Return the report on the LLM that the method asks, if any, before the index is made."""
    return LLMReport(asking.client(cutting.options(reading.said, usual=_USUAL, **vars(beside))))


def _verify(paths: list[str], output: Path | None, others: list[str]) -> None:
    """Check each index, and print that it is whole or raise an error that names the damaged files.

    ``others`` holds the options that the user gave and that only apply to adding.
    """
    from rich.console import Console
    from rich.text import Text

    with readable_errors("interrupted"):
        if output is not None:
            raise ValueError(f"--verify adds nothing to {output}; name only the indexes to check, without -o")
        if others:
            raise ValueError(f"--verify cannot be combined with {others[0]}, which applies only to adding")
        damaged = []
        for path in paths:
            try:
                with Index.open(path, verify=True) as made:
                    size = f"{counted(len(made), 'chunk')} in {sized(made.info['bytes'])}"
                    levels, tokenizer = made.user_data.get("levels"), made.info.get("tokenizer")
                file_cache.check(Path(path))
                of = f", levels {levels}" if levels else ""
                of += f", tokens counted by {tokenizer}" if tokenizer else ""
                Console(highlight=False, soft_wrap=True).print(Text(f"{path} is whole: {size}{of}"))
            except ValueError as error:
                damaged.append(str(error))
        if damaged:
            raise ValueError("\n".join(damaged))


class ReadErrors:
    """A handler of dead letters that skips them or raises an error, as ``--on-error`` says.

    Attributes:
        files: The files that were skipped as a whole.
        noted: The files whose dead letters are warnings, for example of unknown names or of text that is all noise.
        count: The number of documents that were skipped within other files.
    """

    def __init__(self, on_error: str) -> None:
        self._tell = SkippedDocuments() if on_error == "skip" else refuse
        self.files: list[str] = []
        self.noted: list[str] = []
        self.count = 0

    def __call__(self, letter: DeadLetter) -> None:
        """Print or raise a dead letter, and record the file or document that was skipped."""
        self._tell(letter)
        whole = letter.position == "whole file"
        if whole:
            (self.noted if letter.partial else self.files).append(letter.source)
        else:
            self.count += not letter.partial


@contextmanager
def _writing(path: Path | None, given: dict[str, Any], inputs: list[str]) -> Iterator[Index]:
    """Yield the index, new or existing, and discard changes that were not saved."""
    if path is None:
        raise ValueError("-o is missing: name the folder of the index, new or existing, with -o INDEX")
    check_folder(path, inputs)
    made, new = _opened(path, given)
    saved = False
    try:
        yield made
        saved = True
    finally:
        made.close(discard=True)
        if new and not saved:  # else a corrected command would fail, because its options differ from the empty index's
            remove(path)


def _check_terms(given: dict[str, Any]) -> None:
    """Check the options of BM25's terms before anything is opened, and raise an error for one without effect."""
    if given.get("terms") not in (None, "words", "ngrams", "auto", "none"):
        raise ValueError(f"--terms must be one of words, ngrams, auto, none; got {given['terms']!r}")
    if "stemmer" in given:
        Analyzer(stemmer=given["stemmer"])
    terms = given.get("terms")
    idle = [name for name in given if terms == "none" and name not in (*_OF_VECTORS, "terms")]
    idle += [name for name in given if terms == "words" and name == "ngram"]
    if idle:
        option = f"--{idle[0].replace('_', '-')}"
        raise ValueError(f"{option} changes nothing with --terms {terms}; leave out one of them")


def _opened(path: Path, given: dict[str, Any]) -> tuple[Index, bool]:
    """Return the index at a path and whether it is new."""
    _check_terms(given)
    if (path / "manifest.json").is_file():
        made = Index.open(path, verify=False)  # checking 490 MB took 0.3 s of every call
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
            known["terms"] = "auto"  # an older index keeps its analyzer, whose default was "words"
        other = [name for name, value in given.items() if value != known[name]]
        if other:
            raise ValueError(
                f"{path} exists already, and the options that it was made with cannot change: "
                + ", ".join(
                    f"--{name.replace('_', '-')} is {_said(known[name])}, not {_said(given[name])}" for name in other
                )
                + "; leave out the option, or remove the folder to build a new index"
            )
        return made, False
    options = {name: value for name, value in given.items() if name in _OF_VECTORS}
    of_terms = {name: value for name, value in given.items() if name not in _OF_VECTORS}
    bm25 = None if given.get("terms") == "none" else Bm25(**of_terms)
    try:
        return Index.create(path, **options, bm25=bm25), True
    except ValueError:
        if not (path / "manifest.json").is_file():
            raise
        return _opened(path, given)  # another process has just made it


def _said(value: Any) -> str:
    """Return an option's value as messages write it."""
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
    """Yield (chunk table, digests of its documents, bytes of text) from documents or from files of chunks.

    ``levels`` is the value of ``--levels``. ``levels_before`` holds the levels of the documents in the index, which new
    documents get by default. Otherwise chunks without levels would replace the documents' chunks, and a search by
    levels would not find them. ``pooling`` applies to both.
    """
    encoder, vectors = facts["encoder"]["name"], facts["vectors"]
    if levels is not None and vectors != "chunk":
        raise ValueError(
            "--levels needs an index with chunk vectors, because only these score each level separately; this "
            f"index has {vectors} vectors: name a new folder, and leave out --vectors"
        )
    if vectors == "both":
        raise ValueError(
            "this index holds both kinds of vectors, and only pychunk.Index.add in Python can add chunks to it: add "
            "them there, or name a new folder"
        )
    are_tables = kind not in KINDS or KINDS[kind].is_table  # files of chunks are tables
    chunk_files = [path for path in inputs if are_tables and _holds_chunks(path, reading)]
    if chunk_files and len(chunk_files) < len(inputs):
        raise ValueError(f"{chunk_files[0]} holds chunks, and other inputs hold documents; add them in separate calls")
    if chunk_files and levels is not None:
        raise ValueError(f"--levels cuts documents, but {chunk_files[0]} holds chunks; leave it out")
    if chunk_files and (idle := [name for name in given_in(cutting) if name not in _BESIDE_CUTTING]):
        raise ValueError(f"{idle[0]} applies to documents, but {chunk_files[0]} holds chunks; leave it out")
    if chunk_files:
        check_once((path, open_source(path).files) for path in inputs)
        for path in inputs:
            for table in _whole_documents(path, merge=changes.merge):
                # The index encodes chunks without vectors, and keeps those of equal texts; it knows no --placement.
                later = cutting.placement is None and chunk_tables.lacks_vectors(table)
                if not later and chunk_tables.fingerprint(table) != facts["encoder"]["fingerprint"]:
                    table = chunk_tables.encode_chunks(table, encoder, vectors=vectors, placement=cutting.where)
                if beside.augment:
                    from ..augmentation import augment  # imported here, as levels below, because few runs need it

                    table = augment(table, beside.augment, llm=told.llm)
                changes.see(chunk_tables.keys(table).unique() if "document_id" in table.column_names else None)
                yield table, None, table["text"].nbytes
        return
    if levels is not None and levels_before not in (None, levels):
        say(f"documents that are not in this run keep their levels, {levels_before}", "yellow")
    levels = levels_before if levels is None else levels
    if levels is not None and "group" not in levels.split(","):
        idle = [
            name for name in given_in(cutting) if name not in (*_BESIDE_CUTTING, "--keep-together", "--unwrap-lines")
        ]
        if idle:
            raise ValueError(
                f"{idle[0]} changes nothing with --levels {levels}: leave it out, add the level group, which holds the "
                "method's chunks, or name a new folder for chunks without levels"
            )
    options = cutting.options(reading.said, usual=_USUAL, **vars(beside))
    options |= {"vectors": Vectors(vectors, encoder, facts.get("late_chunking", False)), "on_error": on_error}
    if told.llm is not None:
        options = with_llm(options, told.llm)
    if encoder == registry.MULTILINGUAL:
        options["encoder"] = encoder  # the static encoder, by whose vectors documents are cut else, knows English
    made = Segmenter(**options)
    if levels is not None:
        from ..levels.level_segmenter import NodeSegmenter

        made = NodeSegmenter(levels.split(","), **options, pooling=pooling or "tokens")
    changes.cut_by(made)
    choice: dict[str, Any] = {"choose": changes.rows, "skip": changes.unread, "kept": changes.columns, "ids": ids}
    choice |= {"merge": changes.merge, "few": changes.has_documents}
    for out, bytes_ in segmented(made, inputs, kind, reading, shares, tell, **choice):
        lost = [error.row for error in out.errors if not isinstance(error, PartialRowError)]
        tell.count += len(lost)
        told.see(out)
        yield out.table, changes.cut(lost), bytes_


def _pooling(made: Index, given: str | None, levels: str | None) -> str | None:
    """Return the pooling of the levels' vectors: the user's choice, else that of the index, or None without levels.

    Raises:
        ValueError: The user chose a pooling without levels, or another pooling than the index has.
    """
    if levels is None:
        if given is not None:
            raise ValueError("--pooling changes nothing without --levels; add --levels, or leave out --pooling")
        return None
    known = made.info.get("pooling")
    chosen = given or made.user_data.get("pooling") or ("tokens" if known in (None, "tokens") else "compressor")
    if Path(chosen).is_dir():
        chosen = str(Path(chosen).resolve())  # absolute, because the next run may start in another folder
    from ..levels.compressor import compressor_for

    compressor = compressor_for(chosen, made.info["encoder"]["fingerprint"])
    own = "tokens" if compressor is None else compressor.fingerprint
    if known is not None and own != known:
        raise ValueError(
            f"this index pools the vectors of its levels by {known}, not by {own} (--pooling {chosen}): leave out "
            "--pooling, name the folder of the index's compressor, or build a new index"
        )
    return chosen


def _holds_chunks(path: str, reading: ReaderOptions) -> bool:
    known = {name: reading.reading[name] for name in ("endings", "ocr") if name in reading.reading}
    if path == "-" or has_documents(path, checked(known.get("endings", {}))):
        return False
    names = open_source(path, dead_letters=lambda _: None, **known).column_names()
    return set(chunk_tables.REQUIRED) <= set(current_names(names))


def _whole_documents(path: str, *, merge: bool) -> Iterator[pa.Table]:
    """Yield the tables of a file of chunks so that no document is divided between two tables.

    Adding one part of a document would replace the other part. With ``merge``, consecutive rows with the same id are
    one document.
    """
    held: pa.Table | None = None
    for table in open_source(path, dead_letters=refuse).tables():
        table = with_current_names(table)
        joined = table if held is None else pa.concat_tables([held, table], promote_options="permissive")
        if merge and "document_id" in joined.column_names:
            document = np.asarray(chunk_tables.keys(joined).dictionary_encode().indices)
        else:
            document = np.asarray(joined["document_index"].cast(pa.int64()))
        changes = np.flatnonzero(np.diff(document))
        border = int(changes[-1]) + 1 if len(changes) else 0
        if border:
            yield joined.slice(0, border)
        held = joined.slice(border)
    if held is not None and held.num_rows:
        yield held
