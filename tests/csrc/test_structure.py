"""Chunks by headings, the tree that they make, and text that is left out."""

from __future__ import annotations

import html
import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import invoke
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Segmenter
from pychunk._engine import native as _native
from pychunk._engine.data.blocks import BLOCK_KINDS, Blocks
from pychunk._engine.reference import engine
from pychunk._engine.reference.parsing.inline import link_labels
from pychunk._engine.reference.structure import heading_text
from pychunk._engine.reference.text.graphemes import count_words
from pychunk.parsing import markdown
from pychunk.parsing.columns import blocks_to_arrow, removed_to_arrow
from pychunk.parsing.html.page import parse_html

Block = tuple[str, int, int, int]
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
    """(kind, level, text) of a block."""
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
        return lines.map(lambda found: (kind, 0, "```\n" + "\n".join(found) + "\n```"))
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
    """A text with blocks, spans that are left out, and pages."""
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
        chunks = pychunk.segment([text], method, max_tokens=100, blocks=[blocks])
        assert len(chunks) > 3
        for chunk in chunks:
            assert not chunk.text.endswith(term)
            assert all(piece.strip() for piece in chunk.text.split(term)[1:])


def test_terms_in_a_row_go_with_the_first_block_of_their_definition() -> None:
    lines = ["-v", "--verbose", "Say more. " * 20, "Say it twice. " * 30]
    spans = list(itertools.accumulate([len(line) + 1 for line in lines], initial=0))
    kinds = ("term", "term", "paragraph", "paragraph")
    blocks = [(kind, 0, at, at + len(line)) for kind, at, line in zip(kinds, spans, lines, strict=False)]
    chunks = pychunk.segment(["\n".join(lines)], "structure", max_tokens=80, blocks=[blocks])
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
        found = pychunk.segment(text, "sentence", encoder="static", max_tokens=200, blocks=[blocks])
        assert len(found) == (1 if many <= 8 else many)
        assert found[len(found) - 1].text.endswith(f"{many - 1}. Peer authentication of each user\n\n{text[-36:]}")
    for method in ("structure", "recursive", "topic"):  # no term is cut, as the last one of a long run was
        chunks = pychunk.segment(text, method, encoder="static", max_tokens=60, blocks=[blocks])
        assert {chunk.text.split("\n\n")[0] for chunk in chunks} <= {term for _, term in terms}
        assert all(chunk.text.endswith(("user", "run.")) for chunk in chunks)


def said_of(found: list[Document], pages: bool) -> dict[str, Any]:
    rows = [
        [dict(zip(("kind", "level", "start", "end"), block), markup=block[2] % 2 == 0) for block in blocks]
        for _, blocks, _, _ in found
    ]
    said: dict[str, Any] = {"blocks": rows, "removed": [each[2] for each in found]}
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
            "atoms": st.booleans(),
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
    chunks = pychunk.segment([text], **{**options, "overlap": 0}, **said_of([found], pages))
    held = np.zeros(len(text), int)
    for chunk in chunks:
        assert text[chunk.start : chunk.end] == chunk.text
        held[chunk.start : chunk.end] += 1
    for span in chunks.removed.to_pylist():
        held[span["start"] : span["end"]] += 1
    for at, character in enumerate(text):
        assert held[at] == 1 or character.isspace(), (at, character)


def below(section: Section, level: int) -> Section:
    """The levels of a section and of those that it is in, each with a number of its own."""
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
    said = said_of([found], True)
    options = {"size": size, "unit": "words", "overlap": overlap, "within": within, "encoder": "static"}
    chunks = pychunk.segment([text], "structure", **options, **said)
    headings = [
        (len(text[:start]) + len(text[start:]) - len(text[start:].lstrip()), level)
        for kind, level, start, end in blocks
        if kind == "heading" and text[start:end].strip()
    ]
    headings = [(at, level) for at, level in headings if not any(a <= at < b for a, b, *_ in removed)]
    sections = list(itertools.accumulate((level for _, level in headings), below, initial=()))
    for chunk in chunks:
        begin = chunk.start + chunk.overlap
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
    chunks = list(pychunk.segment([found[0]], "structure", **options, **said_of([found], True)))
    for at, chunk in enumerate(chunks):
        assert count_words(chunk.text) <= size
        if chunk.part == 1 < chunk.parts:
            end = chunks[at + chunk.parts - 1].end
            # Blocks are counted each by itself: where no space parts two of them, words do not run across.
            starts = {start for _, _, start, _ in found[1] if chunk.start < start < end}
            pieces = itertools.pairwise(sorted({chunk.start, end} | starts))
            assert sum(count_words(found[0][a:b]) for a, b in pieces) > size


