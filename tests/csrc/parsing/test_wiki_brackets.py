"""Brackets of wikitext: native equal to the reference on any text."""

import pytest
from hypothesis import example, given, settings
from wiki_markup import ANY, MARKUP, OFTEN

from pychunk._engine import native
from pychunk._engine.reference.parsing import wiki_brackets


def render(content: str) -> str:
    """Return a text that shows the content, holds brackets of its own, and is sometimes empty."""
    return "" if content.startswith("a") else f"<{content}]]" if "b" in content else content.replace("|", "}")


def is_hidden(target: str, has_label: bool) -> bool:
    return target.startswith(("File", "de")) and not (has_label and target.startswith("de"))


@OFTEN
def test_brackets_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(MARKUP | ANY)
    @example("<table\u017f><table\u0131> [[[a]]] {{b|}}}")
    @example("[[" * 120 + "a" + "]]" * 120 + "{{" * 120 + "}}" * 120)
    @example("{{a|{{b}}}}}} {{c\n|}}\n== d ==\n{|\n|[[e|f|g]]]\n|}")
    def check(text: str) -> None:
        expected = wiki_brackets.without_brackets(text, render, is_hidden)
        assert native.without_brackets(text, render, is_hidden) == expected

    check()


def test_an_error_of_a_template_reaches_the_caller() -> None:
    def broken(content: str) -> str:
        raise KeyError(content)

    with pytest.raises(KeyError, match="mine"):
        native.without_brackets("a {{mine}} b", broken, is_hidden)
