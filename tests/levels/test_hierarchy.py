"""Levels of documents tile them, are nested, and equal the slow twin in any batch."""

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hierarchies import (
    FIVE,
    LEVELS,
    STRUCTURE,
    TEXT_OF_LEVELS,
    TEXTS,
    check_nodes,
    check_same,
    check_tiles,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy
from pychunk._engine import native
from pychunk._engine.data.plan import Plan
from pychunk._engine.reference import engine as reference
from pychunk._engine.reference import levels as slow
from pychunk.features.sentence_features import with_sentences
from pychunk.inputs.document_columns import DocumentColumns
from pychunk.levels.hierarchy_builder import hierarchy_by
from pychunk.methods.structure import Structure
from pychunk.parsing.markdown import blocks_of


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS)
def test_every_level_tiles_its_documents_and_parents_hold_their_children(texts: list[str], levels: list) -> None:
    found = pychunk.segment_levels(texts, levels, "fixed", size=9, unit="words", vectors="sentence")
    assert set(levels) <= set(found.levels)
    check_tiles(found, texts)
    check_nodes(found)


def of_reference(segmenter: pychunk.Segmenter, texts: list[str], levels: list) -> Hierarchy:
    segmenter.engine = reference
    try:
        return hierarchy_by(segmenter, texts, levels)
    finally:
        segmenter.engine = native


@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS, method=st.sampled_from(["paragraph", "semantic", "structure"]))
def test_the_native_core_equals_the_reference(texts: list[str], levels: list, method: str) -> None:
    segmenter = pychunk.Segmenter(method, vectors="sentence", max_tokens=30)
    check_same(hierarchy_by(segmenter, texts, levels), of_reference(segmenter, texts, levels))


@settings(max_examples=50, deadline=None)
@given(texts=TEXTS, levels=STRUCTURE)
def test_nodes_are_those_of_the_slow_twin(texts: list[str], levels: list) -> None:
    """The test compares paragraphs, sections and their boundaries, one document after the other."""
    levels = [level for level in levels if level != "group"] or ["document"]
    found = pychunk.segment_levels(texts, levels)
    segmenter = pychunk.Segmenter("sentence")
    wanted = []
    for bare, _ in segmenter.requests(segmenter.read(texts, {})[1]):
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
        (
            row["document_index"],
            places[row["level"]],
            places[row["last_level"]],
            *span[row["node"]],
            span.get(row["parent"]),
        )
        for row in table
    ]
    assert sorted(got, key=str) == sorted(wanted, key=str)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(texts=TEXTS, levels=LEVELS)
def test_nothing_depends_on_the_batch_or_threads(texts: list[str], levels: list) -> None:
    whole = pychunk.segment_levels(
        texts, levels, "semantic", vectors="sentence", placement=pychunk.Placement(threads=1)
    )
    check_same(
        whole,
        pychunk.segment_levels(texts, levels, "semantic", vectors="sentence", placement=pychunk.Placement(threads=3)),
    )
    for row, text in enumerate(texts):
        alone = pychunk.segment_levels([text], levels, "semantic", vectors="sentence")
        for level in whole.levels:
            here = whole.documents_of(level) == row
            assert alone.texts_of(level) == [t for t, own in zip(whole.texts_of(level), here, strict=True) if own]
            np.testing.assert_array_equal(alone.vectors(level), whole.vectors(level)[here])


@settings(max_examples=40, deadline=None)
@given(texts=TEXTS, levels=LEVELS, encoders=st.sampled_from([{}, {"sentence_vectors": True}]))
def test_a_nodes_vector_is_that_of_a_chunk_of_its_sentences(texts: list[str], levels: list, encoders: dict) -> None:
    columns: DocumentColumns = {}
    if encoders:
        spans = pychunk.split_sentences(texts)
        drawn = np.random.default_rng(5)
        columns = {"sentence_vectors": [drawn.normal(size=(len(each), 6)).astype(np.float32) for each in spans]}
    found = pychunk.segment_levels(texts, levels, "pic", vectors="chunk", columns=columns)
    exact = {"keep_together": False, "max_tokens": None, "min_tokens": 0, "vectors": "chunk"}
    for place, level in enumerate(found.levels[1:], 1):
        chunks = pychunk.segment(texts, "precomputed", columns={**columns, "cuts": found.cuts(level)}, **exact)
        assert chunks.texts == found.texts_of(level)
        if found.count(level):
            own = found.stored(level)
            np.testing.assert_array_equal(chunks.vectors[own], found.stored_vectors[place])
            np.testing.assert_allclose(chunks.vectors, found.vectors(level), atol=2e-7)  # of one sentence: its own


