"""Vectors of nodes, of spans of sentences and of trees by similarity, pooled."""

from itertools import pairwise

import numpy as np
import pytest
from hierarchies import TEXT_OF_LEVELS, TEXTS, check_nodes, check_same, check_tiles
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk import Hierarchy
from pychunk._engine import native as _native
from pychunk._engine.reference import levels as slow
from pychunk.levels.pooling import pooled
from pychunk.levels.similarity_trees import agglomerated


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
        with pytest.raises(ValueError, match="later, end after it begins, and end at 3 or before, got"):
            _native.span_vectors(vectors, weights, offsets, [(np.array(first), np.array(last))], threads=1)
    with pytest.raises(ValueError, match="weights must hold one value for each of 3"):
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
    # many equal ones
    vectors = drawn.integers(-1, 2, size=(n, data.draw(st.sampled_from([1, 2, 40])))).astype(np.float32)
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
    found = pychunk.segment_levels(texts, ["paragraph", "document"], vectors="sentence")
    tree = agglomerated(found, branching, base=base)
    check_tiles(tree, texts)
    check_nodes(tree)
    check_same(tree, Hierarchy.from_arrow(tree.to_arrow()))
    for finer, coarser in pairwise(tree.levels[tree.place(base) :]):
        counts = np.diff(tree.children(coarser))
        assert counts.max(initial=0) <= branching
        assert len(counts) <= max(found.documents, 0.75 * tree.count(finer) + found.documents)
    top = tree.levels[-1]
    assert tree.count(top) == found.count("document") or top == base  # each document has only one node already
    np.testing.assert_array_equal(tree.vectors(top), found.vectors("document" if top != base else base))


def test_what_trees_refuse() -> None:
    found = pychunk.segment_levels("One. Two.", ["document"])
    with pytest.raises(ValueError, match="has no vectors"):
        agglomerated(found)
    found = pychunk.segment_levels("One. Two.", ["document"], vectors="sentence")
    with pytest.raises(ValueError, match="branching must be a whole number of at least 2; got 1"):
        agglomerated(found, 1)
    with pytest.raises(ValueError, match="no level 'page'"):
        agglomerated(found, base="page")
    offsets, ones = np.array([0, 2]), np.ones(2, np.int64)
    with pytest.raises(ValueError, match="a node must begin at the start of every document"):
        _native.agglomerate(np.ones((2, 1), np.float32), ones, np.array([0, 1, 2]), offsets, 2, threads=1)


def test_poolings() -> None:
    found = pychunk.segment_levels(TEXT_OF_LEVELS, ["paragraph", "document"], vectors="sentence")
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
    with pytest.raises(ValueError, match="pooling must be one of tokens, length, first, medoid, compressor; got 'max'"):
        pooled(found, "document", "max")
