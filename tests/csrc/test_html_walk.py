"""The native walk over pages of HTML: equal to Python's, whatever the page; nothing but what lexbor writes is read."""

import signal
import time

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from real_pages import NO_PAGES, real_pages
from selectolax.lexbor import LexborHTMLParser
from test_html import HOSTILE

from pychunk._engine import native as _native
from pychunk._engine.reference.parsing import html_walk
from pychunk.parsing.html import page as html
from pychunk.parsing.html.encodings import decode
from pychunk.parsing.html.html_guard import flattened, work_of


def native(written: str, images: bool = False, targets: bool = False) -> html_walk.Walked | None:
    found = _native.walk_html(np.frombuffer(written.encode(), np.uint8), images=images, targets=targets)
    return None if found is None else html.walked_from(found)


def check(page: str | bytes) -> bool:
    """Holds both walks over a page against each other; False where the native one leaves it to Python's."""
    text = page.replace("\0", "") if isinstance(page, str) else decode(page)[0]
    data = text.encode("utf-8", "replace")
    tree = LexborHTMLParser(flattened(data.decode()) if work_of(data).is_suspect else data)
    tree.strip_tags(["script", "style", "template"])
    rows = set()
    for images, targets in ((False, False), (True, False), (True, True)):
        found = native(tree.root.html, images, targets)
        slow = html_walk.walk(tree.root, images=images, targets=targets)
        if found is None:
            return False
        assert found.text == slow.text
        assert found.first_heading == slow.first_heading
        for one, other in zip((*found[1:5], *found.words), (*slow[1:5], *slow.words)):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            assert one.tobytes() == other.tobytes()
        rows |= {len(found.rows)} if images else set()
    assert len(rows) == 1  # targets change no block
    return True


