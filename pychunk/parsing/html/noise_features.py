"""The features of each block for the noise model: its text, its position, its elements and its neighbours.

All features are computed by exact arithmetic (integers, division, piecewise binary logarithms). The features, and
therefore the removed blocks, are the same on every machine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._engine import native
from ..._engine.data.blocks import FORM, HEADING, PARAGRAPH, TERM
from ..._engine.data.html_tags import word_hash
from ..._engine.data.ragged import offsets_of
from ..._engine.engine import engine
from .comments import comments
from .hidden_text import hidden_runs
from .html_facts import held_blocks
from .landmarks import PAGER, landmarks
from .main_content import body_spans
from .manuals import MainElement, main_elements, turns
from .noise_smoothing import pairs, roles
from .stop_words import STOP_WORDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.blocks import Blocks
    from ..._engine.data.ragged import Ragged
    from .html_facts import HtmlFacts

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]
    U32 = npt.NDArray[np.uint32]

#: The kinds of blocks that the network knows: those up to ``FORM``.
_KINDS = FORM + 1
#: The number of first words, and of last words, of a block whose hashes are features.
FIRST_WORDS, LAST_WORDS = 12, 4
#: The number of elements whose names are features, counted from the first one above the three nearest to a block. The
#: names of these three are features, too.
PATH = 12
#: The number of levels of the tree above a block from which features are computed. Levels without branches do not
#: count.
LEVELS = 5
_STRIPPED = ".,;:!?()[]{}\"'`“”‘’«»…|*#<>-–—_/\\&+=~^"


class NoiseFeatures(NamedTuple):
    """The features of the b blocks of one page.

    Attributes:
        dense: float64[b, f], multiples of 1 / 64 between -8 and 8.
        names: uint32 hashes of each element's names, the same as ``HtmlFacts.words``.
        near: int64[3, b], the rows of each block's own element and of the two elements above it.
        path: int64[12, b], the rows of the elements above those in ``near``, -1 if there are none.
        wording: uint32 hashes of the blocks' own words, with the number of each word's block (int64).
        above: int64[LEVELS, b], the numbers of the branching elements around each block, from the inside out.
        like: int64[b], equal for blocks whose three elements in ``near`` have the same names.
        copy: int64[b], equal for blocks of the same text.
        weight: float64[b], the number of words of each block.
        page: uint32 hashes of what the page declares about itself.
        landmark: int8[b], the verdict of the landmarks around each block
            (:func:`pychunk.parsing.html.landmarks.landmarks`). On a manual's page, links to the pages before and after
            count as outside (:func:`pychunk.parsing.html.manuals.turns`).
        comments: bool[b], whether each block is in comments under an article
            (:func:`pychunk.parsing.html.comments.comments`).
        role: int8[b], the role of each block for those around it (:func:`pychunk.parsing.html.noise_smoothing.roles`).
        bodies: int64[k, 2], the blocks of elements named as bodies of articles
            (:func:`pychunk.parsing.html.main_content.body_spans`).
        titles: bool[b], headings that may be the page's title: those of level 1, and those that are like ``<title>``.
        level: int16[b], the levels of headings, 0 for other blocks.
        pairs: int64[n, 3], spans that are kept or removed together
            (:func:`pychunk.parsing.html.noise_smoothing.pairs`).
        hidden: int64[k, 4], hidden runs next to visible prose (:func:`pychunk.parsing.html.hidden_text.hidden_runs`).
        held: int64[e, 2], the blocks of each element (:func:`pychunk.parsing.html.html_facts.held_blocks`).
        main: The elements that may be a manual's main element (:func:`pychunk.parsing.html.manuals.main_elements`).
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


def _lower(blocks: Blocks, text: str, raw: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], I64]:
    """Return the blocks' texts in lower case as UTF-8, and the offsets of each block and of the end: int64[b + 1].

    ``raw`` is the page's text in UTF-8.

    A block's text includes the white space after it, which belongs to no word, so that the whole page is converted as
    one text. The lower case of a letter may depend on letters around it, but not beyond a line break. If any letter
    becomes two in lower case, the function converts each block's text by itself.
    """
    known = native.lower_of_text(raw)
    lower = text if known is not None else text.lower()
    if len(lower) == len(text):
        raw = np.frombuffer(lower.encode("utf-8", "replace"), np.uint8) if known is None else known
        start = blocks.start if len(raw) == len(text) else np.flatnonzero((raw & 0xC0) != 0x80)[blocks.start]
        return raw, np.append(start, len(raw))
    spans = zip(blocks.start.tolist(), blocks.end.tolist(), strict=True)
    written = [text[start:end].lower().encode("utf-8", "replace") for start, end in spans]
    return np.frombuffer(b"".join(written), np.uint8), offsets_of(list(map(len, written)))


_STOP_LINES = "\n".join(sorted(STOP_WORDS))


def _titles(title: str) -> U32:
    """Return the hashes of the words of a title, in ascending order."""
    words = {word for each in title.lower().split() if len(word := each.strip(_STRIPPED)) > 2}
    return np.array(sorted({word_hash(word) for word in words}), np.uint32)


def _title_headings(blocks: Blocks, dense: F64) -> npt.NDArray[np.bool_]:
    alike = (dense[:, _IN_TITLE] >= 0.6 * 4) & (dense[:, _WORDS] >= np.log2(4) / 2)
    return np.asarray((blocks.kind == HEADING) & (alike | (blocks.level == 1)))


def noise_features(blocks: Blocks, facts: HtmlFacts, text: str, title: str = "") -> NoiseFeatures:
    """Return the features of one page's blocks; for shapes see :class:`NoiseFeatures`."""
    # The network was trained on pages whose terms were paragraphs.
    blocks = replace(blocks, kind=np.where(blocks.kind == TERM, np.int8(PARAGRAPH), blocks.kind))
    run = engine() if len(blocks.kind) else engine("reference")  # the native core rejects a page without blocks
    raw = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    words = run.block_words(*_lower(blocks, text, raw), _STOP_LINES, _STRIPPED, first=FIRST_WORDS, last=LAST_WORDS)
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
    found = run.noise_columns(raw, blocks, _KINDS, given, (*words, _titles(title)))
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
    """Return the fields of :class:`NoiseFeatures` from ``landmark`` on, which only the rules after the network use."""
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


#: The columns of ``dense`` with the number of words and with the share of them that are in the title, and the number of
#: columns.
_WORDS, _IN_TITLE = 1, 6
DENSE = 8 + 9 + _KINDS + 12 + 11 * LEVELS + 4 + 9 + 4 * LEVELS
#: The columns of ``dense`` about stop words in the block, in each of five elements around it, and in the blocks whose
#: elements have the same names.
STOPS = (5, *(17 + _KINDS + 12 + 11 * level + 3 for level in range(LEVELS)), DENSE - 9 - 4 * LEVELS - 1)