def check_tree(rows: list[Any]) -> None:
    """Of one document: parents come before, depths count them, and every subtree is a slice."""
    below: dict[int, set[int]] = {i: {i} for i in range(len(rows))}
    for i in reversed(range(len(rows))):
        if rows[i].parent is not None:
            assert 0 <= rows[i].parent < i
            below[rows[i].parent] |= below[i]
    for i, row in enumerate(rows):
        assert row.depth == (0 if row.parent is None else rows[row.parent].depth + 1)
        assert below[i] == set(range(i, i + row.subtree))
        assert row.parent is None or row.path[: len(rows[row.parent].path)] == rows[row.parent].path
        assert 1 <= row.part <= row.parts
        if row.part > 1:
            assert (rows[i - 1].part, rows[i - 1].parts) == (row.part - 1, row.parts)


@settings(max_examples=40, deadline=None)
@given(found=documents(), size=st.integers(2, 60), plain=st.booleans())
def test_every_subtree_is_a_slice(found: Document, size: int, plain: bool) -> None:
    said = said_of([found], True)
    if plain:
        said.pop("blocks")
    check_tree(list(pychunk.segment([found[0]], "structure", size=size, unit="words", **said)))


@settings(max_examples=20, deadline=None)
@given(found=st.lists(documents(), min_size=2, max_size=5), seed=st.randoms())
def test_results_do_not_depend_on_batch_order_or_threads(found: list[Document], seed: Any) -> None:
    def rows(some: list[Document], threads: int) -> list[list[dict[str, Any]]]:
        out = pychunk.segment([text for text, *_ in some], "structure", size=20, threads=threads, **said_of(some, True))
        own: list[list[dict[str, Any]]] = [[] for _ in some]
        for row in out.to_list():
            own[row.pop("document")].append(row)
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
    chunks = list(segmenter([text], blocks=[blocks]))
    parts = [chunk for chunk in chunks if chunk.parts > 1]
    for chunk in chunks:
        assert len(chunk.text.split()) <= size
        assert not chunk.text.startswith("|---")
        assert chunk.header == (rows[0] if chunk.part > 1 else None)
        assert set(chunk.text.splitlines()) <= {"# Cats", "", "|---|", "After it.", *rows}  # no row is cut
    assert [chunk.part for chunk in parts] == list(range(1, len(parts) + 1))
    assert not parts or "After it." not in parts[-1].text


MARKDOWN = """# Guide

Do the following:

- One step.
- Another. It is longer.

Is it done?

Yes, it is.

Run this. Then wait.

```
a = 1

b = 2
```

## Details

Short.

### More

Cats purr. They sleep all day. The sun burns hydrogen, and stars do.

### Other

Dogs bark.
"""


def blocks_of(text: str) -> list[Block]:
    """Blocks of the simple Markdown above."""
    found: list[Block] = []
    at, fence = 0, text.find("```")
    for part in text.split("\n\n"):
        start, at = at, at + len(part) + 2
        if fence >= 0 and fence < start <= text.find("```", fence + 3):
            kind, level, _, _ = found.pop()
            found.append((kind, level, fence, start + len(part.rstrip())))
        elif part.startswith("#"):
            found.append(("heading", len(part) - len(part.lstrip("#")), start, start + len(part)))
        elif part.startswith("-"):
            for line in part.split("\n"):
                found.append(("item", 1, start, start + len(line)))
                start += len(line) + 1
        else:
            found.append(("code" if part.startswith("```") else "paragraph", 0, start, start + len(part.rstrip())))
    return found


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
        chunks = pychunk.segment(text, "structure", size=size, unit="words", blocks=blocks)
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
        for chunk in pychunk.segment(text, "structure", size=size, unit="words", blocks=blocks).texts:
            assert not chunk.endswith("Note"), (size, chunk)
    cut = pychunk.segment(text, "structure", size=12, unit="words", blocks=blocks).texts
    assert any(chunk.endswith("Yes.") for chunk in cut)  # what ends with a stop labels nothing


