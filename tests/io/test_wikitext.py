"""Wikitext to plain text: literal cases, properties of any text, and a real dump compared with mwparserfromhell."""

import importlib.util
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk._engine.reference.parsing import wiki_elements
from pychunk.io import wikitext
from pychunk.io.wiki import wikitext as own

Cleaner, clean = wikitext.Cleaner, wikitext.clean  # as the README writes them: pychunk.io.wikitext.clean

MARKUP = re.compile(r"\{\{|\}\}|\[\[|\]\]|<ref|\{\||\|\}|</?[a-zA-Z][^<>]*>|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);|'''")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("'''Bold''' and ''italic'' and '''''both'''''", "Bold and italic and both"),
        ("l'''Odyssée'' d'Homère, '''gras'''", "l'Odyssée d'Homère, gras"),
        ("the dog''s'' bowl isn't ''''big''''", "the dogs bowl isn't 'big'"),
        ("[[Cat]]s, [[dog|Dogs]], [[#Diet|diet]], [[:File:a.png]], [[de:Katze]]", "Cats, Dogs, diet, File:a.png,"),
        ("see [[wikt:cat|cat]] and [[doi:10.1/2]] and [[A: B]]", "see cat and doi:10.1/2 and A: B"),
        ("x[[File:a.jpg|thumb|A [[cat]] with {{convert|5|kg}} [http://a.b c]]]y", "xy"),
        ("x[[category: Cats|*]] y[[Image:b.png]]", "x y"),
        ("[http://a.b/c?d=1 a site], [https://a.b], [//a.b x], http://c.d/", "a site,, x, http://c.d/"),
        ("A<ref>no</ref> b<ref name=x/> c<ref name='y' group=z>n {{cite|a=<b>}}</ref>.", "A b c."),
        ("A <!-- no\n\n== no == --> b", "A b"),
        ("one\n<!-- alone -->\ntwo", "one two"),
        ("one\ntwo\n\nthree", "one two\n\nthree"),
        (
            "== Life ==\nText.\n=== ''Early'' [[life|years]]{{anchor|x}} ===\nMore.",
            "Life\n\nText.\n\nEarly years\n\nMore.",
        ),
        ("Text:\n* a\n** b\n# c\n: d\n; e\nEnd.", "Text:\n\n- a\n- b\n- c\nd\ne\n\nEnd."),
        ("a\n{| class=x\n|-\n| b || [[c]]\n{|\n| d\n|}\n| {{e}}\n|}\nf", "a\n\nf"),
        ("a <table><tr><td>b</td></tr></table> c", "a\n\nc"),
        ("H<sub>2</sub>O, 10<sup>6</sup> m<sup>2</sup>, 4<sup>th</sup>", "H2O, 10⁶ m², 4th"),
        ("one<br />two<br>three", "one\ntwo\nthree"),
        ("<div style='a'>x</div><span class=y>z</span>", "x\nz"),
        ("a < b and c > d, x<y, 1 <2> 3", "a < b and c > d, x<y, 1 <2> 3"),
        ("&lt;b&gt; &amp;amp; &nbsp;x &#65;&#x42; AT&T &copy=2 &bogus;", "<b> &amp; x AB AT&T &copy=2 &bogus;"),
        ("<nowiki>[[a]] {{b}}</nowiki> c", "[[a]] {{b}} c"),
        ("where <math>x^{{2}} + {a}</math> is", "where x^{ {2} } + {a} is"),
        ("<syntaxhighlight lang=c>\nif (a[b[0]])\n  x();\n</syntaxhighlight>", "if (a[b[0]])\n  x();"),
        ("<poem>\nOne,\nTwo.\n</poem>", "One,\nTwo."),
        ("__NOTOC__ the __init__ method", "the __init__ method"),
        ("A {{unknown|x=[[y]]|{{z}}}} b{{cn}}.", "A b."),
        ("Ada ({{IPA-en|x|y}}; born 1815)", "Ada (x; born 1815)"),
        ("Ada ({{audio|x}}) and ({{audio|x}}; born 1815) f()", "Ada and (born 1815) f()"),
        ("{{convert|5|km|mi|abbr=on}}, {{convert|5|to|7|km}}, {{cvt|6|ft|2|in|m}}", "5 km, 5 to 7 km, 6 ft 2 in"),
        ("{{convert|5|x|10|m|ft}}, {{convert|3|ft}}, {{convert|1,500|+/-|20|kg|lb}}", "5 × 10 m, 3 ft, 1,500 ± 20 kg"),
        ("a <math>x b [[c]]. d <math>y</math> <nowiki><nowiki></nowiki>", "a x b c. d y <nowiki>"),
        ("{{lang|fr|chat}}, {{lang-de|Katze}}, {{transl|ru|kot}}, {{IPA|/kæt/}}", "chat, Katze, kot, /kæt/"),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("{{IPAc-en|ˈ|k|æ|t|audio=x.ogg}}", "/ˈkæt/"),
        ("1{{ndash}}2{{nbsp}}km{{mdash}}far{{snd}}off{{·}}{{!}}", "1–2 km—far – off · |"),
        ("{{As of|2010|5|lc=y}} and {{as of|1999}}", "as of May 2010 and As of 1999"),
        ("a\n{{quote|To [[be]]|Hamlet}}\nb", "a\n\nTo be\n\n— Hamlet\n\nb"),
        ("{{main|Rome|Roman Empire}}\nText", "Main article: Rome, Roman Empire\n\nText"),
        ("{{Nowrap|a {{small|b}}}} {{abbr|c|d}} {{frac|1|2}} {{formatnum:1234}}", "a b c 1/2 1234"),
        ("{{val|1.5|e=6|u=m}} {{circa|1200}} {{USS|Ohio}}", "1.5×10^6 m c. 1200 USS Ohio"),
        ("-{zh-hans:汉; zh-hant:漢}-字", "汉字"),
    ],
)
def test_literal_cases(source: str, text: str) -> None:
    assert clean(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("H{{sub|2}}O", "H2O"),
        ("E=mc{{sup|2}}", "E=mc^2"),
        ("{{chem|H|2|O}}", "H2O"),
        ("{{chem2|CO2}}", "CO2"),
        ("3{{e|8}} m", "3×10^8 m"),
        ("{{height|m=1.80}}", "1.80 m"),
        ("{{convert|5|km|mi}}", "5 km"),
        ("{{cvt|5|km|mi}}", "5 km"),
        ("{{formatnum:1350}}", "1350"),
        ("{{val|3.2|u=m}}", "3.2 m"),
        ("{{frac|1|2}}", "1/2"),
        ("{{age|1990|1|1}}", "1 January 1990"),
        ("{{birth date|1990|1|1}}", "1 January 1990"),
        ("{{start date|1990|1|1}}", "1 January 1990"),
        ("{{circa|1230}}", "c. 1230"),
        ("{{lang|de|Graf}}", "Graf"),
        ("{{lang-de|Graf}}", "Graf"),
        ("{{IPA|lɪnd}}", "lɪnd"),
        ("{{abbr|km|kilometre}}", "km"),
        ("{{small|tiny}}", "tiny"),
        ("{{nowrap|a b}}", "a b"),
        ("{{quote|To be or not.}}", "\n\nTo be or not.\n\n"),
        ("{{blockquote|To be or not.}}", "\n\nTo be or not.\n\n"),
        ("{{as of|2020}}", "As of 2020"),
        ("{{ill|Bo|sv}}", "Bo"),
        ("{{transl|ru|Moskva}}", "Moskva"),
        ("{{zh|s=北京|p=Beijing}}", "北京, Beijing"),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("{{coord|55|N|12|E}}", "55°N 12°E"),
        ("{{INR|500}}", "₹500"),
        ("{{US$|5 million}}", "US$5 million"),
        ("{{GBP|5}}", "£5"),
        ("{{math|''x'' + 1}}", "x + 1"),
        ("{{mvar|x}}", "x"),
        ("{{mono|code}}", "code"),
        ("{{code|x=1}}", "x=1"),
        ("{{tag|ref}}", "<ref>"),
        ("{{color|red|Red text}}", "Red text"),
        ("{{em|word}}", "word"),
        ("{{strong|word}}", "word"),
        ("{{sic|recieve}}", "recieve [sic]"),
        ("{{not a typo|recieve}}", "recieve"),
        ("{{ordinal|3}}", "3rd"),
        ("{{percentage|1|4}}", "25%"),
        ("{{USS|Enterprise|CVN-65|6}}", "USS Enterprise (CVN-65)"),
        ("{{HMS|Victory}}", "HMS Victory"),
        ("{{c.|1400}}", "c. 1400"),
        ("{{flag|France}}", "France"),
        ("{{flagicon|France}}", ""),
        ("a{{snd}}b", "a – b"),
        ("1{{endash}}2", "1–2"),
        ("{{pi}}", "π"),
        ("{{num|1000}}", "1000"),
        ("{{gaps|1|000|000}}", "1 000 000"),
        ("{{10^|6}}", "10^6"),
        ("{{smallcaps|Abc}}", "Abc"),
        ("{{poemquote|Line one\nLine two}}", "\n\nLine one\nLine two\n\n"),
        ("{{langx|de|Graf}}", "Graf"),
        # Others of their kinds.
        ("about 5.98{{e|24}} kg, ~300{{e|9}}, 1.6{{e|−19}}", "about 5.98×10^24 kg, ~300×10^9, 1.6×10^−19"),
        ("''x''{{sup|n+1}}, ''x''{{sub|i}}, 4{{sup|th}}", "x^{n+1}, x_i, 4th"),
        ("10<sup>−5.2</sup>, ''e''<sup>&minus;x</sup>, m<sup>2</sup>", "10^−5.2, e^{−x}, m²"),
        ("{{chem|SO|4|2-}}, {{chem2|NH4(+)}}", "SO4^{2-}, NH4^+"),
        ("3{{frac|1|2}} miles, {{frac|5|1|2}}", "3 1/2 miles, 5 1/2"),
        ("at 20:18 ({{age|1969|7|20|2015|7|21}} years ago)", "at 20:18 (46 years ago)"),
        ("{{age|1990-05-02|2000-01-01}}, {{age in days|2000|1|1|2000|3|1}}", "9, 60"),
        ("{{death date and age|1955|4|18|1879|3|14}}", "18 April 1955 (aged 76)"),
        ("{{ordinal|11}}, {{ordinal|22}}, {{percentage|1|3|1}}, {{rnd|3.14159|2}}", "11th, 22nd, 33.3%, 3.14"),
        ("{{coord|51|30|26|N|0|7|39|W|display=inline}}", "51°30′26″N 0°7′39″W"),
        ("{{coord|51|N|0|W|display=title}}", ""),
        ("{{val|20|u=%}}, {{val|5|e=-3|ul=kg}}, {{val|1.0|0.2}}", "20%, 5×10^-3 kg, 1.0±0.2"),
        ("{{height|ft=5|in=11}}, {{sqrt|2}}, {{bce|44}}, {{±|3}}", "5 ft 11 in, √2, 44 BCE, ±3"),
        ("the {{railgauge|1435mm}} gauge, Rule {{PCT rule|8}}, 3{{mystery|5}}", "the 1435mm gauge, Rule 8, 3 5"),
        (
            "{{duration|h=1|m=30}}, {{duration|m=3|s=5}}, {{circa}} 1500, {{circa|1500|1510}}",
            "1:30:00, 3:05, c. 1500, c. 1500 – c. 1510",
        ),
        (
            "{{convert|-40|C|F}}, {{convert|5|km2|sqmi}}, {{death year and age|1955|1879}}",
            "-40 °C, 5 km², 1955 (aged 75–76)",
        ),
        ("{{IPA|fr|pʁi}} and {{OldStyleDate|February 2|1905|January 20}}", "pʁi and February 2 [O.S. January 20] 1905"),
        ("Rate {{decrease}} 3%, {{audio|x.ogg}} {{mystery|x.png}} {{mystery|https://a.b}}", "Rate ▼ 3%,"),
    ],
)
def test_values_in_templates_are_shown(source: str, text: str) -> None:
    said = re.sub(" ?(\n\n) ?", r"\1", f"Start here {text} end here.".replace("  ", " "))
    assert clean(f"Start here {source} end here.") == said


