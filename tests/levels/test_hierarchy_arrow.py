"""Levels as a table and as files, and back."""

import pyarrow as pa
import pytest
from hierarchies import (
    LEVELS,
    TEXT_OF_LEVELS,
    TEXTS,
    check_same,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS, order=st.randoms(use_true_random=False), vectors=st.sampled_from([None, "chunk"]))
def test_arrow_and_back(texts: list[str], levels: list, order, vectors: str | None) -> None:
    ids = [f"d{row}" for row in range(len(texts))]
    found = pychunk.segment_levels(texts, levels, ids=ids, vectors=vectors)
    table = found.to_arrow()
    rows = list(range(table.num_rows))
    order.shuffle(rows)
    for each in (table, table.take(pa.array(rows, pa.int64()))):
        back = Hierarchy.from_arrow(each)
        check_same(found, back)
        assert back.metadata == found.metadata
        for level in found.levels:
            assert back.texts_of(level) == found.texts_of(level)
        held = [text.strip() != "" for text in texts]
        assert back.ids.to_pylist() == [own if here else None for own, here in zip(ids, held, strict=True)]
        assert back.texts.to_pylist() == [text if here else "" for text, here in zip(texts, held, strict=True)]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_files_and_back(ending: str, tmp_path) -> None:
    found = pychunk.segment_levels(
        [TEXT_OF_LEVELS, "", "One."], ["paragraph", "section"], vectors="chunk", ids=[7, 8, 9]
    )
    found.write(tmp_path / f"levels.{ending}")
    back = Hierarchy.read(tmp_path / f"levels.{ending}")
    check_same(found, back)
    assert back.texts_of("section") == found.texts_of("section")
    with pytest.raises(ValueError, match=r"\.parquet, \.arrow or \.feather"):
        found.write(tmp_path / "levels.csv")


def test_a_table_that_is_no_hierarchy_is_refused() -> None:
    found = pychunk.segment_levels([TEXT_OF_LEVELS], ["paragraph"])
    with pytest.raises(ValueError, match="to_arrow"):
        Hierarchy.from_arrow(pychunk.segment(["One."]).table)
    with pytest.raises(ValueError, match="rows are missing or occur twice"):
        Hierarchy.from_arrow(found.to_arrow().slice(1))
