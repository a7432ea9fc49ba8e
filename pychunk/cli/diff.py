"""The command `diff`, which compares two files of chunks."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._engine.arrow import with_current_names
from .._util.counting import counted
from .._util.reprs import quoted
from .._util.urls import hidden
from ..chunks.differences import CHANGES, NEEDED, Differences, facts_of
from ..chunks.differences import diff as differences
from ..chunks.text_ids import with_text_ids
from ..index.chunk_tables import REQUIRED
from ..index.index import Index
from ..index.search.hits import Hit
from ..io import open_source, writers
from ..io.document_batches import DeadLetter
from ..view.differences_page import page
from .shared.console import say
from .shared.errors import readable_errors
from .shared.outputs import Overwrite, check_output
from .shared.value_types import share_of

EPILOG = """Examples:

pychunk diff chunks.parquet new.parquet

pychunk diff chunks.parquet new.parquet -o changes.parquet

pychunk diff chunks.jsonl new.jsonl --fail-over 5%

pychunk diff chunks.parquet new.parquet -q questions.txt --view changes.html

OLD and NEW are files that `pychunk segment -o` wrote, or folders that `pychunk ingest` wrote. A chunk is kept if its
text_id is in both: the id of its document, its text, and its number among equal texts of the document. It has moved if
its text is at another place in the order of its document, or in another document.

The exit status is 1 if more chunks were added or removed than --fail-over allows, 2 after an error, else 0."""

#: The number of documents that the summary lists.
LISTED = 5
#: The number of hits of a question that are compared.
HITS = 5
_OUTPUT = (
    f"File to write the changes to, chunk by chunk ({', '.join(writers.KNOWN)}), or - for JSON Lines on standard "
    "output; the summary then goes to standard error."
)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="File or folder with the earlier chunks.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="File or folder with the later chunks.")],
    output: Annotated[str | None, typer.Option("-o", "--output", help=_OUTPUT)] = None,
    overwrite: Overwrite = False,
    fail_over: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="End with status 1 if more than this share of NEW was added or of OLD removed, such as 5% or 0.05.",
        ),
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option(
            "-q",
            "--question",
            metavar="TEXT|FILE",
            help=f"Question, or text file with one on each line, whose best {HITS} hits are compared; may be repeated.",
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(metavar="PAGE.html", help="HTML file to write, with the old and the new chunks side by side."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare two files of chunks, and show how many were kept, moved, added and removed.

    If they were made with other options, models or versions, a note names these first. With -q, the command searches
    both files, by the static encoder and BM25, and shows which questions find other chunks.
    """
    with readable_errors("interrupted; nothing was written", inputs=[old, new]):
        questions = _questions(question or [])
        limit = None if fail_over is None else share_of("--fail-over", fail_over, most=1, or_none=True)
        if output == "-" and as_json:
            raise ValueError("--json cannot be combined with -o -, because both write to standard output: name a file")
        _check_outputs(output, view, [old, new], overwrite)
        tables = _chunks(old, whole=bool(questions)), _chunks(new, whole=bool(questions))
        if note := _made_otherwise(*map(facts_of, tables)):
            say(f"note: {note}", "yellow")
        found = differences(*tables)
        hits = _hits(tables, questions) if questions else []
        if output is not None:
            with writers.Writer(output) as writer:
                writer.write(found.table)
        if view is not None:
            page(found, tables, (hidden(old, old), hidden(new, new)), hits).write(view)
        if as_json:
            facts = _facts(found, old, new, limit) | ({"questions": hits} if questions else {})
            typer.echo(json.dumps(facts, indent=1, ensure_ascii=False, default=str))
        else:
            console = Console(stderr=output == "-", highlight=False, width=None if sys.stdout.isatty() else 120)
            _show(found, console)
            _show_hits(hits, console)
        over = limit is not None and found.changed > limit
        if limit is not None and over:
            say(f"{_share(found.changed)} of the chunks changed; --fail-over allows {_share(limit)}", "red")
    if over:
        raise typer.Exit(1)


