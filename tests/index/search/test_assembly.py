"""Hits as one text: every character once, never over budget, each part traced back to its document."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk.index import assemble
from pychunk.index.search.assembly import ORDERS, AssembledText
from pychunk.index.search.hits import DocumentHits, Hit, Hits, Passage

DOCUMENTS = [
    "Cats purr. They sleep by day. Owls hunt at night, and sleep by day, too.\n\nFish swim.",
    "Зорі горять. Вода тече!\nХліб із солі 🧂 та борошна.   Кінець.",
    "x" * 30,
]


@st.composite
def hits(draw: st.DrawFn) -> list[Hit]:
    """Return hits of chunks cut anywhere, with and without overlap, neighbours, pages and ids."""
    found = []
    with_ids, with_pages = draw(st.booleans()), draw(st.booleans())
    cut = {}
    for number, text in enumerate(DOCUMENTS):
        starts = [0, *sorted(draw(st.sets(st.integers(1, len(text) - 1), max_size=6)))]
        ends = [*starts[1:], len(text)]
        over = draw(st.integers(0, 3))
        spans = [(max(0, start - over), end) for start, end in zip(starts, ends, strict=True)]
        trimmed = [(s + len(text[s:e]) - len(text[s:e].lstrip()), s + len(text[s:e].rstrip())) for s, e in spans]
        cut[number] = [(start, end) for start, end in trimmed if start < end]
    chunks = [(number, chunk) for number, spans in cut.items() for chunk in range(len(spans))]
    for rank, (number, chunk) in enumerate(draw(st.lists(st.sampled_from(chunks), unique=True, max_size=8))):
        text, spans = DOCUMENTS[number], cut[number]
        width = draw(st.integers(0, 1))
        near = range(max(0, chunk - width), min(len(spans), chunk + width + 1))
        around = tuple(Passage(i, *spans[i], text[slice(*spans[i])]) for i in near) if width else ()
        start, end = spans[chunk]
        page = draw(st.integers(1, 9)) if with_pages else None
        own = {"page": page, "page_end": page, "around": around}
        name = f"d {number}.pdf" if with_ids else None
        found.append(Hit(rank, number, name, chunk, "", start, end, text[start:end], 1.0 - rank / 10, {}, **own))
    return found


def check(made: AssembledText, marks: bool) -> None:
    seen: set[tuple[int, int]] = set()
    for part in made.parts:
        own = {(part.document_index, at) for at in range(part.start, part.end)}
        assert made.text[part.text_start : part.text_end] == DOCUMENTS[part.document_index][part.start : part.end]
        assert not own & seen
        seen |= own
    rest = "".join(
        made.text[begin:end]
        for begin, end in zip(
            [0, *(part.text_end for part in made.parts)],
            [*(part.text_start for part in made.parts), len(made.text)],
            strict=True,
        )
    )
    found = re.findall(r"\[(\d+): [^\]\n]*\]", rest)
    assert found == ([str(number) for number in sorted({part.source for part in made.parts})] if marks else [])
    assert not re.sub(r"\[\d+: [^\]\n]*\]", "", rest).strip()
    assert made.table.num_rows == len(made.parts)
    assert made.words == len(str(made).split())


@settings(max_examples=150, deadline=None)
@given(hits(), st.one_of(st.none(), st.integers(1, 60)), st.sampled_from(ORDERS), st.booleans())
def test_every_character_once_and_never_over_budget(
    found: list[Hit], words: int | None, order: str, marks: bool
) -> None:
    made = assemble(found, words=words, order=order, marks=marks)
    check(made, marks)
    assert words is None or made.words <= words
    if words is None:
        held = {(part.document_index, at) for part in made.parts for at in range(part.start, part.end)}
        wanted = {
            (hit.document_index, at)
            for hit in found
            for own in (hit.around or (hit,))
            for at in range(own.start, own.end)
        }
        assert held == wanted
    by_source = {
        part.source: min(each.rank for each in made.parts if each.source == part.source) for part in made.parts
    }
    assert list(by_source) == list(range(1, len(by_source) + 1))
    if order == "rank":
        assert list(by_source.values()) == sorted(by_source.values())
    else:
        documents = list(dict.fromkeys(part.document_index for part in made.parts))
        best = [min(part.rank for part in made.parts if part.document_index == number) for number in documents]
        assert best == sorted(best)
        for number in documents:
            own = [part.start for part in made.parts if part.document_index == number]
            assert own == sorted(own)


def hit(rank: int, document: int, chunk: int, start: int, end: int, **more: Any) -> Hit:
    return Hit(
        rank, document, f"{document}.pdf", chunk, "", start, end, DOCUMENTS[document][start:end], 1.0, {}, **more
    )


def test_marks_name_document_and_pages_and_overlaps_are_merged() -> None:
    first, second = hit(0, 0, 1, 11, 29, page=7, page_end=7), hit(1, 1, 0, 0, 12, page=2, page_end=3)
    third = hit(2, 0, 2, 24, 48, page=8, page_end=8)
    made = assemble([first, second, third])
    assert made.text == (
        "[1: 0.pdf, pages 7 to 8]\nThey sleep by day. Owls hunt at night\n\n[2: 1.pdf, pages 2 to 3]\nЗорі горять."
    )
    assert [(part.source, part.document_id, part.start, part.end) for part in made.parts] == [
        (1, "0.pdf", 11, 48),
        (2, "1.pdf", 0, 12),
    ]
    assert assemble([second, first], order="document", marks=False).text == "Зорі горять.\n\nThey sleep by day."
    assert assemble([]).text == ""


def test_a_hit_that_does_not_fit_is_tried_alone_then_passed_over() -> None:
    text = DOCUMENTS[0]
    around = tuple(Passage(i, *span, text[slice(*span)]) for i, span in enumerate([(0, 10), (11, 29), (30, 72)]))
    wide, short = hit(0, 0, 1, 11, 29, around=around), hit(1, 1, 0, 0, 12)
    assert assemble([wide, short], words=8, marks=False).text == "They sleep by day.\n\nЗорі горять."
    assert assemble([wide, short], words=3, marks=False).text == "Зорі горять."
    assert [part.rank for part in assemble([wide, short], words=4).parts] == [1]  # two words and a mark of two
    assert assemble([wide, short], words=1).text == ""


def test_documents_without_ids_that_share_a_number_are_not_mixed() -> None:
    one = Hit(0, 0, None, 0, "", 0, 9, "Cats purr", 1.0, {})
    other = Hit(1, 0, None, 0, "", 0, 10, "Stars burn", 0.9, {})
    assert assemble([one, other], marks=False).text == "Cats purr\n\nStars burn"


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="order must be 'rank' or 'document'; got 'best'"):
        assemble([], order="best")
    with pytest.raises(ValueError, match="words"):
        assemble([], words=0)
    with pytest.raises(TypeError, match=r"hits of one query, .*got an item of type Hits: pass search"):
        assemble(Hits([Hits()]))  # type: ignore[list-item]  # what it refuses


def test_hits_of_an_index(tmp_path: Path) -> None:
    pytest.importorskip("faiss")
    chunks = pychunk.segment(DOCUMENTS[:2], "recursive", size=6, unit="words", ids=["a", "b"], vectors="sentence")
    with pychunk.Index.create(tmp_path / "x.idx") as index:
        index.add(chunks)
        query = "Where do owls sleep?"
        for hits in (
            index.search(query, k=3),
            index.search(query, k=3, expansion=1),
            index.search_documents(query, k=3),
        ):
            found = hits[0]
            check(assemble(found, words=40), marks=True)
            assert all(isinstance(each, (Hit, DocumentHits)) for each in found)


MAMMALS = "".join(f"| animal {i} | {i} hours |\n" for i in range(30))
CODE = "".join(f"step_{i} = {i}\n" for i in range(60))
TREE = f"# Sleep\n\n## Mammals\n\n| mammal | time |\n|---|---|\n{MAMMALS}\n## Script\n\n```python\n{CODE}```\n"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("faiss")
    chunks = pychunk.segment(pychunk.parse(TREE, "markdown"), max_tokens=100, vectors="sentence")
    with pychunk.Index.create(tmp_path_factory.mktemp("trees") / "i") as index:
        index.add(chunks)
        yield index


def spans_are_exact(made: AssembledText, text: str) -> None:
    for part in made.parts:
        assert made.text[part.text_start : part.text_end] == text[part.start : part.end]
    assert [part for reading in made.readings for part in reading.parts] == list(made.parts)


@pytest.mark.parametrize("marks", [True, False])
def test_one_hit_with_a_tree_is_written_as_it_is_rendered(trees: Any, marks: bool) -> None:
    found = trees.search("animal 25", k=20, mode="sparse")[0] + trees.search("step_40 = 40", k=20, mode="sparse")[0]
    assert any(hit.header == "| mammal | time |" for hit in found)
    assert any((hit.header or "").startswith("```") for hit in found)
    for hit in found:
        made = assemble([hit], marks=marks)
        assert made.text == ("[1: 0]\n" if marks else "") + hit.render()
        assert [reading.text for reading in made.readings] == [hit.render()]
        spans_are_exact(made, TREE)


def test_a_source_has_its_path_and_header_once_and_closes_its_code_once(trees: Any) -> None:
    hits = trees.search("animal 25", k=1, mode="sparse", expansion=1)[0]
    assert len(hits[0].around) == 3
    for found in (hits, trees.search("animal 12 step_30", k=20)[0]):
        made = assemble(found, order="document")
        spans_are_exact(made, TREE)
        assert made.text.count("| mammal | time |") <= max(part.source for part in made.parts)
        assert sum(line.startswith("```") for line in made.text.splitlines()) % 2 == 0
    first = hits[0].around[0]
    assert (first.header, first.path) == ("| mammal | time |", ["Sleep", "Mammals"])
    assert assemble(hits, marks=False).text.startswith(
        f"Sleep > Mammals\n\n| mammal | time |\n|---|---|\n{first.text}\n{hits[0].text}"
    )
    section = trees.search("animal 25", k=1, expansion="section")[0]
    made = assemble(section, words=60)
    assert made.words <= 60
    spans_are_exact(made, TREE)


def test_parts_leave_holes_out() -> None:
    text = "Cats [edit] purr. They\n\nPage 1\n\nsleep."
    holes = [{"start": 5, "end": 11}, {"start": 24, "end": 30}]
    found = Hit(0, 0, "a", 0, "", 0, len(text), text, 1.0, {}, holes=holes)
    made = assemble([found], marks=False)
    assert made.text == "Cats purr. They\n\nsleep." == found.render()
    spans_are_exact(made, text)
    assert [(part.start, part.end) for part in made.parts] == [(0, 4), (12, 22), (32, 38)]
    inner = Hit(1, 0, "a", 1, "", 12, 22, text[12:22], 0.5, {})
    assert assemble([inner, found], marks=False).text == made.text
    beside = Hit(1, 0, "a", 1, "", 23, 38, text[23:], 0.5, {}, holes=holes[1:])
    assert assemble([beside, replace(found, end=22, text=text[:22], holes=holes[:1])], marks=False).text.split() == [
        "Cats", "purr.", "They", "sleep."]  # fmt: skip
    nothing = Hit(0, 0, "a", 0, "", 0, 4, "Cats", 1.0, {}, holes=[{"start": 0, "end": 4}])
    assert assemble([nothing], marks=False) == AssembledText("", ())


@given(hits(), st.booleans())
def test_fields_of_other_tables_say_nothing(found: list[Hit], marks: bool) -> None:
    strange = [replace(each, header=7, holes=["x"]) for each in found]  # type: ignore[arg-type]  # what tables hold
    assert assemble(strange, marks=marks).text == assemble(found, marks=marks).text
