"""The native walk over pages of HTML: it equals Python's on any page, and reads only what lexbor writes."""

import signal
import time

import numpy as np
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from html_walks import check, native
from real_pages import NO_PAGES, real_pages
from selectolax.lexbor import LexborHTMLParser
from test_html import HOSTILE

from pychunk._engine import native as _native
from pychunk.parsing.html import page as html

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_ctrl_c_ends_the_walk() -> None:
    part = '<div class="c x"><p>Some text <b>in</b> a page with <a href="#">links</a>.</p></div>\n'
    page = np.frombuffer(("<html>" + part * 1_000_000 + "</html>").encode(), np.uint8)
    began = time.thread_time()
    assert _native.walk_html(page) is not None
    whole = time.thread_time() - began
    # The signal comes after this much of the process's own time, however busy the machine is.
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
