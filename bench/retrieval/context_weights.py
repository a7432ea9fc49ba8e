"""The weight of a context in the vectors of its chunk, chosen and confirmed on three sets of questions.

Sections are those of Wikipedia in bench/structure/section_hits.py: a question is the title of an article and a heading,
and the answer is the section under it. The text has a mark in place of each heading. The context `path` holds the
heading, so it names what the question asks for, and its figures are the best that contexts can do. SQuAD v2 dev and the
chunking-evaluation questions ask for a fact in the text. They show what contexts cost if questions do not need them.

The weight is the highest at which dense search gets no lower on either of the two latter sets, for any source of
contexts, by strict hits@5 on SQuAD and recall@5 on chunking evaluation. Articles of the validation split show what the
weight brings, and those of the test split, which chose nothing, confirm it. A hybrid search counts contexts twice, in
BM25 and in vectors, so it is compared with contexts in BM25 alone, too. All differences are paired, with 95 %
intervals.

    python bench/retrieval/context_weights.py --save bench/results/context_weights.json

`--articles N` measures only the weight of pychunk by dense search, on the sections of the first N test articles.
"""

from __future__ import annotations

import argparse
import bisect
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pychunk
from pychunk.augmentation import augment
from pychunk.defaults import CONTEXTS
from pychunk.evaluation import datasets, runner, systems
from pychunk.evaluation.datasets import lines_with_headings
from pychunk.evaluation.measures import intervals
from pychunk.evaluation.retrieval_setups import Strategy
from pychunk.index import index as module
from pychunk.training.corpus import part_of
from pychunk.training.section_questions import section_questions

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.structure.section_hits import BATCH, HITS, WORDS, handed_over, precisions, recall

WEIGHTS = (0.1, 0.2, 0.3, 0.5, 0.8)
#: The measures of the sets of the evaluation, and the contexts that are measured there.
SHOWN = {
    "SQuAD": ("strict hits@1", "strict hits@5"),
    "chunking evaluation": ("recall@5", "IoU@5"),
}
SOURCES = ("head", "neighbours", "summary")
Values = dict[str, np.ndarray]
Measured = Callable[[str | None, float], Values]


@contextmanager
def weighed(weight: float) -> Iterator[None]:
    """Give this weight to contexts in indexes that are created meanwhile."""
    before = module.CONTEXTS
    module.CONTEXTS = replace(before, weight=weight)
    try:
        yield
    finally:
        module.CONTEXTS = before


def sections(data: Path, split: str, questions: int, mode: str, articles: int | None = None) -> Measured:
    """Return a function of (context, weight) that measures a search for the questions about sections.

    ``articles`` is the number of articles, the first of the split; None means all.
    """
    table = pq.read_table(data / "wiki" / "articles.parquet", columns=["id", "title", "text"])
    rows = [row for row in table.to_pylist() if part_of(str(row["id"])) == split and row["text"]][:articles]
    asked = section_questions([row["title"] for row in rows], [row["text"] for row in rows], questions)
    print(f"sections: {len(asked.questions):,} questions about {len(rows):,} articles, split {split}", flush=True)
    plain = pychunk.segment(asked.documents, "structure", columns={"blocks": asked.blocks}, vectors="sentence").table
    made = {None: plain, "head": augment(plain, "head")}
    made["path"] = plain.append_column("context", pa.array(_paths(plain, [row["text"] for row in rows])))

    def measured(context: str | None, weight: float) -> Values:
        found: dict[str, list[float]] = {name: [] for name in ("recall", "first hit", "precision at 5")}
        with tempfile.TemporaryDirectory() as folder, weighed(weight):
            index = pychunk.Index.create(Path(folder) / "index", bm25=None if mode == "dense" else "auto")
            index.add(made[context])
            for first in range(0, len(asked.questions), BATCH):
                own = asked.questions[first : first + BATCH]
                lists = index.search([each.text for each in own], k=HITS, mode=mode)
                for question, hits in zip(own, lists, strict=True):
                    best = hits[0]
                    inside = best.document_index == question.document and question.start <= best.start < question.end
                    found["recall"].append(recall(question, handed_over(hits, WORDS)))
                    found["first hit"].append(float(inside))
                    found["precision at 5"].append(precisions(question, hits)[1])
            index.close(discard=True)
        return {name: np.array(values) for name, values in found.items()}

    return measured


def _paths(table: pa.Table, texts: list[str]) -> list[str]:
    """Return the heading above each chunk. It is not in the text, which has a mark in its place."""
    begins, names = list[list[int]](), list[list[str]]()
    for text in texts:
        at, own, said = 0, list[int](), list[str]()
        for _, line, heading in lines_with_headings(text):
            if heading:
                own.append(at)
                said.append(line.rstrip("."))
            at += (1 if heading else len(line.strip())) + 2
        begins.append(own)
        names.append(said)
    found = []
    for document, start in zip(table["document_index"].to_pylist(), table["start"].to_pylist(), strict=True):
        number = bisect.bisect_right(begins[document], start) - 1
        found.append(names[document][number] if number >= 0 else "")
    return found


