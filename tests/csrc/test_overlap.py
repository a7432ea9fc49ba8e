"""Overlap is whole sentences, else the last clause or words of one, and never a whole chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.reference.overlap_tail import tail_of


def measured(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("One two three, four five six.", 3, "four five six."),
        ("One two three, four five six.", 4, "four five six."),  # a clause in the first half or later
        ("One two three four five, six.", 4, "three four five, six."),  # it would be too short
        ("One two three four five six.", 2, "five six."),
        ("One: two", 9, "two"),
        ("One", 9, None),
        ("One two", 0, None),
        ("  ", 3, None),
        ("我在北京，今天天气很好。", 9, "今天天气很好。"),
        ("كان الجو جميلا، وذهبنا إلى الحديقة", 4, "وذهبنا إلى الحديقة"),
    ],
)
def test_the_end_of_a_sentence(text: str, most: int, expected: str | None) -> None:
    found = tail_of(text, 0, len(text), most, measured)
    assert (None if found is None else text[found[0] :].rstrip()) == expected


TEXT = (
    "The pump moves water from the well to the tank, which holds enough for a day; in winter it runs twice. "
    "Its valve, made of brass, opens when the pressure falls. Nobody has to be there. "
)


@pytest.mark.parametrize("method", ["fixed", "recursive", "topic", "pic", "structure", "sentence"])
@pytest.mark.parametrize("unit", ["tokens", "words", "characters"])
def test_an_overlap_that_was_asked_for_is_there(method: str, unit: str) -> None:
    scale = 5 if unit == "characters" else 1
    sized = method in ("fixed", "recursive", "structure")
    if not sized and unit != "tokens":
        pytest.skip("it has no unit")
    options: dict[str, Any] = {"size": 40 * scale, "unit": unit} if sized else {"max_tokens": 60, "min_tokens": 0}
    chunks = pychunk.segment(TEXT * 20, method, overlap=8 * scale, **options).table
    repeated = chunks["overlap"].to_numpy()[1:]
    assert (repeated > 0).mean() >= 0.9
    if sized:
        lengths = {
            "tokens": chunks["tokens"].to_pylist(),
            "words": [len(t.split()) for t in chunks["text"].to_pylist()],
        }
        lengths["characters"] = [len(text) for text in chunks["text"].to_pylist()]
        assert max(lengths[unit]) <= 40 * scale


def test_articles_have_the_overlap_that_was_asked_for(articles: list[str]) -> None:
    for method, options in (("fixed", {"size": 100, "overlap": 20}), ("topic", {"size": 100, "overlap": 20})):
        table = pychunk.segment(articles[:100], method, **options).table
        document, start, end = (table[name].to_numpy() for name in ("document_index", "start", "end"))
        after = document[1:] == document[:-1]
        assert (table["overlap"].to_numpy()[1:][after] > 0).mean() >= 0.9
        assert not (after & (start[1:] <= start[:-1]) & (end[1:] >= end[:-1])).any()


PIECES = st.lists(
    st.sampled_from(
        ["One, two. ", "Three four five six seven eight; nine ten. ", "A\n\n", "# Part\n\n", "是的，好。", "x" * 30]
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    max_size=20,
).map("".join)
SIZES = st.sampled_from([("fixed", 12), ("recursive", 9), ("structure", 15), ("sentence", 0), ("topic", 20)])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(PIECES, SIZES, st.integers(1, 8), st.booleans())
def test_no_chunk_lies_inside_the_next_and_text_is_kept(
    text: str, chosen: tuple[str, int], overlap: int, keep_together: bool
) -> None:
    method, size = chosen
    options: dict[str, Any] = {"size": size} if size else {}
    if method != "structure":
        options["keep_together"] = keep_together
    table = pychunk.segment(text, method, overlap=overlap, **options).table
    start, end = table["start"].to_numpy(), table["end"].to_numpy()
    assert [text[a:b] for a, b in zip(start, end)] == table["text"].to_pylist()
    assert (np.diff(start) > 0).all()
    assert (np.diff(end) > 0).all()
    covered = np.zeros(len(text), bool)
    for a, b in zip(start, end):
        covered[a:b] = True
    assert all(letter.isspace() for letter, there in zip(text, covered) if not there)
