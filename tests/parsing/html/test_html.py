"""Pages of HTML to Markdown and blocks: by hand, on hostile pages, and with no visible word lost."""

import gzip
import pickle
import random
import re
import subprocess
import sys
import time
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from real_pages import ARTICLES

from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk.parsing.html import html_guard
from pychunk.parsing.html import page as html
from pychunk.parsing.html.encodings import decode
from pychunk.parsing.html.html_guard import MAX_DEPTH, flattened, work_of
from pychunk.parsing.html.page import HtmlPage, parse_html


def shown(page: HtmlPage) -> list[tuple[str, int, str]]:
    blocks = page.blocks
    return [
        (BLOCK_KINDS[kind], int(level), page.text[start:end])
        for kind, level, start, end in zip(blocks.kind, blocks.level, blocks.start, blocks.end)
    ]


def check(page: HtmlPage) -> None:
    """Check properties of every page: blocks rise, do not overlap, and hold all text but white space."""
    blocks, facts = page.blocks, page.facts
    assert blocks.documents == 1
    assert len(facts.element) == len(blocks.kind)
    assert np.all(blocks.start < blocks.end)
    assert np.all(blocks.end[:-1] <= blocks.start[1:])
    left = page.text
    for start, end in zip(blocks.start[::-1], blocks.end[::-1]):
        left = left[:start] + left[end:] if len(blocks.kind) < 200 else left
    assert len(blocks.kind) >= 200 or not left.strip()
    assert np.all(facts.link_chars <= facts.text_chars)
    assert np.all(facts.text_chars > 0)
    assert np.all(np.diff(facts.element) > 0)
    assert np.all(facts.parent < np.arange(len(facts.parent)))
    assert np.all(facts.last <= len(facts.parent))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<h2>A <b>b</b></h2><p>c<p>d", [("heading", 2, "## A b"), ("paragraph", 0, "c"), ("paragraph", 0, "d")]),
        ("a<br>b<br><br>c", [("paragraph", 0, "a\nb"), ("paragraph", 0, "c")]),
        ("<ul><li>a<li>b<ol start=3><li>c<p>d</ol></ul>",
         [("item", 1, "- a"), ("item", 1, "- b"), ("item", 2, "  3. c"), ("item", 2, "    d")]),
        ("<li>alone", [("item", 1, "- alone")]),
        ("<blockquote>a<br>b<blockquote>c</blockquote></blockquote>",
         [("quote", 1, "> a\n> b"), ("quote", 2, "> > c")]),
        ("<pre>a\n  b</pre>", [("code", 0, "```\na\n  b\n```")]),
        ("<pre>``` in it</pre>", [("code", 0, "````\n``` in it\n````")]),
        ("<table><caption>C</caption><tr><th>A<th>B<tr><td>1<td>2|3</table>",
         [("caption", 0, "C"), ("table", 0, "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |")]),
        ("<table><tr><th>k<td>v<tr><th>l<td>w</table>",
         [("table", 0, "|  |  |\n| --- | --- |\n| k | v |\n| l | w |")]),
        ("<table><tr><td><p>layout</table>", [("paragraph", 0, "layout")]),
        ("<table><tr><td rowspan=2><img><th>Note<tr><td>Save it first.<td></table>",
         [("paragraph", 0, "Note"), ("paragraph", 0, "Save it first.")]),
        ("<form><label>Name</label><button>Go</button><select><option>x<option>y</select></form>",
         [("paragraph", 0, "Name"), ("form", 0, "Go"), ("form", 0, "x"), ("form", 0, "y")]),
        ("<dl><dt>A<dd>B<dt>C</dl>", [("term", 0, "A"), ("paragraph", 0, "B"), ("term", 0, "C")]),
        ("<figure><img><figcaption>Of it</figcaption></figure>", [("caption", 0, "Of it")]),
        ("&amp;lt; caf&eacute;&nbsp;&#x2764; &bogus;", [("paragraph", 0, "&lt; café ❤ &bogus;")]),
        ("<b>H</b>ello w<i>or</i>ld", [("paragraph", 0, "Hello world")]),
        ("<a href=1>Home</a><a href=2>About</a>", [("paragraph", 0, "Home About")]),
        ("<p>a<script>b</script><style>c</style><template>d</template><!-- e --><svg><title>f</title></svg>g",
         [("paragraph", 0, "ag")]),
        ("<p>a<?php echo 1 ?>b<pre>c<?x?>d</pre><table><tr><td>e<?x?>f<td>g<tr><td>h<td>i</table>",
         [("paragraph", 0, "ab"), ("code", 0, "```\ncd\n```"),
          ("table", 0, "|  |  |\n| --- | --- |\n| ef | g |\n| h | i |")]),
        ("<noscript>n</noscript><my-card>x</my-card>y", [("paragraph", 0, t) for t in "nxy"]),
        ("", []),
        ("<p> \n&nbsp; <div></div>", []),
    ],
)  # fmt: skip
def test_pages_by_hand(page: str, expected: list[tuple[str, int, str]]) -> None:
    parsed = parse_html(page)
    check(parsed)
    assert shown(parsed) == expected


