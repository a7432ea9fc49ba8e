"""The base class of methods that ask an LLM where to cut: units, windows, and the fallback without a usable answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._engine.data.cuts import Cuts
from .._engine.data.method_results import MethodResult
from .._engine.data.removed_spans import RemovedSpans
from ..defaults import CHUNKS
from .base import Method, check_choice, check_flag, check_whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._engine.data.features import Features

    I64 = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

#: The methods that cut if the LLM gave no usable answer: the first if documents have blocks, else the second.
FALLBACKS = ("structure", "recursive")
#: The assumed number of characters in a token, because the LLM's tokenizer is not at hand.
_CHARACTERS = 4


class Answer(Protocol):
    """The LLM's answer about one window, or the reason why no answer was usable."""

    @property
    def groups(self) -> Any:
        """For each unit the booleans ``begins`` (it begins a chunk) and ``noise``; None if no answer was usable."""
        ...

    @property
    def fault(self) -> str:
        """The reason why no answer was usable."""
        ...


class GroupingModel(Protocol):
    """A callable that asks an LLM about windows, each a list with the texts of its units."""

    def __call__(self, windows: Sequence[Sequence[str]]) -> Sequence[Answer]:
        """Return the answer about each window."""
        ...

    @property
    def dry_run(self) -> bool:
        """Return whether requests are only counted and not sent."""
        ...

    @property
    def facts(self) -> dict[str, object]:
        """The facts about the LLM that the cuts depend on, for the table's metadata."""
        ...


class Units:
    """The u units of one document: its blocks, or its sentences if it has no blocks.

    Text that the caller removed is in no unit.

    Attributes:
        first: int64[u]: the first sentence of each unit.
        last: int64[u]: the sentence after the last one of each unit.
        texts: The text of each unit, which the LLM sees.
        walls: bool[u]: True for the first unit, and for a unit with removed text between it and the unit before.
    """

    def __init__(self, features: Features, row: int) -> None:
        sentences = features.given("sentences").part(row)
        self.count = len(sentences)
        first = np.arange(self.count, dtype=np.int64)
        if features.blocks is not None and features.blocks.offsets[row] < features.blocks.offsets[row + 1]:
            own = slice(int(features.blocks.offsets[row]), int(features.blocks.offsets[row + 1]))
            # A block may begin with the indentation of a list item, which belongs to the sentence before it.
            begun = np.searchsorted(sentences, features.blocks.start[own], "left")
            ended = np.searchsorted(sentences, features.blocks.end[own], "left")
            first = np.unique(np.concatenate([first[:1], begun[begun < ended]]))
        self.removed = _removed(features, row, sentences)
        # A unit ends where removed text begins, and a new unit begins after it.
        edges = np.flatnonzero(np.diff(self.removed.astype(np.int8))) + 1
        first = np.union1d(first, edges).astype(np.int64)
        last = np.append(first[1:], self.count)
        kept = ~self.removed[first] if self.count else np.zeros(0, bool)
        self.first, self.last = first[kept], last[kept]
        self.walls = np.ones(len(self.first), bool)
        self.walls[1:] = self.first[1:] != self.last[:-1]
        parts = features.sentence_texts(row)
        self.texts = ["".join(parts[a:b]) for a, b in zip(self.first.tolist(), self.last.tolist(), strict=True)]

    def __len__(self) -> int:
        return len(self.texts)


