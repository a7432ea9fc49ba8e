"""Train the planner, which predicts from a query and a first pass over an index how good each range of levels is.

It learns from questions of mixed breadth about articles of Wikipedia. Questions of SQuAD are added if they exist. All
questions are used as asked and with content words alone. Every range of levels is searched. The network learns two
values for each range: the character F1 within 150, 500 and 1,500 words, and whether these words contain the answer of a
narrow question. Articles of the test are not read, and nothing is learned from Chroma's questions.

Two numbers are determined on the training questions, with networks that predict scores of questions about articles that
they did not see. ``caution`` is the weight of the answers of narrow questions. It is the smallest weight at which these
questions, as asked, lose next to nothing compared with plain chunks. ``margin`` is the floor: plain chunks are left
only for levels whose predicted value is higher by more than this. Above it, the true gain is above zero, too.

    pychunk train planner --data DIR --out my-planner

Use the result with ``index.search(query, ranking=Ranking(planner="my-planner"))``.
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
from ..index.planners.model_planner import FACTS
from ..index.planners.planner_features import features
from . import breadth, breadth_collections, breadth_levels
from .model_folder import write_facts, write_weights
from .teacher import import_torch
from .train_options import add_out, add_plan, command, names, new_parser, plan_from, run, setting

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
WEIGHTS = "planner.npz"
#: The weights of narrow questions to try. The smallest that does not harm narrow questions is chosen.
CAUTIONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 2.0)
#: The largest share of answers whose loss counts as no harm.
HARMLESS = 0.002
VERSIONS = ("text", "stripped")
#: The range of plain chunks.
PLAIN = ("group", "group")
#: The questions in each group for which a mean gain is determined.
GROUP = 500
#: The most documents of a small collection of long documents.
LONG = 3
#: The budget of 500 words.
MIDDLE = breadth.BUDGETS.index(500)


@dataclass(frozen=True)
class Settings:
    """The settings of the training."""

    questions: int = setting(7500, "questions to learn from")
    validation: int = setting(1800, "questions about other articles, to measure on")
    small: int = setting(64, "most documents of the small collections, about which each question is asked again")
    folds: int = setting(5, "parts of the articles, each of which is left out once to find the caution")
    networks: int = setting(4, "networks, whose mean is the model")
    hidden: int = setting(32, "width of the hidden layer of each network")
    epochs: int = setting(20, "passes over the questions")
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
        held: Whether each question's answer is in the returned text, bool[n, ranges, budgets].
        breadth: The breadth of each question.
        document: The document of each question, int64[n].
    """

    seen: F32
    f1: F64
    held: npt.NDArray[np.bool_]
    breadth: list[str]
    document: npt.NDArray[np.int64]

    @property
    def narrow(self) -> npt.NDArray[np.bool_]:
        """The narrow questions: true for each of them, bool[n]."""
        found: npt.NDArray[np.bool_] = np.array(self.breadth) == "narrow"
        return found

    @property
    def targets(self) -> F64:
        """F1 and whether a narrow question is answered, float64[n, 2, ranges, budgets]."""
        return np.stack([self.f1, self.held * self.narrow[:, None, None]], axis=1)

    def of(self, rows: npt.NDArray[np.bool_]) -> Lessons:
        """Return some of the questions."""
        kinds = [kind for kind, own in zip(self.breadth, rows, strict=True) if own]
        return Lessons(self.seen[rows], self.f1[rows], self.held[rows], kinds, self.document[rows])


def lessons(data: breadth.Questions, threads: int | None = None, small: int = 0, seed: int = 0) -> Lessons:
    """Search every range of levels for all questions in both versions.

    Args:
        data: The questions.
        threads: The number of threads.
        small: If above 0, each question is also asked about a collection of at most this many documents. In small
            collections, there are fewer documents than hits in a first pass, and any hit is more likely to be right.
            In half of them, the documents are joined to at most :data:`LONG`.
        seed: The seed of the collections.
    """
    every = np.arange(len(data.documents))
    found = [_asked(data, every, threads)]
    logger.info("searched %d questions in both versions", len(data.questions))
    small_ones = breadth_collections.collections(len(every), small, seed) if small else []
    for number, documents in enumerate(small_ones):
        own = breadth_collections.about(data, documents.tolist())
        if own.questions:
            alone = _asked(own, documents, threads) if number % 2 else None
            found.append(alone or _asked(breadth_collections.joined(own, LONG), documents, threads, own.questions))
    return _joined(found)