def test_facts_say_what_is_linked_hidden_and_where() -> None:
    page = parse_html(
        '<nav class="siteNav" id=top-menu><a>Home</a> <a>Blog</a></nav><p>Read <a>this</a> now'
        '<div style="color:red; display : none">secret</div><p>seen <span hidden>not</span> seen'
    )
    check(page)
    facts = page.facts
    assert [text for *_, text in shown(page)] == ["Home Blog", "Read this now", "secret", "seen", "not", "seen"]
    assert facts.text_chars.tolist() == [9, 13, 6, 4, 3, 4]
    assert facts.link_chars.tolist() == [8, 4, 0, 0, 0, 0]
    assert facts.links.tolist() == [2, 1, 0, 0, 0, 0]
    assert facts.hidden.tolist() == [False, False, True, False, True, False]
    from pychunk._engine.data.html_tags import word_hash

    nav = facts.parent[facts.element[0]]
    offsets = facts.words.offsets
    assert facts.words.values[offsets[nav] : offsets[nav + 1]].tolist() == [
        word_hash(word) for word in ("<nav", "site", "nav", "top", "menu")
    ]


def test_titles() -> None:
    assert parse_html("<title> A\n b </title><h1>c").title == "A b"
    assert parse_html("<h2>a</h2><h1>c").title == "c"
    assert parse_html("<p>x").title == ""


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("naïve – ok".encode(), "naïve – ok", "utf-8"),
        (b"\xef\xbb\xbfna\xc3\xafve", "naïve", "utf-8"),
        ("мир".encode("utf-16"), "мир", "utf-16-le"),
        ("<p>plain".encode("utf-16-be"), "<p>plain", "utf-16-be"),
        ('<meta charset="iso-8859-1">“é”'.encode("cp1252"), '<meta charset="iso-8859-1">“é”', "cp1252"),
        # the declaration is wrong
        ('<meta charset="iso-8859-1">“é”'.encode(), '<meta charset="iso-8859-1">“é”', "utf-8"),
        ('<meta charset="utf-8">“é”'.encode("cp1252"), '<meta charset="utf-8">“é”', "cp1252"),
        ('<meta http-equiv=Content-Type content="text/html; charset=Shift_JIS">日本'.encode("cp932"),
         '<meta http-equiv=Content-Type content="text/html; charset=Shift_JIS">日本', "cp932"),
        ('<?xml version="1.0" encoding="koi8-r"?>мир'.encode("koi8-r"),
         '<?xml version="1.0" encoding="koi8-r"?>мир', "koi8-r"),
        (b'<meta charset="unicode_escape">\\x41\xe9', '<meta charset="unicode_escape">\\x41é', "cp1252"),
        ("é ".encode() * 20 + b"\xff", "é " * 20 + "\ufffd", "utf-8"),
        (b"a\0b\x81\x93", "ab\x81“", "cp1252"),
        (b"", "", "utf-8"),
    ],
)  # fmt: skip
def test_encodings(data: bytes, text: str, encoding: str) -> None:
    assert decode(data) == (text, encoding)


