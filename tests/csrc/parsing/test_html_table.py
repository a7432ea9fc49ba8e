"""Tables of HTML: cells in a grid, with bounds on those that span many rows."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html

_PRICES = (
    "<table><thead><tr><th rowspan=2>Part<th colspan=2>Price<th rowspan=2>Unit<tr><th>net<th>gross</thead>"
    "<tbody><tr><td>Pump<td>1<td>2<td>each</table>"
)


@pytest.mark.parametrize(
    ("page", "rows"),
    [
        ("<table><tr><th>Drug<th>Age<th>Dose<tr><td rowspan=2>Aspirin<td>adult<td>500<tr><td>child<td>never</table>",
         ["| Drug | Age | Dose |", "| --- | --- | --- |", "| Aspirin | adult | 500 |", "| Aspirin | child | never |"]),
        (_PRICES,
         ["| Part | Price net | Price gross | Unit |", "| --- | --- | --- | --- |", "| Pump | 1 | 2 | each |"]),
        # A span ends with its group; rows in which no cell begins do not count.
        ("<table><tbody><tr><td rowspan=0>a<td>b<tr><td>c<tr></tbody><tbody><tr><td>d<td>e</table>",
         ["|  |  |", "| --- | --- |", "| a | b |", "| a | c |", "| d | e |"]),
        ("<table><tr><td>a<td rowspan=99>b<td>c<tr><td>d<td>e</table>",
         ["| a | b | c |", "| --- | --- | --- |", "| d | b | e |"]),
        ("<table><tr><td>a<td>b<td rowspan=2>c<tr><td>d</table>",
         ["| a | b | c |", "| --- | --- | --- |", "| d |  | c |"]),
        ("<table><tr><td rowspan=x colspan=y>a<td>b<tr><td rowspan=-1>c<td colspan=2>d</table>",
         ["| a | b |  |", "| --- | --- | --- |", "| c | d |  |"]),
        # A cell that spans down keeps its place in the columns of a wider cell.
        ("<table><tr><td>a<td rowspan=2>1<tr><td colspan=2>b</table>",
         ["|  |  |", "| --- | --- |", "| a | 1 |", "| b | 1 |"]),
        ("<table><tr><th colspan=3>Sizes<tr><th>a<th>b<th>c<tr><td>1<td>2<td>3</table>",
         ["| Sizes a | b | c |", "| --- | --- | --- |", "| 1 | 2 | 3 |"]),
    ],
)  # fmt: skip
def test_cells_stand_in_a_grid(page: str, rows: list[str]) -> None:
    assert html.parse_html(page).text == "\n".join(rows) + "\n"
    assert check(page)


@pytest.mark.slow
def test_cells_that_span_many_rows_are_repeated_within_bounds() -> None:
    page = f"<table><tr><td rowspan=0>{'x' * 900}<td>a" + "<tr><td>b" * 20_000 + "</table>"
    text = html.parse_html(page).text
    assert text.count("| b |") == 20_000
    assert len(text) < 10 * len(page)
    assert check(page)
    assert check("<table>" + "<tr>" + "<td rowspan=0>x" * 3000 + "<tr><td>y" * 3000 + "</table>")
