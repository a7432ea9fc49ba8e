"""Levels of documents: they tile them, lie in each other, and are what the slow twin says, whatever the batch."""

import dataclasses
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy, _native
from pychunk._reference import engine as reference
from pychunk._reference import levels as slow
from pychunk.data.plan import Plan
from pychunk.documents import TextBatch
from pychunk.features.sentences import with_sentences
from pychunk.given.given import Given
from pychunk.levels.names import BY_PAGE, BY_STRUCTURE
from pychunk.levels.pooling import pooled
from pychunk.levels.trees import agglomerated
from pychunk.methods.structure import Structure
from pychunk.parsing.markdown import blocks_of

WORDS = st.sampled_from(
    [
        *("Cats", "purr", "loudly.", "Dr.", "the", "sun", "burns.", "café", "naïve", "中国。", "3.14", "U.S.", "👍!"),
        *("\n\n", "\n\n", "\n", "\f", "# Early life\n\n", "## Works\n\n", "### Late\n\n", "History\n\n"),
        *("Such as:\n- item\n- item\n", "***", "x" * 130, "é" * 40, "\x85", "  ", "\v"),
    ]
)
TEXT = st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=60)
TEXTS = st.lists(TEXT, max_size=4)
STRUCTURE = st.lists(st.sampled_from(BY_STRUCTURE), min_size=1, unique=True).map(
    lambda levels: sorted(levels, key=BY_STRUCTURE.index)
)
PAGES = st.lists(st.sampled_from(BY_PAGE), min_size=1, unique=True).map(
    lambda levels: sorted(levels, key=BY_PAGE.index)
)
WINDOWS = st.lists(st.integers(1, 60), min_size=1, max_size=4, unique=True).map(sorted)
LEVELS = STRUCTURE | PAGES | WINDOWS | WINDOWS.map(lambda sizes: [*sizes, "document"])
FIVE = ["sentence", "group", "paragraph", "section", "document"]


def arrays(found: Hierarchy) -> list[np.ndarray]:
    own = [found.doc_offsets, found.sentence_bytes, *found.firsts, found.lowest, found.highest]
    counted = [] if found.tokens is None else [found.tokens]
    return [*own, *counted, *(found.stored_vectors or ())]


def check_same(one: Hierarchy, other: Hierarchy) -> None:
    assert one.levels == other.levels
    for mine, theirs in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype


def check_tiles(found: Hierarchy, texts: list[str]) -> None:
    for level in found.levels:
        document, spans = found.documents_of(level), list(zip(*found.spans(level), strict=True))
        in_bytes = list(zip(*found.spans_in_bytes(level), strict=True))
        for row, text in enumerate(texts):
            own = [spans[i] for i in np.flatnonzero(document == row)]
            if not text.strip():
                assert not own
                continue
            assert own[0][0] == 0
            assert own[-1][1] == len(text)
            assert all(before[1] == after[0] for before, after in pairwise(own))
            data = text.encode()
            pieces = [data[slice(*in_bytes[i])].decode() for i in np.flatnonzero(document == row)]
            assert pieces == [text[start:end] for start, end in own]
    for finer, coarser in pairwise(found.levels):
        children, parents = found.children(coarser), found.parents(finer)
        np.testing.assert_array_equal(found.first(finer)[children], found.first(coarser))
        np.testing.assert_array_equal(np.repeat(np.arange(len(children) - 1), np.diff(children)), parents)
        assert (found.documents_of(coarser)[parents] == found.documents_of(finer)).all()


def check_nodes(found: Hierarchy) -> None:
    """A span is stored once, with all its levels."""
    seen: dict[tuple[int, int], int] = {}
    for place, level in enumerate(found.levels):
        first = found.first(level)
        for node, begin, end in zip(found.nodes(level), first[:-1], first[1:], strict=True):
            assert seen.setdefault((begin, end), node) == node
            assert found.lowest[node] <= place <= found.highest[node]
    assert len(seen) == len(found)
    assert sum(map(len, found.stored_vectors or ())) == (len(found) if found.has_vectors else 0)


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS)
def test_every_level_tiles_its_documents_and_parents_hold_their_children(texts: list[str], levels: list) -> None:
    found = pychunk.segment(texts, "fixed", size=9, unit="words", levels=levels, vectors="sentence")
    assert set(levels) <= set(found.levels)
    check_tiles(found, texts)
    check_nodes(found)