TOLD = {
    "cp1251 koi8_u cp866 iso8859_5": "Він приїхав до Києва, щоб побачити свою сім'ю, і залишився там надовго.",
    "cp1255": "ירושלים היא בירת ישראל והעיר הגדולה ביותר בה, והיא נמצאת בהרי יהודה",
    "cp1256": "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها سكانا",
    "cp932 euc_jp": "東京は日本の首都であり、多くの人が住んでいます。これは試験のための文章です。",
    "gb18030": "北京是中国的首都，有很多人住在那里。这是一个测试，看看能不能猜出来。",
    "big5hkscs": "台北是台灣的首都，有很多人住在那裡。這是一個測試，看看能不能猜出來。",
    "cp949": "서울은 대한민국의 수도이고 많은 사람이 살고 있다. 이것은 시험입니다.",
    "cp1252": "Où êtes-vous allés cet été, Hélène ? À la plage, près de l’île où naît l’œuvre.",
    "cp1250 iso8859_2": "Żółw ma sześć łap, a ślimak żadnej; ćma nie chciała jeść i wciąż kręciła się po łące.",
    "iso8859_2 cp1250": "Koně běželi přes zelené pole k řece, kde už čekali naši staří přátelé s čerstvým chlebem.",
    "cp1250": "Erdőben nőtt a hűs fű, és a kút mellett ült az öreg; bőrönd, tűz, sör, út és ősz köszöntött rá.",
    "cp1254": "Akşam üstü çocuklar bahçede oynadı, büyükanne ağacın altında çay içti; gün güzel, gece ılıktı.",
    "cp1257": "Ąžuolas auga prie ežero, šalia jo – mažas namas; čia gyvena žmonės, kurių vaikai mėgsta šunį.",
}
#: Languages that windows-1252 writes; none of their text is taken for another encoding.
WESTERN = [
    "¿Qué harás mañana? Él también irá a la estación, además más allá; útil, café, canción, árbol, aquí, razón, así.",
    "È così: la città è più bella, però lunedì è già là; virtù, perché, università, può, ciò, giù, né, sì, è.",
    "São Paulo não é longe; você já põe açúcar no café, então também à noite, é só isso, irmã, avó e avô.",
    "Über die Größe können wir uns ärgern, schön wäre es für Füße und Hände trotzdem, müssen, dürfen, süß.",
    "På sjön är det så, både för män och kvinnor; åter går året, höst och vår, älg, öl, ålar, själ, åska.",
    "Maður er frjáls og jafn öðrum að virðingu, þó það sé ekki létt; gæði, ár, sól, fjörður, þýða, húð, æð.",
    "Prices: £5, £10, £20, £3, £4, £50, £60, £70, £80, £90, £15, £25; ½ price, ¾ done, naïve café.",
    "10³ m², 5³ kg, 7¹, 10³, 4³, 3³ µm, ±5, 10³ s, 10², ¼, 3¹, 2³, 5³ and 4¹.",
]


@pytest.mark.parametrize("head", ["", '<meta charset="utf-8">', '<meta charset="iso-8859-1">'])
def test_letters_of_another_script_tell_an_encoding_that_is_not_declared_or_falsely(head: str) -> None:
    for encodings, text in TOLD.items():
        for encoding in encodings.split():
            data = f"<html>{head}<body><p>{text}</p>".encode(encoding, "ignore")
            assert decode(data) == (data.decode(encoding), encoding)


