"""Conditions on columns as texts, dicts and expressions equal a slow evaluation of them."""

import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.index.scoring.filters import COMPARISONS, rows

DAYS = [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1), None]
TABLE = pa.table(
    {
        "id": ["a b.md", "b-1", "it's", ""],
        "year": [2010, None, 2020, -1],
        "share": [0.5, 1.0, None, -0.5],
        "lang": pa.array(["de", "en", None, "de"]).dictionary_encode(),
        "tags": [["x", "y"], None, [], [None, "y"]],
        "counts": pa.array([[1, 2], [3, 4], None, [5, 1]], pa.list_(pa.int8(), 2)),
        "day": pa.array(DAYS),
        "flag": [True, False, None, True],
        "not": pa.array(["p", "q", "r", "s"], pa.large_string()),
        "pair": [{"a": 1}] * 4,
    }
)


def at(where: Any) -> list[int]:
    return [i for i, found in enumerate(rows(where, TABLE)) if found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("year >= 2010 and lang='de'", [0]),
        ("year=2010", [0]),
        ("year == 2010.5", []),
        ("year < 2010.5", [0, 3]),
        ("year > -2", [0, 2, 3]),
        ("year = 99999999999999999999", []),
        ("share>.7", [1]),
        ("share = 1", [1]),
        ("lang=de", [0, 3]),
        ("lang != de", [1]),
        ("lang <> 'de'", [1]),
        ("NOT lang = de", [1]),
        ("lang in (de, 'en')", [0, 1, 3]),
        ("lang not in (de)", [1]),
        ("lang is null", [2]),
        ("lang IS NOT NULL", [0, 1, 3]),
        ("lang = 'null' or lang in (\"NULL\", en)", [1]),
        ("tags = y", [0, 3]),
        ("tags != y", [2]),
        ("tags in (z, x)", [0]),
        ("tags is null", [1]),
        ("counts > 4", [3]),
        ("counts = 1", [0, 3]),
        ("day >= 2020-06-01", [2]),
        ("flag = true", [0, 3]),
        ("id = a", []),
        ("id='a b.md'", [0]),
        ("id=b-1", [1]),
        ("id = 'it''s'", [2]),
        ('id = "it\'s"', [2]),
        ("id = ''", [3]),
        ("\"not\" = q or 'not' >= 's'", [1, 3]),
        ("lang = de and year = 2010 or id = ''", [0, 3]),
        ("lang = de and (year = 2010 or id = '')", [0, 3]),
        ("id='' or lang=en and year=2010", [3]),
        ("not (lang = de or flag = false)", []),
        ("(((year=2010)))", [0]),
    ],
)
def test_texts(text: str, wanted: list[int]) -> None:
    assert at(text) == wanted


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({}, [0, 1, 2, 3]),
        ({"year": {"gte": 2010, "lt": 2020}}, [0]),
        ({"year": {"gt": 2009.5}, "lang": ["de", "en"]}, [0]),
        ({"year": 2010.0}, [0]),
        ({"lang": ("de", None)}, [0, 2, 3]),
        ({"lang": None}, [2]),
        ({"lang": {"ne": "de"}}, [1]),
        ({"lang": {"in": pa.array(["en"])}}, [1]),
        ({"lang": set()}, []),
        ({"tags": "x"}, [0]),
        ({"tags": ["x", "z"]}, [0]),
        ({"tags": {"ne": "x"}}, [2, 3]),
        ({"tags": None}, [3]),
        ({"counts": {"gte": 3, "lte": 1}}, [3]),
        ({"day": {"lt": datetime.date(2020, 6, 1)}}, [0]),
        ({"flag": True}, [0, 3]),
        (pc.field("year") > 2015, [2]),
        (pc.field("lang").is_null() | (pc.field("share") < 0), [2, 3]),
    ],
)
def test_dicts_and_expressions(where: Any, wanted: list[int]) -> None:
    assert at(where) == wanted


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("", "expected a column at the end of ''"),
        ("year", "expected =, !=, <, <=, >, >=, 'in' or 'is null' at the end"),
        ("year in ()", r"expected a value at character 9, before '\)'"),
        ("year in (1", r"expected '\)' at the end"),
        ("year not 5", "expected 'in' at character 9, before '5'"),
        ("year is 5", "expected 'null' at character 8"),
        (
            "lang = null",
            "comparing 'lang' with null never matches: write lang is null or lang is not null, or 'null' in",
        ),
        (
            "not year != NULL",
            "comparing 'year' with null never matches: write year is null or year is not null, or 'NULL'",
        ),
        ("lang in (de, null)", "comparing 'lang' with null never matches"),
        ("year = 5 and", "expected a column at the end"),
        ("year = 'five", "expected a value at character 7"),
        ("id = 'a'; drop", "expected 'and', 'or' or the end at character 8, before '; drop'"),
        ("__import__('os')", "expected =, .* at character 10|names the column '__import__'"),
        ("share = x", "the column 'share' is of type double; got 'x'"),
        ("pair = 1", "the column 'pair' is of type struct<a: int64>; got '1'"),
        ({"pair": {"gt": {"a": 1}}}, "the column 'pair', which is struct<a: int64>, cannot be compared by 'gt' with"),
        ({"year": {"gt": "x"}}, "the column 'year' is of type int64; got 'x'"),
        ({5: 5}, "where names the column 5, which the index lacks: name one of id, year"),
        ({"lang": "\ud800"}, "the column 'lang' is of type .*; got .*: remove the lone surrogate"),
        ("page = 7", r"the column 'page', .*; pages come with method 'page', from PDF, or .*\{'page_starts': \.\.\.\}"),
    ],
)
def test_what_cannot_be_read_is_named(where: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows(where, TABLE)


# A condition as a tree and as a text, and its value for a row, with None for neither true nor false.

VALUES = {"year": [2010, 2020, -1, 7], "lang": ["de", "en", "x y", "it's"], "share": [0.5, 1.0, -2.5]}
SIGNS = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
LEAVES = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(sorted(COMPARISONS)), st.sampled_from(VALUES[name]))
)
TREES = st.recursive(
    LEAVES, lambda inner: st.tuples(st.just("not"), inner) | st.tuples(st.sampled_from(["and", "or"]), inner, inner)
)


