"""The page that shows chunks, in a browser: only text, no request, no error, and fast."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest

import pychunk

pytestmark = pytest.mark.slow

MARKS = "".join(map(chr, range(0x300, 0x36F)))
HOSTILE = {
    "closing script": "One </script> two. <script>alert(1)</script> Three </ScRiPt >.",
    "markup": "<img src=x onerror=alert(1)>. <b>Bold</b> &amp; &lt;. <!-- open. <![CDATA[ x. ]]>",
    "links": "[a](javascript:alert(1)). http://example.com/a.png. <a href='https://example.com'>x</a>.",
    "style": "</style><style>*{display:none}</style>. @import url(http://example.com).",
    "json": '"}],"x":[{"\\u003c\\". \\\\\\n. {"a": 1}.',
    "nul": "One\0two. \0\0. Three \0.",
    "controls": "".join(map(chr, range(0x20))) + ". Two\x7f\x80\x9f. Three.",
    "bidi": "One \u202e two. Three \u202d four \u2066 five. Six \u2069\u202c seven. \u061c\u200f eight.",
    "right to left": "שלום עולם. זה מבחן. מה שלומך? English אחרי עברית.",
    "separators": "One.\u2028Two.\u2029Three.\x85Four.\x0bFive.\fSix.",
    "returns": "One.\r\nTwo.\rThree.\r\n\r\nFour.\n\r Five.",
    "byte order": "\ufeffOne. \ufffe\uffff Two. \ufdd0 Three. \U0001fffe.",
    "astral": "👍👩‍👩‍👧‍👦. 𝒳 𝒴. 🇺🇦 flags. 𠜎𠜱.",
    "white": " \n\n\t  One.  \u00a0 \u3000 Two. \n\n\n\n Three.   \n ",
    "blank": " \n \t \u2003",
    "empty": "",
    "long line": "word " * 40_000,
    "one word": "x" * 200_000,
    "combining": "Z" + MARKS * (500_000 // len(MARKS)) + " end. Next one.",
    "zalgo": ". ".join("H" + MARKS[:60] + "e" + MARKS[:60] for _ in range(50)),
    "many lines": "\n".join(f"line {i}" for i in range(3000)),
}
METHODS = [
    "pic",
    "fixed",
    "structure",
    *(pytest.param(each, marks=pytest.mark.long) for each in ("semantic", "cluster", "recursive", "sentence")),
    *(pytest.param(each, marks=pytest.mark.long) for each in ("paragraph", "page", "nsp", "topic")),
]
#: The displayed text of the first column, and the marks in it.
TEXT = "[...document.querySelectorAll('.m%d .t')].map(each => each.textContent).join('')"

#: Every cut of the method, and no other.
OWN_CUTS: dict[str, Any] = {"keep_together": False, "min_tokens": 0}


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Browser]:
    if chromium.found() is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with chromium.Browser() as made:
        made.size(1400, 900)
        yield made


@pytest.mark.parametrize("method", METHODS)
def test_every_document_is_shown_as_text(method: str, browser: chromium.Browser, tmp_path: Path) -> None:
    options = {"encoder": "static"} if method == "nsp" else {}
    overlap = 20 if method in ("fixed", "recursive", "sentence", "structure") else 0
    documents = list(HOSTILE.values())
    chunks = pychunk.segment(documents, method, ids=list(HOSTILE), overlap=overlap, **options)
    counts = [len(each) for each in chunks.by_document()]
    chunks.view(tmp_path / "page.html", title=HOSTILE["closing script"])
    browser.open(tmp_path / "page.html")
    for row, (name, document) in enumerate(HOSTILE.items()):
        if row:
            browser.key("]")
        browser.wait(f"document.getElementById('documents').value === '{row}'")
        assert browser.run("document.querySelectorAll('mark').length") == counts[row], name
        assert browser.run(TEXT % 0).encode("utf-16-le", "surrogatepass") == document.encode("utf-16-le"), name
    assert browser.errors == []
    assert browser.requests == []
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.title") == HOSTILE["closing script"]


def test_the_tree_is_indented_and_what_was_left_out_is_struck_out(browser: chromium.Browser, tmp_path: Path) -> None:
    text = "Menu </script>.\n\n# Cats\n\nCats purr.\n\n## Food\n\nFish.\n\nFooter."
    blocks = [("heading", 1, 17, 23), ("paragraph", 0, 25, 35), ("heading", 2, 37, 44), ("paragraph", 0, 46, 51)]
    removed = [(0, 15, "<b>menu", 0.5), (53, 60, "footer", None)]
    chunks = pychunk.segment(text, "structure", size=5, unit="words", columns={"blocks": blocks, "removed": removed})
    chunks.view(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    gone = "[...document.querySelectorAll('.gone')].map(each => each.title + '|' + each.textContent.trim())"
    assert browser.run(gone) == ["left out: <b>menu|Menu </script>.", "left out: footer|Footer."]
    assert browser.run("getComputedStyle(document.querySelector('.gone')).textDecorationLine") == "line-through"
    left = "[...document.querySelectorAll('.chunk')].map(each => each.getBoundingClientRect().left)"
    first, second = browser.run(left)
    assert second > first
    paths = "[...document.querySelectorAll('.path')].map(each => each.textContent)"
    assert browser.run(paths) == ["Cats", "Cats › Food"]
    assert browser.run(TEXT % 0) == text
    assert browser.errors == []


def test_hostile_documents_side_by_side(browser: chromium.Browser, tmp_path: Path) -> None:
    documents = list(HOSTILE.values())
    every = [
        pychunk.segment(documents, "pic"),
        pychunk.segment(documents, "recursive", size=20, overlap=8, unit="words"),
        pychunk.segment(documents, "fixed", size=30, overlap=10, max_tokens=60),
    ]
    every[0].view(tmp_path / "page.html", against=every[1:], queries=["one", "</script>"])
    browser.open(tmp_path / "page.html")
    browser.run("document.querySelectorAll('[data-query]')[1].click()")
    for row, (name, document) in enumerate(HOSTILE.items()):
        if row:
            browser.key("]")
        browser.wait(f"document.getElementById('documents').value === '{row}'")
        for m, chunks in enumerate(every):
            assert browser.run(f"document.querySelectorAll('.m{m} mark').length") == len(chunks.by_document()[row]), (
                name
            )
            assert browser.run(TEXT % m) == document, name
    assert browser.errors == []
    assert browser.requests == []


def test_keys_clicks_and_links(browser: chromium.Browser, tmp_path: Path) -> None:
    chunks = pychunk.segment("\n\n".join(f"Paragraph {i}. Another sentence." for i in range(60)), "paragraph")
    chunks.view(tmp_path / "page.html")
    chosen = "document.querySelector('.chosen')?.dataset.k"
    browser.open(tmp_path / "page.html", "#c42")
    assert browser.run(chosen) == "42"
    assert 0 < browser.run("document.querySelector('.chosen').getBoundingClientRect().top") < 900
    for key, wanted in (("j", "43"), ("k", "42"), ("k", "41")):
        browser.key(key)
        assert browser.run(chosen) == wanted
    assert browser.run("location.hash") == "#c41"
    browser.run("document.querySelector('.chunk[data-k=\"40\"] mark').click()")
    assert browser.run("location.hash") == "#c40"
    assert browser.errors == []


def test_nothing_and_some_of_the_chunks(browser: chromium.Browser, tmp_path: Path) -> None:
    for documents in ([], [""], ["", "One."]):
        pychunk.segment(documents, "sentence").view(tmp_path / "page.html")
        browser.open(tmp_path / "page.html")
        browser.key("j")
        assert browser.errors == []
    text = "One. Two. Three. Four. Five."
    pychunk.segment(text, "sentence")[1:4].view(tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#c2")
    assert browser.run("document.querySelector('.chosen mark').textContent") == "Three."
    assert browser.run("document.querySelector('.chosen a').textContent") == "c2"
    assert browser.run(TEXT % 0) == text
    assert browser.run("document.querySelectorAll('.rest').length") == 2
    assert browser.errors == []


def test_methods_side_by_side_hold_the_same_text(browser: chromium.Browser, tmp_path: Path) -> None:
    text = "\n\n".join(f"Cats purr {i} times. Dogs bark at night. Stars burn hydrogen. 👍" for i in range(80))
    chunks = [pychunk.segment(text, method) for method in ("pic", "semantic", "fixed")]
    chunks[0].view(tmp_path / "page.html", against=chunks[1:], queries=["What burns?"])
    browser.open(tmp_path / "page.html")
    browser.run("document.querySelector('[data-query]').click()")
    starts = [set(each.table["start"].to_pylist()) for each in chunks]
    for m, own in enumerate(chunks):
        assert browser.run(TEXT % m) == text
        assert browser.run(f"document.querySelectorAll('.m{m} mark').length") == len(own)
        differing = {at for at in starts[m] if not all(at in other for other in starts)}
        assert browser.run(f"document.querySelectorAll('.m{m} .differs').length") == len(differing)
        assert browser.run(f"document.querySelectorAll('.m{m} .rank').length") == min(5, len(own))
        ticks = set().union(*starts) - starts[m]
        assert browser.run(f"document.querySelectorAll('.m{m} .tick').length") == len(ticks)
    assert browser.errors == []


def test_borders_are_shared_whatever_is_repeated(browser: chromium.Browser, tmp_path: Path) -> None:
    text = "\n\n".join(f"Cats purr {i} times. Dogs bark at night." for i in range(30))
    chunks = [pychunk.segment(text, "semantic", threshold=1.0, overlap=overlap, **OWN_CUTS) for overlap in (0, 3, 40)]
    assert chunks[2].table["overlap"].to_pylist()[5] > chunks[1].table["overlap"].to_pylist()[5] > 0
    chunks[0].view(tmp_path / "page.html", against=chunks[1:])
    browser.open(tmp_path / "page.html")
    for m in range(3):
        assert browser.run(TEXT % m) == text
        assert browser.run(f"document.querySelectorAll('.m{m} mark').length") == len(chunks[0])
    assert browser.run("document.querySelectorAll('.differs, .tick').length") == 0
    assert browser.run("document.querySelectorAll('.over').length") > 0
    reasons = "[...document.querySelectorAll('.m%d .why')].map(each => each.textContent)"
    assert browser.run(reasons % 2) == browser.run(reasons % 0)
    assert browser.run(reasons % 2)[0].startswith("cut: score ")
    repeated = (
        "[...document.querySelectorAll('.m2 .head')].map(each => parseInt([...each.children].map(e => e.textContent)"
        ".find(said => said.includes('character')) || '0'))"
    )
    assert browser.run(repeated) == chunks[2].table["overlap"].to_pylist()


def test_the_curve_crosses_its_threshold_at_each_cut(browser: chromium.Browser, tmp_path: Path) -> None:
    text = "\n\n".join("Cats purr. Dogs bark at night. The sun is a star. Stars burn hydrogen." for _ in range(9))
    seg = pychunk.Segmenter("semantic", threshold=0.2, max_tokens=None, **OWN_CUTS)
    chunks = seg(text)
    assert len(chunks) == sum(seg.scores(text)["cut"].to_pylist()) + 1 > 9
    chunks.view(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.wait("document.querySelectorAll('.curve svg').length === document.querySelectorAll('mark').length")
    # The last point of each chunk is below the threshold, except at the end of the document; all others are not.
    low = (
        "[...document.querySelectorAll('.chunk')].map(each => [...each.querySelectorAll('circle')]"
        ".map(dot => +(dot.getAttribute('class') === 'low')).join(''))"
    )
    points = browser.run(low)
    assert sum(map(len, points)) == seg.scores(text).num_rows - 1
    for own in points[:-1]:
        assert own == "0" * (len(own) - 1) + "1"
    assert "1" not in points[-1]


def test_the_curve_stands_beside_its_sentences(browser: chromium.Browser, tmp_path: Path) -> None:
    text = "\n".join(f"Cats purr {i} times. " + "Dogs bark at night. " * (i % 4) for i in range(30))
    chunks = pychunk.segment(text, "pic", max_tokens=None)
    chunks.view(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.wait("document.querySelectorAll('.curve svg').length === document.querySelectorAll('mark').length")
    height = "[...document.querySelectorAll('.chunk')].map(each => [each.querySelector('mark').clientHeight, Math.max("
    height += "...[...each.querySelectorAll('circle')].map(dot => +dot.getAttribute('cy')))])"
    for tall, last in browser.run(height):
        assert 0 < last <= tall
    count = pychunk.Segmenter("pic", max_tokens=None).scores(text).num_rows
    assert browser.run("document.querySelectorAll('circle').length") == count


def test_the_curves_of_a_row_of_many_chunks(browser: chromium.Browser, tmp_path: Path) -> None:
    text = " ".join(f"Cats purr {i} times{' and then some more words follow' * (6 * (i % 3))}." for i in range(400))
    chunks = pychunk.segment(text, "semantic", threshold=1.0, **OWN_CUTS)
    chunks.view(tmp_path / "page.html", against=pychunk.segment(text, "fixed", size=10**6))
    browser.open(tmp_path / "page.html")
    for at in (3000, 9000):
        browser.run(f"scrollTo(0, {at})")
        browser.wait("document.elementFromPoint(500, 450)?.closest('.chunk')?.querySelector('circle') != null")
        seen = browser.run(
            "[...document.querySelectorAll('.m0 .chunk')].filter(each => { const box = each.getBoundingClientRect();"
            "return box.top > 0 && box.bottom < innerHeight; }).map(each => [each.querySelector('mark').clientHeight,"
            "+(each.querySelector('circle')?.getAttribute('cy') ?? 0)])"
        )
        assert len(seen) > 3
        assert all(tall - 4 <= y <= tall for tall, y in seen if y)
        assert sum(y > 0 for _, y in seen) > 2


def test_the_curve_of_a_line_from_right_to_left(browser: chromium.Browser, tmp_path: Path) -> None:
    chunks = pychunk.segment("חתולים ישנים כל היום. השמש היא כוכב. כוכבים שורפים מימן. לחם. קמח ומים.", "pic", k=-9.0)
    chunks.view(tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.wait("document.querySelector('circle') !== null")
    heights = browser.run("[...document.querySelectorAll('circle')].map(dot => +dot.getAttribute('cy'))")
    assert len(heights) == 5
    assert heights == sorted(set(heights))


def test_a_megabyte_opens_in_a_second(browser: chromium.Browser, tmp_path: Path) -> None:
    """On a busy machine the same text alone takes longer, too, and the page may take twice as long as that."""
    words = random.Random(1)

    def sentence() -> str:
        return " ".join("word" + str(words.randrange(900)) for _ in range(14)).capitalize() + ". "

    text = "".join(sentence() + ("\n\n" if words.random() < 0.2 else "") for _ in range(9_500))
    assert 0.98e6 < len(text) < 1.2e6
    for length, virtual in ((1_000_000, False), (len(text), True)):
        chunks = pychunk.segment(text[:length], "semantic")
        chunks.view(tmp_path / "page.html")
        (tmp_path / "bare.html").write_text(f"<meta charset=utf-8><pre>{text[:length]}</pre>")
        times = [[browser.open(tmp_path / name) for name in ("page.html", "bare.html")] for _ in range(3)]
        taken, bare = map(min, zip(*times, strict=True))
        browser.open(tmp_path / "page.html")
        assert taken < max(1, 2 * bare), f"{taken:.2f} s; the text alone {bare:.2f} s"
        shown = browser.run("document.querySelectorAll('mark').length")
        assert (shown < len(chunks)) == virtual
        if not virtual:
            assert browser.run(TEXT % 0) == text[:length]
        else:  # on paper everything is there
            browser.run("dispatchEvent(new Event('beforeprint'))")
            assert browser.run("document.querySelectorAll('mark').length") == len(chunks)
            assert browser.run(TEXT % 0) == text
        browser.open(tmp_path / "page.html", f"#c{len(chunks) - 1}")
        browser.wait("document.querySelector('.chosen') !== null")
        assert browser.run("document.querySelector('.chosen mark').textContent") == chunks[-1].text
        assert 0 < browser.run("document.querySelector('.chosen').getBoundingClientRect().top") < 900
    assert browser.errors == []
