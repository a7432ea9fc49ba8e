"""The command that builds an index, or adds to one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.console import Console

from ..io import KINDS, open_source
from ..retrieval import ingest
from ..retrieval.index import Index
from ..segmenter import Segmenter
from .batches import LeftOut, Shares, counted, progress_bar, rate_of, refuse, segmented
from .errors import readable_errors
from .groups import with_groups
from .options import Cutting, OnError, Reading
from .outputs import check_folder

#: How this command counts, where the user does not say.
_USUAL = {"recursive": {"size": 110, "unit": "words"}, "fixed": {"size": 110, "unit": "words"}}

EPILOG = """Examples:

pychunk index articles.parquet --ids id --keep title -o wiki.idx

pychunk index notes/*.md -o notes.idx --encoder minilm --stemmer english

pychunk index chunks.parquet -o wiki.idx        (chunks of `pychunk segment`, with or without vectors)

pychunk search wiki.idx "Who crossed the Andes?" """


@with_groups
def index(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files, folders, URLs ({', '.join(KINDS)}) or -; or chunks."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="INDEX", help="The index's folder, new or not.")],
    encoder: Annotated[
        str | None,
        typer.Option(help="Whose vectors to hold: static (default), a name of `pychunk model list`, a folder."),
    ] = None,
    vectors: Annotated[str | None, typer.Option(help="Vectors to hold: sentence (default), chunk or both.")] = None,
    kind: Annotated[str | None, typer.Option(help="flat, hnsw, ivfpq or auto (default).")] = None,
    terms: Annotated[str | None, typer.Option(help="What BM25 counts: words (default), ngrams or none.")] = None,
    stemmer: Annotated[str | None, typer.Option(help="Language to stem words in, such as english.")] = None,
    *,
    cutting: Cutting,
    source_kind: Annotated[str, typer.Option(help=f"Of the inputs: {', '.join(KINDS)}, or auto.")] = "auto",
    reading: Reading,
    on_error: OnError = "raise",
) -> None:
    """Cut documents and add them to an index, or add chunks from a file; what is there stays, or is replaced by id.

    The id of a text file is its name as given: adding it again, changed or not, replaces what was there. Methods fixed
    and recursive count in words here, 110 of them, unless told otherwise. Columns that are kept can be filtered by.

    The index is saved once all is added: until then, and if the command is stopped, it is as it was before.
    """
    given = {"encoder": encoder, "vectors": vectors, "kind": kind, "terms": terms, "stemmer": stemmer}
    given = {name: value for name, value in given.items() if value is not None}
    with (
        readable_errors("interrupted; the index is as it was", {"kind": "--source-kind"}),
        _writing(output, given, inputs) as made,
    ):
        begun = time.monotonic()
        errors = Console(stderr=True)
        documents = chunks = size_ = 0
        facts = made.info
        shares = Shares()
        source = _batches(facts, inputs, cutting, source_kind, reading, shares, on_error)
        bar = progress_bar("index", errors)
        with bar:
            task = bar.add_task("", total=1.0, rate="")
            shares.show = lambda share: bar.update(task, completed=share)
            for table, count, bytes_ in source:
                chunks += made.add(table)
                _check_unique(made, table, facts["chunks"])
                documents, size_ = documents + count, size_ + bytes_
                rate = f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}, {rate_of(size_, begun)}"
                bar.update(task, completed=shares.done, rate=rate)
            bar.update(task, rate="saving")
            made.save()
        facts = made.info
        errors.print(
            f"{counted(documents, 'document')}, {counted(chunks, 'chunk')}, {rate_of(size_, begun)}: {output} holds "
            f"{counted(len(made), 'chunk')} in {facts['bytes'] / 1e6:.1f} MB",
            highlight=False,
        )


@contextmanager
def _writing(path: Path, given: dict[str, Any], inputs: list[str]) -> Iterator[Index]:
    """The index, new or not; what is not saved is left out, and nothing said of it: the command says what ended it."""
    check_folder(path, inputs)
    made = _opened(path, given)
    try:
        yield made
    finally:
        made.close(discard=True)


def _opened(path: Path, given: dict[str, Any]) -> Index:
    if (path / "manifest.json").is_file():
        made = Index.open(path)
        facts = made.info
        terms = facts["terms"] or {}
        known = {
            "encoder": facts["encoder"]["name"],
            "vectors": facts["vectors"],
            "kind": facts["kind"],
            "terms": terms.get("unit", "none"),
            "stemmer": terms.get("stemmer"),
        }
        other = [name for name, value in given.items() if value != known[name]]
        if other:
            raise ValueError(
                f"{path} is there already, and what it was made with cannot change: "
                + ", ".join(f"--{name} is {known[name] or 'none'}, not {given[name]}" for name in other)
                + "; leave out the option, or remove the folder to build it anew"
            )
        return made
    if path.is_dir() and any(not each.name.startswith(("lock", "manifest.json.")) for each in path.iterdir()):
        raise ValueError(f"{path} holds other files and no index: name a new folder, such as {path}.idx")
    if path.is_dir() and any(path.iterdir()):
        raise ValueError(f"{path} holds other files: name a folder of the index's own")
    if given.get("terms") == "none":
        given["terms"] = None
    return Index.create(path, **given)


def _check_unique(made: Index, table: pa.Table, saved: int) -> None:
    """That no document took the place of one of the same inputs: of the rows from `saved` on none may be replaced."""
    if "id" not in table.column_names or not made.replaced:
        return
    added = made.table.slice(saved)
    earlier = added.slice(0, added.num_rows - table.num_rows)
    twice = earlier.filter(pc.is_in(earlier["id"], value_set=table["id"].unique().cast(earlier["id"].type)))
    name = twice["id"][0].as_py()
    later = table.filter(pc.equal(table["id"], pa.scalar(name, table["id"].type)))
    raise ValueError(
        f"documents {twice['document'][0]} and {later['document'][0]} have the same id {name!r}: give each document an "
        "id of its own, or add inputs that replace one another in calls of their own"
    )


def _batches(
    facts: dict[str, Any],
    inputs: list[str],
    cutting: Cutting,
    kind: str,
    reading: Reading,
    shares: Shares,
    on_error: str,
) -> Iterator[tuple[pa.Table, int, int]]:
    """(chunk table, documents, bytes of text), cut here from documents or read from files of chunks."""
    encoder, vectors = facts["encoder"]["name"], facts["vectors"]
    if vectors == "both":
        raise ValueError("an index of both vectors takes chunks from Python: see pychunk.Index.add")
    chunk_files = [path for path in inputs if _holds_chunks(path)]
    if chunk_files and len(chunk_files) < len(inputs):
        raise ValueError(f"{chunk_files[0]} holds chunks, and other inputs documents: add them one after the other")
    if chunk_files:
        for path in inputs:
            for table in _whole_documents(path):
                if ingest.fingerprint(table) != facts["encoder"]["fingerprint"]:
                    table = ingest.encode_chunks(table, encoder, vectors=vectors, threads=cutting.threads)
                count = len(table["document"].unique())
                yield table, count, table["text"].nbytes
        return
    options = cutting.options(reading.said, usual=_USUAL)
    made = Segmenter(**options, vector_encoder=encoder, vectors=vectors, threads=cutting.threads, on_error=on_error)
    tell = LeftOut() if on_error == "skip" else refuse
    for out, bytes_ in segmented(made, inputs, kind, reading, shares, tell):
        yield out.table, out.documents, bytes_


def _holds_chunks(path: str) -> bool:
    return path != "-" and set(ingest.REQUIRED) <= set(open_source(path).column_names())


def _whole_documents(path: str) -> Iterator[pa.Table]:
    """Tables of a file of chunks, each document in one: adding part of one would replace the other part."""
    held: pa.Table | None = None
    for table in open_source(path, dead_letters=refuse).tables():
        joined = table if held is None else pa.concat_tables([held, table], promote_options="permissive")
        document = np.asarray(joined["document"].cast(pa.int64()))
        changes = np.flatnonzero(np.diff(document))
        border = int(changes[-1]) + 1 if len(changes) else 0
        if border:
            yield joined.slice(0, border)
        held = joined.slice(border)
    if held is not None and held.num_rows:
        yield held
