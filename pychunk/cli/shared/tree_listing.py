"""A listing of chunks on the terminal as the tree of their headings, with what was left out."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...chunks.batch import Chunk, ChunkBatch
from .console import counted
from .score_listing import header

#: Blanks for each step down the tree; deeper steps than these are not seen.
STEP, DEEPEST = 2, 12


def has_tree(out: ChunkBatch) -> bool:
    return "depth" in out.table.column_names


def print_tree(console: Console, out: ChunkBatch) -> None:
    """Prints the documents of a batch: each chunk below its parent, its path where that is another than before."""
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
    """Prints what was left out of each document, by reason: how many spans, and their share of all characters."""
    if out.removed is None or not len(out.removed):
        return
    spans: dict[int, Counter[str]] = {}
    sizes: dict[int, Counter[str]] = {}
    names = out.removed["id" if "id" in out.removed.column_names else "document"].to_pylist()
    known: dict[int, object] = {}
    for name, row in zip(names, out.removed.to_pylist(), strict=True):
        reason = row["reason"] or "left out"
        known[row["document"]] = name
        spans.setdefault(row["document"], Counter())[reason] += 1
        sizes.setdefault(row["document"], Counter())[reason] += row["end"] - row["start"]
    held = Counter[int]()
    for document, start, end in zip(
        *(out.table[name].to_pylist() for name in ("document", "start", "end")), strict=True
    ):
        held[document] += end - start
    for document, found in sizes.items():
        total = held[document] + sum(found.values())
        told = [
            f"{reason} {counted(spans[document][reason], 'span')}, {size:,} characters ({size / total:.0%})"
            for reason, size in found.most_common()
        ]
        console.print(Text(f"document {known[document]}, left out: {'; '.join(told)}", style="red"))
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
    """Indented; on a terminal the lines that are too long are, too."""
    blanks = STEP * min(chunk.depth or 0, DEEPEST)
    if console.soft_wrap:
        console.print(Text("\n").join(Text(" " * blanks) + line for line in text.split("\n", allow_blank=True)))
    else:
        console.print(Padding(text, (0, 0, 0, blanks), expand=False))
