"""Distil a cross-encoder for reranking into one with half its layers, on unlabelled questions.

The student starts as every second layer of its teacher. Both read the chunks of Wikipedia articles that hybrid search
finds for titles, headings, and sentences with words left out. The student learns the teacher's scores, as differences
between a query's candidates, and the teacher's states between the layers. Whole articles are held out for measuring.
You can interrupt the training and resume it from the checkpoints in --work. `pychunk model get reranker` downloads the
teacher.
"""

from __future__ import annotations

import argparse
import json
import logging
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..encoders import registry
from ..encoders.cross_encoder import PairScorer
from ..encoders.files import model_dir
from ..encoders.files.bert_weights import read_weights
from ..evaluation.measures import intervals
from ..index.index import Index
from ..index.options import Bm25
from ..index.rerank.rerankers import scores
from ..segmenter import Segmenter
from . import rank, student_card, student_fit, student_lessons
from .bert_folder import write_bert
from .train_options import add_articles, add_out, add_plan, cache_home, command, names, new_parser, plan_from

logger = logging.getLogger(__name__)

F64 = npt.NDArray[np.float64]

NAME = "pychunk-student-en"
#: The number of held-out articles, and of queries for each, on which student and teacher are measured.
HELD_OUT, EACH = 150, 2
#: The maximum number of tokens of a pair, as for the teacher; the student learned from shorter pairs.
MAX_LENGTH = 512


def write(out: Path, student: student_fit.Bert, teacher: PairScorer) -> model_dir.ModelFacts:
    """Write the model directory with 8-bit weights."""
    weights, config = checkpoint(student)
    head = weights.pop("classifier.weight"), weights.pop("classifier.bias")
    return write_bert(
        out,
        weights,
        config,
        head,
        name=NAME,
        task="relevance",
        max_length=MAX_LENGTH,
        source=f"{teacher.facts.source}, distilled",
        licence=teacher.facts.licence,
    )


def checkpoint(student: student_fit.Bert) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return weights by the names of checkpoints, matrices [out, in], and the configuration for :func:`bert_graph`."""
    weights = {}
    for name, tensor in student.weights.items():
        values = tensor.detach().float().numpy()
        if ".qkv." in name:
            for part, own in zip(("query", "key", "value"), np.split(values, 3), strict=True):
                weights[name.replace("qkv", f"attention.self.{part}")] = own
        else:
            weights[name.replace("pooler.", "pooler.dense.")] = values
    config = {
        "num_attention_heads": student.heads,
        "num_hidden_layers": student.layers,
        "hidden_size": student.dim,
        "layer_norm_eps": student.epsilon,
        "hidden_act": "gelu" if student.approximate == "none" else "gelu_new",
    }
    return weights, config


def measured(articles: Sequence[str], models: dict[str, PairScorer], seed: int, threads: int) -> dict[str, Any]:
    """Return Hits@1 of queries about held-out ``articles``, as found and by each model's scores, and each model's time.

    The queries are drawn as in :mod:`rank`.
    """
    documents, queries = rank.drawn(articles, rank.Plan(queries=EACH, seed=seed))
    segmenter = Segmenter("recursive", size=110, unit="words", vectors="sentence")
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "i", bm25=Bm25(stemmer="english")) as index,
    ):
        index.add(segmenter(documents, ids=[str(number) for number in range(len(documents))]))
        index.save()
        hits: Any = index.search([query.text for query in queries], student_lessons.DEPTH)
    texts = [[hit.text for hit in own] for own in hits]
    asked = [
        np.array(
            [hit.document_id == str(query.document) and hit.start < query.end and hit.end > query.start for hit in own]
        )
        for query, own in zip(queries, hits, strict=True)
    ]

    def first(order: Sequence[Any]) -> F64:
        best = [int(np.argmax(by)) if len(by) else None for by in order]
        return np.array([place is not None and own[place] for own, place in zip(asked, best, strict=True)], np.float64)

    before = first([-np.arange(len(own)) for own in asked])
    found: dict[str, Any] = {"queries": len(queries), "as found": intervals.interval(before)._asdict()}
    for name, model in models.items():
        begun = time.perf_counter()
        values = scores(model, [query.text for query in queries], texts, threads=threads)
        seconds = time.perf_counter() - begun
        after = first(values)
        found[name] = {
            "hits@1": intervals.interval(after)._asdict(),
            "gain": intervals.paired(after, before)._asdict(),
            "ms a query": round(1e3 * seconds / len(queries), 1),
        }
    return found


def train(options: argparse.Namespace) -> None:
    """Distil the teacher into a student, and write the model with its card."""
    teacher = registry.relevance_model(options.teacher)
    plan = plan_from(student_fit.Plan, options)
    stored = read_weights(teacher.path / teacher.facts.model)
    if stored.classes != 1:
        raise ValueError(f"{teacher.path} has {stored.classes} classes; a student needs a teacher with one score")
    articles = student_lessons.read(options.articles, "train")[: plan.documents]
    taught = student_lessons.lessons(articles, plan.each, plan.length, plan.seed, teacher)
    logger.info("%d queries about %d articles", len(taught), len(articles))
    options.work.mkdir(parents=True, exist_ok=True)
    student = student_fit.student_of(stored, plan.layers)
    student_fit.fit(student, student_fit.Bert(stored), taught, plan, options.work, threads=options.threads)
    facts = write(options.out, student, teacher)
    held_out = [article.text for article in student_lessons.read(options.articles, "test")[:HELD_OUT]]
    models = {"teacher": teacher, "student": PairScorer(options.out, task="relevance")}
    notes = {
        "command": command("pychunk train student", options, names(plan)),
        "seed": plan.seed,
        "layers": plan.layers,
        "articles": {"train": len(articles), "test": len(held_out)},
        "pairs": plan.steps * plan.queries * plan.candidates,
        "bytes": (options.out / facts.model).stat().st_size,
        "metrics": measured(held_out, models, plan.seed, options.threads),
    }
    logger.info("%s", json.dumps(notes, indent=2))
    student_card.describe(options.out, facts, notes)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("pychunk train student", __doc__)
    add = made.add_argument
    add_articles(made, "id, title and text")
    add("--teacher", default="reranker", metavar="NAME|DIR", help="cross-encoder to learn from (default: %(default)s)")
    add_out(made)
    add(
        "--work",
        type=Path,
        default=cache_home() / "student",
        metavar="DIR",
        help="folder of checkpoints, kept between runs (default: the user's cache)",
    )
    add(
        "--threads", type=int, default=2, help="threads, each of which reads one query at a time (default: %(default)s)"
    )
    add_plan(made, student_fit.Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, and return the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = parser().parse_args(arguments)
    try:
        train(options)
    except KeyboardInterrupt:
        logger.info("interrupted; checkpoints are in %s and the next run will use them", options.work)
        return 130
    return 0