def of_reference(segmenter: pychunk.Segmenter, texts: list[str], levels: list) -> Hierarchy:
    segmenter.engine = reference
    try:
        return segmenter.hierarchy(texts, levels)
    finally:
        segmenter.engine = _native


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS, method=st.sampled_from(["paragraph", "semantic", "structure"]))
def test_the_native_core_equals_the_reference(texts: list[str], levels: list, method: str) -> None:
    segmenter = pychunk.Segmenter(method, vectors="sentence", max_tokens=30)
    check_same(segmenter.hierarchy(texts, levels), of_reference(segmenter, texts, levels))


@settings(max_examples=50, deadline=None)
@given(texts=TEXTS, levels=STRUCTURE)
def test_nodes_are_those_of_the_slow_twin(texts: list[str], levels: list) -> None:
    """Paragraphs, sections and their borders, one document after the other."""
    levels = [level for level in levels if level != "group"] or ["document"]
    found = pychunk.segment(texts, levels=levels)
    segmenter = pychunk.Segmenter("sentence")
    batch = TextBatch.of(texts)
    wanted = []
    for bare, _ in segmenter._requests(batch, Given(), 0):
        request = with_sentences(bare, reference)
        headed = request.only_sentences().with_(plan=Structure().plan(Plan("structure")))
        headings, offsets = reference.headings(headed), request.features.doc_offsets
        for row, (begin, end) in enumerate(pairwise(offsets.tolist())):
            own = slice(*headings.offsets[row : row + 2])
            sections, subsections = slow.section_levels(
                list(zip(headings.first[own].tolist(), headings.level[own].tolist(), strict=True))
            )
            flags = request.features.given("flags").flat()
            paragraphs = {s - begin for s in range(begin, end) if flags[s] & 1 and not headings.tied[s]}
            starts = {
                "sentence": set(range(end - begin)),
                "paragraph": paragraphs,
                "subsection": subsections,
                "section": sections,
                "document": {0},
            }
            nodes = slow.nodes_of([starts[level] for level in found.levels], end - begin)
            wanted += [(row, each["lowest"], each["highest"], *each["span"], each["parent"]) for each in nodes]
    table = found.to_arrow().to_pylist()
    places = {str(level): place for place, level in enumerate(found.levels)}
    span = {row["node"]: (row["sentence"], row["sentence"] + row["sentences"]) for row in table}
    got = [
        (row["document"], places[row["level"]], places[row["last_level"]], *span[row["node"]], span.get(row["parent"]))
        for row in table
    ]
    assert sorted(got, key=str) == sorted(wanted, key=str)


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS)
def test_nothing_depends_on_the_batch_or_threads(texts: list[str], levels: list) -> None:
    whole = pychunk.segment(texts, "semantic", levels=levels, vectors="sentence", threads=1)
    check_same(whole, pychunk.segment(texts, "semantic", levels=levels, vectors="sentence", threads=3))
    for row, text in enumerate(texts):
        alone = pychunk.segment([text], "semantic", levels=levels, vectors="sentence")
        for level in whole.levels:
            here = whole.documents_of(level) == row
            assert alone.texts_of(level) == [t for t, own in zip(whole.texts_of(level), here, strict=True) if own]
            np.testing.assert_array_equal(alone.vectors(level), whole.vectors(level)[here])


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, levels=LEVELS, encoders=st.sampled_from([{}, {"sentence_vectors": True}]))
def test_a_nodes_vector_is_that_of_a_chunk_of_its_sentences(texts: list[str], levels: list, encoders: dict) -> None:
    said: dict = {}
    if encoders:
        spans = pychunk.sentences(texts)
        drawn = np.random.default_rng(5)
        said = {"sentence_vectors": [drawn.normal(size=(len(each), 6)).astype(np.float32) for each in spans]}
    found = pychunk.segment(texts, "pic", levels=levels, vectors="chunk", **said)
    exact = {"atoms": False, "max_tokens": None, "min_tokens": 0, "vectors": "chunk"}
    for place, level in enumerate(found.levels[1:], 1):
        chunks = pychunk.segment(texts, "given", cuts=found.cuts(level), **exact, **said)
        assert chunks.texts == found.texts_of(level)
        if found.count(level):
            own = found.stored(level)
            np.testing.assert_array_equal(chunks.vectors[own], found.stored_vectors[place])
            np.testing.assert_allclose(chunks.vectors, found.vectors(level), atol=2e-7)  # of one sentence: its own


