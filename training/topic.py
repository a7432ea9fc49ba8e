"""Train the topic model, which predicts where sections begin, from sentence vectors and cheap features of sentences.

It learns from articles with hidden headings, half of them as one line, and from some complete articles. Whole articles,
chosen by a hash of their id, are held out for stopping and calibration, and others for measuring. For vectors of
another encoder:

    python -m training.topic --encoder minilm --out my-topics

Use the result with ``Segmenter("topic", encoder="minilm", model="my-topics")``. The network of ``multilingual`` also
learns from chapters of manuals in many languages, which ``python -m training.manuals`` collects:

    python -m training.topic --encoder multilingual --manuals manuals.parquet --unseen tr ko --words 2045 --out DIR
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pychunk import Placement
from pychunk.encoders import static_encoder, topic_model
from pychunk.encoders.registry import vector_encoder
from pychunk.evaluation.measures import intervals
from pychunk.segmenter import Segmenter
from pychunk.training.corpus import Part, read_articles
from pychunk.training.model_folder import write_facts, write_weights
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import add_articles, add_out, add_plan, command, names, new_parser, plan_from, run

from . import manuals, topic_eval, topic_fit
from .cards import topic_card
from .topic_articles import (
    HIDDEN,
    PARAGRAPHS,
    WHOLE,
    Article,
    Material,
    View,
    first_words,
    material,
    seen,
)

logger = logging.getLogger(__name__)

WEIGHTS = "topic.npz"
PARTS: tuple[Part, ...] = ("train", "validation", "test")
#: The languages of manuals on whose chapters the network is measured, in addition to those that it saw no section of.
MEASURED = ("de", "ja", "ru")
VIEWS = {"hidden": HIDDEN, "paragraphs": PARAGRAPHS, "whole": WHOLE}


class Corpus:
    """Articles to learn from and to stop on, in every view, with the words that the network knows."""

    def __init__(self, options: argparse.Namespace, plan: topic_fit.Plan) -> None:
        self.encoder = vector_encoder(options.encoder)
        self.training, self.validation = self._read(options, "train"), self._read(options, "validation")
        self.words = first_words(self.training, plan.words, options.threads)
        self.learned = self._views(self.training, options.threads)
        self.stopped_on = self._views(self.validation, options.threads)
        self.scale = topic_fit.scale_of(self.learned[HIDDEN])
        sentences = len(self.learned[HIDDEN].begins)
        logger.info("%d articles of %d sentences, %d to stop on", len(self.training), sentences, len(self.validation))

    def _read(self, options: argparse.Namespace, part: Part) -> list[Article]:
        found: list[Article] = [*read_articles(options.articles, part, options.limit)]
        if options.manuals:
            found += [chapter.lines for chapter in manuals.read(options.manuals, part, options.unseen)]
        return found

    def _views(self, articles: Sequence[Article], threads: int) -> dict[View, Material]:
        return {view: material(articles, view, self.encoder, self.words, threads) for view in VIEWS.values()}


def learn(corpus: Corpus, plan: topic_fit.Plan, out: Path, without: Sequence[str] = ()) -> dict[str, Any]:
    """Train, calibrate and write ``topic.npz`` and ``topic.json`` into a folder, and return the facts.

    Args:
        corpus: The articles.
        plan: The settings.
        out: The folder.
        without: The groups of inputs (``topic_fit.NAMES``) that the network does not get.
    """
    lessons = topic_fit.Lessons(corpus.learned, corpus.scale, without)
    validation = topic_fit.Lessons(corpus.stopped_on, corpus.scale, without)
    hidden = corpus.learned[HIDDEN]
    model = topic_fit.network(hidden.vectors.shape[1], hidden.inputs.shape[1], 3 + len(corpus.words), plan)
    model, history = topic_fit.fit(model, lessons, validation, plan)
    weights = topic_fit.weights_of(model, corpus.scale, plan, corpus.words)
    _leave_out(weights, without)
    facts: dict[str, Any] = {
        "format": 1,
        "name": f"pychunk-topic-{corpus.encoder.name}",
        **write_weights(out / WEIGHTS, weights),
        "encoder": corpus.encoder.fingerprint,
        "dilations": [2**i for i in range(plan.layers)],
        "thresholds": [[200, 0.5]],
        "history": [round(each, 4) for each in history],
    }
    write_facts(out / topic_model.FACTS, facts)
    return facts


def _leave_out(weights: dict[str, Any], without: Sequence[str]) -> None:
    """Set the weights of inputs that were zero in training to zero, because training left their initial values."""
    if "vectors" in without:
        weights["vectors"][:] = 0
    if "words" in without:  # then all words were in the first class
        weights["words"] = weights["words"][:0]
        weights["first"], weights["second"] = (np.repeat(weights[name][:1], 3, 0) for name in ("first", "second"))
    for name, columns in topic_fit.GROUPS.items():
        if name in without:
            weights["inputs"][columns], weights["skip"][columns] = 0, 0


def affinities(texts: Sequence[str], encoder: Any, model: Path, threads: int) -> list[topic_eval.F32]:
    """Return the engine's score of each gap of each text."""
    found = (
        Segmenter("topic", encoder=encoder, model=model, placement=Placement(threads=threads)).cuts(list(texts)).score
    )
    assert found is not None
    return [found.part(row) for row in range(found.documents)]


