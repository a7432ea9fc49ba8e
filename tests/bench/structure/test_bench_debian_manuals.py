"""bench/structure/debian_manuals.py finds the blocks of a page's main element that chunks lack."""

from pathlib import Path

import pytest

lexbor = pytest.importorskip("selectolax.lexbor", reason="needs selectolax: the extra docs")

BENCH = Path(__file__).resolve().parents[3] / "bench"

if not BENCH.is_dir():
    pytest.skip("the benchmarks are in the repository alone", allow_module_level=True)

PAGE = """<body><nav><p>Elsewhere</nav><main><h2>NAME</h2><p>pump - moves water<ul><li><a href=a>One</a>
<li><a href=b>Two</a></ul><dl><dt>-v<dd>Says more.<ul><li>Twice</ul></dl><table><caption>Costs</caption>
<tr><td>a<td>b<tr><td>c<td>d</table>
<p>Turn it off.<p>Turn it off.<pre>run <b>f</b>ast</pre></main>"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch):
    from bench.structure import debian_manuals

    return debian_manuals


def test_blocks_are_those_that_the_author_wrote(bench) -> None:
    main = lexbor.LexborHTMLParser(PAGE).css_first("main")
    found = list(bench.blocks_of(main, bench._lists_of_links(main)))
    assert [tuple(block) for block in found] == [
        ("heading", "NAME"),
        ("NAME line", "pump - moves water"),
        ("paragraph", "pump - moves water"),
        ("dt", "-v"),
        ("dd", "Says more."),
        ("list item", "Twice"),
        ("table", "Costs a b c d"),
        ("caption", "Costs"),
        ("paragraph", "Turn it off."),
        ("paragraph", "Turn it off."),
        ("code", "run fast"),
    ]
    whole = "NAME pump - moves water -v Says more. - Twice Costs | a | b | | c | d | Turn it off. Turn it off. run fast"
    assert list(bench.lost(found, whole)) == []
    assert [block.kind for block in bench.lost(found, whole.replace("Turn it off. ", "", 1))] == ["paragraph"]
    assert [block.kind for block in bench.lost(found, whole.replace("-v Says", "Says").replace("run", ""))] == [
        "dt",
        "code",
    ]
    missing, words = bench.words_lost(main, bench._lists_of_links(main), whole.replace("moves water", ""))
    assert (missing, words) == (2, 23)
