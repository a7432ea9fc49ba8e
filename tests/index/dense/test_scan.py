"""The native scan of stored vectors equals the NumPy reference, bit for bit, for all arguments."""

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import printed_by_each

from pychunk._engine.reference import vectors as reference_vectors
from pychunk._engine.reference.search import scan as reference
from pychunk._engine.reference.search.int8_rows import packed as packed_by_numpy
from pychunk.index.dense import int8_vectors
from pychunk.index.dense.scan import VectorScan

F32 = np.float32


def made(seed: int, sizes: list[int], dim: int, dtype: str, alike: float) -> tuple[Any, Any]:
    """Return (rows, offsets) of chunks of these sizes, with zero rows, equal rows and small ones."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = rng.normal(size=(int(offsets[-1]), dim)) * rng.choice([1e-6, 1e-3, 1.0], size=(int(offsets[-1]), 1))
    few = rng.normal(size=(3, dim)) * [[0], [1], [-1]]
    same = rng.random(len(rows)) < alike
    rows[same] = few[rng.integers(0, 3, same.sum())]
    return int8_vectors.stored(rows, dtype), offsets


def expected(rows: Any, offsets: Any, queries: Any, count: int, allowed: Any = None) -> list[Any]:
    return [[each.tolist() for each in reference.top(rows, offsets, query, count, allowed)] for query in queries]


def found(scan: VectorScan, queries: Any, count: int, allowed: Any = None, threads: int | None = None) -> list[Any]:
    scores, chunks, best = scan.top(queries, count, allowed, threads)
    there = [row >= 0 for row in chunks]
    return [
        [scores[q][there[q]].tolist(), chunks[q][there[q]].tolist(), best[q][there[q]].tolist()]
        for q in range(len(queries))
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.one_of(st.integers(0, 4), st.sampled_from([0, 0, 17, 300])), max_size=30),
    st.sampled_from([1, 3, 31, 32, 33, 100, 256, 384]),
    st.sampled_from(["float16", "float32", "int8"]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1, 2, 11, 12, 16, 17, 40]),
    st.sampled_from([0, 1, 3, 10, 10**12]),
    st.sampled_from([None, 0.0, 0.1, 0.9]),
    st.integers(0, 3),
)
def test_a_scan_is_brute_force(
    seed: int, sizes: list[int], dim: int, dtype: str, alike: float, asked: int, count: int, share: Any, cuts: int
) -> None:
    rng = np.random.default_rng(seed + 1)
    rows, offsets = made(seed, sizes, dim, dtype, alike)
    queries = rng.normal(size=(asked, dim)).astype(F32)
    queries[asked // 2] = 0
    allowed = None if share is None else rng.random(len(sizes)) < share
    borders = np.sort(rng.integers(0, len(rows) + 1, cuts))  # parts may be empty, and may end inside a chunk
    scan = VectorScan(np.split(rows, borders), dim, offsets)
    wanted = expected(rows, offsets, queries, count, allowed)
    assert found(scan, queries, count, allowed, 3) == wanted
    assert [found(scan, query[None], count, allowed, 1)[0] for query in queries[:3]] == wanted[:3]
    every = np.arange(len(sizes))
    for query in queries[:2]:
        scores, best = reference.chunk_scores(rows, offsets, query)
        own = scan.score_chunks(query, every)
        assert (own[0].tolist(), own[1].tolist()) == (scores.tolist(), best.tolist())
        assert scan.score_rows(query, np.arange(len(rows))).tolist() == reference.products(rows, query).tolist()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.lists(st.one_of(st.integers(0, 4), st.sampled_from([0, 0, 17, 300])), max_size=30),
    st.sampled_from([1, 32, 100, 256]),
    st.sampled_from(["float16", "int8", "int8"]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from([1, 2, 12, 17, 40]),
    st.sampled_from([0, 1, 3, 10, 10**12]),
    st.sampled_from([None, 0.1, 0.9]),
    st.sampled_from([0.0, 1e-3, 0.3, 1.5, 1e6]),
)
def test_a_scan_with_scores_beside_finds_the_best_sums(
    seed: int, sizes: list[int], dim: int, dtype: str, alike: float, asked: int, count: int, share: Any, weight: float
) -> None:
    rng = np.random.default_rng(seed + 1)
    rows, offsets = made(seed, sizes, dim, dtype, alike)
    queries = rng.normal(size=(asked, dim)).astype(F32)
    queries[asked // 2] = 0
    beside = rng.random((asked, len(sizes)), F32) * (rng.random((asked, len(sizes))) < 0.7)  # 0 without a term
    beside[:, ::3] = F32(0.25)
    allowed = None if share is None else rng.random(len(sizes)) < share
    wanted = [
        [each.tolist() for each in reference.top(rows, offsets, query, count, allowed, own, weight)]
        for query, own in zip(queries, beside, strict=True)
    ]
    scan = VectorScan(np.split(rows, [len(rows) // 3]), dim, offsets)
    for threads, numbers in [(3, range(asked)), *((1, [number]) for number in range(min(asked, 3)))]:
        chosen = list(numbers)
        scores, chunks, best = scan.top(queries[chosen], count, allowed, threads, beside=beside[chosen], weight=weight)
        for place, number in enumerate(chosen):
            there = chunks[place] >= 0
            assert [each[place][there].tolist() for each in (scores, chunks, best)] == wanted[number]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [1, 5, 40])
def test_many_rows_with_scores_beside(asked: int) -> None:
    rows, offsets = made(7, [3, 0, 5, 1, 30, 2] * 1500, 64, "int8", 0.01)
    rng = np.random.default_rng(8)
    queries = rng.normal(size=(asked, 64)).astype(F32)
    beside = rng.random((asked, len(offsets) - 1), F32) ** 8 * 20
    scan = VectorScan([rows], 64, offsets)
    for count in (1, 10, 200):
        scores, chunks, best = scan.top(queries, count, threads=2, beside=beside, weight=1.5)
        for number in {0, asked // 2, asked - 1}:
            wanted = reference.top(rows, offsets, queries[number], count, None, beside[number], 1.5)
            own = (each[number].tolist() for each in (scores, chunks, best))
            assert tuple(own) == tuple(each.tolist() for each in wanted)


def test_products_are_those_of_dot() -> None:
    rng = np.random.default_rng(0)
    for dim in (1, 31, 64, 100):
        rows, query = rng.normal(size=(5, dim)).astype(F32), rng.normal(size=dim).astype(F32)
        assert reference.products(rows, query).tolist() == [reference_vectors.dot(row, query) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_many_rows_on_any_number_of_threads(dtype: str) -> None:
    rows, offsets = made(5, [3, 0, 5, 1, 300, 2] * 60, 64, dtype, 0.2)
    queries = np.random.default_rng(6).normal(size=(33, 64)).astype(F32)
    wanted = expected(rows, offsets, queries, 70)
    scan = VectorScan([rows], 64, offsets)
    for threads in (1, 2, 7):
        assert found(scan, queries, 70, threads=threads) == wanted
    assert [found(scan, each, 70)[0] for each in queries[:, None]] == wanted
    without = VectorScan([rows], 64)  # each row is a chunk
    each = np.arange(len(rows) + 1)
    assert found(without, queries[:5], 20) == expected(rows, each, queries[:5], 20)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([32, 256, 1024]), st.sampled_from([1, 2, 5, 21]), st.booleans())
def test_rows_that_score_nearly_alike_are_told_apart(seed: int, dim: int, asked: int, spiky: bool) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=(asked, dim)).astype(F32)
    if spiky:  # one number so large that the others vanish next to it in 16 bits
        queries[:, 0] *= 1e6
    rows = int8_vectors.packed(queries[:1]).repeat(300, axis=0)
    rows[np.arange(300), rng.integers(0, dim, 300)] += rng.integers(-1, 2, 300, dtype=np.int8)
    rows[:, -4:] = (0.01 * (1 + rng.integers(0, 3, (300, 1)) * 2**-23)).astype(F32).view(np.int8)
    offsets = np.sort(rng.integers(0, 301, 120)).astype(np.int64)
    scan = VectorScan([rows], dim, offsets)
    for count in (1, 7, 40):
        wanted = expected(rows, offsets, queries, count)
        assert found(scan, queries, count) == wanted
        assert [found(scan, query[None], count)[0] for query in queries] == wanted


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([32, 64, 96, 256]),
    st.sampled_from([5, 16, 33]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.sampled_from([1, 20]),
)
def test_numbers_that_matter_may_be_the_first_or_the_last(
    seed: int, dim: int, asked: int, last: float, count: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.linspace(1, last, dim)  # bounds look at the first half of it
    sizes[dim // 2 :] *= min(last, 1)
    rows = int8_vectors.packed((rng.normal(size=(9000, dim)) * sizes).astype(F32))
    queries = (rng.normal(size=(asked, dim)) * sizes).astype(F32)
    queries[: asked // 2] = int8_vectors.unpacked(rows[rng.integers(0, len(rows), asked // 2)])  # one row much better
    offsets = np.unique(np.concatenate([[0], rng.integers(0, 9001, 3000), [9000]]))
    assert found(VectorScan([rows], dim, offsets), queries, count, threads=2) == expected(rows, offsets, queries, count)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from([32, 96, 128, 256, 384]),
    st.sampled_from([1, 2, 4, 5, 21]),
    st.sampled_from([1, 20, 10**6]),
    st.sampled_from([None, 0.05, 0.9]),
    st.booleans(),
)
def test_searches_by_heads_of_rows_find_the_same(
    seed: int, dim: int, asked: int, count: int, share: Any, also_beside: bool
) -> None:
    rng = np.random.default_rng(seed)
    sizes = 0.99 ** np.arange(dim)
    rows = int8_vectors.packed((rng.normal(size=(3000, dim)) * sizes).astype(F32))
    rows[rng.integers(0, 3000, 300)] = rows[:300]  # equal ones, of which the first chunk wins
    queries = (rng.normal(size=(asked, dim)) * sizes).astype(F32)
    queries[0] = int8_vectors.unpacked(rows[7:8])[0]
    offsets = np.sort(np.concatenate([[0], rng.integers(0, 3001, 900), [3000]]))  # some chunks have no rows
    allowed = None if share is None else rng.random(len(offsets) - 1) < share
    beside = rng.random((asked, len(offsets) - 1), F32) ** 4 * (3 if also_beside else 0)
    scan = VectorScan(np.split(rows, [1001]), dim, offsets)
    more = {"beside": beside, "weight": 1.5} if also_beside else {}
    for again in range(3):  # heads are made for the second search
        scores, chunks, best = scan.top(queries, count, allowed, 1 + again, **more)
        for number, query in enumerate(queries):
            own = (beside[number], 1.5) if also_beside else ()
            wanted = reference.top(rows, offsets, query, count, allowed, *own)
            there = chunks[number] >= 0
            assert [each[number][there].tolist() for each in (scores, chunks, best)] == [e.tolist() for e in wanted]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["int8", "float16"]),
    st.sampled_from([1, 3, 6]),
    st.sampled_from([1, 20, 10**6]),
    st.sampled_from([[0], [2, 0], [1, 2]]),
    st.sampled_from([0.02, 1.0]),
    st.booleans(),
)
def test_a_search_of_groups_of_rows_finds_what_a_mask_does(
    seed: int, dtype: str, asked: int, count: int, groups: list[int], share: float, also_beside: bool
) -> None:
    rng = np.random.default_rng(seed)
    sizes = 0.99 ** np.arange(128)
    rows = int8_vectors.stored((rng.normal(size=(4000, 128)) * sizes).astype(F32), dtype)
    rows[rng.integers(0, 4000, 300)] = rows[:300]
    queries = (rng.normal(size=(asked, 128)) * sizes).astype(F32)
    of = rng.choice([-1, 0, 0, 0, 1, 2], 4000).astype(np.int8)
    allowed = np.isin(of, groups) & (rng.random(4000) < share)
    more: dict[str, Any] = {"weight": 1.5}
    if also_beside:
        more["beside"] = rng.random((asked, 4000), F32) ** 4
    plain, scan = VectorScan(np.split(rows, [1001]), 128), VectorScan(np.split(rows, [1001]), 128)
    scan.set_groups(of)
    wanted = plain.top(queries, count, allowed, 1, **more)
    for again in range(3):
        own = scan.top(queries, count, allowed, 1 + again, groups=groups, **more)
        assert [each.tolist() for each in own] == [each.tolist() for each in wanted]


@pytest.mark.slow
@pytest.mark.parametrize("dim", [96, 128, 256])
def test_heads_of_odd_rows_hide_none(dim: int) -> None:
    rng = np.random.default_rng(dim)
    numbers = rng.normal(size=(3000, dim)) ** 3 * 0.98 ** np.arange(dim)  # far from most others
    numbers[:, 5] = 0
    rows = int8_vectors.packed((numbers * 10.0 ** rng.integers(-3, 3, (3000, 1))).astype(F32))
    rows[11, :dim], rows[12, :dim] = 127, -128
    scales = rows[:, dim:].copy().view(F32)
    scales[20:30] *= -1
    scales[30:33, 0] = 0, 1e-38, 1e-30
    rows[:, dim:] = scales.view(np.int8)
    queries = np.concatenate([rng.normal(size=(20, dim)), int8_vectors.unpacked(rows[[11, 12, 21, 400]])]).astype(F32)
    queries[3] = 0
    queries[4] *= 1e-30
    queries[5, 1:] = 0
    for chosen in (rows, rows[30:33], rows[:0]):
        scan = VectorScan([chosen], dim)
        for count in (1, 40):
            wanted = [reference.top(chosen, np.arange(len(chosen) + 1), query, count) for query in queries]
            for _ in range(2):  # without heads, and with
                for query, own in zip(queries, wanted, strict=True):
                    found = scan.top(query[None], count)
                    there = found[1][0] >= 0
                    assert [each[0][there].tolist() for each in found] == [each.tolist() for each in own]
            together = scan.top(queries, count)
            for number, own in enumerate(wanted):
                there = together[1][number] >= 0
                assert [each[number][there].tolist() for each in together] == [each.tolist() for each in own]


@pytest.mark.parametrize("dim", [256, 8192])
def test_heads_of_queries_whose_sums_are_large(dim: int) -> None:
    rng = np.random.default_rng(dim)
    signs = rng.choice([-1, 1], size=dim) * 0.9996 ** np.arange(dim)
    rows = int8_vectors.packed((signs + rng.normal(size=(200, dim)) * 0.3 * signs).astype(F32))
    rows[5] = int8_vectors.packed(signs[None].astype(F32) * 2)[0]
    wide = np.zeros((200, dim // 2), F32)
    wide[:, : dim // 8] = rng.normal(size=(200, dim // 8)) + 3  # most of their length is in their first numbers
    for stored, queries in (
        (rows, np.stack([signs, -signs, np.abs(signs), np.sign(signs), signs * 1e30, signs * 1e-30])),
        (
            int8_vectors.packed(wide),
            np.stack([wide[0] * 0 + 1, wide[1], wide[2] * -1, wide[3] * (np.arange(dim // 2) % 2)]),
        ),
    ):
        width = stored.shape[1] - 4
        scan = VectorScan([stored], width)
        wanted = expected(stored, np.arange(len(stored) + 1), queries.astype(F32), 7)
        for _ in range(2):
            assert found(scan, queries.astype(F32), 7) == wanted
        assert [found(scan, query[None], 7)[0] for query in queries.astype(F32)] == wanted


@pytest.mark.parametrize("decay", [1, 0.98])
def test_a_scale_that_is_not_finite_hides_no_row(decay: float) -> None:
    rng = np.random.default_rng(0)
    dim = 128
    rows = int8_vectors.packed((rng.normal(size=(200, dim)) * decay ** np.arange(dim)).astype(F32))
    rows[5, -4:] = np.array([np.inf], F32).view(np.int8)
    rows[7, -4:] = np.array([np.nan], F32).view(np.int8)
    queries = rng.normal(size=(8, dim)).astype(F32)
    scan = VectorScan([rows], dim)
    scores = scan.top(queries, 1)[0][:, 0]
    for _ in range(2):  # without heads, and with, if there are some
        assert scan.top(queries, 1)[0][:, 0].tolist() == scores.tolist()
        assert [scan.top(query[None], 1)[0][0, 0] for query in queries] == scores.tolist()
    products = np.stack([reference.products(rows, query) for query in queries])
    assert scores.tolist() == np.nanmax(products, axis=1).tolist()
    assert np.isinf(scores).any()
    assert np.isfinite(scores).any()


def test_every_float16_is_widened_exactly() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    one = np.ones(1, F32)
    assert (
        VectorScan([finite[:, None]], 1).score_rows(one, np.arange(len(finite))).tolist() == (finite + F32(0)).tolist()
    )
    wide = np.zeros((len(finite), 16), np.float16)  # by the conversions of whole registers
    wide[:, 5] = finite
    query = np.zeros(16, F32)
    query[5] = 1
    assert VectorScan([wide], 16).score_rows(query, np.arange(len(wide))).tolist() == (finite + F32(0)).tolist()


def test_instruction_sets_scan_to_the_same_bits() -> None:
    code = (
        "import sys, hashlib, numpy as np\n"
        "from pychunk.index.dense import int8_vectors as eight_bit\n"
        "from pychunk.index.dense.scan import VectorScan as Scan\n"
        "rng, digest = np.random.default_rng(0), hashlib.sha256()\n"
        "for dim in (32, 100, 256):\n"
        "    rows = rng.normal(size=(3000, dim)) * rng.choice([1e-6, 1], size=(3000, 1))\n"
        "    rows[:, dim // 2 :] /= 9\n"
        "    offsets = np.unique(np.concatenate([[0], rng.integers(0, 3001, 700), [3000]]))\n"
        "    queries = rng.normal(size=(45, dim)).astype(np.float32)\n"
        "    for dtype in ('float16', 'float32', 'int8'):\n"
        "        scan = Scan([eight_bit.stored(rows, dtype)], dim, offsets)\n"
        "        for asked in (45, 1, 3, 45):\n"
        "            for each in scan.top(queries[:asked], 50):\n"
        "                digest.update(each.tobytes())\n"
        "print(digest.hexdigest())\n"
    )
    printed = printed_by_each(code)
    assert len(printed) == 1
    assert len(printed.pop().strip()) == len(hashlib.sha256().hexdigest())


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 20),
    st.sampled_from([1, 7, 64]),
    st.sampled_from([1e-44, 1e-38, 1e-20, 1.0, 1e30]),
)
def test_bytes_are_within_half_a_scale_and_stay_when_they_are_stored_again(
    seed: int, count: int, dim: int, size: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(count, dim)) * size).astype(F32)
    rows[rng.random(count) < 0.2] = 0
    found = int8_vectors.packed(rows)
    scales = int8_vectors.scales(found).astype(float)
    assert (found[:, :-4] >= -127).all()
    error = np.abs(int8_vectors.unpacked(found).astype(float) - rows)
    assert (error <= scales[:, None] * 0.5001 + 127 * 2.0**-149).all()
    assert int8_vectors.stored(found, "int8") is found or (int8_vectors.stored(found, "int8") == found).all()


def test_numbers_that_are_not_finite_are_never_found() -> None:
    rows = np.array([[np.nan, 0], [1, 0], [0, 1]], np.float16)
    scores, chunks, best = VectorScan([rows], 2, np.array([0, 1, 3])).top(np.array([[1, 0]], F32), 5)
    assert (scores.tolist(), chunks.tolist(), best.tolist()) == ([[1.0]], [[1]], [[1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: VectorScan([np.zeros((2, 3))], 3),
            "arrays must be all float16, all float32 or all int8; got float64",
        ),
        (lambda: VectorScan([np.zeros((2, 3), F32), np.zeros((2, 3), np.float16)], 3), "got float16, float32"),
        (lambda: VectorScan([np.zeros((2, 3), F32)], 4), "arrays must have rows of 4 numbers, got 3"),
        (lambda: VectorScan([np.zeros((2, 3), F32)], 3, np.array([0, 2, 1])), "offsets must not decrease"),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3, np.array([0, 3])),
            "last of offsets must be at most 2, got 3",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).top(np.zeros((1, 2), F32), 1),
            "queries must have 3 numbers, got 2",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).top(np.zeros((1, 3), F32), 1, np.ones(3, bool)),
            "allowed must hold",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).top(np.zeros((1, 3), F32), 1, beside=np.zeros((1, 3), F32)),
            "beside must be 1 x 2, a score for each query and chunk, got 1 x 3",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).set_groups(np.zeros(3, np.int8)),
            "groups must hold 2 values, got 3",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).top(np.zeros((1, 3), F32), 1, groups=[0]),
            "no groups were set, got group 0; call set_groups",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3, np.array([0, 2])).set_groups(np.zeros(2, np.int8)),
            "each row is a chunk of its own",
        ),
        (
            lambda: VectorScan([np.zeros((2, 3), F32)], 3).score_rows(np.zeros(3, F32), np.array([2])),
            "from 0 to 1, got 2",
        ),
        (lambda: VectorScan([np.zeros((2, 3), F32)], 3).score_chunks(np.zeros(3, F32), np.array([-1])), "got -1"),
    ],
)
def test_what_does_not_fit_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 40),
    st.sampled_from([0, 1, 7, 8, 9, 256]),
    st.sampled_from([1e-45, 1e-6, 1, 1e30]),
)
def test_bytes_are_packed_as_in_numpy(seed: int, rows: int, dim: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    vectors = (rng.normal(size=(rows, dim)) * size).astype(np.float32)
    steps = rng.integers(-254, 255, size=(rows, dim)).astype(np.float32) / 2  # halves, which round to even ones
    vectors = np.where(rng.random((rows, 1)) < 0.5, vectors, steps).astype(np.float32)
    vectors[rng.random(rows) < 0.1] = 0
    np.testing.assert_array_equal(int8_vectors.packed(vectors), packed_by_numpy(vectors))
