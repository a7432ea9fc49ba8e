"""Lines of wikitext and their blocks: native equal to the reference on any text."""

import pytest
from hypothesis import example, given, settings
from wiki_markup import ANY, MARKUP, OFTEN

from pychunk._engine import native
from pychunk._engine.reference.parsing import wiki_lines

HELD = ["a  b", "c\n\n d ", "", "\u2003é 😀", "l\xa0m", "\n"]


def entity(name: str) -> str:
    return {"nbsp": "\xa0", "amp": "&", "#10": "\n", "#9": "\t", "ab": ""}.get(name, f"&{name};")


@OFTEN
def test_text_equals_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP | ANY)
    @example("\x04" + "1" * 5000 + "\x04\x04" + "0" * 5000 + "1\x04")
    @example("l'''Odyssée'' d'Homère, '''gras'''")
    @example("a\n\x040\x04\n\x041\x04\n* é\n* -\n=====\n=== a ==\n-----b\n|c\n\nd\x03\ne")
    def check(text: str) -> None:
        for held, most in (([], 100), (HELD, 100), (HELD, 3)):
            assert native.wiki_text(text, held, entity, most) == wiki_lines.wiki_text(text, held, entity, most)

    check()


def test_marks_of_the_caller_are_no_blocks() -> None:
    assert native.wiki_text("a\x06é\x06", [], entity, 9) == ("aé", ("p", [0], [2]))


def test_a_function_that_returns_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match="must return a string"):
        native.wiki_text("&amp;", [], {"amp": None}.get, 9)  # type: ignore[arg-type]  # the types forbid it, too
