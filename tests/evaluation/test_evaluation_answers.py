"""Measures of answers, against values worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.evaluation.measures.answer_accuracy import (
    choice_accuracy,
    exact_match,
    normalised,
    token_f1,
    unlp_score,
)


def test_what_is_compared_is_normalised_as_the_authors_do() -> None:
    for text, expected in (
        ("The Battle of Hastings!", "battle of hastings"),
        ("  A  the\tAN ", ""),
        ("theatre, an anthem", "theatre anthem"),
        ("U.S.-based", "usbased"),
        ("don't", "dont"),
        ("«Les Misérables»", "«les misérables»"),
        ("a-the b", "athe b"),
    ):
        assert normalised(text) == expected


def test_exact_match_and_f1_by_hand() -> None:
    answers = ["the Normans", "10th and 11th centuries", "in France", "", "", "Denmark and Norway", "cat cat"]
    gold = [
        ["Normans"],
        ["in the 10th and 11th centuries"],
        ["France", "in France."],
        [],
        ["x"],
        [],
        ["cat dog cat cat"],
    ]
    assert exact_match(answers, gold).tolist() == [1, 0, 1, 1, 0, 0, 0]
    # the second: 4 of 4 and 4 of 5 tokens; the last: 2 of 2 and 2 of 4
    assert token_f1(answers, gold) == pytest.approx([1, 8 / 9, 1, 1, 0, 0, 2 / 3])
    assert token_f1(["a b c d"], [["c d e"]]) == pytest.approx([2 * (2 / 3) * (2 / 3) / (4 / 3)])  # "a" is an article
    assert exact_match([], []).shape == (0,)
    for measure in (exact_match, token_f1):
        with pytest.raises(ValueError, match="2 lists for 1 answer"):
            measure(["x"], [["x"], ["y"]])
        with pytest.raises(ValueError, match="question 0 has 'x'"):
            measure(["x"], ["x"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=3)), max_size=5))
def test_a_match_is_an_f1_of_one_and_both_are_shares(rows: list[tuple[str, list[str]]]) -> None:
    exact, shares = exact_match(*zip(*rows)) if rows else np.zeros(0), token_f1(*zip(*rows)) if rows else np.zeros(0)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (shares[exact == 1] == 1).all()


def test_options_and_the_score_of_pages_by_hand() -> None:
    assert choice_accuracy([2, None, 1, 0], [2, 2, 0, 0]).tolist() == [1, 0, 0, 1]
    with pytest.raises(ValueError, match="got the lengths 2 and 1"):
        choice_accuracy([1, 2], [1])
    # all right; 2 of 4 pages off; another document; wrong answer, right page; nothing named
    scores = unlp_score([1, 1, 1, 0, 1], [3, 3, 1, 3, -1], [2, 4, 2, 2, -1], [3] * 5, [2] * 5, [4] * 5)
    assert scores.tolist() == [1, 0.5 + 0.25 + 0.25 * 0.5, 0.5, 0.5, 0.5]
    with pytest.raises(ValueError, match="must cover the same questions"):
        unlp_score([1, 1], [3], [2], [3], [2], [4])
