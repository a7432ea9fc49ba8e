"""RTF becomes paragraphs and tables of plain text."""

import pytest
from block_parts import parts

from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.rtf import convert

pytest.importorskip("striprtf", reason="RTF is read by striprtf (extra office)")
ROW = rb"\trowd a\cell b\cell\row"


def test_paragraphs_and_tables() -> None:
    data = rb"{\rtf1\ansi\ansicpg1252{\fonttbl\f0 Arial;}\b Caf\'e9\b0 s open.\par At \u1078? six.\par" + ROW + ROW
    assert parts(convert(data + rb"\pard End\par}")) == [
        ("paragraph", 0, "Cafés open."),
        ("paragraph", 0, "At ж six."),
        ("table", 0, "a | b\na | b"),
        ("paragraph", 0, "End"),
    ]


def test_other_files_are_refused() -> None:
    with pytest.raises(ConversionError, match=r"not RTF: .*save it as \.rtf again"):
        convert(b"Cats purr.")


def test_pairs_of_numbers_and_pages_of_the_macintosh() -> None:
    assert convert(rb"{\rtf1\ansi x \u-10179?\u-8704? y\par}").text == "x 😀 y"
    assert convert(rb"{\rtf1\mac\ansicpg10000 caf\'8e}").text == "café"
    with pytest.raises(ConversionError, match="the code page 99999 is unknown; save it in another format"):
        convert(rb"{\rtf1\ansi\ansicpg99999 a}")


def test_footnotes_follow_the_text() -> None:
    note = rb"{\super\chftn}{\footnote\pard\plain {\super\chftn} Seen {\i twice} \{in\'e9\}.}"
    other = rb"{\*\footnote \u1078?.}"
    found = convert(rb"{\rtf1\ansi\ansicpg1252 Cats" + note + rb" purr.\par They" + other + rb" sleep.\par}")
    assert parts(found) == [
        ("paragraph", 0, "Cats purr."),
        ("paragraph", 0, "They sleep."),
        ("paragraph", 0, "Seen twice {iné}."),
        ("paragraph", 0, "ж."),
    ]
    assert parts(convert(rb"{\rtf1\ansi One{\footnote open {\b")) == [("paragraph", 0, "One"), ("paragraph", 0, "open")]
    assert parts(convert(rb"{\rtf1\ansi One \footnotesep two\par}")) == [("paragraph", 0, "One two")]
