"""No cut is inside a character as readers see it, and words of scripts without spaces, on both engines."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.reference.text.graphemes import count_words, is_border

#: Each is one cluster.
CLUSTERS = [
    *("a", "é", "e\u0301", "e\u0301\u0327\u0300", "각", "\u1100\u1161\u11a8", "가\u11a8", "中", "ก็", "กำ"),
    *("\u0939\u093f", "\u0915\u094d\u0937", "\u0938\u094d\u0924\u0947", "\u0995\u09cd\u09b7", "👍", "👍🏽"),
    *("👩\u200d👩\u200d👧\u200d👦", "❤\ufe0f\u200d🔥", "🇺🇦", "1\ufe0f\u20e3"),
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
]


def borders(text: str) -> list[int]:
    """Return all boundaries between clusters, found one after the other."""
    found, at = [0], 0
    while at < len(text):
        at = next(i for i in range(at + 1, len(text) + 1) if i == len(text) or is_border(text, at, i))
        found.append(at)
    return found


@given(st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=30))
@settings(deadline=None)
def test_clusters_of_every_kind_are_found(clusters: list[str]) -> None:
    expected = [0]
    for cluster in clusters:
        expected.append(expected[-1] + len(cluster))
    flags_meet = any(a == b == "🇺🇦" for a, b in pairwise(clusters))  # one after the other they are pairs nevertheless
    assert borders("".join(clusters)) == expected or flags_meet


def test_flags_are_counted_in_pairs_from_where_a_piece_begins() -> None:
    assert borders("🇺🇦🇬🇧🇫") == [0, 2, 4, 5]
    assert borders("a🇺🇦") == [0, 1, 3]


@pytest.mark.parametrize("unit", ["characters", "tokens"])
@given(clusters=st.lists(st.sampled_from(CLUSTERS), min_size=4, max_size=60), size=st.integers(12, 30))
@settings(deadline=None, max_examples=60)
def test_no_chunk_begins_inside_a_cluster(unit: str, clusters: list[str], size: int) -> None:
    text = "".join(clusters)
    whole = set(borders(text))
    out = pychunk.segment(text, "fixed", size=size, unit=unit)
    assert "".join(out.texts) == text
    assert {chunk.start for chunk in out} <= whole
    if unit == "characters":
        assert all(len(each) <= size for each in out.texts)


def test_a_cluster_that_alone_is_too_long_is_cut() -> None:
    text = "e" + "\u0301" * 100
    out = pychunk.segment(text, "fixed", size=10, unit="characters")
    assert "".join(out.texts) == text
    assert max(map(len, out.texts)) <= 10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("well-known U.S. don't —", 4),
        ("今天天气很好。", 6),
        ("用Python3写，2次", 5),
        ("カタカナ", 4),
        ("สวัสดี", 4),  # the clusters ส วั ส ดี
        ("한국어 문장", 2),
        ("…", 1),
    ],
)
def test_words(text: str, words: int) -> None:
    assert count_words(text) == words
    out = pychunk.segment(text, "fixed", size=words or 1, unit="words")
    assert len(out) == (1 if words else 0)
    if words > 1:
        assert len(pychunk.segment(text, "fixed", size=words - 1, unit="words")) > 1


def test_a_text_without_spaces_is_cut_by_words() -> None:
    out = pychunk.segment("中文没有空格" * 200, "recursive", size=50, unit="words")
    assert [len(each) for each in out.texts] == [50] * 24