class LLMMethod(Method):
    """A method that asks an LLM to group numbered units, window by window."""

    reason = "given"
    keeps_short = True
    removes = True
    auto_max_tokens = CHUNKS.max_by_meaning
    auto_keep_together = False  # Only the LLM's groups keep sentences together.

    def __init__(
        self,
        *,
        llm: Any = None,
        window_tokens: int = 2000,
        overlap_units: int = 8,
        fallback: str = "auto",
        strict: bool = False,
    ) -> None:
        self.llm = llm
        self.window_tokens = check_whole("window_tokens", window_tokens, least=1)
        self.overlap_units = check_whole("overlap_units", overlap_units, least=0)
        self.fallback = check_choice("fallback", fallback, ("auto", *FALLBACKS))
        self.strict = check_flag("strict", strict)
        self._ask: GroupingModel | None = None
        self._others: dict[str, Method] = {}

    def hand(self, ask: GroupingModel, others: dict[str, Method]) -> None:
        """Set the callable that asks the LLM, and the fallback methods by name."""
        self._ask, self._others = ask, others

    @property
    def asker(self) -> GroupingModel:
        """The callable that asks the LLM.

        Raises:
            ValueError: No Segmenter has set it.
        """
        if self._ask is None:
            raise ValueError(f"method {self.name!r} gets its LLM from a Segmenter; pass it to Segmenter or segment()")
        return self._ask

    @property
    def facts(self) -> dict[str, Any]:
        """The options for windows and for the fallback, and the facts about the LLM."""
        options = {"window_tokens": self.window_tokens, "overlap_units": self.overlap_units, "fallback": self.fallback}
        return {"llm": {**options, **self.asker.facts}}

    def cuts(self, features: Features) -> Cuts:
        """Return the first sentence of each chunk of each document, as the LLM groups the units."""
        return self.decided(features).cuts

    def decided(self, features: Features) -> MethodResult:
        """Return the cuts and the noise of all documents, and the windows without a usable answer."""
        units = [Units(features, row) for row in range(features.documents)]
        windows = [self._windows(own) for own in units]
        flat = [(row, a, b) for row, own in enumerate(windows) for a, b in own]
        answers = iter(self.asker([units[row].texts[a:b] for row, a, b in flat]))
        out = GroupingResult(self, features)
        for row, own in enumerate(units):
            parts: list[tuple[int, int, Mask, Mask]] = []
            for number, (a, b) in enumerate(windows[row]):
                answer = next(answers)
                if answer.groups is None:
                    begins, noise = out.instead(
                        row, own, a, b, f"window {number + 1} of {len(windows[row])}", answer.fault
                    )
                else:
                    begins, noise = of_sentences(own, a, b, answer.groups)
                parts.append((a, b, begins, noise))
            out.add(own, *_joined(own, parts))
        return out.decided()

    def _windows(self, units: Units) -> list[tuple[int, int]]:
        """Return the units [a, b) of each window.

        A window holds as many units as ``window_tokens`` allow. The next window repeats the last ``overlap_units``
        units, but at most half of the window.
        """
        spans = []
        begin = 0
        while begin < len(units):
            end = self.window_end(units, begin)
            spans.append((begin, end))
            if end == len(units):
                break
            again = min(self.overlap_units, (end - begin) // 2)
            begin = end - again
        return spans

    def window_end(self, units: Units, begin: int) -> int:
        """Return the index after the last unit that fits into ``window_tokens`` from ``begin`` on.

        The window holds at least one unit.
        """
        size, end = 0, begin
        while end < len(units):
            size += len(units.texts[end]) // _CHARACTERS + 4
            if size > self.window_tokens and end > begin:
                break
            end += 1
        return end


class GroupingResult:
    """The cuts and noise of the documents, collected one document at a time, with notes about fallbacks."""

    def __init__(self, method: LLMMethod, features: Features) -> None:
        self.method, self.features = method, features
        self.notes: list[tuple[int, str]] = []
        self._firsts: list[I64] = []
        self._removed: list[list[tuple[int, int, str, float]]] = []
        self._cuts: Cuts | None = None

    def instead(self, row: int, units: Units, a: int, b: int, where: str, fault: str) -> tuple[Mask, Mask]:
        """Return the cuts of the fallback method for the units [a, b), and note the fallback.

        Raises:
            ValueError: The method is ``strict``.
        """
        method = self.method
        name = method.fallback
        if name == "auto":
            has_blocks = self.features.blocks is not None
            name = FALLBACKS[0] if has_blocks else FALLBACKS[1]
        if not method.asker.dry_run:
            if method.strict:
                raise ValueError(f"document {row}, {where}: {fault}; pass strict=False to cut it by {name}")
            self.notes.append((row, f"{where} is cut by {name}: {fault}"))
        if self._cuts is None:
            self._cuts = method._others[name].cuts(self.features)
        first, last = int(units.first[a]), int(units.last[b - 1])
        begins = np.zeros(units.count, bool)
        begins[self._cuts.part(row)] = True
        begins = begins[first:last].copy()
        begins[:1] = True
        return begins, np.zeros(last - first, bool)

    def add(self, units: Units, begins: Mask, noise: Mask) -> None:
        """Add a document.

        ``begins`` tells for each sentence whether it begins a chunk, and ``noise`` whether it is noise.
        """
        row = len(self._firsts)
        state = np.where(units.removed, 2, noise.astype(np.int8))
        begins = begins.copy()
        begins[:1] = True
        begins[1:] |= state[1:] != state[:-1]
        begins[1:] &= ~((state[1:] > 0) & (state[1:] == state[:-1]))  # A removed span stays in one piece.
        self._firsts.append(np.flatnonzero(begins))
        starts = self.features.given("sentences").part(row)
        size = int(self.features.offsets[row + 1] - self.features.offsets[row])
        ends = np.append(starts[1:], size)
        edges = np.flatnonzero(np.diff(np.concatenate([[0], noise.astype(np.int8), [0]])))
        self._removed.append(
            [
                (int(starts[a]), int(ends[b - 1]), "noise", float("nan"))
                for a, b in zip(edges[::2], edges[1::2], strict=True)
            ]
        )

    def decided(self) -> MethodResult:
        """Return the result for all documents."""
        cuts = Cuts.of(self._firsts)
        removed = RemovedSpans.of(self._removed) if any(self._removed) else None
        return MethodResult(cuts, removed, tuple(self.notes))


def _removed(features: Features, row: int, sentences: I64) -> Mask:
    """Return a mask of the sentences that the caller removed."""
    out = np.zeros(len(sentences), bool)
    if features.removed is not None:
        for at in range(int(features.removed.offsets[row]), int(features.removed.offsets[row + 1])):
            out |= (sentences >= features.removed.start[at]) & (sentences < features.removed.end[at])
    return out


def of_sentences(units: Units, a: int, b: int, groups: Any) -> tuple[Mask, Mask]:
    """Return for each sentence of the units [a, b) whether it begins a chunk, and whether it is noise."""
    first, last = int(units.first[a]), int(units.last[b - 1])
    begins, noise = np.zeros(last - first, bool), np.zeros(last - first, bool)
    for unit in range(a, b):
        start, end = int(units.first[unit]) - first, int(units.last[unit]) - first
        begins[start] = groups.begins[unit - a] or bool(units.walls[unit])
        noise[start:end] = groups.noise[unit - a]
    return begins, noise


def _joined(units: Units, parts: Sequence[tuple[int, int, Mask, Mask]]) -> tuple[Mask, Mask]:
    """Return booleans for all sentences of a document, joined from the booleans of its windows.

    Where two windows overlap, the first window applies up to a seam, and the second from the seam on. The seam is the
    unit nearest to the middle of the overlap that begins a chunk in both windows. If there is no such unit, the seam is
    the middle itself, and the first window decides whether a chunk begins there.
    """
    begins, noise = np.zeros(units.count, bool), np.zeros(units.count, bool)
    for place, (a, b, own_begins, own_noise) in enumerate(parts):
        first, last = int(units.first[a]), int(units.last[b - 1])
        if place == 0:
            at, keeps = first, False
        else:
            end = parts[place - 1][1]
            at, keeps = _seam(units, a, end, begins, own_begins, first)
        says = bool(begins[at])
        begins[at:last], noise[at:last] = own_begins[at - first :], own_noise[at - first :]
        if keeps:
            begins[at] = says
    return begins, noise


def _seam(units: Units, a: int, end: int, before: Mask, after: Mask, first: int) -> tuple[int, bool]:
    """Return the sentence from which the next window applies.

    The second value is whether the first window decides if a chunk begins there.
    """
    if a >= end:
        return int(units.first[a]), False
    middle = (a + end) // 2
    inside = [unit for unit in range(a + 1, end) if before[units.first[unit]] and after[units.first[unit] - first]]
    if inside:
        return int(units.first[min(inside, key=lambda unit: abs(unit - middle))]), False
    return int(units.first[middle]), True