_NAMES = st.sampled_from(
    [
        *[
            "div",
            "p",
            "a",
            "b",
            "i",
            "h1",
            "h3",
            "h6",
            "ul",
            "ol",
            "li",
            "table",
            "tr",
            "td",
            "th",
            "thead",
            "tbody",
            "caption",
            "pre",
            "br",
            "hr",
            "form",
            "button",
            "select",
            "option",
        ],
        *[
            "blockquote",
            "span",
            "noscript",
            "script",
            "style",
            "title",
            "textarea",
            "svg",
            "math",
            "template",
            "font",
            "details",
            "dl",
            "dt",
            "dd",
            "article",
        ],
        *[
            "iframe",
            "xmp",
            "listing",
            "plaintext",
            "foreignObject",
            "desc",
            "annotation-xml",
            "mi",
            "my-card",
            "object",
            "video",
            "noframes",
            "img",
        ],
        *[
            "input",
            "link",
            "figure",
            "figcaption",
            "menu",
            "dir",
            "legend",
            "main",
            "nav",
            "source",
            "wbr",
            "keygen",
            "marquee",
            "ruby",
            "rp",
            "sup",
            "sub",
            "text",
            "msup",
            "mfrac",
            "annotation",
            "mjx-container",
            "rt",
            "rp",
            "sup",
            "sub",
            "frameset",
            "body",
        ],
    ]
)
_VALUES = [
    "",
    "a bCd x-y",
    "HTMLPage fooBar",
    "3",
    " 12 ",
    "0",
    "99",
    "٣",
    "none",
    "display : none",
    "Éa b&amp;&lt;c&nbsp;d",
]
_ATTRIBUTES = st.tuples(
    st.sampled_from(
        [
            "class",
            "id",
            "role",
            "hidden",
            "style",
            "start",
            "colspan",
            "href",
            "=x",
            'a"b',
            "xlink:href",
            "aria-label",
            "data-testid",
            "aria-level",
            "alttext",
            "display",
            "alt",
        ]
    ),
    st.one_of(
        st.sampled_from(_VALUES),
        st.sampled_from(
            ["color:red; VISIBILITY:hidden", "DISPLAY:none", "font-size:.0", "opacity:0", "color:#fff;background:white"]
        ),
        st.sampled_from(
            ["display: inline", "a pump with valves", "一个水泵的图片", "b.PNG?c", "https://a.example/(x y)|z"]
        ),
        st.sampled_from(
            ["heading", "#x", "headerlink", "mw-editsection", "viewcode-link", "footnote", "katex-html", "block"]
        ),
        st.text(max_size=20),
    ),
).map(lambda both: f"{both[0]}='{both[1]}'")
_TAGS = st.tuples(_NAMES, st.lists(_ATTRIBUTES, max_size=3)).map(lambda both: f"<{' '.join([both[0], *both[1]])}>")
_TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "x",
            "one two",
            " ",
            "\n",
            "2",
            "n+1",
            ".",
            "/",
            "¶",
            "\n\n",
            "&nbsp;",
            "&amp;lt;",
            "`",
            "```",
            "|",
            "<",
            "&",
            "\u2028",
            "\x1c",
        ]
    ),
    st.sampled_from(["<!-- c -->", "<!---->", "<!x->", "</ y>", "<?p q?>", "<a<b>", "]]>", "<![CDATA[x]]>"]),
)
_PAGES = st.lists(st.one_of(_TAGS, _NAMES.map("</{}>".format), _TEXTS), max_size=60).map("".join)
_TABLES = st.lists(
    st.sampled_from(
        [
            "<tr>",
            "<td>",
            "<th>",
            "<td colspan=3>",
            "<td rowspan=2>r",
            "<td rowspan=0>z",
            "<th rowspan=3 colspan=2>w",
            "<td rowspan=x colspan='-2'>",
            "<th colspan=2>v",
            "<tbody>",
            "<tfoot>",
            "<td>q",
            "</table><table>",
            "<thead>",
            "</thead>",
            "<caption>",
            "</caption>",
            "x",
            "a|b",
            " ",
            "<a>",
            "</a>",
            "<br>",
            "<li>",
            "<td></td>",
            "<p>y</p>",
            "<table>",
            "</table>",
            "<ul>",
            "</ul>",
            "<li>a",
            "<img alt=yes>",
            "<a href=/x>",
            "<my-x>z</my-x>",
            "<td><h3>",
        ]
    ),
    max_size=30,
).map(lambda parts: "<table>" + "".join(parts))


_LISTS = st.lists(
    st.sampled_from(
        [
            *(
                "<ol>",
                "<ol reversed>",
                "<ol reversed start=9>",
                "<ol start=' -2x'>",
                "<ol type=a>",
                "<ol type=I start=3998>",
            ),
            *(
                "<ul>",
                "<ul style='LIST-STYLE : none inside'>",
                "<ol style='list-style-type:lower-roman;list-style: x'>",
            ),
            *("<ol style='list-style: square url(a) upper-latin!important'>", "<ol start=1234567890>", "<ol type=x>"),
            *(
                "<li>",
                "<li>",
                "<li>a",
                "<li value=26>b",
                "<li value=z>",
                "<li type=A value=703>",
                "<li style=list-style:disc>",
            ),
            *("</ol>", "</ul>", "</li>", "<p>c", "<blockquote>", "</blockquote>", "<h2>", "</h2>", "<div>", "</div>"),
        ]
    ),
    max_size=40,
).map("".join)