def test_groups_are_the_methods_chunks(articles: list[str]) -> None:
    for method in ("topic", "semantic", "structure"):
        found = pychunk.segment(articles[:60], method, levels=["group", "document"], vectors="sentence")
        chunks = pychunk.segment(articles[:60], method, vectors="chunk")
        texts = set(found.texts_of("group"))
        whole = [text in texts for text in chunks.texts]
        assert np.mean(whole) > 0.99  # what begins or ends inside a sentence is no group
        if all(whole):
            own = found.stored("group")
            np.testing.assert_array_equal(found.stored_vectors[1], chunks.vectors[own])


def test_groups_are_cut_at_coarser_borders(articles: list[str]) -> None:
    found = pychunk.segment(articles[:40], "fixed", levels=FIVE)
    check_tiles(found, articles[:40])
    alone = pychunk.segment(articles[:40], "fixed", levels=["group", "document"])
    assert set(alone.first("group")) < set(found.first("group"))


def test_levels_of_real_articles(articles: list[str]) -> None:
    found = pychunk.segment(articles[:100], levels=FIVE, vectors="sentence")
    check_tiles(found, articles[:100])
    check_nodes(found)
    counts = [found.count(level) for level in FIVE]
    assert counts == sorted(counts, reverse=True)
    assert found.count("section") > 3 * 100  # with the lead of each
    for level in FIVE:
        np.testing.assert_allclose(np.linalg.norm(found.vectors(level), axis=1), 1, atol=1e-5)


TEXT_OF_LEVELS = (
    "# Cats\n\nThey purr. They sleep.\n\n## Food\n\nMice. Fish.\n\n### Raw\n\nSome do.\n\n"
    "## Sleep\n\nBy day.\n\nAlways."
)


def of_markdown(text: str, levels: list) -> Hierarchy:
    return pychunk.segment([text], levels=levels, blocks=blocks_of([text]))


def test_sections_are_headed_by_the_highest_headings_below_the_title() -> None:
    found = of_markdown(TEXT_OF_LEVELS, ["paragraph", "subsection", "section", "document"])
    assert found.texts_of("section") == [
        "# Cats\n\nThey purr. They sleep.",
        "## Food\n\nMice. Fish.\n\n### Raw\n\nSome do.",
        "## Sleep\n\nBy day.\n\nAlways.",
    ]
    assert found.texts_of("subsection")[1:3] == ["## Food\n\nMice. Fish.", "### Raw\n\nSome do."]
    assert found.texts_of("paragraph")[-2:] == ["## Sleep\n\nBy day.", "Always."]  # a heading stands by what it heads
    without = of_markdown(TEXT_OF_LEVELS.replace("# Cats\n\n", "", 1), ["section"])
    assert without.texts_of("section")[0] == "They purr. They sleep."
    two = of_markdown("# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\nThree.", ["subsection", "section"])
    assert two.texts_of("section") == ["# A\n\nOne.\n\n## B\n\nTwo.", "# C\n\nThree."]


def test_headings_may_be_given_as_blocks() -> None:
    text = "Cats They purr. Food Mice. Raw Some."
    blocks = [("heading", 1, 0, 4), ("paragraph", 0, 5, 15), ("heading", 2, 16, 20), ("paragraph", 0, 21, 26)]
    blocks += [("heading", 2, 27, 30), ("paragraph", 0, 31, 36)]
    found = pychunk.segment([text], levels=["paragraph", "section", "document"], blocks=[blocks])
    assert found.texts_of("section") == ["Cats They purr.", "Food Mice.", "Raw Some."]


