"""The pages of manuals, whose main element is content as a whole.

A term, a caption or the NAME line in a manual is not noise. But the network learned from pages of the web, where a
short line in an article is usually a share link. On manuals, the probability of content that it computes for terms,
headings and captions is just below the threshold: 0.3 to 0.45. Multiplying the odds of content on every page would also
keep menus, and lower precision on 1,497 labelled pages by 0.0040. This module therefore multiplies them only on pages
of manuals, which it recognizes by their build tool, code, definitions or NAME heading. Half of the words that it keeps
in addition are labelled as content.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..._engine.data.blocks import CODE, FORM, HEADING, ITEM, PARAGRAPH, TABLE
from ..._engine.data.html_tags import word_hash, words_of
from .comments import FORUM
from .html_facts import Names
from .landmarks import OUTSIDE

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..._engine.data.blocks import Blocks
    from .html_facts import HtmlFacts

    Bools = npt.NDArray[np.bool_]
    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]

#: The tools that make manuals, as ``<meta name="generator">`` names them. HtmlFacts.page has their names as words.
_TOOLS = (
    "Docutils Sphinx DocBook Publican AsciiDoc Asciidoctor Doxygen Javadoc makeinfo texinfo MkDocs Docusaurus "
    "VitePress mandoc groff"
)
_BUILT_BY = [{word_hash(f"by:{word}") for word in words_of(tool)} for tool in _TOOLS.split()]
#: The types of pages that are not manuals, whatever code and lists they hold.
_OTHER = FORUM | {word_hash("@product"), word_hash("og:product")}
#: The names of elements that are not part of the text, if they hold less than half of the page.
_APART = "footer nav navbar navigation navfooter navheader breadcrumb breadcrumbs copyright share social"
_BESIDE = Names(_APART.split())
#: A page that names no tool is a manual's if it has at least this number of blocks of code or of numbered headings. It
#: is also one if it has at least ``_DEFINED`` definitions, of ``_DEFINITION`` words on average.
_CODE, _DEFINED, _DEFINITION = 2, 3, 6
#: The minimum number of consecutive blocks of links that are a table of contents or a menu.
_LINKS = 3
#: The number of headings, from the first on, that are searched for the numbers of nested sections: 2.1, A.1.
_HEADINGS = 60
_NUMBERED = re.compile(r"(?:\d{1,2}|[A-Z])\.\d{1,2}\b(?![.%]?\d)[. ]")
#: The heading of the first section of a reference page.
_NAME = frozenset(("NAME", "Name"))
#: The minimum share of the main element's words that are likely content, the minimum share of the page's likely words
#: that it holds, and the minimum number of likely words in it.
WHOLE, HALF, LEAST = 0.6, 0.5, 15
#: The factor by which the odds of content are multiplied inside the main element.
WITHIN = 5


#: The words of links to the page before, to the page after, and to other pages of a manual.
_TO = (
    "prev previous back zurück précédent anterior indietro предыдущий назад « ← << ‹ <<<",
    "next forward weiter nächste suivant siguiente avanti successivo следующий далее » → >> › >>>",
    "up home top contents index toc first last start ↑",
)
_BACK, _ON, _UP = (frozenset(words.split()) for words in _TO)
#: The maximum number of words of a line or table with such links.
_TURN_WORDS = 40
_MARKED = re.compile(r"(?:^|[,\s(\[])(\w+):\s")


def turns(blocks: Blocks, facts: HtmlFacts, text: str, weight: F64, manual: bool = True) -> Bools:
    """Return bool[b]: lines and tables that link to the pages before and after, ``Prev | Up | Next``.

    Such a block has links. One cell of the table, or one word before a colon in the line, names the next page or the
    previous one. Another cell or word names a further page. On pages that are not a ``manual``, only tables are
    checked.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = parse_html("<table><tr><td><a>Prev</a><td><a>Next</a><tr><td>a<td>b</table><p>Next: see b.")
        >>> turns(page.blocks, page.facts, page.text, np.array([7.0, 3])).tolist()
        [True, False]
    """
    found = np.zeros(len(blocks.kind), np.bool_)
    kind = blocks.kind
    line = kind == TABLE
    if manual:
        line |= (kind == PARAGRAPH) | (kind == ITEM)
    likely = line & (facts.links > 0) & (weight <= _TURN_WORDS)
    for row in np.flatnonzero(likely).tolist():
        written = text[blocks.start[row] : blocks.end[row]].lower()
        if kind[row] == TABLE:
            marks = {cell.strip() for line in written.split("\n") for cell in line.split("|")}
        else:
            marks = set(_MARKED.findall(written))
        to = (marks & _BACK, marks & _ON, marks & _UP)
        found[row] = bool(to[0] or to[1]) and sum(map(len, to)) > 1
    return found


class MainElement(NamedTuple):
    """The elements of a manual's page that may be its main element, and the blocks that may be content in it.

    Attributes:
        spans: int64[k, 2], the first block, and one past the last, of each element that holds several blocks. Of two
            nested elements, the larger comes first. Empty for a page that is not a manual's.
        free: bool[b], blocks that are not controls, not in lists of links, and not in elements whose kind or name shows
            a menu or a footer.
    """

    spans: I64
    free: Bools


def main_elements(
    blocks: Blocks, facts: HtmlFacts, text: str, pairs: I64, held: I64, landmark: npt.NDArray[np.int8], weight: F64
) -> MainElement:
    """Return the elements of a page that may be a manual's main element.

    Args:
        blocks: The blocks of the page.
        facts: The facts of the page's HTML.
        text: The text of the page.
        pairs: The result of :func:`pychunk.parsing.html.noise_smoothing.pairs`.
        held: int64[e, 2], the blocks of each element (:func:`pychunk.parsing.html.html_facts.held_blocks`).
        landmark: The verdict of the landmarks around each block, int8[b] (:func:`.landmarks.landmarks`).
        weight: The number of words of each block, float64[b].
    """
    if not _is_manual(blocks, facts, text, pairs, weight):
        return MainElement(np.zeros((0, 2), np.int64), np.zeros(0, np.bool_))
    linked = (facts.link_chars * 5 > facts.text_chars * 3) & (blocks.kind != HEADING)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], linked, [False])))).reshape(-1, 2)
    few = edges[edges[:, 1] - edges[:, 0] < _LINKS].tolist()
    for first, end in few:  # so few links in a row are references, not a list of links
        linked[first:end] = False
    spans = held[held[:, 1] > held[:, 0] + 1]
    new = np.ones(len(spans), np.bool_)
    new[1:] = (spans[1:] != spans[:-1]).any(axis=1)
    free = (landmark < OUTSIDE) & ~linked & (blocks.kind != FORM)
    until, named = 0, _BESIDE.find(facts)[0]
    named = named[~np.isin(named, facts.element)]  # an inline element is not a part of the page
    for first, end in held[named].tolist():  # the elements are in preorder
        if end > until and (end - first) * 2 <= len(free):
            free[first:end] = False
            until = end
    return MainElement(spans[new], free)


def _is_manual(blocks: Blocks, facts: HtmlFacts, text: str, pairs: I64, weight: F64) -> bool:
    """Return whether a page belongs to a manual, by its build tool, code, definitions, or headings.

    >>> from pychunk.parsing.html.page import parse_html
    >>> page = parse_html("<h2>NAME</h2><p>ls - list files")
    >>> _is_manual(page.blocks, page.facts, page.text, np.zeros((0, 3), np.int64), np.ones(2))
    True
    """
    said = set(facts.page.tolist())
    if any(tool <= said for tool in _BUILT_BY):
        return True
    if not said.isdisjoint(_OTHER):
        return False
    if (blocks.kind == CODE).sum() >= _CODE:
        return True
    if len(pairs):
        defined = pairs[1:][pairs[1:, 2] == pairs[:-1, 2]]
        words = np.concatenate(([0.0], np.cumsum(weight)))
        sizes = words[defined[:, 1]] - words[defined[:, 0]]
        if len(sizes) >= _DEFINED and sizes.sum() >= _DEFINITION * len(sizes):
            return True
    rows = np.flatnonzero(blocks.kind == HEADING)[:_HEADINGS].tolist()
    headings = [text[blocks.start[row] : blocks.end[row]].lstrip("# ").rstrip() for row in rows]
    return any(map(_NAME.__contains__, headings)) or sum(map(bool, map(_NUMBERED.match, headings))) >= _CODE


def within_main(content: F64, found: MainElement, weight: F64) -> F64:
    """Return content with ``WITHIN`` times the odds inside the main element: float64[b], multiples of 1 / 1024.

    The main element is the largest element in which at least ``WHOLE`` of the words are likely content. It must also
    hold ``HALF`` of the page's likely words, and ``LEAST`` likely words. Only the blocks that are ``free`` change.

    Args:
        content: The probability that each block is content, float64[b].
        found: The result of :func:`main_elements`.
        weight: The number of words of each block.

    Example:
        >>> content = np.array([0.25, 0.25, 0.875])
        >>> found = MainElement(np.array([[0, 3], [1, 3]]), np.ones(3, bool))
        >>> within_main(content, found, np.array([99, 1.0, 99])).tolist()
        [0.25, 0.625, 0.97265625]
    """
    if not len(found.spans):
        return content
    words = np.concatenate(([0.0], np.cumsum(weight)))
    likely = np.concatenate(([0.0], np.cumsum(content * weight)))
    first, end = found.spans.T
    held = likely[end] - likely[first]
    whole = (held >= WHOLE * (words[end] - words[first])) & (held >= HALF * likely[-1]) & (held >= LEAST)
    at = int(whole.argmax())
    if not whole[at]:
        return content
    own = slice(*found.spans[at].tolist())
    given: F64 = content.copy()
    more = np.rint(1024 * WITHIN * given[own] / (WITHIN * given[own] + 1 - given[own])) / 1024
    given[own] = np.where(found.free[own], more, given[own])
    return given
