"""Lines of a PDF become paragraphs, list items, code, and words that a hyphen divides."""

import random
import re

import pytest
from pdfs import Page, made, width_of

from pychunk.parsing.pdf.pdf_document import read_pdf

pytest.importorskip("pypdfium2", reason="PDFs are read by pypdfium2 (extra docs)")
from pdf_texts import WORDS, paragraph, rows


def test_paragraphs_by_distance_by_indentation_and_by_short_last_lines() -> None:
    drawn = random.Random(5)
    page = Page()
    y = 60.0
    wanted = []
    for gap, indent in ((8.0, 0.0), (0.0, 15.0), (0.0, 15.0), (0.0, 0.0)):
        lines = paragraph(drawn, 470, 70)
        y += gap
        page.put(50 + indent, y, lines[0])
        y = page.lines(50, y + 12, lines[1:])
        wanted.append(" ".join(lines))
    assert [text for *_, text in rows(read_pdf(made([page])))] == wanted


@pytest.mark.parametrize("indents", [(60, 20), (20, 60), (20, 60, 20, 40), (40, 20, 20, 20)])
def test_a_sentence_is_one_paragraph_however_its_lines_are_indented(indents: tuple[int, ...]) -> None:
    drawn = random.Random(36)
    page = Page()
    y = 60.0
    wanted = []
    for _ in range(3):
        lines, chosen = [""], [drawn.choice(WORDS) for _ in range(90)]
        for word in [chosen[0].capitalize(), *chosen[1:-1], chosen[-1] + "."]:
            indent = indents[min(len(lines), len(indents)) - 1]
            if lines[-1] and width_of(f"{lines[-1]} {word}", 10) > 470 - indent:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        for number, line in enumerate(lines, 1):
            page.put(50 + indents[min(number, len(indents)) - 1], y, line)
            y += 12
        y += 6
        wanted.append(" ".join(lines))
    assert [text for *_, text in rows(read_pdf(made([page])))] == wanted


def test_what_is_raised_or_a_table_beside_it_tears_no_sentence() -> None:
    lines = paragraph(random.Random(37), 470, 80)
    page = Page()
    for number, line in enumerate(lines):
        page.put(50, 60 + 12 * number + 4 * (number > 2), line)
    page.lines(50, 200, paragraph(random.Random(38), 470, 80))
    assert next(text for *_, text in rows(read_pdf(made([page])))) == " ".join(lines)


@pytest.mark.parametrize("goes_on", ["– rarely, in patients with", "(below 3 units) in patients with"])
def test_a_dash_or_a_bracket_within_a_sentence_begins_no_paragraph(goes_on: str) -> None:
    before = "The medicine is taken with water; what was seen of it often is thirst and"
    page = Page()
    page.lines(50, 100, [before, f"{goes_on} a disease of the liver, which is known to all, is"])
    page.put(50, 124, "sleep.")
    texts = [row[3] for row in rows(read_pdf(made([page])))]
    assert texts == [f"{before} {goes_on} a disease of the liver, which is known to all, is sleep."]


def test_a_line_in_the_type_of_code_goes_on_a_sentence() -> None:
    long = "Programs in the base system put the files of their configuration into a folder of"
    page = (
        Page()
        .put(50, 100, long, size=10)
        .put(50, 112, "/etc/pump/conf.d, /opt/pump, or on systems with several, in /usr/", font=3)
        .put(50, 124, "local.", font=3)
    )
    page.put(50, 160, "Run it with what follows, which stops the pump and says what it did and why:", size=10)
    page.put(50, 172, "pump --stop", font=3)
    code = rows(read_pdf(made([page])))
    assert [row[3] for row in code] == [
        f"{long} /etc/pump/conf.d, /opt/pump, or on systems with several, in /usr/local.",
        page.texts[3][4],
        "pump --stop",
    ]
    assert [row[0] for row in code] == ["paragraph", "paragraph", "code"]


