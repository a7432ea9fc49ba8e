"""Superscripts, subscripts and ruby readings of HTML keep their meaning."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("10<sup>6</sup> bacteria, 2<sup>10</sup>, 3×10<sup>-3</sup> or 10<sup>−3</sup>; "
         "x<sup> 2 </sup>+ y<sup>n+1</sup>",
         "10^6 bacteria, 2^10, 3×10^-3 or 10^−3; x^2 + y^{n+1}"),
        ("H<sub>2</sub>SO<sub>4</sub>, Fe<sub>2</sub>(SO<sub>4</sub>)<sub>3</sub>, x<sub>i</sub>, a<sub>ij</sub>, "
         "log<sub>2</sub> 8, 101<sub>2</sub>", "H2SO4, Fe2(SO4)3, x_i, a_{ij}, log_2 8, 101_2"),
        ("void.<sup>3</sup> So<sup>[4]</sup> it<sup><a href='#n'>5</a></sup> is<sup class=footnote-ref>6</sup>"
         "<a href='#f'><sup>7</sup></a> km<sup>2</sup>", "void.[3] So[4] it[5] is[6][7] km^2"),
        ("the 1<sup>st</sup>, 2<sup>nd</sup>, n<sup>o</sup> 4, M<sup>me</sup> B, X<sup>TM</sup>, Y<sup>®</sup>, "
         "XX<sup>e</sup>",
         "the 1st, 2nd, no 4, Mme B, XTM, Y®, XX^e"),
        ("5<sup>1</sup>/<sub>2</sub> cups, <sup>3</sup>⁄<sub>4</sub>, e<sup>x<sup>2</sup></sup>, 10<sup>3</sup>5",
         "5 1/2 cups, 3⁄4, e^{x^2}, 10^3 5"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>です", "漢字(かんじ)です"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>", "漢(kan)字(ji)"),
        ("Foo<sup>new</sup> x<sup></sup> a<sup><br></sup>b", "Foo new x a\nb"),
    ],
)  # fmt: skip
def test_superscripts_subscripts_and_readings_keep_their_meaning(page: str, text: str) -> None:
    assert html.parse_html(f"<p>{page}</p>").text == text + "\n"
    assert check(f"<p>{page}</p>")


def test_scripts_keep_their_meaning_in_cells() -> None:
    page = (
        "<table><caption>Count (10<sup>6</sup>)</caption><tr><th>a<th>b"
        "<tr><td>m<sup>3</sup><td>CO<sub>2</sub><sup></sup><sup><a href='#n'>1</a></sup></table>"
    )
    assert check(page)
    text = html.parse_html(page).text
    assert "Count (10^6)" in text
    assert "| m^3 | CO2[1] |" in text
