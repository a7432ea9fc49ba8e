"""The fit of a token table whose sums of rows have the directions of the teacher's sentence vectors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .teacher import import_torch
from .token_bags import Bags
from .train_options import setting

logger = logging.getLogger(__name__)

Floats = npt.NDArray[np.floating[Any]]
F32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Plan:
    """The settings of the fit; ``--help`` shows each field's ``metadata["help"]``."""

    epochs: int = setting(16, "passes over the sentences")
    warm: int = setting(2, "passes of the first fit, from which rare tokens' rows are predicted")
    batch: int = setting(1024, "sentences in a step")
    piece: int = setting(16, "adjacent sentences in a piece, so that the loss covers similarities inside a document")
    rate: float = setting(0.003, "Adam's highest learning rate; a rare token's row is about 1 long")
    pull: float = setting(0.7, "pull of every row towards its start, in multiples of the learning rate")
    gram: float = setting(0.2, "weight of the squared error of all similarities in a batch")
    near: float = setting(0.2, "weight of the squared error of similarities of sentences in a piece")
    centre: float = setting(0.2, "weight of the squared error of similarities to the mean of a piece")
    seed: int = setting(0, "seed of the held-out split, of the sample and of the order of the sentences")


@dataclass(frozen=True)
class Lesson:
    """The data to which a table is fitted.

    Attributes:
        bags: The token ids of ``n`` distinct sentences.
        teacher: The teacher's unit vectors of these sentences, ``[n, width]``.
        reduced: The same vectors reduced to the table's width, unit length, ``[n, dim]``.
        documents: The row numbers of each document's sentences in reading order. Every sentence has at least one token.
    """

    bags: Bags
    teacher: Floats
    reduced: Floats
    documents: Sequence[npt.NDArray[np.int64]]


def fit_projection(vectors: Floats, dim: int) -> F32:
    """Return the ``dim`` leading right singular vectors of ``vectors``, not centred, ``float32[width, dim]``.

    The projection must preserve cosines, which are measured from the origin and not from the mean.
    """
    gram = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(vectors), 65536):
        block = vectors[start : start + 65536].astype(np.float64)
        gram += block.T @ block
    values, basis = np.linalg.eigh(gram)
    basis = basis[:, np.argsort(-values)[:dim]]
    # An eigenvector may have either sign. A fixed sign makes the table independent of the linear algebra library.
    basis *= np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(dim)])
    return basis.astype(np.float32)


def initial_table(token_vectors: F32, projection: F32, counts: npt.NDArray[np.int64], smooth: float) -> F32:
    """Return the start: each token's own teacher vector, centred, weighted by rarity and reduced (plain distillation).

    Source of the weights: Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", 2017.
    """
    return _weighted(token_vectors, counts, smooth) @ projection


def _weighted(token_vectors: F32, counts: npt.NDArray[np.int64], smooth: float) -> F32:
    """Return token vectors minus their mean, times ``smooth / (smooth + frequency)``; zero rows stay zero.

    Single tokens have a large common part that sentences do not have: the mean vector of tokens is 0.48 long, the mean
    vector of sentences 0.18. Subtracting it lifts plain distillation's correlation on adjacent sentences from 0.64 to
    0.79.
    """
    known = np.abs(token_vectors).sum(axis=1, keepdims=True) > 0
    centred = np.where(known, token_vectors - token_vectors[known[:, 0]].mean(axis=0), 0)
    weights = smooth / (smooth + counts / max(1, counts.sum()))
    return np.asarray(centred * weights[:, None], dtype=np.float32)


def quantization_step(table: F32, counts: npt.NDArray[np.int64]) -> float:
    """Return the step size, one for all rows, with the least loss if each row counts as often as its token occurs.

    Values beyond 127 steps are clipped. Otherwise, a few large values in rare rows would cost every other row
    precision.
    """
    rows = counts > 0
    values = table[rows]
    weights = counts[rows][:, None].astype(np.float64)
    best, best_loss = 0.0, np.inf
    top = float(np.abs(values).max()) / 127
    for step in top * np.geomspace(0.1, 1.0, 24):
        rounded = np.clip(np.rint(values / step), -127, 127) * step
        loss = float((weights * (rounded - values) ** 2).sum())
        if loss < best_loss:
            best, best_loss = float(step), loss
    return best


def quantize(table: F32, step: float) -> npt.NDArray[np.int8]:
    """Return ``table`` in whole steps, clipped to -127 .. 127."""
    return np.asarray(np.clip(np.rint(table / step), -127, 127), dtype=np.int8)


