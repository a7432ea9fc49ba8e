"""Cohesion in every method and within budgets: headings, introductions, short chunks and marks stay with their text."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_text import METHODS, PROSE, check_tiling

import pychunk
from pychunk.evaluation.datasets import _looks_like_heading
from pychunk.methods import METHODS as NAMED

every_method = pytest.mark.parametrize(("method", "options"), METHODS, ids=[f"{m}-{o}" for m, o in METHODS])
#: Methods with chunks of any short length.
KEEPING_SHORT = {name for name, method in NAMED.items() if method.keeps_short}
TITLES = ["Biography", "Early life", "Works and reception", "1950 to 1960"]
#: Headings as texts have them: the text before each, the line itself, and the text after it.
KINDS: dict[str, Callable[[str], tuple[str, str, str]]] = {
    "wikiextractor": lambda title: ("\n", f"{title}.", "\n"),
    "markdown": lambda title: ("\n\n", f"## {title}", "\n\n"),
    "wikitext": lambda title: ("\n", f"== {title} ==", "\n"),
    "plain": lambda title: ("\n\n", title, "\n\n"),
    "numbered": lambda title: ("\n\n", f"2.1 {title}", "\n\n"),
}


def tokens_of(texts: list[str]) -> list[int]:
    """Return the tokens of each text by itself."""
    spans = [[(0, len(text))] for text in texts]
    return (
        pychunk.segment(texts, "sentence", max_tokens=10**9, columns={"sentence_spans": spans})
        .table["tokens"]
        .to_pylist()
    )


def check_budgets(chunks: list[pychunk.Chunk], options: dict[str, Any]) -> None:
    units: dict[str, Callable[[list[str]], list[int]]] = {
        "tokens": tokens_of,
        "words": lambda texts: [len(text.split()) for text in texts],
        "characters": lambda texts: [len(text) for text in texts],
    }
    texts = [chunk.text for chunk in chunks]
    limits = [("tokens", options.get("max_tokens")), (options.get("unit", "tokens"), options.get("size"))]
    for unit, limit in limits:
        for text, length in zip(texts, units[unit](texts), strict=True):
            assert limit is None or length <= limit or len(text) == 1, f"{length} {unit} of {limit}: {text!r}"


@pytest.mark.parametrize("kind", KINDS)
@every_method
def test_a_heading_begins_a_chunk_and_stays_with_what_follows(method: str, options: dict[str, Any], kind: str) -> None:
    text, headings = PROSE[0], []
    for title, paragraph in zip(TITLES, PROSE, strict=True):
        before, line, after = KINDS[kind](title)
        headings.append(line)
        text += before + line + after + paragraph
    chunks = list(pychunk.segment(text, method, **options))
    check_tiling(text, chunks)
    if method == "page":  # stays whole
        assert len(chunks) == 1
        return
    for line in headings:
        (own,) = [chunk for chunk in chunks if line in chunk.text]
        assert own.text.startswith(line) or "size" in options, own.text
        assert len(own.text[own.text.index(line) :]) > len(line) + 20, own.text
    if method not in ("sentence", "paragraph", "fixed", "recursive", "page"):
        assert {chunk.end_reason for chunk in chunks} <= {"score", "heading", "end"}


def test_a_chunk_that_ends_before_a_heading_alone_says_so() -> None:
    text = f"{PROSE[0]}\n\n# Stars\n\n{PROSE[1]}\n\n# Rivers\n\n{PROSE[2]}"
    chunks = pychunk.segment(text, "semantic", threshold=-1.0)  # no cut of its own
    assert [chunk.end_reason for chunk in chunks] == ["heading", "heading", "end"]
    assert len(pychunk.segment(text, "semantic", threshold=-1.0, keep_together=False)) == 1
    for method in ("fixed", "recursive", "structure"):
        assert [chunk.end_reason for chunk in pychunk.segment(text, method, size=32)] == ["heading", "heading", "end"]
        assert [chunk.end_reason for chunk in pychunk.segment(text, method, size=200)] == ["end"]


@pytest.mark.parametrize("method", ["recursive", "structure"])
@pytest.mark.parametrize("size", [40, 60, 90])
def test_short_sections_share_a_chunk_that_ends_before_a_heading(method: str, size: int) -> None:
    sections = [f"## {title}\n\n{paragraph}" for title, paragraph in zip(TITLES, PROSE, strict=True)]
    chunks = list(pychunk.segment("\n\n".join(sections), method, size=size))
    whole = [count for count in range(1, 5) if tokens_of(["\n\n".join(sections[:count])])[0] <= size][-1]
    expected = ["\n\n".join(sections[at : at + whole]) for at in range(0, 4, whole)]
    assert [chunk.text for chunk in chunks] == expected


@every_method
def test_headings_that_follow_on_each_other_stay_together(method: str, options: dict[str, Any]) -> None:
    text = f"{PROSE[0]}\n# Life\n## Early years\n### Youth\n{PROSE[1]}\n{PROSE[2]}"
    chunks = list(pychunk.segment(text, method, **options))
    begins = "# Life\n## Early years\n### Youth\nThe sun is"
    (own,) = [chunk for chunk in chunks if begins in chunk.text]
    assert own.text.startswith(begins) or method in ("page", "fixed", "recursive")


@pytest.mark.parametrize("scrap", [".", "1", "<br>", "***", "&nbsp;", "— —", "[12]", "<br> &nbsp; <hr>", "• • •"])
def test_a_scrap_is_never_a_chunk(scrap: str) -> None:
    for (method, options), gap in itertools.product(METHODS, ("\n\n", "\n")):
        text = gap.join([scrap, PROSE[0], scrap, PROSE[1], scrap, scrap, PROSE[2], scrap])
        chunks = list(pychunk.segment(text, method, **options))
        check_tiling(text, chunks)
        for chunk in chunks:
            assert chunk.text.replace(scrap, "").strip(), (method, options, [chunk.text for chunk in chunks])


@every_method
def test_a_list_keeps_the_line_that_introduces_it(method: str, options: dict[str, Any]) -> None:
    items = ["- grass that grows on the banks of rivers", "- water from the mountains", "- salt, which they lick"]
    text = "\n".join([PROSE[0], "In summer the animals live on a few things:", *items, PROSE[2]])
    chunks = list(pychunk.segment(text, method, **options))
    check_tiling(text, chunks)
    (own,) = [chunk for chunk in chunks if "few things:" in chunk.text]
    assert items[0] in own.text


@every_method
def test_a_closing_mark_stays_with_its_sentence(method: str, options: dict[str, Any]) -> None:
    text = f'{PROSE[0]} She said: "The rain has not stopped since the morning of Monday." " {PROSE[1]} {PROSE[2]}'
    assert any(text[a:b].startswith('" ') for a, b in pychunk.split_sentences(text)[0])  # split before it
    chunks = list(pychunk.segment(text, method, **options))
    check_tiling(text, chunks)
    assert not any(chunk.text.startswith('" ') for chunk in chunks)


@pytest.mark.parametrize("method", [name for name in NAMED if name not in KEEPING_SHORT | {"precomputed"}])
def test_a_chunk_of_under_50_characters_joins_another_one(method: str) -> None:
    options: dict[str, Any] = {"encoder": "static"} if method == "nsp" else {}
    if NAMED[method]().traits.sized:
        options |= {"size": 70}
    text = f"{PROSE[0]}\n\n# See also\n\nA few lines.\n\n# Stars\n\n{PROSE[1]} It ends. {PROSE[2]} Yes."
    for floor in ({}, {"min_tokens": 0}):
        chunks = list(pychunk.segment(text, method, **options, **floor))
        check_tiling(text, chunks)
        assert min(len(chunk.text) for chunk in chunks) >= 50, [chunk.text for chunk in chunks]


DEGENERATE = {
    "headings": "\n\n".join(f"# Part {i}" for i in range(60)),
    "titles": "\n".join(f"Part {i}." for i in range(60)),
    "scraps": "\n\n".join(["***", "1", ".", "<br>", "&nbsp;"] * 20),
    "introductions": "\n".join(["Such as:"] * 60),
    "marks": "” ) ] » \n" * 60,
    "one line": "A line",
    "one scrap": ".",
    "one-word lines": "Word\n" * 400,
    "no stop": "word " * 2000,
    "one word": "x" * 3000,
    "scripts": "".join(
        [
            "Заголовок\n\nЭто кошка. Она спит весь день. ",
            "日本語の文章です。次の文です。\n\n# 見出し\n\n",
            "عنوان\n\nهذا نص قصير. ",
            "中文没有空格",
        ]
        * 4
    ),
    "heading before too much": "# Heading\n\n" + "word " * 600 + ".",
    "scraps before too much": "***\n1\n<br>\n" + "word " * 600 + ".",
    "heading at the end": f"{PROSE[0]}\n\n# Heading",
    "white space": "\n \t\u2003\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGENERATE)
def test_any_document_is_tiled_within_its_budget(name: str) -> None:
    text = DEGENERATE[name]
    for (method, options), limit in itertools.product(METHODS, (7, 100)):
        own = {"min_tokens": limit // 2, **options, "max_tokens": limit}
        chunks = list(pychunk.segment(text, method, **own))
        check_tiling(text, chunks)
        check_budgets(chunks, own)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "Word\n",
        "# Heading\n\n",
        "***\n\n",
        "Such as:\n",
        "<\n",
        "“ It rains. ” ",
        "word ",
        pytest.param("", id="white space behind many sentences"),
    ],
)
def test_time_is_linear(unit: str) -> None:
    def text_of(size: int) -> str:
        return unit * size if unit else "Cats purr here. " * (size // 4) + " " * (50 * size)

    def seconds(segmenter: pychunk.Segmenter, text: str) -> float:
        begun = time.process_time()
        segmenter([text])
        return time.process_time() - begun

    for method, options in (
        ("pic", {}),
        ("fixed", {"size": 20, "balance": True}),
        ("recursive", {"size": 4}),
        ("recursive", {"size": 10**9, "max_tokens": 30}),
    ):
        segmenter = pychunk.Segmenter(method, placement=pychunk.Placement(threads=1), **options)
        check_tiling(text_of(20_000), list(segmenter([text_of(20_000)])))
        short, long = (min(seconds(segmenter, text_of(size)) for _ in range(2)) for size in (10_000, 40_000))
        assert long < 10 * short + 0.1, f"{method}: {short:.3f} s, and {long:.3f} s for 4 times the text"


LINES = st.sampled_from(
    [
        *("# Heading", "== Works ==", "Biography.", "Early life", "Such as:", "- an item here", "1. First", "***"),
        *(
            "<br>",
            "&nbsp;",
            ".",
            "12",
            "”",
            "“ ",
            "Cats purr. Dogs bark! Why?",
            PROSE[0],
            PROSE[1],
            "Price: 20",
            "9. Ably",
            "Is it so?",
            "Pros:",
            "日本。中国。",
            "\f",
        ),
    ]
)
MIXED = st.lists(
    st.tuples(LINES | st.text(max_size=40), st.sampled_from([" ", "\n", "\n\n", "\n\n", ""])), max_size=14
).map(lambda parts: "".join(line + gap for line, gap in parts))
CHOSEN = st.sampled_from(METHODS).flatmap(
    lambda each: st.fixed_dictionaries(
        {
            "method": st.just(each[0]),
            "max_tokens": st.sampled_from([12, 40]),
            "min_tokens": st.sampled_from([0, 6, 12]),
            **{name: st.just(value) for name, value in each[1].items() if name not in ("max_tokens", "min_tokens")},
        }
    )
)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(MIXED, min_size=1, max_size=4), options=CHOSEN, seed=st.integers(0, 9))
def test_chunks_of_any_text_tile_fit_and_depend_on_nothing_else(
    texts: list[str], options: dict[str, Any], seed: int
) -> None:
    whole = pychunk.segment(texts, placement=pychunk.Placement(threads=1), **options)
    for text, chunks in zip(texts, whole.by_document(), strict=True):
        check_tiling(text, chunks)
    check_budgets(list(whole), options)

    def spans(batch: pychunk.ChunkBatch) -> list[list[tuple[int, int, str]]]:
        return [[(chunk.start, chunk.end, chunk.end_reason) for chunk in own] for own in batch.by_document()]

    assert spans(pychunk.segment(texts, placement=pychunk.Placement(threads=3), **options)) == spans(whole)
    order = random.Random(seed).sample(range(len(texts)), len(texts))
    moved = spans(pychunk.segment([texts[i] for i in order], **options))
    assert [moved[order.index(i)] for i in range(len(texts))] == spans(whole)
    assert [spans(pychunk.segment([text], **options))[0] for text in texts] == spans(whole)


@st.composite
def sectioned(draw: st.DrawFn) -> str:
    """Return sections that begin with a Markdown heading and are long enough for a chunk of their own."""
    sections = []
    for i in range(draw(st.integers(1, 4))):
        words = draw(st.lists(st.integers(13, 19), min_size=2, max_size=12))  # no line of one looks like a heading
        body = [" ".join(["word"] * n).capitalize() + "." for n in words]
        gaps = draw(st.lists(st.sampled_from([" ", " ", "\n", "\n\n"]), min_size=len(body), max_size=len(body)))
        sections.append(f"# Part {i}\n\n" + "".join(s + gap for s, gap in zip(body, gaps, strict=True)).rstrip())
    return "\n\n".join(sections)


def sections_of(chunks: list[pychunk.Chunk]) -> list[list[pychunk.Chunk]]:
    found: list[list[pychunk.Chunk]] = []
    for chunk in chunks:
        if chunk.text.startswith("# "):
            found.append([])
        found[-1].append(chunk)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pic", "semantic", "nsp", "cluster", "sentence", "fixed", "recursive"])
@settings(max_examples=30, deadline=None)
@given(text=sectioned(), least=st.integers(1, 40))
def test_no_chunk_is_under_the_floor_beside_one_of_its_section_that_it_fits_with(
    method: str, text: str, least: int
) -> None:
    options: dict[str, Any] = {"encoder": "static", "threshold": 0.6} if method == "nsp" else {}
    if method in ("fixed", "recursive"):
        options["size"] = 45
    chunks = list(pychunk.segment(text, method, max_tokens=45, min_tokens=least, **options))
    for own in sections_of(chunks):
        for a, b in itertools.pairwise(own):
            if min(a.tokens, b.tokens) < least:
                assert tokens_of([text[a.start : b.end]])[0] > 45, (a.text, b.text)


def test_a_floor_above_the_limit_names_both() -> None:
    with pytest.raises(ValueError, match=r"min_tokens must be at most max_tokens \(30\); got 64"):
        pychunk.Segmenter("pic", max_tokens=30, min_tokens=64)
    assert pychunk.Segmenter("pic", max_tokens=30).plan.min_tokens == 15
    assert pychunk.Segmenter("pic").plan.min_tokens == pychunk.Segmenter("pic", max_tokens=None).plan.min_tokens == 64


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(MIXED, min_size=1, max_size=3), chosen=st.sampled_from(METHODS))
def test_without_atoms_and_floor_every_cut_is_the_methods(texts: list[str], chosen: tuple[str, dict[str, Any]]) -> None:
    method, options = chosen[0], {key: value for key, value in chosen[1].items() if key not in ("max_tokens", "size")}
    if method in ("fixed", "recursive"):
        options |= {"size": 400, "unit": "characters"}  # no sentence is longer, and none cut inside
    segmenter = pychunk.Segmenter(method, **{**options, "keep_together": False, "min_tokens": 0, "max_tokens": None})
    cuts, sentences = segmenter.cuts(texts), pychunk.split_sentences(texts)
    for row, chunks in enumerate(segmenter(texts).by_document()):
        firsts = [sentences[row][first] for first in cuts.part(row)]
        assert len(chunks) == len(firsts)
        assert all(start <= chunk.start < end for chunk, (start, end) in zip(chunks, firsts, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fixed", "recursive"])
@settings(max_examples=80, deadline=None)
@given(text=sectioned(), size=st.integers(26, 90), unit=st.sampled_from(["tokens", "words", "characters"]))
def test_balanced_chunks_are_no_more_and_no_longer(method: str, text: str, size: int, unit: str) -> None:
    size *= 6 if unit == "characters" else 1
    plain, even = (
        list(pychunk.segment(text, method, size=size, unit=unit, balance=balance)) for balance in (False, True)
    )

    def longest(chunks: list[pychunk.Chunk]) -> int:
        texts = [chunk.text for chunk in chunks]
        return max({"tokens": tokens_of, "words": lambda t: [len(x.split()) for x in t]}.get(
            unit, lambda t: [len(x) for x in t]
        )(texts))  # fmt: skip

    assert len(even) <= len(plain)
    assert longest(even) <= longest(plain)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    text=sectioned(),
    chosen=st.sampled_from([each for each in METHODS if each[0] not in ("page", "fixed", "recursive")]),
    overlap=st.integers(1, 30),
)
def test_a_heading_leads_what_a_chunk_does_not_repeat(
    text: str, chosen: tuple[str, dict[str, Any]], overlap: int
) -> None:
    method, options = chosen
    headings = [at for at in range(len(text)) if text.startswith("# Part", at)]
    for chunk in pychunk.segment(text, method, **{"max_tokens": 70, **options, "overlap": overlap}):
        own = chunk.start + chunk.overlap
        assert not any(own < at < chunk.end and text[own:at].strip() for at in headings), chunk.text


def heading_runs(text: str) -> list[tuple[int, int]]:
    """Return spans of runs of headings of a WikiExtractor text, by ``evaluation.datasets.section_starts``."""
    lines, start = [], 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((start, line))
        start += len(line) + 1
    heading = [False] * (len(lines) + 1)
    for i in range(len(lines) - 2, 0, -1):
        line, following = lines[i][1], lines[i + 1][1]
        heading[i] = _looks_like_heading(line) and (heading[i + 1] or len(following) > len(line))
    runs = []
    for i in range(1, len(lines)):
        if heading[i] and not heading[i - 1]:
            last = heading.index(False, i) - 1
            runs.append((lines[i][0], lines[last][0] + len(lines[last][1].rstrip())))
    return runs


@pytest.fixture(scope="module")
def wiki(data: Path) -> list[str]:
    pq = pytest.importorskip("pyarrow.parquet")
    batch = next(pq.ParquetFile(data / "wiki" / "articles.parquet").iter_batches(batch_size=3000, columns=["text"]))
    return random.Random(7).sample(batch.column("text").to_pylist(), 150)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fixed", "recursive", "structure"])
def test_a_size_is_filled_on_wikipedia(method: str, wiki: list[str]) -> None:
    chunked = pychunk.segment(wiki, method, size=512, max_tokens=None)
    lengths = chunked.table["tokens"].to_pylist()
    assert max(lengths) <= 512
    assert sum(lengths) >= 400 * len(lengths)
    headings = alone = begun = inside = 0
    for text, chunks in zip(wiki, chunked.by_document(), strict=True):
        begins = {chunk.start for chunk in chunks}
        for start, end in heading_runs(text):
            headings += 1
            begun += start in begins
            alone += any(chunk.start >= start and chunk.end <= end for chunk in chunks)
            inside += any(start <= chunk.end <= end for chunk in chunks)
    assert alone == 0
    assert inside < 0.01 * headings
    assert begun >= 0.3 * headings or method == "fixed"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pic", "semantic", "cluster", "nsp"])
def test_sections_of_wikipedia_begin_with_their_headings(method: str, wiki: list[str]) -> None:
    options = {"encoder": "static"} if method == "nsp" else {}
    chunked = pychunk.segment(wiki, method, **options)
    headings = begun = alone = last = 0
    for text, chunks in zip(wiki, chunked.by_document(), strict=True):
        begins, ends = {chunk.start for chunk in chunks}, {chunk.end for chunk in chunks}
        for start, end in heading_runs(text):
            headings += 1
            begun += start in begins
            alone += any(chunk.start == start and chunk.end <= end for chunk in chunks)
            last += end in ends
    assert headings > 1000
    assert begun >= 0.95 * headings
    assert alone == 0
    assert last < 0.01 * headings
    assert sum(len(chunk.text) < 50 for chunk in chunked) < 0.01 * len(chunked)


@pytest.mark.parametrize("method", ["fixed", "recursive", "pic", "topic", "semantic"])
@pytest.mark.parametrize("words", [30, 55, 56, 58, 60, 61, 90])
def test_a_sentence_that_fits_only_without_its_heading_is_halved(method: str, words: int) -> None:
    heading, size = "# Early life of the author", 60
    sentence = " ".join(["Word", *["word"] * (words - 1)]) + "."
    text = f"{PROSE[0]}\n\n{heading}\n\n{sentence} {PROSE[1]}"
    options = {"size": size, "unit": "words"} if method in ("fixed", "recursive") else {"max_tokens": size + 1}
    chunks = list(pychunk.segment(text, method, **options))
    check_tiling(text, chunks)
    check_budgets(chunks, options)
    (own,) = [chunk for chunk in chunks if heading in chunk.text]
    assert own.text.startswith(heading) or "size" in options
    assert len(own.text[own.text.index(heading) :]) > 100  # part of the sentence is there
    assert min(len(chunk.text) for chunk in chunks) >= 35


def test_a_sentence_is_halved_behind_a_clause_near_its_middle() -> None:
    first, second = " ".join(["word"] * 24), " ".join(["other"] * 31)
    text = f"# Early life of the author\n\nThe {first}, and {second}."
    chunks = list(pychunk.segment(text, "fixed", size=60, unit="words"))
    assert [chunk.text for chunk in chunks] == [text.split(" and")[0], text.split(", ")[1]]
