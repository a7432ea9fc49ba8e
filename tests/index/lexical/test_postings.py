"""Terms counted and inverted natively equal those of the analyzer, for any texts, options and batches."""

import functools
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine import arrow, native
from pychunk._engine.reference.search.bm25 import add_bm25
from pychunk._engine.reference.search.postings import inverted
from pychunk.index.index import Index
from pychunk.index.lexical import character_tables, characters
from pychunk.index.lexical.analyzer import Analyzer, folded, without_diacritics
from pychunk.index.lexical.postings import Postings, PostingsBuilder


@functools.cache
def every_character() -> list[str]:
    return [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]


@st.deferred
def HARD() -> st.SearchStrategy[str]:
    """Return marks, letters that fold or decompose, and Jamo: characters that join, move or vanish."""
    found = [
        c for c in every_character() if unicodedata.combining(c) or unicodedata.decomposition(c) or c.casefold() != c
    ]
    return st.sampled_from(found + [chr(point) for point in range(0x1100, 0x1200)])


#: Letters that are counted in pairs, adjacent ones that are not, marks on them, and ends of words.
UNSPACED = list("京都大学東ガｶﾞか゚ー々〇한글ㅋ㍿𠮷豈ㄅ\u3099\u302a\u3000・ａa1_é, \u0301\ufe00\U000e0100ทะเลน้ำཀི་သင်္ខ្ញ๑")
WORDS = [
    "Cats",
    "cats",
    "running",
    "the",
    "The",
    "x_y",
    "1984",
    "Украї́на",
    "İstanbul",
    "हिन्दी",
    "京都大学",
    "大学",
    "大",
    "Łódź",
    "ﬁnal",
    "ﾃｽﾄ",
    "und",
    "die",
    "of",
    "ทะเล",
    "α",
]
TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.lists(st.sampled_from(WORDS)).map(" ".join),
        st.lists(HARD | st.sampled_from("ae ο가")).map("".join),
        st.lists(st.sampled_from(UNSPACED)).map("".join),
    ),
    max_size=6,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "ngram": st.integers(1, 6) | st.just(10**30),
        "unit": st.sampled_from(["ngrams", "auto"]),
        "stop_words": st.lists(st.sampled_from(WORDS)),
        "stemmer": st.sampled_from(["english", "russian"]),
        "version": st.sampled_from([1, 2, 3, 4]),
        "fold_diacritics": st.booleans(),
        "cjk_bigrams": st.booleans(),
    },
)


def built(analyzer: Analyzer, batches: list[list[str]], threads: int | None = None) -> Postings:
    builder = PostingsBuilder(analyzer, threads=threads)
    for texts in batches:
        builder.add(builder.count(pa.chunked_array([texts], pa.large_string())))
    return builder.finish()


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(TEXTS.map("".join), TEXTS), max_size=5),
    options=OPTIONS,
    threads=st.sampled_from([1, 2, 3]),
)
def test_a_context_counts_as_a_line_before_the_text(rows: Any, options: dict[str, Any], threads: int) -> None:
    if "stemmer" in options:
        pytest.importorskip("Stemmer")
    if options.get("unit") == "auto":
        options.pop("version", None)
    analyzer, builder = Analyzer(**options), PostingsBuilder(Analyzer(**options), threads=threads)
    pairs = [(context, text) for context, texts in rows for text in texts]
    contexts, texts = (pa.chunked_array([[pair[at] for pair in pairs]], pa.large_string()) for at in (0, 1))
    builder.add(builder.count(texts, contexts))
    assert_equal(builder.finish(), [analyzer.terms(f"{context}\n{text}") for context, text in pairs])


def assert_equal(postings: Postings, rows: list[list[str]]) -> None:
    terms, *arrays = inverted(rows)
    assert postings.terms.to_pylist() == terms
    for name, expected in zip(("offsets", "rows", "counts", "lengths"), arrays, strict=True):
        found = getattr(postings, name)
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert found.dtype == expected.dtype


@settings(max_examples=150, deadline=None)
@given(
    texts=TEXTS, options=OPTIONS, cuts=st.lists(st.integers(0, 6), max_size=3), threads=st.sampled_from([1, 2, 3, 8])
)
def test_postings_are_those_of_the_analyzers_terms(
    texts: list[str], options: dict[str, Any], cuts: list[int], threads: int
) -> None:
    if "stemmer" in options:
        pytest.importorskip("Stemmer")
    if options.get("unit") == "auto":
        options.pop("version", None)
    analyzer = Analyzer(**options)
    borders = [0, *sorted(cuts), len(texts)]
    batches = [texts[begin:end] for begin, end in zip(borders, borders[1:])]
    assert_equal(built(analyzer, batches, threads), [analyzer.terms(text) for text in texts])