def text_of(tree: Any) -> str:
    if tree[0] == "not":
        return f"not ({text_of(tree[1])})"
    if tree[0] in ("and", "or"):
        return f"({text_of(tree[1])}) {tree[0]} ({text_of(tree[2])})"
    name, comparison, value = tree
    quoted = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else value
    return f"{name}{SIGNS[comparison]} {quoted}"


def says(tree: Any, row: dict[str, Any]) -> bool | None:
    if tree[0] == "not":
        found = says(tree[1], row)
        return None if found is None else not found
    if tree[0] in ("and", "or"):
        both, decides = [says(each, row) for each in tree[1:]], tree[0] == "or"
        return decides if decides in both else None if None in both else not decides
    name, comparison, value = tree
    own = row[name]
    if own is None:
        return None
    return {
        "eq": own == value, "ne": own != value, "gt": own > value, "gte": own >= value, "lt": own < value,
        "lte": own <= value,
    }[comparison]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_any_condition_does_what_it_says(tree: Any) -> None:
    wanted = [i for i, row in enumerate(TABLE.to_pylist()) if says(tree, row)]
    if str(tree).count("(") < 40:
        assert at(text_of(tree)) == wanted
    if tree[0] in VALUES:
        assert at({tree[0]: {tree[1]: tree[2]}}) == wanted


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            ["year", "lang", "tags", "=", ">", "(", ")", "and", "not", "in", "is", "null", "5", "'x'", ",", " "]
        )
    ).map(" ".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = rows(text, TABLE)
    except ValueError:
        return
    assert len(found) == TABLE.num_rows


def test_times_with_a_zone_are_written_with_or_without_one() -> None:
    utc = datetime.UTC if hasattr(datetime, "UTC") else datetime.timezone.utc
    times = [datetime.datetime(2020, 1, day, 12, tzinfo=utc) for day in (1, 2, 3)]
    for zone, wanted in (("UTC", [2]), ("Asia/Tokyo", [1, 2])):
        table = pa.table({"at": pa.array(times, pa.timestamp("us", tz=zone))})
        for text in ("2020-01-02 13:00", "2020-01-02T13:00:00"):
            assert [i for i, found in enumerate(rows({"at": {"gte": text}}, table)) if found] == wanted
            assert [i for i, found in enumerate(rows(f"at >= '{text}'", table)) if found] == wanted
        exact = rows({"at": ["2020-01-02T12:00:00Z", "2020-01-03T13:00:00+01:00"]}, table)
        assert list(exact) == [False, True, True]
        with pytest.raises(ValueError, match=r"the column 'at' is of type timestamp.*; got 'noon'"):
            rows({"at": "noon"}, table)