def test_units_stay_together_and_short_sections_share_a_chunk() -> None:
    chunks = pychunk.segment(MARKDOWN, "structure", size=14, unit="words", blocks=blocks_of(MARKDOWN))
    assert [" ".join(text.split()) for text in chunks.texts] == [
        "# Guide Do the following: - One step. - Another. It is longer.",
        "Is it done? Yes, it is.",
        "Run this. Then wait. ``` a = 1 b = 2 ```",
        "## Details Short. ### More Cats purr. They sleep all day.",
        "The sun burns hydrogen, and stars do. ### Other Dogs bark.",
    ]
    assert [chunk.path for chunk in chunks] == [*[["Guide"]] * 3, *[["Guide", "Details"]] * 2]
    assert [(chunk.parent, chunk.depth, chunk.subtree, chunk.cut) for chunk in chunks] == [
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
    chunks = pychunk.segment(text, "structure", size=40, unit="words", blocks=blocks)
    assert [(chunk.part, chunk.parts) for chunk in chunks] == [(1, 3), (2, 3), (3, 3)]
    assert all(chunk.text.startswith(("Do this:", "- Step")) for chunk in chunks)
    assert [len(chunk.text.splitlines()) for chunk in chunks] in ([4, 4, 3], [5, 4, 2])


SENTENCE = st.lists(
    st.sampled_from(["Cats", "purr", "loudly", "stars", "burn", "hydrogen", "bread", "needs", "salt"]),
    min_size=1,
    max_size=6,
).map(lambda words: " ".join(words).capitalize() + ".")


@settings(max_examples=40, deadline=None)
@given(sentences=st.lists(SENTENCE, min_size=2, max_size=9), size=st.integers(6, 25))
def test_a_section_by_topics_has_fewest_short_chunks_and_then_least_affinity_cut(
    sentences: list[str], size: int
) -> None:
    text = " ".join(sentences)
    found = pychunk.segment(text, "structure", size=size, unit="words", within="topic")
    words = [len(sentence.split()) for sentence in sentences]
    score = pychunk.Segmenter("topic").scores(text)["score"].to_pylist()
    assert len(score) == len(words)

    def worth(cuts: tuple[int, ...]) -> tuple[int, float] | None:
        lengths = [sum(words[a:b]) for a, b in itertools.pairwise((0, *cuts, len(words)))]
        if max(lengths) > size:
            return None
        return sum(length < size // 3 for length in lengths), sum(round(score[cut - 1] * 2**32) for cut in cuts)

    own = tuple(itertools.accumulate(chunk.text.count(".") for chunk in found))[:-1]
    assert len(own) == len(found) - 1
    if sum(words) <= size:
        assert own == ()
        return
    places = range(1, len(words))
    every = [cuts for count in places for cuts in itertools.combinations(places, count)]
    assert worth(own) == min(made for cuts in every if (made := worth(cuts)) is not None)


@settings(max_examples=40, deadline=None)
@given(
    sentences=st.lists(SENTENCE, min_size=2, max_size=9),
    size=st.integers(6, 25),
    method=st.sampled_from(["semantic", "nsp"]),
)
def test_a_section_is_cut_where_the_lowest_score_is(sentences: list[str], size: int, method: str) -> None:
    text = " ".join(sentences)
    found = pychunk.segment(text, "structure", size=size, unit="words", within=method, encoder="static")
    score = pychunk.Segmenter(method, encoder="static").scores(text)["score"].to_pylist()[:-1]

    def parts(first: int, last: int) -> list[int]:
        if last - first == 1 or sum(len(sentence.split()) for sentence in sentences[first:last]) <= size:
            return [last - first]
        cut = min(range(first + 1, last), key=lambda at: score[at - 1])
        return parts(first, cut) + parts(cut, last)

    assert [chunk.text.count(".") for chunk in found] == parts(0, len(sentences))


def test_within_keeps_lists_and_is_checked() -> None:
    items = "\n".join(f"- Step {i} of many. It is done." for i in range(4))
    text = "Cats purr. Stars burn hydrogen.\n\nDo this:\n" + items + "\n\nBread needs salt. It rests."
    at = text.index("Do this:")
    blocks = [("paragraph", 0, 0, at - 2), ("paragraph", 0, at, at + 8)]
    for line in items.split("\n"):
        blocks.append(("item", 1, text.index(line), text.index(line) + len(line)))
    blocks.append(("paragraph", 0, text.index("Bread"), len(text)))
    for within in ("size", "topic", "semantic", "nsp"):
        options = {"size": 40, "unit": "words", "within": within, "encoder": "static"}
        chunks = pychunk.segment(text, "structure", blocks=blocks, **options)
        assert len(chunks) > 1
        assert any("Do this:\n" + items in chunk.text for chunk in chunks), within
        assert chunks.metadata["options"]["within"] == within
    with pytest.raises(ValueError, match="within must be one of size, topic, semantic, nsp; got 'pic'"):
        Segmenter("structure", within="pic")
    with pytest.raises(ValueError, match=r"within='topic' reads vectors of .* leave out sentence_vectors="):
        pychunk.segment("Cats purr.", "structure", within="topic", sentence_vectors=[np.eye(1, 4)])
    assert Segmenter(within="semantic").method.name == "structure"


def test_plain_text_works_by_lines_that_look_like_headings() -> None:
    text = "History\n\nCats came first. " * 1 + "They purr.\n\nPresent\n\nDogs came later. They bark.\n"
    chunks = pychunk.segment(text, "structure", size=8, unit="words")
    assert [(chunk.path, chunk.parent) for chunk in chunks] == [(["History"], None), (["Present"], None)]
    assert pychunk.segment(text, "structure")[0].path == []
    check_tree(list(chunks))
    assert "path" not in pychunk.segment(text, "recursive").table.column_names


def test_what_is_removed_is_listed_with_reason_and_score() -> None:
    texts = ["Menu. Cats purr. Footer.", "Dogs bark.", ""]
    removed = [[(0, 5, "navigation", 0.9), {"start": 17, "end": 24, "reason": "footer"}], [], None]
    out = pychunk.segment(texts, "recursive", removed=removed, ids=["a", "b", "c"])
    assert out.texts == ["Cats purr.", "Dogs bark."]
    assert out[0].cut == "removed"
    assert out.removed.to_pylist() == [
        {"document": 0, "id": "a", "start": 0, "end": 5, "reason": "navigation", "score": pytest.approx(0.9)},
        {"document": 0, "id": "a", "start": 17, "end": 24, "reason": "footer", "score": None},
    ]
    assert pychunk.segment(texts, "recursive").removed is None
    assert pychunk.segment(["All of it."], "structure", removed=[[(0, 10)]]).texts == []


def test_a_title_that_is_left_out_heads_every_path_and_no_chunk() -> None:
    lines = ["# Menu", "# Red panda", "Share this.", "It eats bamboo.", "## Range", "It lives in Asia."]
    lines += ["# Other", "Cats."]
    text = "\n".join(lines)
    starts = [text.index(line) for line in lines]
    kinds = {line: ("heading", line.index(" ")) if line[0] == "#" else ("paragraph", 0) for line in lines}
    blocks = [(*kinds[line], start, start + len(line)) for line, start in zip(lines, starts, strict=True)]
    options: dict[str, Any] = {"size": 6, "unit": "words", "blocks": [blocks]}

    def rows(*removed: int) -> list[tuple[str, list[str], int | None]]:
        spans = [(starts[i], starts[i] + len(lines[i])) for i in removed]
        chunks = list(pychunk.segment([text], "structure", removed=[spans], **options))
        check_tree(chunks)
        return [(chunk.text.split("\n")[-1], chunk.path, chunk.parent) for chunk in chunks]

    panda = ["Red panda"]
    other = ("Cats.", ["Other"], None)
    assert rows(0, 1, 2) == [
        ("It eats bamboo.", panda, None),
        ("It lives in Asia.", [*panda, "Range"], None),
        other,
    ]
    # What is removed behind the first text that is kept heads nothing, and so does what is no heading of level 1.
    assert rows(0, 1, 2, 4)[1] == ("It lives in Asia.", panda, None)
    assert rows(0, 1, 2, 6)[-1] == ("Cats.", [*panda, "Range"], 1)


def test_blocks_may_be_columns_dicts_or_blocks() -> None:
    lists = [blocks_of(MARKDOWN), []]
    wanted = pychunk.segment([MARKDOWN, "Cats."], "structure", blocks=lists).table
    blocks = Blocks.of(lists)
    column = blocks_to_arrow(blocks)
    table = pa.table({"text": [MARKDOWN, "Cats."], "blocks": column})
    dicts = [[dict(zip(("kind", "level", "start", "end"), block, strict=True)) for block in each] for each in lists]
    for batch, said in [
        (table, "blocks"),
        ([MARKDOWN, "Cats."], blocks),
        ([MARKDOWN, "Cats."], column),
        (table, dicts),
    ]:
        assert pychunk.segment(batch, "structure", column=None, blocks=said).table.equals(wanted)


def test_documents_that_are_left_out_need_no_blocks() -> None:
    said = {"blocks": [[("paragraph", 0, 0, 5)], [("paragraph", 0, 0, 5)]], "removed": [[], [(0, 4)]]}
    out = pychunk.segment(["Cats.", None], "structure", on_error="skip", **said)
    assert out.texts == ["Cats."]
    assert [error.row for error in out.errors] == [1]
    assert not out.removed.num_rows


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"blocks": [[("heading", 1, 0, 3), ("paragraph", 0, 2, 5)]]}, "blocks of document 0 must rise"),
        ({"blocks": [[("heading", 1, 3, 3)]]}, "begin before they end"),
        ({"blocks": [[("heading", 1, 0, 99)]]}, "blocks of document 0 must lie in its 10 characters"),
        ({"blocks": [[("title", 1, 0, 3)]]}, "unknown kind of block 'title'; the kinds are paragraph, heading"),
        ({"blocks": [[], []]}, "one list for each of 1 documents"),
        ({"removed": [[(0, 3), (2, 4)]]}, "removed of document 0 must rise"),
        ({"removed": [[(0, 99)]]}, "removed of document 0 must lie in its 10 characters"),
    ],
)
def test_bad_blocks_are_told(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        pychunk.segment(["Cats purr."], "structure", **said)


def test_given_vectors_and_python_methods_see_the_sentences_of_blocks() -> None:
    class EachSentence(pychunk.Method):
        name = "each"

        def cuts(self, features: pychunk.Features) -> pychunk.Cuts:
            return pychunk.Cuts.of([list(range(count)) for count in features.given("sentences").counts])

    text = "| a. b | c |\n| d. e | f |\nCats purr. Dogs bark."
    blocks = [[("table", 0, 0, 25), ("paragraph", 0, 26, len(text))]]
    out = pychunk.segment([text], EachSentence(), blocks=blocks, removed=[[(26, 36)]], atoms=False)
    assert out.texts == ["| a. b | c |", "| d. e | f |", "Dogs bark."]
    with pytest.raises(ValueError, match="a page, block or removed span begins inside one"):
        pychunk.segment(["Cats purr"], "semantic", sentence_vectors=[np.eye(1, 4)], removed=[[(0, 4)]])


@pytest.mark.parametrize(
    ("line", "text"),
    [
        *(("## Cats  and\tdogs ##", "Cats and dogs"), ("#", ""), ("C#", "C#"), ("# C#", "C#"), ("== Life ==", "Life")),
        *(("Cats\nand dogs\n---", "Cats and dogs"), ("======", "======"), ("####### x", "# x"), ("Cats", "Cats")),
        *(
            ("> ## Cats", "Cats"),
            ("- 1. # Cats", "Cats"),
            ("> Cats\n> and\n> ===", "Cats and"),
            ("- Cats\n  ---", "Cats"),
        ),
        *(("Cats\rdogs\r---", "Cats dogs"), ("1. Cats", "1. Cats"), ("- Cats", "- Cats"), ("Cats\n>", "Cats >")),
    ],
)
def test_headings_lose_their_marks(line: str, text: str) -> None:
    assert heading_text(line) == text
    chunks = pychunk.segment([line + "\n\nText."], "structure", blocks=[[("heading", 1, 0, len(line))]])
    assert chunks[0].path == [text]


LINKED = "\n\n[the manual]: https://example.org/m\n[1]: <https://example.org/1>\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "## 24/7 [Support](https://example.org/a/b) for `my_func(x)` &amp; **bold** words ##",
            "24/7 Support for my_func(x) & bold words",
        ),
        *(("## Setup {#setup-anchor .unnumbered}", "Setup"), ("## A ## {: .b c=d}", "A"), ("# f{x}", "f{x}")),
        *(('## <a name="x"></a>Usage ![logo](a.png)', "Usage"), ("# A<br>b <!-- c --><sub>2</sub>", "A b 2")),
        *(("# my_func_name, __init__ and __call__()", "my_func_name, __init__ and __call__()"), ("# 2*3*4", "2*3*4")),
        *(("# __Note__ _that_ ***all***", "Note that all"), ("# *args and **kwargs", "*args and **kwargs")),
        *(("# \\*a\\* ~~b~~ \\#", "*a* b #"), ("# `` a ` *b* ``", "a ` *b*"), ("# `a", "`a")),
        *(("# [a][the  Manual], [The manual][], [1]", "a, The manual, 1"), ("# a[i][j] [x]", "a[i][j] [x]")),
        *(("# A[^1] on <https://b.org/c>", "A on https://b.org/c"), ("# Vec<T> <div> &lt;p&gt;", "Vec<T> <div> <p>")),
        *(("# ![Pump](logo.png)", "Pump"), ("# [![build](a.svg)](b) X [![c](d)](e)", "X")),
        ("# &#8364; &no;", "€ &no;"),
        *(("Two *lines*\nof [text](u)\n---", "Two lines of text"), ("> # A *b*", "A b")),
        *(("# 这是**粗体**文字", "这是粗体文字"), ('<h2><img alt="A" src="b"></h2>', "A")),
        ('<h1 align="center">\n  <b>Wid</b>get &amp; co\n</h1>', "Widget & co"),
        *(("Cats *and* [dogs](u)", "Cats *and* [dogs](u)"), ("\ufeff# A", "A"), ("# A {/* #b */}", "A")),
    ],
)
def test_headings_are_text(line: str, text: str) -> None:
    document = line + "\n\nText." + LINKED
    assert heading_text(line, link_labels(document)) == text
    assert markdown.heading_text(line, document) == text
    heading = {"kind": "heading", "level": 1, "start": 0, "end": len(line)}
    chunks = pychunk.segment([document], "structure", blocks=[[{**heading, "markup": True}]])
    assert chunks[0].path == [text]
    assert chunks[0].text.startswith(line)