_CODE = st.lists(
    st.sampled_from(
        [
            *(
                "<table>",
                "<tr>",
                "<td class=linenos>",
                "<td class='blob-num x' data-line-number=1>",
                "<td class=code>",
                "</td>",
            ),
            *(
                "<td class='a blob-code'>",
                "<td>",
                "<th>",
                "</tr>",
                "</table>",
                "<caption>",
                "<pre>",
                "</pre>",
                "<code>",
            ),
            *(
                "<pre data-lang=c++>",
                "<div class=highlight-python3>",
                "<div class='fragment'>",
                "<div class=line>",
                "</div>",
            ),
            *(
                "<span class=lineno>  7</span>",
                "<span class=ln>",
                "</span>",
                "<button>Copy</button>",
                "<a href=#l1>",
                "</a>",
            ),
            *(
                "x = `1`",
                "    y",
                "\n",
                " ",
                "<br>",
                "<script>z</script>",
                "<code class='a language-rust'>",
                "</code>",
                "<p>",
            ),
            *(
                "<!-- c -->",
                "<embed>",
                "<a class=lineno>9</a>",
                "<a class=ln></a>",
                "<code class=line-numbers>",
                "<span class=lineno>1:",
                "<td class=gutter></td>",
                "<clipboard-copy>q</clipboard-copy>",
            ),
        ]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(_PAGES, _TABLES, _LISTS, _CODE))
@settings(max_examples=300)
def test_any_markup_is_walked_alike(page: str) -> None:
    check(page)


@pytest.mark.slow
@pytest.mark.long
@given(st.one_of(_PAGES, _TABLES))
@settings(max_examples=6_000)
def test_any_markup_is_walked_alike_often(page: str) -> None:
    check(page)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<p>a&amp;b&nbsp;&lt;&gt;\"' é<a title=\"a&amp;b&lt;&gt;&nbsp;&quot;'\n x\" class='x>y'>x",
        "<pre>\n\nabc</pre><textarea>\n\ny</textarea><xmp><b>&amp;</bx></xmp><xmp></xmp>z",
        "<iframe>&lt;p></iframe><noembed><i></noembed><noscript>&lt;<b>x</b></noscript>y",
        "<pre>a<p></p>b<p><!-- --></p>c<div><hr></div>d<a>e<object>f<a>g</a></object></a><br><a>h",
        "<template><p>x<script>'</template>'</script></template>y<svg><template><b>z</template><desc>d</desc>e</svg>",
        "<a>x <script>1</script> y<style>z</style>\n w</a>",
        "<svg viewBox=1><foreignObject class=aB><p>x</p></foreignObject><a><a>y</a></a></svg><math><mi>z",
        "<ol start=9><li><p>a<br><br>b<p>c<ul><li>d<br>e</ul><blockquote><li>f<br>g</blockquote><li><h2>h</ol><li>i",
        "<ol start='٣'><li>a</ol><table><tr><td colspan='٣'>a<td>b<tr><td>c<td>d</table>",
        "<p>a<span style='display:NONE'>b</span><b hidden>c<p>d</b>e<img hidden>f<i style='x:none;DISPLAY: none'>g",
        "<table><caption>a<b>b|</b></caption><tr><th>c<th><th colspan=60>d<tr><tr><td>e<td>" + "f" * 999 + "</table>",
        "<table><tr><td>a<td>" + "f" * 1001 + "<tr><td>c<td>d</table>x",
        "<a>" + " ".join(f"<b class='w{chr(97 + n)}x Y{chr(97 + n)}z'>{n}</b>" for n in range(26)) + "</a>",
        f"<p class='{'é' * 990} abcDefGHIjk{'é' * 50}' id=q>x<p class='{' '.join(['aa', 'bb', 'cc'] * 20)}'>y",
    ],
)  # fmt: skip
def test_odd_pages_are_walked_natively_and_alike(page: str) -> None:
    assert check(page)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("share", amounts(3, 1))
