"""Lists of HTML have the numbers that browsers show."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html


@pytest.mark.parametrize(
    ("page", "items"),
    [
        ("<ol type=a><li>x<li>y<ol type=i><li>z<li>w</ol></ol>", ["a. x", "b. y", "  i. z", "  ii. w"]),
        ("<ol start=12 type=A><li>House<li value=20>Yard<li>Shed</ol>", ["L. House", "T. Yard", "U. Shed"]),
        ("<ol reversed><li>x<li>y<ol><li>z</ol><li>w</ol>", ["3. x", "2. y", "  1. z", "1. w"]),
        ("<ol reversed start=2 type=a><li>x<li>y<li>z</ol>", ["b. x", "a. y", "0. z"]),
        ("<ol start=-1><li>x<li>y<li>z</ol>", ["-1. x", "0. y", "1. z"]),
        ("<ol type=a start=26><li>x<li>y<li value=703>z</ol>", ["z. x", "aa. y", "aaa. z"]),
        ("<ol type=I start=3999><li>x<li>y</ol>", ["MMMCMXCIX. x", "4000. y"]),
        ("<ol start=x><li value=y>x<li value='7th'>y</ol>", ["1. x", "7. y"]),
        ("<ol start=99999999999><li>x</ol>", ["1. x"]),
        ("<ol type=q><li>x<li type=i>y</ol>", ["1. x", "ii. y"]),
        ("<ol style='list-style-type: lower-latin'><li>x</ol>", ["a. x"]),
        ("<ol style='margin:0;list-style:none'><li>x</ol>", ["- x"]),
        ("<ul style='list-style: inside decimal'><li>x<li>y</ul>", ["1. x", "2. y"]),
    ],
)
def test_numbers_of_lists_are_those_shown(page: str, items: list[str]) -> None:
    assert html.parse_html(page).text == "\n".join(items) + "\n"
    assert check(page)


def test_lists_that_count_down_inside_of_each_other_are_read_in_linear_time() -> None:
    assert check("<ol reversed><li>x" * 200)
