"""Fine-tune MiniLM on next-sentence pairs of Wikipedia and write the model of the package pychunk-nsp.

Pairs are neighbours in an article, or two kinds of strangers: sentences of other articles and, harder, sentences from
elsewhere in the same article. Whole articles are held out for measuring. You can interrupt the training at any time.
The weights and the optimizer go to --work after every part, and the same command resumes from there. The finished model
stays in --work/float, from where --teacher trains it further, on pairs of another --stage. A CUDA device is used if
torch has one.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.encoders.cross_encoder import PairScorer
from pychunk.encoders.files import model_dir
from pychunk.training.bert_folder import write_bert
from pychunk.training.corpus import read_split
from pychunk.training.teacher import import_torch, public_name
from pychunk.training.train_options import (
    add_held_out,
    add_out,
    add_plan,
    add_teacher,
    cache_home,
    command,
    names,
    new_parser,
    plan_from,
)

from . import nsp_eval, nsp_fit, nsp_pairs
from .cards import nsp_card

logger = logging.getLogger(__name__)

NAME = "pychunk-nsp-en"
#: The number of pairs from held-out articles to measure on, half of them neighbours, and the number of neighbouring
#: pairs from training articles. The mean probability of these neighbouring pairs is the model's default threshold.
HELD_OUT_PAIRS, THRESHOLD_PAIRS = 8000, 4000
#: The fewest tokens of a whole sentence. One sentence in nine is shorter. Nearly all of these short ones are headings,
#: after which any text may follow, so no model can predict the next sentence.
WHOLE = 8
#: The tokens of a pair in the shipped model. It learned from shorter pairs; later positions are MiniLM's own.
MAX_LENGTH = 256

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Material:
    """The tokenized sentences of the articles to learn from and of those held out."""

    training: nsp_pairs.Sentences
    held_out: nsp_pairs.Sentences
    held_out_articles: int


def gather(options: argparse.Namespace) -> Material:
    """Read the articles, split them by whole article, and tokenize them."""
    learn, keep = read_split(options.articles, options.seed, options.held_out)
    training, held_out = (nsp_pairs.tokenize([text for _, text in rows]) for rows in (learn, keep))
    return Material(training, held_out, len(keep))


@dataclass(frozen=True)
class History:
    """The origin of a model: the first model and the stages of training."""

    source: str
    commands: list[str]
    pairs: int

    @classmethod
    def of(cls, directory: str) -> History:
        """Return the history that :meth:`save` wrote next to a model; any other model has no stage yet."""
        path = Path(directory) / "history.json"
        if not path.is_file():
            return cls(public_name(directory), [], 0)
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def then(self, command: str, pairs: int) -> History:
        """Return the history with one more stage."""
        return History(self.source, [*self.commands, command], self.pairs + pairs)

    def save(self, directory: Path) -> None:
        """Write the history next to the model."""
        (directory / "history.json").write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def write(out: Path, model: Any, history: History, material: Material, options: argparse.Namespace) -> None:
    """Write the model with 8-bit weights, measure it, fit its threshold, and write its facts and card."""
    weights = {name.removeprefix("bert."): value.float().cpu().numpy() for name, value in model.state_dict().items()}
    head = (weights["cls.seq_relationship.weight"], weights["cls.seq_relationship.bias"])
    write_bert(
        out,
        weights,
        model.config.to_dict(),
        head,
        name=NAME,
        task="pairs",
        max_length=MAX_LENGTH,
        source=f"{history.source}, fine-tuned",
        licence="Apache-2.0",
    )
    pairs = held_out_pairs(material, options)
    probabilities = nsp_fit.predict(model, material.held_out, pairs, MAX_LENGTH)
    metrics = {"float": report(material.held_out, pairs, probabilities), "int8": measure(out, material, options)}
    shipped = PairScorer(out)
    neighbours = nsp_pairs.draw(material.training.documents, 2 * THRESHOLD_PAIRS, 0.5, options.seed + 2)
    neighbours = neighbours.take(neighbours.kind == nsp_pairs.NEXT)
    threshold = round(float(scored(shipped, material.training, neighbours).mean(dtype=np.float64)), 4)
    notes = {
        "commands": history.commands,
        "seed": options.seed,
        "pairs": history.pairs,
        "same_document_share": options.same,
        "held_out_articles": material.held_out_articles,
        "held_out_pairs": HELD_OUT_PAIRS,
        "whole_sentence": WHOLE,
        "metrics": metrics,
    }
    describe(out, replace(shipped.facts, threshold=threshold, notes=notes))


def describe(out: Path, facts: model_dir.ModelFacts) -> None:
    """Write a model's facts and its card."""
    model_dir.write_facts(out, facts)
    (out / "README.md").write_text(nsp_card.card(facts), encoding="utf-8")