@pytest.mark.parametrize(
    ("version", "step"), [pytest.param(4, 1, marks=pytest.mark.slow), (4, 5), (3, 7), (2, 11), (1, 13)]
)
def test_words_are_made_of_the_characters_that_the_analyzer_has(version: int, step: int) -> None:
    analyzer, some = Analyzer(version=version), every_character()[::step]
    texts = [" ".join(f"x{c}y {c}" for c in some[first : first + 256]) for first in range(0, len(some), 256)]
    assert_equal(built(analyzer, [texts]), [analyzer.terms(text) for text in texts])


def natively(texts: list[str], diacritics: bool = False) -> list[str]:
    found = characters.folding(diacritics=diacritics).fold(*arrow.flat_text(pa.array(texts, pa.large_string())))
    return arrow.strings(*found).to_pylist()


AROUND = ["{}", "e{}\u0301\u0323", "\uac00{}", "{}\u1161\u11a8"]


@pytest.mark.parametrize(
    "around",
    [pytest.param(each, marks=pytest.mark.slow) for each in [*AROUND, "\u03b1\u0345{}\u0308\u0301"]],
)
def test_every_character_is_folded_as_python_does(around: str) -> None:
    every = every_character()
    texts = ["\n".join(map(around.format, every[first : first + 256])) for first in range(0, len(every), 256)]
    assert natively(texts) == [folded(text) for text in texts]
    assert natively(texts, diacritics=True) == [without_diacritics(folded(text)) for text in texts]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(HARD | st.sampled_from("ae \u03bf\uac00\u0301\u0345\u093c")).map("".join)))
def test_hard_texts_are_folded_as_python_does(texts: list[str]) -> None:
    assert natively(texts) == [folded(text) for text in texts]
    assert natively(texts, diacritics=True) == [without_diacritics(folded(text)) for text in texts]


def test_what_joins_has_a_class_that_is_asked_for() -> None:
    assert all(
        any(a <= ord(c) <= b for a, b in characters.marks()) for c in every_character() if unicodedata.combining(c)
    )


def test_the_extensions_tables_are_those_of_the_python_that_it_was_built_with() -> None:
    assert native.python_tables("1.0.0") is None
    found = native.python_tables(unicodedata.unidata_version)
    if found is None:
        pytest.skip("built with a Python of another version of Unicode")
    made = character_tables.made("".join(map(chr, range(character_tables.LAST))))
    assert {name: table.tolist() for name, table in found.items()} == made


def test_tables_of_another_python_are_made_as_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "python_tables", lambda version: None)
    made = characters._tables.__wrapped__()
    assert {name: table.dtype for name, table in made.items()} == dict.fromkeys(
        characters._tables(), np.dtype("uint32")
    )
    assert all((made[name] == table).all() for name, table in characters._tables().items())


@pytest.mark.parametrize("marks", ["\u0301", "\u0323\u0301", "\u1161"])
def test_long_runs_of_marks(marks: str) -> None:
    text = "e" + marks * 500
    assert natively([text, text[1:]]) == [folded(text), folded(text[1:])]
    assert len(natively(["e" + marks * 200_000])) == 1  # Python sorts them in quadratic time: 2 minutes


def test_terms_that_differ_in_their_end_alone_are_different() -> None:
    words = ["a" * size + end for size in (0, 1, 2, 3, 6, 7, 8, 15, 16, 17) for end in ("", "a", "b", "ab", "ba")]
    analyzer = Analyzer()
    analyzer.stem = lambda found: [word + "\0" * (len(word) % 3) for word in found]  # zeros are also part of a term
    texts = [" ".join(words), *words]
    assert_equal(built(analyzer, [texts]), [analyzer.terms(text) for text in texts])


def test_a_stemmer_that_fails_leaves_no_term_and_what_comes_after_is_counted() -> None:
    analyzer = Analyzer(stemmer=None, stop_words=["of"])
    asked: list[list[str]] = []

    def stem(words: list[str]) -> list[str]:
        asked.append(words)
        if len(asked) == 1:
            raise ValueError("no stems today")
        return [word[:3] for word in words]

    analyzer.stem = stem
    builder = PostingsBuilder(analyzer)
    with pytest.raises(ValueError, match="no stems today"):
        builder.count(pa.chunked_array([["Lost words of it."]]))
    builder.add(builder.count(pa.chunked_array([["Words wordy words."], ["wo of"]])))
    builder.add(builder.count(pa.chunked_array([["words"]])))
    assert_equal(builder.finish(), [["wor"] * 3, ["wo"], ["wor"]])
    assert asked == [["lost", "words", "of", "it"], ["lost", "words", "of", "it", "wordy", "wo"], []]


