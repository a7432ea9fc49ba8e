"""What is looked for in the bytes of a page beside its tree: native equal to the reference, and to plain patterns."""

import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
from pychunk import _native
from pychunk.parsing import html, html_guard
from pychunk.parsing.encodings import decode

_MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            ["<b", "</b", "<div>", "</div>", "<br", "<option", "</OPTION", "<", "</", "<3", "<!--", ">", " "]
        ),
        st.sampled_from(["<h1", "<H1x", "<str", "<strong", "<é", "<inp", "<INPUT", "x" * 2100, "=", "'", '"']),
        st.text(max_size=5),
    ),
    max_size=40,
).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


@given(_MARKUP)
@settings(max_examples=300)
def test_tags_are_counted_as_by_the_reference(page: bytes) -> None:
    assert html_guard._native_counts(page) == html_guard._counts(page)


def test_tags_at_the_edges_of_a_page() -> None:
    for page in (b"", b"<", b"<b>12", b"<b>123", b"</b></b></b>   ", b"<br><br>     ", b"<b" + b" " * 2001):
        assert html_guard._native_counts(page) == html_guard._counts(page)
    assert html_guard._native_counts(b"<b><i></i></p></p></p></p>  ")[:3] == (5, 0, 2)
    assert html_guard._native_counts(b"<a " + b"x" * 2000 + b"<b></b>  ")[3] == [0]


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
    """Bodies of a key, found one after the other."""
    body = re.compile(rb'\s*:\s*("(?:[^"\\]|\\.){60,20000}")')
    found, at = [], page.find(key)
    while at >= 0:
        if match := body.match(page, at + len(key)):
            found.append(match[1])
        at = page.find(key, at + len(key))
    return found


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


def test_a_key_begins_with_a_quote_and_nul_is_no_text() -> None:
    with pytest.raises(ValueError, match="quote"):
        _native.find_keys(np.frombuffer(b"x", np.uint8), [b"text"])
    assert decode(b"a\0b\xc3\xa9") == ("abé", "utf-8")
