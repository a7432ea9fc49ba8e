"""The HTML page that shows the differences of two tables of chunks, side by side. It has no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby, zip_longest
from typing import Any

import pyarrow as pa

from .._util.counting import counted
from .._util.html_page import Page
from ..chunks.differences import Differences
from . import page_style
from .differences_rows import Document, Row, Sides
from .page_frame import framed, marked

#: The most documents, rows of chunks, rows of one document, and questions that a page shows.
DOCUMENTS, ROWS, DOCUMENT_ROWS, QUESTIONS = 100, 2000, 200, 100
#: The most characters of a chunk that a page shows, and the most kept chunks at either end of a folded run.
CHARACTERS, FOLDED = 2000, 3

#: A run of rows that are all kept, or all not.
Run = tuple[bool, list[Row]]


def page(
    found: Differences,
    tables: tuple[pa.Table, pa.Table],
    names: tuple[str, str],
    questions: Sequence[Mapping[str, Any]] = (),
) -> Page:
    """Return the page of the differences of two tables.

    Args:
        found: The differences.
        tables: The old and the new table.
        names: The names of the two tables.
        questions: For each question, the number of hits that both tables find (``kept``), and the hits that only one
            of them finds (``lost`` and ``gained``).
    """
    sides = Sides(found, *tables)
    documents = sides.documents()
    changed = sorted((each for each in documents if each.changed), key=lambda each: -each.changed)
    shown = _that_fit(changed, sides)
    made = _Cells(sides, [row for _, runs in shown for _, rows in runs for row in rows])
    parts = [f"<header><h1>{marked(names[0])} → {marked(names[1])}</h1>", _counts(found.counts)]
    parts += [f"<p>{marked(note)}</p>" for note in found.notes]
    parts += [f"<p>{counted(len(documents), 'document')}, {len(changed):,} with changes.</p></header>"]
    parts += _questions(questions) if questions else []
    for document, runs in shown:
        parts += made.document(document, runs)
    if left := changed[len(shown) :]:
        chunks = counted(sum(each.changed for each in left), "changed chunk")
        parts.append(f"<p>{counted(len(left), 'more document')} with {chunks} left out, those with fewest changes.</p>")
    return framed(f"<main>{''.join(parts)}</main>\n", style_text())


@cache
def style_text() -> str:
    """Return the style sheet of the page: first the rules that all pages share, then the rules of this page."""
    return page_style.STYLE + files(__package__).joinpath("differences_page.css").read_text("utf-8")


def _that_fit(changed: Sequence[Document], sides: Sides) -> list[tuple[Document, list[Run]]]:
    """Return the first documents whose rows fit on a page, at least one, with those of their rows that fit."""
    found: list[tuple[Document, list[Run]]] = []
    rows = 0
    for each in changed[:DOCUMENTS]:
        runs: list[Run] = []
        room = DOCUMENT_ROWS
        for kept, own in groupby(each.rows, sides.is_kept):
            run = list(own)
            # A folded run takes one row of the room, so that all changes of a long document may be shown.
            runs += [(kept, run if kept else run[:room])] if room > 0 else []
            room -= 1 if kept else len(run)
        rows += DOCUMENT_ROWS - max(0, room)
        if rows > ROWS and found:
            break
        found.append((each, runs))
    return found


def _counts(counts: Mapping[str, int]) -> str:
    there = counts["kept"] + counts["moved"]
    rows = []
    for change, count in counts.items():
        shares = [
            "" if change == other or not count else f"{count / (there + counts[own]):.1%}".replace("%", " %")
            for own, other in (("removed", "added"), ("added", "removed"))
        ]
        cells = "".join(f"<td>{each}</td>" for each in (f"{count:,}", *shares))
        rows.append(f'<tr><th scope="row"><span class="word {change}">{change}</span></th>{cells}</tr>')
    head = "".join(f'<th scope="col">{each}</th>' for each in ("", "chunks", "of old", "of new"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


class _Cells:
    """The HTML of documents and their chunks.

    Args:
        sides: The chunks of both tables.
        rows: The rows that the page shows, to which moved chunks have links.
    """

    def __init__(self, sides: Sides, rows: Sequence[Row]) -> None:
        self._sides, self._shown = sides, ({row.old for row in rows}, {row.new for row in rows})

    def document(self, document: Document, runs: Sequence[Run]) -> list[str]:
        """Return the parts of a document's section."""
        counts = ", ".join(f"{count:,} {change}" for change, count in document.counts.items() if count)
        parts = [f"<section><h2><bdi>{marked(document.name)}</bdi></h2>", f'<p class="soft">{counts}</p>', _SIDES]
        for kept, rows in runs:
            parts += self._folded(rows) if kept else [self._row(row) for row in rows]
        if more := len(document.rows) - sum(len(rows) for _, rows in runs):
            parts.append(f'<p class="soft">{counted(more, "more row")} left out.</p>')
        return [*parts, "</section>"]

    def _folded(self, rows: Sequence[Row]) -> list[str]:
        """Return a run of kept chunks, folded: those next to the changes, and the number of those between."""
        texts = self._sides.texts[1]
        beginning = marked(" ".join(texts[rows[0].new or 0].as_py()[:200].split()))
        parts = [f"<details><summary>{counted(len(rows), 'kept chunk')}: <bdi>{beginning}</bdi></summary>"]
        between = len(rows) - 2 * FOLDED
        for number, row in enumerate(rows):
            if between <= 0 or not FOLDED <= number < len(rows) - FOLDED:
                parts.append(self._row(row))
            elif number == FOLDED:
                parts.append(f'<p class="soft">{counted(between, "kept chunk")} left out</p>')
        return [*parts, "</details>"]

    def _row(self, row: Row) -> str:
        if self._sides.is_kept(row):
            return f'<div class="row">{self._chunk(1, row.new)}</div>'
        return f'<div class="row">{self._chunk(0, row.old)}{self._chunk(1, row.new)}</div>'

    def _chunk(self, side: int, row: int | None) -> str:
        if row is None:
            return '<div class="none"></div>'
        sides = self._sides
        change, other = sides.changes[side][row], sides.others[side][row]
        start, end = sides.spans[side][row]
        place = f"{start:,}–{end:,}"
        if change == "kept" and sides.spans[0][other] != (start, end):
            place = "{:,}–{:,} → ".format(*sides.spans[0][other]) + place
        if change == "moved":
            to = f"{('from', 'to')[1 - side]} {sides.place(1 - side, other)}"
            linked = other in self._shown[1 - side]
            place += f', <a href="#{"on"[1 - side]}{other}">{marked(to)}</a>' if linked else f", {marked(to)}"
        head = f'<p class="head"><b class="word {change}">{change}</b> {place}</p>'
        text = _text(sides.texts[side][row].as_py())
        return f'<div class="chunk {change}" id="{"on"[side]}{row}">{head}{text}</div>'