def test_languages_of_windows_1252_are_taken_for_no_other() -> None:
    for text in WESTERN:
        assert decode(text.encode("cp1252")) == (text, "cp1252")
    drawn = random.Random(3)
    for _ in range(400):
        words = " ".join(drawn.sample(WESTERN, 2)).split()
        text = " ".join(drawn.choices(words, k=drawn.randint(8, 80)))
        assert decode(text.encode("cp1252"))[0] == text


def test_utf_16_without_a_mark_is_told_by_its_markup() -> None:
    page = "<html><p>Привіт, світе! 世界" * 3
    assert decode(page.encode("utf-16-le")) == (page, "utf-16-le")
    assert decode(page.encode("utf-16-be")) == (page, "utf-16-be")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_page(data: bytes) -> None:
    check(parse_html(data))
    assert "\0" not in decode(data)[0]


_TAGS = [
    "div",
    "p",
    "a",
    "b",
    "i",
    "h1",
    "h3",
    "ul",
    "ol",
    "li",
    "table",
    "tr",
    "td",
    "th",
    "pre",
    "br",
    "hr",
    "form",
    "button",
    "select",
    "option",
    "blockquote",
    "span",
    "noscript",
    "script",
    "style",
    "title",
    "textarea",
    "svg",
    "template",
    "font",
    "details",
    "dl",
    "dt",
    "dd",
    "article",
    "iframe",
]
_PIECES = st.one_of(
    st.sampled_from(_TAGS).map("<{}>".format),
    st.sampled_from(_TAGS).map("</{}>".format),
    st.sampled_from(
        ["<div class='a b'>", "<p hidden>", "<!--", "-->", "<?x?>", "<", "&amp;", "&#0;", '<a href="', "\n", " "]
    ),
    st.text(max_size=6),
)


@given(st.lists(_PIECES, max_size=40).map("".join))
@settings(max_examples=60)
def test_any_markup_gives_blocks_and_the_guard_reads_the_same_way_twice(page: str) -> None:
    parsed = parse_html(page)
    check(parsed)
    again = parse_html(page)
    assert parsed.text == again.text
    assert parsed.facts.words.values.tolist() == again.facts.words.values.tolist()
    check(parse_html(flattened(page)))


@given(st.lists(st.tuples(st.sampled_from(["div", "p", "b", "li", "td", "h2", "span", "a", "section"]),
                          st.text("abc é", min_size=1, max_size=5)), max_size=20))  # fmt: skip
def test_no_visible_word_is_lost(nodes: list[tuple[str, str]]) -> None:
    page = "".join(f"<{tag}>w{number}x{text}</{tag}> " for number, (tag, text) in enumerate(nodes))
    words = [word for number, (_, text) in enumerate(nodes) for word in f"w{number}x{text}".split()]
    for each in (page, flattened(page)):
        assert [word for word in parse_html(each).text.split() if word not in ("-", "##", "|")] == words


