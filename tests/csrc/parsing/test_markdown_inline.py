"""Texts of headings: the meaning of Markdown's marks in them, without the marks."""

from __future__ import annotations

import html
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.reference.parsing.markdown_inline import link_labels
from pychunk._engine.reference.structure import heading_text
from pychunk.parsing import markdown
from pychunk.parsing.html.page import parse_html


@pytest.mark.parametrize(
    ("line", "text"),
    [
        *(("## Cats  and\tdogs ##", "Cats and dogs"), ("#", ""), ("C#", "C#"), ("# C#", "C#"), ("== Life ==", "Life")),
        *(("Cats\nand dogs\n---", "Cats and dogs"), ("======", "======"), ("####### x", "# x"), ("Cats", "Cats")),
        *(
            ("> ## Cats", "Cats"),
            ("- 1. # Cats", "Cats"),
            ("> Cats\n> and\n> ===", "Cats and"),
            ("- Cats\n  ---", "Cats"),
        ),
        *(("Cats\rdogs\r---", "Cats dogs"), ("1. Cats", "1. Cats"), ("- Cats", "- Cats"), ("Cats\n>", "Cats >")),
    ],
)
def test_headings_lose_their_marks(line: str, text: str) -> None:
    assert heading_text(line) == text
    chunks = pychunk.segment([line + "\n\nText."], "structure", columns={"blocks": [[("heading", 1, 0, len(line))]]})
    assert chunks[0].path == [text]


LINKED = "\n\n[the manual]: https://example.org/m\n[1]: <https://example.org/1>\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "## 24/7 [Support](https://example.org/a/b) for `my_func(x)` &amp; **bold** words ##",
            "24/7 Support for my_func(x) & bold words",
        ),
        *(("## Setup {#setup-anchor .unnumbered}", "Setup"), ("## A ## {: .b c=d}", "A"), ("# f{x}", "f{x}")),
        *(('## <a name="x"></a>Usage ![logo](a.png)', "Usage"), ("# A<br>b <!-- c --><sub>2</sub>", "A b 2")),
        *(("# my_func_name, __init__ and __call__()", "my_func_name, __init__ and __call__()"), ("# 2*3*4", "2*3*4")),
        *(("# __Note__ _that_ ***all***", "Note that all"), ("# *args and **kwargs", "*args and **kwargs")),
        *(("# \\*a\\* ~~b~~ \\#", "*a* b #"), ("# `` a ` *b* ``", "a ` *b*"), ("# `a", "`a")),
        *(("# [a][the  Manual], [The manual][], [1]", "a, The manual, 1"), ("# a[i][j] [x]", "a[i][j] [x]")),
        *(("# A[^1] on <https://b.org/c>", "A on https://b.org/c"), ("# Vec<T> <div> &lt;p&gt;", "Vec<T> <div> <p>")),
        *(("# ![Pump](logo.png)", "Pump"), ("# [![build](a.svg)](b) X [![c](d)](e)", "X")),
        ("# &#8364; &no;", "€ &no;"),
        *(("Two *lines*\nof [text](u)\n---", "Two lines of text"), ("> # A *b*", "A b")),
        *(("# 这是**粗体**文字", "这是粗体文字"), ('<h2><img alt="A" src="b"></h2>', "A")),
        ('<h1 align="center">\n  <b>Wid</b>get &amp; co\n</h1>', "Widget & co"),
        *(("Cats *and* [dogs](u)", "Cats *and* [dogs](u)"), ("\ufeff# A", "A"), ("# A {/* #b */}", "A")),
    ],
)
def test_headings_are_text(line: str, text: str) -> None:
    document = line + "\n\nText." + LINKED
    assert heading_text(line, link_labels(document)) == text
    assert markdown.heading_text(line, document) == text
    heading = {"kind": "heading", "level": 1, "start": 0, "end": len(line)}
    chunks = pychunk.segment([document], "structure", columns={"blocks": [[{**heading, "markup": True}]]})
    assert chunks[0].path == [text]
    assert chunks[0].text.startswith(line)


@pytest.mark.parametrize(
    "shown",
    [
        *(
            "Use <b>x</b> tags",
            "Page &copy; more",
            "a [b](c) d",
            "Call f(`x`) now",
            "Escape \\* and C:\\_new",
            "Notes {#id}",
        ),
        *("x[^1] y", "a*b*c", "**Bold** __init__", "Vec<T> <!-- kept -->", "![x](y.png)", "# of items"),
    ],
)
def test_headings_of_pages_are_text_already(shown: str) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    page = parse_html(f"<h2>{html.escape(shown)}</h2><p>Text.")
    chunks = pychunk.segment([page.text], "structure", columns={"blocks": page.blocks})
    assert chunks[0].path == [shown]
    assert heading_text(f"## {shown}", markup=False) == shown


@pytest.mark.parametrize("quoted", ["> ## Theirs\n>\n> Text.", "- ## Item\n\n  Text.", "> Theirs\n> ------\n> Text."])
def test_a_heading_in_a_quote_or_an_item_ends_with_it(quoted: str) -> None:
    text = f"# Reply\n\n{quoted}\n\nMy own words, {'which go on, ' * 40}and end.\n\n## After\n\nMore."
    chunks = pychunk.segment([text], "structure", size=20, columns={"blocks": markdown.blocks_of([text])})
    assert {tuple(chunk.path) for chunk in chunks} == {("Reply",), ("Reply", "After")}


def test_a_quoted_heading_of_a_page_ends_with_its_quote() -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    words = "which go on " * 10
    page = parse_html(
        f"<h1>T</h1><blockquote><h1>Quoted</h1><p>Theirs.</blockquote>"
        f"<p>Own words, {words}.<ol><li><h2>Step</h2><p>{words}."
    )
    assert page.text.startswith("# T\n\n> # Quoted\n\n> Theirs.\n\nOwn words,")
    assert page.title == "T"
    chunks = pychunk.segment([page.text], "structure", size=20, columns={"blocks": page.blocks})
    assert {"T", "T/Step"} == {"/".join(chunk.path) for chunk in chunks}


MARKS = (
    "\\ ` `` < > </a> <b> </b> <br> &amp; &#65; & ! [ ] ( ) [^1] * ** _ __ ~~ ~ a b1 é 中 {#x} {/* */} <!-- --> "
    "](u) ][1] [1] <http://x> \" ' # - = x="
)
INLINE = st.lists(
    st.sampled_from([*MARKS.split(), " ", "\n", "\t", "\x1c", "\xa0", "<a href='x'>", '<img alt="q">']), max_size=16
).map("".join)


@settings(deadline=None)
@given(st.sampled_from(["", "# ", "<h1>", "> # "]), INLINE, st.sampled_from(["", " #", "\n---", "</h1>", " {#a}"]))
def test_texts_of_headings_equal_the_twin(begin: str, inside: str, end: str) -> None:
    line = begin + inside + end
    assert markdown.heading_text(line, LINKED) == heading_text(line, link_labels(LINKED))


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["`" * 3 + " ``", "<a '", "<b>", "](a(", "![", "[a][", "*a_", "<!--", "__a", "&a", "{/*", "[^", "**a "]
)
def test_headings_of_hostile_markup_take_linear_time(part: str) -> None:
    begun = time.process_time()
    markdown.heading_text("# " + part * (1_000_000 // len(part)))
    assert time.process_time() - begun < 2  # at most 0.1 s; quadratic time would take minutes
