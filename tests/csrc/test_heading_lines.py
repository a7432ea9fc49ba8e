"""The lines of plain text that are headings, and those that only look like headings."""

from __future__ import annotations

import pytest
from plain_text import METHODS, PROSE, check_tiling

import pychunk


def test_where_headings_stop_a_line_with_a_quantity_above_one_is_text() -> None:
    behind = f"Overdose.\n{PROSE[0]} {PROSE[1]}"
    text = f"{PROSE[2]}\nChildren of any age at all.\nNot for those who are under 2 years.\n{behind}"
    chunks = list(pychunk.segment(text, "semantic", threshold=-1.0, min_tokens=0))
    check_tiling(text, chunks)
    assert any(chunk.text.startswith("Children") for chunk in chunks)
    assert any(chunk.text.startswith("Overdose") for chunk in chunks)
    years = f"{PROSE[2]}\nThe war years.\nFrom 1914 to 1918.\nThe front.\n{PROSE[0]} {PROSE[1]}"
    chunks = list(pychunk.segment(years, "semantic", threshold=-1.0, min_tokens=0))
    assert any(chunk.text.startswith("The war years.\nFrom 1914 to 1918.\nThe front.\n") for chunk in chunks)


def test_a_row_of_a_table_and_a_line_before_a_marked_heading_are_no_headings() -> None:
    rows = ["| what | where |", "| --- | --- |", "| Architecture | here |", "| Changes | there |"]
    text = "\n".join([PROSE[0], "", *rows, "", "## Tests", "", PROSE[1]])
    first, second = pychunk.segment(text, "semantic", threshold=-1.0)
    assert first.text.endswith("| Changes | there |")
    assert second.text.startswith("## Tests")
    text = f"{PROSE[0]}\nRead more about cats\n\n## Tests\n\n{PROSE[1]}"
    chunks = list(pychunk.segment(text, "semantic", threshold=-1.0))
    assert chunks[0].text.endswith("Read more about cats")


def headings_found(text: str) -> list[str]:
    """Return the first line of each section-long chunk, which is a heading or introduces a section."""
    chunks = pychunk.segment(text, "semantic", threshold=-1.0, min_tokens=0, max_tokens=None)
    return [chunk.text.split("\n")[0] for chunk in chunks]


LONG = [f"{paragraph} {PROSE[0]}" for paragraph in PROSE]
#: Lines that are headings if prose precedes and follows them, at the distances given in line breaks.
HEADINGS = [
    ("Is one of these two engines more accurate than the other for long documents?", 2, 2),
    ("9. Ably", 2, 2),
    ("5.1 Scope of the agreement", 1, 1),
    ("b) Companies that lead the market", 2, 2),
    ("4. Edit what you wrote.", 2, 2),
    ("systemd components", 2, 2),
    ("So many models!", 2, 2),
    ('"Unable to find root device" error after a restart', 2, 2),
    ("Key takeaways:", 2, 2),
    ("Overdose.", 2, 1),
    ("Use in pregnancy and during breast feeding by mothers of children.", 1, 1),
]
#: Lines that are not headings.
OTHERS = [
    ("He laughed.", 2, 2),
    ("and so they went on together", 1, 1),
    ("A line that stands closer to what is before it", 1, 2),
    ("It was the best of times, it was the worst of times, it was so.", 2, 2),
    ("she said:", 2, 2),
    ("“Never mind.”", 2, 2),
    ("Cats, dogs,", 2, 2),
]


@pytest.mark.parametrize(("line", "before", "behind"), HEADINGS)
def test_lines_that_are_headings(line: str, before: int, behind: int) -> None:
    text = LONG[0] + "\n" * before + line + "\n" * behind + LONG[1]
    assert headings_found(text)[1:] == [line]


@pytest.mark.parametrize(("line", "before", "behind"), OTHERS)
def test_lines_that_are_none(line: str, before: int, behind: int) -> None:
    assert len(headings_found(LONG[0] + "\n" * before + line + "\n" * behind + LONG[1])) == 1


def test_what_stands_above_a_heading_and_says_something_is_none() -> None:
    # In texts whose headings end in a stop, a line without one ends a list. A mark begins a pointer; a negation denies.
    for line in ("A record of the whole family", ">> See our full guide to cats", "Not for young children."):
        assert headings_found(f"{LONG[0]}\n{line}\nOverdose.\n{LONG[1]}")[1:] == ["Overdose."], line
    assert headings_found(f"{LONG[0]}\nClinical data.\nOverdose.\n{LONG[1]}")[1:] == ["Clinical data."]
    assert headings_found(f"{LONG[0]}\n\nEnglish name\nContents:\n{LONG[1]}")[1:] == ["English name"]
    assert headings_found(f"{LONG[0]}\nEnglish name\nContents:\n{LONG[1]}")[1:] != ["English name"]


