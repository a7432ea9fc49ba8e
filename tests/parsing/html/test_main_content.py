"""Text outside the element that is named as the body of an article is seldom content."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk._engine.data.html_tags import word_hash
from pychunk.parsing.html.main_content import HALF, LEAST, RIVAL, SELDOM, TITLED, body_spans, within_body
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.page import HtmlPage, parse_html

PROSE = (
    "The river rises in the hills north of the town and runs for forty miles before it meets the sea. For most of the "
    "year it is shallow enough to walk across, but in spring the melting snow makes it dangerous. "
)
TEASER = "Thousands of people have left the coast since the storm began, and the trains are full to the last seat."


def spans_of(markup: str) -> list[list[int]]:
    return body_spans(parse_html(markup).facts).tolist()


def slow_spans(page: HtmlPage) -> list[list[int]]:
    """Return the spans of each element by itself, from the words in its name."""
    facts, found = page.facts, []
    whose = set(map(word_hash, ("article", "post", "entry", "story", "news", "blog", "node")))
    body = set(map(word_hash, ("body", "content", "text", "copy")))
    for row, (a, b) in enumerate(zip(facts.words.offsets, facts.words.offsets[1:])):
        own = set(facts.words.values[a:b].tolist())
        if word_hash("<article") in own or (own & whose and own & body):
            inside = [k for k, e in enumerate(facts.element.tolist()) if row <= e < facts.last[row]]
            if inside and len(inside) < len(facts.element):
                found.append([inside[0], inside[-1] + 1])
    return found


def slow_odds(content: list[float], spans: list[list[int]], titles: list[bool], weight: list[float]) -> list[float]:
    likely = [c * w for c, w in zip(content, weight)]
    held = {tuple(span): sum(likely[span[0] : span[1]]) for span in spans}
    large = [span for span in held if held[span] >= max(LEAST, HALF * sum(likely))]
    if large:
        own = min(large, key=lambda span: (span[1] - span[0], span))
    elif held:
        own = max(held, key=lambda span: (held[span], (-span[0], -span[1])))
        if held[own] < max(LEAST, TITLED * sum(likely)) or not any(titles[own[0] : own[1]]):
            return content
    else:
        return content
    for span in held:
        if (span[1] <= own[0] or span[0] >= own[1]) and held[span] >= RIVAL * held[own]:
            return content
    return [
        c if own[0] <= k < own[1] else round(1024 * c / (c + SELDOM * (1 - c))) / 1024 for k, c in enumerate(content)
    ]


def test_names_of_bodies_have_two_words_or_are_articles() -> None:
    assert spans_of("<p>Home<div class='entry-content'><p>One<p>Two</div><p>End") == [[1, 3]]
    assert spans_of("<p>Home<div itemprop='articleBody'><p>One</div>") == [[1, 2]]
    assert spans_of("<p>Home<article><p>One<div id=post_body><p>Two</div></article>") == [[1, 3], [2, 3]]
    assert spans_of("<p>Home<div class='entry'><p>One</div><div class='content'><p>Two</div>") == []
    assert spans_of("<div class='post-content'><p>All<p>of it</div>") == []
    assert spans_of("<p>Home<article></article>") == []
    assert spans_of("") == []


def test_teasers_behind_an_article_are_noise_in_the_words_of_any_site() -> None:
    teasers = "".join(f"<div class='x{n}'><h3><a href=/{n}>Storm {n}</a></h3><p>{TEASER} {n}</div>" for n in range(12))
    body = "".join(f"<p>{PROSE} {n}" for n in range(14))
    page = parse_html(f"<title>The river</title><h1>The river</h1><div class=story__text>{body}</div>{teasers}")
    removed, _, _ = find_noise(page.blocks, page.facts, page.text, title=page.title)
    late = page.blocks.start >= page.text.index("### ")
    assert removed[late].all()
    assert not removed[~late][1:].any()


def test_posts_of_a_thread_are_rivals() -> None:
    weight = np.array([200.0, 30, 10])
    content = np.array([1, 0.75, 0.75])
    thread = np.array([[0, 1], [1, 2], [2, 3]])
    none = np.zeros(3, bool)
    assert within_body(content, thread, none, weight).tolist() == content.tolist()
    seldom = np.rint(1024 * 0.75 / 2.75) / 1024
    assert within_body(content, thread[:1], none, weight).tolist() == [1, seldom, seldom]


def test_a_body_with_the_title_may_hold_less_than_half() -> None:
    content, weight = np.array([0.5, 1, 0.75, 0.75]), np.array([4.0, 200, 200, 200])
    spans = np.array([[0, 2]])
    titled = np.array([True, False, False, False])
    assert within_body(content, spans, titled, weight)[2:].max() < 0.3
    assert within_body(content, spans, ~titled & titled, weight).tolist() == content.tolist()


_TAGS = ("div", "p", "article", "main", "section", "li", "h2")
_NAMED = ("post", "content", "entry text", "article-body", "newsCopy", "side story")
_PIECES = st.one_of(
    st.sampled_from(_TAGS).map("<{}>".format),
    st.sampled_from(_TAGS).map("</{}>".format),
    st.sampled_from(_NAMED).map("<div class='{}'>".format),
    st.sampled_from(["One of the rivers", "Home"]),
)


@settings(max_examples=60)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_spans_are_those_of_each_element_by_itself(markup: str) -> None:
    page = parse_html(markup)
    assert body_spans(page.facts).tolist() == slow_spans(page)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data(), st.integers(1, 12))
def test_odds_are_those_of_the_rule(data: st.DataObject, blocks: int) -> None:
    content = data.draw(st.lists(st.integers(0, 1024).map(lambda n: n / 1024), min_size=blocks, max_size=blocks))
    weight = [float(w) for w in data.draw(st.lists(st.integers(0, 256), min_size=blocks, max_size=blocks))]
    titles = data.draw(st.lists(st.booleans(), min_size=blocks, max_size=blocks))
    pair = st.tuples(st.integers(0, blocks - 1), st.integers(1, blocks)).filter(lambda each: each[0] < each[1])
    spans = sorted(set(data.draw(st.lists(pair, max_size=6))))
    found = within_body(np.array(content), np.array(spans, np.int64).reshape(-1, 2), np.array(titles), np.array(weight))
    assert found.tolist() == slow_odds(content, [list(each) for each in spans], titles, weight)
