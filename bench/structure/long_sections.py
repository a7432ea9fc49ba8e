"""The options `within` of `structure` for sections that are longer than a chunk, compared by their hits.

- Strict hits of questions (SQuAD v2 dev, a seeded sample; chunking-evaluation), hybrid search, where only chunks count
  that fit wholly into the first 500 words read. See bench/retrieval/defaults.py for the definition of a hit. These
  texts have no blocks, so that their sections begin at lines that look like headings.
- Sections of Wikipedia articles, whose headings are blocks: the share of the wanted section among the hits within 1,000
  words (bench/structure/section_hits.py), and strict hits, where one chunk holds the whole section.

Differences are to "size", on the same questions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import pychunk
from pychunk.evaluation import datasets, systems
from pychunk.evaluation.measures import intervals
from pychunk.index import Bm25
from pychunk.methods.structure import WITHIN
from pychunk.training.corpus import part_of
from pychunk.training.section_questions import section_questions

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.retrieval import defaults, defaults_texts
from bench.structure.section_hits import HITS, WORDS, handed_over, passages, recall

Found = tuple[float, dict[str, np.ndarray]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument("--questions", type=int, default=2000, metavar="N", help="of each set, drawn (default: 2000)")
    parser.add_argument("--articles", type=int, default=0, metavar="N", help="of Wikipedia; 0: all set apart (default)")
    parser.add_argument(
        "--within",
        action="append",
        choices=list(WITHIN),
        help="beside size; may be repeated (default: all)",
    )
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/within.json")
    return parser.parse_args()


def of_answers(data: datasets.Dataset, ways: list[str]) -> Iterator[Found]:
    """Yield the mean words of a chunk and the values of each question by measure, for every way."""
    encoder = systems.Encoder("static")
    vectors = encoder.encode([question.text for question in data.questions])
    for within in ways:
        chunked = systems.by_method("structure", {"within": within, "encoder": "static"}, data, encoder)
        yield float(chunked.words.mean()), defaults.hits(chunked, data, encoder, vectors)


def of_sections(folder: Path, articles: int, questions: int, ways: list[str]) -> Iterator[Found]:
    """Yield the same for sections of articles that no model was trained on."""
    table = pq.read_table(folder / "wiki" / "articles.parquet", columns=["id", "title", "text"])
    rows = [row for row in table.to_pylist() if part_of(str(row["id"])) == "test" and row["text"]]
    rows = rows[: articles or None]
    data = section_questions([row["title"] for row in rows], [row["text"] for row in rows], questions)
    for within in ways:
        segmenter = pychunk.Segmenter("structure", within=within, encoder="static", vectors="sentence")
        chunks = segmenter(data.documents, columns={"blocks": data.blocks})
        with (
            tempfile.TemporaryDirectory() as made,
            pychunk.Index.create(Path(made) / "index", bm25=Bm25(stemmer="english", k1=0.9, b=0.4)) as index,
        ):
            index.add(chunks)
            lists = index.search([question.text for question in data.questions], k=HITS)
            index.close(discard=True)
        values: dict[str, list[float]] = {"recall": [], "strict hits": []}
        for question, hits in zip(data.questions, lists, strict=True):
            values["recall"].append(recall(question, handed_over(hits, WORDS)))
            read, held = 0, False
            for hit in hits:
                read += len(hit.text.split())
                if read > defaults.READ:
                    break
                (own,) = passages(hit)
                held |= (
                    hit.document_index == question.document and own.start <= question.start and question.end <= own.end
                )
            values["strict hits"].append(float(held))
        yield (
            float(np.mean([len(text.split()) for text in chunks.texts])),
            {name: np.array(each) for name, each in values.items()},
        )


def lines(ways: list[str], found: Iterator[Found]) -> list[dict[str, Any]]:
    """Return a row for each way, and print it when it is done."""
    rows: list[dict[str, Any]] = []
    first: dict[str, np.ndarray] = {}
    for within, (words, values) in zip(ways, found, strict=True):
        row: dict[str, Any] = {"within": within, "words": words}
        row |= {name: intervals.interval(each)._asdict() for name, each in values.items()}
        if first:
            row |= {f"{name} minus": intervals.paired(values[name], first[name])._asdict() for name in values}
        first = first or values
        told = "  ".join(f"{name} {defaults.written(cell, 3)}" for name, cell in row.items() if isinstance(cell, dict))
        print(f"  {within:9} {words:6.1f} words  {told}", flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Print the tables and save them."""
    options = arguments()
    ways = list(dict.fromkeys(["size", *(options.within or WITHIN)]))
    folder = Path(options.data)
    squad = defaults_texts.squad(folder, options.questions).data
    made = {
        "SQuAD": of_answers(squad, ways),
        "chunking evaluation": of_answers(datasets.chunking_evaluation(folder / "chunking_evaluation", None), ways),
        "sections of Wikipedia": of_sections(folder, options.articles, options.questions, ways),
    }
    tables = {}
    for name, found in made.items():
        print(name)
        tables[name] = lines(ways, found)
    if options.save:
        record.save(
            options.save,
            "Sections that are longer than a chunk",
            tables,
            about=(
                "Method `structure` with each value of `within`, in a hybrid search. A strict hit is a chunk, among "
                "the first 500 words read, that holds the answer in its paragraph (SQuAD), the whole reference span "
                "(chunking evaluation) or the whole section (Wikipedia). Recall is the share of the wanted section "
                'that the search returns within 1,000 words. Columns with "minus" are paired differences from `size`.'
            ),
            packages=("faiss-cpu", "PyStemmer"),
            encoder=record.shipped(),
        )


if __name__ == "__main__":
    main()
