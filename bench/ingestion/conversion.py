"""Files of Office and other kinds: what pychunk, markitdown and xberg keep of real files, and how long they take.

The files are those of packages' own tests, for example:

    pip download --no-deps --no-binary :all: python-docx python-pptx mammoth odfpy ezodf openpyxl xlrd xlsx2csv pyxlsb
    for each in *.tar.gz; do tar xf $each; done
    python bench/ingestion/conversion.py FOLDER --save bench/results/conversion.json

All readers run in this process, one after the other, without the processes that keep a bad file from the caller. Files
with equal bytes count once. The other readers take part if they are installed:

    pip install "markitdown[docx,pptx,xlsx,xls]" xberg
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import importlib
import io
import re
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.io.kinds import KINDS
from pychunk.io.recognition import ending_of, kind_of
from pychunk.parsing.converters import dispatch

#: The kinds that are compared.
WANTED = ("docx", "pptx", "xlsx", "odt", "notebook", "epub", "rtf")
#: The kinds that a reader has, if it has not all.
READ_BY = {"markitdown": tuple(kind for kind in WANTED if kind not in ("odt", "rtf"))}
_WORD = re.compile(r"\w+")
#: A picture, or the target of a link.
_TARGET = re.compile(r"!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)|<!--.*?-->|<https?:[^>]*>")
_HEADING, _ITEM = re.compile(r"^ {0,3}#{1,6} ", re.MULTILINE), re.compile(r"^\s*(?:[-*+•]|\d+[.)]) ", re.MULTILINE)
#: A row of a table in Markdown, but not the line below its header.
_ROW = re.compile(r"^\s*\|(?![\s:|-]+$).*\|\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """The words, headings, items of lists and rows of tables that a reader finds in a file."""

    words: Counter[str]
    headings: int
    items: int
    rows: int

    @classmethod
    def of_markdown(cls, text: str) -> Found:
        """Return what a text in Markdown has."""
        return cls(
            Counter(_WORD.findall(_TARGET.sub(" ", text).lower())),
            len(_HEADING.findall(text)),
            len(_ITEM.findall(text)),
            len(_ROW.findall(text)),
        )


def by_pychunk(path: Path, kind: str) -> Found:
    """Read a file with pychunk's converter of its kind."""
    made = dispatch.convert(dispatch.request(KINDS[kind].function, path.read_bytes(), ending_of(path.name, kind)))
    blocks = made.blocks
    names = [BLOCK_KINDS[each] for each in blocks.kind.tolist()]
    texts = [made.text[begin:end] for begin, end in zip(blocks.start, blocks.end, strict=True)]
    lines = [line for name, text in zip(names, texts, strict=True) if name == "table" for line in text.split("\n")]
    rows = sum(not re.fullmatch(r"[\s:|-]+", line) for line in lines if line.strip())
    return Found(Counter(_WORD.findall(made.text.lower())), names.count("heading"), names.count("item"), rows)


def readers() -> dict[str, Callable[[Path, str], Found]]:
    """Return the readers that are installed, by name."""
    found: dict[str, Callable[[Path, str], Found]] = {"pychunk": by_pychunk}
    try:
        whole: Any = importlib.import_module("markitdown").MarkItDown()
        found["markitdown"] = lambda path, kind: Found.of_markdown(whole.convert(str(path)).text_content)
    except ImportError:
        print("markitdown is not installed")
    try:
        xberg: Any = importlib.import_module("xberg")
        config = xberg.ExtractionConfig(output_format="markdown", use_cache=False)

        def by_xberg(path: Path, kind: str) -> Found:
            got = asyncio.run(xberg.extract(xberg.ExtractInput(uri=str(path)), config))
            return Found.of_markdown(got.results[0].content)

        found["xberg"] = by_xberg
    except ImportError:
        print("xberg is not installed")
    return found


