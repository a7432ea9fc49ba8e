"""The comments under an article, which are not part of its text, unlike the posts of a forum.

The network cannot reliably distinguish comments from posts. Of 1,497 labelled pages, 117 declare themselves articles
and have a section of comments. Of the 43,800 words in these sections, 2.3 % are content. On pages that do not declare
themselves articles, 44 % of the words in such sections are content.
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


#: The types of pages, as pages declare them: types of schema.org (@), ``og:type``, the software that made a forum
#: (by:), and names of its ``<body>`` element (body:).
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
#: The names of sections of comments, and of each comment.
_NAMES = Names(["comments", "commentlist", "comment", "disqus"])
#: The elements that hold the page's own text, whatever their names are: <article class="comments-open">.
_OWN = Names(["<main", "<h1", "<body"])
#: Comments are left out if another block is content with at least this probability.
ELSE = 0.3


def comments(facts: HtmlFacts) -> npt.NDArray[np.bool_]:
    """Return bool[b]: the blocks in comments; none unless the page declares itself an article, and not a forum.

    A section that contains the page's headline or ``<main>`` is the page, not its comments.

    Time: on pages that declare themselves articles, reads the names of all elements once, 4 bytes each.

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
    for row in _NAMES.find(facts)[0].tolist():  # the elements are in preorder
        end = int(facts.last[row])
        if end <= until:  # the element is inside one that was already found
            continue
        at = int(np.searchsorted(own, row))
        if at < len(own) and own[at] < end:
            continue
        first, last = np.searchsorted(facts.element, (row, end))
        found[first:last] = True
        until = end
    return found


def without_comments(content: npt.NDArray[np.float64], found: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return the probability that each block is content, float64[b]; comments get 0 if any other block is content.

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