def _batches(
    documents: Sequence[npt.NDArray[np.int64]], plan: Plan, random: np.random.Generator
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Yield the row numbers of a batch's sentences, and the number of each sentence's piece, for one epoch.

    A piece is a run of up to ``plan.piece`` adjacent sentences of one document.
    """
    pieces: list[npt.NDArray[np.int64]] = []
    for rows in documents:
        first = int(random.integers(1, plan.piece + 1))
        cuts = range(first, len(rows), plan.piece)
        pieces.extend(np.split(rows, list(cuts)))
    held: list[npt.NDArray[np.int64]] = []
    size = 0
    for index in random.permutation(len(pieces)):
        held.append(pieces[index])
        size += len(pieces[index])
        if size >= plan.batch:
            yield np.concatenate(held), np.repeat(np.arange(len(held)), [len(piece) for piece in held])
            held, size = [], 0


def predicted_rows(token_vectors: F32, fitted: F32, counts: npt.NDArray[np.int64], smooth: float) -> F32:
    """Predict rows for all tokens from the tokens' own teacher vectors and the rows already fitted.

    A ridge regression learns the map from a token's weighted, centred vector to its fitted row, on tokens that occur at
    least 20 times. The map is then applied to every token. Predicted rows are the better start for rare tokens, because
    their few sentences say little, and the only source for tokens that never occur. Without any fitted row, predicted
    rows alone raise the correlation with the teacher's similarities from 0.79 to 0.83 (adjacent) and from 0.77 to 0.84
    (to the mean).
    """
    source = _weighted(token_vectors, counts, smooth).astype(np.float64)
    often = counts >= 20
    # Beyond 200 occurrences a row does not get better, and more weight would only fit the most frequent words.
    trust = np.sqrt(np.minimum(counts[often], 200))[:, None]
    x, y = source[often] * trust, fitted[often].astype(np.float64) * trust
    map_ = np.linalg.solve(x.T @ x + 10 * np.eye(x.shape[1]), x.T @ y)
    return np.asarray(source @ map_, dtype=np.float32)


def fit(start: F32, lesson: Lesson, plan: Plan, epochs: int) -> F32:
    """Fit the table with Adam.

    The loss of a batch is one minus the cosine to the teacher's reduced vector, plus squared errors of similarities
    compared with the full teacher's. These similarities are of all pairs, of pairs inside a piece (a run of adjacent
    sentences), and of sentences to their piece's mean. The learning rate rises over the first 2 % of the steps and then
    falls linearly to zero.

    Args:
        start: The start, ``float32[vocabulary, dim]``. Rows of tokens that never occur stay unchanged.
        lesson: The sentences and the teacher's vectors of them.
        plan: The settings; see :class:`Plan`.
        epochs: The number of passes over the sentences, instead of that in ``plan``.

    Returns:
        The fitted table, ``float32[vocabulary, dim]``.
    """
    torch = import_torch()
    from tqdm import tqdm

    random = np.random.default_rng(plan.seed)
    origin = torch.from_numpy(start)
    rows = torch.nn.Parameter(origin.clone())
    optimizer = torch.optim.Adam([rows], lr=plan.rate, betas=(0.9, 0.99), fused=True)
    per_epoch = sum(1 for _ in _batches(lesson.documents, plan, np.random.default_rng(plan.seed)))
    total = max(1, per_epoch * epochs)
    done = 0
    for epoch in range(epochs):
        running = torch.zeros(4)
        batches = list(_batches(lesson.documents, plan, random))
        for chosen, pieces in tqdm(batches, desc=f"epoch {epoch + 1}/{epochs}", leave=False):
            rate = plan.rate * min(1.0, (done + 1) / (0.02 * total)) * max(0.0, 1 - done / total)
            optimizer.param_groups[0]["lr"] = rate
            taken = lesson.bags.take(chosen)
            sums = torch.nn.functional.embedding_bag(
                torch.from_numpy(taken.ids.astype(np.int64)),
                rows,
                torch.from_numpy(taken.offsets[:-1]),
                mode="sum",
            )
            losses = _losses(
                torch.nn.functional.normalize(sums, dim=1),
                torch.from_numpy(lesson.teacher[chosen].astype(np.float32)),
                torch.from_numpy(lesson.reduced[chosen].astype(np.float32)),
                torch.from_numpy(pieces),
            )
            optimizer.zero_grad(set_to_none=True)
            (losses @ torch.tensor([1.0, plan.gram, plan.near, plan.centre])).backward()
            optimizer.step()
            with torch.no_grad():
                rows.lerp_(origin, plan.pull * rate)
                running += losses.detach()
            done += 1
        cosine, gram, near, centre = (running / max(1, len(batches))).tolist()
        logger.info(
            "epoch %d/%d: 1 - cosine %.4f, squared errors: all pairs %.4f, near %.4f, to the mean %.4f",
            epoch + 1, epochs, cosine, gram, near, centre,
        )  # fmt: skip
    return np.array(rows.detach().numpy())


def _losses(mine: Any, theirs: Any, target: Any, pieces: Any) -> Any:
    """Return one minus cosine, and squared errors of similarities of all pairs, inside pieces, and to pieces' means."""
    torch = import_torch()
    count = len(mine)
    error = (mine @ mine.T - theirs @ theirs.T).square()
    same = pieces[:, None] == pieces[None, :]
    near = (error * same).sum() / max(1, int(same.sum()) - count)

    def to_mean(vectors: Any) -> Any:
        means = torch.zeros((int(pieces[-1]) + 1, vectors.shape[1])).index_add(0, pieces, vectors)
        return (vectors * torch.nn.functional.normalize(means, dim=1)[pieces]).sum(dim=1)

    return torch.stack(
        [
            1 - (mine * target).sum(dim=1).mean(),
            error.sum() / (count * (count - 1)),
            near,
            (to_mean(mine) - to_mean(theirs)).square().mean(),
        ]
    )
