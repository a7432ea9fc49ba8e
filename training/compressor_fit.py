"""The fit of a compression encoder (csrc/vectors/compressor.h) in torch, stopped on articles that it did not see."""

from __future__ import annotations

import hashlib
import logging
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pychunk._util.durable_files import whole_file
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import setting

from .compressor_spans import F32, I64, Lessons

logger = logging.getLogger(__name__)

#: The number of features of a place, as in csrc/vectors/compressor.h.
PLACE_FEATURES = 5
#: The number of spans that are computed at a time when nothing is trained.
_BLOCK = 256


@dataclass(frozen=True)
class Plan:
    """The settings of the training."""

    heads: int = setting(2, "learned queries")
    rank: int = setting(32, "rank of the residual map, a multiple of 16")
    epochs: int = setting(10, "passes over the documents; the best on validation articles is kept")
    batch: int = setting(64, "documents in a step")
    sections: int = setting(4, "sections in a step for each document")
    names: float = setting(0.3, "weight of the sections, whose targets are their names")
    dropout: float = setting(0.0, "share of the sentences that each step leaves out at random")
    contrast: float = setting(0.0, "weight of a contrastive term: each vector should be nearest to its own target")
    temperature: float = setting(0.05, "temperature of the contrastive term")
    rate: float = setting(3e-3, "AdamW's highest learning rate")
    decay: float = setting(1e-3, "AdamW's weight decay of the map")
    seed: int = setting(0, "seed of weights and order")


def quarter_logs(counts: I64) -> F32:
    """Return log2(1 + n) / 4 of each count n, float32, linear between powers of two, as in the engine."""
    fraction, exponent = np.frexp((counts + 1).astype(np.float64))
    return np.asarray((exponent - 2 + 2 * fraction) / 4, np.float32)


def network(dim: int, plan: Plan) -> Any:
    """Return the trained arrays by name; at first, attention weights sentences by length, and the map is zero."""
    torch = import_torch()
    generator = torch.Generator().manual_seed(plan.seed)

    def normal(*shape: int) -> Any:
        return torch.nn.Parameter(torch.randn(*shape, generator=generator))

    made = {"queries": normal(plan.heads, dim), "down": normal(dim, plan.rank)}
    places = torch.zeros(2 * PLACE_FEATURES, plan.heads)
    places[0] = 4 * math.log(2)  # its exp is 1 + the length
    made["places"] = torch.nn.Parameter(places)
    for name, shape in (("mix", (plan.heads,)), ("up", (plan.rank, dim)), ("bias", (2, dim))):
        made[name] = torch.nn.Parameter(torch.zeros(*shape))
    with torch.no_grad():
        made["queries"] *= 0.5
        made["down"] *= 0.02
    return torch.nn.ParameterDict(made)


class Spans:
    """Lessons as tensors, from which some spans make a batch."""

    def __init__(self, own: Lessons) -> None:
        torch = import_torch()
        self.own = own
        self.vectors, self.targets = torch.from_numpy(own.vectors), torch.from_numpy(own.targets)
        self.lengths = quarter_logs(own.tokens)

    def outputs(self, model: Any, rows: I64, dropout: float = 0.0, drawn: Any = None) -> Any:
        """Return the network's output for some spans, float32[rows, d] of unit length, without some sentences.

        Args:
            model: The network.
            rows: The spans.
            dropout: The share of sentences to leave out; first sentences are kept.
            drawn: The random generator that chooses them.
        """
        torch = import_torch()
        first, counts = self.own.first[rows], (self.own.last - self.own.first)[rows]
        node = np.repeat(np.arange(len(rows)), counts)
        inside = np.arange(len(node)) - np.repeat(np.cumsum(counts) - counts, counts)
        if dropout:
            stays = (inside == 0) | (drawn.random(len(inside)) >= dropout)
            node, inside = node[stays], inside[stays]
        sentences = inside + first[node]
        length, place = self.lengths[sentences], (inside / counts[node]).astype(np.float32)
        near = 1 / (1 + inside.astype(np.float32))
        size = torch.from_numpy(quarter_logs(counts))[:, None]
        told = torch.from_numpy(np.stack([length, length**2, place, place**2, near], 1))
        of, heads = torch.from_numpy(node), model["mix"].shape[0]
        x = self.vectors[torch.from_numpy(sentences)]
        told = torch.cat([told, told * size[of]], 1)
        scores = x @ model["queries"].T + told @ model["places"]
        index = of[:, None].expand(-1, heads)
        highest = torch.full((len(rows), heads), -1e9).scatter_reduce(0, index, scores.detach(), "amax")
        each = torch.exp(scores - highest[of])
        weights = each / torch.zeros(len(rows), heads).index_add(0, of, each)[of]
        mixed = (weights * torch.softmax(model["mix"], 0)).sum(1, keepdim=True)
        mean = torch.nn.functional.normalize(torch.zeros(len(rows), x.shape[1]).index_add(0, of, mixed * x), dim=1)
        moved = mean @ model["down"] @ model["up"] + model["bias"][0] + size * model["bias"][1]
        return torch.nn.functional.normalize(mean + moved, dim=1)


