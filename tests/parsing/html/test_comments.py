"""Comments under an article are not part of its text, but the posts of a forum are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk._engine.data.html_tags import word_hash
from pychunk.parsing.html.comments import comments, without_comments
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.page import HtmlPage, parse_html

PROSE = (
    "The river rises in the hills north of the town and runs for forty miles before it meets the sea. For most of the "
    "year it is shallow enough to walk across, but in spring the melting snow makes it dangerous. "
)
REPLY = "I have walked there as a child with my father, long before the bridge was built, and would not do so again. "
REPLIES = "".join(f"<li class=comment><p><b>Ann {number}</b><p>{REPLY}{number}</li>" for number in range(9))
ARTICLE = "<meta property='og:type' content='article'>"


def page_of(head: str, body: str = "") -> HtmlPage:
    return parse_html(
        f"<html><head><title>The river</title>{head}</head><body {body}><article class='post comments-open'>"
        f"<h1>The river</h1><p>{PROSE}<p>{PROSE[30:]}</article>"
        f"<div id=comments><h3>9 thoughts</h3><ol>{REPLIES}</ol></div>"
    )


def of_replies(page: HtmlPage) -> np.ndarray:
    return page.blocks.start >= page.text.index("### 9 thoughts")


@pytest.mark.parametrize(
    "head",
    [
        ARTICLE,
        '<script type=\'application/ld+json\'>{"@type": "NewsArticle"}</script>',
        ARTICLE + "<meta name=generator content='WordPress 6.4'>",
    ],
)
def test_comments_of_articles_are_noise_and_called_so(head: str) -> None:
    page = page_of(head)
    late = of_replies(page)
    assert comments(page.facts).tolist() == late.tolist()
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, title=page.title)
    assert removed[late].all()
    assert score[late].min() == 1
    assert set(np.array(reasons)[late]) == {"comments"}
    assert not removed[~late].any()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", ""),
        ("<meta property='og:type' content='website'>", ""),
        (ARTICLE + "<meta name=generator content='Discourse 3.2'>", ""),
        (ARTICLE + '<script type=\'application/ld+json\'>{"@type":"DiscussionForumPosting"}</script>', ""),
        (ARTICLE, "class='page-topic theme-dark'"),
    ],
)
def test_posts_of_forums_are_left_to_the_network(head: str, body: str) -> None:
    assert not comments(page_of(head, body=body).facts).any()


def test_a_section_that_holds_the_headline_is_the_page() -> None:
    page = page_of(ARTICLE)
    assert not comments(page.facts)[0]  # in <article class="comments-open">
    page = parse_html(f"<head>{ARTICLE}</head><div class=comments><main><p>{PROSE}</main></div>")
    assert not comments(page.facts).any()


def test_a_page_that_is_comments_alone_keeps_them() -> None:
    page = parse_html(f"<head>{ARTICLE}</head><div class=comments><p>{PROSE}<p>{REPLY}</div>")
    assert comments(page.facts).all()
    removed, _, _ = find_noise(page.blocks, page.facts, page.text)
    assert not removed.all()
    content = np.array([0.25, 0.75])
    assert without_comments(content, np.array([False, True])).tolist() == [0.25, 0.75]
    assert without_comments(content, np.array([True, False])).tolist() == [0, 0.75]
    assert without_comments(np.zeros(0), np.zeros(0, bool)).tolist() == []


def slow(page: HtmlPage) -> list[bool]:
    """Return the result of a search from each block up to the root."""
    facts = page.facts
    names = [set(facts.words.values[a:b].tolist()) for a, b in zip(facts.words.offsets, facts.words.offsets[1:])]

    def named(row: int, *wanted: str) -> bool:
        return any(word_hash(name) in names[row] for name in wanted)

    def is_one(row: int) -> bool:
        return named(row, "comments", "comment", "commentlist", "disqus") and not any(
            named(each, "<main", "<h1", "<body") for each in range(row, int(facts.last[row]))
        )

    found = []
    for element in facts.element.tolist():
        up, inside = element, False
        while up >= 0:
            inside = inside or is_one(up)
            up = int(facts.parent[up])
        found.append(inside)
    return found


_PIECES = st.sampled_from(
    [
        *("<div id=comments>", "<p class=comment>", "<div class=commentlist>", "<article class=comments-open>", "<ol>"),
        *("<main>", "</main>", "<h1>", "</h1>", "<li>", "</div>", "</p>", "</article>", "</ol>", "One", "Two rivers"),
    ]
)


@settings(max_examples=60)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_blocks_are_told_what_a_walk_to_the_root_tells(markup: str) -> None:
    page = parse_html(f"<head>{ARTICLE}</head>{markup}")
    assert comments(page.facts).tolist() == slow(page)