@pytest.mark.parametrize(
    "alone",
    [
        "{{Mystery|12}}",
        "* {{Mystery|12}}",
        "{{Infobox|weight=3|12}}",
        "{{mystery|\n12\n}}",
        "{{coord|55|N|12|E|display=inline,title}}",
        "== {{Mystery|12}} ==",
    ],
)
def test_unknown_templates_that_stand_alone_are_left_out(alone: str) -> None:
    assert "12" not in clean(f"A text.\n\n{alone}\n\nMore.")
    assert Cleaner().page(f"A text.\n\n{alone}\n\nMore.")[2] == 0


@pytest.mark.parametrize(
    "broken",
    ["{{", "}}", "[[", "]]", "{|", "\n|}", "<ref>", "<ref name=x>", "</ref>", "<!--", "<math>", "<nowiki>", "<poem>",
     "{{Infobox\n| a = b", "[[File:x.png|thumb", "\n{|\n| x", "<table>", "</table>", "'''",
     "<div", "{{a|[[b}}", "[[c|{{d]]"],
)  # fmt: skip
def test_unbalanced_markup_eats_no_section(broken: str) -> None:
    text = clean(f"The first sentence stays. {broken}\n\n== Second ==\nThe second sentence stays.\n\nThe third too.")
    assert "The first sentence stays." in text
    assert text.endswith("\n\nSecond\n\nThe second sentence stays.\n\nThe third too.")


