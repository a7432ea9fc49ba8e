"""What a model of noise sees of each block: numbers of its text, its place, its elements and its neighbours.

Everything here is exact arithmetic (whole numbers, division, binary logarithms by parts), so that features, and by
them what is removed, are the same on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._engine import native
from ..._engine.data.blocks import FORM, HEADING, PARAGRAPH, TERM
from ..._engine.data.html_tags import word_hash
from ..._engine.data.ragged import offsets_of
from ..._engine.engine import backend_name
from .bodies import body_spans
from .coherence import pairs, roles
from .comments import comments
from .hidden import hidden_runs
from .html_facts import held_blocks
from .landmarks import PAGER, landmarks
from .manuals import MainElement, main_elements, turns
from .stop_words import STOP_WORDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.blocks import Blocks
    from ..._engine.data.ragged import Ragged
    from .html_facts import HtmlFacts

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    U32 = npt.NDArray[np.uint32]

#: Kinds of blocks that the network knows: those up to ``FORM``.
_KINDS = FORM + 1
#: Words of a block whose hashes are kept: the first ones and the last ones.
FIRST_WORDS, LAST_WORDS = 12, 4
#: Elements above those next to a block whose names are seen.
PATH = 12
#: How many levels of the tree, those without branches left out, are looked at above a block.
LEVELS = 5
_STRIPPED = ".,;:!?()[]{}\"'`“”‘’«»…|*#<>-–—_/\\&+=~^"


#: Hashes of words, at most so many.
_CODED = 50_000
_coded: dict[str, int] = {}


class NoiseFeatures(NamedTuple):
    """Of b blocks of one page.

    Attributes:
        dense: float64[b, f], multiples of 1 / 64 between -8 and 8.
        names: uint32 hashes of each element's names, as the page has them.
        near: int64[3, b], rows of the elements next to a block: its own and two above; ``path``: int64[12, b], of
            those above these, -1 where there are none.
        wording: uint32 hashes of the block's own words, with their rows (int64).
        above: int64[LEVELS, b], the numbers of the branching elements around each block, from the inside out.
        like: int64[b], equal for blocks whose elements and the two above have the same names.
        copy: int64[b], equal for blocks of the same text.
        weight: float64[b], words of each block.
        page: uint32 hashes of what the page says of itself.
        landmark: int8[b], what its landmarks say of it (:func:`pychunk.parsing.html.landmarks.landmarks`); of a
        manual's
            page, links to the pages before and after are outside (:func:`pychunk.parsing.html.manuals.turns`).
        comments: bool[b], which are comments under an article (:func:`pychunk.parsing.html.comments.comments`).
        role: int8[b], what each is to those around it (:func:`pychunk.parsing.html.coherence.roles`).
        bodies: int64[k, 2], blocks of elements named as bodies of articles
        (:func:`pychunk.parsing.html.bodies.body_spans`).
        titles: bool[b], headings that may be the page's title: those of level 1, and those that are like ``<title>``.
        level: int16[b], levels of headings, 0 of others.
        pairs: int64[n, 3], spans that stand or fall together (:func:`pychunk.parsing.html.coherence.pairs`).
        hidden: int64[k, 4], hidden runs beside visible prose (:func:`pychunk.parsing.html.hidden.hidden_runs`).
        held: int64[e, 2], blocks of each element (:func:`pychunk.parsing.html.html_facts.held_blocks`).
        main: elements that may be a manual's main one (:func:`pychunk.parsing.html.manuals.main_elements`).
    """

    dense: F64
    names: Ragged
    near: I64
    path: I64
    wording: tuple[U32, I64]
    above: I64
    like: I64
    copy: I64
    weight: F64
    page: U32
    landmark: npt.NDArray[np.int8]
    comments: npt.NDArray[np.bool_]
    role: npt.NDArray[np.int8]
    bodies: I64
    titles: npt.NDArray[np.bool_]
    level: npt.NDArray[np.int16]
    pairs: I64
    hidden: I64
    held: I64
    main: MainElement


def _log(values: F64) -> F64:
    """Of 1 + values, to the base 2, straight between powers of two: exact."""
    part, power = np.frexp(values + 1.0)
    return np.asarray(power - 2 + 2 * part, np.float64)


def _ratio(part: F64, whole: F64) -> F64:
    return np.asarray(part / np.maximum(whole, 1.0), np.float64)


#: Sorts of characters that are counted: digits, capitals, commas ...; what is not ASCII is the last.
_SORTS = ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ",", ".!?", ":;", "$%@#", "|/>", "()[]\"'")
_SORT_OF = np.zeros(129, np.uint8)
for _number, _members in enumerate(_SORTS):
    _SORT_OF[[ord(member) for member in _members]] = _number + 1
_SORT_OF[128] = len(_SORTS) + 1


def _code(written: str) -> int:
    """The hash of a word as it is written, kept from page to page; -1 of one that is marks alone."""
    bare = written.strip(_STRIPPED)
    if bare.isdigit():
        bare = "0" * len(bare)
    code = word_hash(bare) if bare else -1
    if len(_coded) >= _CODED:
        _coded.clear()
    if len(written) < 40:
        _coded[written] = code
    return code


def _characters(text: str, start: I64, end: I64) -> F64:
    """float64[b, 9]: how many characters of each sort each block has."""
    width = len(_SORTS) + 2
    sorts = _SORT_OF[np.minimum(np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32), 128)]
    found = np.flatnonzero(sorts)
    block = np.searchsorted(start, found, side="right") - 1
    inside = (block >= 0) & (found < end[block])
    keys = block[inside] * width + sorts[found[inside]]
    return np.bincount(keys, minlength=len(start) * width).reshape(-1, width)[:, 1:].astype(np.float64)


_Words = tuple["I64", "I64", "I64", "npt.NDArray[np.uint8]", "U32"]


def _lower(blocks: Blocks, text: str) -> tuple[npt.NDArray[np.uint8], I64]:
    """The blocks' texts in lower case, UTF-8, and where each begins and the last ends: int64[b + 1].

    With the white space between them, which is no part of a word, so that the page is one text: a letter's lower case
    may hang on letters around it, but not beyond a line break. Where one letter becomes two, each text is by itself.
    """
    lower = text.lower()
    if len(lower) == len(text):
        raw = np.frombuffer(lower.encode("utf-8", "replace"), np.uint8)
        start = blocks.start if len(raw) == len(text) else np.flatnonzero((raw & 0xC0) != 0x80)[blocks.start]
        return raw, np.append(start, len(raw))
    spans = zip(blocks.start.tolist(), blocks.end.tolist(), strict=True)
    written = [text[start:end].lower().encode("utf-8", "replace") for start, end in spans]
    return np.frombuffer(b"".join(written), np.uint8), offsets_of(list(map(len, written)))


def _native_words(lower: tuple[npt.NDArray[np.uint8], I64]) -> _Words:
    """Of b texts in lower case: int64[b] words, stop words, words hashed; whether a sentence ends; uint32 hashes."""
    found = native.block_words(*lower, _STOP_LINES, _STRIPPED, first=FIRST_WORDS, last=LAST_WORDS)
    words, stops, hashed, ends, hashes = found
    return words, stops, hashed, ends, hashes


def _words(bodies: list[str]) -> _Words:
    """The same of texts in Python: the reference."""
    from ..._engine.reference.text.graphemes import words_of_run

    known = _coded.get
    hashes: list[int] = []
    counted: list[tuple[int, int, int, bool]] = []
    for body in bodies:
        words = body.split()
        size = sum(map(words_of_run, words))
        stops = sum(map(STOP_WORDS.__contains__, words))
        if len(words) > FIRST_WORDS + LAST_WORDS:
            words = words[:FIRST_WORDS] + words[-LAST_WORDS:]
        codes = [code for word in words if (code := known(word) or _code(word)) > 0]
        hashes += codes
        counted.append((size, stops, len(codes), body.rstrip()[-1:] in ".!?…:;"))
    found = np.array(counted, np.int64).reshape(-1, 4).T
    return found[0], found[1], found[2], found[3].astype(np.uint8), np.array(hashes, np.uint32)


_STOP_LINES = "\n".join(sorted(STOP_WORDS))


def noise_features(blocks: Blocks, facts: HtmlFacts, text: str, title: str = "") -> NoiseFeatures:
    """Features of one page's blocks; shapes: :class:`NoiseFeatures`."""
    # The network was trained on pages whose terms were paragraphs.
    blocks = replace(blocks, kind=np.where(blocks.kind == TERM, np.int8(PARAGRAPH), blocks.kind))
    if backend_name() == "native" and len(blocks.kind):
        return _native_features(blocks, facts, text, title)
    return _features(blocks, facts, text, title)


