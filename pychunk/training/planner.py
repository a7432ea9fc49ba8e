"""Train the planner, which predicts from a query and a first pass over an index how good each range of levels is.

It learns from questions of mixed breadth about articles of Wikipedia. Questions of SQuAD and of Chroma's evaluation are
added if they exist. All questions are used as asked and with content words alone. Every range of levels is searched.
The network learns two values for each range: the character F1 within 150, 500 and 1,500 words, and the part of this F1
that comes from narrow questions. Articles of the test are not read.

``caution`` is the weight of narrow questions relative to others. It is determined on the training questions, with
networks that predict scores of questions about articles that they did not see. It is the smallest weight at which the
questions of SQuAD and Chroma lose next to nothing, compared with their best fixed range of levels.

    pychunk train planner --data DIR --out my-planner

Use the result with ``index.search(query, ranking=Ranking(planner=ModelPlanner("my-planner")))``
(:mod:`pychunk.index.planners.model_planner`).
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..encoders import static_encoder
from ..evaluation.measures.intervals import paired
from ..index.planners.model_planner import FACTS
from ..index.planners.planner_features import features
from . import breadth, breadth_levels
from .model_folder import write_facts, write_weights
from .teacher import import_torch
from .train_options import add_out, add_plan, command, names, new_parser, plan_from, run, setting

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
WEIGHTS = "planner.npz"
#: The weights of narrow questions to try. The smallest that does not harm the questions of SQuAD and Chroma is chosen.
CAUTIONS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 48.0)
#: The largest loss of F1 that counts as no harm, as a share of half the width of its 95 % interval.
HARMLESS = 0.5
VERSIONS = ("text", "stripped")


@dataclass(frozen=True)
class Settings:
    """The settings of the training."""

    questions: int = setting(4500, "questions to learn from")
    validation: int = setting(1800, "questions about other articles, to measure on")
    folds: int = setting(5, "parts of the articles, each of which is left out once to find the caution")
    networks: int = setting(4, "networks, whose mean is the model")
    hidden: int = setting(32, "width of the hidden layer of each network")
    epochs: int = setting(8, "passes over the questions")
    batch: int = setting(128, "questions in a step")
    rate: float = setting(2e-3, "learning rate")
    dropout: float = setting(0.3, "share of the hidden layer that is dropped in training")
    decay: float = setting(1e-3, "weight decay")
    seed: int = setting(0, "seed of questions, weights and order")


@dataclass(frozen=True)
class Lessons:
    """Questions in both versions, n rows: first all questions as asked, then all with content words alone.

    Attributes:
        seen: The features of each question, float32[n, inputs].
        f1: The F1 of each question, float64[n, ranges, budgets].
        breadth: The breadth of each question.
        alone: Whether each question is one of SQuAD or of Chroma's evaluation, bool[n].
        document: The document of each question, int64[n].
    """

    seen: F32
    f1: F64
    breadth: list[str]
    alone: npt.NDArray[np.bool_]
    document: npt.NDArray[np.int64]

    @property
    def narrow(self) -> npt.NDArray[np.bool_]:
        """The narrow questions: true for each of them, bool[n]."""
        found: npt.NDArray[np.bool_] = np.array(self.breadth) == "narrow"
        return found

    def of(self, rows: npt.NDArray[np.bool_]) -> Lessons:
        """Return some of the questions."""
        kinds = [kind for kind, own in zip(self.breadth, rows, strict=True) if own]
        return Lessons(self.seen[rows], self.f1[rows], kinds, self.alone[rows], self.document[rows])


def lessons(data: breadth.Questions, threads: int | None = None) -> Lessons:
    """Search every range of levels for all questions in both versions."""
    measure = breadth.Measure(data.documents)
    seen, f1 = [], []
    with tempfile.TemporaryDirectory() as folder:
        index = breadth_levels.index_of(data, Path(folder) / "index", threads=threads)
        for version in VERSIONS:
            queries = [getattr(question, version) for question in data.questions]
            f1.append(breadth_levels.f1_of_ranges(index, data, queries, measure=measure))
            told = index.plan_metadata(queries)
            seen += [features(query, each) for query, each in zip(queries, told, strict=True)]
            logger.info("searched %d questions, version %s", len(queries), version)
        index.close(discard=True)
    kinds = [question.breadth for question in data.questions]
    alone = np.array([question.kind in ("sentence", "passages") for question in data.questions] * len(VERSIONS))
    document = np.array([question.document for question in data.questions] * len(VERSIONS))
    return Lessons(np.array(seen, np.float32), np.concatenate(f1), kinds * len(VERSIONS), alone, document)


def expected_by(weights: dict[str, F32], seen: F32, ranges: int) -> F32:
    """Return what :meth:`PlanModel.expected` returns, for many questions, float32[n, 2, ranges, budgets]."""
    own = np.clip((seen - weights["mean"]) / weights["scale"], -5, 5).astype(np.float32)
    hidden = np.maximum(own @ weights["hidden"] + weights["hidden_bias"], 0)
    out: F32 = hidden @ weights["out"] + weights["out_bias"]
    return out.reshape(len(seen), 2, ranges, -1)


def chosen(expected: F32, caution: float, f1: F64) -> F64:
    """Return the F1 within 500 words at the ranges with the highest expected value, float64[n]."""
    middle = breadth.BUDGETS.index(500)
    choice = (expected[:, 0, :, middle] + np.float32(caution - 1) * expected[:, 1, :, middle]).argmax(axis=1)
    return np.asarray(f1[np.arange(len(f1)), choice, middle])


def cautious(learned: Lessons, settings: Settings) -> tuple[float, list[dict[str, float]]]:
    """Return the caution and the results of each of :data:`CAUTIONS`, for questions about unseen articles."""
    rng = np.random.default_rng(settings.seed)
    fold = rng.permutation(int(learned.document.max()) + 1)[learned.document] % settings.folds
    ranges = learned.f1.shape[1]
    expected = np.zeros((len(fold), 2, ranges, learned.f1.shape[2]), np.float32)
    for number in np.unique(fold):
        weights = fit(learned.of(fold != number), settings)
        expected[fold == number] = expected_by(weights, learned.seen[fold == number], ranges)
        logger.info("left out part %d of %d", number + 1, settings.folds)
    middle = breadth.BUDGETS.index(500)
    half = len(fold) // len(VERSIONS)
    table = []
    for caution in CAUTIONS:
        got = chosen(expected, caution, learned.f1)
        row = {"caution": caution}
        harmless = True
        for number, version in enumerate(VERSIONS):
            own = np.arange(len(fold)) // half == number
            alone = own & learned.alone
            best = int(learned.f1[alone, :, middle].mean(axis=0).argmax())
            minus = paired(got[alone], learned.f1[alone, best, middle])
            row |= {f"F1, {version}": float(got[own].mean()), f"narrow, {version}": minus.mean}
            harmless &= minus.mean >= -HARMLESS * (minus.high - minus.low) / 2
        table.append({name: round(value, 4) for name, value in row.items()})
        logger.info("%s", table[-1])
        if harmless:
            return caution, table
    return CAUTIONS[-1], table


def fit(learned: Lessons, settings: Settings) -> dict[str, F32]:
    """Return the weights of one network that has all units of several, and computes their mean."""
    torch = import_torch()
    mean, scale = learned.seen.mean(axis=0), learned.seen.std(axis=0) + np.float32(1e-3)
    narrow = learned.f1 * learned.narrow[:, None, None]
    targets = np.stack([learned.f1, narrow], axis=1).reshape(len(learned.f1), -1)
    centre, spread = targets.mean(axis=0), targets.std(axis=0) + 1e-3
    x = torch.tensor(np.clip((learned.seen - mean) / scale, -5, 5), dtype=torch.float32)
    y = torch.tensor((targets - centre) / spread, dtype=torch.float32)
    parts: dict[str, list[Any]] = {"hidden": [], "hidden_bias": [], "out": [], "out_bias": []}
    for number in range(settings.networks):
        torch.manual_seed(settings.seed + number)
        net = torch.nn.Sequential(
            torch.nn.Dropout(settings.dropout / 3),
            torch.nn.Linear(x.shape[1], settings.hidden),
            torch.nn.ReLU(),
            torch.nn.Dropout(settings.dropout),
            torch.nn.Linear(settings.hidden, y.shape[1]),
        )
        optimizer = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
        for _ in range(settings.epochs):
            order = torch.randperm(len(x))
            for begin in range(0, len(x), settings.batch):
                rows = order[begin : begin + settings.batch]
                loss = ((net(x[rows]) - y[rows]) ** 2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        state = {name: value.detach().numpy() for name, value in net.state_dict().items()}
        parts["hidden"].append(state["1.weight"].T)
        parts["hidden_bias"].append(state["1.bias"])
        parts["out"].append(state["4.weight"].T * spread / settings.networks)
        parts["out_bias"].append(state["4.bias"] * spread / settings.networks)
    weights = {
        "mean": mean,
        "scale": scale,
        "hidden": np.concatenate(parts["hidden"], axis=1),
        "hidden_bias": np.concatenate(parts["hidden_bias"]),
        "out": np.concatenate(parts["out"]),
        "out_bias": np.sum(parts["out_bias"], axis=0) + centre,
    }
    return {name: np.array(value, np.float32, order="C") for name, value in weights.items()}


def said(weights: dict[str, F32], caution: float, learned: Lessons, others: Lessons) -> dict[str, Any]:
    """Return the facts about the training."""
    middle = breadth.BUDGETS.index(500)
    pairs = breadth.ranges()
    kinds = np.array(learned.breadth)
    got = chosen(expected_by(weights, others.seen, len(pairs)), caution, others.f1)
    alone = others.alone
    return {
        "ranges": pairs,
        "budgets": breadth.BUDGETS,
        "questions": {"train": len(kinds) // len(VERSIONS), "validation": len(others.breadth) // len(VERSIONS)},
        "best_of_breadth": {
            name: pairs[int(learned.f1[kinds == name, :, middle].mean(axis=0).argmax())]
            for name in ("narrow", "middle", "broad")
        },
        "best_fixed": pairs[int(learned.f1[:, :, middle].mean(axis=0).argmax())],
        "metrics": {
            "learned": round(float(got.mean()), 4),
            "best fixed levels": round(float(others.f1[:, :, middle].mean(axis=0).max()), 4),
            "all levels": round(float(others.f1[:, -1, middle].mean()), 4),
            "best range of each question": round(float(others.f1[:, :, middle].max(axis=1).mean()), 4),
            "SQuAD and Chroma alone, learned": round(float(got[alone].mean()), 4),
            "SQuAD and Chroma alone, best fixed levels": round(
                float(others.f1[alone, :, middle].mean(axis=0).max()), 4
            ),
        },
    }


def train(options: argparse.Namespace) -> None:
    """Train the planner on questions of mixed breadth, and write its weights and facts."""
    settings = plan_from(Settings, options)
    import_torch().set_num_threads(1)  # so small a network gains nothing from more threads
    validation = lessons(breadth.load(options.data, "validation", settings.validation, settings.seed), options.threads)
    learned = lessons(breadth.load(options.data, "train", settings.questions, settings.seed), options.threads)
    finish(options, settings, learned, validation)


def finish(options: argparse.Namespace, settings: Settings, learned: Lessons, validation: Lessons) -> None:
    """Fit and write the model."""
    caution, table = cautious(learned, settings)
    weights = fit(learned, settings)
    facts = {
        "format": 1,
        "name": "pychunk-planner",
        **write_weights(options.out / WEIGHTS, weights),
        "encoder": static_encoder.load().fingerprint,
        "caution": caution,
        "cautions": table,
        **said(weights, caution, learned, validation),
        "licence": "Apache-2.0",
        "seed": settings.seed,
        "command": command("pychunk train planner", options, names(Settings)),
    }
    write_facts(options.out / FACTS, facts)
    logger.info("F1 within 500 words on validation questions: %s", facts["metrics"])


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("pychunk train planner", __doc__)
    made.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("PYCHUNK_DATA", "."),
        metavar="DIR",
        help="folder with wiki/articles.parquet, squad and chunking_evaluation (default: $PYCHUNK_DATA)",
    )
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of searches (default: all)")
    add_out(made)
    add_plan(made, Settings())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))
