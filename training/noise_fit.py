"""The network of the noise model in torch, and its training; ``parsing/noise_model.py`` has the same network."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pychunk.parsing.html.noise_features import DENSE, STOPS, NoiseFeatures
from pychunk.parsing.html.noise_model import GROUPS, NEIGHBOURS, STEPS, WINDOWS, WORD_STEPS
from pychunk.training.teacher import import_torch
from pychunk.training.train_options import setting

from .noise_pages import Page

U32 = npt.NDArray[np.uint32]
F64 = npt.NDArray[np.float64]

#: The number of passes after which a page with a high loss is probably marked badly, and no longer just new to the
#: network.
SURE = 2


@dataclass(frozen=True)
class Plan:
    """The settings of the training."""

    seed: int = setting(0, "seed of weights, order and dropout")
    nets: int = setting(1, "networks whose scores are averaged")
    epochs: int = setting(11, "passes over the pages")
    batch: int = setting(12, "pages in a step")
    rate: float = setting(0.003, "learning rate at the start")
    decay: float = setting(0.03, "weight decay")
    dropout: float = setting(0.3, "share of a layer that is dropped")
    forgotten: float = setting(0.3, "share of the words that are dropped")
    foreign: float = setting(0.25, "share of a step's pages without any known word of their language")
    unnamed: float = setting(0.15, "share of a step's pages without the names of elements")
    blocks: float = setting(0.7, "share of cross-entropy in the loss; the rest is 1 - F1 of the page")
    trimmed: float = setting(0.1, "share of a step's pages with the highest loss, from which nothing is learned")
    taught: float = setting(0.3, "share of a block's label that comes from networks which have not seen its page")
    words: int = setting(2500, "known words of names, and of texts")
    hidden: int = setting(40, "width of the layers")
    shared: int = setting(12, "width of the summaries that blocks exchange")
    vector: int = setting(10, "width of the vectors of words")


def known_words(pages: Sequence[Page], parts: Callable[[Page], Sequence[U32]], least: int, most: int) -> U32:
    """Return, sorted, the ``most`` hashes that occur on the most domains, each on at least ``least`` of them."""
    domains: defaultdict[int, set[str]] = defaultdict(set)
    for page in pages:
        for part in parts(page):
            for value in np.unique(part).tolist():
                domains[value].add(page.domain)
    found = sorted(((len(who), value) for value, who in domains.items() if len(who) >= least), reverse=True)
    return np.array(sorted(value for _, value in found[:most]) or [0], np.uint32)


class Lesson:
    """A page as arrays of rows, which are the inputs of the network.

    ``told`` is the probability that each block is content, by networks that have not seen the page. ``share`` is the
    share of the label that comes from ``told``. The rest of the label comes from the marks.
    """

    def __init__(self, page: Page, vocabularies: dict[str, U32], told: F64 | None = None, share: float = 0.0) -> None:
        features = page.features
        count = self.count = len(features.weight)
        self.dense = features.dense.astype(np.float32)
        self.words = {
            "near": _known(vocabularies["names"], *words_at(features, features.near)),
            "path": _known(vocabularies["names"], *words_at(features, features.path)),
            "wording": _known(vocabularies["wordings"], *features.wording),
            "page": _known(vocabularies["pages"], features.page, np.zeros(len(features.page), np.int64)),
        }
        at = np.arange(count)
        self.beside = [np.where((at + step >= 0) & (at + step < count), at + step, -1) for step in NEIGHBOURS]
        self.windows = [(np.maximum(at - size, 0), np.minimum(at + size + 1, count)) for size in WINDOWS]
        groups = [*(features.above[level] for level in GROUPS), features.like]
        self.groups = [np.unique(group, return_inverse=True)[1].reshape(-1) for group in groups]
        self.weight = features.weight.astype(np.float32)
        self.size = np.array([len(words) for words in page.words], np.float32)
        self.content, self.wanted = page.content, float(len(page.wanted))
        if told is not None:
            self.content = ((1 - share) * page.content + share * told).astype(np.float32)
            self.wanted = (1 - share) * self.wanted + share * float((self.content * self.size).sum())

    def seen_as(self, foreign: float | None, unnamed: bool) -> Lesson:
        """Return the same page without known words of its text and with fewer stop words, or without names of elements.

        ``foreign`` is the share of stop words that stays. Marked pages are English and have few templates. The network
        should recognise text of other pages by its structure.
        """
        made = copy.copy(self)
        if foreign is not None:
            made.dense = self.dense.copy()
            made.dense[:, list(STOPS)] *= np.float32(foreign)
        without = (["wording"] if foreign is not None else []) + (["near", "path"] if unnamed else [])
        made.words = {**self.words, **dict.fromkeys(without, (np.zeros(0, np.int64), np.zeros(0, np.int64)))}
        return made


def words_at(features: NoiseFeatures, rows: Any) -> tuple[Any, Any]:
    """Return the words of each block's elements, and the block of each word.

    ``rows`` are the elements of each block, int64[levels, b], -1 for none.
    """
    offsets = features.names.offsets
    owner = np.tile(np.arange(rows.shape[1]), len(rows))
    there = rows.reshape(-1) >= 0
    at, owner = rows.reshape(-1)[there], owner[there]
    counts = offsets[at + 1] - offsets[at]
    inner = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return features.names.values[np.repeat(offsets[at], counts) + inner], np.repeat(owner, counts)


def _known(known: U32, values: U32, owner: Any) -> tuple[Any, Any]:
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    found = known[at] == values
    return at[found], owner[found]


def batch_of(lessons: Sequence[Lesson], forgotten: float = 0.0, drawn: Any = None) -> dict[str, Any]:
    """Return tensors of several pages, one after the other."""
    torch = import_torch()
    offsets = np.cumsum([0, *(each.count for each in lessons)])
    count = int(offsets[-1])

    def tensor(parts: Any, kind: Any = np.int64) -> Any:
        return torch.from_numpy(np.concatenate(parts).astype(kind, copy=False))

    made: dict[str, Any] = {"dense": tensor([each.dense for each in lessons], np.float32)}
    for name in ("near", "path", "wording", "page"):
        ids = np.concatenate([each.words[name][0] for each in lessons])
        starts = range(len(lessons)) if name == "page" else offsets[:-1].tolist()
        owner = np.concatenate([each.words[name][1] + start for each, start in zip(lessons, starts, strict=True)])
        if forgotten:
            kept = drawn.random(len(ids)) >= forgotten
            ids, owner = ids[kept], owner[kept]
        order = np.argsort(owner, kind="stable")
        rows = len(lessons) if name == "page" else count
        made[name] = (tensor([ids[order]]), tensor([np.searchsorted(owner[order], np.arange(rows))]))
    pairs = list(zip(lessons, offsets[:-1].tolist(), strict=True))
    made["beside"] = [
        tensor([np.where(each.beside[k] < 0, count, each.beside[k] + start) for each, start in pairs])
        for k in range(len(NEIGHBOURS))
    ]
    made["windows"] = [
        tuple(tensor([each.windows[k][side] + start for each, start in pairs]) for side in (0, 1))
        for k in range(len(WINDOWS))
    ]
    made["groups"] = []
    for k in range(len(GROUPS) + 1):
        most, parts = 0, []
        for each in lessons:
            parts.append(each.groups[k] + most)
            most += int(each.groups[k].max()) + 1
        made["groups"].append((tensor(parts), most))
    made["of"] = tensor([np.repeat(np.arange(len(lessons)), [each.count for each in lessons])])
    made["weight"] = tensor([each.weight for each in lessons], np.float32)
    made["size"] = tensor([each.size for each in lessons], np.float32)
    made["content"] = tensor([each.content for each in lessons], np.float32)
    made["wanted"] = torch.tensor([each.wanted for each in lessons])
    return made


def network(plan: Plan, vocabularies: dict[str, U32]) -> Any:
    """Return the network in torch with new weights."""
    torch = import_torch()
    nn = torch.nn
    seen = plan.shared * (len(NEIGHBOURS) + len(WINDOWS) + len(GROUPS) + 1 + 2)

    class Network(nn.Module):  # type: ignore[misc, name-defined] # torch is not installed where types are checked
        def __init__(self) -> None:
            super().__init__()
            bag = {"near": "names", "path": "names", "wording": "wordings", "page": "pages"}
            self.words = nn.ModuleDict(
                {name: nn.EmbeddingBag(len(vocabularies[of]), plan.vector, mode="mean") for name, of in bag.items()}
            )
            for table in self.words.values():
                nn.init.normal_(table.weight, 0, 0.1)
            self.parts = nn.ModuleDict(
                {
                    "in": nn.Linear(DENSE + 4 * plan.vector, plan.hidden),
                    "share": nn.Linear(plan.hidden, plan.shared),
                    "mix": nn.Linear(plan.hidden + seen, plan.hidden),
                    "share2": nn.Linear(plan.hidden, plan.shared),
                    "mix2": nn.Linear(plan.hidden + seen, plan.hidden),
                    "out": nn.Linear(plan.hidden, 1),
                    "out2": nn.Linear(plan.hidden, 1),
                }
            )
            self.dropout = nn.Dropout(plan.dropout)

        def forward(self, given: dict[str, Any]) -> Any:
            words = [self.words[name](*given[name]) for name in ("near", "path", "wording")]
            page = self.words["page"](*given["page"])[given["of"]]
            parts = self.parts
            hidden = self.dropout(torch.relu(parts["in"](torch.cat([given["dense"], *words, page], 1))))
            seen = _seen(given, torch.relu(parts["share"](hidden)))
            hidden = self.dropout(torch.relu(parts["mix"](torch.cat([hidden, *seen], 1))))
            once = parts["out"](hidden)
            seen = _seen(given, torch.relu(parts["share2"](hidden)))
            hidden = self.dropout(torch.relu(parts["mix2"](torch.cat([hidden, *seen], 1))))
            return (once + parts["out2"](hidden))[:, 0]

    return Network()


def _seen(given: dict[str, Any], shared: Any) -> list[Any]:
    torch = import_torch()
    none = shared.new_zeros(1, shared.shape[1])
    padded = torch.cat([shared, none])
    parts = [padded[rows] for rows in given["beside"]]
    running = torch.cat([none, torch.cumsum(shared, 0)])
    parts += [(running[last] - running[first]) / (last - first)[:, None] for first, last in given["windows"]]
    ones = shared.new_ones(len(shared))

    def mean(rows: Any, count: int, weight: Any) -> Any:
        sums = shared.new_zeros(count, shared.shape[1]).index_add(0, rows, shared * weight[:, None])
        return (sums / shared.new_zeros(count).index_add(0, rows, weight)[:, None])[rows]

    parts += [mean(rows, count, ones) for rows, count in given["groups"]]
    pages = len(given["wanted"])
    return [*parts, mean(given["of"], pages, ones), mean(given["of"], pages, given["weight"] + 1)]


def loss_of(net: Any, given: dict[str, Any], blocks: float, trimmed: float = 0.0) -> Any:
    """Return the mean loss over the pages: cross-entropy of blocks, by their words, and 1 - F1 of the kept words.

    The share ``trimmed`` of pages with the highest loss is left out, because the marks of some pages are incomplete or
    do not come from the page's text. This is the least trimmed squares of robust regression (Rousseeuw 1984, "Least
    Median of Squares Regression").
    """
    torch = import_torch()
    found = net(given)
    content, size, pages = given["content"], given["size"], len(given["wanted"])

    def total(values: Any) -> Any:
        return torch.zeros(pages).index_add(0, given["of"], values)

    share = (size + 1.5) / (total(size) + 1)[given["of"]]
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(found, content, reduction="none")
    kept = torch.sigmoid(found)
    f1 = 2 * total(kept * content * size) / (total(kept * size) + given["wanted"] + 1)
    losses = blocks * total(entropy * share) + (1 - blocks) * (1 - f1)
    return torch.sort(losses)[0][: max(1, round(pages * (1 - trimmed)))].mean()


def fit(pages: Sequence[Page], plan: Plan, told: Sequence[F64] | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return weights in the stored format, learned from pages; the same for the same pages, plan and torch.

    ``told`` are the answers of networks that have not seen the pages, for each page's blocks (:class:`Lesson`). Marks
    are inconsistent: of two similar blocks on different pages, one may be marked and the other not. Answers of networks
    on unseen pages are consistent, so the new network learns less about how single pages happen to be marked. Answers
    of networks on pages that they have learned from, with the same share, improve nothing.

    Source: Li et al., "Learning from Noisy Labels with Distillation" (2017).
    """
    torch = import_torch()
    vocabularies = {
        "names": known_words(pages, lambda page: (page.features.names.values,), 5, plan.words),
        "wordings": known_words(pages, lambda page: (page.features.wording[0],), 12, plan.words),
        "pages": known_words(pages, lambda page: (page.features.page,), 8, 300),
    }
    answers: Sequence[F64 | None] = [None] * len(pages) if told is None else told
    lessons = [
        Lesson(page, vocabularies, said, plan.taught)
        for page, said in zip(pages, answers, strict=True)
        if len(page.words) > 1 and page.wanted and page.content.any()
    ]
    stored: dict[str, npt.NDArray[Any]] = {**vocabularies, "nets": np.array(plan.nets)}
    tables: list[dict[str, Any]] = []
    for number in range(plan.nets):
        torch.manual_seed(plan.seed + number)
        drawn = np.random.default_rng(plan.seed + number)
        net = network(plan, vocabularies)
        if tables:  # the vectors of words are the largest part, so later networks share those of the first
            for name, table in net.words.items():
                table.weight.data.copy_(tables[0][name])
                table.weight.requires_grad_(False)
        optimizer = torch.optim.AdamW(
            [each for each in net.parameters() if each.requires_grad], lr=plan.rate, weight_decay=plan.decay
        )
        steps, step = plan.epochs * (len(lessons) // plan.batch), 0
        for epoch in range(plan.epochs):
            trimmed = plan.trimmed if epoch >= SURE else 0.0
            order = drawn.permutation(len(lessons))
            for first in range(0, len(lessons) - plan.batch + 1, plan.batch):
                rate = plan.rate * min(1, step / 50) * (0.5 + 0.5 * float(np.cos(np.pi * step / steps)))
                for group in optimizer.param_groups:
                    group["lr"] = rate
                chosen = [_seen_as_drawn(lessons[row], plan, drawn) for row in order[first : first + plan.batch]]
                given = batch_of(chosen, plan.forgotten, drawn)
                loss = loss_of(net, given, plan.blocks, trimmed)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
        if not tables:
            tables.append({name: _stepped(table.weight.data, WORD_STEPS) for name, table in net.words.items()})
            for name, table in tables[0].items():
                stored[name] = np.rint(table.numpy() * WORD_STEPS).astype(np.int8)
        for name, part in net.parts.items():
            stored[f"{number}_{name}_weight"] = _whole(part.weight.data.T.numpy())
            stored[f"{number}_{name}_bias"] = _whole(part.bias.data.numpy())
    return stored


def _seen_as_drawn(lesson: Lesson, plan: Plan, drawn: np.random.Generator) -> Lesson:
    foreign = float(drawn.random()) if drawn.random() < plan.foreign else None
    return lesson.seen_as(foreign, drawn.random() < plan.unnamed)


def _stepped(values: Any, steps: int) -> Any:
    """Round values to those that 8 bits can store."""
    return (values * steps).round().clamp(-127, 127) / steps


def _whole(values: Any) -> npt.NDArray[np.int16]:
    return np.clip(np.rint(np.asarray(values, np.float64) * STEPS), -32767, 32767).astype(np.int16)