def test_where_most_lines_that_stop_are_text_a_statement_above_a_heading_is_none() -> None:
    statement = "Keep it away from children."
    text = f"{LONG[0]}\n{statement}\nPackage.\n{LONG[1]}"
    assert headings_found(text)[1:] == [statement]
    # Ten lines of one sentence show what kind of text this is, at any position.
    lines = "\n".join(
        f"The box number {i} holds as many tablets as the one that came before it did." for i in range(10)
    )
    assert "Package." in headings_found(f"{text}\n{lines}")
    assert statement not in headings_found(f"{text}\n{lines}")


def test_a_heading_that_stops_may_stand_before_lines_that_do_not() -> None:
    lines = "The coat needs only occasional brushing\nto remove"
    assert headings_found(f"{LONG[0]}\nCare.\n{lines}\nExercise.\n{LONG[1]}")[1:] == ["Care.", "Exercise."]


def test_between_values_a_line_that_names_none_is_a_heading() -> None:
    values = "Range: 35 km with one rider\n\nLight: in front and behind\n\nDeck: nine layers of maple"
    assert "Another Board" in headings_found(f"{LONG[0]}\n\n{values}\n\nAnother Board\n\n{values}\n\n{LONG[1]}")


def test_of_a_list_before_a_heading_no_item_is_one() -> None:
    items = ["Fast", "Light to carry around", "Good for all of the family", "Cheap", "Made of steel"]
    for gap in ("\n", "\n\n"):
        text = f"{LONG[0]}\n\n{gap.join(items)}\n\nWho should buy it\n\n{LONG[1]}"
        assert "Who should buy it" in headings_found(text)
        assert not set(items[1:]) & set(headings_found(text)), gap
    text = f"{LONG[0]}\n\nPros\n\n" + "\n\n".join(items) + f"\n\n{LONG[1]}"
    assert headings_found(text)[1] == "Pros"


POEM = [
    "Tell me not in mournful numbers",
    "Life is but an empty dream",
    "For the soul is dead that slumbers",
    "And things are not what they seem",
]
NOT_CUT = {
    "poem": "\n\n".join(["\n".join(POEM)] * 3),
    "contents": "\n".join(f"{i}. Chapter number {i}" for i in range(1, 15)),
    "address": "Acme Widgets Limited\n12 High Street\nSpringfield\nUnited Kingdom\nTelephone 555 0100",
    "cells": "Name\nAge\nTown\nAnna\n31\nKyiv\nBohdan\n28\nLviv\nOlha\n44\nOdesa",
    "dialogue": "“Who is there?”\n\n“It is me.”\n\n“Come in, then.”\n\nHe came in.\n\n“Sit down.”\n\nHe sat.",
    "items": "\n".join(f"- Item {i} of the list" for i in range(12)),
    "steps": "\n".join(f"{i}. Press the button" for i in range(1, 12)),
}


@pytest.mark.parametrize("name", NOT_CUT)
def test_lines_of_lists_poems_and_the_like_are_not_cut_apart(name: str) -> None:
    text = f"{LONG[0]}\n\n{NOT_CUT[name]}\n\n{LONG[1]}"
    assert len(headings_found(text)) <= 2, headings_found(text)
    assert any(NOT_CUT[name].split("\n", 1)[-1] in chunk.text for chunk in pychunk.segment(text, "fixed", size=10**6))


def test_lines_that_name_values_before_a_heading_are_none() -> None:
    values = "Price Range: $18.99\n\nAvailable: in all countries"
    assert "9. Ably" in headings_found(f"{LONG[0]}\n\n{values}\n\n9. Ably\n\n{LONG[1]}")
    values = "Material: steel\nCertified: yes\nWarranty: two years"
    assert "Observations" in headings_found(f"{LONG[0]}\n\n{values}\n\nObservations\n\nA Classic\n\n{LONG[1]}")
    for method, options in METHODS:  # the first line of a page has no line before it
        check_tiling(text := "1 Cons\fPrice: 20\nb) Part\nAnd?", list(pychunk.segment(text, method, **options)))