def _titles(title: str) -> U32:
    """Hashes of the words of a title, rising."""
    words = {word for each in title.lower().split() if len(word := each.strip(_STRIPPED)) > 2}
    return np.array(sorted({word_hash(word) for word in words}), np.uint32)


def _title_headings(blocks: Blocks, dense: F64) -> npt.NDArray[np.bool_]:
    alike = (dense[:, _IN_TITLE] >= 0.6 * 4) & (dense[:, _WORDS] >= np.log2(4) / 2)
    return np.asarray((blocks.kind == HEADING) & (alike | (blocks.level == 1)))


def _native_features(blocks: Blocks, facts: HtmlFacts, text: str, title: str) -> NoiseFeatures:
    words = _native_words(_lower(blocks, text))
    given = {
        "element": facts.element,
        "text_chars": facts.text_chars,
        "link_chars": facts.link_chars,
        "links": facts.links,
        "hidden": facts.hidden.view(np.uint8),
        "told": facts.told.view(np.uint8),
        "parent": facts.parent,
        "last": facts.last,
        "depth": facts.depth,
        "names": facts.words.values,
        "name_offsets": facts.words.offsets,
    }
    raw = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    found = native.noise_columns(raw, blocks, _KINDS, given, (*words, _titles(title)))
    dense, near, path, above, like, copy = found
    sizes, _, hash_counts, _, hashes = words
    wording = (hashes, np.repeat(np.arange(len(sizes)), hash_counts))
    weight = sizes.astype(np.float64)
    return NoiseFeatures(
        dense,
        facts.words,
        near,
        path,
        wording,
        above,
        like,
        copy,
        weight,
        facts.page,
        *_around(blocks, facts, text, weight, dense),
    )