HOSTILE = {
    "nested": ("<div>" * 100_000 + "deep", "deep"),
    "nested lists": ("<ul><li>x" * 30_000 + "deep", "deep"),
    "a script of 10 MB": ("<script>" + "x<y " * 2_500_000 + "</script><p>after", "after"),
    "attributes": ("<div " + " ".join(f"a{number}" for number in range(100_000)) + ">after", "after"),
    "options": ("<select>" + "<option>x" * 50_000 + "</select><p>after", "after"),
    "formatting": ("".join(f"<font a={number}>" for number in range(20_000)) + "<p>x" * 1000 + "<p>after", "after"),
    "no end": ("<p>before<a " * 100_000, "before"),
    "quotes": ("<p>before</p>" + "<a =\"'" * 100_000, "before"),
    "tables in tables": ("<table><tr><td>" * 30_000 + "deep", "deep"),
    "a long row over short ones": (
        "<table><tr>" + "<td>x" * 10_000 + "<tr><td>a<td>b" * 10_000 + "<tr><td>after</table>",
        "after",
    ),
    "NUL": ("<p>a\0fter<\0p>\0", "after"),
    "comment": ("<p>before<!-- " + "<p>x" * 100_000, "before"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_take_linear_time(name: str) -> None:
    page, word = HOSTILE[name]
    began = time.process_time()
    parsed = parse_html(page)
    assert time.process_time() - began < 5
    assert word in parsed.text
    assert len(parsed.text) < 40 * len(page) + 1000


@pytest.mark.parametrize("pattern", ["<p>a{}", "<x{0}>a{0}</x{0}>\n", "<x-{0} b{0}=c>a{0}</x-{0}>", "<p d{0}>a{0}"])
def test_a_page_of_many_names_keeps_its_text(pattern: str) -> None:
    page = "".join(pattern.format(number) for number in range(3000))
    assert parse_html(page).text.split() == [f"a{number}" for number in range(3000)]


@pytest.mark.parametrize(
    "drawing",
    ["<svg>word", "<svg><g/>word</svg>", "<svg><![CDATA[word]]></svg>", "<svg><style><p>word", "<math><mi>word</math>",
     "<svg><title>x</title><text>word</text></svg>", "<svg><foreignObject><p>word</p></foreignObject></svg>",
     "<pre>word<option>", "<div>" * 300 + "<svg><style><img>word"],
)  # fmt: skip
def test_a_flattened_page_keeps_the_text_of_drawings(drawing: str) -> None:
    page = f"{drawing}<p>after</p>"
    text = parse_html(flattened(page)).text
    assert ("word" in text, "after" in text) == (True, True)
    assert parse_html(page).text.split() == text.split()


@pytest.mark.parametrize("name", ["th", "td", "caption", "tr", "tbody", "col", "frame", "html", "body", "head"])
def test_a_flattened_page_has_no_tags_that_belong_nowhere(name: str) -> None:
    """A parser skips them, and copies the text that continues: 930 kB of cells without a table took 1.05 GB."""
    page = "".join(f"<{name} hidden d{number}> eel " for number in range(3000))
    assert work_of(page.encode()).is_suspect
    assert flattened(page) == " eel " * 3000
    assert flattened(f"<table><tr><td>a</table><{name} hidden>b").endswith("</table>b")
    assert parse_html(page).text.split() == ["eel"] * 3000


def test_the_work_on_a_flattened_page_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<div>a" * 2000
    assert "a" in parse_html(page).text
    monkeypatch.setattr(html_guard, "flattened", lambda page: "<p>b" * (html_guard.FLATTENED + 1))
    with pytest.raises(html_guard.WorkError, match="too many nodes"):
        parse_html(page)


def test_cells_below_the_deepest_kept_element_stay_apart() -> None:
    page = "<div>" * 600 + "<table><tr><td>one<td>two</table>"
    assert parse_html(page).text.split() == ["one", "two"]


def test_a_comment_ends_in_a_flattened_page_as_in_another() -> None:
    assert flattened("<!-->a<!--->b<!--x--!>c<!--!>d-->e<!--\n-->f") == "abcef"


def test_a_page_is_large_by_its_bytes_its_nodes_or_its_steps() -> None:
    assert work_of(b"x" * (8 << 20)).is_large
    assert work_of(b"<p>x</p>" * 50_000).is_large
    assert work_of(b"<span>" * 500 + b"</zz>" * 100_000).is_large
    assert not work_of(b"<p>x</p>" * 40_000).is_large


@pytest.mark.slow
@pytest.mark.parametrize("page", ["<h1>A</h1><p>b <a href=/c>d</a><img alt='e f g'>", "<div>h" * 2000, "<p>река\0"])
def test_a_page_is_the_same_if_a_process_of_its_own_reads_it(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = page.encode("cp1251")
    expected = [pickle.dumps(parse_html(data, images=images, targets=images)) for images in (False, True)]
    monkeypatch.setattr(html_guard, "LARGE", 1)
    calls = []
    monkeypatch.setattr(html, "_parse_apart", lambda *given, then=html._parse_apart: calls.append(1) or then(*given))
    assert [pickle.dumps(parse_html(data, images=images, targets=images)) for images in (False, True)] == expected
    assert len(calls) == 2


def test_a_tag_that_is_a_page_takes_no_more_memory_than_the_page() -> None:
    page = "<p " + "a='>' b=c " * 50_000 + "class=last>text<p>more"
    flattened(page[:1000])
    tracemalloc.start()
    try:
        assert flattened(page) == "<p>text</p><p>more</p>"
        assert tracemalloc.get_traced_memory()[1] < 4 * len(page)
    finally:
        tracemalloc.stop()
    assert flattened("<p>text</p><p class='never" + " ended" * 9) == "<p>text</p>"
    assert flattened("<p>text</p") == "<p>text</p>"
    assert flattened("a <é> b") == "a &lt;é> b"


def test_the_guard_keeps_text_and_bounds_depth() -> None:
    assert work_of(b"<div>" * 5000).is_suspect
    assert not work_of(b"<div></div><br><img>" * 5000).is_suspect
    flat = flattened("<div><p>a" * 1000)
    assert flat.count("a") == 1000
    assert flat.count("<div") == flat.count("</div>") <= MAX_DEPTH
    assert flattened("a < b <3 <!-- no --> c") == "a &lt; b &lt;3  c"
    assert flattened("<p CLASS='x \"y\"' onclick=z>t") == '<p class="x &quot;y&quot;">t</p>'


@pytest.mark.slow
def test_twice_the_page_takes_twice_the_time() -> None:
    """Limits in seconds are those of bench/scaling/large.py, on a quiet machine."""
    part = "<div class='c x'><p>Some text <b>in</b> a page with <a href='#'>links</a>.</p></div>\n"

    def seconds(count: int) -> float:
        began = time.process_time()
        assert len(parse_html(part * count).blocks.kind) == count
        return time.process_time() - began

    half = whole = 1e9
    for _ in range(6):  # in turns, since other work on the machine shares its caches and slows both by up to a half
        half, whole = min(half, seconds(82_000)), min(whole, seconds(164_000))
        if whole <= 2.2 * half:
            break
    assert whole <= 3 * half  # 4 if the time is quadratic


@pytest.mark.slow
def test_without_selectolax_the_command_is_named() -> None:
    code = (
        "import sys; sys.modules['selectolax'] = None; sys.modules['selectolax.lexbor'] = None\n"
        "from pychunk.parsing.html.page import parse_html\n"
        "try: parse_html('x')\n"
        "except ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == 'reading HTML needs selectolax: pip install "pychunk-native[docs]"'


@pytest.mark.skipif(not ARTICLES, reason="PYCHUNK_DATA names no folder with article_extraction")
def test_every_visible_text_node_of_real_pages_is_in_the_text() -> None:
    from selectolax.lexbor import LexborHTMLParser

    from pychunk._engine.data.html_tags import UNSEEN

    for path in ARTICLES[::6]:
        data = decode(gzip.decompress(path.read_bytes()))[0].replace(" alt=", " data-alt=")
        page = parse_html(data)
        check(page)
        tree = LexborHTMLParser(data)
        tree.strip_tags(sorted(UNSEEN - {"-comment"}))
        nodes = (node.text_content for node in tree.root.traverse(include_text=True) if node.is_text_node)
        seen = Counter(word for text in nodes for word in re.findall(r"[^\W\d_]+", text or ""))
        kept = Counter(re.findall(r"[^\W\d_]+", page.text))
        # Words whose letters are separated by markup are one word in the text; all letters are there nevertheless.
        assert sum(map(len, kept.elements())) == sum(map(len, seen.elements()))
        assert sum((seen - kept).values()) <= 0.02 * sum(seen.values())


def test_what_the_page_tells_search_engines_and_what_it_says_that_it_is() -> None:
    body = "Cats purr when they are at ease, and nobody knows how they do it; dogs do not."
    page = parse_html(
        f'<html class=no-js><head><meta property="og:type" content="article">'
        '<meta name=generator content="Discourse 3">'
        f'<script type="application/ld+json">{{"@type": "NewsArticle", "articleBody": "{body}"}}</script></head>'
        f"<body class=single-post><main><p>{body}<p>What other readers of this page have bought in the last month."
    )
    check(page)
    assert page.facts.told.tolist() == [True, False]
    from pychunk._engine.data.html_tags import word_hash

    said = {word_hash(word) for word in ("@newsarticle", "og:article", "by:discourse", "body:single", "has:main")}
    assert said <= set(page.facts.page.tolist())
    assert word_hash("has:article") not in page.facts.page
    for broken in ('{"articleBody": "' + "x" * 100, '"text":"' * 50_000, '{"text": "' + "\\u12" * 30 + '"}'):
        assert not parse_html(f"<script>{broken}</script><p>{body}").facts.told.any()


def test_hashes_that_are_kept_from_page_to_page_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from pychunk._engine.reference.parsing import html_walk
    from pychunk.parsing.html import noise_features

    page = "<div class='a-b cD'><p id=x>One word, 2024 and two.</div><nav role=menu><a class=q>Home</a></nav>"
    parsed = parse_html(page)
    features = noise_features.noise_features(parsed.blocks, parsed.facts, parsed.text, "One")
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    monkeypatch.setattr(html_walk, "_HASHED", 1)
    html_walk._hashed.clear()
    again = parse_html(page)
    assert again.facts.words.values.tolist() == parsed.facts.words.values.tolist()
    found = noise_features.noise_features(again.blocks, again.facts, again.text, "One")
    assert found.dense.tobytes() == features.dense.tobytes()
    assert found.wording[0].tolist() == features.wording[0].tolist()
    assert len(html_walk._hashed) <= 1


@pytest.mark.parametrize(
    "mark",
    [
        '<svg width="1" height="1"/>',
        "<math/>",
        "<svg><svg/><text>a</text></svg>",
        "<svg><g>",
        "<math><mi>x",
        "<svg><foreignObject><p>hidden</p></foreignObject></svg>",
        "<template>hidden<template></template>hidden</template>",
    ],
)
@pytest.mark.parametrize("later", ["", "<svg>z</svg>", "<math></math></template>"])
def test_drawings_take_no_more_of_a_page_than_their_own(mark: str, later: str) -> None:
    paragraphs = [f"<p>Paragraph {number} word{number}." for number in range(2000)]
    page = "".join([*paragraphs[:1000], mark, *paragraphs[1000:], later])
    assert not work_of(page.encode()).is_suspect
    assert parse_html(page).text.count("word") == 2000
    text = parse_html(flattened(page)).text
    assert text.count("word") == 2000
    assert ("hidden" in text) is ("hidden" in parse_html(page).text)


def words_of_page(page: str, **options: bool) -> str:
    return parse_html(page, **options).text.strip()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("<ul><li>10:00 to 12:00</li><li>14:00 to 20:00</li></ul>", "10:00 to 12:00; 14:00 to 20:00"),
        ("Either:<ul><li>a,<li>b.<li>c</ul>then", "Either: a, b. c then"),
        ("<p>Closed</p><p>all day</p>", "Closed all day"),
        ("<table><tr><td>in1<td>in2<tr><td>in3<td>in4</table>", "in1, in2; in3, in4"),
        ("x<table><tr><th>a<td>b<table><tr><td>c<td>d</table></table>y", "x a, b c, d y"),
        ("<table><tr><td><ul><li>a<li>b</ul><td>c</table>", "a; b, c"),
        ('<img alt="yes">', "yes"),
        ('<img alt="flag">Ghana', "Ghana"),
    ],
)
def test_parts_of_a_cell_stay_in_it_and_apart(cell: str, text: str) -> None:
    page = f"<table><tr><th>Day<th>Open<tr><td>Mon<td>{cell}</td></tr><tr><td>Tue<td>z</table>"
    assert words_of_page(page) == f"| Day | Open |\n| --- | --- |\n| Mon | {text} |\n| Tue | z |"


def test_a_table_of_layout_with_tables_inside_is_read_by_block() -> None:
    page = "<table><tr><td>Menu<td><table><tr><th>a<th>b<tr><td>c<td>d</table></table>"
    assert words_of_page(page) == "Menu\n\n| a | b |\n| --- | --- |\n| c | d |"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ('<h1><img alt="Widget"></h1>', "# Widget"),
        ('<h1><a href="/"><img alt="Widget"></a>Pump</h1>', "# Pump"),
        ('<p><img alt="A pump with three valves"></p>', "[image: A pump with three valves]"),
        ('<a href="big.JPG?x"><img alt="A pump with three valves"></a>', "[image: A pump with three valves]"),
        ('<figure><img alt="水泵的剖面图"></figure>', "[image: 水泵的剖面图]"),
        ('<a href="/next"><img alt="The next article to read"></a>', ""),
        ('<p><img alt="logo"></p>', ""),
        ('<p>See <img alt="the sign of a valve"> here</p>', "See here"),
        ('<p hidden><img alt="A pump with three valves"></p>', ""),
        ('<img style="display:none" alt="A pump with three valves">', ""),
        (
            '<figure><img alt="A pump with valves"><figcaption>A pump with valves, from the left</figcaption></figure>',
            "A pump with valves, from the left",
        ),
        (
            '<p>One.</p><figure><img alt="A pump with valves"><figcaption>Photo: Ada</figcaption></figure><p>Two.</p>',
            "One.\n\n[image: A pump with valves]\n\nPhoto: Ada\n\nTwo.",
        ),
        (
            '<figure><img alt="A pump with valves from above"><figcaption>valves</figcaption></figure>',
            "[image: A pump with valves from above]\n\nvalves",
        ),
        (
            '<img alt="A pump with valves"><noscript><img alt="A pump with valves"></noscript>',
            "[image: A pump with valves]",
        ),
    ],
)
def test_an_image_that_says_something_is_text_on_request(page: str, text: str) -> None:
    assert words_of_page(page, images=True) == text
    assert "[image" not in words_of_page(page)


