"""What a model of noise sees of each block: numbers of its text, its place, its elements and its neighbours.

Everything here is exact arithmetic (whole numbers, division, binary logarithms by parts), so that features, and by
them what is removed, are the same on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.blocks import BLOCK_KINDS
from .html_facts import word_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.blocks import Blocks
    from .html_facts import HtmlFacts

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    U32 = npt.NDArray[np.uint32]

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "because",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "here",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "just",
        "like",
        "may",
        "more",
        "most",
        "my",
        "no",
        "not",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "up",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "will",
        "with",
        "would",
        "you",
        "your",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "nicht",
        "ein",
        "eine",
        "zu",
        "den",
        "von",
        "mit",
        "auf",
        "für",
        "im",
        "dem",
        "des",
        "sich",
        "le",
        "la",
        "les",
        "un",
        "une",
        "et",
        "est",
        "que",
        "pas",
        "pour",
        "dans",
        "sur",
        "au",
        "du",
        "en",
        "el",
        "los",
        "las",
        "y",
        "por",
        "con",
        "para",
        "del",
        "se",
        "o",
        "da",
        "di",
        "il",
        "che",
        "per",
        "non",
        "i",
        "w",
        "na",
        "nie",
        "jest",
        "do",
        "и",
        "в",
        "не",
        "на",
        "что",
        "с",
        "по",
        "как",
        "это",
        "но",
        "из",
        "за",
        "для",
        "от",
        "к",
        "у",
        "а",
    ]
)
#: Words of a block whose hashes are kept: the first ones and the last ones.
FIRST_WORDS, LAST_WORDS = 12, 4
#: How many levels of the tree, those without branches left out, are looked at above a block.
LEVELS = 5
_STRIPPED = ".,;:!?()[]{}\"'`“”‘’«»…|*#<>-–—_/\\&+=~^"


class NoiseFeatures(NamedTuple):
    """Of b blocks of one page.

    Attributes:
        dense: float64[b, f], multiples of 1 / 64 between -8 and 8.
        near, path, wording: uint32 hashes with their rows (int64): of the elements next to a block (it and two
            above), of all above those, and of the block's own words.
        above: int64[LEVELS, b], the numbers of the branching elements around each block, from the inside out.
        like: int64[b], equal for blocks whose elements and the two above have the same names.
        weight: float64[b], words of each block.
        page: uint32 hashes of what the page says of itself.
    """

    dense: F64
    near: tuple[U32, I64]
    path: tuple[U32, I64]
    wording: tuple[U32, I64]
    above: I64
    like: I64
    weight: F64
    page: U32


def _log(values: F64) -> F64:
    """Of 1 + values, to the base 2, straight between powers of two: exact."""
    part, power = np.frexp(values + 1.0)
    return np.asarray(power - 2 + 2 * part, np.float64)


def _ratio(part: F64, whole: F64) -> F64:
    return np.asarray(part / np.maximum(whole, 1.0), np.float64)


_CLASSES = np.zeros((128, 8))
for _column, _characters in enumerate(
    ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ",", ".!?", ":;", "$%@#", "|/>»·•", "()[]\"'")
):
    _CLASSES[[ord(character) for character in _characters if ord(character) < 128], _column] = 1


def noise_features(blocks: Blocks, facts: HtmlFacts, text: str, title: str = "") -> NoiseFeatures:
    """Features of one page's blocks; shapes: :class:`NoiseFeatures`."""
    start, end = blocks.start, blocks.end
    count = len(start)
    bodies = [text[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]

    # Words.
    title_words = {word for each in title.lower().split() if len(word := each.strip(_STRIPPED)) > 2}
    known: dict[str, int] = {}
    hashes: list[int] = []
    hash_counts: list[int] = []
    words_stops = np.zeros((count, 4))
    copies: dict[str, int] = {}
    for number, body in enumerate(bodies):
        words = body.lower().split()
        copies[body] = copies.get(body, 0) + 1
        size = len(words)
        words_stops[number, 0] = size
        words_stops[number, 1] = sum(map(STOP_WORDS.__contains__, words))
        words_stops[number, 3] = body.rstrip()[-1:] in ".!?…:;"
        if size > FIRST_WORDS + LAST_WORDS:
            words = words[:FIRST_WORDS] + words[-LAST_WORDS:]
        own = 0
        titled = 0
        for written in words:
            code = known.get(written)
            if code is None:
                bare = written.strip(_STRIPPED)
                if bare.isdigit():
                    bare = "0" * len(bare)
                code = known[written] = (word_hash(bare) if bare else 0) | ((bare in title_words) << 32)
            if code:
                hashes.append(code & 0xFFFFFFFF)
                own += 1
                titled += code >> 32
        words_stops[number, 2] = titled / max(1, own)
        hash_counts.append(own)
    repeats = np.array([copies[body] for body in bodies], np.float64)

    # Characters.
    letters = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    sums = np.zeros((len(letters) + 1, 9), np.int32)
    np.cumsum(_CLASSES_OF[np.minimum(letters, 128)], axis=0, out=sums[1:])
    counts = (sums[end] - sums[start]).astype(np.float64)

    chars = facts.text_chars.astype(np.float64)
    linked = facts.link_chars.astype(np.float64)
    links = facts.links.astype(np.float64)
    words_ = words_stops[:, 0]
    total = np.concatenate([[0.0], np.cumsum(chars)])
    position = np.arange(count, dtype=np.float64)
    length = np.maximum(chars, 1.0)
    kinds = (blocks.kind[:, None] == np.arange(len(BLOCK_KINDS) - 1)).astype(np.float64)
    first_heading = np.flatnonzero((blocks.kind == 1) & (blocks.level == 1))
    from_h1 = position - (first_heading[0] if len(first_heading) else count)
    last_heading = np.maximum.accumulate(np.where(blocks.kind == 1, np.arange(count), -1)) if count else position
    columns = [
        _log(chars) / 2,
        _log(words_) / 2,
        _ratio(linked, length) * 4,
        _log(links),
        _ratio(chars, words_) / 4,
        _ratio(words_stops[:, 1], words_) * 6,
        words_stops[:, 2] * 4,
        words_stops[:, 3] * 2,
        *(np.minimum(_ratio(counts[:, each], length) * (4 if each < 2 else 16), 4) for each in range(9)),
        kinds * 2,
        blocks.level.astype(np.float64),
        facts.hidden.astype(np.float64) * 2,
        _log(repeats - 1),
        facts.depth[facts.element].astype(np.float64) / 8,
        _ratio(position, np.full(count, float(count))) * 4,
        _ratio(total[:-1], np.full(count, total[-1])) * 4,
        np.full(count, _log(np.array([float(count)]))[0] / 4),
        np.full(count, _log(np.array([total[-1]]))[0] / 4),
        np.clip(from_h1 / 8, -4, 4),
        _log(np.abs(from_h1)) / 2 * np.sign(from_h1),
        _log(position - last_heading) / 2,
        np.full(count, float(len(first_heading) > 0)),
    ]

    # The tree: what is inside each element, as sums over its blocks.
    elements = len(facts.parent)
    rows = np.arange(elements)
    first = np.searchsorted(facts.element, rows)
    last = np.searchsorted(facts.element, facts.last)
    inside = last - first
    parent = np.maximum(facts.parent, 0).astype(np.int64)
    top = np.where(inside[parent] == inside, parent, rows)
    while not np.array_equal(further := top[top], top):
        top = further
    per_block = np.column_stack([chars, linked, words_, words_stops[:, 1], counts[:, 3], repeats > 1, kinds[:, 1]])
    running = np.concatenate([np.zeros((1, per_block.shape[1])), np.cumsum(per_block, axis=0)])
    above = np.zeros((LEVELS, count), np.int64)
    at = facts.element.astype(np.int64)
    for level in range(LEVELS):
        at = parent[top[at]]
        above[level] = at
        within = running[last[at]] - running[first[at]]
        many = inside[at].astype(np.float64)
        columns += [
            _log(within[:, 0]) / 2,
            _ratio(within[:, 0], np.full(count, total[-1])) * 4,
            _ratio(within[:, 1], within[:, 0]) * 4,
            _ratio(within[:, 3], within[:, 2]) * 6,
            _log(_ratio(within[:, 2], many)),
            _log(many) / 2,
            np.minimum(_ratio(within[:, 4] * 16, within[:, 0]), 4),
            _ratio(within[:, 5], many) * 4,
            _ratio(within[:, 6], many) * 4,
            _ratio(position - first[at], many) * 2,
            facts.depth[at].astype(np.float64) / 8,
        ]

    # Blocks whose elements are named alike: posts, cards, entries of a menu.
    names = facts.words.values.astype(np.uint64)
    name = np.add.reduceat(np.append(names, 0), facts.words.offsets[:-1]) if elements else names
    name = np.where(np.diff(facts.words.offsets) > 0, name, 0)
    one, two = parent[facts.element], parent[parent[facts.element]]
    sign = name[facts.element] + name[one] * np.uint64(31) + name[two] * np.uint64(961) + blocks.kind.astype(np.uint64)
    _, inverse, members = np.unique(sign, return_inverse=True, return_counts=True)
    like = inverse.reshape(-1).astype(np.int64)
    alike = members[like].astype(np.float64)
    summed = np.zeros((len(members), 4))
    np.add.at(summed, like, np.column_stack([chars, linked, words_, words_stops[:, 1]]))
    summed = summed[like]
    columns += [
        _log(alike) / 2,
        _log(_ratio(summed[:, 0], alike)) / 2,
        _ratio(summed[:, 1], summed[:, 0]) * 4,
        _ratio(summed[:, 3], summed[:, 2]) * 6,
    ]

    dense = np.column_stack(columns) if count else np.zeros((0, DENSE))
    dense = np.rint(np.clip(dense, -8, 8) * 64) / 64
    owner = np.repeat(np.arange(count), hash_counts)
    wording = (np.array(hashes, np.uint32), owner.astype(np.int64))
    near = _words_at(facts, [facts.element.astype(np.int64), one, two])
    path = _words_above(facts, parent[two], two)
    return NoiseFeatures(dense, near, path, wording, above, like, words_, facts.page)


_CLASSES_OF = np.vstack([np.column_stack([_CLASSES, np.zeros(128)]), [[0] * 8 + [1]]]).astype(np.int32)
#: Columns of ``dense``.
DENSE = 8 + 9 + (len(BLOCK_KINDS) - 1) + 12 + 11 * LEVELS + 4


def _words_at(facts: HtmlFacts, elements: list[I64]) -> tuple[U32, I64]:
    """The words of elements of each block, and whose they are."""
    offsets = facts.words.offsets
    values, owners = [], []
    for at in elements:
        counts = offsets[at + 1] - offsets[at]
        owner = np.repeat(np.arange(len(at)), counts)
        inner = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        values.append(facts.words.values[offsets[at][owner] + inner])
        owners.append(owner)
    return np.concatenate(values), np.concatenate(owners).astype(np.int64)


def _words_above(facts: HtmlFacts, top: I64, under: I64) -> tuple[U32, I64]:
    """The words of the eight elements from ``top`` upwards, without the root."""
    parent = np.maximum(facts.parent, 0).astype(np.int64)
    offsets = facts.words.offsets
    values, owners = [], []
    at, below = top, under
    blocks = np.arange(len(top))
    for _ in range(8):
        going = at != below
        at, blocks = at[going], blocks[going]
        counts = offsets[at + 1] - offsets[at]
        owner = np.repeat(np.arange(len(at)), counts)
        inner = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        values.append(facts.words.values[offsets[at][owner] + inner])
        owners.append(blocks[owner])
        below, at = at, parent[at]
    return np.concatenate(values), np.concatenate(owners).astype(np.int64)
