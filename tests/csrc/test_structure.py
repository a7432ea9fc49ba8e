"""Chunks by headings, the tree of chunks, and removed text."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from block_texts import MARKDOWN, Block, blocks_of, check_tree
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Segmenter
from pychunk._engine import native as _native
from pychunk._engine.data.blocks import BLOCK_KINDS
from pychunk._engine.reference import engine
from pychunk._engine.reference.text.graphemes import count_words
from pychunk.inputs.document_columns import DocumentColumns

Span = tuple[int, int, str, float]
WORDS = st.sampled_from(
    [
        "Cats",
        "purr",
        "café",
        "中国",
        "👍",
        "Dr.",
        "3.14",
        "x" * 40,
        "e\u0301",
        "(so",
        "said.",
        "Why?",
        "Such",
        "as:",
        "***",
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
STOPS = st.sampled_from([".", "?", "!", ":", "", "？"])
PROSE = st.lists(st.builds("{}{}".format, SENTENCES, STOPS), min_size=1, max_size=4).map(" ".join)
ROW = st.lists(WORDS, min_size=1, max_size=3).map(lambda cells: "| " + " | ".join(cells) + " |")
TABLE = st.tuples(ROW, st.sampled_from(["|---|:-:|\n", ""]), st.lists(ROW, max_size=8)).map(
    lambda parts: parts[0] + "\n" + parts[1] + ("\r" if len(parts[2]) == 3 else "\n").join(parts[2])
)
LEVELS = st.integers(1, 4)


def made(kind: str) -> st.SearchStrategy[tuple[str, int, str]]:
    """Return (kind, level, text) of a block."""
    if kind == "heading":
        title = st.lists(WORDS, max_size=3).map(" ".join)
        marks = st.sampled_from(
            ["{0} {1}", "{0} {1} {0}", "{1} x\n===", "== {1} ==", "> {1}\r\n>x\n>==", "1. - {0} {1}"]
        )
        return st.builds(lambda level, mark, text: (kind, level, mark.format("#" * level, text)), LEVELS, marks, title)
    if kind == "table":
        return TABLE.map(lambda text: (kind, 0, text))
    if kind in ("code", "front_matter"):
        lines = st.lists(st.sampled_from(["a = 1.", "", "    b(2). c", "é"]), min_size=1, max_size=8)
        levels = st.sampled_from([0, 0, 1, 2] if kind == "code" else [0])  # code with a level introduces a heading
        return st.builds(lambda level, found: (kind, level, "```\n" + "\n".join(found) + "\n```"), levels, lines)
    if kind == "item":
        return st.builds(lambda level, text: (kind, level, "- " + text), st.integers(1, 3), PROSE)
    return PROSE.map(lambda text: (kind, 0, text))


KINDS = ("paragraph", "heading", "heading", "item", "item", "term", "term", *BLOCK_KINDS[3:])
BLOCKS = st.sampled_from(KINDS).flatmap(made)
GAPS = st.sampled_from(["\n\n", "\n\n", "\n", " ", "\n\n[ref]: x y.\n\n", "", "\f"])
Section = tuple[int, ...]
Document = tuple[str, list[Block], list[Span], list[int]]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Return a text with blocks, removed spans, and pages."""
    text = draw(st.sampled_from(["", "", "\n\n", "Preamble. It is short.\n"]))
    blocks: list[Block] = []
    for kind, level, body in draw(st.lists(BLOCKS, max_size=12)):
        lead = draw(st.sampled_from(["", "", "", "  "]))
        blocks.append((kind, level, len(text), len(text) + len(lead) + len(body)))
        text += lead + body + draw(GAPS)
    edges = draw(st.lists(st.integers(0, len(text)), max_size=4, unique=True).map(sorted))
    removed = [(a, b, "noise", 0.5) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    pages = draw(st.lists(st.integers(0, len(text)), max_size=2, unique=True).map(sorted))
    return text, blocks, removed, pages


@pytest.mark.parametrize(
    "term", ["pump.start(speed, *, wait=None)", "%an", "A term. Of two sentences, and of many words"]
)
def test_a_term_leads_its_definition(term: str) -> None:
    definition = "It starts the pump, and waits until the lamp is on. " * 6
    parts = [("term", term), ("paragraph", definition.strip())] * 4
    text, blocks = "", []
    for kind, body in parts:
        blocks.append((kind, 0, len(text), len(text) + len(body)))
        text += body + "\n\n"
    for method in ("structure", "topic", "recursive"):
        chunks = pychunk.segment([text], method, max_tokens=100, columns={"blocks": [blocks]})
        assert len(chunks) > 3
        for chunk in chunks:
            assert not chunk.text.endswith(term)
            assert all(piece.strip() for piece in chunk.text.split(term)[1:])


def test_terms_in_a_row_go_with_the_first_block_of_their_definition() -> None:
    lines = ["-v", "--verbose", "Say more. " * 20, "Say it twice. " * 30]
    spans = list(itertools.accumulate([len(line) + 1 for line in lines], initial=0))
    kinds = ("term", "term", "paragraph", "paragraph")
    blocks = [(kind, 0, at, at + len(line)) for kind, at, line in zip(kinds, spans, lines, strict=False)]
    chunks = pychunk.segment(["\n".join(lines)], "structure", max_tokens=80, columns={"blocks": [blocks]})
    assert chunks[0].text.startswith("-v\n--verbose\nSay more.")


def laid_out(*parts: tuple[str, str]) -> tuple[str, list[Block]]:
    """Return a text of blocks between blank lines, and the blocks."""
    starts = itertools.accumulate((len(body) + 2 for _, body in parts), initial=0)
    blocks = [(kind, 0, at, at + len(body)) for (kind, body), at in zip(parts, starts, strict=False)]
    return "\n\n".join(body for _, body in parts), blocks


def test_more_than_eight_terms_in_a_row_are_a_list() -> None:
    for many in (8, 9, 40):
        terms = [("term", f"{number}. Peer authentication of each user") for number in range(many)]
        text, blocks = laid_out(*terms, ("paragraph", "This part tells how servers are run."))
        found = pychunk.segment(text, "sentence", encoder="static", max_tokens=200, columns={"blocks": [blocks]})
        assert len(found) == (1 if many <= 8 else many)
        assert found[len(found) - 1].text.endswith(f"{many - 1}. Peer authentication of each user\n\n{text[-36:]}")
    for method in ("structure", "recursive", "topic"):  # no term is cut, as the last one of a long run was
        chunks = pychunk.segment(text, method, encoder="static", max_tokens=60, columns={"blocks": [blocks]})
        assert {chunk.text.split("\n\n")[0] for chunk in chunks} <= {term for _, term in terms}
        assert all(chunk.text.endswith(("user", "run.")) for chunk in chunks)


def said_of(found: list[Document], pages: bool) -> DocumentColumns:
    rows = [
        [dict(zip(("kind", "level", "start", "end"), block), markup=block[2] % 2 == 0) for block in blocks]
        for _, blocks, _, _ in found
    ]
    said: DocumentColumns = {"blocks": rows, "removed": [each[2] for each in found]}
    if pages:
        said["page_starts"] = [each[3] for each in found]
    return said


WITHIN = st.sampled_from(["size", "topic", "semantic", "nsp"])
OPTIONS = st.one_of(
    st.fixed_dictionaries(
        {
            "method": st.just("structure"),
            "encoder": st.just("static"),
            "size": st.integers(2, 60),
            "unit": st.sampled_from(["tokens", "words", "characters"]),
            "balance": st.booleans(),
            "within": WITHIN,
            "max_tokens": st.sampled_from([None, None, 9]),
            "overlap": st.sampled_from([0, 0, 1]),
            "min_tokens": st.sampled_from([0, 0, 6]),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.sampled_from(["recursive", "fixed", "sentence", "paragraph", "semantic", "pic", "cluster"]),
            "max_tokens": st.sampled_from([None, 20]),
            "keep_together": st.booleans(),
        }
    ),
    st.fixed_dictionaries(
        {
            "method": st.just("recursive"),
            "separators": st.just(("\n\n", "\n", " ", "")),
            "size": st.integers(5, 40),
            "unit": st.sampled_from(["tokens", "words", "characters"]),
        }
    ),
)


@settings(max_examples=40, deadline=None)
@given(found=st.lists(documents(), max_size=2), pages=st.booleans(), options=OPTIONS)
def test_native_equals_the_reference(found: list[Document], pages: bool, options: dict[str, Any]) -> None:
    segmenter = Segmenter(**options)
    _, inputs = segmenter.read([text for text, *_ in found], said_of(found, pages))
    for bare, _ in segmenter.requests(inputs):
        request = segmenter.models.complete(bare, _native)
        native, reference = _native.segment(request), engine.segment(request)
        for name in ("tokens_met", "fallback_tokens"):
            native.pop(name), reference.pop(name)
        assert native.keys() == reference.keys()
        for name, column in native.items():
            mine = column.view(np.uint8) if column.dtype.itemsize == 1 and reference[name].dtype == np.uint8 else column
            np.testing.assert_array_equal(mine, reference[name], err_msg=name)


@settings(max_examples=40, deadline=None)
@given(found=documents(), pages=st.booleans(), options=OPTIONS)
def test_chunks_and_what_is_removed_tile_the_text(found: Document, pages: bool, options: dict[str, Any]) -> None:
    text = found[0]
    chunks = pychunk.segment([text], **{**options, "overlap": 0}, columns=said_of([found], pages))
    held = np.zeros(len(text), int)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        held[chunk.start : chunk.end] += 1
    for span in chunks.removed.to_pylist():
        held[span["start"] : span["end"]] += 1
    for at, character in enumerate(text):
        assert held[at] == 1 or character.isspace(), (at, character)


def below(section: Section, level: int) -> Section:
    """Return the levels of a section and of those that contain it, each with a number of its own."""
    COUNT[0] += 8
    return (*(each for each in section if each % 8 < level), COUNT[0] + level)


COUNT = [0]


@settings(max_examples=40, deadline=None)
@given(found=documents(), size=st.integers(2, 60), overlap=st.sampled_from([0, 1]), within=WITHIN)
def test_what_sections_share_is_short_or_of_one_parent_and_no_chunk_crosses_a_page(
    found: Document, size: int, overlap: int, within: str
) -> None:
    text, blocks, removed, pages = found
    assume(not text.rstrip().endswith("#"))  # headings without words, before nothing, join what is before them
    options = {"size": size, "unit": "words", "overlap": overlap, "within": within, "encoder": "static"}
    chunks = pychunk.segment([text], "structure", columns=said_of([found], True), **options)
    headings = [
        (len(text[:start]) + len(text[start:]) - len(text[start:].lstrip()), level)
        for kind, level, start, end in blocks
        if kind == "heading" and text[start:end].strip()
    ]
    headings = [(at, level) for at, level in headings if not any(a <= at < b for a, b, *_ in removed)]
    sections = list(itertools.accumulate((level for _, level in headings), below, initial=()))
    for chunk in chunks:
        begin = chunk.start + chunk.overlap
        begin += len(text[begin:]) - len(text[begin:].lstrip())  # white space between the overlap and its own text
        first = sum(at <= begin for at, _ in headings)
        own = [sections[first], *(sections[i + 1] for i, (at, _) in enumerate(headings) if begin < at < chunk.end)]
        if not removed:
            common = list(itertools.takewhile(lambda same: len(set(same)) == 1, zip(*own, strict=False)))
            assert len(chunk.path) == len(common)
        for (at, _), section in zip(headings[first:], own[1:], strict=False):
            if text[begin:at].strip() and own[0][:-1] != section[: len(own[0]) - 1]:
                assert 2 * count_words(text[begin:at].strip()) < size + 2
        between = [page for page in pages if not any(start < page < end for *_, start, end in blocks)]
        assert not any(chunk.start < page < len(text[: chunk.end].rstrip()) for page in between if text[page:].strip())
        assert chunk.page == chunk.page_end or len(between) < len(pages)


@settings(max_examples=40, deadline=None)
@given(found=documents(), size=st.integers(2, 60), within=WITHIN)
def test_units_that_fit_are_whole_and_every_chunk_fits(found: Document, size: int, within: str) -> None:
    options = {"size": size, "unit": "words", "within": within, "encoder": "static"}
    chunks = list(pychunk.segment([found[0]], "structure", columns=said_of([found], True), **options))
    for at, chunk in enumerate(chunks):
        assert count_words(chunk.text) <= size
        if chunk.part == 1 < chunk.parts:
            end = chunks[at + chunk.parts - 1].end
            # Each block is counted by itself: words do not continue across two blocks without a space between.
            starts = {start for _, _, start, _ in found[1] if chunk.start < start < end}
            pieces = itertools.pairwise(sorted({chunk.start, end} | starts))
            assert sum(count_words(found[0][a:b]) for a, b in pieces) > size


@settings(max_examples=40, deadline=None)
@given(found=documents(), size=st.integers(2, 60), plain=st.booleans())
def test_every_subtree_is_a_slice(found: Document, size: int, plain: bool) -> None:
    said = said_of([found], True)
    if plain:
        said.pop("blocks")
    check_tree(list(pychunk.segment([found[0]], "structure", size=size, unit="words", columns=said)))


@settings(max_examples=20, deadline=None)
@given(found=st.lists(documents(), min_size=2, max_size=5), seed=st.randoms())
def test_results_do_not_depend_on_batch_order_or_threads(found: list[Document], seed: Any) -> None:
    def rows(some: list[Document], threads: int) -> list[list[dict[str, Any]]]:
        out = pychunk.segment(
            [text for text, *_ in some],
            "structure",
            size=20,
            placement=pychunk.Placement(threads=threads),
            columns=said_of(some, True),
        )
        own: list[list[dict[str, Any]]] = [[] for _ in some]
        for row in out.to_list():
            own[row.pop("document_index")].append(row)
        return own

    together = rows(found, 4)
    assert together == [rows([each], 1)[0] for each in found]
    order = list(range(len(found)))
    seed.shuffle(order)
    assert rows([found[i] for i in order], 2) == [together[i] for i in order]


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(ROW, min_size=2, max_size=30), size=st.integers(20, 60))
def test_parts_of_a_table_name_its_header_and_fit(rows: list[str], size: int) -> None:
    table = "\n".join([rows[0], "|---|", *rows[1:]])
    text = "# Cats\n\n" + table + "\n\nAfter it."
    blocks = [("heading", 1, 0, 6), ("table", 0, 8, 8 + len(table)), ("paragraph", 0, len(text) - 9, len(text))]
    segmenter = Segmenter("structure", size=size, unit="words")
    chunks = list(segmenter([text], columns={"blocks": [blocks]}))
    parts = [chunk for chunk in chunks if chunk.parts > 1]
    for chunk in chunks:
        assert len(chunk.text.split()) <= size
        assert not chunk.text.startswith("|---")
        assert chunk.header == (rows[0] if chunk.part > 1 else None)
        assert set(chunk.text.splitlines()) <= {"# Cats", "", "|---|", "After it.", *rows}  # no row is cut
    assert [chunk.part for chunk in parts] == list(range(1, len(parts) + 1))
    assert not parts or "After it." not in parts[-1].text


