"""Where one document is cut: the method's groups of sentences, fitted to the budget, as spans of characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from .. import _native
from . import budget, scoring
from . import vectors as linear
from .cluster import optimal_partition
from .document import Document, Trimmed, trim
from .recursive import split_recursive
from .vectors import F32


def _summary(document: Document) -> F32:
    plan, given = document.plan, document.request.summaries
    if plan.summary != "given":
        return linear.summary_vector(plan.summary, document.vectors, document.paragraphs, document.text)
    assert given is not None
    if isinstance(given, np.ndarray):
        return np.asarray(given[document.row], dtype=np.float32)
    return document.vector(given[document.row].as_py())


def _runs(begins: list[bool]) -> list[budget.Group]:
    """Groups that begin at sentence 0 and wherever `begins` says so."""
    first = [i for i, begin in enumerate(begins) if begin or i == 0]
    return list(zip(first, [*first[1:], len(begins)], strict=True))


def _within(length: budget.Length, limit: int) -> Callable[[int, int], bool]:
    return lambda i, j: length(i, j) <= limit


class Cut:
    """The chunks of one document: spans of characters with the sentences that they touch."""

    def __init__(self, document: Document) -> None:
        self.document, self.plan = document, document.plan
        self.scores: F32 = np.empty(0, np.float32)
        self.labels: list[bool] = []
        #: (begin, end, first sentence, last sentence, first that is not repeated)
        self.spans: list[tuple[int, int, int, int, int]] = []
        if document.n:
            if self.plan.method == "recursive":
                self._recursive()
            else:
                self._grouped(self._groups())

    def _groups(self) -> list[budget.Group]:
        d, plan, n = self.document, self.plan, self.document.n
        if plan.method == "sentence":
            return _runs([True] * n)
        if plan.method == "paragraph":
            return _runs(d.paragraphs)
        if plan.method == "page":
            pages = [d.page_at(start) for start in d.starts]
            return _runs([i > 0 and pages[i] != pages[i - 1] for i in range(n)])
        if plan.method == "fixed":
            return budget.greedy(n, d.length(plan.unit), plan.size, plan.overlap)
        if plan.method == "cluster":
            first = set(optimal_partition(d.vectors, d.tokens, plan.max_tokens))
            return _runs([i in first for i in range(n)])
        if plan.method in ("semantic", "nsp"):
            wide = plan.window > 1
            scores = linear.adjacent(d.vectors, plan.window) if wide else np.array(d.affinities, np.float32)
            return _runs([False, *scoring.cuts(scores, plan.threshold, plan.threshold_value)])
        summary = _summary(d)
        self.scores = np.array([linear.dot(vector, summary) for vector in d.vectors], np.float32)
        self.labels = scoring.labels(self.scores, plan.k)
        return _runs([i > 0 and self.labels[i] != self.labels[i - 1] for i in range(n)])

    def _grouped(self, groups: list[budget.Group]) -> None:
        d, plan = self.document, self.plan
        limits: list[tuple[budget.Length, int]] = []
        if plan.method == "fixed":
            limits.append((d.length(plan.unit), plan.size))
        if plan.max_tokens:
            limits.append((d.length("tokens"), plan.max_tokens))

        def fits(i: int, j: int) -> bool:
            return all(length(i, j) <= limit for length, limit in limits)

        has_vectors = any(x is not None for x in (d.request.pair_scores, d.request.vectors, d.request.encoder))
        affinities = d.affinities if has_vectors and (plan.min_tokens or limits) else None
        if plan.min_tokens:
            groups = budget.join_short(groups, d.length("tokens"), plan.min_tokens, fits, affinities)
        for length, limit in limits:
            groups = budget.cut_long(groups, _within(length, limit), affinities)
        unit = plan.unit if plan.method == "fixed" else "tokens"
        starts = [first for first, _ in groups]
        if plan.overlap:
            starts = budget.overlap_starts(groups, d.length(unit), plan.overlap, fits)
        for (first, last), start in zip(groups, starts, strict=True):
            if last - first > 1 or fits(first, last):
                self.spans.append((d.starts[start], d.ends[last - 1], start, last, first))
                continue
            borders = [d.starts[first]]
            if plan.method == "fixed":
                borders = self._refined(borders, d.ends[first], plan.unit, plan.size)
            if plan.max_tokens:
                borders = self._refined(borders, d.ends[first], "tokens", plan.max_tokens)
            for begin, end in zip(borders, [*borders[1:], d.ends[first]], strict=True):
                self.spans.append((begin, end, first, first + 1, first))

    def _refined(self, borders: list[int], stop: int, unit: str, limit: int) -> list[int]:
        finer: list[int] = []
        for begin, end in zip(borders, [*borders[1:], stop], strict=True):
            inside = self.document.text[slice(*trim(self.document.text, begin, end))]
            if self.document.measure(inside, unit) <= limit:
                finer.append(begin)
            else:
                finer += self._oversize(begin, end, unit, limit)
        return finer

    def _oversize(self, begin: int, end: int, unit: str, limit: int) -> list[int]:
        """Where the pieces of a text begin that is too long: at words where one fits, else at characters."""
        text, measure = self.document.text, self.document.measure
        words: list[Trimmed] = []
        at = begin
        while at < end:
            while at < end and text[at].isspace():
                at += 1
            start = at
            while at < end and not text[at].isspace():
                at += 1
            if start < at:
                words.append((start, at))
        starts: list[int] = []
        i = 0
        while i < len(words):
            if measure(text[slice(*words[i])], unit) > limit:
                starts += self._word_pieces(*words[i], unit, limit)
                i += 1
                continue
            starts.append(words[i][0])
            length = measure(text[slice(*words[i])], unit)
            i += 1
            while i < len(words):
                own = measure(text[slice(*words[i])], unit)
                more = own + words[i][0] - words[i - 1][1] if unit == "characters" else own
                if length + more > limit:
                    break
                length += more
                i += 1
        return starts

    def _word_pieces(self, begin: int, end: int, unit: str, limit: int) -> list[int]:
        starts: list[int] = []
        while begin < end:
            starts.append(begin)
            length = max(100, 4 * limit) if unit == "tokens" else limit
            while unit == "tokens" and length > 1:
                piece = self.document.text[begin : min(end, begin + length)]
                tokens = self.document.count(piece)
                if tokens <= limit:
                    break
                length = max(1, min(length - 1, len(piece) * limit // tokens))
            begin += length
        return starts

    def _recursive(self) -> None:
        d, plan = self.document, self.plan
        token_starts: list[int] = []
        if plan.unit == "tokens":
            token_starts = _token_starts(d)
        found = split_recursive(
            d.text, plan.size, plan.overlap, plan.separators or None, plan.unit, d.starts, token_starts
        )
        for begin, end in found:
            borders = [begin]
            if plan.max_tokens and d.count(d.text[begin:end]) > plan.max_tokens:
                borders = self._oversize(begin, end, "tokens", plan.max_tokens)
            for start, stop in zip(borders, [*borders[1:], end], strict=True):
                first = bisect_right(d.starts, start) - 1
                self.spans.append((start, stop, first, bisect_right(d.starts, stop - 1), first))


def _token_starts(document: Document) -> list[int]:
    """Where tokens begin, from the native tokenizer's byte spans, and a long run's surplus spread evenly over it."""
    encoder, data, text = document.request.encoder, document.data, document.text
    assert encoder is not None
    _, _, spans = _native.encode_words(
        encoder, np.frombuffer(data, np.uint8), np.array([0, len(data)]), byte_spans=True
    )
    assert spans is not None
    starts = [len(data[:a].decode()) for a, _ in spans]
    at = 0
    for run in text.split():
        at = text.index(run, at)
        raw = run.encode()
        surplus = max(0, -(-len(run) // 4) - len(document.encode(run))) if len(run) > 100 else 0
        starts += [
            at + len(raw[: len(raw) * i // surplus + 1].decode(errors="ignore")) - _inside(raw, len(raw) * i // surplus)
            for i in range(surplus)
        ]
        at += len(run)
    return sorted(starts)


def _inside(raw: bytes, byte: int) -> int:
    """1 if raw[: byte + 1] ends with a whole character, 0 if it ends within one."""
    return int(byte + 1 >= len(raw) or raw[byte + 1] & 0xC0 != 0x80)
