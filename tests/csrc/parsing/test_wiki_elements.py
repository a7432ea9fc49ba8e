"""Comments and elements of wikitext: native equal to the reference on any text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from wiki_markup import ANY, MARKUP, OF_ELEMENTS, OFTEN

from pychunk._engine import native
from pychunk._engine.reference.parsing import wiki_elements


@OFTEN
def test_elements_equal_the_reference(often: int) -> None:
    @settings(max_examples=often, deadline=None)
    @given(st.lists(st.sampled_from(OF_ELEMENTS), max_size=40).map("".join) | MARKUP | ANY)
    @example("a <pre>b</pre\xa0> c <ref/\xa0>d \x0b\x85<pre\u017f>")
    @example("a\n<!-- b --> \n<ref>c<ref>d</ref><pre>e<pre>f</pre>\r\x00\n<!-- g")
    def check(text: str) -> None:
        def opaque(name: str, content: str) -> str:
            return f"({name}:{content})"

        assert native.without_elements(text, opaque) == wiki_elements.without_elements(text, opaque)

    check()