@pytest.mark.parametrize(
    "shown",
    [
        *(
            "Use <b>x</b> tags",
            "Page &copy; more",
            "a [b](c) d",
            "Call f(`x`) now",
            "Escape \\* and C:\\_new",
            "Notes {#id}",
        ),
        *("x[^1] y", "a*b*c", "**Bold** __init__", "Vec<T> <!-- kept -->", "![x](y.png)", "# of items"),
    ],
)
def test_headings_of_pages_are_text_already(shown: str) -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    page = parse_html(f"<h2>{html.escape(shown)}</h2><p>Text.")
    chunks = pychunk.segment([page.text], "structure", blocks=page.blocks)
    assert chunks[0].path == [shown]
    assert heading_text(f"## {shown}", markup=False) == shown


@pytest.mark.parametrize("quoted", ["> ## Theirs\n>\n> Text.", "- ## Item\n\n  Text.", "> Theirs\n> ------\n> Text."])
def test_a_heading_in_a_quote_or_an_item_ends_with_it(quoted: str) -> None:
    text = f"# Reply\n\n{quoted}\n\nMy own words, {'which go on, ' * 40}and end.\n\n## After\n\nMore."
    chunks = pychunk.segment([text], "structure", size=20, blocks=markdown.blocks_of([text]))
    assert {tuple(chunk.path) for chunk in chunks} == {("Reply",), ("Reply", "After")}