def test_pages_by_form_feeds_and_as_given() -> None:
    found = pychunk.segment("One. Two.\fThree.", levels=["page", "document"])
    assert found.texts_of("page") == ["One. Two.", "Three."]
    found = pychunk.segment(["One two three. Four.", "Five."], levels=["page"], page_starts=[[0, 4, 15], [0]])
    assert found.texts_of("page") == ["One", "two three.", "Four.", "Five."]


def test_windows_lie_in_each_other() -> None:
    text = " ".join(f"Word number {i} here." for i in range(50))
    found = pychunk.segment([text, "One."], levels=[16, 32, 64])
    assert found.levels == ("sentence", 16, 32, 64)
    assert found.token_counts(16).max() <= 16
    assert found.token_counts(64).max() <= 64
    assert found.documents_of(64).tolist() == [0] * (found.count(64) - 1) + [1]
    long = pychunk.segment("A sentence of more than three tokens. B.", levels=[3])
    assert long.texts_of(3) == ["A sentence of more than three tokens.", "B."]


def test_levels_that_coincide_are_one_node() -> None:
    found = pychunk.segment("One. Two.", levels=["paragraph", "subsection", "section", "document"], vectors="chunk")
    assert len(found) == 3
    assert (found.lowest[2], found.highest[2]) == (1, 4)
    assert [len(vectors) for vectors in found.stored_vectors] == [2, 1, 0, 0, 0]
    np.testing.assert_array_equal(found.vectors("document"), found.vectors("paragraph"))
    single = pychunk.segment("One.", levels=["document"], vectors="chunk")
    np.testing.assert_array_equal(single.vectors("document"), single.vectors("sentence"))
    assert len(single) == 1


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS, order=st.randoms(use_true_random=False), vectors=st.sampled_from([None, "chunk"]))
def test_arrow_and_back(texts: list[str], levels: list, order, vectors: str | None) -> None:
    ids = [f"d{row}" for row in range(len(texts))]
    found = pychunk.segment(texts, levels=levels, ids=ids, vectors=vectors)
    table = found.to_arrow()
    rows = list(range(table.num_rows))
    order.shuffle(rows)
    for each in (table, table.take(pa.array(rows, pa.int64()))):
        back = Hierarchy.from_arrow(each)
        check_same(found, back)
        assert back.metadata == found.metadata
        for level in found.levels:
            assert back.texts_of(level) == found.texts_of(level)
        held = [text.strip() != "" for text in texts]
        assert back.ids.to_pylist() == [own if here else None for own, here in zip(ids, held, strict=True)]
        assert back.texts.to_pylist() == [text if here else "" for text, here in zip(texts, held, strict=True)]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_files_and_back(ending: str, tmp_path) -> None:
    found = pychunk.segment(
        [TEXT_OF_LEVELS, "", "One."], levels=["paragraph", "section"], vectors="chunk", ids=[7, 8, 9]
    )
    found.write(tmp_path / f"levels.{ending}")
    back = Hierarchy.read(tmp_path / f"levels.{ending}")
    check_same(found, back)
    assert back.texts_of("section") == found.texts_of("section")
    with pytest.raises(ValueError, match=r"\.parquet, \.arrow or \.feather"):
        found.write(tmp_path / "levels.csv")


