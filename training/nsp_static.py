"""Distil the next-sentence cross-encoder into a small network on pairs of static vectors.

The network (csrc/vectors/nsp_head.h) learns the cross-encoder's probabilities for some pairs, and for many more whether
they are neighbours or strangers. It is measured on held-out articles, alone and in agreement with the cross-encoder.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.encoders import static_encoder, static_nsp
from pychunk.encoders.cross_encoder import PairScorer
from pychunk.training.model_folder import write_facts, write_weights
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import add_held_out, add_out, add_plan, command, names, new_parser, run, setting

from . import nsp, nsp_eval, nsp_pairs
from .cards import nsp_card, nsp_static_card

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Plan:
    """The settings of the distillation; ``--help`` shows each field's ``metadata["help"]``."""

    pairs: int = setting(900_000, "pairs to learn from, half of them neighbours")
    taught: int = setting(40_000, "pairs of these that the cross-encoder scores")
    same: float = setting(0.7, "share of the strangers that come from the same document")
    hidden: int = setting(32, "width of the network")
    epochs: int = setting(10, "passes over the pairs")
    batch: int = setting(1024, "pairs in a step")
    rate: float = setting(2e-3, "Adam's initial learning rate")
    seed: int = setting(0, "seed of the held-out split, of the pairs and of the initial weights")


def sentence_vectors(sentences: nsp_pairs.Sentences) -> F32:
    """Return unit static vectors of tokenized sentences, float32[n, dim]."""
    table = static_encoder.load().table.astype(np.float32)
    sums = np.zeros((len(sentences), table.shape[1]), np.float32)
    for begin in range(0, len(sentences), 8192):
        offsets = sentences.tokens.offsets[begin : begin + 8193]
        rows = table[sentences.tokens.ids[offsets[0] : offsets[-1]]]
        known = np.diff(offsets) > 0  # reduceat cannot handle empty runs
        sums[begin : begin + len(known)][known] = np.add.reduceat(rows, (offsets[:-1] - offsets[0])[known], axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(norms, 1e-12), np.float32)


def network(dim: int, hidden: int, seed: int) -> Any:
    """Return the network of csrc/vectors/nsp_head.h, as a torch module on (u, v)."""
    torch = import_torch()
    torch.manual_seed(seed)
    parts = {name: torch.nn.Linear(dim, hidden, bias=name == "first") for name in ("first", "second", "product")}
    parts["out"] = torch.nn.Linear(hidden, 1)
    return torch.nn.ModuleDict(parts)


def logits(model: Any, u: Any, v: Any) -> Any:
    """Return the network's logit for each pair of vectors."""
    inside = model["first"](u) + model["second"](v) + model["product"](u * v)
    return model["out"](inside.relu()).squeeze(1)


