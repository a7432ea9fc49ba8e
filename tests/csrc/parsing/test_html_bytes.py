"""Facts found in a page's bytes in addition to its tree: the native core equals the reference and plain patterns."""

import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from instruction_sets import printed_by_each
from selectolax.lexbor import LexborHTMLParser

from pychunk._engine import native
from pychunk._engine.data.blocks import Blocks
from pychunk._engine.engine import engine
from pychunk.parsing.html import html_guard
from pychunk.parsing.html import page as html
from pychunk.parsing.html.encodings import decode

_NAMES = """
div span p b a nobr li ul dl dt dd table tr td caption select option button form h1 svg math mi desc foreignObject
template script textarea noscript object ruby rt details pre br zz
"""
_MARKUP = st.lists(
    st.one_of(
        st.sampled_from(_NAMES.split()).map("<{}>".format),
        st.sampled_from(_NAMES.split()).map("</{}>".format),
        st.sampled_from(["x", "<svg/>", "<!--", "-->", "--!>", '<a b="', '">', '<a b==">', "<!-- <script>", "</br>"]),
    ),
    min_size=1,
    max_size=8,
).map("".join)


def work(
    page: str | bytes, *, open: int = 10**6, formatting: int = 10**6, attributes: int = 10**6, names: int = 10**6
) -> tuple[int, bool]:
    data = page.encode() if isinstance(page, str) else page
    limits = {"open": open, "formatting": formatting, "options": 10**6, "attributes": attributes, "names": names}
    nodes, _, is_suspect = native.html_work(np.frombuffer(data, np.uint8), **limits)
    return nodes, is_suspect


def depth(page: str) -> int:
    """Return the depth of the tree of a page."""
    node, now, most = LexborHTMLParser(page).root, 1, 1
    while node is not None:
        if node.first_child is not None:
            node, now = node.first_child, now + 1
            most = max(most, now)
            continue
        while node is not None and node.next is None:
            node, now = node.parent, now - 1
        node = node.next if node is not None and now > 1 else None
    return most