def test_a_table_that_is_no_hierarchy_is_refused() -> None:
    found = pychunk.segment([TEXT_OF_LEVELS], levels=["paragraph"])
    with pytest.raises(ValueError, match="to_arrow"):
        Hierarchy.from_arrow(pychunk.segment(["One."]).table)
    with pytest.raises(ValueError, match="neither left out nor twice"):
        Hierarchy.from_arrow(found.to_arrow().slice(1))


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        (["word"], "unknown level 'word'; the levels are sentence, group, paragraph"),
        ([True], "unknown level True"),
        ([0], "unknown level 0"),
        (["document", "section"], "from fine to coarse.*got document, section"),
        (["section", "section"], "each once.*got section, section"),
        ([256, 128], "from fine to coarse"),
        (["page", "section"], "from fine to coarse"),
        (["paragraph", "page"], "level 'page' stands beside sentence, group, document alone; got paragraph"),
        (["paragraph", 128], "windows of tokens stand beside sentence, document alone; got paragraph"),
        ([], "at least one of sentence"),
        ("section", "must be a list of sentence"),
    ],
)
def test_levels_that_are_refused(levels: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        pychunk.segment("One.", levels=levels)


def test_what_levels_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="no removed="):
        pychunk.segment("One. Two.", levels=["document"], removed=[(0, 4)])
    with pytest.raises(ValueError, match="no overlap"):
        pychunk.segment("One. Two.", "fixed", size=20, overlap=5, levels=["group"])
    with pytest.raises(ValueError, match="keep="):
        pychunk.segment(pa.table({"text": ["One."], "a": [1]}), levels=["document"], column="text", keep=["a"])
    found = pychunk.segment("One.", levels=["section"])
    with pytest.raises(ValueError, match="no level 'page' here; there are sentence, section"):
        found.first("page")
    with pytest.raises(ValueError, match="has no vectors"):
        found.vectors("section")
    with pytest.raises(ValueError, match="counted no tokens"):
        found.token_counts("section")
    with pytest.raises(ValueError, match="finest"):
        found.children("sentence")
    with pytest.raises(ValueError, match="coarsest"):
        found.parents("section")


@pytest.mark.parametrize("texts", [[], [""], ["", " \n "], ["One."]])
def test_few_texts(texts: list[str]) -> None:
    found = pychunk.segment(texts, levels=FIVE, vectors="sentence")
    assert found.documents == len(texts)
    assert found.vectors("document").shape == (sum(map(bool, map(str.strip, texts))), 256)
    check_tiles(found, texts)
    check_same(found, Hierarchy.from_arrow(found.to_arrow()))


def test_rows_that_are_no_text_are_empty() -> None:
    found = pychunk.Segmenter("sentence", on_error="skip").hierarchy(["One.", None, "Two."], ["document"])
    assert found.documents_of("document").tolist() == [0, 2]


def test_several_requests_are_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [TEXT_OF_LEVELS, "", "One. Two.", "Three.\n\nFour."] * 3
    whole = pychunk.segment(texts, levels=FIVE, vectors="sentence")
    monkeypatch.setattr("pychunk.segmenter.CALL_BYTES", 20)
    check_same(whole, pychunk.segment(pa.chunked_array([texts[:5], texts[5:]]), levels=FIVE, vectors="sentence"))


