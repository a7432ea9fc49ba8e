"""The cuts of source code: whether they are between statements, and whether definitions that fit stay whole.

Run `python bench/ingestion/code_borders.py`, or name folders. Without folders it reads Python's standard library, and
the TypeScript, JavaScript, Go, C and C++ that installed packages hold. Statements of Python are those of the module
`ast`, and those of other languages the nodes of tree-sitter.
"""

from __future__ import annotations

import argparse
import ast
import sysconfig
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

import pychunk
from pychunk._engine.data.blocks import Blocks
from pychunk.parsing.converters import code, grammars
from pychunk.parsing.converters.dispatch import ConversionError

VOCABULARY = str(Path(pychunk.__file__).parent / "models" / "vocab.txt")
Span = tuple[int, int]
ENDINGS = (".py", ".ts", ".js", ".go", ".c", ".cc", ".h", ".java", ".rs", ".rb", ".php", ".cs", ".sh", ".sql")
#: The longest files and the longest mean of lines, in bytes. Longer ones are made by programs.
LONGEST, LINE = 1_000_000, 100
#: The nodes between whose parts a cut is between statements.
BODIES = ("block", "body", "_list", "program", "source_file", "translation_unit", "statement", "clause", "preproc_")
BODIES += ("namespace", "case", "definition", "declaration", "_item", "specifier", "linkage", "comment", "class")


def files(folders: list[Path], ending: str, most: int) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the bytes of files, without copies, up to a number of bytes."""
    size, seen = 0, set()
    for folder in folders:
        for file in sorted(folder.rglob(f"*{ending}")):
            if size > most or not file.is_file() or "bad_" in file.name:
                continue
            data = file.read_bytes() if file.stat().st_size <= LONGEST else b""
            if data.strip() and hash(data) not in seen and len(data) < LINE * data.count(b"\n"):
                seen.add(hash(data))
                size += len(data)
                yield str(file), data


def of_python(text: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of characters in which no border of statements is, and those of definitions."""
    lines = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    rows = text.splitlines(keepends=True)

    def at(line: int, column: int) -> int:
        return lines[line - 1] + len(rows[line - 1].encode()[:column].decode())

    closed, definitions = [], []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.stmt, ast.excepthandler)):
            continue
        start, end = at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([start, *(at(each.lineno, each.col_offset) - 1 for each in node.decorator_list)])
            line = text.count("\n", 0, first)
            while line > 0 and rows[line - 1].lstrip().startswith("#"):
                line -= 1
            first = min(first, lines[line] + len(rows[line]) - len(rows[line].lstrip()))
            definitions.append((first, end))
            start = first
        body = getattr(node, "body", None)
        if isinstance(body, list):
            header = rows[node.lineno - 1 : body[0].lineno - 1]  # comments below a header are not part of it
            while len(header) > 1 and not header[-1].split("#")[0].strip():
                header.pop()
            end = at(node.lineno, 0) + len("".join(header).rstrip())
        closed.append((start, end))
    return closed, definitions


def first_of(node: Any) -> int:
    """Return the first byte of a definition with what introduces it: comments on the lines above, and its wrapper."""
    while node.parent is not None and node.parent.type in grammars.WRAPPERS:
        node = node.parent
    first, before = node, node.prev_sibling
    while before is not None and before.type in grammars.LEADING:
        above = before.prev_sibling
        if first.start_point[0] - before.end_point[0] > 1 or (above and above.end_point[0] == before.start_point[0]):
            break
        first, before = before, before.prev_sibling
    return int(first.start_byte)


def of_nodes(source: bytes, ending: str) -> tuple[list[Span], list[Span]]:
    """Return the spans of bytes of statements without statements inside them, and those of definitions."""
    parser = grammars.parser_of(ending)
    assert parser is not None
    closed, definitions = [], []
    waiting = [parser.parse(source).root_node]
    while waiting:
        node = waiting.pop()
        if node.type in grammars.DEFINITIONS and node.child_by_field_name("body") is not None:
            definitions.append((first_of(node), node.end_byte))
        inner = [each for each in node.named_children if any(name in each.type for name in ("block", "body", "_list"))]
        if node.parent is None or (any(name in node.type for name in BODIES) and (inner or "_list" in node.type)):
            waiting += node.named_children
            continue
        if any(name in node.type for name in BODIES):
            kinds = [each.type for each in node.named_children]
            if any(kind.endswith(("statement", "declaration", "definition", "_case")) for kind in kinds):
                waiting += node.named_children
                continue
        start = node.start_byte
        for body in bodies(node):  # of functions that are values
            closed.append((start, body.start_byte))
            waiting += body.named_children
            start = body.end_byte
        closed.append((start, node.end_byte))
    return closed, definitions