def test_a_quoted_heading_of_a_page_ends_with_its_quote() -> None:
    pytest.importorskip("selectolax", reason="needs selectolax: the extra docs")
    words = "which go on " * 10
    page = parse_html(
        f"<h1>T</h1><blockquote><h1>Quoted</h1><p>Theirs.</blockquote>"
        f"<p>Own words, {words}.<ol><li><h2>Step</h2><p>{words}."
    )
    assert page.text.startswith("# T\n\n> # Quoted\n\n> Theirs.\n\nOwn words,")
    assert page.title == "T"
    chunks = pychunk.segment([page.text], "structure", size=20, blocks=page.blocks)
    assert {"T", "T/Step"} == {"/".join(chunk.path) for chunk in chunks}


MARKS = (
    "\\ ` `` < > </a> <b> </b> <br> &amp; &#65; & ! [ ] ( ) [^1] * ** _ __ ~~ ~ a b1 é 中 {#x} {/* */} <!-- --> "
    "](u) ][1] [1] <http://x> \" ' # - = x="
)
INLINE = st.lists(
    st.sampled_from([*MARKS.split(), " ", "\n", "\t", "\x1c", "\xa0", "<a href='x'>", '<img alt="q">']), max_size=16
).map("".join)


@settings(deadline=None)
@given(st.sampled_from(["", "# ", "<h1>", "> # "]), INLINE, st.sampled_from(["", " #", "\n---", "</h1>", " {#a}"]))
def test_texts_of_headings_equal_the_twin(begin: str, inside: str, end: str) -> None:
    line = begin + inside + end
    assert markdown.heading_text(line, LINKED) == heading_text(line, link_labels(LINKED))