@pytest.mark.parametrize("broken", ["{{", "[[", "<ref>", "<!--", "<math>"])
def test_unbalanced_markup_loses_its_marks_alone(broken: str) -> None:
    assert clean(f"Before. {broken} After, and {{{{small|more}}}}.<ref>x</ref>").replace("  ", " ") in (
        "Before. After, and more."
    )


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("", []),
        ("one\ntwo\n\nthree", [("paragraph", 0, "one two"), ("paragraph", 0, "three")]),
        (
            "Text.\n== Life ==\nA.\n=== ''Early'' [[life|years]] ===\n====== six ======\n======= seven =======",
            [
                ("paragraph", 0, "Text."),
                ("heading", 2, "Life"),
                ("paragraph", 0, "A."),
                ("heading", 3, "Early years"),
                ("heading", 6, "six"),
                ("heading", 6, "= seven ="),
            ],
        ),
        (
            "Text:\n* a\n** b\n# c\n*#: d\n: e\n; f\nEnd.",
            [
                ("paragraph", 0, "Text:"),
                ("item", 1, "- a"),
                ("item", 2, "- b"),
                ("item", 1, "- c"),
                ("item", 3, "- d"),
                ("paragraph", 0, "e"),
                ("paragraph", 0, "f"),
                ("paragraph", 0, "End."),
            ],
        ),
        ("- a dash, no item", [("paragraph", 0, "- a dash, no item")]),
        ("one<br>two<br>\nthree", [("paragraph", 0, "one\ntwo\nthree")]),
        ("* one<br>two\n* <br>", [("item", 1, "- one\ntwo")]),
        (
            "So:\n<syntaxhighlight lang=c>\nif (a[b[0]])\n  x();\n</syntaxhighlight>\nand <code>y</code>",
            [("paragraph", 0, "So:"), ("code", 0, "if (a[b[0]])\n  x();"), ("paragraph", 0, "and y")],
        ),
        ("a <nowiki>== b ==</nowiki>\n== &nbsp; ==\n&nbsp; c", [("paragraph", 0, "a == b =="), ("paragraph", 0, "c")]),
        ("&#10;x&#10;&#10;\n== y ==\n&#32;", [("paragraph", 0, "x"), ("heading", 2, "y")]),
    ],
)
def test_blocks_of_pages(source: str, blocks: list[tuple[str, int, str]]) -> None:
    text, found = Cleaner().with_blocks(source)
    assert text == clean(source)
    assert found is not None
    assert [(kind, level, text[start:end]) for kind, level, start, end in found] == blocks


