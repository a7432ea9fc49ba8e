"""PDFs to text with blocks: words compared with their text files, and time compared with PDFium alone."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from statistics import median

import pypdfium2

import pychunk
from pychunk.io import open_source
from pychunk.parsing.pdf.pdf_document import read_pdf

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record

_MARK = re.compile(r"===== Page \d+ =====\n?")
ABOUT = (
    '"Words F1" compares the multiset of words of each page, including those of removed spans, with the multiset of '
    'words in the page\'s text file. "Pages/s a core" counts pages for each second of CPU time on one core, the median '
    'of rounds in which the rows take turns. "Seconds, loaded and segmented" is the elapsed time from listing the '
    "files to the table of chunks, including the start of the processes that parse."
)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def f1(one: str, other: str) -> float:
    mine, theirs = words(one), words(other)
    return 2 * (mine & theirs).total() / max(1, mine.total() + theirs.total())


def pages_of(file: Path) -> list[str]:
    """Return our text of each page. A paragraph may cross pages, so that form feeds do not separate all of them."""
    pdf = read_pdf(file)
    starts = pdf.page_starts.tolist()
    return [pdf.text[begin:end] for begin, end in pairwise([*starts, len(pdf.text)])]


def bare(file: Path) -> list[str]:
    """Return PDFium's own text of each page."""
    document = pypdfium2.PdfDocument(file)
    return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def loaded(folder: Path) -> float:
    """Return the seconds to read a folder and cut its documents by their blocks."""
    begun = time.perf_counter()
    for batch in open_source(folder, kind="pdf"):
        pychunk.segment(
            batch.table,
            "structure",
            columns={"text": "text", "blocks": "blocks", "removed": "removed"},
            ids="id",
            metadata_columns=("title",),
        )
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="default: unlp2026 in PYCHUNK_DATA")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=2, help="CPUs that may be used")
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder or Path(os.environ["PYCHUNK_DATA"]) / "unlp2026"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-arguments.cpus :])
    files = sorted(folder.rglob("*.pdf"))
    texts = {file.stem: file for file in folder.rglob("*.txt")}
    ours, plain, equal = [], [], 0
    for file in files:
        gold = _MARK.split(texts[file.stem].read_text(encoding="utf-8"))[:-1]
        pages, theirs = pages_of(file), bare(file)
        equal += len(pages) == len(gold)
        ours += [f1(one, other) for one, other in zip(pages, gold)]
        plain += [f1(one, other) for one, other in zip(theirs, gold)]
    seconds: dict[str, list[float]] = {"pychunk": [], "PDFium alone": []}
    clock = []
    for _ in range(arguments.rounds):
        for name, run in ("PDFium alone", bare), ("pychunk", read_pdf):
            begun = time.process_time()
            for file in files:
                run(file)
            seconds[name].append(time.process_time() - begun)
        clock.append(loaded(folder))
    rows = [
        {"row": name, "words F1": sum(found) / len(found), "pages/s a core": len(ours) / median(seconds[name])}
        for name, found in (("pychunk", ours), ("PDFium alone", plain))
    ]
    for row in rows:
        print(f"{row['row']:>14}: F1 {row['words F1']:.4f}, {row['pages/s a core']:6.0f} pages/s a core")
    print(
        f"{len(files)} files, {equal} of them with the right number of pages; {len(ours)} pages loaded and segmented "
        f"on {arguments.cpus} CPUs in {median(clock):.2f} s (median of {len(clock)})"
    )
    if arguments.save:
        figures = {
            "files": len(files),
            "files with the right number of pages": equal,
            "pages": len(ours),
            "CPUs": arguments.cpus,
            "seconds, loaded and segmented": median(clock),
            "rows": rows,
        }
        record.save(arguments.save, "PDF to text with blocks", figures, about=ABOUT, packages=["pypdfium2"])


if __name__ == "__main__":
    main()