def test_what_stands_in_a_line_is_of_it_and_an_inline_heading_is_one() -> None:
    page = 'costs $<div style="DISPLAY: inline"><span>5.22</span></div> now <div style="display:inline-block">x</div>'
    assert words_of_page(page) == "costs $5.22 now\n\nx"
    page = (
        '<div>Text <span role="heading" aria-level="3">Use <b>it</b></span> and <a><b role=heading>more</b></a></div>'
    )
    assert words_of_page(page) == "Text\n\n### Use it\n\nand more"


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("<a href='/a b(c)'> the  guide </a>now", "[the guide](/a%20b%28c%29) now"),
        ("<a href='#top'>top</a>", "top"),
        ("<a href=' javascript:x()'>run</a>", "run"),
        ("<a href='x'><img alt='x'></a>end", "end"),
        ("5<sup><a href='x'>2</a></sup>", "5^2"),
        ("<a href='x'>a<br>b</a>", "a\nb"),
        ("<h2><a href='x'>Use</a></h2>", "## Use"),
        ("<ul><li><a href='mailto:a@b.example'>Ada</a></ul>", "- [Ada](mailto:a@b.example)"),
    ],
)
def test_targets_of_links_on_request(link: str, text: str) -> None:
    assert parse_html(link, targets=True).text.strip() == text
    assert "](" not in parse_html(link).text