def _features(blocks: Blocks, facts: HtmlFacts, text: str, title: str) -> NoiseFeatures:
    """The same in NumPy: the reference."""
    start, end = blocks.start, blocks.end
    count = len(start)
    bodies = [text[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True)]

    # Words.
    numbers: dict[str, int] = {}
    words = _words([body.lower() for body in bodies])
    sizes, stops, hash_counts, ends_sentence, hashes = words
    owner = np.repeat(np.arange(count), hash_counts)
    in_title = np.bincount(owner[np.isin(hashes, _titles(title))], minlength=count)
    words_stops = np.stack([sizes, stops, in_title / np.maximum(hash_counts, 1), ends_sentence], axis=1)
    copy = np.array([numbers.setdefault(body, len(numbers)) for body in bodies], np.int64)
    repeats = np.bincount(copy)[copy].astype(np.float64)

    # Characters.
    counts = _characters(text, start, end)

    chars = facts.text_chars.astype(np.float64)
    linked = facts.link_chars.astype(np.float64)
    links = facts.links.astype(np.float64)
    words_ = words_stops[:, 0]
    total = np.concatenate([[0.0], np.cumsum(chars)])
    position = np.arange(count, dtype=np.float64)
    length = np.maximum(chars, 1.0)
    kinds = (blocks.kind[:, None] == np.arange(_KINDS)).astype(np.float64)
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

    # The element with most text that reads like prose, as if each paragraph voted for those around it; and the title.
    prose = np.maximum(chars - linked, 0) * (chars - linked >= 80) * (chars >= 2 * linked)
    votes = np.bincount(above[0], prose, minlength=elements) + np.bincount(above[1], prose, minlength=elements) / 2
    main = int(np.argmax(votes)) if count else 0
    alike_title = np.flatnonzero((words_stops[:, 2] >= 0.6) & (words_ >= 3) & (words_ <= 30))
    headings = alike_title[blocks.kind[alike_title] == 1]
    anchor = int(headings[0]) if len(headings) else int(first_heading[0]) if len(first_heading) else -1
    begins, ends = (float(first[main]), float(last[main])) if count else (0.0, 0.0)
    inside_main = (position >= begins) & (position < ends)
    columns += [
        inside_main * 2.0,
        np.clip((position - begins) / 8, -4, 4),
        np.clip((position - ends) / 8, -4, 4),
        _log(np.maximum(position - ends + 1, 0)),
        _ratio(running[last[main], 0] - running[first[main], 0], total[-1]) * 4 + np.zeros(count),
        np.clip((position - anchor) / 8, -4, 4) if anchor >= 0 else np.zeros(count),
        (position >= anchor) * 1.0 if anchor >= 0 else np.full(count, -1.0),
        facts.told * 4.0,
        _log(np.full(count, float(facts.told.sum()))),
    ]
    for level in range(LEVELS):
        at = above[level]
        columns += [
            votes[at] / max(1.0, float(votes.max())) * 2 if count else position,
            ((first[at] <= begins) & (last[at] >= ends)) * 2.0,
            ((first[at] <= anchor) & (last[at] > anchor)) * 2.0,
            _ratio(np.maximum(votes[at], 1), np.maximum(running[last[at], 0] - running[first[at], 0], 1)) * 2,
        ]

    dense = np.column_stack(columns) if count else np.zeros((0, DENSE))
    dense = np.rint(np.clip(dense, -8, 8) * 64) / 64
    wording = (hashes, owner.astype(np.int64))
    near = np.stack([facts.element.astype(np.int64), one, two])
    above_near = _above(facts, two)
    return NoiseFeatures(
        dense,
        facts.words,
        near,
        above_near,
        wording,
        above,
        like,
        copy,
        words_,
        facts.page,
        *_around(blocks, facts, text, words_, dense),
    )