@pytest.mark.slow
@given(_MARKUP)
@settings(max_examples=300)
def test_no_pattern_nests_deeper_than_it_is_counted(pattern: str) -> None:
    page = pattern * 60
    if (found := depth(page)) > 120:
        # lexbor's tree also grows at links over blocks, of which five are allowed for each formatting element
        assert work(page, open=found // 3 - 8, formatting=11)[1], pattern


@pytest.mark.parametrize(
    ("pattern", "is_deep"),
    [
        ("<div></div>", False),
        ("<div></zz>", True),
        ("<div><!--</div>-->", True),
        ('<div a="</div>">', True),
        ('<div a=="></div>x', False),
        ("<div><textarea></div></textarea>", True),
        ("<div><script>'</div>'</script>", True),
        ("<div><script><!--<script></script></div>--></script>", True),
        ("<div><!-- --!></div>", False),
        ("<span><div></span>", True),
        ("<noscript><div></noscript>", True),
        ("<td><div></td>", True),
        ("<svg/><math/>", False),
        ("<svg><g></svg>", False),
        ("<svg><g></zz>", True),
        ("<template><template></template></template>", False),
        ("<template><div></template>", False),
        ("<template><b></b>", True),
        ("<p>x<li>y", False),
        ("<dl><dt>a<dd>b</dl>", False),
        ("<table><tr><td>a<td>b</table>", False),
        ("<table><table>", False),
        ("<select><option>a<option>b</select>", False),
        ("<form><li></form><div><li>", False),
        ("<b><div></b></div>", False),
        ("<svg><title><title></title>", True),
        ("<select><style><!--</style><div>", True),
        ("<select><option>a<input>", False),
        ("<div><title></div></title>", True),
        ("<!--x--!>", False),
    ],
)
def test_end_tags_count_where_the_standard_lets_them(pattern: str, is_deep: bool) -> None:
    assert work(pattern * 500, open=400)[1] is is_deep


@pytest.mark.parametrize(
    "pattern", ["<p a{}>x", "<x{}>y</x{}>", "<x-{}>", "</x{}>", "<svg><g b{}=1 /></svg>", "</p c{}>"]
)
def test_different_names_count_once(pattern: str) -> None:
    assert not work(pattern.format(1, 1) * 300, names=100)[1]
    assert work("".join(pattern.format(number, number) for number in range(150)), names=100)[1]


@pytest.mark.parametrize(
    ("page", "nodes"),
    [("<p>x", 1), ("<p a b>", 3), ("<!-- -->x<!>x<?x>x</ x>", 4), ("</p>x</br>", 2), ("<p></p>x</b>", 1)],
)
def test_nodes(page: str, nodes: int) -> None:
    assert work(page)[0] == nodes


def test_steps_are_the_elements_open_at_each_tag() -> None:
    page = np.frombuffer(b"<div>" * 10 + b"</zz>" * 5, np.uint8)
    limits = dict.fromkeys(("open", "formatting", "options", "attributes", "names"), 10**6)
    assert native.html_work(page, **limits)[1] == sum(range(11)) + 5 * 10


def test_formatting_elements_count_as_they_are_copied() -> None:
    formats = "<p>" + "".join(f"<b a={number}>" for number in range(150)) + "</p>"
    assert work(formats)[0] < 500
    assert work(formats + "<p>x" * 5000)[1]  # each paragraph has 150 copies
    assert not work("<p><b>x" * 5000, formatting=10)[1]  # at most three of a kind
    assert work(formats, formatting=100)[1]


def test_attributes_count_as_nodes() -> None:
    assert work("<p a b=\"<c>\" d='>' e=f/>x") == (5, False)
    assert work("<p " + "a " * 11 + ">", attributes=10)[1]
    assert work("".join(f"<body a{number}>" for number in range(11)), attributes=10)[1]
    for edge in (
        b"",
        b"<",
        b"</",
        b"<b",
        b"<b ",
        b"<b a",
        b"<b a=",
        b"<b a='",
        b"<!",
        b"<!--",
        b"</>",
        b"<3",
        b"<!-->",
    ):
        assert not work(edge)[1]


_JSON = st.lists(
    st.one_of(
        st.sampled_from(
            ['"text"', '"@type"', '"description"', ":", ' : "', '"', "\\", '\\"', "\n", "\\\n", ",", "Article"]
        ),
        st.sampled_from(
            ["x" * 30, "y" * 60, "é" * 29, '"text":"', '"text"text":"' + "z" * 61, '"@type":"abc"@type":"def"']
        ),
        st.text(max_size=4),
    ),
    max_size=30,
).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


def plain(page: bytes, key: bytes) -> list[bytes]:
    """Return the bodies of a key, found one after the other."""
    body = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.){60,20000}")')
    found, at = [], page.find(key)
    while at >= 0:
        if match := body.match(page, at + len(key)):
            found.append(match[1])
        at = page.find(key, at + len(key))
    return found


@pytest.mark.slow
@given(_JSON)
@settings(max_examples=400)
def test_keys_and_their_values_are_those_of_plain_patterns(page: bytes) -> None:
    keys = (html._KIND, *html._BODIES)
    places = html._places(page, keys)
    assert places == [[found.start() for found in re.finditer(b"(?=%b)" % re.escape(key), page)] for key in keys]
    kinds = set(re.findall(rb'"@type"\s*:\s*"(\w{3,40})"', page))
    words = [word for word in html._about({}, NoTree, page, places[0]) if word.startswith("@")]
    assert set(words) == {f"@{kind.decode('ascii', 'replace').lower()}" for kind in kinds}
    wanted = []
    for key in html._BODIES:
        for body in plain(page, key):
            with contextlib.suppress(ValueError):
                wanted.append(html._TAG.sub(" ", json.loads(body, strict=False)))
    told = "|".join(html._bare(text) for text in wanted if len(text) >= html._TOLD_BY)
    assert html._told({}, page, places[1:]) == told