def test_a_page_of_too_many_blocks_tells_none(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "== a ==\n\n" * 30 + "&nbsp;"
    monkeypatch.setattr(wikitext, "MAX_BLOCKS", 29)
    assert Cleaner().with_blocks(source) == (clean(source), None)
    monkeypatch.setattr(wikitext, "MAX_BLOCKS", 30)
    assert len(Cleaner().with_blocks(source)[1] or []) == 30


def test_names_of_namespaces_come_from_the_dump() -> None:
    source = "x[[Файл:а.png|мини|текст]]y[[Категория:К]]z[[File:b.png]]"
    assert Cleaner({6: "Файл", 14: "Категория"})(source) == "xyz"
    assert clean(source) == "xмини|текстyКатегория:Кz"


def test_more_templates() -> None:
    made = Cleaner(templates={"unité": lambda given: f"{given[1]} {given[2]}"})
    assert made("{{unité|5|km}} {{Nowrap|x}}") == "5 km x"


WORDS = st.text(st.characters(categories=["L", "N"]) | st.sampled_from(' .,;()-"?!'), min_size=1, max_size=40)


@given(WORDS)
def test_plain_text_comes_through(text: str) -> None:
    line = "x" + text  # not a list item
    assert clean(line).split() == line.split()


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    _check_blocks(text)


def _check_blocks(source: str) -> None:
    """Check that the text is that without blocks, and that blocks rise and hold all but white space."""
    text, blocks = Cleaner().with_blocks(source)
    assert text == clean(source)
    assert blocks is not None
    end = 0
    for kind, level, start, stop in blocks:
        assert not text[end:start].strip()
        assert text[start:stop] == text[start:stop].strip() != ""
        assert (level > 0) == (kind in ("heading", "item"))
        assert kind != "item" or text[start:stop].startswith("-")
        end = stop
    assert not text[end:].strip()


PIECES = ["{{", "}}", "{{{", "[[", "]]", "|", "=", "\n==", "==\n", "\n{|", "\n|}", "\n|-", "<ref>", "</ref>", "<ref/>",
          "<!--", "-->",
          "'''", "''", "<nowiki>", "</nowiki>", "<math>", "</math>", "File:", "a", " ", "\n", "\n*", "&amp;", "&#9;",
          "<br>", "[", "]",
          "http://x", "__TOC__", "-{", "}-", "<table>", "</table>", "quote", "convert", "\x01",
          "\x040\x04", "(", "<br>\n", "&nbsp;", "&#10;", "\n\n", "\n# ", "\n:", "==", "<pre>\n", "\n</pre>", "<poem>",
          "</poem>", "\x06p", "\u2003"]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_markup_is_taken(text: str) -> None:
    assert not re.search("[\x00-\x08]", clean(text))
    _check_blocks(text)


WRAPPERS = [
    "[[cat|X]]", "[[File:a.png|thumb|X]]", "<b>X</b>", "'''X'''", "\n{|\n| X\n|}\n", "\n* X\n", "\n== X ==\n",
    "<div>X</div>", "{{small|X}}", "{{cite|X}}", "{{quote|X}}", "{{lang|en|X}}",
]  # fmt: skip


def balanced() -> st.SearchStrategy[str]:
    word = st.sampled_from(["cat", "the dog", "12", "é", "<ref>y</ref>", "<!-- y -->", "&amp;"])
    return st.recursive(
        word,
        lambda inner: st.one_of(
            st.tuples(st.sampled_from(WRAPPERS), inner).map(lambda x: x[0].replace("X", x[1])),
            st.tuples(inner, inner).map(" ".join),
        ),
        max_leaves=25,
    )


@pytest.mark.slow
@settings(max_examples=300)
@given(balanced())
def test_balanced_markup_leaves_nothing(text: str) -> None:
    assert not MARKUP.search(clean(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["{{", "[[", "{{a|", "[[a|", "<ref>", "<!--", "<math>", "{{}}", "]]", "}}", "\n==a==", "\n{|",
     "<a ", "[http://",
     "(\x01", "'''a",
     "{{lang|x|", "\n* ", "\n* a", "\n<br>", "\n== ==", "&nbsp;\n", "\n<!--",
     "[]][", "-{", "__a", "<ref", "{{{", "|}", "&", "[[File:a|",
     "<poem>", "  ", "\t"],
)  # fmt: skip
def test_time_grows_with_length_alone(unit: str) -> None:
    begun = time.process_time()
    Cleaner().with_blocks(unit * (400_000 // len(unit)))
    assert time.process_time() - begun < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "run", "after"),
    [
        ("[http://", "a", ""),
        ("[http://a", " ", ""),
        ("<br>", " ", "x"),
        ("{{small|", " ", "=}}"),
        ("{{small|a", " ", "=}}"),
        ("==", "=", "x"),
        ("(", " ", "{{cn}}"),
        ("<a", " ", ">"),
        ("<zz a=b", " c=d", " e>"),
        ("", "\n ", "{{cn}}"),
        ("{{small|" * 90, "a|", "}}" * 90),
        ("<ref>", "<ref/>", ""),
        ("", "'", ""),
        ("", "'''a ", ""),
        ("<sup>", " ", "</sup>"),
        ("{{convert|", "1", "x|km}}"),
        ("{{convert|", "1.", "x|km}}"),
    ],
)
def test_long_runs_take_no_long_time(before: str, run: str, after: str) -> None:
    begun = time.process_time()
    Cleaner().with_blocks(before + run * (400_000 // len(run)) + after)
    assert time.process_time() - begun < 5


@pytest.mark.slow
def test_short_lines_of_a_paragraph_take_time_in_proportion() -> None:
    begun = time.process_time()
    text = clean("ab\n" * 1_400_000)
    assert time.process_time() - begun < 20
    assert text == " ".join(["ab"] * 1_400_000)


#: The letters of hostile pages, and the marks that the cleaner uses itself.
pieces = st.text("ab2 \n\t(),;|\x01\x03\x05\r\x1f\ud800é", max_size=6)


@given(st.lists(st.sampled_from([" ", "\x01", " \x01", "a", ",", ")", "\n", "(", "x "]), max_size=30).map("".join))
def test_blanks_before_dropped_text_as_by_a_pattern(text: str) -> None:
    expected = re.sub(" \x01+(?=[ ,.;:)\\]\n])", "", text).replace("\x01", "")
    assert own._without_orphans(text).replace("\x01", "") == expected


@given(
    st.lists(st.sampled_from(["\n", " ", "\t", "<!--", "-->", "<ref>", "</ref>", "a", "<p>"]), max_size=30).map("".join)
)
def test_a_comment_begins_at_its_line_as_by_a_pattern(text: str) -> None:
    opening = re.compile(r"\n[ \t]*<!--|<!--|<ref>")
    position, starts = 0, []
    while (match := wiki_elements._OPENING.search(text, position)) is not None:
        start = match.start() if match[1] else wiki_elements._line_begin(text, position, match.start())
        starts.append((start, match.end()))
        position = match.end()
    assert starts == [match.span() for match in opening.finditer(text)]


def sample(data: Path) -> list[tuple[str, str]]:
    """Return (title, wikitext) of the articles of the sample dump, as Python's own XML parser reads them."""
    import bz2
    from xml.etree import ElementTree

    with bz2.open(data / "wiki" / "enwiki-sample-pages-articles.xml.bz2") as file:
        root = ElementTree.parse(file).getroot()
    pages = root.findall("{*}page")
    articles = [page for page in pages if page.find("{*}redirect") is None and page.findtext("{*}ns") == "0"]
    return [(page.findtext("{*}title") or "", page.findtext("{*}revision/{*}text") or "") for page in articles]


@pytest.mark.slow
def test_a_real_dump_keeps_headings_and_no_markup(data: Path) -> None:
    import pychunk

    pages = sample(data)
    texts = [clean(text) for _, text in pages]
    chunks = pychunk.segment(texts).table["text"].to_pylist()
    held = [chunk for chunk in chunks if MARKUP.search(chunk)]
    assert len(held) <= 0.01 * len(chunks)
    count = 0
    for (title, source), text in zip(pages, texts):
        plain = re.sub(r"<!--.*?-->|<(math|source|pre|nowiki)\b.*?</\1>", "", source, flags=re.DOTALL)
        lines = set(text.split("\n"))
        found = re.findall(r"^(==+)([^=\n\[{<'&]+)\1[ \t]*$", plain, re.MULTILINE)
        for _, heading in found:
            assert " ".join(heading.split()) in lines, title
        told, blocks = Cleaner().with_blocks(source)
        assert told == text
        headings = [(level, told[start:end]) for kind, level, start, end in blocks or [] if kind == "heading"]
        expected = iter(headings)
        for marks, heading in found:  # in order, among those with mark-up in them
            assert (len(marks), " ".join(heading.split())) in expected, title
        count += len(headings)
    assert count > 1000


@pytest.mark.slow
@pytest.mark.parametrize("step", amounts(10, 1))
def test_no_prose_is_lost_beside_mwparserfromhell(data: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    pytest.importorskip("mwparserfromhell")
    path = Path(__file__).resolve().parents[2] / "bench" / "ingestion" / "wikitext.py"
    monkeypatch.syspath_prepend(path.parent)  # the folder of the modules that it imports
    spec = importlib.util.spec_from_file_location("bench_wikitext", path)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    for title, source in sample(data)[::step]:
        lost, words = bench.lost_words(bench.peer_text(source), clean(source))
        assert lost.total() <= 0.01 * words, (title, Counter(lost).most_common(5))
