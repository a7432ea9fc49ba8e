"""Train the weights of ``Rerank("features")`` from articles alone, without labelled answers.

A query is a sentence of an article with words left out, as a question leaves out its answer. The right chunk is the one
that contains the sentence. If the sentence was removed from its paragraph before the articles were indexed, the right
chunks are the chunks with the rest of that paragraph. Hybrid search finds the candidates. The weights make the right
chunk likely among them (softmax over each query's candidates). They are for the vectors of one encoder.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import api
from ..encoders.registry import vector_encoder
from ..evaluation.measures import intervals
from ..index.index import Index
from ..index.options import Bm25
from ..index.rerank.linear_reranker import FACTS, INPUTS, Inputs
from ..segmenter import Segmenter
from .corpus import read_articles
from .model_folder import write_facts, write_weights
from .train_options import (
    add_articles,
    add_out,
    add_plan,
    command,
    names,
    new_parser,
    plan_from,
    run,
    setting,
)

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
WEIGHTS = "rank.npz"
#: The number of candidates of a query, the fewest words of a paragraph to ask about, and the range of words of a
#: sentence.
DEPTH, PARAGRAPH, SENTENCE = 20, 40, (8, 40)


@dataclass(frozen=True)
class Plan:
    """The settings of the training."""

    documents: int = setting(800, "articles to learn from, and maximum number of articles to measure on")
    queries: int = setting(6, "maximum number of queries for each article")
    absent: float = setting(0.35, "share of queries whose sentence is removed from its paragraph")
    steps: int = setting(400, "steps over all queries")
    rate: float = setting(0.05, "step size")
    decay: float = setting(0.001, "weight of the squares of the weights")
    seed: int = setting(0, "seed of all random draws")


@dataclass(frozen=True)
class Query:
    """A text, and the characters of an indexed document that it asks for."""

    text: str
    document: int
    start: int
    end: int
    taken_out: bool


@dataclass(frozen=True)
class Lessons:
    """The candidates of queries.

    Attributes:
        inputs: The inputs of each candidate, float32[queries, DEPTH, inputs].
        there: Whether a query has a candidate at each rank, bool[queries, DEPTH].
        asked: Whether each candidate is a right one, bool[queries, DEPTH].
        taken_out: Whether each query's sentence is in no chunk, bool[queries].
    """

    inputs: F32
    there: npt.NDArray[np.bool_]
    asked: npt.NDArray[np.bool_]
    taken_out: npt.NDArray[np.bool_]


def drawn(articles: Sequence[str], plan: Plan) -> tuple[list[str], list[Query]]:
    """Return documents, from some of which sentences were removed, and queries about these and other sentences."""
    random = np.random.default_rng(plan.seed)
    documents, queries = [], []
    for number, article in enumerate(articles):
        lines = article.split("\n")
        long = [place for place, line in enumerate(lines) if len(line.split()) >= PARAGRAPH]
        chosen = set(random.permutation(long)[: plan.queries].tolist())
        at = 0
        for place, line in enumerate(lines):
            if place in chosen:
                lines[place], query = _asked(line, number, at, plan, random)
                queries += [] if query is None else [query]
            at += len(lines[place]) + 1
        documents.append("\n".join(lines))
    return documents, queries


def _asked(line: str, document: int, at: int, plan: Plan, random: np.random.Generator) -> tuple[str, Query | None]:
    """Return a paragraph, and a query about one of its sentences, which may have been removed from the paragraph."""
    spans = api.split_sentences(line)[0]
    start, end = spans[int(random.integers(len(spans)))]
    sentence = line[start:end].strip()
    if len(spans) < 3 or not SENTENCE[0] <= len(sentence.split()) <= SENTENCE[1]:
        return line, None
    taken_out = bool(random.random() < plan.absent)
    text = thinned(sentence, taken_out, random)
    if taken_out:
        rest = line[:start] + line[end:]
        return rest, Query(text, document, at, at + len(rest), True)
    return line, Query(text, document, at + start, at + start + len(line[start:end].rstrip()), False)


def thinned(sentence: str, taken_out: bool, random: np.random.Generator) -> str:
    """Return a sentence with words left out.

    If the sentence is still in its chunk, more words are left out, and additionally one to three consecutive ones.
    """
    words = sentence.split()
    low, high = (0.5, 1.0) if taken_out else (0.25, 0.6)
    if not taken_out:
        begin, length = int(random.integers(len(words) - 3)), int(random.integers(1, 4))
        del words[begin : begin + length]
    kept = random.random(len(words)) < random.uniform(low, high)
    return " ".join(word for word, keep in zip(words, kept, strict=True) if keep) or sentence


def lessons(articles: Sequence[str], encoder: str, plan: Plan) -> Lessons:
    """Index the articles with the vectors of an encoder, and search for the queries.

    Queries whose chunk is not found teach nothing, but count in the figures.
    """
    documents, queries = drawn(articles, plan)
    texts = [query.text for query in queries]
    segmenter = Segmenter("recursive", size=110, unit="words", vectors="sentence", encoder=encoder)
    vectors = vector_encoder(encoder).encode_queries(texts)
    inputs = np.zeros((len(queries), DEPTH, len(INPUTS)), np.float32)
    there, asked = np.zeros((2, len(queries), DEPTH), np.bool_)
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "i", encoder=encoder, bm25=Bm25(stemmer="english")) as index,
    ):
        index.add(segmenter(documents, ids=[str(number) for number in range(len(documents))]))
        index.save()
        computed = Inputs(index._contents.searcher())
        found: Any = index.search((texts, vectors), DEPTH)
        for i, (query, own) in enumerate(zip(queries, found, strict=True)):
            inputs[i, : len(own)] = computed.of(query.text, vectors[i], own)
            there[i, : len(own)] = True
            asked[i, : len(own)] = [
                hit.document_id == str(query.document) and hit.start < query.end and hit.end > query.start
                for hit in own
            ]
    return Lessons(inputs, there, asked, np.array([query.taken_out for query in queries], np.bool_))


def fit(taught: Lessons, plan: Plan) -> F32:
    """Return the weights of the inputs, fitted with Adam over all queries at once, the same for the same lessons."""
    some = taught.asked.any(axis=1)
    there, asked = taught.there[some], taught.asked[some]
    scale = taught.inputs[taught.there].std(axis=0) + 1e-6
    inputs = (taught.inputs[some] / scale).astype(np.float64)
    weights = np.zeros(inputs.shape[2])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, plan.steps + 1):
        scores = np.where(there, inputs @ weights, -np.inf)
        wanted = _softmax(np.where(asked, scores, -np.inf))
        slope = np.einsum("qc,qci->i", _softmax(scores) - wanted, inputs) / len(inputs) + plan.decay * weights
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        weights -= plan.rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return np.asarray(weights / scale, np.float32)


def _softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def measured(taught: Lessons, weights: F32) -> dict[str, Any]:
    """Return the share of queries whose best candidate is right, as found and after reranking, and the paired gain."""
    after = np.where(taught.there, taught.inputs @ weights, -np.inf).argmax(axis=1)
    found: dict[str, Any] = {}
    for name, own in (("in a chunk", ~taught.taken_out), ("taken out", taught.taken_out)):
        before = taught.asked[own, 0].astype(np.float64)
        by_weights = taught.asked[own, after[own]].astype(np.float64)
        every = {"queries": len(before), "found first": intervals.interval(before)._asdict()}
        every["found first, reranked"] = intervals.interval(by_weights)._asdict()
        every["gain"] = intervals.paired(by_weights, before)._asdict()
        found[name] = every
    return found


def train(options: argparse.Namespace) -> None:
    """Train the weights on articles, and write them with their facts."""
    plan = plan_from(Plan, options)
    training = read_articles(options.articles, "train", plan.documents)
    test = read_articles(options.articles, "test", plan.documents)
    taught = lessons(training, options.encoder, plan)
    logger.info("%d queries about %d articles", len(taught.inputs), len(training))
    weights = fit(taught, plan)
    facts = {
        "format": 1,
        "name": "pychunk-rank-features",
        **write_weights(options.out / WEIGHTS, {"weights": weights}),
        "encoder": vector_encoder(options.encoder).fingerprint,
        "inputs": list(INPUTS),
        "values": [round(float(each), 4) for each in weights],
        "licence": "Apache-2.0",
        "seed": plan.seed,
        "articles": {"train": len(training), "test": len(test)},
        "queries": len(taught.inputs),
        "metrics": measured(lessons(test, options.encoder, plan), weights),
        "command": command("pychunk train rank", options, ["encoder", *names(Plan)]),
    }
    logger.info("%s", json.dumps(facts["metrics"], indent=2))
    write_facts(options.out / FACTS, facts)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("pychunk train rank", __doc__)
    add_articles(made)
    made.add_argument("--encoder", default="static", metavar="NAME", help="encoder of the vectors (default: static)")
    add_out(made)
    add_plan(made, Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the weights, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))