def test_a_heading_that_runs_into_its_text_stays_with_it() -> None:
    before = "Capsules are swallowed whole with a glass of water, whatever the hour of the day."
    runs_in = "Method of use. The dose depends on these: "
    items = (
        "- what the patient weighs and how old the patient is;\n- how well the kidneys of the patient do their work."
    )
    text = f"{before}\n\n{runs_in}\n{items}"
    at = len(before) + 2
    blocks = [("paragraph", 0, 0, len(before)), ("paragraph", 0, at, at + len(runs_in) - 1)]
    for item in items.split("\n"):
        blocks.append(("item", 1, text.index(item), text.index(item) + len(item)))
    for size in (12, 16, 20, 24, 30):  # the list fits, or must be cut
        chunks = pychunk.segment(text, "structure", size=size, unit="words", columns={"blocks": blocks})
        assert any(part.startswith("Method of use. The dose") for part in chunks.texts), (size, chunks.texts)


def test_a_label_stays_with_what_it_labels() -> None:
    parts = [
        "Capsules are swallowed whole with a glass of water.",
        "Note",
        "Whoever is asleep at that hour is woken up for it.",
        "Yes.",
        "Keep the rest in a dry place, where no child can reach them.",
    ]
    text = "\n\n".join(parts)
    blocks = [("paragraph", 0, text.index(part), text.index(part) + len(part)) for part in parts]
    for size in range(9, 30):
        for chunk in pychunk.segment(text, "structure", size=size, unit="words", columns={"blocks": blocks}).texts:
            assert not chunk.endswith("Note"), (size, chunk)
    cut = pychunk.segment(text, "structure", size=12, unit="words", columns={"blocks": blocks}).texts
    assert any(chunk.endswith("Yes.") for chunk in cut)  # what ends with a stop labels nothing