def evaluate(out: Path, material: Material, options: argparse.Namespace) -> None:
    """Measure an exported model and write its facts and card; facts that only its training knows stay unchanged.

    If the articles are not those that its training held out, figures are logged and nothing is written.
    """
    facts = PairScorer(out).facts
    found = measure(out, material, options)
    held_out = {"seed": options.seed, "held_out_articles": material.held_out_articles}
    if any(facts.notes.get(name) != value for name, value in held_out.items()):
        logger.info("its training held out other articles or none: facts and card stay unchanged")
        return
    measured = {"held_out_pairs": HELD_OUT_PAIRS, "whole_sentence": WHOLE}
    metrics = {**facts.notes["metrics"], facts.precision: found}
    describe(out, replace(facts, notes={**facts.notes, **measured, "metrics": metrics}))


def held_out_pairs(material: Material, options: argparse.Namespace) -> nsp_pairs.Pairs:
    """Return the pairs to measure models on, the same for every stage."""
    return nsp_pairs.draw(material.held_out.documents, HELD_OUT_PAIRS, 0.5, options.seed + 1)


def measure(model: Path, material: Material, options: argparse.Namespace) -> dict[str, Any]:
    """Return :func:`report` of an exported model on the held-out pairs, and log it."""
    pairs = held_out_pairs(material, options)
    found = report(material.held_out, pairs, scored(PairScorer(model), material.held_out, pairs))
    logger.info("%s", json.dumps(found, indent=2))
    return found


def report(sentences: nsp_pairs.Sentences, pairs: nsp_pairs.Pairs, probabilities: F32) -> dict[str, Any]:
    """Return scores over all pairs, and over those whose two sentences both have at least ``WHOLE`` tokens."""
    whole = sentences.lengths >= WHOLE
    rows = whole[pairs.first] & whole[pairs.second]
    return {
        "all": nsp_eval.score(probabilities, pairs.kind).rounded(),
        "whole": nsp_eval.score(probabilities[rows], pairs.kind[rows]).rounded(),
        "whole_share": round(float(rows.mean()), 4),
    }


def scored(scorer: PairScorer, sentences: nsp_pairs.Sentences, pairs: nsp_pairs.Pairs) -> F32:
    """Return the probabilities of drawn pairs by an exported model."""
    return scorer.of_tokens(sentences.tokens, pairs.first, pairs.second)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser(
        "python -m training.nsp",
        __doc__,
        "examples:\n"
        "  python -m training.nsp --pairs 20000 --out trial   a trial in minutes\n"
        "  python -m training.nsp                             the shipped model's first stage\n"
        "  python -m training.nsp --teacher WORK/float --stage 1 --work NEW    a second stage\n"
        "  python -m training.nsp --evaluate                  measure the shipped model again and write its card",
    )
    add = made.add_argument
    add_held_out(made)
    add_teacher(made, "model to start from")
    add_out(made, nsp_card.FOLDER, "the package pychunk-nsp of the checkout")
    add(
        "--work",
        type=Path,
        default=cache_home() / "nsp",
        metavar="DIR",
        help="folder of checkpoints, kept between runs (default: the user's cache)",
    )
    add_plan(made, nsp_fit.Plan())
    add(
        "--evaluate",
        action="store_true",
        help="measure the model in --out on the held-out articles, write its facts and card; train nothing",
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, or measure the existing one, and return the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = parser().parse_args(arguments)
    begun = time.monotonic()
    try:
        material = gather(options)
        if options.evaluate:
            evaluate(options.out, material, options)
            return 0
        import_torch().set_num_threads(options.threads)
        plan = plan_from(nsp_fit.Plan, options)
        options.work.mkdir(parents=True, exist_ok=True)
        model = nsp_fit.fit(nsp_fit.model_from(options.teacher), material.training, plan, options.work)
        history = History.of(options.teacher).then(
            command("python -m training.nsp", options, ["held_out", *names(plan)]), plan.pairs
        )
        model.save_pretrained(options.work / "float")
        history.save(options.work / "float")
        write(options.out, model, history, material, options)
    except KeyboardInterrupt:
        logger.info("interrupted; finished parts are in %s and the next run will use them", options.work)
        return 130
    logger.info("wrote %s after %.0f s", options.out, time.monotonic() - begun)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
