"""Columns, blank lines and depth, by which the Markdown oracle decides where a line belongs."""

import pytest

from pychunk._engine.reference.parsing.markdown_lines import DEEPEST, Line, Place, is_code, width_of


@pytest.mark.parametrize(
    ("space", "column", "width"),
    [("", 0, 0), ("   ", 0, 3), ("\t", 0, 4), ("\t", 3, 1), (" \t", 0, 4), ("\t ", 2, 3), ("\t\t", 1, 7)],
)
def test_a_tab_ends_at_a_multiple_of_four(space: str, column: int, width: int) -> None:
    assert width_of(space, column) == width


def test_a_line_without_text_is_blank() -> None:
    assert Line(0, 4, 4, 4).blank
    assert not Line(0, 3, 4, 3).blank


def test_code_is_indented_by_four_columns_more_than_its_container() -> None:
    assert is_code(Line(0, 6, 9, 6), Place(indent=2))
    assert not is_code(Line(0, 5, 9, 5), Place(indent=2))


def test_quotes_and_lists_count_together() -> None:
    assert Place(quotes=DEEPEST - 1, lists=1).is_full
    assert not Place(quotes=DEEPEST - 2, lists=1).is_full