def loss_of(found: Any, targets: Any, plan: Plan) -> Any:
    """Return the squared error, plus the contrastive term, which measures how well targets identify their vectors."""
    torch = import_torch()
    loss = ((found - targets) ** 2).sum(1).mean()
    if plan.contrast:
        cosines, own = found @ targets.T / plan.temperature, torch.arange(len(found))
        both = torch.nn.functional.cross_entropy(cosines, own) + torch.nn.functional.cross_entropy(cosines.T, own)
        loss = loss + plan.contrast * both / 2
    return loss


def mean_cosine(model: Any, spans: Spans) -> float:
    """Return the mean cosine of the documents to their targets."""
    torch = import_torch()
    total = 0.0
    with torch.no_grad():
        for begin in range(0, spans.own.documents, _BLOCK):
            rows = np.arange(begin, min(begin + _BLOCK, spans.own.documents))
            total += float((spans.outputs(model, rows) * spans.targets[torch.from_numpy(rows)]).sum())
    return total / spans.own.documents


def fit(learned: Lessons, stopped_on: Lessons, plan: Plan, checkpoint: Path) -> tuple[dict[str, F32], list[float]]:
    """Return the weights by name, and the mean cosine on ``stopped_on``'s documents after each pass.

    After each pass the state goes to ``checkpoint``, from which the same run resumes with the same result.

    Raises:
        ValueError: The checkpoint belongs to another run.
    """
    torch = import_torch()
    spans, other = Spans(learned), Spans(stopped_on)
    model = network(learned.vectors.shape[1], plan)
    of_map = [model["down"], model["up"]]
    rest = [value for name, value in model.items() if name not in ("down", "up")]
    optimizer = torch.optim.AdamW(
        [{"params": of_map, "weight_decay": plan.decay}, {"params": rest, "weight_decay": 0.0}], lr=plan.rate
    )
    run = {**asdict(plan), "data": hashlib.sha256(learned.targets.tobytes()).hexdigest()}
    history: list[float] = []
    best: dict[str, Any] = {}
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        if state["run"] != run:
            raise ValueError(f"{checkpoint} belongs to another run: remove it, or run with {state['run']}")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        history, best = state["history"], state["best"]
        logger.info("resumes after pass %d", len(history))
    steps = max(1, learned.documents // plan.batch)
    for epoch in range(len(history), plan.epochs):
        drawn = np.random.default_rng([plan.seed, epoch])
        order = drawn.permutation(learned.documents)
        for step in range(steps):
            _set_rate(optimizer, plan, epoch * steps + step, plan.epochs * steps)
            rows = order[step * plan.batch : (step + 1) * plan.batch]
            found = spans.outputs(model, rows, plan.dropout, drawn)
            loss = loss_of(found, spans.targets[torch.from_numpy(rows)], plan)
            if plan.names and len(learned.first) > learned.documents:
                rows = drawn.integers(learned.documents, len(learned.first), plan.batch * plan.sections)
                found = spans.outputs(model, rows, plan.dropout, drawn)
                loss = loss + plan.names * loss_of(found, spans.targets[torch.from_numpy(rows)], plan)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        history.append(mean_cosine(model, other))
        logger.info("pass %d: loss %.4f, cosine on validation %.4f", epoch + 1, float(loss.detach()), history[-1])
        if history[-1] == max(history):
            best = {name: value.detach().clone() for name, value in model.items()}
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        state = {"run": run, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
        with whole_file(checkpoint) as file:
            torch.save({**state, "history": history, "best": best}, file)
    best["mix"] = torch.softmax(best["mix"], 0)
    return {name: np.ascontiguousarray(value.numpy(), np.float32) for name, value in best.items()}, history


def _set_rate(optimizer: Any, plan: Plan, step: int, steps: int) -> None:
    """Set the rate, which rises over 20 steps and then falls along half a cosine wave."""
    for group in optimizer.param_groups:
        group["lr"] = plan.rate * min(1.0, (step + 1) / 20) * 0.5 * (1 + math.cos(math.pi * step / steps))
