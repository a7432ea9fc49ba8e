"""Several ways to make vectors of sections, and of articles without their leads, on articles that no model saw.

The script measures how near the vectors are to the withheld lead, how well questions find them, and how long they take.
Questions are those of pychunk.training.breadth. Title and heading ask for a section among all sections. The lead's
first sentence without the title's words asks for the rest of the article among all articles. The ranking is by cosine
alone.

Times are CPU time, all articles and sections together. They start at the sentences' vectors, which exist already, or at
the text if a way makes and encodes a text. With a transformer late chunking has a row, and --keep saves the vectors
that took long to encode.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import pychunk
from pychunk._engine import engine as engines
from pychunk.encoders.registry import vector_encoder
from pychunk.evaluation.measures import intervals
from pychunk.levels.compressor import compressor, shipped_for
from pychunk.levels.pooling import pooled
from pychunk.training import breadth
from training import compressor_spans
from training.compressor_spans import Articles

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench import record
from bench.inputs import add_data
from bench.levels import late_chunking

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
LEVELS = ("section", "document")
#: The words that a shortened text has.
TRUNCATED = 128
#: The number of hits among which a question may find its answer.
HITS = (1, 5, 10)
#: The questions processed at a time.
BLOCK = 256
COMPRESSOR, MEAN, SUMMARY = "compressor", "mean by tokens", "extractive summary, encoded"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_data(parser)
    parser.add_argument(
        "--questions", type=int, default=5000, metavar="N", help="about sections (default: %(default)s)"
    )
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="articles; 0: all (default)")
    parser.add_argument("--encoder", default="static", metavar="NAME", help="whose vectors (default: %(default)s)")
    parser.add_argument("--pooling", type=Path, metavar="DIR", help="a compressor (default: that of the package)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of the encoder (default: %(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what a transformer encodes, and its time")
    parser.add_argument("--save", type=Path, metavar="FILE", help="bench/results/compressor.json")
    return parser.parse_args()


def encoded_ways(found: Any, encoder: str, threads: int) -> dict[str, Callable[[], list[F32]]]:
    """Return by name the encoders of texts for the vectors of sections and of documents."""

    def embedded(texts: list[str]) -> F32:
        return pychunk.embed(texts, encoder=encoder, placement=pychunk.Placement(threads=threads))

    ways = {SUMMARY: lambda: [embedded(compressor_spans.summaries(found.texts_of(level))) for level in LEVELS]}
    if encoder == "static":
        name = f"first {TRUNCATED} words, encoded"
        cut = [[" ".join(text.split()[:TRUNCATED]) for text in found.texts_of(level)] for level in LEVELS]
        return {name: lambda: [embedded(texts) for texts in cut], **ways}
    model: Any = vector_encoder(encoder)

    def late() -> list[F32]:
        sums = late_chunking.sentence_sums(model, found, threads)
        ones, firsts = np.ones(len(sums), np.int64), [found.first(level) for level in LEVELS]
        spans = [(first[:-1], first[1:]) for first in firsts]
        return engines.engine().span_vectors(sums, ones, found.doc_offsets, spans, threads=1)

    name = f"cut to {model.template.max_length} tokens, encoded"
    whole = {name: lambda: [model.encode(found.texts_of(level), threads=threads) for level in LEVELS]}
    return {**whole, f"late chunking, {late_chunking.WINDOW} tokens": late, **ways}


def ways_of(found: Any, pooling: Path | None) -> dict[str, Callable[[], list[F32]]]:
    """Return by name the functions that make the vectors of sections and documents from those of the sentences."""
    vectors, tokens, offsets = found.vectors("sentence"), found.tokens, found.doc_offsets
    start, end = found.spans_in_bytes("sentence")
    firsts = [found.first(level) for level in LEVELS]
    spans = [(first[:-1], first[1:]) for first in firsts]
    engine = engines.engine()
    model = compressor(pooling) if pooling else shipped_for(found.metadata["vector_encoder"])

    def sums(weights: I64) -> list[F32]:
        return engine.span_vectors(vectors, weights, offsets, spans, threads=1)

    return {
        COMPRESSOR: lambda: model.vectors(vectors, tokens, offsets, spans, engine, 1),
        "mean": lambda: sums(np.ones_like(tokens)),
        MEAN: lambda: sums(tokens),
        "mean by length": lambda: sums(end - start),
        "first child": lambda: [pooled(found, level, "first", threads=1) for level in LEVELS],
        "medoid": lambda: [pooled(found, level, "medoid", threads=1) for level in LEVELS],
    }


def timed(make: Callable[[], list[F32]], repeats: int) -> dict[str, Any]:
    """Return the results by level, and the least seconds that they took."""
    spent = []
    for _ in range(repeats):
        begin = time.process_time()
        made = make()
        spent.append(time.process_time() - begin)
    return {**dict(zip(LEVELS, made, strict=True)), "seconds": np.array(min(spent))}


def hierarchy(articles: Articles, encoder: str, threads: int, keep: Path | None) -> Any:
    """Return the articles as levels with vectors, from the file that holds them if there is one."""
    if keep is None:
        return compressor_spans.hierarchy(articles, encoder, threads)
    said = "\0".join([vector_encoder(encoder).fingerprint, *articles.texts])
    file = keep / f"{hashlib.sha256(said.encode()).hexdigest()[:24]}.parquet"
    if not file.is_file():
        keep.mkdir(parents=True, exist_ok=True)
        compressor_spans.hierarchy(articles, encoder, threads).write(file)
    return pychunk.Hierarchy.read(file)


def document_questions(articles: Articles, data: Path) -> list[tuple[int, str]]:
    """Return pairs of article and question, if the lead's first sentence is long enough."""
    rows = pq.read_table(data / "wiki" / "articles.parquet", columns=["title", "text"]).to_pylist()
    own = [row for row in rows if breadth.part_of(row["title"]) == "test"]
    made = breadth.of_articles([row["title"] for row in own], [row["text"] or "" for row in own])
    asked = {each.text: text for each in made for kind, text, _ in each.asked if kind == "document"}
    return [(row, asked[text]) for row, text in enumerate(articles.texts) if text in asked]