def bodies(node: Any) -> Iterator[Any]:
    """Yield the bodies of the functions inside an expression, in order, but not those inside of others."""
    waiting = [*reversed(node.named_children)]
    while waiting:
        child = waiting.pop()
        if child.type in ("block", "statement_block"):
            yield child
        else:
            waiting += reversed(child.named_children)


def inside(at: int, spans: list[Span], starts: list[int]) -> Span | None:
    """Return the span that a position is inside, of spans that do not overlap; None if there is none."""
    found = bisect_left(starts, at) - 1
    return spans[found] if found >= 0 and spans[found][0] < at < spans[found][1] else None


def tokens(texts: list[str]) -> list[int]:
    return pychunk.count_tokens(texts, VOCABULARY).to_pylist()


def measure(name: str, found: list[tuple[str, bytes]], ending: str, size: int) -> str:
    """Return the row of a language."""
    grammars.parser_of(ending)  # loaded before the clock starts
    begun = time.process_time()
    read = []
    for _, data in found:
        try:
            read.append((data, code.convert(data, ending)))
        except ConversionError:
            continue
    seconds = time.process_time() - begun
    read = [(data, each) for data, each in read if each.text.strip()]
    blocks = [each.blocks for _, each in read]
    joined = Blocks(
        np.cumsum([0, *(len(each.kind) for each in blocks)]),
        *(np.concatenate([getattr(each, column) for each in blocks]) for column in ("kind", "level", "start", "end")),
    )
    table = pychunk.segment([each.text for _, each in read], "structure", size=size, columns={"blocks": joined}).table
    documents, starts, ends = (table[column].to_numpy() for column in ("document_index", "start", "end"))
    borders = good = long = fitting = whole = outer = outer_whole = covered = characters = 0
    for at, (_, each) in enumerate(read):
        text = each.text
        own = slice(np.searchsorted(documents, at), np.searchsorted(documents, at + 1))
        cuts = starts[own].tolist()
        covered += sum(len("".join(text[a:b].split())) for a, b in zip(cuts, ends[own].tolist()))
        characters += len("".join(text.split()))
        try:
            if ending == ".py":
                closed, definitions = of_python(text)
            else:
                places = np.cumsum([0, *(len(c.encode()) for c in text)]).tolist() if not text.isascii() else None
                closed, definitions = of_nodes(text.encode(), ending)
                if places:
                    closed, definitions = (
                        [(bisect_right(places, a) - 1, bisect_right(places, b) - 1) for a, b in spans]
                        for spans in (closed, definitions)
                    )
        except (SyntaxError, ValueError):
            continue
        closed.sort()
        firsts = [a for a, _ in closed]
        borders += len(cuts) - 1
        split = [span for cut in cuts[1:] if (span := inside(cut, closed, firsts)) is not None]
        good += len(cuts) - 1 - len(split)
        long += sum(each > size for each in tokens([text[a:b] for a, b in split]))
        lengths = tokens([text[a:b] for a, b in definitions])
        spans = sorted(definitions)
        for (a, b), length in zip(definitions, lengths):
            if length > size:
                continue
            cut = bisect_right(cuts, a) != bisect_left(cuts, b)
            after = bisect_right(spans, (a, b))
            if after < len(spans) and spans[after][0] < b:  # another definition is inside
                outer, outer_whole = outer + 1, outer_whole + (not cut)
            else:
                fitting, whole = fitting + 1, whole + (not cut)
    total = sum(len(data) for _, data in found) / 1e6

    def share(part: int, of: int) -> str:
        return f"{100 * part / of:.1f} % of {of:,}" if of else "none"

    return (
        f"| {name} | {len(found):,} | {total:.1f} | {share(good, borders)} | "
        f"{share(good, borders - long)} | {share(whole, fitting)} | "
        f"{share(outer_whole, outer)} | {100 * covered / max(1, characters):.2f} % | {total / seconds:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--size", type=int, nargs="+", default=[200, 500], help="The most tokens of a chunk.")
    parser.add_argument("--megabytes", type=float, default=10, help="The most megabytes of a language.")
    asked = parser.parse_args()
    paths = sysconfig.get_paths()
    packages = asked.folders or [Path(paths["purelib"]), Path("/usr/include"), Path("/usr/share")]
    places = {".py": asked.folders or [Path(paths["stdlib"])]}
    for size in asked.size:
        print(f"chunks of up to {size} tokens\n")
        print(
            "| language | files | MB | borders between statements | without statements longer than a chunk "
            "| definitions whole | with others inside | text | MB/s |"
        )
        print("| --- |" + " ---: |" * 8)
        for ending in ENDINGS:
            found = list(files(places.get(ending, packages), ending, int(asked.megabytes * 1e6)))
            if ending == ".py" and not asked.folders:
                found = [(name, data) for name, data in found if "site-packages" not in name]
            if found:
                print(measure(ending, found, ending, size), flush=True)
        print()


if __name__ == "__main__":
    main()
