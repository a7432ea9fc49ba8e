"""Train the compression encoder, which computes vectors of large spans from those of their sentences.

The encoder needs no summary. It learns from articles of Wikipedia without their leads: the vector of an article should
equal the vector of its lead, and the vector of a section the vector of its name. The training stops by its results on
other articles. The split of articles is the same as for the questions of mixed breadth (pychunk/training/breadth.py).
Its test articles are not read. An interrupted training resumes where it stopped. For vectors of another encoder:

    python -m training.compressor --encoder bge-small --limit 900 --keep vectors --out my-compressor

Use the result with ``segment_levels(..., vectors=Vectors("sentence", "bge-small"), pooling=Path("my-compressor"))``.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pychunk._engine import engine as engines
from pychunk.encoders import static_encoder
from pychunk.encoders.registry import vector_encoder
from pychunk.evaluation.measures import intervals
from pychunk.levels.compressor import FACTS, PARTS, Compressor
from pychunk.training.model_folder import write_facts, write_weights
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import (
    add_articles,
    add_plan,
    cache_home,
    command,
    names,
    new_parser,
    plan_from,
    run,
)

from . import compressor_fit, compressor_spans
from .cards import compressor_card
from .compressor_spans import F32, Lessons

logger = logging.getLogger(__name__)

WEIGHTS = "compressor.npz"


def measured(model: Compressor, own: Lessons) -> dict[str, Any]:
    """Return the documents' mean cosine to their targets, by means over tokens and by the model, and the gain."""
    offsets = np.append(0, own.last[: own.documents])
    spans = [(own.first[: own.documents], own.last[: own.documents])]
    kept = slice(0, int(offsets[-1]))
    arguments = own.vectors[kept], own.tokens[kept], offsets, spans
    engine = engines.engine()

    def cosines(found: F32) -> Any:
        return np.einsum("ij,ij->i", found, own.targets[: own.documents], dtype=np.float64)

    mean = cosines(engine.span_vectors(*arguments, threads=1)[0])
    compressed = cosines(model.vectors(*arguments, engine, 1)[0])
    return {
        "mean by tokens": _rounded(intervals.interval(mean)),
        "compressor": _rounded(intervals.interval(compressed)),
        "gain": _rounded(intervals.paired(compressed, mean)),
    }


def _rounded(value: intervals.Interval) -> dict[str, float]:
    return {name: round(each, 4) for name, each in value._asdict().items()}


def finish(options: argparse.Namespace, learned: Lessons, stopped_on: Lessons) -> None:
    """Fit and write the model and its card."""
    plan = plan_from(compressor_fit.Plan, options)
    weights, history = compressor_fit.fit(learned, stopped_on, plan, options.checkpoint)
    encoder = vector_encoder(options.encoder)
    facts = {
        "format": 1,
        "name": f"pychunk-compressor-{encoder.name}",
        **write_weights(options.out / WEIGHTS, {name: weights[name] for name in PARTS}),
        "encoder": encoder.fingerprint,
        "target": options.target,
        "heads": plan.heads,
        "rank": plan.rank,
        "history": [round(each, 4) for each in history],
        "spans": {
            "documents": learned.documents,
            "sections": len(learned.first) - learned.documents,
            "validation": stopped_on.documents,
        },
        "licence": "Apache-2.0",
        "seed": plan.seed,
        "command": command(
            "python -m training.compressor", options, ["encoder", "target", "limit", *names(compressor_fit.Plan)]
        ),
    }
    write_facts(options.out / FACTS, facts)
    facts["metrics"] = measured(Compressor(options.out), stopped_on)
    logger.info("%s", json.dumps(facts["metrics"], indent=2))
    write_facts(options.out / FACTS, facts, compressor_card.card(facts))


def train(options: argparse.Namespace) -> None:
    """Train the compression encoder on articles, and write it with its facts."""
    import_torch().set_num_threads(options.threads)
    if options.out is None:
        own = vector_encoder(options.encoder).name
        options.out = (
            static_encoder.SHIPPED if options.encoder == "static" else static_encoder.SHIPPED / f"compressor-{own}"
        )

    def read(part: str, limit: int) -> Lessons:
        articles = compressor_spans.read_articles(options.articles, part, limit)
        return compressor_spans.lessons(articles, options.target, options.encoder, options.threads, options.keep)

    learned, stopped_on = read("train", options.limit), read("validation", -(-options.limit // 6))
    logger.info("%d documents, %d spans in all", learned.documents, len(learned.first))
    finish(options, learned, stopped_on)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("python -m training.compressor", __doc__)
    add_articles(made, "id, title and text")
    made.add_argument(
        "--target",
        default="lead",
        help="what an article's vector should be close to: its lead, an extractive summary of the rest, or a parquet "
        "file of summaries with columns id and summary (default: lead)",
    )
    made.add_argument(
        "--encoder", default="static", metavar="NAME", help="encoder of the vectors (default: %(default)s)"
    )
    made.add_argument(
        "--limit",
        type=int,
        default=0,
        help="articles to learn from, with a sixth of that number to stop on; 0: all (default)",
    )
    made.add_argument("--threads", type=int, default=1, help="threads (default: %(default)s, which is enough)")
    made.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="folder in which the sentences' vectors are kept and reused, as a transformer takes long for them",
    )
    made.add_argument(
        "--checkpoint",
        type=Path,
        default=cache_home() / "compressor.pt",
        metavar="FILE",
        help="checkpoint from which an interrupted training resumes (default: in the user's cache)",
    )
    made.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="output folder (default: the package's models, or a subfolder of them for encoders other than static)",
    )
    add_plan(made, compressor_fit.Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