def test_keys_are_found_across_the_parts_that_are_marked_at_a_time() -> None:
    key = b'"text"'
    for size in (65_530, 65_536, 65_537):
        for before in range(max(size - 8, 0), size + 1):
            page = b'"' * before + b"x" + key + b'"t'
            assert html._places(page, (key,)) == [[before + 1]], before
    text = "import numpy as np; from pychunk._engine import native; "
    text += "drawn = np.random.default_rng(3).choice(np.frombuffer(b'\"tea>', np.uint8), 9999); "
    text += "print(native.find_keys(drawn, [b'\"t', b'\"ea', b'\"\"']))"
    assert len(printed_by_each(text)) == 1


class NoTree:
    root = body = None


@pytest.mark.parametrize("size", [59, 60, 20_000, 20_001])
def test_values_of_so_many_characters_are_read(size: int) -> None:
    for text in ("x" * size, '\\"' * size, "x" * (size - 1) + "\\n"):
        page = f'{{"text": "{text}"}}'.encode()
        assert bool(html._body(page, 7)) == (60 <= size <= 20_000) == bool(plain(page, b'"text"'))


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_bare_text_is_letters_and_digits_in_lower_case(text: str) -> None:
    assert html._bare(text) == re.sub(r"[\W_]+", "", text).lower()


def test_bare_text_of_every_ascii_character() -> None:
    text = "".join(map(chr, range(128)))
    assert html._bare(text) == html._bare(text + "é")[:-1]


_BLOCKS = st.lists(st.text(st.sampled_from("abÀé×÷ ’«_9ж\u2071İß"), max_size=14), max_size=6)


@given(_BLOCKS, st.text(st.sampled_from("abàé9ßж|"), max_size=40))
@settings(max_examples=300)
def test_blocks_told_are_those_of_the_reference(texts: list[str], told: str) -> None:
    page = np.frombuffer("\n".join(texts).encode(), np.uint8)
    end = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64) - 1
    start = end - np.array([len(text) for text in texts], np.int64)
    given = (page, start, end, np.frombuffer(told.encode(), np.uint8))
    for least, most in ((1, 1), (1, 9), (2, 4)):
        fast, slow = (engine(name).find_told(*given, least=least, most=most) for name in ("native", "reference"))
        assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("text", ["Straße À LA CARTE, “so” it_is and 42 more", "Ж" * 20 + "a" * 30])
@pytest.mark.parametrize("size", [39, 40])
def test_a_block_is_told_by_its_first_letters(text: str, size: int) -> None:
    blocks = Blocks(np.array([0, 1]), np.zeros(1, np.int8), np.zeros(1, np.int16), np.array([2]), np.array([2 + size]))
    page = "ü\n" + (text * 9)[:size]
    assert html._is_told("x" + html._bare(page) + "x", page, blocks).tolist() == [size == 40]
    assert html._is_told("x" + html._bare(page)[:-30] + "x", page, blocks).tolist() == [False]


def test_a_key_begins_with_a_quote_and_nul_is_no_text() -> None:
    with pytest.raises(ValueError, match="quote"):
        native.find_keys(np.frombuffer(b"x", np.uint8), [b"text"])
    assert decode(b"a\0b\xc3\xa9") == ("abé", "utf-8")


#: An 0.8 MB page of "<table>" and instructions took 9.8 GB, since a parser moves the text before the table.
@pytest.mark.parametrize(
    "tags",
    [
        *("<td a=b>heron ", "heron </zz a=b>", "<frame a=b>heron ", "<table>|heron <tr a=b>"),
        *("<table>|<?x>heron ", "<table>|</1>heron ", "<table>|<!--x-->heron ", "<table>|<![CDATA[x]]>heron "),
        *("<table>|<script>x</script>heron ", "<table>|<td>x</tr>heron ", "<!doctype html public 'a'>heron "),
        "<table>|<td><table></table></tr><tr a=b>heron ",
    ],
)
def test_text_that_goes_on_after_other_strings_counts_as_it_is_copied(tags: str) -> None:
    head, _, body = tags.rpartition("|")
    few, many = (html_guard.work_of((head + body * count).encode()).nodes for count in (10_000, 100_000))
    assert many > 30 * few
    text = "<p>heron <b a=b>heron</b> <!-- x --> heron"
    few, many = (html_guard.work_of((text * count).encode()).nodes for count in (10_000, 100_000))
    assert many < 11 * few
