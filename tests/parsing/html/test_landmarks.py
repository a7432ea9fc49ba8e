"""HTML's own landmarks of a block: menus, the page's header and footer, asides, dialogs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk._engine.data.html_tags import word_hash
from pychunk.parsing.html.html_facts import Names
from pychunk.parsing.html.landmarks import BESIDE, NONE, OUTSIDE, by_landmarks, landmarks
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.page import HtmlPage, parse_html

PROSE = (
    "The river rises in the hills north of the town and runs for forty miles before it meets the sea. For most of the "
    "year it is shallow enough to walk across, but in spring the melting snow makes it dangerous. "
)
POLICY = "We collect what you tell us when you make a purchase, and share it with those who handle the payment for us. "


def said(markup: str) -> dict[str, int]:
    """Return the landmarks by the text of each block."""
    page = parse_html(markup)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), strict=True)
    return dict(zip((page.text[a:b].strip("# -") for a, b in spans), landmarks(page.facts).tolist(), strict=True))


def slow(page: HtmlPage) -> list[int]:
    """Return the same, from each block up to the root."""
    facts = page.facts
    names = [set(facts.words.values[a:b].tolist()) for a, b in zip(facts.words.offsets, facts.words.offsets[1:])]

    def named(row: int, *wanted: str) -> bool:
        return any(word_hash(name) in names[row] for name in wanted)

    def says(row: int) -> int:
        inside = range(row + 1, int(facts.last[row]))
        if any(named(each, "<main") for each in inside):
            return NONE
        around, up = [], int(facts.parent[row])
        while up >= 0:
            around.append(up)
            up = int(facts.parent[up])
        own = any(named(each, "<article", "<main", "<blockquote") for each in around)
        if named(row, "<nav", "<dialog", "contentinfo") or (named(row, "<footer") and not own):
            return OUTSIDE
        note = own and named(row, "note", "warning")
        beside = (named(row, "<aside") and not note) or named(row, "<label") or (named(row, "<header") and not own)
        return BESIDE if beside else NONE

    found = []
    for element in facts.element.tolist():
        most, up = NONE, element
        while up >= 0:
            most = max(most, says(up))
            up = int(facts.parent[up])
        found.append(most)
    return found


def test_headers_and_footers_of_articles_are_theirs() -> None:
    assert said(
        "<header><p>Town News</header><nav><p>Home</nav><main><article><header><h1>The river</h1></header><p>Text."
        "<blockquote><p>Said.<footer><p>Who said it</footer></blockquote><footer><p>By Ann</footer></article>"
        "<aside><p>See also</aside></main><div role=contentinfo><p>Imprint</div><footer><p>Contact</footer>"
    ) == {
        "Town News": BESIDE,
        "Home": OUTSIDE,
        "The river": NONE,
        "Text.": NONE,
        "> Said.": NONE,
        "> Who said it": NONE,
        "By Ann": NONE,
        "See also": BESIDE,
        "Imprint": OUTSIDE,
        "Contact": OUTSIDE,
    }


def test_a_menu_that_is_never_closed_says_nothing_of_the_page_in_it() -> None:
    assert said("<nav><p>Home<main><p>Text.</main>") == {"Home": NONE, "Text.": NONE}
    page = parse_html(f"<nav><p>{PROSE}<p>{PROSE[40:]}</nav>")
    assert landmarks(page.facts).tolist() == [OUTSIDE, OUTSIDE]
    removed, score, _ = find_noise(page.blocks, page.facts, page.text)
    assert not removed.all()
    assert score.min() < 1


def test_a_footer_is_noise_however_much_prose_is_in_it() -> None:
    policies = "".join(f"<p>{number}. {POLICY}" for number in range(60))
    page = parse_html(
        f"<title>Wool shoes</title><main><h1>Wool shoes</h1><p>{PROSE}<p>{PROSE[30:]}</main>"
        f"<footer><div role=dialog><h2>Privacy policy</h2>{policies}</div></footer>"
    )
    removed, score, reasons = find_noise(page.blocks, page.facts, page.text, title=page.title)
    policy = page.blocks.start >= page.text.index("## Privacy policy")
    assert removed[policy].all()
    assert not removed[~policy][1:].any()
    assert score[policy].min() == 1
    assert set(np.array(reasons)[policy]) <= {"footer", "boilerplate", "form"}


NOTE = "<p>Back up your database before you upgrade, because the migration cannot be undone.</p>"


@pytest.mark.parametrize(
    "aside",
    [
        f"<aside class=note>{NOTE}</aside>",
        f"<aside role=note>{NOTE}</aside>",
        f"<aside class='starlight-aside starlight-aside--caution'>{NOTE}</aside>",
        f"<aside class='footnote-list brackets'><aside class='footnote brackets'>{NOTE}</aside></aside>",
    ],
    ids=["class", "role", "dashes", "footnotes"],
)
def test_a_note_in_the_text_is_part_of_it(aside: str) -> None:
    text = "<p>To install the tool, download the archive for your platform, and unpack it into a folder of yours.</p>"
    other, outside = text.replace("tool", "server"), aside.replace("database", "dog")
    page = parse_html(f"<main><h1>Install</h1>{text}{aside}<h2>Next</h2>{other}</main>{outside}")
    assert landmarks(page.facts).tolist()[-1] == BESIDE  # after the text
    removed, _, _ = find_noise(page.blocks, page.facts, page.text)
    kept = [page.text[a:b] for a, b, gone in zip(page.blocks.start, page.blocks.end, removed, strict=True) if not gone]
    assert sum("migration" in each for each in kept) == 1


def test_odds_are_divided_where_content_is_seldom() -> None:
    content = np.array([1.0, 0.75, 0.75, 0.75, 0.0])
    found = np.array([BESIDE, NONE, BESIDE, OUTSIDE, BESIDE], np.int8)
    assert by_landmarks(content, found).tolist() == [1, 0.75, np.rint(1024 * 3 / 11) / 1024, 0, 0]
    assert by_landmarks(np.zeros(0), np.zeros(0, np.int8)).tolist() == []


def test_names_that_end_in_the_same_bits_are_told_apart() -> None:
    assert word_hash("ech") & 4095 == word_hash("nav") & 4095
    facts = parse_html("<div class=ech><p>One</div><div class='menu nav ech'><p>Two</div>").facts
    rows, which = Names(["nav", "menu"]).find(facts)
    assert which.tolist() == [1, 0]
    assert rows[0] == rows[1] > 0
    assert [each.tolist() for each in Names(["footer"]).find(facts)] == [[], []]


_TAGS = ("div", "p", "nav", "footer", "header", "main", "article", "aside", "blockquote", "label", "dialog", "li", "h2")
_PIECES = st.one_of(
    st.sampled_from(_TAGS).map("<{}>".format),
    st.sampled_from(_TAGS).map("</{}>".format),
    st.sampled_from(["One of the rivers", "Home", "<div role=contentinfo>", "<div role=main class='nav footer'>"]),
    st.sampled_from(["<aside class=note>", "<label class=warning>"]),
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_blocks_are_told_what_a_walk_to_the_root_tells(markup: str) -> None:
    page = parse_html(markup)
    assert landmarks(page.facts).tolist() == slow(page)
