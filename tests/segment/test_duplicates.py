"""find_duplicates: inputs of all kinds, shares, and what the rows mean."""

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pychunk
from pychunk.duplicates import SCHEMA, band_of
from pychunk.index.search import near_copies

LINE = "Cats purr when they are content, and nobody knows for certain why they do it at night"


def test_rows_name_the_first_document_and_the_share() -> None:
    changed = LINE.replace("night", "noon")
    found = pychunk.find_duplicates([LINE, "Stars shine.", changed, LINE, changed, "Stars\n shine.", ""], 0.8)
    assert found.schema == SCHEMA
    share = near_copies.share(near_copies.words_of(LINE), near_copies.words_of(changed))
    assert [tuple(row.values()) for row in found.to_pylist()] == [(2, 0, share), (3, 0, 1), (4, 0, share), (5, 1, 1)]
    assert 0.9 < share < 1
    assert pychunk.find_duplicates([LINE, changed, LINE], 1)["row"].to_pylist() == [2]


@pytest.mark.parametrize("threads", [1, 2, None])
def test_parts_of_a_batch_change_nothing(threads: int | None) -> None:
    rng = random.Random(0)
    texts = [" ".join(rng.choices("abc", k=rng.choice([2, 30]))) for _ in range(40)]
    texts += [text + " end" for text in rng.sample(texts, 30)]
    expected = pychunk.find_duplicates(texts, 0.5, threads=1)
    assert expected.num_rows > 20
    parts = pa.chunked_array([pa.array(texts[:7]), pa.array([], pa.string()), pa.array(texts[7:])])
    assert pychunk.find_duplicates(parts, 0.5, threads=threads) == expected
    table = pa.table({"body": parts, "other": texts})
    assert pychunk.find_duplicates(table, 0.5, column="body", threads=threads) == expected
    assert pychunk.find_duplicates(pa.array(["x", *texts, "y"]).slice(1, len(texts)), 0.5) == expected


@pytest.mark.parametrize("batch", [[], "one text", [""], pa.array([], pa.string())])
def test_nothing_to_compare(batch: Any) -> None:
    assert pychunk.find_duplicates(batch) == SCHEMA.empty_table()


@pytest.mark.parametrize("share", [0, 0.49, 1.01, float("nan"), True, "0.8", None])
def test_wrong_shares_are_named(share: Any) -> None:
    with pytest.raises(ValueError, match=r"share must be a number from 0.5 to 1; got "):
        pychunk.find_duplicates(["a"], share)


def test_rows_that_are_no_text_are_named() -> None:
    with pytest.raises((TypeError, ValueError), match="1"):
        pychunk.find_duplicates(["a", None])


@given(st.floats(0.5, 1))
def test_each_share_has_a_band_that_finds_it(share: float) -> None:
    band = band_of(share)
    similarity = share / (2 - share)
    assert 1 - (1 - similarity**band) ** (128 // band) >= 0.999


@given(st.lists(st.text("ab 猫", max_size=30), max_size=8), st.sampled_from([0.5, 0.8, 1.0]))
def test_shares_are_those_of_hits(texts: list[str], least: float) -> None:
    found = pychunk.find_duplicates(texts, least)
    listed = set(found["row"].to_pylist())
    for row, of, share in zip(*(found[name].to_pylist() for name in SCHEMA.names), strict=True):
        assert of < row
        assert of not in listed
        assert share == near_copies.share(*(near_copies.words_of(texts[each]) for each in (row, of))) >= least