@pytest.mark.parametrize(
    "part", ["`" * 3 + " ``", "<a '", "<b>", "](a(", "![", "[a][", "*a_", "<!--", "__a", "&a", "{/*", "[^", "**a "]
)
def test_headings_of_hostile_markup_take_linear_time(part: str) -> None:
    begun = time.process_time()
    markdown.heading_text("# " + part * (1_000_000 // len(part)))
    assert time.process_time() - begun < 2  # at most 0.1 s; quadratic: minutes


def test_the_tree_as_objects_and_the_document_without_what_was_removed() -> None:
    text = "Menu.\n\n" + MARKDOWN
    blocks = [("paragraph", 0, 0, 5), *((kind, level, a + 7, b + 7) for kind, level, a, b in blocks_of(MARKDOWN))]
    said = {"blocks": [[], blocks], "removed": [[], [(0, 5)]]}
    chunks = pychunk.segment(["", text], "structure", size=9, unit="words", **said)
    (root,) = chunks.tree(1)
    assert [chunk.chunk for chunk in root] == list(range(9))
    assert [len(node.children) for node in root.children] == [0, 0, 0, 0, 2]
    assert root.children[4].chunk.path == ["Guide", "Details"]
    assert "Dogs bark." in root.children[4].text
    assert "Run this" not in root.children[4].text
    assert (chunks.tree(0), chunks.to_markdown(0)) == ([], "")
    assert "".join(chunks.to_markdown(1).split()) == "".join(MARKDOWN.split())
    overlapping = pychunk.segment(
        [MARKDOWN], "structure", size=9, unit="words", overlap=3, blocks=[blocks_of(MARKDOWN)]
    )
    assert any(chunk.overlap for chunk in overlapping)
    assert "".join(overlapping.to_markdown().split()) == "".join(MARKDOWN.split())
    assert [node.chunk.chunk for node in chunks[4:7].tree(1)] == [4, 5]
    with pytest.raises(ValueError, match="holds several documents: name one by its row, from 0"):
        chunks.tree()
    with pytest.raises(ValueError, match="document must be a row from 0 to 1; got 2"):
        chunks.tree(2)
    with pytest.raises(ValueError, match='segment with method="structure"'):
        pychunk.segment(MARKDOWN, "recursive").tree()


def test_a_plain_heading_gets_marks() -> None:
    assert pychunk.segment("Cats\n\nCats purr. They sleep.", "structure").to_markdown() == (
        "# Cats\n\nCats purr. They sleep."
    )


def test_the_listing_is_a_tree_and_says_what_was_left_out(tmp_path: Path) -> None:
    text = "Menu. News.\n\n" + MARKDOWN
    blocks = [("paragraph", 0, 0, 11), *((kind, level, a + 13, b + 13) for kind, level, a, b in blocks_of(MARKDOWN))]
    removed = [(0, 5, "menu", 0.5), (6, 11, "menu", 0.5)]
    table = pa.table(
        {
            "id": ["guide", "none"],
            "text": [text, "Cats."],
            "blocks": blocks_to_arrow(Blocks.of([blocks, []])),
            "removed": removed_to_arrow([removed, []]),
        }
    )
    path = tmp_path / "in.parquet"
    pq.write_table(table, path)
    columns = ["--column", "text", "--ids", "id", "--blocks", "blocks", "--removed", "removed"]
    shown = invoke(["segment", str(path), "-m", "structure:size=9,unit=words", *columns]).output
    assert "Guide › Details\n  document guide, chunk 5" in shown
    assert "\n    document guide, chunk 6" in shown
    assert "\n      The sun burns hydrogen" in shown
    assert "document guide, left out: menu 2 spans, 10 characters (4%)" in shown
    assert "document none, left out" not in shown
    assert "left out: menu 2 spans" in invoke(["segment", str(path), "-m", "recursive", *columns]).output
    out = tmp_path / "out.csv"
    invoke(["segment", str(path), "-m", "structure:size=9,unit=words", *columns, "-o", str(out)])
    assert ",Guide > Details > Other," in out.read_text().replace('"', "")


def test_boxes_of_a_chunk_are_those_of_its_blocks(tmp_path: Path) -> None:
    text = "Cats\n\nCats purr.\fDogs bark. They run.\n\nNo box."
    blocks = Blocks.of(
        [
            [],
            [("heading", 1, 0, 4), ("paragraph", 0, 6, 16), ("paragraph", 0, 17, 37), ("paragraph", 0, 39, 46)],
        ]
    )
    box = np.arange(16, dtype=np.float32).reshape(4, 4)
    box[3] = np.nan
    blocks = replace(blocks, page=np.array([1, 1, 2, 2], np.int32), box=box)
    said = {"page_starts": [[0], [0, 17]]}
    chunks = pychunk.segment(["Plain.", text], "structure", size=3, unit="words", blocks=blocks, **said)
    sides = ("page", "left", "top", "right", "bottom")
    found = [[tuple(box[side] for side in sides) for box in chunk.boxes] for chunk in chunks]
    own = [(1, 0, 1, 2, 3), (1, 4, 5, 6, 7), (2, 8, 9, 10, 11)]
    assert found == [[], own[:2], own[2:], own[2:], []]
    assert [chunk.page for chunk in chunks] == [1, 1, 2, 2, 2]
    assert "boxes" not in pychunk.segment([text], "structure", page_starts=[[0]]).table.column_names
    chunks.write(tmp_path / "out.csv")
    assert '[{""page"": 1, ""left"": 0.0,' in (tmp_path / "out.csv").read_text()
    empty = pychunk.segment([], "structure", blocks=Blocks.of([]), page_starts=[]).table
    assert empty.schema.field("boxes").type == chunks.table.schema.field("boxes").type


def test_tables_are_cut_at_rows_whatever_ends_their_lines() -> None:
    rows = ["| name | year |", "|---|---|", *(f"| river {i} | {i} |" for i in range(20))]
    for end in ("\n", "\r\n", "\r"):
        text = end.join(rows)
        chunks = pychunk.segment([text], "structure", size=30, unit="words", blocks=[[("table", 0, 0, len(text))]])
        assert [line for chunk in chunks for line in chunk.text.split(end)] == rows
        assert len(chunks) > 2
        assert {chunk.header for chunk in chunks} == {None, rows[0]}


def test_underlined_headings_have_marks_of_their_own() -> None:
    text = "Cats\n---\n\nThey purr.\n\nDogs\n\nThey bark."
    found = [("heading", 1, 0, 8), ("paragraph", 0, 10, 20), ("heading", 1, 22, 26), ("paragraph", 0, 28, 38)]
    chunks = pychunk.segment([text], "structure", size=4, unit="words", blocks=[found])
    assert chunks.to_markdown() == text.replace("Dogs", "# Dogs")