def test_a_hundred_thousand_sections() -> None:
    text = "\n\n".join(f"## H{i}\n\nOne. Two." for i in range(20_000))
    found = pychunk.segment([text], levels=["paragraph", "section", "document"])
    assert found.count("section") == 20_000
    assert found.count("document") == 1


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_span_vectors_equal_the_reference(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 9), max_size=6))
    doc_offsets = np.cumsum([0, *counts])
    n = int(doc_offsets[-1])
    drawn = np.random.default_rng(data.draw(st.integers(0, 99)))
    vectors = drawn.normal(size=(n, data.draw(st.sampled_from([1, 5, 64])))).astype(np.float32)
    weights = drawn.integers(0, 3, n)
    levels = []
    for _ in range(data.draw(st.integers(0, 3))):
        firsts = sorted({*doc_offsets[:-1][np.diff(doc_offsets) > 0].tolist(), *drawn.integers(0, max(n, 1), n // 2)})
        spans = [(a, b) for a, b in pairwise([*firsts, n]) if a < b and drawn.random() < 0.7]
        levels.append((np.array([a for a, _ in spans], np.int64), np.array([b for _, b in spans], np.int64)))
    native = _native.span_vectors(vectors, weights, doc_offsets, levels, threads=2)
    for mine, theirs in zip(native, slow.span_vectors(vectors, weights, doc_offsets, levels, threads=1), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    sizes = sorted(data.draw(st.lists(st.integers(1, 12), max_size=3, unique=True)))
    windows = _native.token_windows(weights, doc_offsets, sizes)
    for mine, theirs in zip(windows, slow.token_windows(weights, doc_offsets, sizes), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_spans_are_checked_at_the_border() -> None:
    vectors, weights = np.ones((3, 2), np.float32), np.ones(3, np.int64)
    offsets = np.array([0, 3])
    for first, last in (([0], [4]), ([1, 0], [2, 1]), ([0, 1], [2, 3]), ([1], [1])):
        with pytest.raises(ValueError, match="spans must rise within 3 sentences"):
            _native.span_vectors(vectors, weights, offsets, [(np.array(first), np.array(last))], threads=1)
    with pytest.raises(ValueError, match="weights must hold one of each of 3"):
        _native.span_vectors(vectors, weights[:2], offsets, [], threads=1)
    with pytest.raises(ValueError, match="doc_offsets must run from 0 to 3"):
        _native.token_windows(weights, np.array([0, 2]), [4])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_trees_equal_the_reference(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 25), max_size=4))
    doc_offsets = np.cumsum([0, *counts])
    n = int(doc_offsets[-1])
    drawn = np.random.default_rng(data.draw(st.integers(0, 99)))
    vectors = drawn.integers(-1, 2, size=(n, data.draw(st.sampled_from([1, 2, 40])))).astype(np.float32)  # many ties
    weights = drawn.integers(0, 3, n)
    inner = drawn.integers(0, max(n, 1), n // 3)
    first = np.array(sorted({*doc_offsets.tolist(), *inner.tolist()}), np.int64)
    branching = data.draw(st.integers(2, 6))
    arguments = (vectors, weights, doc_offsets, first, branching)
    native = _native.agglomerate(*arguments, threads=2)
    for mine, theirs in zip(native, slow.agglomerate(*arguments, threads=1), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, branching=st.integers(2, 5), base=st.sampled_from(["sentence", "paragraph"]))
def test_trees_are_levels(texts: list[str], branching: int, base: str) -> None:
    found = pychunk.segment(texts, levels=["paragraph", "document"], vectors="sentence")
    tree = agglomerated(found, branching, base=base)
    check_tiles(tree, texts)
    check_nodes(tree)
    check_same(tree, Hierarchy.from_arrow(tree.to_arrow()))
    for finer, coarser in pairwise(tree.levels[tree.place(base) :]):
        counts = np.diff(tree.children(coarser))
        assert counts.max(initial=0) <= branching
        assert len(counts) <= max(found.documents, 0.75 * tree.count(finer) + found.documents)
    top = tree.levels[-1]
    assert tree.count(top) == found.count("document") or top == base  # each document of one node already
    np.testing.assert_array_equal(tree.vectors(top), found.vectors("document" if top != base else base))


def test_what_trees_refuse() -> None:
    found = pychunk.segment("One. Two.", levels=["document"])
    with pytest.raises(ValueError, match="has no vectors"):
        agglomerated(found)
    found = pychunk.segment("One. Two.", levels=["document"], vectors="sentence")
    with pytest.raises(ValueError, match="branching must be a whole number of at least 2; got 1"):
        agglomerated(found, 1)
    with pytest.raises(ValueError, match="no level 'page'"):
        agglomerated(found, base="page")
    offsets, ones = np.array([0, 2]), np.ones(2, np.int64)
    with pytest.raises(ValueError, match="a node must begin where a document does"):
        _native.agglomerate(np.ones((2, 1), np.float32), ones, np.array([0, 1, 2]), offsets, 2, threads=1)


def test_poolings() -> None:
    found = pychunk.segment(TEXT_OF_LEVELS, levels=["paragraph", "document"], vectors="sentence")
    vectors, paragraphs = found.vectors("sentence"), found.vectors("paragraph")
    children, parents = found.children("document"), found.parents("paragraph")
    np.testing.assert_array_equal(pooled(found, "document", "first"), paragraphs[children[:-1]])
    near = paragraphs @ found.vectors("document")[0]
    np.testing.assert_array_equal(pooled(found, "document", "medoid")[0], paragraphs[near.argmax()])
    assert parents.tolist() == [0] * len(parents)
    lengths = np.diff([*found.spans_in_bytes("sentence")[0], len(TEXT_OF_LEVELS.encode())])
    total = (vectors * lengths[:, None]).sum(0)
    np.testing.assert_allclose(pooled(found, "document", "length")[0], total / np.linalg.norm(total), atol=1e-6)
    np.testing.assert_array_equal(pooled(found, "document"), found.vectors("document"))
    np.testing.assert_array_equal(pooled(found, "sentence", "medoid"), vectors)
    with pytest.raises(ValueError, match="pooling must be one of tokens, length, first, medoid; got 'max'"):
        pooled(found, "document", "max")


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, levels=LEVELS, vectors=st.sampled_from([None, "chunk"]))
def test_nodes_as_chunks(texts: list[str], levels: list, vectors: str | None) -> None:
    found = pychunk.segment(texts, levels=levels, vectors=vectors)
    chunks = found.chunks()
    assert len(chunks) == len(found)
    assert chunks.documents == len(texts)
    assert len(set(chunks.table["chunk_id"].to_pylist())) == len(chunks) or len(set(texts)) < len(texts)
    for document in chunks.by_document():
        assert [chunk.chunk for chunk in document] == list(range(len(document)))
        assert all(texts[chunk.document][chunk.start : chunk.end] == chunk.text for chunk in document)
    for level in found.levels:
        own = [str(level) in at for at in chunks.table["levels"].to_pylist()]
        rows = chunks.table.filter(pa.array(own, pa.bool_())).sort_by(
            [("document", "ascending"), ("start", "ascending")]
        )
        assert rows["text"].to_pylist() == found.texts_of(level)
        if vectors:
            held = np.asarray(rows["vector"].combine_chunks().flatten()).reshape(-1, 256)
            np.testing.assert_array_equal(held, found.vectors(level))
            assert rows["tokens"].to_pylist() == found.token_counts(level).tolist()


def test_an_index_of_levels_is_searched_by_level(tmp_path) -> None:
    pytest.importorskip("faiss")
    texts = [
        "Cats\n\nCats purr. They sleep by day.\n\nFood\n\nMice taste good. Fish, too.",
        "Stars burn hydrogen. The sun is a star.",
    ]
    found = pychunk.segment(texts, levels=["paragraph", "section", "document"], vectors="chunk", ids=["cats", "stars"])
    with pychunk.Index.create(tmp_path / "levels.idx", vectors="chunk", kind="flat", dtype="float32") as index:
        index.add(found.chunks())
        for levels in (["sentence"], ["paragraph", "section"], ["document"], ["sentence", "document"]):
            hits = index.search("What do stars burn?", k=20, mode="dense", where={"levels": levels})[0]
            nodes = sorted({node for level in levels for node in found.nodes(level).tolist()})
            assert len(hits) == len(nodes)
            assert all(set(hit.metadata["levels"]) & set(levels) for hit in hits)
            query = pychunk.embed(["What do stars burn?"])[0]
            vectors = np.concatenate([found.stored_vectors[place] for place in range(len(found.levels))])
            np.testing.assert_allclose([hit.score for hit in hits], -np.sort(-(vectors[nodes] @ query)), atol=1e-6)
        assert index.search("Stars burn", k=1, where={"levels": ["document"]})[0][0].text == texts[1]
        again = pychunk.segment(["Dogs bark."], levels=["document"], vectors="chunk", ids=["cats"])
        index.add(again.chunks())
        assert [hit.text for hit in index.search("cats", k=9, ids=["cats"])[0]] == ["Dogs bark."]
        index.save()


def index_of(folder, texts: list[str], levels: list) -> tuple[pychunk.Index, Hierarchy]:
    found = pychunk.segment(texts, levels=levels, vectors="chunk", ids=[f"d{i}" for i in range(len(texts))])
    index = pychunk.Index.create(folder, vectors="chunk", kind="flat", dtype="float32")
    index.add(found.chunks())
    index.save()
    return index, found


@pytest.mark.parametrize("mode", ["dense", "hybrid", "sparse"])
def test_search_within_levels_equals_brute_force(articles: list[str], tmp_path, mode: str) -> None:
    pytest.importorskip("faiss")
    index, found = index_of(tmp_path / "l.idx", articles[:30], ["paragraph", "section", "document"])
    with index:
        more = pychunk.segment(articles[30:35], levels=["paragraph", "document"], vectors="chunk", ids=list("abcde"))
        index.add(more.chunks())  # another part, without sections
        index.save()
        table = index.table
        queries = ["Who wrote about anarchism?", "a river and its mouth", "autism in children"]
        everything, _ = index.rank(queries, k=len(index), mode=mode)
        for low, high in (("paragraph", "paragraph"), ("paragraph", "section"), ("sentence", "document")):
            order = ["sentence", "paragraph", "section", "document"]
            wanted = set(order[order.index(low) : order.index(high) + 1])
            got, _ = index.rank(queries, k=8, mode=mode, levels=(low, high))
            for query in range(len(queries)):
                kept: list[int] = []
                for row in everything[query].tolist():
                    if row < 0 or len(kept) == 8:
                        break
                    own = table.slice(row, 1).to_pylist()[0]
                    if not wanted & set(own["levels"]):
                        continue
                    others = [table.slice(each, 1).to_pylist()[0] for each in kept]
                    if low == high or all(
                        own["id"] != each["id"] or own["end"] <= each["start"] or each["end"] <= own["start"]
                        for each in others
                    ):
                        kept.append(row)
                assert got[query].tolist()[: len(kept)] == kept
                hits = index.search(queries[query], k=8, mode=mode, levels=(low, high))[0]
                assert [hit.row for hit in hits] == kept
    assert found.count("section") > 30


def test_hits_of_several_levels_hold_no_character_twice(tmp_path) -> None:
    pytest.importorskip("faiss")
    index, _ = index_of(tmp_path / "l.idx", [TEXT_OF_LEVELS, "Mice. Fish."], ["paragraph", "document"])
    with index:
        hits = index.search("mice and fish", k=20, levels=("sentence", "document"))[0]
        assert {hit.id for hit in hits} == {"d0", "d1"}
        for hit in hits:
            others = [each for each in hits if each.id == hit.id and each is not hit]
            assert all(each.end <= hit.start or hit.end <= each.start for each in others)
        assert len(index.search("mice", k=20, levels="sentence")[0]) == 13
        assert index.search("mice", k=1, levels=("sentence", "document"), by_document=True)[0][0].id in ("d0", "d1")


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        ("section", "no level 'section' in this index; there are sentence, 16, document"),
        (("document", "sentence"), "finest first, of sentence, 16, document; got document, sentence"),
        (("sentence",), "one level, or the finest and the coarsest"),
        (True, "one level, or the finest and the coarsest"),
    ],
)
def test_levels_that_a_search_refuses(levels: object, says: str, tmp_path) -> None:
    pytest.importorskip("faiss")
    index, _ = index_of(tmp_path / "l.idx", [TEXT_OF_LEVELS], [16, "document"])
    with index, pytest.raises(ValueError, match=says):
        index.search("mice", levels=levels)


def test_an_index_without_levels_says_so(tmp_path) -> None:
    pytest.importorskip("faiss")
    with pychunk.Index.create(tmp_path / "p.idx") as index:
        assert index.search("cats", levels="section") == [[]]
        index.add(pychunk.segment("Cats purr.", vectors="sentence"))
        index.save()
        with pytest.raises(ValueError, match=r"add what pychunk\.Hierarchy\.chunks\(\) gives"):
            index.search("cats", levels="section")


def test_a_hierarchy_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        pychunk.segment("One.", levels=["document"]).levels = ()