def test_hostile_pages_are_walked_natively_and_alike(name: str, share: int) -> None:
    page = HOSTILE[name][0]
    assert check(page[: len(page) // share])


@pytest.mark.parametrize("page", ["<p>a<plaintext></plaintext><b>", "<svg><xmp>&lt;b></xmp></svg>x", "<svg><link>x"])
def test_what_is_written_ambiguously_is_read_from_the_tree(page: str) -> None:
    assert not check(page)
    assert html.parse_html(page).text.strip()


@pytest.mark.parametrize(
    "written",
    [
        "", "x", "<", "<>", "</html>", "<html>", "<html></body>", "<html></html", "<html a></html>", "<html ></html>",
        "<html a=b></html>", '<html a="b></html>', '<html a="b"c></html>', "<html a=", '<html a=""', "<html/></html>",
        "<html><!-- </html>", "<html><? </html", "<html><p></html>",
        "<html><xmp></html>", "<html><style></style></html>",
    ],
)  # fmt: skip
def test_what_lexbor_would_not_write_is_not_read(written: str) -> None:
    assert native(written) is None


@given(st.text(alphabet="<>/!-?ab= \"'&;é", max_size=30), st.sampled_from(["<html>{}</html>", '<a b="">{}', "{}"]))
def test_any_text_is_read_or_not(inner: str, around: str) -> None:
    native(around.format(inner))


def test_every_prefix_of_a_page_is_read_or_not() -> None:
    tree = LexborHTMLParser("<p class=a>x<!-- c --><xmp>y</xmp><table><tr><td>é<td>&amp;<tr><td>1<td>2</table><?p q?>")
    written = tree.root.html
    assert native(written) is not None
    for size in range(len(written)):
        assert native(written[:size]) is None


@pytest.mark.slow
def test_white_space_is_pythons() -> None:
    every = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000 and chr(code) not in "<&"]
    for start in range(0, len(every), 50_000):
        texts = [f"a{each}b" for each in every[start : start + 50_000]]
        texts += [each for each in every[start : start + 50_000] if each < "\u3100"]
        walked = native("<html>" + "".join(f"<p>{text}</p>" for text in texts) + "</html>")
        assert walked is not None
        shown = [walked.text[begin:end] for _, _, begin, end in walked.rows.tolist()]
        assert shown == [" ".join(text.split()) for text in texts if text.strip()]


@pytest.mark.parametrize("page", ["text<p>a</p>", "<br><p>a</p>", "text", "<!-- c -->text<html><p>a</p></html>"])
def test_what_lies_outside_of_one_element_is_no_written_page(page: str) -> None:
    assert native(page) is None
    assert native(f"<!-- c --><html>{page}</html>") is not None


def test_the_reference_reads_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<title>T</title><ul class=nav><li><a>b</a></ul><h1>One</h1><table><tr><td>1<td>2<tr><td>3<td>4</table>"
    fast = html.parse_html(page)
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    monkeypatch.setattr(_native, "walk_html", None)
    slow = html.parse_html(page)
    assert (fast.text, fast.title) == (slow.text, slow.title)
    assert fast.facts.words.values.tolist() == slow.facts.words.values.tolist()
    assert fast.facts.depth.tolist() == slow.facts.depth.tolist()


def test_ctrl_c_ends_the_walk() -> None:
    part = '<div class="c x"><p>Some text <b>in</b> a page with <a href="#">links</a>.</p></div>\n'
    page = np.frombuffer(("<html>" + part * 1_000_000 + "</html>").encode(), np.uint8)
    began = time.thread_time()
    assert _native.walk_html(page) is not None
    whole = time.thread_time() - began
    # A signal that comes after so much of the process's own time, however busy the machine is.
    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_VIRTUAL, whole / 10)
    began = time.thread_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            _native.walk_html(page)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert time.thread_time() - began < whole / 2


@pytest.mark.slow
@pytest.mark.parametrize("step", amounts(10, 1))
def test_real_pages_are_walked_alike_and_nearly_all_natively(step: int) -> None:
    natively = [check(page) for page in real_pages(step)]
    if not natively:
        pytest.skip(NO_PAGES)
    assert sum(natively) >= 0.99 * len(natively)


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


