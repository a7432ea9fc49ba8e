"""Distils the next-sentence cross-encoder into a small network on pairs of static vectors.

The network (csrc/pair_head.h) learns the cross-encoder's probabilities for some pairs and the plain truth, neighbour or
stranger, for many more. It is measured on held-out articles, beside the cross-encoder and against it.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..encoders import static, static_pairs
from ..encoders.model_dir import sha256
from ..encoders.pairs import PairScorer
from . import nsp, nsp_eval, nsp_pairs
from .options import add_articles
from .teacher import import_torch

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]


def sentence_vectors(sentences: nsp_pairs.Sentences) -> F32:
    """Unit static vectors float32[n, dim] of tokenised sentences."""
    table = static.load().table.astype(np.float32)
    sums = np.zeros((len(sentences), table.shape[1]), np.float32)
    for begin in range(0, len(sentences), 8192):
        offsets = sentences.offsets[begin : begin + 8193]
        rows = table[sentences.ids[offsets[0] : offsets[-1]]]
        known = np.diff(offsets) > 0  # reduceat has no empty runs
        sums[begin : begin + len(known)][known] = np.add.reduceat(rows, (offsets[:-1] - offsets[0])[known], axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(norms, 1e-12), np.float32)


def network(dim: int, hidden: int, seed: int) -> Any:
    """The network of csrc/pair_head.h, as a torch module on (u, v)."""
    torch = import_torch()
    torch.manual_seed(seed)
    parts = {name: torch.nn.Linear(dim, hidden, bias=name == "first") for name in ("first", "second", "product")}
    parts["out"] = torch.nn.Linear(hidden, 1)
    return torch.nn.ModuleDict(parts)


def logits(model: Any, u: Any, v: Any) -> Any:
    inside = model["first"](u) + model["second"](v) + model["product"](u * v)
    return model["out"](inside.relu()).squeeze(1)


def fit(model: Any, vectors: F32, pairs: nsp_pairs.Pairs, wanted: F32, options: argparse.Namespace) -> None:
    """Adam on the cross-entropy with ``wanted`` probabilities; the learning rate falls to zero along a cosine."""
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
    """Probabilities float32[n] that the second sentence of each pair follows the first."""
    torch = import_torch()
    with torch.inference_mode():
        found = logits(model, torch.from_numpy(vectors[pairs.first]), torch.from_numpy(vectors[pairs.second]))
        return np.asarray(torch.sigmoid(found).numpy(), np.float32)


def agreement(mine: F32, teacher: F32, mine_threshold: float, teacher_threshold: float) -> dict[str, float]:
    """With the cross-encoder on the same pairs: correlation of log-odds, and share of equal decisions."""

    def odds(p: F32) -> npt.NDArray[np.float64]:
        clipped = np.clip(p.astype(np.float64), 1e-6, 1 - 1e-6)
        return np.log(clipped / (1 - clipped))

    same = (mine < mine_threshold) == (teacher < teacher_threshold)
    return {
        "correlation": round(float(np.corrcoef(odds(mine), odds(teacher))[0, 1]), 4),
        "equal_cuts": round(float(same.mean()), 4),
    }


def write(out: Path, model: Any, facts: dict[str, Any]) -> None:
    """Write ``nsp_static.npz`` and ``nsp_static.json``."""
    weights = {name: model[name].weight.detach().numpy() for name in ("first", "second", "product")}
    weights["bias"] = model["first"].bias.detach().numpy()
    weights["out"] = model["out"].weight.detach().numpy()[0]
    weights["out_bias"] = model["out"].bias.detach().numpy()[0]
    np.savez(out / "nsp_static.npz", **weights)
    stored = {"format": 1, "name": "pychunk-nsp-static-en", "weights": "nsp_static.npz"}
    stored["weights_sha256"] = sha256(out / "nsp_static.npz")
    (out / static_pairs.FACTS).write_text(json.dumps({**stored, **facts}, indent=2) + "\n", encoding="utf-8")


def train(options: argparse.Namespace) -> None:
    material = nsp.gather(options)
    teacher = PairScorer(options.teacher)
    vectors, held_vectors = sentence_vectors(material.training), sentence_vectors(material.held_out)
    pairs = nsp_pairs.draw(material.training, options.pairs, options.same, options.seed + 3)
    wanted = (pairs.kind == nsp_pairs.NEXT).astype(np.float32)
    begun = time.monotonic()
    taught = pairs.take(np.arange(options.taught))
    wanted[: options.taught] = nsp.scored(teacher, material.training, taught)
    logger.info("the cross-encoder scored %d pairs in %.0f s", options.taught, time.monotonic() - begun)
    model = network(vectors.shape[1], options.hidden, options.seed)
    fit(model, vectors, pairs, wanted, options)

    held = nsp_pairs.draw(material.held_out, nsp.HELD_OUT_PAIRS, 0.5, options.seed + 1)
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
        "encoder": static.load().fingerprint,
        "teacher": teacher.fingerprint,
        "hidden": options.hidden,
        "threshold": threshold,
        "licence": "Apache-2.0",
        "seed": options.seed,
        "metrics": metrics,
        "command": command(options),
    }
    write(options.out, model, facts)


SHOWN = ("held_out", "pairs", "taught", "same", "hidden", "epochs", "batch", "rate", "seed")


def command(options: argparse.Namespace) -> str:
    """The command line that makes this network again, without the paths of one machine."""
    words = [f"--{name.replace('_', '-')} {getattr(options, name)}" for name in SHOWN]
    return " ".join(["python -m pychunk.training.nsp_static", *words])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m pychunk.training.nsp_static",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    models = static.SHIPPED
    add = made.add_argument
    add_articles(made)
    add(
        "--teacher",
        type=Path,
        default=models / "nsp",
        metavar="DIR",
        help="the cross-encoder (default: the shipped one)",
    )
    add(
        "--out", type=Path, default=models, metavar="DIR", help="where the network goes (default: the package's models)"
    )
    add("--pairs", type=int, default=900_000, help="pairs to learn from (default: %(default)s)")
    add("--taught", type=int, default=40_000, help="of these, scored by the cross-encoder (default: %(default)s)")
    add("--same", type=float, default=0.7, help="share of strangers from the same article (default: %(default)s)")
    add("--hidden", type=int, default=32, help="width of the network (default: %(default)s)")
    add("--epochs", type=int, default=10, help="passes over the pairs (default: %(default)s)")
    add("--batch", type=int, default=1024, help="pairs in one step (default: %(default)s)")
    add("--rate", type=float, default=2e-3, help="Adam's learning rate at first (default: %(default)s)")
    add("--seed", type=int, default=0, help="of the split, the pairs and the start (default: %(default)s)")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Distil and write the network; the process's exit status."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    options = parser().parse_args(arguments)
    import_torch().set_num_threads(options.threads)
    try:
        train(options)
    except KeyboardInterrupt:
        logger.info("interrupted; nothing was written")
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