def library(path: Path, kind: str) -> float | None:
    """Return the seconds that the library behind pychunk's converter takes alone, or None for other kinds."""
    data = path.read_bytes()
    begun = time.perf_counter()
    try:
        if kind == "docx":
            importlib.import_module("mammoth").convert_to_html(io.BytesIO(data))
        elif kind == "pptx":
            for slide in importlib.import_module("pptx").Presentation(io.BytesIO(data)).slides:
                [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
        elif kind == "xlsx":
            book = importlib.import_module("python_calamine").CalamineWorkbook.from_filelike(io.BytesIO(data))
            [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
        else:
            return None
    except Exception:
        return None
    return time.perf_counter() - begun


def measured(paths: Sequence[Path], kind: str) -> list[dict[str, Any]]:
    """Return a row for each reader: files read, the share of words kept, structure, and the milliseconds of a file.

    The words of a file are those that at least two readers find.
    """
    every = {name: read for name, read in readers().items() if kind in READ_BY.get(name, WANTED)}
    found: dict[str, list[Found | None]] = {name: [] for name in every}
    spent: dict[str, list[float]] = {name: [] for name in every}
    alone = [each for path in paths if (each := library(path, kind)) is not None]
    for path in paths:
        for name, read in every.items():
            begun = time.perf_counter()
            try:
                found[name].append(read(path, kind))
            except Exception as error:
                print(f"  {name}: {path.name}: {type(error).__name__}: {str(error)[:100]}")
                found[name].append(None)
            spent[name].append(1000 * (time.perf_counter() - begun))
    words = []
    for each in zip(*found.values(), strict=True):
        agreed: Counter[str] = Counter()
        for one, two in combinations([own.words for own in each if own is not None], 2):
            agreed |= one & two
        words.append(agreed)
    rows = []
    for name, own in found.items():
        kept = sum((got.words & wanted).total() for got, wanted in zip(own, words, strict=True) if got is not None)
        there = [got for got in own if got is not None]
        row: dict[str, Any] = {
            "kind": kind,
            "reader": name,
            "files": len(paths),
            "read": len(there),
            "words kept": kept / max(1, sum(wanted.total() for wanted in words)),
            "headings": sum(got.headings for got in there),
            "items of lists": sum(got.items for got in there),
            "rows of tables": sum(got.rows for got in there),
            "files/s": len(paths) / (sum(spent[name]) / 1000),
            "ms, median": statistics.median(spent[name]),
        }
        row["its library, files/s"] = len(alone) / sum(alone) if name == "pychunk" and alone else None
        rows.append(row)
        print(
            ", ".join(
                f"{key}: {value:.4g}" if isinstance(value, float) else f"{key}: {value}" for key, value in row.items()
            )
        )
    return rows


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of files, with subfolders")
    parser.add_argument("--most", type=int, default=100, metavar="N", help="number of files of a kind (default: 100)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/conversion.json")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    by_kind: dict[str, dict[str, Path]] = {}
    for path in sorted(options.folder.rglob("*")):
        kind = kind_of(path.name) if path.is_file() and path.stat().st_size else None
        if kind in WANTED:
            by_kind.setdefault(kind, {}).setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    rows = []
    for kind in WANTED:
        if kind in by_kind:
            rows += measured(list(by_kind[kind].values())[: options.most], kind)
    if options.save:
        record.save(
            options.save,
            "Files of Office and other kinds",
            {"rows": rows},
            about=(
                "Files of packages' tests, each read by all readers in one process. `words kept`: of the words that at "
                "least two readers find in a file, without targets of links and names of pictures. `headings`, `items "
                "of lists` and `rows of tables`: in the blocks of pychunk, and in the Markdown of the others; more is "
                "not always better. `its library`: mammoth, python-pptx and calamine alone. pychunk also runs them in "
                "a process of its own, which this leaves out."
            ),
            command="python bench/ingestion/conversion.py FOLDER --save bench/results/conversion.json",
            packages=("markitdown", "xberg", "mammoth", "python-pptx", "python-calamine"),
        )


if __name__ == "__main__":
    main()
