"""Random wikitext: brackets, lines, entities and elements, and any characters."""

import pytest
from hypothesis import strategies as st

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
#: The character 5 is a mark of the reference alone: a paragraph that goes on.
ANY = st.text(st.characters(exclude_categories=[], exclude_characters="\x05"))
OFTEN = pytest.mark.parametrize("often", [300, pytest.param(20_000, marks=pytest.mark.slow)])