def _check_outputs(output: str | None, view: str | None, inputs: list[str], overwrite: bool) -> None:
    """Raise an error if a file to write cannot be written, or would replace an input or the other file."""
    if view == "-":
        raise ValueError("--view needs a file, but got - (standard output): name a file")
    if output not in (None, "-"):
        check_output(output, inputs, overwrite=overwrite)
    if view is not None:
        check_output(view, inputs, overwrite=overwrite)
        if output is not None and Path(output).resolve() == Path(view).resolve():
            raise ValueError(f"-o and --view name the same file, {view}: name two files")


def _questions(given: list[str]) -> list[str]:
    """Return the questions that the options name, each a question or a file with one on each line.

    Raises:
        ValueError: A question is blank, or a file has none.
    """
    found: list[str] = []
    for each in given:
        lines = [each]
        if len(each) < 1000 and Path(each).is_file():
            try:
                lines = [line for line in Path(each).read_text(encoding="utf-8").splitlines() if line.strip()]
            except UnicodeDecodeError as error:
                raise ValueError(f"-q takes a text file in UTF-8; got {each} ({error}): save it as UTF-8") from None
        if not "".join(lines).strip():
            raise ValueError(f"-q needs a question, or a text file with one on each line; got {each!r:.200}")
        found += lines
    return found


def _hits(tables: tuple[pa.Table, pa.Table], questions: list[str]) -> list[dict[str, Any]]:
    """Search both tables for each question, and return the hits that only one of them finds.

    Returns:
        For each question: the number of hits that both find, and the hits that only the old or the new table finds.
    """
    both = []
    with tempfile.TemporaryDirectory() as folder:
        for name, table in zip(("old", "new"), tables, strict=True):
            with Index.create(Path(folder) / name, vectors="chunk") as made:
                if table.num_rows:
                    made.add(_plain(table))
                made.save()
                both.append(made.search(questions, HITS))
    found = []
    for question, old, new in zip(questions, *both, strict=True):
        before, after = ({hit.text for hit in hits} for hits in (old, new))
        lost = [_hit(hit) for hit in old if hit.text not in after]
        gained = [_hit(hit) for hit in new if hit.text not in before]
        found.append({"question": question, "kept": len(before & after), "lost": lost, "gained": gained})
    return found


def _plain(table: pa.Table) -> pa.Table:
    """Return a table of chunks or nodes as chunks for an index, which may belong to several documents of one id.

    The index keeps the id as another column, and encodes each text by itself.
    """
    plain = with_text_ids(table).select([*REQUIRED, "text_id"])
    return plain.append_column("document", table["document_id"]) if "document_id" in table.column_names else plain


def _hit(hit: Hit) -> dict[str, Any]:
    own = {"document_id": (hit.metadata or {}).get("document"), "text_id": hit.text_id}
    own |= {"start": hit.start, "end": hit.end, "text": hit.text}
    return {name: value for name, value in own.items() if value is not None}


def _show_hits(hits: list[dict[str, Any]], console: Console) -> None:
    """Print the questions whose hits differ, with the best hit that each table alone finds."""
    if not hits:
        return
    changed = [each for each in hits if each["lost"] or each["gained"]]
    console.print(f"\nquestions whose best {HITS} hits changed: {len(changed)} of {len(hits)}")
    for each in changed:
        console.print(Text(f"  {quoted(each['question'], 90)}: {each['kept']} kept"))
        for sign, name in (("-", "lost"), ("+", "gained")):
            for hit in each[name][:1]:
                more = f" (and {len(each[name]) - 1} more)" if len(each[name]) > 1 else ""
                console.print(Text(f"    {sign} {quoted(hit['text'], 80)}{more}"))