def test_units_stay_together_and_short_sections_share_a_chunk() -> None:
    chunks = pychunk.segment(MARKDOWN, "structure", size=14, unit="words", columns={"blocks": blocks_of(MARKDOWN)})
    assert [" ".join(text.split()) for text in chunks.texts] == [
        "# Guide Do the following: - One step. - Another. It is longer.",
        "Is it done? Yes, it is.",
        "Run this. Then wait. ``` a = 1 b = 2 ```",
        "## Details Short. ### More Cats purr. They sleep all day.",
        "The sun burns hydrogen, and stars do. ### Other Dogs bark.",
    ]
    assert [chunk.path for chunk in chunks] == [*[["Guide"]] * 3, *[["Guide", "Details"]] * 2]
    assert [(chunk.parent, chunk.depth, chunk.subtree, chunk.end_reason) for chunk in chunks] == [
        (None, 0, 5, "size"),
        (0, 1, 1, "size"),
        (0, 1, 1, "heading"),
        (0, 1, 2, "size"),
        (3, 2, 1, "end"),
    ]


def test_a_unit_that_is_too_long_is_cut_evenly_at_items_and_says_so() -> None:
    items = [f"- Step {i} of many. It is done." for i in range(10)]
    text = "Do this:\n" + "\n".join(items)
    starts = [0, *itertools.accumulate((len(item) + 1 for item in items), initial=9)]
    blocks = [("paragraph", 0, 0, 8), *(("item", 1, a, a + len(i)) for a, i in zip(starts[1:], items, strict=False))]
    chunks = pychunk.segment(text, "structure", size=40, unit="words", columns={"blocks": blocks})
    assert [(chunk.part, chunk.parts) for chunk in chunks] == [(1, 3), (2, 3), (3, 3)]
    assert all(chunk.text.startswith(("Do this:", "- Step")) for chunk in chunks)
    assert [len(chunk.text.splitlines()) for chunk in chunks] in ([4, 4, 3], [5, 4, 2])


