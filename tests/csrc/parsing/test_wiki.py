"""Native brackets and lines of wikitext: equal to the reference on any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pychunk._engine import native
from pychunk._engine.reference.parsing import wiki_brackets, wiki_lines

#: What decides about brackets and lines, and letters of one to four bytes, a lone surrogate among them.
PIECES = (
    "[[ ]] {{ }} { } [ ] {| |} | : # * ; = == ====== < > <table </table> <TABLE> <tables> <tableé> / - ---- ' '' ''' '''' "
    "''''' a l b1 é л 中 😀 \ud800 ² File:x.png Category: de: \x02 \x03 \x04 0 1 9 \xa0 \u2003"
).split(" ")
MARKUP = st.lists(st.sampled_from([*PIECES, " ", "\t", "\n", "\n", "\n|", "\n=", "\x040\x04", "\x041\x04"]), max_size=60)


def render(content: str) -> str:
    """Return a text that shows the content, holds brackets of its own, and is sometimes empty."""
    return "" if content.startswith("a") else f"<{content}]]" if "b" in content else content.replace("|", "}")


def is_hidden(target: str, has_label: bool) -> bool:
    return target.startswith(("File", "de")) and not (has_label and target.startswith("de"))


@pytest.mark.parametrize("often", [pytest.param(300), pytest.param(20_000, marks=pytest.mark.slow)])
def test_brackets_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP.map("".join) | st.text(st.characters(exclude_categories=[])))
    @example("[[" * 120 + "a" + "]]" * 120 + "{{" * 120 + "}}" * 120)
    @example("{{a|{{b}}}}}} {{c\n|}}\n== d ==\n{|\n|[[e|f|g]]]\n|}")
    def check(text: str) -> None:
        expected = wiki_brackets.without_brackets(text, render, is_hidden)
        assert native.without_brackets(text, render, is_hidden) == expected

    check()


@pytest.mark.parametrize("often", [pytest.param(300), pytest.param(20_000, marks=pytest.mark.slow)])
def test_lines_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP.map("".join) | st.text(st.characters(exclude_categories=[])), st.booleans())
    @example("l'''Odyssée'' d'Homère, '''gras'''", True)
    @example("a\n\x040\x04\n\x041\x04\n* é\n* -\n=====\n=== a ==\n-----b\n|c\n\nd\x03\ne", True)
    def check(text: str, marks: bool) -> None:
        code = [False, True] * 60
        assert native.wiki_lines(text, code, marks) == wiki_lines.wiki_lines(text, code, marks)

    check()


def test_an_error_of_a_template_reaches_the_caller() -> None:
    def broken(content: str) -> str:
        raise KeyError(content)

    with pytest.raises(KeyError, match="mine"):
        native.without_brackets("a {{mine}} b", broken, is_hidden)