def _chunks(path: str, *, whole: bool) -> pa.Table:
    """Return the columns of a file of chunks, or of a folder of such files, that a comparison needs.

    With ``whole``, all columns are returned, for an index.

    Raises:
        ValueError: A file holds no chunks.
    """
    parts = []
    for stored in open_source(path, dead_letters=_refuse).tables():
        table = with_current_names(stored)
        if not set(NEEDED) <= set(table.column_names):
            raise ValueError(
                f"{path} holds no chunks, because these have the columns {', '.join(NEEDED)}; its columns are "
                f"{', '.join(stored.column_names)[:200]}: name a file that `pychunk segment -o` wrote"
            )
        own = [name for name in (*NEEDED, "document_id", "text_id") if name in table.column_names]
        parts.append(table if whole else table.select(own))
    if not parts:  # A file without rows has no tables.
        return pa.table({name: pa.array([], pa.string() if name == "text" else pa.int64()) for name in NEEDED})
    return pa.concat_tables(parts, promote_options="permissive").replace_schema_metadata(parts[0].schema.metadata)


def _refuse(letter: DeadLetter) -> None:
    raise ValueError(f"{letter.told.rstrip('.')}: name a file that `pychunk segment -o` wrote")


def _made_otherwise(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return a line that names the facts by which two tables were made and that differ, or ""."""
    if bool(one) != bool(other):
        return f"{'NEW' if one else 'OLD'} does not say how its chunks were made"
    names = [name for name in dict.fromkeys([*one, *other]) if one.get(name) != other.get(name)]
    options = [name for name in names if name.startswith("options.")]
    others = [name for name in names if name not in options]
    # Other methods have other options, so their values say nothing more.
    named = [_pair(name, one, other) for name in [*others, *([] if "method" in others else options)]]
    if options and "method" in others:
        named.append(f"options ({', '.join(name.removeprefix('options.') for name in options)})")
    return f"OLD and NEW were made differently: {', '.join(named)}" if named else ""


def _pair(name: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    values = (each.get(name) if each.get(name) not in (None, "") else "nothing" for each in (one, other))
    return f"{name.removeprefix('options.')} ({', then '.join(map(str, values))})"


def _shares(found: Differences) -> tuple[dict[str, int], int, int]:
    """Return the number of chunks for each change, in the old table and in the new one."""
    counts = found.counts
    there = counts["kept"] + counts["moved"]
    return counts, there + counts["removed"], there + counts["added"]


def _documents(found: Differences) -> list[dict[str, Any]]:
    """Return the documents with the most chunks that were added, removed or moved, if documents have ids."""
    if "document_id" not in found.table.column_names:
        return []
    changes = Counter(zip(found.table["document_id"].to_pylist(), found.table["change"].to_pylist(), strict=True))
    changed = Counter[Any]()
    for (name, change), count in changes.items():
        if change != "kept":
            changed[name] += count
    return [
        {"document_id": name, **{change: changes[name, change] for change in CHANGES}}
        for name, _ in changed.most_common(LISTED)
    ]


def _facts(found: Differences, old: str, new: str, limit: float | None) -> dict[str, Any]:
    counts, before, after = _shares(found)
    return {
        "old": {"file": hidden(old, old), "chunks": before},
        "new": {"file": hidden(new, new), "chunks": after},
        "counts": counts,
        "changed": found.changed,
        "fail_over": limit,
        "notes": list(found.notes),
        "documents": _documents(found),
    }


def _show(found: Differences, console: Console) -> None:
    counts, before, after = _shares(found)
    console.print(f"{counted(before, 'chunk')} in OLD, {counted(after, 'chunk')} in NEW")
    table = _columns("", "chunks", "of OLD", "of NEW")
    for change, count in counts.items():
        of_old = "" if change == "added" or not before else _share(count / before)
        of_new = "" if change == "removed" or not after else _share(count / after)
        table.add_row(change, f"{count:,}", of_old, of_new)
    console.print(table)
    if documents := _documents(found):
        table = _columns("most changed documents", *CHANGES)
        for each in documents:
            table.add_row(quoted(str(each["document_id"]), 40), *(f"{each[change]:,}" for change in CHANGES))
        console.print()
        console.print(table)


def _columns(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"