def test_plain_text_works_by_lines_that_look_like_headings() -> None:
    text = "History\n\nCats came first. " * 1 + "They purr.\n\nPresent\n\nDogs came later. They bark.\n"
    chunks = pychunk.segment(text, "structure", size=8, unit="words")
    assert [(chunk.path, chunk.parent) for chunk in chunks] == [(["History"], None), (["Present"], None)]
    assert pychunk.segment(text, "structure")[0].path == []
    check_tree(list(chunks))
    assert "path" not in pychunk.segment(text, "recursive").table.column_names


def test_tables_are_cut_at_rows_whatever_ends_their_lines() -> None:
    rows = ["| name | year |", "|---|---|", *(f"| river {i} | {i} |" for i in range(20))]
    for end in ("\n", "\r\n", "\r"):
        text = end.join(rows)
        chunks = pychunk.segment(
            [text], "structure", size=30, unit="words", columns={"blocks": [[("table", 0, 0, len(text))]]}
        )
        assert [line for chunk in chunks for line in chunk.text.split(end)] == rows
        assert len(chunks) > 2
        assert {chunk.header for chunk in chunks} == {None, rows[0]}


def test_underlined_headings_have_marks_of_their_own() -> None:
    text = "Cats\n---\n\nThey purr.\n\nDogs\n\nThey bark."
    found = [("heading", 1, 0, 8), ("paragraph", 0, 10, 20), ("heading", 1, 22, 26), ("paragraph", 0, 28, 38)]
    chunks = pychunk.segment([text], "structure", size=4, unit="words", columns={"blocks": [found]})
    assert chunks.to_markdown() == text.replace("Dogs", "# Dogs")
