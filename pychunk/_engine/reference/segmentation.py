"""The segmentation of one document: a method's groups of sentences, and their fitting to the budget."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np

from .. import native
from ..data.columns import CUT_REASONS
from . import budget
from . import vectors as linear
from .cluster import optimal_partition
from .cohesion import Break, Cohesion
from .document import Document, Trimmed, trim
from .document_blocks import ROWS
from .overlap_tail import tail_of, tails
from .search import thresholds
from .structure import Outline, Structure
from .text import wordpiece
from .text.graphemes import cluster_border
from .text.recursive import split_recursive
from .topic import cut_within
from .vectors import F32


def summary(document: Document) -> tuple[F32, list[int]]:
    """Return the vector of the document's summary, and the sentences from which the summary was made."""
    plan, given = document.plan, document.features.summaries
    if plan.summary != "given":
        return linear.summary_vector(plan.summary, document.vectors, document.paragraphs, document.text)
    assert given is not None
    if isinstance(given, np.ndarray):
        return np.asarray(given[document.row], dtype=np.float32), []
    return document.vector(bytes(given.part(document.row)).decode()), []


def _runs(begins: list[bool]) -> list[budget.Group]:
    """Return the groups that begin at sentence 0 and wherever ``begins`` is true."""
    first = [i for i, begin in enumerate(begins) if begin or i == 0]
    return list(zip(first, [*first[1:], len(begins)], strict=True))


@dataclass
class Decision:
    """The decision of a method: groups of sentences, scores of sentences or of neighbouring pairs, and labels."""

    groups: list[budget.Group]
    scores: Sequence[float] | F32 = ()
    labels: Sequence[int] = ()
    #: The scores that are compared with a threshold, if these are not ``scores``.
    held: Sequence[float] | F32 = ()
    #: For each group the reason why it begins (``columns.CUT_REASONS``). Empty means the reason of the method's traits.
    reasons: Sequence[int] = ()
    #: The sections, from a method that cuts by headings.
    outline: Outline = field(default_factory=Outline)


def _sentence(d: Document) -> Decision:
    return Decision(_runs([True] * d.n))


def _paragraph(d: Document) -> Decision:
    return Decision(_runs(d.paragraphs))


def _page(d: Document) -> Decision:
    pages = [d.page_at(start) for start in d.starts]
    return Decision(_runs([i > 0 and pages[i] != pages[i - 1] for i in range(d.n)]))


def _filled(d: Document, by_structure: bool) -> Decision:
    plan = d.plan
    characters = d.length("characters") if plan.min_characters else None
    borders = d.borders if plan.keep_together or by_structure else None
    filling = budget.FillRule(borders, by_structure, plan.balance, characters, tail=tails(d), sections=False)
    return Decision(budget.fill(0, d.n, d.length(plan.unit), plan.size, plan.overlap, filling))


def _fixed(d: Document) -> Decision:
    return _filled(d, False)


def _recursive(d: Document) -> Decision:
    return _filled(d, True)


def _structure(d: Document) -> Decision:
    found = Structure(d)
    return Decision(found.groups, reasons=found.reasons, outline=found.outline)


def _cluster(d: Document) -> Decision:
    first = set(optimal_partition(d.vectors, d.limited_lengths, d.limits[1]))
    return Decision(_runs([i in first for i in range(d.n)]))


def _topic(d: Document) -> Decision:
    _, most, least = d.limits
    first = set(cut_within(d.affinities, d.plan.threshold_value, d.limited_lengths, least, most))
    return Decision(_runs([i in first for i in range(d.n)]), d.affinities)


def _semantic(d: Document) -> Decision:
    wide = d.plan.window > 1
    scores = linear.adjacent(d.vectors, d.plan.window) if wide else np.array(d.affinities, np.float32)
    return Decision(
        _runs([False, *thresholds.cuts(scores, d.plan.threshold, d.plan.threshold_value)]), d.affinities, held=scores
    )


