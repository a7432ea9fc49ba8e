"""XML becomes the text of its elements, and entities neither read files nor grow without bound."""

import pytest
from block_parts import parts

from pychunk.parsing.converters import xml_text
from pychunk.parsing.converters.dispatch import ConversionError
from pychunk.parsing.converters.xml_text import convert

BOOK = """<?xml version="1.0"?><!DOCTYPE book [<!ENTITY version "1.0">]>
<book><info><title>On <em>Cats</em> &version;</title></info>
<chapter><title>Food</title><para><b>They</b> eat, <i>all</i> day.</para><para>Second.</para>
<list><listitem><para>A</para><list><listitem>B</listitem></list></listitem></list>
<programlisting>
  x = 1

  y
</programlisting>
<section><title>Fish</title><p>Deep <!-- no --><![CDATA[< sea]]></p></section></chapter></book>"""


def test_elements_with_text_are_blocks() -> None:
    found = convert(BOOK.encode())
    assert found.title == "On Cats 1.0"
    assert parts(found) == [
        ("heading", 1, "On Cats 1.0"),
        ("heading", 2, "Food"),
        ("paragraph", 0, "They eat, all day."),
        ("paragraph", 0, "Second."),
        ("item", 1, "A"),
        ("item", 2, "B"),
        ("code", 0, "  x = 1\n\n  y"),
        ("heading", 3, "Fish"),
        ("paragraph", 0, "Deep < sea"),
    ]


def test_other_files_are_not_read() -> None:
    assert convert(b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>1&x;2</a>').text == "12"
    assert convert(b'<!DOCTYPE a SYSTEM "http://localhost:1/x.dtd"><a>1&eacute;2</a>').text == "1é2"


def test_entities_that_are_not_defined_stay() -> None:
    assert convert(b"<a>1&eacute;&mdash;&version;2</a>").text == "1é—&version;2"
    assert convert(b'<!DOCTYPE a [<!ENTITY river "the Wye">]><a>&river;, &hellip;</a>').text == "the Wye, …"
    assert convert(b'<!DOCTYPE a SYSTEM "http://localhost:1/x.dtd"><a>&unknown;</a>').text == "&unknown;"
    assert convert(b'<a b="&unknown;">x</a>').text == "x"


def test_entities_cannot_make_a_long_text() -> None:
    rows = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x" * 10}">' for i in range(9))
    with pytest.raises(ConversionError, match=r"entities make a text that is much longer|amplification"):
        convert(f"<!DOCTYPE a [{rows}]><a>&e8;</a>".encode())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<a>", "not XML: .*pass kind='text'"),
        (b"<a>&no</a>", "not XML: not well-formed"),
        (b"<a>" * 1001, "elements inside more than 1,000"),
        (b"", "not XML"),
    ],
)
def test_bad_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ConversionError, match=message):
        convert(data)


def test_many_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_text, "MAX_ELEMENTS", 2)
    with pytest.raises(ConversionError, match="more than 2 elements"):
        convert(b"<a><b/><b/></a>")


def test_lines_and_paragraphs_in_text_are_apart() -> None:
    assert convert(b"<a><p>first<lb/>second<br/>third</p></a>").text == "first second third"
    assert convert(b"<ul><li>text<p>one</p><p>two</p></li></ul>").text == "text one two"
    assert convert(b"<a><p>H<sub>2</sub>O</p></a>").text == "H2O"


def test_attributes_that_a_reader_sees_are_text() -> None:
    source = '<opml><head><title>Feeds</title></head><body><outline text="News" id="a"><outline text="B &amp; C" '
    source += 'xmlUrl="http://b"/></outline><p>See <img alt="a cat"/>now.</p></body></opml>'
    assert convert(source.encode()).text == "Feeds\n\nNews\n\nB & C\n\nSee a cat now."


def test_entities_in_attributes_count_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_text, "MAX_MORE", 10)
    source = '<!DOCTYPE a [<!ENTITY e "' + "x" * 100 + '">]><a>' + '<b title="&e;"/>' * 30 + "</a>"
    with pytest.raises(ConversionError, match="much longer than the file"):
        convert(source.encode())