@pytest.mark.parametrize("moment", ["count", "add"])
def test_an_index_whose_terms_cannot_be_had_holds_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    pytest.importorskip("faiss")

    def fails(*_: Any) -> Any:
        raise MemoryError("no room")

    first, second, third = (
        pychunk.segment([text], "sentence", vectors="sentence") for text in ("Cats.", "Owls.", "Bees.")
    )
    index = Index.create(tmp_path / "x")
    index.add(first)
    index.save()
    with monkeypatch.context() as patch:
        patch.setattr(PostingsBuilder, moment, fails)
        with pytest.raises(MemoryError):
            index.add(second)
    if moment == "add":  # the rows are in files already
        with pytest.raises(ValueError, match=r"failed \(no room\).*open the index again"):
            index.add(third)
        index.close(discard=True)
        index = Index.open(tmp_path / "x")
    index.add(third)
    index.save()
    index.close()
    with Index.open(tmp_path / "x") as again:
        found = again.search(["cats", "owls", "bees"], mode="sparse")
        assert [[hit.text for hit in hits] for hits in found] == [["Cats."], [], ["Bees."]]


def test_rows_that_were_counted_and_not_added_are_forgotten() -> None:
    for options in ({}, {"unit": "ngrams"}):
        builder = PostingsBuilder(Analyzer(**options))
        builder.count(pa.chunked_array([["Something else."]]))
        builder.add(builder.count(pa.chunked_array([["One thing."]])))
        postings = builder.finish()
        assert_equal(postings, [Analyzer(**options).terms("One thing.")])
        assert_equal(builder.finish(), [Analyzer(**options).terms("One thing.")])
    empty = PostingsBuilder(Analyzer()).finish()
    assert_equal(empty, [])


def test_words_that_are_forgotten_to_bound_memory_have_the_same_terms_again() -> None:
    asked = []

    def stem(words: list[str]) -> list[str]:
        asked.append(len(words))
        return [word[:2] for word in words]

    text = np.frombuffer(b"some words come again some words", np.uint8)
    offsets = np.array([0, 16, len(text)], np.int64)
    found = {}
    for threads in (1, 2):
        asked.clear()
        for memory in (1 << 20, 0):
            maker = native.PostingsMaker(characters.word_characters(2), None, 3, stem, [], memory)
            found[memory] = [np.concatenate(maker.count(text, offsets, threads)).tolist() for _ in range(2)]
            assert found[memory][0] == found[memory][1]
        assert asked == [4, 0, 4, 4]
        assert found[0] == found[1 << 20]


