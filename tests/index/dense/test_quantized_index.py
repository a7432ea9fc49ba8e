"""Codes of vectors equal NumPy's on every instruction set, for any arrays and threads, and after saving."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from instruction_sets import printed_by_each

from pychunk._engine import native
from pychunk._engine.reference.search import codes as reference
from pychunk._engine.reference.search.int8_rows import packed
from pychunk.index.dense import int8_vectors, quantized_index


def made(rows: int, dim: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, dim)).astype(np.float32) / np.arange(1, dim + 1, dtype=np.float32) ** 0.3
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize(("dim", "pieces", "width"), [(64, 16, 4), (64, 16, 3), (30, 8, 4), (7, 2, 4), (5, 1, 2)])
def test_codes_are_those_of_numpy(dim: int, pieces: int, width: int) -> None:
    vectors = made(133, dim)
    centroids = made(pieces * 16, width, 1).reshape(pieces, 16, width) / np.float32(pieces**0.5)
    for rows in (vectors, vectors.astype(np.float16), packed(vectors)):
        expected = reference.codes(int8_vectors.unpacked(rows), centroids)
        assert np.array_equal(native.encode_rows(rows, centroids), reference.packed(expected))
    assert native.encode_rows(vectors[:0], centroids).shape == (0, -(-pieces // 4) * 4, 16)


def test_the_best_by_codes_are_those_of_numpy() -> None:
    vectors, queries = made(1000, 48), made(5, 48, 2)
    centroids = made(16 * 13, 4, 1).reshape(13, 16, 4)[:12]
    found = reference.codes(vectors, centroids)
    allowed = np.random.default_rng(3).random(1000) < 0.3
    for mask in (None, allowed, np.zeros(1000, bool)):
        for count in (1, 7, 300, 5000):
            expected = [reference.best(found, centroids, query, count, mask) for query in queries]
            for borders in ([0, 1000], [0, 100, 100, 633, 1000]):
                spans = list(zip(borders, borders[1:], strict=False))
                blocks = [native.encode_rows(vectors[a:b], centroids) for a, b in spans]
                for threads in (1, 3, 16):
                    given: Any = (blocks, [b - a for a, b in spans], centroids)
                    rows = native.best_by_codes(*given, queries, count, mask, threads=threads)
                    assert rows.tolist() == expected
                    one = native.best_by_codes(*given, queries[2], count, mask, threads=threads)
                    assert one.tolist() == expected[2:3]


@pytest.mark.slow
def test_every_instruction_set_finds_the_same() -> None:
    code = """
import numpy as np
from pychunk._engine import native
rng = np.random.default_rng(0)
vectors = rng.standard_normal((5000, 96)).astype(np.float32)
centroids = rng.standard_normal((24, 16, 4)).astype(np.float32)
blocks = native.encode_rows(vectors, centroids)
rows = native.best_by_codes([blocks], [5000], centroids, vectors[:9], 300)
print(blocks.astype(np.int64).ravel() @ np.arange(blocks.size), rows.tolist())
"""
    assert len(printed_by_each(code)) == 1


def test_numbers_that_are_none_make_codes_and_tables() -> None:
    vectors = made(70, 16)
    centroids = made(64, 4, 1).reshape(4, 16, 4)
    vectors[3, 2], vectors[4] = np.nan, np.inf
    blocks = native.encode_rows(vectors, centroids)
    query = made(1, 16, 2)
    query[0, 5] = np.nan
    assert sorted(native.best_by_codes([blocks], [70], centroids, query, 70)[0].tolist()) == list(range(70))


def test_learned_codes_find_the_nearest_among_a_few(tmp_path: Path) -> None:
    vectors, queries = made(4000, 64), made(50, 64, 2)
    exact = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    own = quantized_index.trained(64, 4000, lambda drawn: vectors[drawn])
    own.add(vectors[:1500])
    own.add(vectors[1500:])
    recall = quantized_index.tune(
        own, [vectors], lambda asked, count: np.argsort(-(asked @ vectors.T), axis=1)[:, :count]
    )
    assert recall > 0.9
    assert own.candidates == own.wide(10) == 512
    assert own.made_for == 4000
    rows = quantized_index.search(own, queries, 10, lambda query, some: vectors[some] @ query)[1]
    assert np.mean([len({*a} & {*b}) / 10 for a, b in zip(rows.tolist(), exact.tolist(), strict=True)]) > 0.9
    fewer = quantized_index.search(own, queries, 10, lambda query, some: vectors[some] @ query, candidates=10)[1]
    assert np.mean([len({*a} & {*b}) / 10 for a, b in zip(fewer.tolist(), exact.tolist(), strict=True)]) < 0.7
    own.save(tmp_path / "x.codes")
    again = quantized_index.read(pa.memory_map(str(tmp_path / "x.codes")))
    assert np.array_equal(again.best(queries, 99), own.best(queries, 99))
    assert (again.candidates, again.made_for, again.rows) == (512, 4000, [1500, 2500])
    again.add(vectors[:100])
    assert again.wide(10) == 525
    assert not again.outgrown(16_000)
    assert again.outgrown(16_001)


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    vectors = made(200, 16)
    own = quantized_index.Codes(made(64, 4, 1).reshape(4, 16, 4))
    own.add(vectors)
    file = tmp_path / "x.codes"
    own.save(file)
    whole = file.read_bytes()
    for damaged in (b"", whole[:100], whole[:-1], whole.replace(b"<f4", b"<f8"), whole.replace(b"'|u1'", b"'|i1'")):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="codes are damaged"):
            quantized_index.read(pa.memory_map(str(file)))


def test_wrong_shapes_are_refused() -> None:
    vectors = made(10, 16)
    with pytest.raises(ValueError, match=r"centroids must have the shape \[pieces, 16, width\]"):
        native.encode_rows(vectors, made(15, 4).reshape(1, 15, 4))
    centroids = made(64, 4).reshape(4, 16, 4)
    blocks = native.encode_rows(vectors, centroids)
    with pytest.raises(ValueError, match="codes of 40 rows in groups of 32 must have the length 2, got 1"):
        native.best_by_codes([blocks], [40], centroids, vectors, 3)
    with pytest.raises(ValueError, match="allowed must hold 10 values, got 9"):
        native.best_by_codes([blocks], [10], centroids, vectors, 3, np.ones(9, bool))
