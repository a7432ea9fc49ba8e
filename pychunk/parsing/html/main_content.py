"""The element that holds a page's text, identified by its name; text outside it is seldom content.

A template names the element that holds the article: ``class="entry-content"``, ``itemprop="articleBody"``,
``<article>``. The network sees these names around a block. But for a block outside such an element, the network does
not see that the page has one. Such an element, the page's body, is found on 696 of 1,497 labelled pages. Of the 12,700
words outside these bodies that the network keeps, 34 % are content; of the words inside, 92 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .html_facts import Names

if TYPE_CHECKING:
    import numpy.typing as npt

    from .html_facts import HtmlFacts

    F64 = npt.NDArray[np.float64]
    I64 = npt.NDArray[np.int64]

#: The number by which the odds of content are divided outside the body.
SELDOM = 8
#: The minimum share of the page's likely words that a body holds. It is smaller for an element that contains the page's
#: title, because teasers may follow the article.
HALF, TITLED = 0.5, 0.3
#: If another element with such a name, outside the body, holds this share of the body's likely words, the page has no
#: body: both are posts of a thread. With this rule, looking for bodies costs forums 0.0015 of word F1, without it
#: 0.010. All pages together gain 0.0017 (interval 0.0009 to 0.0025).
RIVAL = 0.1
#: The minimum number of likely words of a body; an element with fewer is a teaser.
LEAST = 80
#: The names of a body include a word for the kind of text and a word for its body. ``_ALONE`` needs no other word.
_WHOSE = "article post entry story news blog node"
_BODY = "body content text copy"
_ALONE = "<article"
_NAMES = Names((*_WHOSE.split(), *_BODY.split(), _ALONE))
#: The bits of each word in ``_NAMES``: 1 for the kind of text, 2 for the body, both for a word that needs no other.
_SAYS = np.array([1] * len(_WHOSE.split()) + [2] * len(_BODY.split()) + [3], np.uint8)


def body_spans(facts: HtmlFacts) -> I64:
    """Return int64[k, 2]: the first block, and one past the last, of each element with the name of an article's body.

    The elements are in preorder. Elements that hold no block or all blocks are left out.

    Time: reads the names of the page's elements once, 4 bytes each.

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = parse_html("<p>Home<article><h1>Cats</h1><div class='post-content'><p>They purr.</div></article>")
        >>> body_spans(page.facts).tolist()
        [[1, 3], [2, 3]]
    """
    rows, which = _NAMES.find(facts)
    says = np.zeros((2, len(facts.parent)), np.bool_)
    says[0, rows[_SAYS[which] & 1 != 0]] = True
    says[1, rows[_SAYS[which] & 2 != 0]] = True
    named = np.flatnonzero(says.all(axis=0))
    spans = np.searchsorted(facts.element, np.stack([named, facts.last[named]], axis=1)).astype(np.int64)
    size = spans[:, 1] - spans[:, 0]
    return spans[(size > 0) & (size < len(facts.element))]


def within_body(content: F64, found: I64, titles: npt.NDArray[np.bool_], weight: F64) -> F64:
    """Return the probability that each block is content, given the page's bodies: float64[b], multiples of 1 / 1024.

    The page's body is the smallest of these elements that holds ``HALF`` of the page's likely words. If there is none,
    it is the element with the most likely words, provided that it holds ``TITLED`` of them and the page's title. A body
    has at least ``LEAST`` likely words. The page has no body if an element outside it has ``RIVAL`` of the body's
    likely words. Outside the body, the odds of content are divided by ``SELDOM``. Without a body nothing changes.

    Args:
        content: The probability that each block is content, float64[b].
        found: The result of :func:`body_spans`.
        titles: bool[b], the headings that may be the page's title.
        weight: The number of words of each block.

    Example:
        >>> content = np.array([0.5, 0.5, 0.75])
        >>> none = np.zeros(3, bool)
        >>> within_body(content, np.array([[1, 3], [2, 3]]), none, np.array([100.0, 100, 100])).tolist()
        [0.111328125, 0.5, 0.75]
    """
    if not len(found):
        return content
    likely = np.concatenate(([0.0], np.cumsum(content * weight)))
    held = likely[found[:, 1]] - likely[found[:, 0]]
    large = np.flatnonzero((held >= LEAST) & (held >= HALF * likely[-1]))
    own = large[np.argmin(found[large, 1] - found[large, 0])] if len(large) else np.argmax(held)
    first, end = found[own].tolist()
    if not len(large) and (held[own] < max(float(LEAST), TITLED * float(likely[-1])) or not titles[first:end].any()):
        return content
    apart = (found[:, 1] <= first) | (found[:, 0] >= end)
    if (held[apart] >= RIVAL * held[own]).any():
        return content
    given = np.rint(1024 * content / (content + SELDOM * (1 - content))) / 1024
    given[first:end] = content[first:end]
    return np.asarray(given)
