"""The fit in torch of a network that finds section starts (csrc/vectors/topic.h), stopped on unseen articles."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.training.teacher import import_torch
from pychunk.training.train_options import setting

from .nsp_eval import area_under_curve
from .topic_articles import HIDDEN, PARAGRAPHS, WHOLE, Material, View

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]

#: The inputs of csrc/vectors/topic_inputs.h by group; "vectors" and "words" are separate inputs.
GROUPS: dict[str, slice] = {
    "cosines": slice(0, 7),
    "length": slice(7, 8),
    "repetition": slice(8, 12),
    "breaks": slice(12, 17),
}
#: The inputs that may be left out, to measure their value.
NAMES = ("vectors", "words", *GROUPS)
#: The number of sentences of zeros between two articles. It is so large that no layer sees two articles at once.
_BETWEEN = 32


@dataclass(frozen=True)
class Plan:
    """The settings of the training; ``--help`` shows each field's ``metadata["help"]``."""

    channels: int = setting(32, "width of the network, a multiple of 16")
    seen: int = setting(16, "channels to which vectors are added, a multiple of 16")
    taps: int = setting(3, "sentences that one layer's convolution reads")
    layers: int = setting(4, "layers; their dilations are 1, 2, 4 ...")
    words: int = setting(509, "first words of sentences that the network knows")
    epochs: int = setting(9, "passes over the articles; the best on validation articles is kept")
    batch: int = setting(48, "articles in a step")
    rate: float = setting(3e-3, "AdamW's highest learning rate")
    decay: float = setting(1e-3, "AdamW's weight decay")
    dropout: float = setting(0.3, "dropout before each layer")
    vector_dropout: float = setting(0.3, "dropout of the vectors' columns")
    headings: float = setting(0.2, "share of the articles with headings and line breaks")
    breaks: float = setting(0.5, "share of the other articles with line breaks")
    seed: int = setting(0, "seed of the initial weights and of the order")


