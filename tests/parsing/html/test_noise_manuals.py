"""Pages of manuals keep their names, terms, captions and headings, and lose their menus."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk._engine.data.blocks import TABLE
from pychunk.parsing.html.manuals import MainElement, turns, within_main
from pychunk.parsing.html.noise import find_noise
from pychunk.parsing.html.noise_features import noise_features
from pychunk.parsing.html.page import parse_html


def parted(markup: str) -> tuple[list[str], dict[str, str]]:
    """Return the texts of the kept blocks, and those of the others with their reasons."""
    page = parse_html(markup)
    removed, _, reasons = find_noise(page.blocks, page.facts, page.text, title=page.title)
    spans = zip(page.blocks.start.tolist(), page.blocks.end.tolist(), removed.tolist(), reasons, strict=True)
    texts = [(page.text[start:end], gone, why) for start, end, gone, why in spans]
    return [text for text, gone, _ in texts if not gone], {text: why for text, gone, why in texts if gone}


def section(name: str, body: str) -> str:
    return f'<div class="sect1"><h2 id="_{name.lower()}">{name}</h2><div class="sectionbody">{body}</div></div>'


TERMS = "".join(
    f'<dt class="hdlist1"><em>%{mark}</em></dt><dd><p>{meaning}</p></dd>'
    for mark, meaning in (("H", "tank name"), ("h", "short tank name"), ("an", "owner name"), ("ae", "owner address"))
)
MAN = (
    '<html><head><title>pump-drain(1)</title></head><body class="manpage"><div id="header"><h1>pump-drain(1) Manual '
    "Page</h1><h2>NAME</h2><div class=sectionbody><p>pump-drain - Empty the tank through the lower valve</p></div>"
    "</div><div id=content>"
    + section("SYNOPSIS", "<pre class=content><em>pump drain</em> [-n] [-v] &lt;tank&gt;...</pre>")
    + section(
        "DESCRIPTION",
        "<p>This opens the lower valve of each tank that is named and closes it again when the tank is empty. It is "
        "run by the timer each spring, and you need it by hand only when the sieve is blocked.</p>",
    )
    + section("PLACEHOLDERS", f"<dl>{TERMS}</dl>")
    + section("SEE ALSO", "<p><a href=pump-fill.html>pump-fill</a>(1), <a href=pump.html>pump</a>(1)</p>")
    + "</div><div id=footer><div id=footer-text>Last updated 2024-05-31 00:35:55 UTC</div></div></body></html>"
)
SETTINGS = (
    '<html><head><title>20.5. Timer</title></head><body id="docContent"><div class="navheader"><a accesskey="p" '
    'href="a.html">Prev</a> <a accesskey="u" href="b.html">Up</a> <a href="c.html">Next</a></div><div class="sect1">'
    '<div class="titlepage"><h2 class="title">20.5. Timer</h2></div><dl class="variablelist">'
    + "".join(
        f'<dt><span class="term"><code>timer_{name}</code> (<code>{kind}</code>)</span></dt><dd><p>{text}</p></dd>'
        for name, kind, text in (
            ("start", "boolean", "Whether the pump starts by the timer. The default is on."),
            ("factor", "floating point", "How much longer the second wait is than the first."),
            ("parallel", "integer", "How many pumps may run at the same time. The default is 2."),
        )
    )
    + '</dl><div class="table"><p class="title"><strong>Table 20.2. Times of the timer</strong></p><div class='
    "table-contents><table><tr><th>Season</th><th>Start</th></tr><tr><td>summer</td><td>5:00</td></tr></table></div>"
    "</div></div></body></html>"
)


def test_a_manual_page_keeps_its_name_and_its_terms() -> None:
    kept, gone = parted(MAN)
    for text in ("## NAME", "pump-drain - Empty the tank through the lower valve", "%ae", "owner address", "%an"):
        assert text in kept
    assert {text: why for text, why in gone.items() if "Last updated" in text} == {
        "Last updated 2024-05-31 00:35:55 UTC": "footer"
    }


def test_a_page_of_settings_keeps_its_terms_and_the_caption_of_its_table() -> None:
    kept, gone = parted(SETTINGS)
    assert {"timer_start (boolean)", "timer_factor (floating point)", "Table 20.2. Times of the timer"} <= set(kept)
    assert any("Prev" in text for text in gone)


def test_only_pages_of_manuals_have_a_main_element() -> None:
    def spans(markup: str) -> list[list[int]]:
        page = parse_html(markup)
        return noise_features(page.blocks, page.facts, page.text).main.spans.tolist()

    assert spans("<div><p>One river<p>Two</div><p>Three") == []
    built = "<meta name=generator content='DocBook XSL Stylesheets V1.79.1'>"
    assert spans(f"<head>{built}</head><div><p>One river<p>Two</div><p>Three") == [[0, 3], [0, 2]]
    assert spans("<p>x<pre>a</pre><pre>b</pre>") == [[0, 3]]
    assert spans("<h2>NAME</h2><p>ls - list files") == [[0, 2]]
    assert spans("<h2>2.1. Pumps</h2><p>One<h2>2.2. Wells</h2><p>Two") == [[0, 4]]
    assert spans("<h2>1. Eat well</h2><p>One<h2>2. Sleep 2.5 hours</h2><p>Two") == []  # a listicle
    defined = "<dt>word<dd>What it means in this text of ours"
    assert spans(f"<dl>{defined * 3}</dl>") == [[0, 6]]
    assert spans(f"<dl>{'<dt>Posts<dd>17' * 9}</dl>") == []  # facts about a forum's authors


def test_the_main_element_is_the_largest_that_is_content_by_most_of_its_words() -> None:
    content = np.array([0.25, 0.25, 0.875, 0.125])
    every = np.ones(4, bool)
    spans = np.array([[0, 4], [1, 3], [2, 3]])
    weight = np.array([99.0, 10, 99, 20])
    assert within_main(content, MainElement(spans, every), weight).tolist() == [0.25, 0.625, 0.97265625, 0.125]
    assert within_main(content, MainElement(spans, every & False), weight).tolist() == content.tolist()
    assert within_main(content, MainElement(spans[:0], every), weight).tolist() == content.tolist()
    assert within_main(content, MainElement(spans, every), weight / 9).tolist() == content.tolist()  # too few words


def turned(markup: str) -> list[bool]:
    page = parse_html(markup)
    return turns(page.blocks, page.facts, page.text, np.full(len(page.blocks.kind), 9.0)).tolist()


def test_links_to_the_pages_before_and_after_are_told_by_their_cells_and_colons() -> None:
    row = "<table><tr><th colspan=4>5. Timer<tr><td><a>{}</a><td><a>{}</a><td>5. Pump<td><a>{}</a></table>"
    assert turned(row.format("Prev", "Up", "Next")) == [True]
    assert turned(row.format("Zurück", "Nach oben", "Weiter")) == [True]
    assert turned(row.format("summer", "Next", "winter")) == [False]
    assert turned("<p>Next: <a>Arrays</a>, Previous: <a>Shells</a>, Up: <a>Features</a> [<a>Contents</a>]") == [True]
    assert turned("<p>Next: <a>the wheel</a> is taken out of its holder.") == [False]
    assert turned("<table><tr><td>Prev<td>Next<tr><td>1<td>2</table>") == [False]  # data: no links


def test_tables_that_turn_pages_are_navigation() -> None:
    foot = (
        "<table width=100%><tr><td><a href=a.html>Prev</a><td><a href=b.html>Up</a><td><a href=c.html>Next</a>"
        "<tr><td>20.4. Wells<td><a href=index.html>Home</a><td>20.6. Lamps</table>"
    )
    _, gone = parted(SETTINGS.replace("</body>", f"<div class=navfooter><hr>{foot}</div></body>"))
    assert [why for text, why in gone.items() if "20.6. Lamps" in text] == ["navigation"]


def test_a_reference_by_itself_is_kept_and_a_table_of_contents_is_not() -> None:
    contents = "".join(f"<li><a href=#{name}>About the {name}</a>" for name in ("wheel", "dial", "hose", "lamp"))
    page = parse_html(f"<h2>NAME</h2><ul>{contents}</ul><p>Text.<p><a href=x>See the other pump</a><p>More of it.")
    features = noise_features(page.blocks, page.facts, page.text)
    assert features.main.free.tolist() == [True] + [False] * 4 + [True] * 3


def test_a_table_that_leads_to_other_pages_is_no_content_of_any_page() -> None:
    text = (
        "<p>Indexes are a common way to enhance the performance of a database, but they add to what it has to do.</p>"
    )
    pager = (
        "<table><tr><td><a href=a>Prev</a><td><a href=u>Up</a><td><a href=b>Next</a><tr><td>10<td>Home<td>11</table>"
    )
    for page in (text + pager, f"<p>First.</p>{text}{pager}{text.replace('common', 'good')}"):
        made = parse_html(page)
        removed, _, reasons = find_noise(made.blocks, made.facts, made.text)
        rows = [row for row in range(len(reasons)) if made.blocks.kind[row] == TABLE]
        assert [(bool(removed[row]), reasons[row]) for row in rows] == [(True, "navigation")]
