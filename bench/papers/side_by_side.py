"""The tables of five papers with pychunk's figures in the next column, from the files in bench/results.

    python bench/papers/side_by_side.py            prints the tables
    python bench/papers/side_by_side.py --mend     writes them to docs/evaluation.md and bench/results/side_by_side.json

A table in the page begins below the mark of its paper. tests/bench/papers/test_bench_side_by_side.py fails if the page
or the file has other figures than the files of ours.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record, results

PAGE = results.DOCS / "evaluation.md"
FILE = results.FILES / "side_by_side.json"
#: The text of a cell without a figure.
MISSING = "not measured"


class Figure(NamedTuple):
    """A figure of a paper, and the place of ours.

    Attributes:
        name: The measure and the row.
        paper: The paper's figure, as text.
        file: The file in bench/results, without its ending; without a file, the command that would measure it.
        table: The table in the file; "" stands for single facts.
        row: The values that choose the row.
        column: The column, as docs/results names it.
        form: The format of our figure.
        over: The values that choose the row by whose figure ours is divided.
    """

    name: str
    paper: str
    file: str
    table: str = ""
    row: Mapping[str, Any] = {}
    column: str = ""
    form: str = ".3f"
    over: Mapping[str, Any] = {}


def _pic() -> Iterator[Figure]:
    names = [
        ("sentences", "sentence", "0.399"),
        ("paragraphs", "paragraph", "0.444"),
        ("100 words", "fixed, 100 words", "0.471"),
        ("`semantic`, percentile 20", "semantic, percentile 20", "0.468"),
        ("PIC", "PIC, extractive", "0.530"),
    ]
    for shown, name, paper in names:
        yield Figure(f"Hits@5, {shown}", paper, "pic_squad", "methods", {"name": name}, "recipe hits@5")
    yield Figure("Hits@5, propositions", "0.560", "python bench/papers/pic_answers.py table4")
    for shown, name, paper in [
        ("another document's summary", "summary of another document", "0.491"),
        ("one sentence", "one sentence", "0.492"),
        ("the mean vector", "mean of the sentences", "0.503"),
    ]:
        row = {"name": name}
        yield Figure(f"Hits@5, PIC by {shown}", paper, "pic_squad", "summaries", row, "recipe hits@5")
    yield Figure("Hits@20, PIC", "0.670", "pic_squad", "methods", {"name": "PIC, extractive"}, "recipe hits@20")
    for column, paper in (("top 5", "0.607"), ("top 20", "0.579"), ("hold the answer", "0.658")):
        found = {"found by": "recipe"}
        yield Figure(f"relevant chunks, {column}", paper, "pic_squad", "relevant chunks", found, column)
    lengths = {"table": "lengths over Wikipedia", "form": ".1f"}
    for shown, name, words, deviation in [
        ("PIC", "PIC, extractive", "42.8", "38.3"),
        ("`semantic`", "semantic, percentile 20", "78.6", "88.9"),
    ]:
        row = {"method": name, "cut by": "static"}
        yield Figure(f"words a chunk, {shown}", words, "pic_squad", row=row, column="words", **lengths)
        yield Figure(f"standard deviation, {shown}", deviation, "pic_squad", row=row, column="std", **lengths)
    yield Figure("exact match, PIC, 5 chunks", "0.394", "python bench/papers/pic_answers.py table2")


def _nsp() -> Iterator[Figure]:
    papers = {
        "sentence": ("0.9371", "0.0547", "0.2994"),
        "cosine": ("0.9829", "0.0340", "0.3198"),
        "nsp": ("0.9834", "0.0344", "0.3211"),
    }
    for at, measure in enumerate(("recall@3", "precision@3", "semantic precision@3")):
        for name, values in papers.items():
            row = {"pool": "paragraph", "method": name}
            yield Figure(f"{measure}, {name}", values[at], "nsp_squad", "rows", row, measure, ".4f")
    nsp, cosine = ({"pool": "paragraph", "method": name} for name in ("nsp", "cosine"))
    yield Figure("time of `nsp` over `cosine`", "0.61", "nsp_squad", "rows", nsp, "chunking seconds", ".2f", cosine)


def _autochunker() -> Iterator[Figure]:
    support = ("tenets", "web pages", [("0.011", "0.276"), ("0.930", "0.154"), ("0.017", "0.236")])
    articles = (
        "tenets, articles that people marked whole",
        "articles",
        [("0.023", "0.298"), ("0.912", "0.185"), ("0.021", "0.251")],
    )
    measures = [
        ("noisy chunks", "noisy chunks"),
        ("complete chunks", "complete"),
        ("chunks with a context switch", "context switch"),
    ]
    for at, (shown, column) in enumerate(measures):
        for table, place, papers in (support, articles):
            for way, paper in zip(("pychunk structure", "pychunk recursive"), papers[at], strict=True):
                name = f"{shown}, {place}" + (", recursive" if "recursive" in way else "")
                yield Figure(name, paper, "tenets", table, {"way": way}, column)
    yield Figure("chunks relevant to the task", "0.929", "python bench/structure/judges.py")
    for k, plain, subtree in ((3, "0.615", "0.668"), (5, "0.549", "0.614")):
        table = f"weighted precision at {k}"
        for method in ("autochunker:paragraph", "structure"):
            for way, paper in (("plain", plain), ("subtree", subtree)):
                shown = f"{table}, `{method.partition(':')[0]}`, {way}"
                yield Figure(shown, paper, "sections", table, {"method": method, "way": way}, table)


def _smartchunk() -> Iterator[Figure]:
    asked = "Questions as asked"
    for shown, name, paper in [
        ("with the planner", "learned", "0.829"),
        ("all levels, without a planner", "sentence to document", "0.773"),
        ("sentences alone", "sentence", "0.517"),
    ]:
        row = {"levels": name}
        yield Figure(f"recall@5 / F1: {shown}", paper, "smartchunk", asked, row, "F1 within 500")
    for shown, name, paper in [
        ("planner / `learned`", "learned", "0.820"),
        ("MLP / bag of words", "bag of words", "0.609"),
    ]:
        yield Figure(f"right plans: {shown}", paper, "smartchunk", asked, {"levels": name}, "right")
    learned = {"planner": "learned", "version": "as asked"}
    yield Figure("ms a plan", "848", "smartchunk", "Planners", learned, "ms a plan", ".1f")
    for shown, name, last, paper in [
        ("STITCH", "stitch", 160, "0.820"),
        ("supervised, then RL", "sft-rl", 200, "0.763"),
        ("supervised", "sft", 40, "0.740"),
        ("RL", "grpo", 160, "0.356"),
    ]:
        table = "mean reward by step"
        yield Figure(f"right plans / mean reward: {shown}", paper, "stitch", table, {"step": last}, name)
    for shown, name, paper in [
        ("compressor", "compressor", "0.829"),
        ("summaries, encoded", "extractive summary, encoded", "0.861"),
        ("text, encoded", "first 128 words, encoded", "0.723"),
    ]:
        row = {"vectors": name}
        yield Figure(f"recall@5 / sections in 5: {shown}", paper, "compressor", "rows", row, "section found in 5")
    yield Figure("accuracy of answers", "0.564", "pychunk eval --answer")


def _unlp() -> Iterator[Figure]:
    columns = ("Accuracy_doc", "Accuracy_page", "Recall@1", "Recall@5")
    for shown, table, paper, row in [
        ("recursive, 1,200 characters", "Table 3: splitters, found by BM25 of 4-grams", "recursive (1200, 0)", ""),
        ("whole pages", "Table 3: splitters, found by BM25 of 4-grams", "full page", ""),
        ("hybrid", "Table 4: retrieval of whole pages", "hybrid", ""),
        ("with contexts", "Table 4: retrieval of whole pages", "dense, augmented", "BM25, augmented"),
        (
            "whole system",
            "Table 2: whole systems",
            "approach A (an LLM call a chunk, BGE reranker)",
            "the same, asked with the six options",
        ),
    ]:
        rows = json.loads((results.FILES / "unlp.json").read_text(encoding="utf-8"))[table]
        theirs = next(each for each in rows if each["row"] == paper and each["found by"] == "the paper")
        own = next(each for each in rows if each["row"] == (row or paper) and each["found by"] != "the paper")
        for column in columns:
            select = {"row": own["row"], "found by": own["found by"]}
            value = f"{results.flat(theirs)[column]:.4f}"
            yield Figure(f"{column}, {shown}", value, "unlp", table, select, column)


PAPERS = {"PIC": _pic, "NSP": _nsp, "AutoChunker": _autochunker, "SmartChunk": _smartchunk, "UNLP": _unlp}


def cells(figure: Figure) -> tuple[str, str]:
    """Return our figure as text, and the command that prints it.

    Raises:
        KeyError: The file has not exactly one such row, or the row has no such column.
    """
    if not figure.table:
        return MISSING, figure.file
    facts = json.loads((results.FILES / f"{figure.file}.json").read_text(encoding="utf-8"))
    value = _value(facts, figure, figure.row)
    if figure.over:
        value /= _value(facts, figure, figure.over)
    script = re.search(r"python \S+", facts["command"])
    return f"{value:{figure.form}}", script[0] if script else facts["command"]


def _value(facts: Mapping[str, Any], figure: Figure, wanted: Mapping[str, Any]) -> float:
    rows = [results.flat(row) for row in facts[figure.table]]
    found = [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
    if len(found) != 1:
        raise KeyError(f"{figure.file}, {figure.table}: {len(found)} rows have {dict(wanted)}")
    value = found[0][figure.column]
    return value["mean"] if isinstance(value, dict) else value


def table(paper: str) -> str:
    """Return the table of a paper in Markdown."""
    lines = ["| figure | the paper | here | command |", "| --- | ---: | ---: | --- |"]
    for figure in PAPERS[paper]():
        own, command = cells(figure)
        lines.append(f"| {figure.name} | {figure.paper} | {own} | `{command}` |")
    return "\n".join(lines)


def rows() -> list[dict[str, str]]:
    """Return the rows of all tables."""
    return [
        {"paper": paper, "figure": each.name, "the paper": each.paper, "here": cells(each)[0], "by": cells(each)[1]}
        for paper, figures in PAPERS.items()
        for each in figures()
    ]


def mark(paper: str) -> str:
    """Return the line of the page above the table of a paper."""
    return f"<!-- table: {paper} -->"


def mended(page: str) -> str:
    """Return the page with the tables that the files give below their marks.

    Raises:
        ValueError: The page does not have exactly one mark of each paper.
    """
    for paper in PAPERS:
        own = re.compile(re.escape(mark(paper)) + r"\n+(\|.*\n)*\n*")
        if len(own.findall(page)) != 1:
            raise ValueError(f"the page must have one line {mark(paper)!r}")
        page = own.sub(lambda _, paper=paper: f"{mark(paper)}\n\n{table(paper)}\n\n", page)
    return page


def main() -> None:
    """Print the tables, or write them to the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mend", action="store_true", help="write the tables to the page and the file")
    if parser.parse_args().mend:
        PAGE.write_text(mended(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        about = (
            "Figures of five papers, and pychunk's from the other files. Corpora, encoders and language models differ. "
            "If a row names two measures, the first is the paper's. The evaluation page says what differs."
        )
        record.save(FILE, "Five papers and pychunk", {"rows": rows()}, about=about)
        return
    for paper in PAPERS:
        print(f"{paper}\n\n{table(paper)}\n")


if __name__ == "__main__":
    main()