def _around(
    blocks: Blocks, facts: HtmlFacts, text: str, weight: F64, dense: F64
) -> tuple[
    npt.NDArray[np.int8],
    npt.NDArray[np.bool_],
    npt.NDArray[np.int8],
    I64,
    npt.NDArray[np.bool_],
    npt.NDArray[np.int16],
    I64,
    I64,
    I64,
    MainElement,
]:
    """Return the last features, from ``landmark`` on: what rules beside the network go by."""
    landmark, together, held = landmarks(facts), pairs(blocks, facts), held_blocks(facts)
    main = main_elements(blocks, facts, text, together, held, landmark, weight)
    landmark[turns(blocks, facts, text, weight, len(main.spans) > 0)] = PAGER
    return (
        landmark,
        comments(facts),
        roles(blocks, text, weight),
        body_spans(facts),
        _title_headings(blocks, dense),
        np.where(blocks.kind == HEADING, blocks.level, 0).astype(np.int16),
        together,
        hidden_runs(blocks, facts, text, held, weight),
        held,
        main,
    )


#: Columns of ``dense``: words, share of those that are in the title, and how many there are.
_WORDS, _IN_TITLE = 1, 6
DENSE = 8 + 9 + _KINDS + 12 + 11 * LEVELS + 4 + 9 + 4 * LEVELS
#: Columns of ``dense`` that tell of stop words: of the block, of five elements around it, of blocks named alike.
STOPS = (5, *(17 + _KINDS + 12 + 11 * level + 3 for level in range(LEVELS)), DENSE - 9 - 4 * LEVELS - 1)


def _above(facts: HtmlFacts, under: I64) -> I64:
    """Rows of the twelve elements above others, -1 above the root."""
    parent = np.append(facts.parent, -1).astype(np.int64)
    rows = np.empty((PATH, len(under)), np.int64)
    at = under
    for level in range(PATH):
        at = parent[at]
        rows[level] = at
    return rows
