"""Lines of wikitext and their blocks: native equal to the reference on any text."""

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
    @example("l'''Odyssée'' d'Homère, '''gras'''")
    @example("a\n\x040\x04\n\x041\x04\n* é\n* -\n=====\n=== a ==\n-----b\n|c\n\nd\x03\ne")
    def check(text: str) -> None:
        for held in ([], HELD):
            assert native.wiki_text(text, held, entity) == wiki_lines.wiki_text(text, held, entity)

    check()


def test_a_text_that_ends_inside_a_mark_is_read() -> None:
    assert native.wiki_text("a\x06", [], entity)[0] in ("a", "a\x06")
