"""Attributes of HTML that mark something as hidden, a permalink, a role or a drawing."""

import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check

from pychunk.parsing.html import page as html


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<h1>Guide<a class=headerlink href='#g'>¶</a></h1>", "# Guide"),
        ("<h2>Vite <a class=header-anchor href='#v'>\u200b</a></h2>", "## Vite"),
        ("<h2><a class=doc-anchor href='#r'>§</a>Rust</h2><h2>C# <a href='#h'>#</a></h2>", "## Rust\n\n## C#"),
        ("<h2>Read<a class=headerlink href='#r'>\uf0c1</a></h2><h2>J <a href='#j'>🔗</a></h2>", "## Read\n\n## J"),
        ('<dl><dt>f(x)<a href=s><span class="viewcode-link">[source]</span></a><dd>Calls f.</dl>', "f(x)\n\nCalls f."),
        ("<h2>Wiki</h2><span class=mw-editsection>[<a href=e>edit</a>]</span>", "## Wiki"),
        ("<dl><dt>f(x)<a href='#f'>¶</a><dd>See <a href='#p'>§</a></dl>", "f(x)\n\nSee §"),
        ("<h2><a class=anchor href='#x'>Whole heading</a></h2>", "## Whole heading"),
        ("<table><caption>T<a class=headerlink href='#t'>¶</a></caption><tr><td>a<td>b<tr><td>c<td>d</table>",
         "T\n\n|  |  |\n| --- | --- |\n| a | b |\n| c | d |"),
        ("<div role=heading aria-level=3>A</div><div role=heading>B</div><p role=heading aria-level=x>C",
         "### A\n\n## B\n\n## C"),
        ("<svg><text>CREATE</text><path/><text>TEMPORARY</text><text>pump-<tspan>name</tspan></text></svg>",
         "CREATE TEMPORARY pump-name"),
    ],
)  # fmt: skip
def test_permalinks_roles_and_drawings(page: str, text: str) -> None:
    assert html.parse_html(page).text == text + "\n"
    assert check(page)


@pytest.mark.parametrize(
    ("style", "hidden"),
    [
        ("font-size:0", True), ("FONT-SIZE: 0px !important", True), ("font-size:0.9em", False), ("opacity:0", True),
        ("opacity:0.5", False), ("opacity:0;transition:opacity 1s", False), ("text-indent:-9999px", True),
        ("text-indent:-2em", False), ("position:absolute;left:-9999px", True), ("position:absolute;left:-10px", False),
        ("color:#fff;background:white", True), ("color:white;background-color:#FFF", True),
        ("color:#fff;background:#000", False), ("color:red", False), ("visibility:hidden", True), (";;:;", False),
        ("font-size:", False), ("opacity:.", False),
    ],
)  # fmt: skip
def test_styles_that_hide(style: str, hidden: bool) -> None:
    for page in (f"<p>a<span style='{style}'>b</span>c", f"<p style='{style}'>b</p>"):
        parsed = html.parse_html(page)
        assert parsed.facts.hidden.any() == hidden
        assert check(page)
    assert not html.parse_html("<div style='font-size:0'><p>x").facts.hidden.any()