@pytest.mark.slow
def test_groups_are_the_methods_chunks(articles: list[str]) -> None:
    for method in ("topic", "semantic", "structure"):
        found = pychunk.segment_levels(articles[:60], ["group", "document"], method, vectors="sentence")
        chunks = pychunk.segment(articles[:60], method, vectors="chunk")
        texts = set(found.texts_of("group"))
        whole = [text in texts for text in chunks.texts]
        assert np.mean(whole) > 0.99  # a node that begins or ends inside a sentence is not a group
        if all(whole):
            own = found.stored("group")
            np.testing.assert_array_equal(found.stored_vectors[1], chunks.vectors[own])


def test_groups_are_cut_at_coarser_borders(articles: list[str]) -> None:
    found = pychunk.segment_levels(articles[:40], FIVE, "fixed")
    check_tiles(found, articles[:40])
    alone = pychunk.segment_levels(articles[:40], ["group", "document"], "fixed")
    assert set(alone.first("group")) < set(found.first("group"))


def test_levels_of_real_articles(articles: list[str]) -> None:
    found = pychunk.segment_levels(articles[:100], FIVE, vectors="sentence")
    check_tiles(found, articles[:100])
    check_nodes(found)
    counts = [found.count(level) for level in FIVE]
    assert counts == sorted(counts, reverse=True)
    assert found.count("section") > 3 * 100  # with the lead of each
    for level in FIVE:
        np.testing.assert_allclose(np.linalg.norm(found.vectors(level), axis=1), 1, atol=1e-5)


def of_markdown(text: str, levels: list) -> Hierarchy:
    return pychunk.segment_levels([text], levels, columns={"blocks": blocks_of([text])})


def test_sections_are_headed_by_the_highest_headings_below_the_title() -> None:
    found = of_markdown(TEXT_OF_LEVELS, ["paragraph", "subsection", "section", "document"])
    assert found.texts_of("section") == [
        "# Cats\n\nThey purr. They sleep.",
        "## Food\n\nMice. Fish.\n\n### Raw\n\nSome do.",
        "## Sleep\n\nBy day.\n\nAlways.",
    ]
    assert found.texts_of("subsection")[1:3] == ["## Food\n\nMice. Fish.", "### Raw\n\nSome do."]
    assert found.texts_of("paragraph")[-2:] == ["## Sleep\n\nBy day.", "Always."]  # a heading stays with its text
    without = of_markdown(TEXT_OF_LEVELS.replace("# Cats\n\n", "", 1), ["section"])
    assert without.texts_of("section")[0] == "They purr. They sleep."
    two = of_markdown("# A\n\nOne.\n\n## B\n\nTwo.\n\n# C\n\nThree.", ["subsection", "section"])
    assert two.texts_of("section") == ["# A\n\nOne.\n\n## B\n\nTwo.", "# C\n\nThree."]


def test_headings_may_be_given_as_blocks() -> None:
    text = "Cats They purr. Food Mice. Raw Some."
    blocks = [("heading", 1, 0, 4), ("paragraph", 0, 5, 15), ("heading", 2, 16, 20), ("paragraph", 0, 21, 26)]
    blocks += [("heading", 2, 27, 30), ("paragraph", 0, 31, 36)]
    found = pychunk.segment_levels([text], ["paragraph", "section", "document"], columns={"blocks": [blocks]})
    assert found.texts_of("section") == ["Cats They purr.", "Food Mice.", "Raw Some."]


def test_pages_by_form_feeds_and_as_given() -> None:
    found = pychunk.segment_levels("One. Two.\fThree.", ["page", "document"])
    assert found.texts_of("page") == ["One. Two.", "Three."]
    found = pychunk.segment_levels(
        ["One two three. Four.", "Five."], ["page"], columns={"page_starts": [[0, 4, 15], [0]]}
    )
    assert found.texts_of("page") == ["One", "two three.", "Four.", "Five."]


def test_windows_lie_in_each_other() -> None:
    text = " ".join(f"Word number {i} here." for i in range(50))
    found = pychunk.segment_levels([text, "One."], [16, 32, 64])
    assert found.levels == ("sentence", 16, 32, 64)
    assert found.token_counts(16).max() <= 16
    assert found.token_counts(64).max() <= 64
    assert found.documents_of(64).tolist() == [0] * (found.count(64) - 1) + [1]
    long = pychunk.segment_levels("A sentence of more than three tokens. B.", [3])
    assert long.texts_of(3) == ["A sentence of more than three tokens.", "B."]


def test_levels_that_coincide_are_one_node() -> None:
    found = pychunk.segment_levels("One. Two.", ["paragraph", "subsection", "section", "document"], vectors="chunk")
    assert len(found) == 3
    assert (found.lowest[2], found.highest[2]) == (1, 4)
    assert [len(vectors) for vectors in found.stored_vectors] == [2, 1, 0, 0, 0]
    np.testing.assert_array_equal(found.vectors("document"), found.vectors("paragraph"))
    single = pychunk.segment_levels("One.", ["document"], vectors="chunk")
    np.testing.assert_array_equal(single.vectors("document"), single.vectors("sentence"))
    assert len(single) == 1


