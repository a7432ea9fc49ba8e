"""Trains the planner: of a query and a first pass over an index of levels, what each range of levels brings.

From questions of mixed breadth about articles of Wikipedia and, where they are, of SQuAD and of Chroma's evaluation, as
they are asked and stripped of their form. Every range of levels is searched, and the network learns the character F1
within 150, 500 and 1,500 words. Other articles stop it; those of the test are not read.

    python -m pychunk.training.planner --data $PYCHUNK_DATA
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

from ..encoders import static
from ..evaluation import breadth, breadth_levels
from ..retrieval.plan_features import features
from ..retrieval.plan_learned import FACTS
from . import planner_card
from .options import add_out, add_plan, command, names, new_parser, plan_from, run, setting
from .teacher import import_torch
from .written import write_facts, write_weights

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
WEIGHTS = "planner.npz"
VERSIONS = ("text", "stripped")


@dataclass(frozen=True)
class Settings:
    """How it is trained."""

    questions: int = setting(4500, "questions to learn from")
    validation: int = setting(1800, "questions to stop on")
    hidden: int = setting(32, "width of the hidden layer")
    epochs: int = setting(20, "passes over the questions at most; the best on the validation questions is kept")
    batch: int = setting(128, "questions a step")
    rate: float = setting(2e-3, "learning rate")
    dropout: float = setting(0.3, "share of the hidden layer left out in training")
    decay: float = setting(1e-3, "weight decay")
    seed: int = setting(0, "of questions, weights and order")


@dataclass(frozen=True)
class Lessons:
    """Features float32[n, inputs], F1 float64[n, ranges, budgets] and breadth of n questions in both versions."""

    seen: F32
    f1: F64
    breadth: list[str]


def lessons(data: breadth.Questions, threads: int | None = None) -> Lessons:
    """Searches every range of levels for all questions in both versions."""
    measure = breadth.Measure(data.documents)
    seen, f1 = [], []
    with tempfile.TemporaryDirectory() as folder:
        index = breadth_levels.index_of(data, Path(folder) / "index", threads=threads)
        for version in VERSIONS:
            queries = [getattr(question, version) for question in data.questions]
            f1.append(breadth_levels.f1_of_ranges(index, data, queries, measure=measure, threads=threads))
            told = index.plan_metadata(queries, threads=threads)
            seen += [features(query, each) for query, each in zip(queries, told, strict=True)]
            logger.info("searched %d questions, version %s", len(queries), version)
        index.close(discard=True)
    kinds = [question.breadth for question in data.questions]
    return Lessons(np.array(seen, np.float32), np.concatenate(f1), kinds * len(VERSIONS))


def fit(learned: Lessons, stopped_on: Lessons, settings: Settings) -> tuple[dict[str, F32], list[float]]:
    """Weights, and after each pass the mean F1 within 500 words on the questions that training is stopped on."""
    torch = import_torch()
    torch.manual_seed(settings.seed)
    mean, scale = learned.seen.mean(axis=0), learned.seen.std(axis=0) + np.float32(1e-3)
    ranges, budgets = learned.f1.shape[1:]
    targets = learned.f1.reshape(len(learned.f1), -1)
    centre = targets.mean(axis=0)
    spread = np.tile(learned.f1.std(axis=(0, 1)), ranges) + 1e-3

    def inputs(own: Lessons) -> Any:
        return torch.tensor(np.clip((own.seen - mean) / scale, -5, 5), dtype=torch.float32)

    x, y = inputs(learned), torch.tensor((targets - centre) / spread, dtype=torch.float32)
    other = inputs(stopped_on)
    net = torch.nn.Sequential(
        torch.nn.Dropout(settings.dropout / 3),
        torch.nn.Linear(x.shape[1], settings.hidden),
        torch.nn.ReLU(),
        torch.nn.Dropout(settings.dropout),
        torch.nn.Linear(settings.hidden, ranges * budgets),
    )
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
    middle = breadth.BUDGETS.index(500)
    history: list[float] = []
    best: dict[str, Any] = {}
    for _ in range(settings.epochs):
        net.train()
        order = torch.randperm(len(x))
        for begin in range(0, len(x), settings.batch):
            rows = order[begin : begin + settings.batch]
            loss = ((net(x[rows]) - y[rows]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            expected = net(other).numpy() * spread + centre
        choice = expected.reshape(-1, ranges, budgets)[:, :, middle].argmax(axis=1)
        history.append(float(stopped_on.f1[np.arange(len(choice)), choice, middle].mean()))
        if history[-1] == max(history):
            best = {name: value.clone() for name, value in net.state_dict().items()}
    weights = {
        "mean": mean,
        "scale": scale,
        "hidden": best["1.weight"].numpy().T,
        "hidden_bias": best["1.bias"].numpy(),
        "out": best["4.weight"].numpy().T * spread,
        "out_bias": best["4.bias"].numpy() * spread + centre,
    }
    return {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}, history


def said(history: list[float], learned: Lessons, stopped_on: Lessons) -> dict[str, Any]:
    """What the facts say of the training."""
    middle = breadth.BUDGETS.index(500)
    pairs = breadth.ranges()
    kinds = np.array(learned.breadth)
    return {
        "ranges": pairs,
        "budgets": breadth.BUDGETS,
        "history": [round(each, 4) for each in history],
        "questions": {"train": len(kinds) // len(VERSIONS), "validation": len(stopped_on.breadth) // len(VERSIONS)},
        "best_of_breadth": {
            name: pairs[int(learned.f1[kinds == name, :, middle].mean(axis=0).argmax())]
            for name in ("narrow", "middle", "broad")
        },
        "best_fixed": pairs[int(learned.f1[:, :, middle].mean(axis=0).argmax())],
        "metrics": {
            "learned": round(max(history), 4),
            "best fixed levels": round(float(stopped_on.f1[:, :, middle].mean(axis=0).max()), 4),
            "all levels": round(float(stopped_on.f1[:, -1, middle].mean()), 4),
            "best range of each question": round(float(stopped_on.f1[:, :, middle].max(axis=1).mean()), 4),
        },
    }


def train(options: argparse.Namespace) -> None:
    settings = plan_from(Settings, options)
    import_torch().set_num_threads(1)  # a network this small gains nothing by more
    validation = lessons(breadth.load(options.data, "validation", settings.validation, settings.seed), options.threads)
    learned = lessons(breadth.load(options.data, "train", settings.questions, settings.seed), options.threads)
    finish(options, settings, learned, validation)


def finish(options: argparse.Namespace, settings: Settings, learned: Lessons, validation: Lessons) -> None:
    """Fits, writes the model and its card."""
    weights, history = fit(learned, validation, settings)
    facts = {
        "format": 1,
        "name": "pychunk-planner",
        **write_weights(options.out / WEIGHTS, weights),
        "encoder": static.load().fingerprint,
        **said(history, learned, validation),
        "licence": "Apache-2.0",
        "seed": settings.seed,
        "command": command("planner", options, names(Settings)),
    }
    write_facts(options.out / FACTS, facts, planner_card.card(facts))
    logger.info("F1 within 500 words on validation questions: %s", facts["metrics"])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = new_parser("planner", __doc__)
    made.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("PYCHUNK_DATA", "."),
        metavar="DIR",
        help="folder with wiki/articles.parquet, squad and chunking_evaluation (default: $PYCHUNK_DATA)",
    )
    made.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of searches (default: all)")
    add_out(made, static.SHIPPED)
    add_plan(made, Settings())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write the model; the process's exit status."""
    return run(train, parser().parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