def network(dim: int, inputs: int, classes: int, plan: Plan) -> Any:
    """Return the network of csrc/vectors/topic.h, as torch modules by name."""
    torch = import_torch()
    torch.manual_seed(plan.seed)
    nn, width = torch.nn, plan.channels
    made = {"vectors": nn.Linear(dim, plan.seen, bias=False), "inputs": nn.Linear(inputs, width)}
    for name in ("first", "second"):
        made[name] = nn.Embedding(classes, width)
        nn.init.normal_(made[name].weight, std=0.02)
    made["layers"] = nn.ModuleList(
        nn.Conv1d(width, width, plan.taps, dilation=2**i, padding=2**i * (plan.taps // 2)) for i in range(plan.layers)
    )
    made["out"], made["skip"] = nn.Linear(width, 1), nn.Linear(inputs, 1, bias=False)
    return nn.ModuleDict(made)


#: The factor of vectors, whose entries are about 1/16. With it they are learned as fast as the other inputs.
VECTOR_SCALE = 8.0


def logits(model: Any, batch: Batch, plan: Plan, training: bool) -> Any:
    """Return the logits that a section begins with each sentence, float32[n]."""
    torch = import_torch()

    def drop(x: Any, share: float) -> Any:
        return torch.nn.functional.dropout(x, share, training)

    words = model["first"](batch.words[:, 0]) + model["second"](batch.words[:, 1])
    hidden = model["inputs"](drop(batch.inputs, 0.1)) + drop(words, 0.2)
    projected = model["vectors"](drop(batch.vectors * VECTOR_SCALE, plan.vector_dropout))
    hidden = hidden + torch.nn.functional.pad(projected, (0, plan.channels - plan.seen))
    hidden = (hidden.relu() * batch.there[:, None]).T[None]
    for layer in model["layers"]:
        hidden = (hidden + layer(drop(hidden, plan.dropout)).relu()) * batch.there
    return (model["out"](drop(hidden[0].T, plan.dropout)) + model["skip"](batch.inputs)).squeeze(1)


@dataclass(frozen=True)
class Batch:
    """Sentences of some articles as tensors, with rows of zeros between articles; ``there`` is 0 for these rows."""

    vectors: Any
    inputs: Any
    words: Any
    begins: Any
    there: Any


class Lessons:
    """Articles in several views, with inputs scaled by mean and deviation of the training articles' hidden view.

    Args:
        views: The articles in each view.
        scale: The mean and deviation of each input.
        without: The groups of inputs (:data:`NAMES`) that are zero for the network.
    """

    def __init__(self, views: Mapping[View, Material], scale: tuple[F32, F32], without: Sequence[str] = ()) -> None:
        self.views, self._without = views, without
        self._mean, self._deviation = scale

    def batch(self, chosen: Sequence[tuple[View, int]]) -> Batch:
        """Return the chosen articles, given as (view, row), as one batch."""
        torch = import_torch()
        parts: dict[str, list[Any]] = {name: [] for name in ("vectors", "inputs", "words", "begins", "there")}
        for view, row in chosen:
            of = self.views[view]
            own = slice(of.offsets[row], of.offsets[row + 1])
            scaled = (of.inputs[own] - self._mean) / self._deviation
            for name in self._without:
                if name in GROUPS:
                    scaled[:, GROUPS[name]] = 0
            vectors = of.vectors[own] * np.float16("vectors" not in self._without)
            words = of.words[own].astype(np.int64) * ("words" not in self._without)
            there = np.ones(len(scaled), np.float32)
            for name, value in (
                ("vectors", vectors),
                ("inputs", scaled),
                ("words", words),
                ("begins", of.begins[own].astype(np.float32)),
                ("there", there),
            ):
                parts[name] += [value, np.zeros((_BETWEEN, *value.shape[1:]), value.dtype)]
        found = {name: torch.from_numpy(np.concatenate(each)) for name, each in parts.items()}
        return Batch(**{**found, "vectors": found["vectors"].float()})


def scale_of(hidden: Material) -> tuple[F32, F32]:
    """Return (mean, deviation) of each input, float32[inputs]; yes-or-no inputs stay unchanged."""
    mean, deviation = hidden.inputs.mean(axis=0), hidden.inputs.std(axis=0) + np.float32(1e-3)
    mean[GROUPS["breaks"]], deviation[GROUPS["breaks"]] = 0.0, 1.0
    return mean, deviation


def scores(model: Any, lessons: Lessons, view: View, plan: Plan) -> list[F32]:
    """Return the logits of each article of a view, float32[sentences]."""
    torch, found = import_torch(), []
    with torch.inference_mode():
        for row in range(lessons.views[view].articles):
            made = logits(model, lessons.batch([(view, row)]), plan, False)
            found.append(np.asarray(made[:-_BETWEEN].numpy(), np.float32))
    return found


def curve(found: Sequence[F32], of: Material) -> float:
    """Return the area under the curve of all gaps of all articles."""
    flat = np.concatenate([each[1:] for each in found])
    true = np.concatenate([of.begins[a + 1 : b] for a, b in zip(of.offsets, of.offsets[1:], strict=False)])
    return area_under_curve(flat[true > 0], flat[true == 0])


def fit(model: Any, lessons: Lessons, validation: Lessons, plan: Plan) -> tuple[Any, list[float]]:
    """Return the best network of all epochs, and each epoch's area under the curve.

    The area is that on validation articles with hidden headings. The networks that are compared and kept are a moving
    average of the weights over some 200 steps.
    """
    torch, random = import_torch(), np.random.default_rng(plan.seed)
    matrices = [each for each in model.parameters() if each.ndim > 1]
    others = [each for each in model.parameters() if each.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": plan.decay}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.99))
    articles = min(each.articles for each in lessons.views.values())
    rounds = max(1, articles // plan.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, plan.rate, total_steps=plan.epochs * rounds, pct_start=0.15
    )
    hidden = 1 - plan.headings
    shares = {HIDDEN: hidden * (1 - plan.breaks), PARAGRAPHS: hidden * plan.breaks, WHOLE: plan.headings}
    views, weights = list(shares), list(shares.values())
    average, best, history, begun = copy.deepcopy(model), copy.deepcopy(model), [0.0], time.monotonic()
    step = 0
    for epoch in range(plan.epochs):
        running = 0.0
        order = random.permutation(articles)
        for part in range(rounds):
            rows = order[part * plan.batch : (part + 1) * plan.batch]
            batch = lessons.batch([(views[random.choice(len(views), p=weights)], int(row)) for row in rows])
            found = logits(model, batch, plan, True)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(found, batch.begins, reduction="none")
            loss = (losses * batch.there).sum() / batch.there.sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            running, step = running + float(loss.detach()), step + 1
            with torch.no_grad():
                for kept, now in zip(average.parameters(), model.parameters(), strict=True):
                    kept.lerp_(now, 1 - min(0.995, (1 + step) / (10 + step)))
        found_area = curve(scores(average, validation, HIDDEN, plan), validation.views[HIDDEN])
        if found_area > max(history):
            best = copy.deepcopy(average)
        history.append(found_area)
        logger.info(
            "epoch %d/%d: loss %.4f, validation %.4f, %.0f s",
            *(epoch + 1, plan.epochs, running / rounds, found_area, time.monotonic() - begun),
        )
    return best, history[1:]


def weights_of(model: Any, scale: tuple[F32, F32], plan: Plan, words: npt.NDArray[np.uint64]) -> dict[str, Any]:
    """Return arrays as the engine reads them, float16, with scales folded into the weights that they belong to."""
    state = {name: value.detach().numpy().astype(np.float64) for name, value in model.state_dict().items()}
    mean, deviation = (each.astype(np.float64) for each in scale)
    inputs, skip = state["inputs.weight"] / deviation, state["skip.weight"][0] / deviation
    found = {
        "vectors": state["vectors.weight"].T * VECTOR_SCALE,
        "inputs": inputs.T,
        "first": state["first.weight"],
        "second": state["second.weight"],
        "bias": state["inputs.bias"] - inputs @ mean,
        "out": state["out.weight"][0],
        "skip": skip,
        "out_bias": state["out.bias"][0] - skip @ mean,
    }
    for i in range(plan.layers):
        taps = state[f"layers.{i}.weight"]  # [out, in, taps]
        found[f"layer_{i}"] = taps.transpose(2, 1, 0).reshape(-1, plan.channels)
        found[f"bias_{i}"] = state[f"layers.{i}.bias"]
    half: dict[str, Any] = {name: np.ascontiguousarray(value, np.float16) for name, value in found.items()}
    return {**half, "words": words}