def fit(model: Any, vectors: F32, pairs: nsp_pairs.Pairs, wanted: F32, options: argparse.Namespace) -> None:
    """Fit with Adam on the cross-entropy with ``wanted`` probabilities; the rate falls to zero along a cosine."""
    torch = import_torch()
    table = torch.from_numpy(vectors)
    first, second = torch.from_numpy(pairs.first), torch.from_numpy(pairs.second)
    target = torch.from_numpy(wanted)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    steps = options.epochs * -(-len(pairs) // options.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    random = torch.Generator().manual_seed(options.seed)
    for epoch in range(options.epochs):
        running = 0.0
        for chosen in torch.randperm(len(pairs), generator=random).split(options.batch):
            found = logits(model, table[first[chosen]], table[second[chosen]])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(found, target[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            running += float(loss.detach()) * len(chosen)
        logger.info("epoch %d/%d: loss %.4f", epoch + 1, options.epochs, running / len(pairs))


def predict(model: Any, vectors: F32, pairs: nsp_pairs.Pairs) -> F32:
    """Return the probability that the second sentence of each pair follows the first, float32[n]."""
    torch = import_torch()
    with torch.inference_mode():
        found = logits(model, torch.from_numpy(vectors[pairs.first]), torch.from_numpy(vectors[pairs.second]))
        return np.asarray(torch.sigmoid(found).numpy(), np.float32)


def agreement(mine: F32, teacher: F32, mine_threshold: float, teacher_threshold: float) -> dict[str, float]:
    """Return the agreement with the cross-encoder on the same pairs: correlation of log-odds, equal decisions."""

    def odds(p: F32) -> npt.NDArray[np.float64]:
        clipped = np.clip(p.astype(np.float64), 1e-6, 1 - 1e-6)
        return np.log(clipped / (1 - clipped))

    same = (mine < mine_threshold) == (teacher < teacher_threshold)
    return {
        "correlation": round(float(np.corrcoef(odds(mine), odds(teacher))[0, 1]), 4),
        "equal_cuts": round(float(same.mean()), 4),
    }


def write_model(out: Path, model: Any) -> dict[str, Any]:
    """Write ``nsp_static.npz``, and return the facts of its format and weights."""
    weights = {name: model[name].weight.detach().numpy() for name in ("first", "second", "product")}
    weights["bias"] = model["first"].bias.detach().numpy()
    weights["out"] = model["out"].weight.detach().numpy()[0]
    weights["out_bias"] = model["out"].bias.detach().numpy()[0]
    return {"format": 1, **write_weights(out / "nsp_static.npz", weights)}


def train(options: argparse.Namespace) -> None:
    """Distil the cross-encoder into the network, measure both on held-out articles, and write the network."""
    import_torch().set_num_threads(options.threads)
    material = nsp.gather(options)
    teacher = PairScorer(options.teacher)
    vectors, held_vectors = sentence_vectors(material.training), sentence_vectors(material.held_out)
    pairs = nsp_pairs.draw(material.training.documents, options.pairs, options.same, options.seed + 3)
    wanted = (pairs.kind == nsp_pairs.NEXT).astype(np.float32)
    begun = time.monotonic()
    taught = pairs.take(np.arange(options.taught))
    wanted[: options.taught] = nsp.scored(teacher, material.training, taught)
    logger.info("the cross-encoder scored %d pairs in %.0f s", options.taught, time.monotonic() - begun)
    model = network(vectors.shape[1], options.hidden, options.seed)
    fit(model, vectors, pairs, wanted, options)

    held = nsp_pairs.draw(material.held_out.documents, nsp.HELD_OUT_PAIRS, 0.5, options.seed + 1)
    mine, its = predict(model, held_vectors, held), nsp.scored(teacher, material.held_out, held)
    neighbours = taught.take(taught.kind == nsp_pairs.NEXT)
    threshold = round(float(predict(model, vectors, neighbours).mean(dtype=np.float64)), 4)
    follows = held.kind == nsp_pairs.NEXT
    assert teacher.facts.threshold is not None
    metrics = {
        "static": nsp_eval.score(mine, held.kind).rounded(),
        "cross_encoder": nsp_eval.score(its, held.kind).rounded(),
        "agreement_all_pairs": agreement(mine, its, threshold, teacher.facts.threshold),
        "agreement_neighbours": agreement(mine[follows], its[follows], threshold, teacher.facts.threshold),
    }
    logger.info("%s", json.dumps(metrics, indent=2))
    facts = {
        "encoder": static_encoder.load().fingerprint,
        "teacher": teacher.fingerprint,
        "hidden": options.hidden,
        "threshold": threshold,
        "licence": "Apache-2.0",
        "seed": options.seed,
        "metrics": metrics,
        "command": command("python -m training.nsp_static", options, ["held_out", *names(Plan)]),
    }
    stored = {"name": "pychunk-nsp-static-en", **write_model(options.out, model), **facts}
    write_facts(options.out / static_nsp.FACTS, stored, nsp_static_card.card(stored))


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = new_parser("python -m training.nsp_static", __doc__)
    add_held_out(made)
    made.add_argument(
        "--teacher",
        type=Path,
        default=nsp_card.FOLDER,
        metavar="DIR",
        help="the cross-encoder (default: the shipped one)",
    )
    add_out(made, static_encoder.SHIPPED)
    add_plan(made, Plan())
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Distil and write the network, and return the process's exit status."""
    return run(train, parser().parse_args(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