def ranks(questions: F32, nodes: F32, wanted: I64) -> I64:
    """Return int64[questions]: the number of nodes with a higher cosine than the one that is asked for."""
    found = []
    for begin in range(0, len(questions), BLOCK):
        scores = questions[begin : begin + BLOCK] @ nodes.T
        own = scores[np.arange(len(scores)), wanted[begin : begin + BLOCK]]
        found.append((scores > own[:, None]).sum(axis=1))
    return np.concatenate(found)


def row_of(
    name: str, scores: dict[str, F64], best: dict[str, F64], seconds: float, of_summary: float
) -> dict[str, Any]:
    """Return means with intervals, and the paired differences of the compressor and this way."""
    row: dict[str, Any] = {"vectors": name}
    row |= {key: _rounded(intervals.interval(values)) for key, values in scores.items()}
    for key in ("cosine to the lead", "section found first", "document found first"):
        row[f"{key}: compressor minus this"] = _rounded(intervals.paired(best[key], scores[key]))
    return {**row, "seconds": round(seconds, 3), "share of encoded summaries' time": round(seconds / of_summary, 4)}


def _rounded(value: intervals.Interval) -> dict[str, float]:
    return {name: round(each, 4) for name, each in value._asdict().items()}


def main() -> None:
    """Print the table and save it."""
    options = arguments()
    file = options.data / "wiki" / "articles.parquet"
    articles = compressor_spans.read_articles(file, "test", options.limit)
    threads, keep = options.threads, None if options.encoder == "static" else options.keep
    fingerprint = vector_encoder(options.encoder).fingerprint

    def kept(what: str, texts: Sequence[str], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return compressor_spans.kept(keep, [fingerprint, what, *texts], make)

    def embedded(texts: list[str], task: str = "passage") -> F32:
        made: F32 = pychunk.embed(
            texts, encoder=options.encoder, task=task, placement=pychunk.Placement(threads=threads)
        )
        return made

    found = hierarchy(articles, options.encoder, threads, keep)
    names, nodes = [name for *_, name in articles.names], compressor_spans.nodes_of_names(articles, found)
    drawn = np.sort(np.random.default_rng(0).permutation(len(names))[: options.questions])
    about = document_questions(articles, options.data)
    leads = kept("leads", articles.leads, lambda: {"": embedded(articles.leads)})[""]
    asked_texts = {"section": [names[i] for i in drawn], "document": [text for _, text in about]}
    wanted = {"section": nodes[drawn], "document": np.array([row for row, _ in about], np.int64)}
    questions = {
        level: kept("questions", texts, lambda texts=texts: {"": embedded(texts, "query")})[""]
        for level, texts in asked_texts.items()
    }
    print(f"{len(articles.ids):,} articles, {found.count('section'):,} sections", flush=True)
    scores: dict[str, dict[str, F64]] = {}
    seconds: dict[str, float] = {}
    made: dict[str, Callable[[], dict[str, Any]]] = {
        name: functools.partial(timed, make, 3) for name, make in ways_of(found, options.pooling).items()
    }
    repeats = 3 if options.encoder == "static" else 1
    for name, make in encoded_ways(found, options.encoder, threads).items():
        made[name] = functools.partial(kept, name, articles.texts, functools.partial(timed, make, repeats))
    for name, make_it in made.items():
        by_level = make_it()
        seconds[name] = float(by_level["seconds"])
        own = {"cosine to the lead": np.einsum("ij,ij->i", by_level["document"], leads, dtype=np.float64)}
        for level in questions:
            above = ranks(questions[level], by_level[level], wanted[level])
            for most in HITS:
                own[f"{level} found {'first' if most == 1 else f'in {most}'}"] = (above < most).astype(np.float64)
        scores[name] = own
        print(
            name,
            f"{seconds[name]:.2f} s",
            {key: round(float(value.mean()), 4) for key, value in own.items()},
            flush=True,
        )
    rows = [row_of(name, scores[name], scores[COMPRESSOR], seconds[name], seconds[SUMMARY]) for name in scores]
    for row in rows:
        print(row)
    if options.save:
        counts = {
            "articles": len(articles.ids),
            "sections": found.count("section"),
            "sentences": found.count("sentence"),
        }
        asked_counts = {"questions about sections": len(drawn), "questions about articles": len(about)}
        suffix = "" if options.encoder == "static" else f", {options.encoder}"
        record.save(
            options.save,
            f"Vectors of sections and articles: the compression encoder{suffix}",
            {**counts, **asked_counts, "rows": rows},
            about=(
                "Vectors of Wikipedia articles without their leads, and of the articles' sections, made in several "
                'ways. No model was trained on these articles. "Cosine to the lead" compares the vector of an article '
                "with the vector of its lead. The query for a section is the article's title and the section's "
                "heading; the query for an article is the first sentence of its lead, without the title's words. The "
                "search is by cosine alone. Seconds are CPU time for all articles and sections; they start at the "
                "sentences' vectors or, if a row encodes a text, at the text. Differences are paired."
            ),
            encoder=fingerprint,
        )


if __name__ == "__main__":
    main()