_TEX = (
    "<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>"
    '<annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math>'
)
_KATEX = (
    f'<span class="katex"><span class="katex-mathml">{_TEX}</span>'
    '<span class="katex-html" aria-hidden="true"><span>E</span><span>=mc2</span></span></span>'
)
_WIKI = (
    '<span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\\displaystyle x^{2}}"><mi>x</mi>'
    '</math></span><img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}" src="x.svg">'
)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (f"<p>The mass {_KATEX} is known.", "The mass $E=mc^2$ is known."),
        (f"<p>So <span class=katex-display>{_KATEX}</span> holds.", "So\n\n$$E=mc^2$$\n\nholds."),
        ("<p>Of <span class=katex><span class=katex-html>x</span></span> alone", "Of x alone"),
        (f"<p>Here {_WIKI} there", "Here $x^{2}$ there"),
        ("<p>And <img class=mwe-math-fallback-image-inline alt='{\\displaystyle x^{2}}'> there", "And $x^{2}$ there"),
        ("<p>a <math><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup><mo>=</mo>"
         "<mfrac><mn>1</mn><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow></mfrac><msqrt><msub><mi>y</mi><mi>i</mi></msub>"
         "</msqrt></math> b", "a x^{n+1}=1/(a+b)sqrt(y_i) b"),
        ("<p>a <math display=block alttext='x+y'></math>", "a\n\n$$x+y$$"),
        ("<p>a <mjx-container><mjx-math>q</mjx-math><mjx-assistive-mml><math><mi>x</mi></math></mjx-assistive-mml>"
         "</mjx-container> b", "a x b"),
        (f"<table><tr><td>{_KATEX}<td>{_WIKI}<tr><td>c<td>d</table>",
         "|  |  |\n| --- | --- |\n| $E=mc^2$ | $x^{2}$ |\n| c | d |"),
        (f"<h2>Of {_KATEX}</h2>", "## Of $E=mc^2$"),
    ],
)  # fmt: skip
def test_formulas_are_read_once(page: str, text: str) -> None:
    assert html.parse_html(page).text == text + "\n"
    assert check(page)


def test_scripts_of_mathjax_are_formulas() -> None:
    page = (
        '<p>And <span class="MathJax_Preview">p</span><span class="MathJax">ab</span>'
        '<script type="math/tex">a^2<b^2</script> here<script type="math/tex; mode=display">c</script>'
    )
    assert html.parse_html(page).text == "And $a^2<b^2$ here\n\n$$c$$\n"


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