def test_a_term_in_the_type_of_code_is_no_code() -> None:
    page = Page().put(50, 80, "The following levels are known to the tools of the system, which read them:")
    for at, term in enumerate(("required", "important")):
        page.put(50, 110 + 60 * at, term, font=3)
        page.lines(
            70, 124 + 60 * at, ["Packages that are needed for the system to work as it should, and that", "stay."]
        )
    page.put(50, 240, "for name in levels:", font=3).put(70, 252, "print(name)", font=3)
    assert [row[0] for row in rows(read_pdf(made([page])))] == ["paragraph", *["term", "paragraph"] * 2, "code"]


def test_hyphenation_is_undone_where_the_joined_word_is_known() -> None:
    filled = "is what all the other animals of the forest, who look on and wonder, call a well"
    page = Page()
    page.lines(50, 100, ["An anything at the beginning of a line that is long enough to be one, and then any-"])
    page.lines(50, 112, ["thing at the beginning of another line that is long enough to be one, too, and a self-"])
    page.lines(50, 124, ["made man in a line of his own; nobody knows him or the others, for they are unknow-"])
    page.lines(50, 136, ["able."])
    text = read_pdf(made([page])).text
    assert "and then anything at" in text
    assert "a self-made man" in text
    assert "are unknow-able." in text
    assert filled not in text
    page = Page()
    page.lines(50, 100, ["The quick infor-", "mation, which is information about something", "that fills a line."])
    assert read_pdf(made([page])).text.startswith("The quick information, which")


def test_words_of_the_vocabulary_are_joined_and_compounds_are_kept() -> None:
    page = Page()
    page.lines(50, 100, ["The equip-", "ment is long-", "term and up-", "date co-operative, pre-", "sent in inter-"])
    page.lines(50, 160, ["national trade, infrastruc-", "ture and a co-", "operative; two-", "or three-digit, hard-"])
    page.lines(50, 208, ["to-find ASCII, 512-", "byte words and e-", "mail, and the re-", "entry."])
    assert read_pdf(made([page])).text == (
        "The equipment is long-term and update co-operative, present in international trade, infrastructure and a "
        "co-operative; two- or three-digit, hard-to-find ASCII, 512-byte words and e-mail, and the re-entry."
    )


def test_lists() -> None:
    page = Page().put(50, 100, "You will need:")
    page.put(60, 114, "\u2022").put(
        75, 114, "a quick fox, which need not be brown as long as it is quick, but had better not be"
    )
    page.put(75, 126, "lazy;")
    page.put(80, 138, "\u2013 or a wolf").put(60, 150, "\u2022 a dog.")
    page.put(50, 174, "1. Let it jump.").put(50, 186, "2. Wonder.")
    assert [(kind, level, text) for kind, level, _, text in rows(read_pdf(made([page])))] == [
        ("paragraph", 0, "You will need:"),
        ("item", 1, "\u2022 a quick fox, which need not be brown as long as it is quick, but had better not be lazy;"),
        ("item", 2, "\u2013 or a wolf"),
        ("item", 1, "\u2022 a dog."),
        ("item", 1, "1. Let it jump."),
        ("item", 1, "2. Wonder."),
    ]


CODE = ["def fox(size):", "    if size > 3:", "        return 'big'     # or so", "", "    return 'small'"]


def test_code_is_one_block_that_keeps_its_lines_and_indentation() -> None:
    page = Page()
    y = page.lines(50, 60, paragraph(random.Random(13), 480)) + 8
    for line in CODE:
        for found in re.finditer(r"\S+(?: \S+)*", line):
            page.put(60 + 6 * found.start(), y, found.group(), font=3)
        y += 12
    page.lines(50, y + 8, paragraph(random.Random(14), 480))
    found = rows(read_pdf(made([page])))
    assert [kind for kind, *_ in found] == ["paragraph", "code", "paragraph"]
    assert found[1][3].splitlines() == [line for line in CODE if line]


def test_a_typed_document_is_no_code() -> None:
    page = Page()
    for number, line in enumerate(paragraph(random.Random(15), 300)):
        page.put(50, 60 + 12 * number, line, font=3)
    assert [kind for kind, *_ in rows(read_pdf(made([page])))] == ["paragraph"]