def _pic(d: Document) -> Decision:
    against, _ = summary(d)
    scores = np.array([linear.dot(vector, against) for vector in d.vectors], np.float32)
    labels = [int(label) for label in thresholds.labels(scores, d.plan.k)]
    return Decision(_runs([i > 0 and labels[i] != labels[i - 1] for i in range(d.n)]), scores, labels)


METHODS = {
    "sentence": _sentence,
    "paragraph": _paragraph,
    "page": _page,
    "fixed": _fixed,
    "recursive": _recursive,
    "structure": _structure,
    "cluster": _cluster,
    "semantic": _semantic,
    "nsp": _semantic,
    "topic": _topic,
    "pic": _pic,
}


def decide(document: Document) -> Decision:
    """Return the cuts that the caller passed, or else the decision of the plan's method."""
    if document.n == 0:
        return Decision([])
    cuts, row = document.request.cuts, document.row
    if cuts is None:
        return METHODS[document.plan.method](document)
    first = cuts.part(row).tolist()
    groups = list(zip(first, [*first[1:], document.n], strict=True))
    kinds = (
        [-1] * len(first)
        if cuts.relevance is None
        else cuts.relevance[cuts.offsets[row] : cuts.offsets[row + 1]].tolist()
    )
    labels = [kind for (a, b), kind in zip(groups, kinds, strict=True) for _ in range(a, b)]
    scores = () if cuts.score is None else cuts.score.part(row)
    why = () if cuts.reason is None else cuts.reason[cuts.offsets[row] : cuts.offsets[row + 1]].tolist()
    return Decision(groups, scores, () if cuts.relevance is None else labels, reasons=why)


class Parts:
    """The parts of which groups consist: whole sentences, and pieces of sentences that alone exceed a limit."""

    def __init__(self, document: Document, starts: list[int], sentences: list[int], is_piece: list[bool]) -> None:
        self.document, self.starts, self.sentences, self.is_piece = document, starts, sentences, is_piece
        self.ends = [*starts[1:], len(document.text)]

    def length(self, unit: str) -> budget.Length:
        return self.document.length(unit, self.starts, self.ends)

    def fits(self, limits: list[tuple[str, int]]) -> budget.Fits:
        lengths = [(self.length(unit), limit) for unit, limit in limits]
        return lambda i, j: all(length(i, j) <= limit for length, limit in lengths)

    @property
    def borders(self) -> budget.Borders | None:
        """The boundary before each part, if the plan respects boundaries."""
        if not self.document.heeds_borders:
            return None
        cohesion, breaks = self.document.borders
        inside = [False, *(before == after for before, after in pairwise(self.sentences))]
        return (
            [Cohesion.OPEN if piece else cohesion[s] for s, piece in zip(self.sentences, inside, strict=True)],
            [Break.PIECE if piece else breaks[s] for s, piece in zip(self.sentences, inside, strict=True)],
        )

    def affinities(self, of_sentences: list[float] | None) -> list[float] | None:
        """Return the affinity of each pair of neighbouring parts.

        Two pieces of one sentence, and two sentences that are kept together, have an infinite affinity.
        """
        if of_sentences is None:
            return None
        cohesion = self.borders[0] if self.borders else [Cohesion.OPEN] * len(self.sentences)
        pairs = pairwise(self.sentences)
        return [
            math.inf if before == after or cohesion.is_closed else of_sentences[before]
            for (before, after), cohesion in zip(pairs, cohesion[1:], strict=True)
        ]


