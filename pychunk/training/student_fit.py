"""The fit of a small BERT to a larger one's scores and to its states between the layers.

Both read the same pairs in one step, so that nothing of the teacher is stored. Rows are end to end and nothing is
padded: matrices are multiplied once for all tokens, and attention goes row by row.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._util.counting import counted
from .._util.durable_files import whole_file
from ..encoders.files.bert_weights import BertWeights
from .student_lessons import Lessons
from .teacher import import_torch
from .train_options import setting

logger = logging.getLogger(__name__)

F32 = npt.NDArray[np.float32]
#: The steps over which the learning rate rises, and the share of all steps over which it falls to zero at the end.
RISE, FALL = 40, 0.8
#: The share of the steps over which the weight of the states falls. A student with half the layers cannot have the
#: teacher's states, as a quarter of their variance always differs, but it can give the same scores.
FADE = 0.72


@dataclass(frozen=True)
class Plan:
    """The settings of the training."""

    layers: int = setting(6, "layers of the student; they must divide the teacher's")
    documents: int = setting(4000, "articles to learn from")
    each: int = setting(3, "maximum number of queries for each article")
    candidates: int = setting(6, "hits of a query in a step: the best one, and others of the first 20")
    queries: int = setting(4, "queries in a step")
    steps: int = setting(1500, "steps")
    length: int = setting(160, "maximum number of tokens of a pair")
    rate: float = setting(4e-4, "AdamW's highest learning rate")
    scores: float = setting(0.1, "weight of the loss of scores relative to the loss of states")
    part: int = setting(20, "steps between two checkpoints")
    seed: int = setting(0, "seed of all random draws")

    def rate_after(self, step: int) -> float:
        """Return the learning rate of a step: a rise, a plateau, and a fall over the last 80 % of the steps."""
        return self.rate * min(1.0, (step + 1) / RISE, (1 - step / self.steps) / FALL)

    def states_after(self, step: int) -> float:
        """Return the weight of the states in a step: one, then falling to zero."""
        return min(1.0, (1 - step / self.steps) / FADE)

    def same_so_far(self, other: Plan, step: int) -> bool:
        """Return whether both plans train alike up to ``step``.

        A run may be made longer or shorter until its rate falls.
        """
        before_fall = self.steps == other.steps or step <= (1 - FALL) * min(self.steps, other.steps)
        return before_fall and replace(self, steps=0) == replace(other, steps=0)


class Rows(NamedTuple):
    """Pairs end to end: int64[tokens] of ids, positions and types, the length of each row, and its first token."""

    ids: Any
    places: Any
    kinds: Any
    lengths: list[int]
    firsts: Any


def rows_of(taught: Lessons, pairs: Sequence[int]) -> Rows:
    """Return the rows of the given pairs."""
    torch = import_torch()
    ids = [taught.ids[pair] for pair in pairs]
    lengths = [len(each) for each in ids]
    places = np.concatenate([np.arange(length) for length in lengths])
    kinds = np.concatenate(
        [np.arange(length) >= taught.first[pair] for length, pair in zip(lengths, pairs, strict=True)]
    )
    arrays = (np.concatenate(ids), places, kinds, np.cumsum([0, *lengths[:-1]]))
    flat, at, types, firsts = (torch.from_numpy(array.astype(np.int64)) for array in arrays)
    return Rows(flat, at, types, lengths, firsts)


class Bert:
    """A BERT with a head and trainable weights; products use bfloat16, norms and sums float32.

    ``weights`` are float32 tensors by the names of :class:`BertWeights`. Matrices are stored as in torch, [out, in].
    """

    def __init__(self, stored: BertWeights, layers: Sequence[int] | None = None) -> None:
        torch = import_torch()
        chosen = list(layers or range(stored.layers))
        self.layers, self.heads, self.dim, self.epsilon = len(chosen), stored.heads, stored.dim, stored.epsilon
        self.approximate = stored.approximate
        self.weights: dict[str, Any] = {}
        for name, values in stored.arrays.items():
            number, own = _layer(name), name
            if number is not None:
                if number not in chosen:
                    continue
                own = name.replace(f"layer.{number}.", f"layer.{chosen.index(number)}.")
            matrix = values.ndim == 2 and not name.startswith("embeddings.")
            self.weights[own] = torch.from_numpy(np.array(values.T if matrix else values, order="C"))

    def halved(self) -> Bert:
        """Return the same model with its matrices and their biases in bfloat16, as products take them."""
        copy = Bert.__new__(Bert)
        copy.__dict__.update(self.__dict__)
        floats = {name for name in self.weights if name.startswith("embeddings.") or "LayerNorm" in name}
        copy.weights = {
            name: each.detach().clone() if name in floats else each.detach().bfloat16()
            for name, each in self.weights.items()
        }
        return copy

    def learned(self) -> dict[str, Any]:
        """Return the trained weights: all but the tables, whose gradients would be 47 MB of zeros in each step."""
        return {name: each for name, each in sorted(self.weights.items()) if not name.startswith("embeddings.")}

    def run(self, rows: Rows) -> tuple[list[Any], Any]:
        """Return the states [tokens, dim] after each layer, and scores [rows].

        For the last layer, only the states of each row's first token are computed.
        """
        torch = import_torch()
        embed = torch.nn.functional.embedding
        state = embed(rows.ids, self.weights["embeddings.word_embeddings.weight"])
        state = state + embed(rows.places, self.weights["embeddings.position_embeddings.weight"])
        state = state + embed(rows.kinds, self.weights["embeddings.token_type_embeddings.weight"])
        state = self._norm(state, "embeddings.LayerNorm")
        states = []
        for number in range(self.layers):
            state = self._layer(state, rows, f"encoder.layer.{number}", last=number + 1 == self.layers)
            states.append(state)
        pooled = torch.tanh(self._linear(state, "pooler").float())
        return states, self._linear(pooled, "classifier")[:, 0].float()

    def _layer(self, state: Any, rows: Rows, name: str, *, last: bool) -> Any:
        torch = import_torch()
        functional = torch.nn.functional
        qkv = self._linear(state, f"{name}.qkv").view(-1, 3, self.heads, self.dim // self.heads)
        mixed = []
        for own in torch.split(qkv, rows.lengths):
            query, key, value = own.permute(1, 2, 0, 3).unbind(0)
            query = query[:, :1] if last else query
            # The fused kernel is not used, because its gradient took three times as long on a CPU.
            shares = torch.softmax(query @ key.transpose(1, 2) * (self.dim // self.heads) ** -0.5, dim=-1)
            mixed.append((shares @ value).transpose(0, 1).flatten(1))
        if last:
            state = state[rows.firsts]
        state = self._norm(
            state + self._linear(torch.cat(mixed), f"{name}.attention.output.dense"),
            f"{name}.attention.output.LayerNorm",
        )
        wide = functional.gelu(self._linear(state, f"{name}.intermediate.dense"), approximate=self.approximate)
        return self._norm(state + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, state: Any, name: str) -> Any:
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return import_torch().nn.functional.linear(state.bfloat16(), weight, bias)

    def _norm(self, state: Any, name: str) -> Any:
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        return import_torch().nn.functional.layer_norm(state.float(), (self.dim,), weight, bias, self.epsilon)


def _layer(name: str) -> int | None:
    parts = name.split(".")
    return int(parts[2]) if parts[:2] == ["encoder", "layer"] else None


def student_of(stored: BertWeights, layers: int) -> Bert:
    """Return a student with ``layers`` layers.

    The teacher's layers are divided into equal runs, and each layer of the student starts as the last layer of a run.
    """
    if stored.layers % layers:
        raise ValueError(f"--layers must divide {stored.layers}, the teacher's number of layers; got {layers}")
    run = stored.layers // layers
    return Bert(stored, range(run - 1, stored.layers, run))


def losses(student: Bert, teacher: Bert, rows: Rows) -> tuple[Any, Any, float]:
    """Return the losses of scores and of states over one query's candidates, and whether both rank the same one first.

    The loss of scores is the variance, over the candidates, of the student's score minus the teacher's. This is half
    the mean squared error of score differences, over all pairs of candidates. The loss of states is the mean over
    layers of the squared distance as a share of the teacher's variance. The last value is 1 if both models rank the
    same candidate first.
    """
    torch = import_torch()
    with torch.no_grad():
        every, wanted = teacher.run(rows)
    states, scores = student.run(rows)
    errors = scores - wanted
    run, parts = teacher.layers // student.layers, []
    for number, state in enumerate(states):
        aim = every[(number + 1) * run - 1]
        parts.append((state - aim).square().mean() / aim.var())
    same = float(scores.argmax() == wanted.argmax())
    return (errors - errors.mean()).square().mean(), torch.stack(parts).mean(), same


def slopes(student: Bert, teacher: Bert, rows: Rows, weights: tuple[float, float]) -> tuple[list[Any], F32]:
    """Return the gradients of the trained weights for one query's candidates, and its :func:`losses`.

    ``weights`` are the weights of the two losses.
    """
    torch = import_torch()
    torch.set_num_threads(1)
    of_scores, of_states, same = losses(student, teacher, rows)
    found = torch.autograd.grad(weights[0] * of_scores + weights[1] * of_states, list(student.learned().values()))
    return list(found), np.array([of_scores.item(), of_states.item(), same], np.float32)


def steps_of(taught: Lessons, plan: Plan) -> list[list[list[int]]]:
    """Return the queries of each step as numbers of their pairs, the same for the same plan."""
    able = np.flatnonzero(np.diff(taught.offsets) >= plan.candidates)
    if not len(able):
        most = int(np.diff(taught.offsets).max(initial=0))
        raise ValueError(
            f"a query must find at least {counted(plan.candidates, 'chunk')}, but the most found was {most}; train on "
            "more articles"
        )
    found: list[list[list[int]]] = []
    rounds = 0
    while len(found) < plan.steps:
        random = np.random.default_rng([plan.seed, rounds])
        pairs = []
        for query in random.permutation(able).tolist():
            begin, end = int(taught.offsets[query]), int(taught.offsets[query + 1])
            others = begin + 1 + random.permutation(end - begin - 1)[: plan.candidates - 1]
            pairs.append([begin, *sorted(others.tolist())])
        found += [pairs[at : at + plan.queries] for at in range(0, len(pairs), plan.queries)]
        rounds += 1
    return found[: plan.steps]


def fit(
    student: Bert, teacher: Bert, taught: Lessons, plan: Plan, folder: Path, *, threads: int = 2, report: Any = None
) -> Bert:
    """Train, and write weights and optimizer to ``folder`` every ``plan.part`` steps, where the same plan resumes.

    Each thread reads one query at a time. Two threads that share each product wait for one another, and were twice as
    slow while other work ran. Gradients are added in the order of the queries, so that the number of threads changes
    nothing.
    """
    torch = import_torch()
    torch.set_num_threads(1)
    learned = student.learned()
    optimizer = torch.optim.AdamW(learned.values(), lr=plan.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    checkpoint, first = folder / "checkpoint.pt", 0
    if checkpoint.is_file():
        state = torch.load(checkpoint, weights_only=True)
        if not plan.same_so_far(Plan(**state["plan"]), state["step"]):
            raise ValueError(
                f"{checkpoint} belongs to a run with other options: remove it, or run with {state['plan']}"
            )
        for each, stored in zip(learned.values(), state["learned"], strict=True):
            each.copy_(stored)
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
        logger.info("resumes after %d steps", first)
    teacher, half, running, begun = teacher.halved(), student.halved(), [], time.monotonic()
    own = half.learned()
    for name, each in own.items():
        each.requires_grad_(True)
        learned[name].grad = torch.zeros_like(learned[name])
    with ThreadPoolExecutor(threads) as pool:
        for step, queries in enumerate(steps_of(taught, plan)[first:], first):
            optimizer.param_groups[0]["lr"] = plan.rate_after(step)
            with torch.no_grad():
                for name, each in own.items():
                    each.copy_(learned[name])
            weights = (plan.scores, plan.states_after(step))
            jobs = [pool.submit(slopes, half, teacher, rows_of(taught, pairs), weights) for pairs in queries]
            found = [job.result() for job in jobs]
            for number, each in enumerate(learned.values()):
                each.grad.zero_()
                for slope, _ in found:
                    each.grad.add_(slope[number], alpha=1 / len(found))
            torch.nn.utils.clip_grad_norm_(learned.values(), 1.0)
            optimizer.step()
            running.append(np.mean([each for _, each in found], axis=0))
            if (step + 1) % plan.part == 0 or step + 1 == plan.steps:
                form = "step %d: scores %.3f, states %.4f, same first %.3f, %.1f pairs/s"
                speed = len(running) * plan.queries * plan.candidates / (time.monotonic() - begun)
                logger.info(form, step + 1, *np.mean(running, axis=0), speed)
                with whole_file(checkpoint) as file:
                    state = {"plan": asdict(plan), "learned": list(learned.values()), "step": step + 1}
                    torch.save({**state, "optimizer": optimizer.state_dict()}, file)
                if report:
                    report(student, step + 1)
                running, begun = [], time.monotonic()
    return student


def scores(model: Bert, taught: Lessons) -> F32:
    """Return the scores of all pairs, float32[pairs]."""
    torch = import_torch()
    half = model.halved()
    with torch.no_grad():
        parts = [
            half.run(rows_of(taught, range(begin, end)))[1].numpy()
            for begin, end in pairwise(taught.offsets.tolist())
            if end > begin
        ]
    return np.concatenate(parts)