def evaluated(name: str, data: datasets.Dataset, mode: str) -> Measured:
    """Return a function of (context, weight) that measures searches for the questions of a dataset."""
    encoder = systems.Encoder("static")
    asked = encoder.encode([each.text for each in data.questions])
    chunked = systems.by_method("recursive", {"size": 110, "unit": "words"}, data, encoder)

    def measured(context: str | None, weight: float) -> Values:
        with weighed(weight):
            found = runner.retrieve(chunked, data, encoder, Strategy(mode, augment=context), asked, {})
        values, _ = runner.measure(found, data, encoder)
        return {measure: np.asarray(values[measure]) for measure in SHOWN[name]}

    return measured


def curve(measured: Measured, contexts: tuple[str, ...], weights: tuple[float, ...]) -> list[dict[str, Any]]:
    """Measure, print and return a row for search without contexts, and one for each context and weight.

    If the first weight is 0, rows of other weights also have the difference from it.
    """
    plain = measured(None, 0)
    rows = [{"context": "none", "weight": 0.0, **_cells(plain, {})}]
    _print(rows[-1])
    for context in contexts:
        others = {"plain": plain}
        for weight in weights:
            own = measured(context, weight)
            rows.append({"context": context, "weight": weight, **_cells(own, others)})
            _print(rows[-1])
            if not weight:
                others["weight 0"] = own
    return rows


def _cells(values: Values, others: dict[str, Values]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for measure, own in values.items():
        out[measure] = intervals.interval(own)._asdict()
        for name, other in others.items():
            out[f"{measure} minus {name}"] = intervals.paired(own, other[measure])._asdict()
    return out


def _print(row: dict[str, Any]) -> None:
    cells = "  ".join(
        f"{name} {cell['mean']:+.4f} ({cell['low']:+.4f} to {cell['high']:+.4f})"
        if "minus" in name
        else f"{name} {cell['mean']:.4f}"
        for name, cell in row.items()
        if isinstance(cell, dict)
    )
    print(f"  {row['context']}, {row['weight']}: {cells}", flush=True)


def _all(data: Path, count: int, limit: int | None) -> dict[str, list[dict[str, Any]]]:
    """Print and return all tables."""
    tables = dict[str, list[dict[str, Any]]]()
    sets = {
        "SQuAD": datasets.squad(data / "squad" / "dev-v2.0.json", limit),
        "chunking evaluation": datasets.chunking_evaluation(data / "chunking_evaluation", limit),
    }
    for mode, weights in (("dense", WEIGHTS), ("hybrid", (0.0, CONTEXTS.weight))):
        for split in ("validation", "test"):
            own = (CONTEXTS.weight,) if (mode, split) == ("dense", "test") else weights
            print(f"{mode}, sections, {split}")
            measured = sections(data, split, count, mode)
            tables[f"{mode}, sections, {split}"] = curve(measured, ("head", "path"), own)
        for name, questions in sets.items():
            print(f"{mode}, {name}")
            tables[f"{mode}, {name}"] = curve(evaluated(name, questions, mode), SOURCES, weights)
    return tables


def main() -> None:
    """Print the tables, and save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=3000, metavar="N", help="about sections (default: 3000)")
    parser.add_argument("--articles", type=int, metavar="N", help="only dense search of the first N test articles")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of the other sets")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/context_weights.json")
    options = parser.parse_args()
    # Weight 0, which only this script uses, is also that of indexes of older versions, of which a warning tells.
    warnings.filterwarnings("ignore", message="an older version of pychunk created the index")
    data, tables = Path(options.data), dict[str, list[dict[str, Any]]]()
    if options.articles:
        name = f"dense, sections, the first {options.articles} test articles"
        print(name)
        measured = sections(data, "test", options.questions, "dense", options.articles)
        tables[name] = curve(measured, ("head", "path"), (CONTEXTS.weight,))
    else:
        tables = _all(data, options.questions, options.limit)
    if options.save:
        record.save(
            options.save,
            "Contexts in vectors, fewer articles" if options.articles else "The weight of contexts in vectors",
            tables,
            about=(
                "Searches of chunks whose stored vectors include those of their contexts with a weight, compared with "
                "plain search, in which chunks have no contexts. With weight 0 only BM25 counts contexts. A question "
                "about a section is the title of an article and a heading, which the text does not contain; the "
                "context `path` is this heading. Differences are paired, with 95 % intervals."
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
