"""Tenets of chunks: each counted by hand, and properties on arbitrary text."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.evaluation.measures import quality_counts

PAGE = "Home | News\n\n# Cats\n\nCats purr all day. They sleep.\n\nMore: Cats purr all day"
MARKED = "Cats\nCats purr all day.\nThey sleep."


def held(text: str, marked: str) -> list[str]:
    return [text[a:b] for a, b in quality_counts.marked_spans(text, marked)]


def test_marked_text_is_found_word_by_word_and_once() -> None:
    # The heading belongs to the longest run; the copy after "More" has no counterpart left.
    assert held(PAGE, MARKED) == ["Cats\n\nCats purr all day. They sleep"]
    assert held(PAGE, MARKED + " Cats purr all day.") == [
        "Cats\n\nCats purr all day. They sleep",
        "Cats purr all day",
    ]
    # Neither order nor case matters; two words in a row are chance.
    assert held("d e f. A B C", "a b c d e f") == ["d e f", "A B C"]
    assert held("a b x a b y", "a b c a b d") == []
    # If another run took part of a run, the rest counts from three words on.
    assert held("a b c d e f x d e f g h i", "a b c d e f g h i") == ["a b c d e f", "g h i"]
    assert held("a b c d e x c d e f g h", "a b c d e f g h") == ["c d e f g h"]
    # Marked text of fewer words must be there whole.
    assert held("Sold out. Out now", "sold out") == ["Sold out"]
    assert held("sold now out", "sold out") == []
    assert held("", MARKED) == held(PAGE, "") == held(PAGE, "...") == []


def words(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(["a", "b", "c", "Дім", "x1"]), max_size=count)


@given(words(30), words(30))
def test_marked_spans_of_any_words(own: list[str], wanted: list[str]) -> None:
    text = " | ".join(own)
    spans = quality_counts.marked_spans(text, "\n".join(wanted))
    assert (spans[1:, 0] >= spans[:-1, 1]).all()
    found = [re.findall(r"\w+", text[a:b]) for a, b in spans]
    assert all(len(each) >= min(3, len(wanted)) for each in found)
    said = f" {' '.join(wanted)} "
    assert all(f" {' '.join(each)} " in said for each in found)
    claimed = [word for each in found for word in each]
    assert all(claimed.count(word) <= wanted.count(word) for word in claimed)
    assert held(text, text) == ([text] if own else [])


def test_noise_is_counted_in_characters_of_words() -> None:
    chunks = [(0, 11), (13, 51), (53, len(PAGE))]
    found = quality_counts.noise(PAGE, chunks, quality_counts.marked_spans(PAGE, MARKED))
    # "HomeNews"; "CatsCatspurralldayTheysleep"; "MoreCatspurrallday", no bar and no mark of a heading.
    assert found.outside.tolist() == [8, 0, 18]
    assert found.of.tolist() == [8, 27, 18]
    assert found.characters == (26, 53)
    assert found.chunks == (2, 3)
    # 20 % is not above 20 %; a chunk of only marks has no words that could be noise.
    borders = quality_counts.noise("abcd e | abcd ef |--|", [(0, 6), (9, 16), (17, 21)], [(0, 4), (9, 13)])
    assert borders.outside.tolist() == [1, 2, 0]
    assert borders.chunks == (1, 3)
    assert quality_counts.noise("abcd", [], []).characters == (0, 0)


@given(st.text(max_size=80), st.text(max_size=40), st.integers(0, 80))
def test_noise_of_any_text(text: str, marked: str, cut: int) -> None:
    cut = min(cut, len(text))
    found = quality_counts.noise(text, [(0, cut), (cut, len(text))], quality_counts.marked_spans(text, marked))
    assert (found.outside <= found.of).all()
    assert found.of.sum() == sum(map(len, re.findall(r"\w+", text)))
    assert quality_counts.noise(text, [(0, len(text))], [(0, len(text))]).characters.found == 0
    assert quality_counts.noise(text, [(0, len(text))], quality_counts.marked_spans(text, text)).characters.found == 0


TEXT = "Buy:\n- milk\n- eggs\n\nThey are cheap. Milk keeps for days."
LIST, PARAGRAPH = (0, 18), (20, 56)


def test_a_chunk_is_complete_that_cuts_nothing_and_refers_to_nothing() -> None:
    assert TEXT[slice(*LIST)].endswith("eggs")
    assert TEXT[slice(*PARAGRAPH)].startswith("They")
    units = [LIST, PARAGRAPH]
    assert quality_counts.dangling(TEXT, [LIST, PARAGRAPH]).tolist() == [False, True]
    assert quality_counts.dangling(TEXT, [PARAGRAPH]).tolist() == [False]  # no text of the document is before it
    assert quality_counts.completeness(TEXT, [LIST, PARAGRAPH], units) == (1, 2)
    assert quality_counts.completeness(TEXT, [(0, 56)], units) == (1, 1)
    # The end of one chunk and the start of the next are inside the list.
    halves = [(0, 11), (12, 18), (20, 56)]
    assert quality_counts.cuts_a_unit(halves, units).tolist() == [True, True, False]
    assert quality_counts.completeness(TEXT, halves, units) == (0, 3)
    # White space at the edge of a unit is not part of it.
    assert quality_counts.cuts_a_unit([(0, 19), (19, 56)], units).tolist() == [False, False]
    assert quality_counts.cuts_a_unit([(0, 35), (36, 56)], units).tolist() == [True, True]
    assert quality_counts.cuts_a_unit(halves, []).tolist() == [False] * 3
    assert quality_counts.completeness(TEXT, [], units) == (0, 0)


def turning(*degrees: float) -> np.ndarray:
    """Return unit vectors, each turned by this many degrees from the one before."""
    angles = np.radians(np.cumsum([0, *degrees]))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_a_break_is_among_the_sharpest_turns_of_its_document() -> None:
    vectors = turning(10, 20, 60, 30)  # cosines 0.98, 0.94, 0.5, 0.87; their 5th percentile is 0.555
    assert quality_counts.breaks_inside(vectors, [0, 0, 0, 0, 0], 1).tolist() == [True]
    assert quality_counts.breaks_inside(vectors, [0, 0, 0, 1, 1], 2).tolist() == [False, False]
    assert quality_counts.breaks_inside(vectors, [0, 1, 1, 1, 2], 3).tolist() == [False, True, False]
    assert quality_counts.breaks_inside(vectors, [0, 0, -1, -1, 1], 2).tolist() == [False, False]
    # Of 41 pairs two are below the percentile, which is the third lowest.
    many = turning(*[10] * 20, 50, 60, 40, *[10] * 18)
    rows = np.arange(42)
    for pair, low in ((20, True), (21, True), (22, False), (5, False)):
        own = rows.copy()
        own[pair + 1 :] -= 1  # only this pair shares a chunk
        assert quality_counts.breaks_inside(many, own, 42).tolist() == [low and row == pair for row in range(42)]
    # Equal turns, a single pair, vectors of zeros: none.
    assert not quality_counts.breaks_inside(np.eye(4), [0, 0, 0, 0], 1).any()
    assert not quality_counts.breaks_inside(turning(80), [0, 0], 1).any()
    assert not quality_counts.breaks_inside(np.zeros((3, 2)), [0, 0, 0], 1).any()
    assert quality_counts.breaks_inside(np.zeros((0, 2)), [], 0).tolist() == []
    with pytest.raises(ValueError, match=r"needed vectors \[n, d\]"):
        quality_counts.breaks_inside(vectors, [0], 1)


def test_two_headings_of_one_level_are_two_contexts() -> None:
    assert quality_counts.equal_headings([0, 0, 1, 2, 2], [1, 2, 2, 3, 3], 4).tolist() == [False, False, True, False]
    assert quality_counts.equal_headings([-1, -1], [2, 2], 1).tolist() == [False]
    assert quality_counts.equal_headings([], [], 2).tolist() == [False, False]
    with pytest.raises(ValueError, match="one entry for each heading"):
        quality_counts.equal_headings([0], [1, 2], 1)
    # One chunk has a sharp turn, another has two headings, the third neither.
    vectors = turning(5, 60, 5, 5, 5)
    assert quality_counts.context_switch(vectors, [0, 0, 0, 1, 1, 2], [1, 1, 2], [3, 3, 1], 3) == (2, 3)


def test_relevance_is_the_share_that_is_in_the_section() -> None:
    gold = (100, 200)
    chunks = [(100, 200), (90, 190), (89, 189), (50, 150), (49, 149), (0, 101), (0, 100), (200, 300)]
    assert quality_counts.relevance(chunks, gold, False).tolist() == [4, 4, 3, 3, 2, 2, 0, 0]
    assert quality_counts.relevance(chunks, gold, True).tolist() == [4, 4, 3, 3, 2, 2, 1, 1]
    assert quality_counts.relevance(chunks[:2], gold, [False, True], [True, False]).tolist() == [4, 1]
    assert quality_counts.relevance([], gold, []).tolist() == []


def test_weighted_precision_counts_what_was_not_found_as_irrelevant() -> None:
    assert quality_counts.weighted_precision([4, 3, 1, 4], 3) == pytest.approx(8 / 12)
    assert quality_counts.weighted_precision([4, 4, 4], 3) == 1
    assert quality_counts.weighted_precision([4], 5) == pytest.approx(4 / 20)
    assert quality_counts.weighted_precision([], 1) == 0
    with pytest.raises(ValueError, match="k must be at least 1"):
        quality_counts.weighted_precision([4], 0)