def _joined(parts: Sequence[Lessons]) -> Lessons:
    """Join lessons, so that all questions as asked are before all with content words alone."""
    order = np.argsort(np.concatenate([np.arange(len(own.seen)) >= len(own.seen) // 2 for own in parts]), kind="stable")
    kinds = [kind for own in parts for kind in own.breadth]
    seen, f1, held, document = (
        np.concatenate([getattr(own, name) for own in parts])[order] for name in ("seen", "f1", "held", "document")
    )
    return Lessons(seen, f1, held, [kinds[row] for row in order], document)


def _asked(
    data: breadth.Questions,
    numbers: I64,
    threads: int | None,
    apart: Sequence[breadth.Question] | None = None,
) -> Lessons:
    """Search one collection.

    Args:
        data: The collection.
        numbers: The numbers of its documents in the lessons.
        threads: The number of threads.
        apart: The questions before documents were joined. None: no documents were joined.
    """
    measure = breadth.Measure(data.documents)
    seen, scores = [], []
    with tempfile.TemporaryDirectory() as folder:
        index = breadth_levels.index_of(data, Path(folder) / "index", threads=threads)
        for version in VERSIONS:
            queries = [getattr(question, version) for question in data.questions]
            scores.append(breadth_levels.scores_of_ranges(index, data, queries, measure=measure))
            told = index.plan_metadata(queries)
            seen += [features(query, each) for query, each in zip(queries, told, strict=True)]
        index.close(discard=True)
    kinds = [question.breadth for question in data.questions]
    document = numbers[[question.document for question in apart or data.questions] * len(VERSIONS)]
    f1, held = (np.concatenate(each) for each in zip(*scores, strict=True))
    return Lessons(np.array(seen, np.float32), f1, held, kinds * len(VERSIONS), document)


def expected_by(weights: dict[str, F32], seen: F32, ranges: int) -> F32:
    """Return what :meth:`PlanModel.expected` returns, for many questions, float32[n, 2, ranges, budgets]."""
    own = np.clip((seen - weights["mean"]) / weights["scale"], -5, 5).astype(np.float32)
    hidden = np.maximum(own @ weights["hidden"] + weights["hidden_bias"], 0)
    out: F32 = hidden @ weights["out"] + weights["out_bias"]
    return out.reshape(len(seen), 2, ranges, -1)


def choices(expected: F32, caution: float, margin: float) -> I64:
    """Return the range that :meth:`PlanModel.choice` chooses within 500 words for each question, int64[n].

    Args:
        expected: The numbers of :func:`expected_by`.
        caution: The weight of the answers of narrow questions.
        margin: How much more than plain chunks a range must promise.
    """
    value = expected[:, 0, :, MIDDLE] + np.float32(caution) * expected[:, 1, :, MIDDLE]
    best, plain = value.argmax(axis=1), breadth.ranges().index(PLAIN)
    return np.where(value.max(axis=1) - value[:, plain] > margin, best, plain).astype(np.int64)


def least_margin(expected: F32, targets: F64, caution: float) -> float:
    """Return the predicted gain over plain chunks above which the true gain is above zero.

    The questions are sorted by the gain that the network predicts, and divided into groups of :data:`GROUP`. The margin
    is the highest predicted gain of the last group whose mean true gain is not above zero at a level of 95 %.

    Args:
        expected: The numbers of :func:`expected_by` for questions that the network did not see.
        targets: The true numbers, :attr:`Lessons.targets`.
        caution: The weight of the answers of narrow questions.
    """
    predicted, true = (each[:, 0, :, MIDDLE] + caution * each[:, 1, :, MIDDLE] for each in (expected, targets))
    best, plain = predicted.argmax(axis=1), breadth.ranges().index(PLAIN)
    rows = np.arange(len(best))
    gain, real = predicted[rows, best] - predicted[:, plain], true[rows, best] - true[:, plain]
    rows = np.flatnonzero(gain > 0)
    rows = rows[np.argsort(gain[rows], kind="stable")]
    margin = 0.0
    for first in range(0, len(rows), GROUP):
        own = rows[first : first + GROUP]
        if real[own].mean() <= 1.96 * real[own].std() / np.sqrt(len(own)):
            margin = float(gain[own[-1]])
    return margin


def cautious(learned: Lessons, settings: Settings) -> tuple[float, float, list[dict[str, float]]]:
    """Return caution and margin, and the results of each of :data:`CAUTIONS`, for questions about unseen articles."""
    rng = np.random.default_rng(settings.seed)
    fold = rng.permutation(int(learned.document.max()) + 1)[learned.document] % settings.folds
    ranges = learned.f1.shape[1]
    expected = np.zeros((len(fold), 2, ranges, learned.f1.shape[2]), np.float32)
    for number in np.unique(fold):
        weights = fit(learned.of(fold != number), settings)
        expected[fold == number] = expected_by(weights, learned.seen[fold == number], ranges)
        logger.info("left out part %d of %d", number + 1, settings.folds)
    targets, rows = learned.targets, np.arange(len(fold))
    version = rows // (len(fold) // len(VERSIONS))
    held, plain = targets[:, 1, :, MIDDLE], breadth.ranges().index(PLAIN)
    table = []
    for caution in CAUTIONS:
        margin = least_margin(expected, targets, caution)
        choice = choices(expected, caution, margin)
        row = {"caution": caution, "margin": margin}
        lost = []
        for number, name in enumerate(VERSIONS):
            own = version == number
            row[f"F1, {name}"] = float(learned.f1[rows, choice, MIDDLE][own].mean())
            own &= learned.narrow
            minus = float((held[rows, choice][own] - held[own, plain]).mean())
            row[f"answers minus plain chunks, {name}"] = minus
            lost.append(minus < -HARMLESS)
        table.append({name: round(value, 5) for name, value in row.items()})
        logger.info("%s", table[-1])
        if not lost[0]:
            return caution, margin, table
    return CAUTIONS[-1], margin, table


def fit(learned: Lessons, settings: Settings) -> dict[str, F32]:
    """Return the weights of one network that has all units of several, and computes their mean."""
    torch = import_torch()
    mean, scale = learned.seen.mean(axis=0), learned.seen.std(axis=0) + np.float32(1e-3)
    targets = learned.targets.reshape(len(learned.f1), -1)
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


def said(weights: dict[str, F32], caution: float, margin: float, learned: Lessons, others: Lessons) -> dict[str, Any]:
    """Return the facts about the training."""
    pairs = breadth.ranges()
    kinds = np.array(learned.breadth)
    choice = choices(expected_by(weights, others.seen, len(pairs)), caution, margin)
    rows, plain, narrow = np.arange(len(choice)), pairs.index(PLAIN), others.narrow
    f1, held = others.f1[:, :, MIDDLE], others.held[narrow, :, MIDDLE]
    return {
        "ranges": pairs,
        "budgets": breadth.BUDGETS,
        "plain": PLAIN,
        "questions": {
            "train and small collections": len(kinds) // len(VERSIONS),
            "validation": len(others.breadth) // len(VERSIONS),
        },
        "best_of_breadth": {
            name: pairs[int(learned.f1[kinds == name, :, MIDDLE].mean(axis=0).argmax())]
            for name in ("narrow", "middle", "broad")
        },
        "best_fixed": pairs[int(learned.f1[:, :, MIDDLE].mean(axis=0).argmax())],
        "metrics": {
            "learned": round(float(f1[rows, choice].mean()), 4),
            "plain chunks": round(float(f1[:, plain].mean()), 4),
            "best fixed levels": round(float(f1.mean(axis=0).max()), 4),
            "all levels": round(float(f1[:, -1].mean()), 4),
            "best range of each question": round(float(f1.max(axis=1).mean()), 4),
            "answers of narrow questions, learned": round(float(held[np.arange(len(held)), choice[narrow]].mean()), 4),
            "answers of narrow questions, plain chunks": round(float(held[:, plain].mean()), 4),
        },
    }


def train(options: argparse.Namespace) -> None:
    """Train the planner on questions of mixed breadth, and write its weights and facts."""
    settings = plan_from(Settings, options)
    import_torch().set_num_threads(1)  # so small a network gains nothing from more threads
    validation = lessons(breadth.load(options.data, "validation", settings.validation, settings.seed), options.threads)
    data = breadth.load(options.data, "train", settings.questions, settings.seed)
    learned = lessons(data, options.threads, settings.small, settings.seed)
    finish(options, settings, learned, validation)


def finish(options: argparse.Namespace, settings: Settings, learned: Lessons, validation: Lessons) -> None:
    """Fit and write the model."""
    caution, margin, table = cautious(learned, settings)
    weights = fit(learned, settings)
    facts = {
        "format": 1,
        "name": "pychunk-planner",
        **write_weights(options.out / WEIGHTS, weights),
        "encoder": static_encoder.load().fingerprint,
        "caution": caution,
        "margin": margin,
        "cautions": table,
        **said(weights, caution, margin, learned, validation),
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
