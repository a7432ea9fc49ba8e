"""The text of PDF manuals: paragraph boundaries inside sentences, chunks that begin there, and words without spaces."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path

import pychunk
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.pdf.paged_text import Paged
from pychunk.parsing.pdf.pdf_document import read_pdf

_WORD = re.compile(r"[^\W\d_]+")
_PROSE = frozenset(("paragraph", "item"))


def rows(path: Path) -> dict[str, int]:
    """Return the counts of one PDF, which may be packed by gzip.

    ``torn`` counts boundaries of paragraphs without a stop before a small letter. ``inside`` counts chunks of method
    structure that begin with a small letter while the text before ends with a letter or a comma. ``together`` counts
    words that poppler's pdftotext, if it is installed, has as two neighbours, and nowhere as one.
    """
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    pdf = read_pdf(data)
    kept = _kept(pdf)
    chunks = pychunk.segment(
        [pdf.text],
        "structure",
        columns={
            "page_starts": [pdf.page_starts.tolist()],
            "blocks": pdf.blocks,
            "removed": [[tuple(span) for span in pdf.removed]],
        },
    )
    words = [word for start, end, _ in kept for word in _WORD.findall(pdf.text[start:end])]
    starts = [start for start, _, _ in kept]
    inside = 0
    for chunk in chunks:
        before = _before(pdf.text, kept, starts, chunk.start)
        inside += pdf.text[chunk.start : chunk.start + 1].islower() and (before.isalpha() or before == ",")
    torn = 0
    for (_, end, kind), (start, _, after) in pairwise(kept):
        last = pdf.text[end - 1]
        torn += {kind, after} <= _PROSE and pdf.text[start].islower() and (last.isalpha() or last in ",-")
    return {
        "blocks": len(kept),
        "torn": torn,
        "chunks": len(chunks),
        "inside": inside,
        "words": len(words),
        "together": _together(data, words),
    }


def _kept(pdf: Paged) -> list[tuple[int, int, str]]:
    """Return the kept blocks as (start, end, kind)."""
    gone = {span.start for span in pdf.removed}
    blocks = zip(pdf.blocks.start.tolist(), pdf.blocks.end.tolist(), pdf.blocks.kind.tolist(), strict=True)
    return [(start, end, BLOCK_KINDS[kind]) for start, end, kind in blocks if start not in gone and start < end]


def _before(text: str, kept: list[tuple[int, int, str]], starts: list[int], at: int) -> str:
    """Return the last character before a position that is neither white space nor removed."""
    number = bisect_right(starts, at) - 1
    if number < 0:
        return ""
    before = text[kept[number][0] : at].rstrip()
    if not before and number:
        before = text[kept[number - 1][0] : kept[number - 1][1]].rstrip()
    return before[-1:]


def _together(data: bytes, words: list[str]) -> int:
    program = shutil.which("pdftotext")
    if program is None:
        return 0
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([program, file.name, "-"], capture_output=True, check=True, timeout=600)
    theirs = _WORD.findall(done.stdout.decode("utf-8", "replace"))
    known = set(theirs)
    pairs = {first + second for first, second in pairwise(theirs)} - known
    return sum(word in pairs for word in words)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(Path(name).name, rows(Path(name)))