_SIDES = '<div class="row none"><span class="side">old</span><span class="side">new</span></div>'


def _text(text: str) -> str:
    more = f'<p class="soft">{len(text) - CHARACTERS:,} more characters</p>' if len(text) > CHARACTERS else ""
    return f'<div class="text">{marked(text[:CHARACTERS])}</div>{more}'


def _questions(questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the section with the questions whose hits differ, and the hits that only one table finds."""
    changed = [each for each in questions if each["lost"] or each["gained"]]
    parts = [
        f"<section><h2>Questions</h2><p>{len(changed):,} of {counted(len(questions), 'question')} find other hits."
    ]
    parts.append(f" The first {QUESTIONS} are shown.</p>" if len(changed) > QUESTIONS else "</p>")
    for each in changed[:QUESTIONS]:
        parts.append(f"<h3><bdi>{marked(each['question'])}</bdi></h3>")
        parts.append(f'<p class="soft">{counted(each["kept"], "hit")} in both</p>')
        for pair in zip_longest(each["lost"], each["gained"]):
            cells = [_hit(hit, *look) for hit, look in zip(pair, _LOOKS, strict=True)]
            parts.append(f'<div class="row">{"".join(cells)}</div>')
    return [*parts, "</section>"]


#: The word and the class of hits that only the old, and only the new table finds.
_LOOKS = ("lost", "removed"), ("gained", "added")


def _hit(hit: Mapping[str, Any] | None, word: str, look: str) -> str:
    if hit is None:
        return '<div class="none"></div>'
    name = f"<bdi>{marked(str(hit['document_id']))}</bdi> " if "document_id" in hit else ""
    head = f'<p class="head"><b class="word {look}">{word}</b> {name}{hit["start"]:,}–{hit["end"]:,}</p>'
    return f'<div class="chunk {look}">{head}{_text(hit["text"])}</div>'