_GITHUB = (
    "<table class=highlight><tr><td class=blob-num data-line-number=1></td><td class=blob-code><span>def</span> f():"
    "</td></tr><tr><td class=blob-num data-line-number=2></td><td class=blob-code></td></tr>"
    "<tr><td class=blob-num data-line-number=3></td><td class=blob-code>    return 1</td></tr></table>"
)
_PYGMENTS = (
    "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>"
    "<td class=code><div><pre>for x in y:\n    print(x)\n</pre></div></td></tr></table>"
)
_HEXO = (
    "<figure class='highlight'><table><tr><td class=gutter><pre>1<br>2</pre></td>"
    "<td class=code><pre>a<br>  b</pre></td></tr></table></figure>"
)
_ROUGE = (
    "<div class='language-ruby highlighter-rouge'><div class=highlight><pre class=highlight><code>"
    "<table class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td>"
    "<td class=rouge-code><pre>def a\n  1\n</pre></td></tr></tbody></table></code></pre></div></div>"
)
_DOXYGEN = (
    "<div class=fragment><div class=line><a id=l1></a><span class=lineno>   1</span><a href=c.html>Pump</a> {</div>"
    "<div class=line><span class=lineno>   2</span>  int <a href=c.html>speed</a>;</div></div>"
)
_PRISM = "<pre><code class='language-php line-numbers'>echo 1;\n  echo 2;</code></pre>"
_DOXYGEN_SOURCE = (
    "<div class=fragment>\n<div class=line><span class=lineno>    1</span>int x;</div>\n"
    "<div class=line><span class=lineno>    2</span></div>\n"
    "<div class=line><span class=lineno>    3</span>  <b>y</b>;</div>\n</div>"
)
_SPHINX = (
    "<div class='highlight-python3 notranslate'><div class=highlight><pre>a<button class=copybtn>Copy</button></pre>"
)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (_GITHUB, "```\ndef f():\n\n    return 1\n```"),
        (_PYGMENTS, "```\nfor x in y:\n    print(x)\n```"),
        (_HEXO, "```\na\n  b\n```"),
        (_ROUGE, "```ruby\ndef a\n  1\n```"),
        (_DOXYGEN, "```\nPump {\n  int speed;\n```"),
        (_DOXYGEN_SOURCE, "```\nint x;\n\n  y;\n```"),
        (_PRISM, "```php\necho 1;\n  echo 2;\n```"),
        ("<pre class=line-numbers>a = 1\n<span class=ln>7</span>b</pre>", "```\na = 1\nb\n```"),
        (_SPHINX, "```python3\na\n```"),
        ("<pre><span class=linenos>1</span>a = 1\n<span class=linenos>2</span>b = 2</pre>", "```\na = 1\nb = 2\n```"),
        ("<pre><code class='hljs language-c++'>a</code></pre><pre>b</pre>", "```c++\na\n```\n\n```\nb\n```"),
        ("<div class='fragment'><p>Said.</div>", "Said."),
        # A column of codes is a column of a table.
        (
            "<table><tr><td>Ghana<td class=code>GH<tr><td>Chad<td class=code>TD</table>",
            "|  |  |\n| --- | --- |\n| Ghana | GH |\n| Chad | TD |",
        ),
    ],
)
def test_code_has_its_lines_and_no_numbers(page: str, text: str) -> None:
    assert html.parse_html(page).text == text + "\n"
    assert check(page)


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
        # To the end of its group alone; rows that nothing begins in are none.
        ("<table><tbody><tr><td rowspan=0>a<td>b<tr><td>c<tr></tbody><tbody><tr><td>d<td>e</table>",
         ["|  |  |", "| --- | --- |", "| a | b |", "| a | c |", "| d | e |"]),
        ("<table><tr><td>a<td rowspan=99>b<td>c<tr><td>d<td>e</table>",
         ["| a | b | c |", "| --- | --- | --- |", "| d | b | e |"]),
        ("<table><tr><td>a<td>b<td rowspan=2>c<tr><td>d</table>",
         ["| a | b | c |", "| --- | --- | --- |", "| d |  | c |"]),
        ("<table><tr><td rowspan=x colspan=y>a<td>b<tr><td rowspan=-1>c<td colspan=2>d</table>",
         ["| a | b |  |", "| --- | --- | --- |", "| c | d |  |"]),
        # What spans down into the columns of a wider cell stands there.
        ("<table><tr><td>a<td rowspan=2>1<tr><td colspan=2>b</table>",
         ["|  |  |", "| --- | --- |", "| a | 1 |", "| b | 1 |"]),
        ("<table><tr><th colspan=3>Sizes<tr><th>a<th>b<th>c<tr><td>1<td>2<td>3</table>",
         ["| Sizes a | b | c |", "| --- | --- | --- |", "| 1 | 2 | 3 |"]),
    ],
)  # fmt: skip
def test_cells_stand_in_a_grid(page: str, rows: list[str]) -> None:
    assert html.parse_html(page).text == "\n".join(rows) + "\n"
    assert check(page)


def test_cells_that_span_many_rows_are_repeated_within_bounds() -> None:
    page = f"<table><tr><td rowspan=0>{'x' * 900}<td>a" + "<tr><td>b" * 20_000 + "</table>"
    text = html.parse_html(page).text
    assert text.count("| b |") == 20_000
    assert len(text) < 10 * len(page)
    assert check(page)
    assert check("<table>" + "<tr>" + "<td rowspan=0>x" * 3000 + "<tr><td>y" * 3000 + "</table>")
