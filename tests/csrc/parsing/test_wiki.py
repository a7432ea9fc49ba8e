"""Native brackets and lines of wikitext: equal to the reference on any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pychunk._engine import native
from pychunk._engine.reference.parsing import wiki_brackets, wiki_elements, wiki_lines

#: What decides about brackets and lines, and characters of one to four bytes, a lone surrogate among them.
BRACKETS = "[[ ]] {{ }} { } [ ] {| |} | : < > <table </table> <TABLE> <tables> <tableé> / File:x.png Category: de:"
LINES = "# * ; = == ====== - -- ---- ' '' ''' '''' ''''' a l b1 é л 中 😀 \ud800 ² \x02 \x03 \x04 0 1 9 \xa0 \u2003"
ENTITIES = "& ; &nbsp; &amp; &#10; &#9; &ab; &#x41; &x; &#12345678;"
ELEMENTS = (
    "<!-- --> <ref> </ref> <ref/> <REF name=a/ > <pre> </pre> </pre\t> <nowiki> </nowiki> <math> </math> <refs> \r \x00"
)
TOGETHER = ("\n|", "\n=", "\x040\x04", "\x041\x04", "\x042\x04", "\x043\x04", "\x03\n", " ", "\t", "\n", "\n")
PIECES = (*BRACKETS.split(" "), *LINES.split(" "), *ENTITIES.split(" "), *ELEMENTS.split(" "), *TOGETHER)
OF_ELEMENTS = (*ELEMENTS.split(" "), " ", "\t", "\n", "a", "é")
MARKUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
#: Pages hold no control characters but the marks; these two are the marks of a paragraph that goes on, and of a block.
ANY = st.text(st.characters(exclude_categories=[], exclude_characters="\x05\x06"))
HELD = ["a  b", "c\n\n d ", "", "\u2003é 😀", "l\xa0m", "\n"]
OFTEN = pytest.mark.parametrize("often", [300, pytest.param(20_000, marks=pytest.mark.slow)])


def render(content: str) -> str:
    """Return a text that shows the content, holds brackets of its own, and is sometimes empty."""
    return "" if content.startswith("a") else f"<{content}]]" if "b" in content else content.replace("|", "}")


def is_hidden(target: str, has_label: bool) -> bool:
    return target.startswith(("File", "de")) and not (has_label and target.startswith("de"))


def entity(name: str) -> str:
    return {"nbsp": "\xa0", "amp": "&", "#10": "\n", "#9": "\t", "ab": ""}.get(name, f"&{name};")


@OFTEN
def test_elements_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(st.lists(st.sampled_from(OF_ELEMENTS), max_size=40).map("".join) | MARKUP | ANY)
    @example("a\n<!-- b --> \n<ref>c<ref>d</ref><pre>e<pre>f</pre>\r\x00\n<!-- g")
    def check(text: str) -> None:
        def opaque(name: str, content: str) -> str:
            return f"({name}:{content})"

        assert native.without_elements(text, opaque) == wiki_elements.without_elements(text, opaque)

    check()


@OFTEN
def test_brackets_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP | ANY)
    @example("[[" * 120 + "a" + "]]" * 120 + "{{" * 120 + "}}" * 120)
    @example("{{a|{{b}}}}}} {{c\n|}}\n== d ==\n{|\n|[[e|f|g]]]\n|}")
    def check(text: str) -> None:
        expected = wiki_brackets.without_brackets(text, render, is_hidden)
        assert native.without_brackets(text, render, is_hidden) == expected

    check()


@OFTEN
def test_text_equals_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP | ANY)
    @example("l'''Odyssée'' d'Homère, '''gras'''")
    @example("a\n\x040\x04\n\x041\x04\n* é\n* -\n=====\n=== a ==\n-----b\n|c\n\nd\x03\ne")
    def check(text: str) -> None:
        for held in ([], HELD):
            assert native.wiki_text(text, held, entity) == wiki_lines.wiki_text(text, held, entity)

    check()


def test_a_text_that_ends_inside_a_mark_is_read() -> None:
    assert native.wiki_text("a\x06", [], entity)[0] in ("a", "a\x06")


def test_an_error_of_a_template_reaches_the_caller() -> None:
    def broken(content: str) -> str:
        raise KeyError(content)

    with pytest.raises(KeyError, match="mine"):
        native.without_brackets("a {{mine}} b", broken, is_hidden)
