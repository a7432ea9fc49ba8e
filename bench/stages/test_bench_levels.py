"""Five levels with vectors compared with chunks and their sentences' vectors of the same corpus; answers are asserted.

Run it with ``pytest bench --benchmark-only -k levels``.
"""

import numpy as np
import pyarrow as pa
import pytest
from test_bench_pipeline import corpus, measure

import pychunk
from pychunk._engine import engine as engines
from pychunk._engine import native
from pychunk.levels.compressor import compressor
from pychunk.levels.hierarchy_builder import hierarchy_by
from pychunk.levels.similarity_trees import agglomerated

LEVELS = {
    "five": ["sentence", "group", "paragraph", "section", "document"],
    "four, no group": ["sentence", "paragraph", "section", "document"],
    "windows": ["sentence", 128, 256, 512, 1024],
}


@pytest.fixture(scope="module")
def texts() -> pa.LargeStringArray:
    return corpus()


@pytest.mark.benchmark(group="levels")
def test_levels_beside_chunks(benchmark, texts) -> None:
    """Time the base that levels are compared with."""
    segmenter = pychunk.Segmenter(vectors="sentence", placement=pychunk.Placement(threads=1))
    out = measure(benchmark, texts, lambda: segmenter(texts))
    assert len(out) > 2 * len(texts)


@pytest.mark.benchmark(group="levels")
@pytest.mark.parametrize("levels", LEVELS)
def test_levels(benchmark, texts, levels: str) -> None:
    segmenter = pychunk.Segmenter(vectors="sentence", placement=pychunk.Placement(threads=1))
    found = measure(benchmark, texts, lambda: hierarchy_by(segmenter, texts, LEVELS[levels]))
    counts = [found.count(level) for level in found.levels]
    assert counts == sorted(counts, reverse=True)
    assert np.allclose(np.linalg.norm(found.vectors(found.levels[-1]), axis=1), 1, atol=1e-5)


@pytest.mark.benchmark(group="levels")
def test_levels_by_the_compressor(benchmark, texts) -> None:
    segmenter = pychunk.Segmenter(vectors="sentence", placement=pychunk.Placement(threads=1))
    found = measure(benchmark, texts, lambda: hierarchy_by(segmenter, texts, LEVELS["five"], pooling="compressor"))
    assert np.allclose(np.linalg.norm(found.vectors("document"), axis=1), 1, atol=1e-5)


@pytest.fixture(scope="module")
def found(texts) -> pychunk.Hierarchy:
    return pychunk.segment_levels(texts, LEVELS["five"], vectors="sentence", placement=pychunk.Placement(threads=1))


@pytest.mark.benchmark(group="levels: vectors")
def test_levels_vectors(benchmark, texts, found) -> None:
    """Time the vectors of four levels from the sentences' alone. The floor is one read of them from memory."""
    spans = [(found.first(level)[:-1], found.first(level)[1:]) for level in LEVELS["five"][1:]]
    sentences, tokens = found.vectors("sentence"), found.tokens
    made = measure(
        benchmark, texts, lambda: native.span_vectors(sentences, tokens, found.doc_offsets, spans, threads=1)
    )
    assert np.array_equal(made[-1][found.stored("document")], found.vectors("document")[found.stored("document")])


@pytest.mark.benchmark(group="levels: vectors")
def test_levels_vectors_compressed(benchmark, texts, found) -> None:
    """Time the compression encoder. The floor adds to that of the means four products a sentence, 16,384 a node."""
    spans = [(found.first(level)[:-1], found.first(level)[1:]) for level in LEVELS["five"][1:]]
    sentences, tokens, offsets = found.vectors("sentence"), found.tokens, found.doc_offsets
    model, engine = compressor(), engines.engine()
    made = measure(benchmark, texts, lambda: model.vectors(sentences, tokens, offsets, spans, engine, 1))
    assert np.allclose(np.linalg.norm(made[-1], axis=1), 1, atol=1e-5)


@pytest.mark.benchmark(group="levels: vectors")
def test_levels_vectors_by_numpy(benchmark, texts, found) -> None:
    sentences, tokens = found.vectors("sentence"), found.tokens

    def sums() -> list[np.ndarray]:
        weighted = sentences * tokens[:, None].astype(np.float32)
        made = [np.add.reduceat(weighted, found.first(level)[:-1]) for level in LEVELS["five"][1:]]
        return [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in made]

    made = measure(benchmark, texts, sums)
    assert np.allclose(made[-1], found.vectors("document"), atol=1e-5)


@pytest.mark.benchmark(group="levels: tree")
def test_levels_tree(benchmark, texts, found) -> None:
    tree = measure(benchmark, texts, lambda: agglomerated(found, 5))
    assert tree.count(tree.levels[-1]) == found.count("document")
