"""Comments under an article, which are none of its text; the posts of a forum are what its pages are.

The network knows neither for sure: of 1,497 marked pages 117 call themselves articles and hold a section of comments,
whose 43,800 words are content to 2.3 %; on pages that do not, 44 % of such words are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._engine.data.html_tags import word_hash
from .html_facts import Names

if TYPE_CHECKING:
    import numpy.typing as npt

    from .html_facts import HtmlFacts


def _hashes(words: str) -> npt.NDArray[np.uint32]:
    return np.array(sorted(map(word_hash, words.split())), np.uint32)


#: What pages say that they are: kinds of schema.org, ``og:type``, the software of forums, names of their bodies.
_ARTICLE = frozenset(
    _hashes(
        "og:article @article @newsarticle @blogposting @reportagenewsarticle @analysisnewsarticle @opinionnewsarticle"
    ).tolist()
)
FORUM = frozenset(
    _hashes(
        "@discussionforumposting @qapage @question by:discourse by:xenforo by:vbulletin by:phpbb by:mybb by:flarum "
        "body:forum body:forums body:topic body:thread body:threads body:discussion"
    ).tolist()
)
#: Names of sections of comments, and of each comment.
_NAMES = Names(["comments", "commentlist", "comment", "disqus"])
#: Elements that hold the page's own text, whatever their names say: <article class="comments-open">.
_OWN = Names(["<main", "<h1", "<body"])
#: Comments are left out where something else is content with at least this probability.
ELSE = 0.3


def comments(facts: HtmlFacts) -> npt.NDArray[np.bool_]:
    """bool[b]: blocks in comments, on a page that calls itself an article and no forum; elsewhere none.

    A section with the page's headline or ``<main>`` in it is the page, not its comments.

    Time: the names of the page's elements once, 4 bytes each, on pages of articles.

    Source: schema.org, "Article" and "DiscussionForumPosting"; Open Graph, "og:type".

    Example:
        >>> from pychunk.parsing.html.page import parse_html
        >>> page = "<head><meta property='og:type' content='article'></head><p>Text.<div id=comments><p>Me too."
        >>> comments(parse_html(page).facts).tolist()
        [False, True]
    """
    found = np.zeros(len(facts.element), np.bool_)
    kinds = set(facts.page.tolist())
    if _ARTICLE.isdisjoint(kinds) or not FORUM.isdisjoint(kinds):
        return found
    own, _ = _OWN.find(facts)
    until = 0
    for row in _NAMES.find(facts)[0].tolist():  # in preorder
        end = int(facts.last[row])
        if end <= until:  # inside one that is known
            continue
        at = int(np.searchsorted(own, row))
        if at < len(own) and own[at] < end:
            continue
        first, last = np.searchsorted(facts.element, (row, end))
        found[first:last] = True
        until = end
    return found


def without_comments(content: npt.NDArray[np.float64], found: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """float64[b]: how likely each block is content, given which are comments: they are none, if anything else is.

    Example:
        >>> without_comments(np.array([0.75, 0.5]), np.array([False, True])).tolist()
        [0.75, 0.0]
        >>> without_comments(np.array([0.125, 0.5]), np.array([False, True])).tolist()
        [0.125, 0.5]
    """
    if not found.any():
        return content
    given = np.where(found, 0.0, content)
    return given if (given >= ELSE).any() else content
