"""RTF becomes paragraphs and tables of plain text."""

import pytest
from block_parts import parts

from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.rtf import convert

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


def test_bytes_are_read_in_the_character_set_of_their_font() -> None:
    fonts = rb"{\fonttbl{\f0 Times;}{\f1\fcharset204 Arial;}{\f2\fcharset128 Mincho;}{\f3\fcharset161 Symbol;}}"
    head = rb"{\rtf1\ansi\ansicpg1252\deff0" + fonts
    assert convert(head + rb"{\f1\'cf\'f0\'e8\'e2\'e5\'f2} caf\'e9\par}").text == "Привет café"
    assert convert(head + rb"\f1\'cf\plain\'e9 {\f3\'e1\'e2}\'e9}").text == "Пé αβé"
    assert convert(head + rb"\f2\'93\'fa\'96\'7b\'83A}").text == "日本ア"  # a byte of a character may be a letter
    assert convert(head + rb"\f2\uc2\u26085\'93\'fa{\uc0\u26412}x}").text == "日本x"


def test_lines_of_a_cell_are_joined_and_bars_make_no_tables() -> None:
    first = rb"\trowd\cellx9 Beta\cell one\par two\line three\cell\cell\row"
    last = rb"\pard\intbl Gamma\cell a|b\cell{\trowd\cellx9\row}\pard After|\par}"
    assert parts(convert(rb"{\rtf1\ansi a|b|\par" + first + last)) == [
        ("paragraph", 0, "a|b|"),
        ("table", 0, "Beta | one two three |\nGamma | a|b"),
        ("paragraph", 0, "After|"),
    ]
    assert parts(convert(rb"{\rtf1\ansi\trowd Open\cell\row\trowd One\par Two\par}")) == [
        ("table", 0, "Open"),
        ("paragraph", 0, "One"),
        ("paragraph", 0, "Two"),
    ]


def test_deleted_and_hidden_parts_are_left_out_and_text_boxes_and_results_are_kept() -> None:
    text = rb"{\rtf1\ansi{\header Top\par}{\info{\title T}}One{\deleted  gone} two\deleted  gone\deleted0  three\par "
    drawn = (
        rb"Before{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Box\par}}{\shprslt{\*\do\dptxbx{\dptxbxtext Box}}}} after"
    )
    held = rb"\par{\object\objemb{\*\objdata 0102}{\result Sum 3}}{\pict\bin4 }}{\}{\*\unknown x} end\par}"
    assert [text for _, _, text in parts(convert(text + drawn + held))] == [
        "One two three",
        "Before after",
        "Sum 3 end",
        "Box",
    ]
