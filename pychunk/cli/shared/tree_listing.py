"""The listing of chunks on the terminal as a tree of their headings, with the removed spans."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..._util.counting import counted
from ...chunks.batch import Chunk, ChunkBatch
from .score_listing import header

#: The spaces by which each level of the tree is indented, and the level from which on the indentation stays the same.
STEP, DEEPEST = 2, 12


def has_tree(out: ChunkBatch) -> bool:
    """Return whether the table has the columns of a tree of headings."""
    return "depth" in out.table.column_names


def print_tree(console: Console, out: ChunkBatch) -> None:
    """Print the documents of a batch as trees, with each chunk below its parent and each heading path once."""
    for chunks in out.by_document():
        path: list[str] = []
        for chunk in chunks:
            if chunk.path and chunk.path != path:
                _print(console, Text(" › ".join(chunk.path), style="bold yellow"), chunk)
            path = chunk.path or []
            _print(console, _facts(chunk), chunk)
            if chunk.header is not None:
                _print(console, Text(chunk.header, style="dim"), chunk)
            _print(console, Text(chunk.text), chunk)
            console.print()


def print_removed(console: Console, out: ChunkBatch) -> None:
    """Print the removed spans of each document by reason, with their number and their share of all characters."""
    if out.removed is None or not len(out.removed):
        return
    spans: dict[int, Counter[str]] = {}
    sizes: dict[int, Counter[str]] = {}
    names = out.removed["document_id" if "document_id" in out.removed.column_names else "document_index"].to_pylist()
    known: dict[int, object] = {}
    for name, row in zip(names, out.removed.to_pylist(), strict=True):
        reason = row["reason"] or "removed"
        known[row["document_index"]] = name
        spans.setdefault(row["document_index"], Counter())[reason] += 1
        sizes.setdefault(row["document_index"], Counter())[reason] += row["end"] - row["start"]
    held = Counter[int]()
    for document, start, end in zip(
        *(out.table[name].to_pylist() for name in ("document_index", "start", "end")), strict=True
    ):
        held[document] += end - start
    for document, found in sizes.items():
        total = held[document] + sum(found.values())
        told = [
            f"{reason} {counted(spans[document][reason], 'span')}, {size:,} characters ({size / total:.0%})"
            for reason, size in found.most_common()
        ]
        console.print(Text(f"document {known[document]}, removed: {'; '.join(told)}", style="red"))
        console.print()


def _facts(chunk: Chunk) -> Text:
    line = header(chunk)
    if chunk.page is not None:
        pages = f"page {chunk.page}" if chunk.page == chunk.page_end else f"pages {chunk.page} to {chunk.page_end}"
        line.append(f"  {pages}", style="dim")
    if (chunk.parts or 1) > 1:
        line.append(f"  part {chunk.part} of {chunk.parts}", style="magenta")
    return line


def _print(console: Console, text: Text, chunk: Chunk) -> None:
    """Print a text with the chunk's indentation, which on a terminal also applies to wrapped lines."""
    blanks = STEP * min(chunk.depth or 0, DEEPEST)
    if console.soft_wrap:
        console.print(Text("\n").join(Text(" " * blanks) + line for line in text.split("\n", allow_blank=True)))
    else:
        console.print(Padding(text, (0, 0, 0, blanks), expand=False))