WIDTHS = st.sampled_from(["u1", "u2", "u4", "i4"])


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.sampled_from([0, 1, 5, 200, 3000, 17000]), WIDTHS, WIDTHS), max_size=3),
    st.integers(1, 6),
    st.lists(st.lists(st.integers(0, 5), max_size=9), max_size=7),
    st.booleans(),
    st.integers(1, 3),
)
def test_scores_of_rows_equal_the_reference(
    seed: int, sizes: list[Any], terms: int, queries: list[list[int]], some_removed: bool, threads: int
) -> None:
    rng = np.random.default_rng(seed)
    every = sum(size for size, *_ in sizes)
    base = rng.random(every, np.float32)
    alive = rng.random(every) < 0.7 if some_removed else None
    queries = [[term % terms for term in query] for query in queries]
    offsets = np.cumsum([0, *map(len, queries)])
    weights = rng.choice((rng.random(3) * 30).astype(np.float32), int(offsets[-1]))  # some are equal
    bounds = rng.choice([0, 1, 7.3], len(queries)).astype(np.float32)
    parts, held = [], []
    for size, row_type, count_type in sizes:
        size = min(size, 256) if row_type == "u1" else size
        rows = [np.flatnonzero(rng.random(size) < rng.random()).astype(row_type) for _ in range(terms)]
        high = min(2**31 - 1, np.iinfo(count_type).max)
        counts = [rng.integers(1, high, len(each), endpoint=True).astype(count_type) for each in rows]
        ends = np.cumsum([len(each) for each in rows])
        parts.append((np.concatenate(rows), np.concatenate(counts), ends - [len(each) for each in rows], ends, size))
        held.append((rows, counts))
    every = sum(size for *_, size in parts)
    base, alive = base[:every], None if alive is None else alive[:every]
    expected = np.zeros((len(queries), every), np.float32)
    for query, own in enumerate(queries):
        first = 0
        for (rows, counts), (*_, size) in zip(held, parts, strict=True):
            place = slice(first, first + size)
            for term, weight in zip(own, weights[offsets[query] :]):
                add_bm25(rows[term], counts[term], weight, base[place], expected[query, place])
            first += size
        if alive is not None:
            expected[query, ~alive] = 0
        if bounds[query]:
            expected[query] /= bounds[query]
    numbers = np.array([term for query in queries for term in query], np.int64)
    found = native.bm25_scores(parts, offsets, numbers, weights, bounds, base, alive, threads)
    np.testing.assert_array_equal(found, expected)
    if alive is not None and parts and len(parts[0][0]):
        assert native.count_alive(parts[0][0], alive) == alive[parts[0][0]].sum()


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 4),
    st.sampled_from([0, 1, 63, 64, 65, 5000]),
    st.sampled_from([0, 1, 7, 70, 10**12]),
    st.sampled_from([1, 3, 10**6]),
    st.sampled_from([None, 0.0, 0.2, 0.9]),
)
def test_best_rows_are_those_of_a_sort(
    seed: int, queries: int, size: int, count: int, different: int, share: float | None
) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, different, (queries, size), endpoint=True) / different).astype(np.float32)
    allowed = None if share is None else rng.random(size) < share
    found = native.best_rows(scores, count, allowed, 2)
    ends = found[2].tolist()
    assert len(ends) == queries + 1
    for own, begin, end in zip(scores, ends, ends[1:]):
        rows = np.flatnonzero(own if allowed is None else own * allowed)
        rows = rows[np.lexsort((rows, -own[rows]))][:count]
        assert (found[0][begin:end].tolist(), found[1][begin:end].tolist()) == (own[rows].tolist(), rows.tolist())


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 3),
    st.sampled_from([0, 1, 65, 5000, 300_000]),
    st.sampled_from([0, 1, 70, 10**12]),
    st.sampled_from([1, 3, 10**6]),
    st.integers(0, 4),
)
def test_best_rows_of_groups_are_those_of_each_alone(
    seed: int, queries: int, size: int, count: int, different: int, groups: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, different, (queries, size), endpoint=True) / different).astype(np.float32)
    of = rng.integers(-2, groups, size).astype(np.int8)
    own, rows, ends = native.best_rows_of_groups(scores, count, of, groups, 2)
    assert len(ends) == queries * groups + 1
    alone = [native.best_rows(scores, count, of == group) for group in range(groups)]
    for place in range(queries * groups):
        query, group = divmod(place, groups)
        begin, end = alone[group][2][query : query + 2]
        here = slice(*ends[place : place + 2])
        assert rows[here].tolist() == alone[group][1][begin:end].tolist()
        assert own[here].tolist() == alone[group][0][begin:end].tolist()


def test_groups_of_rows_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="groups must be below 1, got 1"):
        native.best_rows_of_groups(np.ones((1, 2), np.float32), 1, np.array([0, 1], np.int8), 1)
    with pytest.raises(ValueError, match="groups must hold 2 values"):
        native.best_rows_of_groups(np.ones((1, 2), np.float32), 1, np.zeros(3, np.int8), 1)


def scores_of(rows: Any, counts: Any, base: Any, queries: int = 1, **changed: Any) -> Any:
    """Return the scores of one-term queries in one part, with some arguments changed."""
    own = {"begins": [0], "ends": [len(rows)], "size": len(base), "terms": [0], "weights": [1], **changed}
    part = rows, counts, np.array(own["begins"], np.int64), np.array(own["ends"], np.int64), own["size"]
    offsets, terms = np.arange(queries + 1) * len(own["terms"]), np.array(own["terms"] * queries, np.int64)
    weights, bounds = np.array(own["weights"] * queries, np.float32), np.ones(queries, np.float32)
    return native.bm25_scores([part], offsets, terms, weights, bounds, base)