def calibrate(out: Path, facts: dict[str, Any], corpus: Corpus, options: argparse.Namespace) -> None:
    """Calibrate the thresholds for wanted lengths on validation articles with hidden headings.

    It uses each article twice, with line breaks and without. Chapters of manuals, which have shorter sections, are left
    out.
    """
    found, tokens = [], 0
    for view in (HIDDEN, PARAGRAPHS):
        shown = [seen(article, view)[0] for article in corpus.validation if isinstance(article, str)]
        found += affinities(shown, options.encoder, out, options.threads)
        held = corpus.stopped_on[view]
        tokens += int(held.tokens[: held.offsets[len(shown)]].sum())
    facts["thresholds"] = [[size, round(value, 6)] for size, value in topic_eval.thresholds(found, tokens)]
    write_facts(out / topic_model.FACTS, facts)


def measured(articles: Sequence[Article], view: View, encoder: Any, model: Path, threads: int) -> dict[str, Any]:
    """Return AUC, and F1, Pk and WindowDiff without a limit of length, of a model on articles that have sections."""
    own = [each for each in (seen(each, view) for each in articles) if each[1]]
    shown = [text for text, _ in own]
    segmenter = Segmenter("topic", encoder=encoder, model=model, placement=Placement(threads=threads), max_tokens=None)
    cuts = segmenter.cuts(shown)
    right = topic_eval.articles_of(own)
    assert cuts.score is not None
    scores = [cuts.score.part(row) for row in range(cuts.documents)]
    found = [cuts.part(row)[1:].astype(np.int64) for row in range(cuts.documents)]
    every = {"AUC": topic_eval.curve(scores, right), **topic_eval.measures(found, right)}
    return {name: _rounded(value) for name, value in every.items()}


def _rounded(value: intervals.Interval) -> dict[str, float]:
    return {name: round(each, 4) for name, each in value._asdict().items()}


def train(options: argparse.Namespace) -> None:
    """Train and calibrate the topic model, and write it with its card."""
    plan = plan_from(topic_fit.Plan, options)
    import_torch().set_num_threads(options.threads)
    corpus = Corpus(options, plan)
    facts = learn(corpus, plan, options.out)
    calibrate(options.out, facts, corpus, options)
    test = read_articles(options.articles, "test", options.limit)
    arguments = (options.encoder, options.out, options.threads)
    facts |= {
        "licence": "Apache-2.0",
        "seed": plan.seed,
        "articles": {part: len(read_articles(options.articles, part, options.limit)) for part in PARTS},
        "sentences": len(corpus.learned[HIDDEN].begins),
        "metrics": {name: measured(test, view, *arguments) for name, view in VIEWS.items()},
        "command": command("python -m training.topic", options, ["encoder", *names(topic_fit.Plan)])
        + (f" --manuals manuals.parquet --unseen {' '.join(options.unseen)}" if options.manuals else ""),
    }
    if options.manuals:
        chapters = manuals.read(options.manuals, "test", languages=[*MEASURED, *options.unseen])
        facts |= {
            "chapters": {part: len(manuals.read(options.manuals, part, options.unseen)) for part in PARTS},
            "languages": sorted({each.language for each in manuals.read(options.manuals, "train", options.unseen)}),
            "unseen": options.unseen,
            "sources": {name.strip("-"): manual.licence for name, manual in manuals.MANUALS.items()},
            "manuals": {
                language: measured([each.lines for each in chapters if each.language == language], HIDDEN, *arguments)
                for language in [*MEASURED, *options.unseen]
            },
        }
    logger.info("%s", json.dumps(facts["metrics"] | facts.get("manuals", {}), indent=2))
    write_facts(options.out / topic_model.FACTS, facts, topic_card.card(facts))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("python -m training.topic", __doc__)
    add_articles(made)
    made.add_argument(
        "--encoder", default="static", metavar="NAME", help="encoder of the vectors (default: %(default)s)"
    )
    made.add_argument("--manuals", type=Path, metavar="FILE", help="chapters in many languages to learn from, too")
    made.add_argument("--unseen", nargs="*", default=[], metavar="LANGUAGE", help="languages to measure on alone")
    made.add_argument("--limit", type=int, default=0, help="articles of each part of the split; 0: all (default)")
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of torch (default: all)")
    add_out(made, static_encoder.SHIPPED)
    add_plan(made, topic_fit.Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