@pytest.mark.parametrize(
    ("levels", "says"),
    [
        (["word"], "unknown level 'word'; the levels are sentence, group, paragraph"),
        ([True], "unknown level True"),
        ([0], "unknown level 0"),
        (["document", "section"], "from fine to coarse.*got document, section"),
        (["section", "section"], "each once.*got section, section"),
        ([256, 128], "from fine to coarse"),
        (["page", "section"], "level 'page' can be combined only with sentence, group, document; got section"),
        (["document", "page"], "from fine to coarse.*numbers of tokens from small to large, document; got document"),
        (["paragraph", "page"], "level 'page' can be combined only with sentence, group, document; got paragraph"),
        (["paragraph", 128], "windows of tokens can be combined only with sentence, document; got paragraph"),
        ([], "at least one of sentence"),
        ("section", "must be a list of sentence"),
    ],
)
def test_levels_that_are_refused(levels: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        pychunk.segment_levels("One.", levels)


def test_what_levels_cannot_hold_is_refused() -> None:
    text = "# A\n\n[![build](https://a.example/b.svg)](https://ci.example)\n\nText."
    badge = [(5, 60, "badge", 1.0)]
    assert text[5:60].startswith("[![")
    made = pychunk.segment_levels(text, ["document"], columns={"removed": [badge]})  # has no words: it stays
    assert text in made.chunks().texts
    assert made.removed is None
    with pytest.raises(ValueError, match="no overlap"):
        pychunk.segment_levels("One. Two.", ["group"], "fixed", size=20, overlap=5)
    with pytest.raises(ValueError, match=r"takes no metadata_columns=, which segment"):
        pychunk.segment_levels(
            pa.table({"text": ["One."], "a": [1]}), ["document"], columns={"text": "text"}, metadata_columns=["a"]
        )
    found = pychunk.segment_levels("One.", ["section"])
    with pytest.raises(ValueError, match="no level 'page' here; the levels are sentence, section"):
        found.first("page")
    with pytest.raises(ValueError, match="has no vectors"):
        found.vectors("section")
    with pytest.raises(ValueError, match="has no token counts"):
        found.token_counts("section")
    with pytest.raises(ValueError, match="finest"):
        found.children("sentence")
    with pytest.raises(ValueError, match="coarsest"):
        found.parents("section")


@pytest.mark.parametrize("texts", [[], [""], ["", " \n "], ["One."]])
def test_few_texts(texts: list[str]) -> None:
    found = pychunk.segment_levels(texts, FIVE, vectors="sentence")
    assert found.documents == len(texts)
    assert found.vectors("document").shape == (sum(map(bool, map(str.strip, texts))), 256)
    check_tiles(found, texts)
    check_same(found, Hierarchy.from_arrow(found.to_arrow()))


def test_rows_that_are_no_text_are_empty() -> None:
    found = hierarchy_by(pychunk.Segmenter("sentence", on_error="skip"), ["One.", None, "Two."], ["document"])
    assert found.documents_of("document").tolist() == [0, 2]


def test_several_requests_are_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [TEXT_OF_LEVELS, "", "One. Two.", "Three.\n\nFour."] * 3
    whole = pychunk.segment_levels(texts, FIVE, vectors="sentence")
    monkeypatch.setattr("pychunk.segmenter.CALL_BYTES", 20)
    check_same(whole, pychunk.segment_levels(pa.chunked_array([texts[:5], texts[5:]]), FIVE, vectors="sentence"))


def test_a_hundred_thousand_sections() -> None:
    text = "\n\n".join(f"## H{i}\n\nOne. Two." for i in range(20_000))
    found = pychunk.segment_levels([text], ["paragraph", "section", "document"])
    assert found.count("section") == 20_000
    assert found.count("document") == 1


def test_a_hierarchy_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        pychunk.segment_levels("One.", ["document"]).levels = ()


def test_another_encoder_encodes_each_sentence_once(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Level group also asks for the method's chunks, whose vectors nobody needs."""
    transformer = pytest.importorskip("pychunk.encoders.transformer")
    encoded: list[int] = []
    encode = transformer.TransformerEncoder.encode_tokens

    def counted(self: object, found: object, **options: object) -> np.ndarray:
        encoded.append(len(found.counts))
        return encode(self, found, **options)

    monkeypatch.setattr(transformer.TransformerEncoder, "encode_tokens", counted)
    texts = ["Cats purr. They sleep.\n\nDogs bark. Dogs bite.", "Stars shine."]
    for vectors, names in (
        (pychunk.Vectors("sentence", tiny_encoder), {}),
        ("sentence", {"encoder": tiny_encoder, "method": "pic"}),
    ):
        encoded.clear()
        found = pychunk.segment_levels(
            texts, ["group", "document"], vectors=vectors, placement=pychunk.Placement(threads=1), **names
        )
        assert sum(encoded) == found.count("sentence") == 5