class Cut:
    """The chunks of one document, as spans of characters and of sentences."""

    def __init__(self, document: Document) -> None:
        self.document, self.plan = document, document.plan
        self.decision = Decision([])
        #: The reason why a group begins, by the number of its first sentence.
        self.begins: dict[int, int] = {}
        #: (begin, end, first sentence, sentence after the last, first sentence that is not repeated) of each chunk
        self.spans: list[tuple[int, int, int, int, int]] = []
        if document.n:
            if self.plan.cuts_text and document.request.cuts is None:
                self._by_separators()
            else:
                self.decision = decide(document)
                self._grouped(self.decision.groups)

    def _grouped(self, groups: list[budget.Group]) -> None:
        d, plan = self.document, self.plan
        reasons = self.decision.reasons or [CUT_REASONS.index(plan.traits.reason)] * len(groups)
        self.begins = {first: why for (first, _), why in zip(groups, reasons, strict=True)}
        if d.heeds_borders and not plan.traits.outline:
            sections = ("named" if self._fills_sizes else "cut") if plan.min_characters else "ignored"
            self.begins = budget.move_cuts(d.borders[0], sections, self.begins)
            groups = _runs([s in self.begins for s in range(d.n)])
        parts = Parts(d, d.starts, list(range(d.n)), [False] * d.n)
        cuts = d.request.cuts
        scored = cuts is not None and cuts.pairs and cuts.score is not None
        given = (d.features.pair_scores, d.features.vectors, d.request.table)
        has_vectors = scored or any(part is not None for part in given)
        budgets = plan.min_tokens or plan.max_tokens or plan.size or plan.min_characters
        affinities = d.affinities if has_vectors and budgets else None
        limits = self._limits()
        unit, _, least = d.limits
        groups = self._joined(groups, parts, unit, least, affinities, across=self._fills_sizes)
        for limit in limits:
            fits, filling = (
                parts.fits([limit]),
                budget.FillRule(parts.borders, by_structure=True, sections=not self._fills_sizes),
            )
            length = parts.length(limit[0])
            groups = budget.cut_long(groups, fits, parts.affinities(affinities), length, limit[1], filling)
        groups, parts = self._split_long_sentences(groups, parts)
        groups = self._joined(
            groups, parts, unit, least, affinities, across=self._fills_sizes
        )  # cutting may have left short groups
        groups = self._joined(groups, parts, "characters", plan.min_characters, affinities, across=True)
        unit = plan.unit if plan.size or not plan.traits.sized else "tokens"
        starts: list[tuple[int, int | None]] = [(first, None) for first, _ in groups]
        if plan.overlap:
            fits = parts.fits(limits)
            length = parts.length(unit)

            def tail(first: int, last: int) -> int | None:
                sentence = parts.sentences[first - 1]
                return self._tail(sentence, parts.starts[first], parts.ends[last - 1], unit)

            starts = budget.overlap_starts(groups, length, plan.overlap, fits, parts.is_piece, parts.borders, tail)
        for (first, last), (start, begin) in zip(groups, starts, strict=True):
            if d.removed[parts.sentences[first]]:
                continue
            sentences = parts.sentences[last - 1] + 1, parts.sentences[first]
            if begin is None:
                self.spans.append((parts.starts[start], parts.ends[last - 1], parts.sentences[start], *sentences))
            else:
                self.spans.append((begin, parts.ends[last - 1], parts.sentences[first - 1], *sentences))

    def _tail(self, sentence: int, begin: int, end: int, unit: str) -> int | None:
        """Return the position from which the next chunk [begin, end) repeats the sentence before it, or None."""
        d = self.document

        def measure(first: int, last: int, unit: str) -> int:
            return d.measure(d.text[slice(*trim(d.text, first, last))], unit)

        most = self.plan.overlap
        for own, limit in self._limits():
            if own == unit:
                most = min(most, limit - measure(begin, end, own))
        if most <= 0:
            return None
        found = tail_of(d.text, d.starts[sentence], d.ends[sentence], most, lambda text: d.measure(text, unit))
        if found is None or any(measure(found[0], end, own) > limit for own, limit in self._limits()):
            return None
        return found[0]

    def _joined(
        self,
        groups: list[budget.Group],
        parts: Parts,
        unit: str,
        least: int,
        affinities: list[float] | None,
        *,
        across: bool = False,
    ) -> list[budget.Group]:
        """Join groups shorter than ``least``, if it is not 0, with other groups; see :func:`budget.join_short`."""
        if not least:
            return groups
        fits = parts.fits(self._limits())
        within = parts.affinities(affinities)
        return budget.join_short(groups, parts.length(unit), least, fits, within, parts.borders, across=across)

    @property
    def _fills_sizes(self) -> bool:
        """True if the method fills groups up to its size, even across the beginning of a section."""
        plan = self.plan
        return plan.traits.sized and plan.size > 0 and not plan.cuts_text

    def _limits(self) -> list[tuple[str, int]]:
        """Return the limits of a chunk as (unit, limit): the method's own size and max_tokens."""
        own = [(self.plan.unit, self.plan.size)] if self.plan.traits.sized and self.plan.size else []
        unit, most, _ = self.document.limits
        return own + ([(unit, most)] if most else [])

    def _split_long_sentences(self, groups: list[budget.Group], parts: Parts) -> tuple[list[budget.Group], Parts]:
        """Split groups of one sentence that exceed a limit into groups of one piece each.

        If a sentence exceeds a limit only together with the text before it that must stay with it, it is cut in two.
        """
        d = self.document
        fits = parts.fits(self._limits())
        finer: list[budget.Group] = []
        made: list[tuple[int, int, bool]] = []
        for first, last in groups:
            whole = last - first > 1 or fits(first, last)
            begin, end = d.starts[first], d.ends[first]
            borders = [] if whole else self._pieces(begin, end)
            lead = made[finer[-1][0]][1] if finer and not made[finer[-1][0]][2] else first
            leading = all(cohesion == Cohesion.LEAD for cohesion in d.borders[0][lead + 1 : first + 1])
            row = whole and d.kind_of(first) in ROWS  # the head of a table alone is no reason to cut a row
            apart = self.begins.get(first) == CUT_REASONS.index("heading")  # nor is a signature for its definitions
            if d.heeds_borders and lead < first and leading and not row and not apart:
                # The text that leads the sentence stays with its first piece, which is shorter by that text's length.
                led = self._pieces(d.starts[lead], end)
                if len(led) > 1 and led[1] > begin:
                    made.append((begin, first, True))
                    finer[-1] = finer[-1][0], len(made)
                    middle = _middle(d.text, d.starts[lead], begin, led[1], end) if whole else None
                    borders = led[1:] if middle is None else [middle]
            finer += [(at, at + 1) for at in range(len(made), len(made) + max(1, len(borders)))]
            made += [(border, first, True) for border in borders] or [(begin, first, False)]
            made += [(d.starts[s], s, False) for s in range(first + 1, last)]
            finer[-1] = finer[-1][0], len(made)
        starts, sentences, is_piece = (list(column) for column in zip(*made, strict=True))
        return finer, Parts(d, starts, sentences, is_piece)

    def _pieces(self, begin: int, end: int) -> list[int]:
        """Return the beginnings of the pieces into which a text is cut so that none exceeds a limit."""
        borders = [begin]
        for unit, limit in self._limits():
            borders = self._refined(borders, end, unit, limit)
        return borders

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
        """Return the beginnings of the pieces of a text that is too long: words, or characters of a word too long."""
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
            first = words[i][0]
            if measure(text[first : words[i][1]], unit) > limit:
                starts += self._word_pieces(*words[i], unit, limit)
                i += 1
                continue
            starts.append(first)
            i += 1
            while i < len(words) and measure(text[first : words[i][1]], unit) <= limit:
                i += 1
        return starts

    def _word_pieces(self, begin: int, end: int, unit: str, limit: int) -> list[int]:
        starts: list[int] = []
        while begin < end:
            starts.append(begin)
            length = max(100, 4 * limit) if unit == "tokens" else limit
            while True:
                # Extend the piece to the end of a grapheme cluster, unless one cluster alone is too long.
                stop = min(end, begin + length)
                stop = cluster_border(self.document.text, begin, stop) if stop < end else stop
                piece = self.document.text[begin:stop]
                tokens = self.document.count(piece) if unit == "tokens" else 0
                if tokens <= limit or length <= 1:
                    break
                length = max(1, min(length - 1, len(piece) * limit // tokens))
            begin = stop
        return starts

    def _by_separators(self) -> None:
        d, plan = self.document, self.plan
        token_starts: list[int] = []
        if plan.unit == "tokens":
            token_starts = _token_starts(d)
        found: list[Trimmed] = []
        for gone, stretch in groupby(range(d.n), lambda s: d.removed[s]):
            own = list(stretch)
            begin, end = d.starts[own[0]], d.ends[own[-1]]
            if not gone:
                tokens = [at - begin for at in token_starts if begin <= at < end]
                text = d.text[begin:end]
                pieces = split_recursive(text, plan.size, plan.overlap, plan.separators, plan.unit, tokens)
                found += [(a + begin, b + begin) for a, b in pieces]
        # A word that was cut has other tokens than its pieces. Therefore the tokens of the final text are counted.
        limit = plan.max_tokens
        if plan.unit == "tokens" and "" in plan.separators:
            limit = min(limit or plan.size, plan.size)
        spans: list[Trimmed] = []
        for begin, end in found:
            # If the piece before was cut into several chunks, only the last of these may be repeated.
            last, known = spans[-1] if spans else (0, 0)
            begin = max(begin, last)
            cut = self._fitting(begin, end, limit)
            # If nothing new fits next to the repeated text, or a character alone is over the limit:
            if self._exceeds(begin, end, limit) and cut[0][1] <= known:
                begin = trim(d.text, known, end)[0]
                cut = self._fitting(begin, end, limit) if begin < end else []
            spans += cut
        for start, stop in spans:
            first = bisect_right(d.starts, start) - 1
            self.spans.append((start, stop, first, bisect_right(d.starts, stop - 1), first))

    def _exceeds(self, begin: int, end: int, limit: int) -> bool:
        return limit > 0 and self.document.count(self.document.text[begin:end]) > limit

    def _fitting(self, begin: int, end: int, limit: int) -> list[Trimmed]:
        """Return the span [begin, end), or if it exceeds the limit, the spans of pieces that do not."""
        text = self.document.text
        if not self._exceeds(begin, end, limit):
            return [(begin, end)]
        starts = self._oversize(begin, end, "tokens", limit)
        return [trim(text, *piece) for piece in pairwise([*starts, end])]


def _middle(text: str, lead: int, begin: int, most: int, end: int) -> int | None:
    """Return the word at which [lead, end) is best cut in two, near the middle; it begins in (begin, most].

    A word after a mark that ends a clause is preferred, if it is at most a quarter of the length further away from the
    middle.
    """
    words = [
        at
        for at in range(begin + 1, min(most + 1, end))
        if not text[at].isspace() and at > lead and text[at - 1].isspace()
    ]
    size = end - lead

    def cost(at: int) -> int:
        clause = text[lead:at].rstrip()[-1:] in set(",;:，；：、)–—")
        return abs(2 * (at - lead) - size) + (0 if clause else size // 2)

    return min(words, key=cost, default=None)


def _token_starts(document: Document) -> list[int]:
    """Return the positions at which tokens begin, from the byte spans of the native tokenizer.

    The tokens that budgets count for an unknown word are spread evenly over the word.
    """
    encoder, data = document.request.tokenizer, document.data
    assert encoder is not None
    found, _, spans = native.encode_words(
        encoder, np.frombuffer(data, np.uint8), np.array([0, len(data)]), byte_spans=True
    )
    assert spans is not None
    options = encoder.tokenizer_options
    unknown = document.vocabulary[options.get("unknown", "[UNK]")]
    starts = []
    for token, (a, b) in zip(found, spans, strict=True):
        raw = data[a:b]
        at = len(data[:a].decode())
        more = 0
        if token == unknown:
            more = wordpiece.tokens_of_unknown(len(wordpiece.normalize(raw.decode(), options))) - 1
        starts.append(at)
        starts += [
            at + len(raw[: len(raw) * i // more + 1].decode(errors="ignore")) - _inside(raw, len(raw) * i // more)
            for i in range(more)
        ]
    return sorted(starts)


def _inside(raw: bytes, byte: int) -> int:
    """Return 1 if ``raw[: byte + 1]`` ends with a whole character, 0 if it ends inside a character."""
    return int(byte + 1 >= len(raw) or raw[byte + 1] & 0xC0 != 0x80)