@pytest.mark.parametrize("queries", [1, 5])
def test_postings_that_cannot_be_are_refused(queries: int) -> None:
    base, one = np.zeros(5, np.float32), np.ones(1, np.int32)
    for rows, counts in (([1, 5], [1, 1]), ([-1], [1]), ([1], [1, 2])):
        with pytest.raises(ValueError, match=r"rows below 5|1 counts, got 2"):
            scores_of(np.array(rows, np.int32), np.array(counts, np.int32), base, queries)
    for changed, message in (
        ({"begins": [-1]}, "within the 1 stored ones, got those from -1"),
        ({"ends": [2]}, "within the 1 stored ones, got those from 0 to 2"),
        ({"begins": [1], "ends": [0]}, "from 1 to 0"),
        ({"ends": []}, "as many ends"),
        ({"size": 4}, "parts must have 5 rows, got 4"),
        ({"size": -1}, "follow one another"),
        ({"terms": [1]}, "terms must be below 1, got 1"),
        ({"terms": [-1]}, "got -1"),
        ({"weights": []}, "must have a weight"),
    ):
        with pytest.raises(ValueError, match=message):
            scores_of(one, one, base, queries, **changed)
    with pytest.raises(ValueError, match="increasing rows"):
        scores_of(np.array([5000, 1], np.int32), np.ones(2, np.int32), np.zeros(9000, np.float32), 5)
    with pytest.raises(ValueError, match="rows below 5"):
        native.count_alive(np.array([5], np.uint16), np.ones(5, np.bool_))
    for wrong in (np.zeros(1, np.int64), np.zeros(1, np.float32), np.zeros((1, 1), np.int32), np.zeros(4, "u1")[::2]):
        with pytest.raises(ValueError, match="flat arrays of integers"):
            scores_of(wrong, np.ones(wrong.size, np.int32), base, queries)


@pytest.mark.parametrize(
    ("text", "offsets", "message"),
    [
        (b"ab\xffcd", [0, 5], "valid UTF-8"),
        ("aé".encode(), [0, 2, 3], "inside a character"),
        (b"ab", [0, 3], "must be at most 2"),
        (b"ab", [1, 0], "must not decrease"),
    ],
)
def test_what_is_no_text_is_refused(text: bytes, offsets: list[int], message: str) -> None:
    maker = native.PostingsMaker(characters.word_characters(2), None, 0, None, [])
    with pytest.raises(ValueError, match=message):
        maker.count(np.frombuffer(text, np.uint8), np.array(offsets, np.int64))


def test_batches_of_another_builder_are_refused() -> None:
    maker = native.PostingsMaker(characters.word_characters(2), None, 0, None, [])
    for terms, counts, sizes in (([0], [1], [1]), ([-1], [1], [1]), ([], [1], []), ([], [], [-1])):
        with pytest.raises(ValueError, match=r"terms must be below 0|sizes must"):
            maker.finish([tuple(np.array(each, np.int32) for each in (terms, counts, sizes))])
    with pytest.raises(ValueError, match="code points"):
        native.WordCharacters(*(np.array(each, np.uint32) for each in ([1, 0x110000], [], [], [])))
    with pytest.raises(ValueError, match="stems, one for each word"):
        native.PostingsMaker(characters.word_characters(2), None, 0, lambda words: [], []).count(
            np.frombuffer(b"ab", np.uint8), np.array([0, 2], np.int64)
        )


def test_one_call_at_a_time() -> None:
    analyzer = Analyzer()

    def stem(words: list[str]) -> list[str]:
        builder.count(pa.chunked_array([["again"]]))
        return words

    analyzer.stem = stem
    builder = PostingsBuilder(analyzer)
    with pytest.raises(RuntimeError, match="another thread"):
        builder.count(pa.chunked_array([["once"]]))


@pytest.mark.parametrize(("rows", "count", "types"), [(3, 1, "uint8 uint8"), (300, 300, "uint16 uint16")])
def test_what_is_saved_is_narrow_and_the_same(tmp_path: Path, rows: int, count: int, types: str) -> None:
    builder = PostingsBuilder(Analyzer())
    builder.add(builder.count(pa.chunked_array([["cat dog"] * (rows - 1) + ["cat " * count]])))
    found = builder.finish()
    found.save(tmp_path)
    loaded = Postings.load(tmp_path)
    assert f"{loaded.rows.dtype} {loaded.counts.dtype}" == types
    for mine, other in zip(found.find(["cat", "dog", "emu"]), loaded.find(["cat", "dog", "emu"]), strict=True):
        for own, same in zip(mine, other, strict=True):
            np.testing.assert_array_equal(own, same)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.text(max_size=4)), st.lists(st.text(max_size=4), max_size=5))
def test_terms_are_found_where_they_are(terms: set[str], others: list[str]) -> None:
    held = sorted(terms)
    numbers = np.arange(len(held), dtype=np.int32)
    found = Postings(pa.array(held, pa.large_string()), np.arange(len(held) + 1), numbers, numbers + 1, numbers)
    wanted = [*held, *others, "\ud800"]
    for term, (rows, counts) in zip(wanted, found.find(wanted), strict=True):
        assert rows.tolist() == ([held.index(term)] if term in terms else [])
        assert counts.tolist() == [row + 1 for row in rows]
