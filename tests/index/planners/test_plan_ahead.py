"""The rows that a planner's first pass finds are those that the search after it would find by itself."""

from typing import Any

import numpy as np
import pytest

from pychunk.index import Ranking

pytest.importorskip("faiss")

from test_levels_across import WORDS, index_of, texts_of

import pychunk
from pychunk.index.dense import int8_vectors, vector_index
from pychunk.index.dense.scan import VectorScan
from pychunk.index.scoring import scorers
from pychunk.index.scoring.scan_cache import ScanCache, by_sums
from pychunk.index.scoring.snapshot import Snapshot

QUERIES = ["Which cats purr?", "mice hide in bread", "Kings rule towns. Stars burn.", "zebra", "rivers"]


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.5])
def test_sums_of_the_best_cosines_are_those_of_a_scan(weight: float) -> None:
    drawn = np.random.default_rng(3)
    for coarse in (False, True):  # many scores are then equal
        rows = drawn.normal(size=(3000, 32)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        sparse = np.maximum(drawn.normal(size=(8, 3000)) / 4, 0).astype(np.float32)
        if coarse:
            rows, sparse = np.round(2 * rows[:200].repeat(15, axis=0)), np.round(4 * sparse) / 4
        scan, allowed, found = VectorScan([rows], 32), drawn.random(3000) < 0.7, 0
        for query, words in zip(rows[drawn.integers(0, 3000, 8)], sparse, strict=True):
            for mask in (None, allowed, np.arange(3000) < 20):
                scores, best, _ = scan.top(query[None], 100, mask)
                there = best[0] >= 0
                known = 100, scores[0][there], best[0][there]
                sums, wanted, _ = scan.top(query[None], 32, mask, beside=words[None], weight=weight)
                ranked = by_sums(scan, query, known, words, weight, 32, mask)
                if ranked is None:
                    continue
                found += 1
                assert np.array_equal(ranked.chunks, wanted[0][wanted[0] >= 0])
                assert np.array_equal(ranked.scores, sums[0][wanted[0] >= 0])
                assert np.array_equal(ranked.parts[0], scan.score_rows(query, ranked.chunks))
                assert np.array_equal(ranked.parts[1], words[ranked.chunks])
        assert found >= (8 if weight == 0 or coarse else 16)  # at least those of few rows


def test_known_are_the_same_vectors_among_the_same_rows() -> None:
    one, other = np.eye(2, dtype=np.float32)
    best = 3, np.ones(1, np.float32), np.zeros(1, np.int64)
    ahead = ScanCache(np.array([True, False]))
    ahead.keep(one[None], [best])
    assert ahead.of(one[None], np.array([True, False])) == [best]
    assert ahead.of(one[None], np.array([True, True])) is None
    assert ahead.of(one[None], None) is None
    assert ahead.of(np.stack([one, other]), ahead.allowed) is None
    assert ahead.of(np.empty((0, 2), np.float32), ahead.allowed) is None


@pytest.fixture(scope="module", params=["flat", "pq"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pychunk.Index:
    found = index_of(tmp_path_factory.mktemp("ahead") / "l.idx", texts_of(5, 160), kind=request.param)
    pooled = found._contents.searcher().pooled
    assert pooled is not None
    assert pooled.kind == request.param
    return found


def found_by(index: pychunk.Index, queries: list[str], ranking: Ranking, **options: Any) -> list[list[tuple[Any, ...]]]:
    return [
        [(hit.row, hit.score, {**hit.scores, "plan": ""}) for hit in hits]
        for hits in index.search(queries, ranking=ranking, **options)
    ]


def planned(query: str, metadata: Any) -> tuple[str, str]:
    """Return all levels, those without sentences, or sentences alone, depending on the first pass."""
    assert metadata.fine is not None
    pairs = [("sentence", "document"), ("paragraph", "document"), ("sentence", "sentence")]
    return pairs[int(1000 * metadata.fine.score.sum()) % 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"k": 40}, {"fusion": "score"}, {"where": {"document_index": [1, 2, 3, 4, 5]}}]
)
def test_plan_and_search_find_what_both_find_apart(
    index: pychunk.Index, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scorers, "_FEW", 0)  # or so few rows are scored one by one
    options = {"k": 5, "fusion": "levels", **options}
    fusion = options.pop("fusion")
    by_plan = Ranking(fusion=fusion, planner=planned)
    together = found_by(index, QUERIES, by_plan, **options)
    alone = [found_by(index, [query], by_plan, **options)[0] for query in QUERIES]
    shown = [vars(each) | {"fine": vars(each.fine), "coarse": vars(each.coarse)} for each in told(index)]
    monkeypatch.setattr(Snapshot, "look_ahead", lambda *_: None)
    index._contents.searcher()._ahead = None
    for own, other in zip(shown, told(index), strict=True):
        for which in ("fine", "coarse"):
            for name, values in vars(getattr(other, which)).items():
                np.testing.assert_array_equal(own[which][name], values)
    plans = index.plan(QUERIES, planned)
    assert {plan[:2] for plan in plans} != {("paragraph", "document")}
    apart = [
        found_by(index, [query], Ranking(fusion=fusion, levels=plan[:2]), **options)[0]
        for query, plan in zip(QUERIES, plans, strict=True)
    ]
    apart = [[(row, score, {**scores, "plan": ""}) for row, score, scores in hits] for hits in apart]
    assert together == alone == apart
    assert any(apart)


def told(index: pychunk.Index) -> list[Any]:
    return index.plan_metadata(QUERIES)


def test_sentences_are_looked_through_once(index: pychunk.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = index._contents.searcher()
    sentences = int(searcher.levels["sentence"].sum())
    looked: list[int] = []
    top, search = VectorScan.top, vector_index.VectorIndex.search

    def scanned(scan: VectorScan, queries: Any, count: int, allowed: Any = None, *others: Any, **named: Any) -> Any:
        looked.append(0 if allowed is None else int(allowed.sum()))
        return top(scan, queries, count, allowed, *others, **named)

    def searched(index: Any, queries: Any, count: int, allowed: Any = None, *others: Any) -> Any:
        looked.append(0 if allowed is None else int(allowed.sum()))
        return search(index, queries, count, allowed, *others)

    monkeypatch.setattr(scorers, "_FEW", 0)
    monkeypatch.setattr(VectorScan, "top", scanned)
    monkeypatch.setattr(vector_index.VectorIndex, "search", searched)
    query = " ".join(WORDS[:4])
    index.search(query, 5, ranking=Ranking(planner=lambda query, metadata: ("sentence", "document"), fusion="levels"))
    assert looked.count(sentences) == 1
    looked.clear()
    index.search(query, 5, ranking=Ranking(levels=("sentence", "document"), fusion="levels"))
    assert looked.count(sentences) == 0
    index.search(query + " grow", 5, ranking=Ranking(levels=("sentence", "document"), fusion="levels"))
    assert looked.count(sentences) == 1


def test_best_sentences_of_nodes_are_those_of_all(index: pychunk.Index) -> None:
    searcher = index._contents.searcher()
    nodes, scan = searcher.nodes, searcher.pooled.scan
    rows = np.random.default_rng(2).permutation(len(nodes.finest))[:400]
    for query in pychunk.embed(QUERIES):
        cosines = scan.score_rows(query, nodes.sentences)
        own = scan.score_rows(query, rows)
        wanted = [
            cosines[first:last].max(initial=-2) if last > first else score
            for first, last, score in zip(nodes.first[rows], nodes.last[rows], own, strict=True)
        ]
        for count in (0, 1, 60, len(cosines)):
            best = np.argsort(-cosines, kind="stable")[:count]
            for known in (None, (nodes.sentences[best], cosines[best])):
                found = nodes.best_sentences(searcher, query, rows, own, known)
                np.testing.assert_array_equal(found, np.array(wanted, np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_scan_goes_on_from_what_is_known(dtype: str) -> None:
    drawn = np.random.default_rng(4)
    rows = (drawn.normal(size=(900, 32)) * 0.9 ** np.arange(32)).astype(np.float32)  # as in principal components
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows = int8_vectors.stored(rows[drawn.integers(0, 900, 40_000)], dtype)  # many are equal
    queries = int8_vectors.unpacked(rows[:5]).astype(np.float32)
    scan, allowed = VectorScan([rows], 32), drawn.random(40_000) < 0.5
    groups = drawn.integers(-1, 2, 40_000).astype(np.int8)
    scan.set_groups(groups)
    masks = [(None, ()), (allowed, ()), ((groups == 0) | (groups == 1), (0, 1)), ((groups == 1) & allowed, (1,))]
    for mask, own in masks * 2:  # from the second search on with heads, if there are any
        for count in (1, 50, 700):
            wanted = scan.top(queries, count, mask, 2, groups=own)
            for least in (wanted[0][:, -1], wanted[0][:, -1] - np.float32(0.1), np.full(5, -np.inf, np.float32)):
                for query in (slice(0, 5), slice(1, 2)):
                    found = scan.top(queries[query], count, mask, 2, groups=own, least=least[query].copy())
                    for one, other in zip(found, wanted, strict=True):
                        np.testing.assert_array_equal(one, other[query])
    with pytest.raises(ValueError, match="least must hold 5 values"):
        scan.top(queries, 1, least=np.zeros(4, np.float32))


def test_expected_chunks_change_nothing() -> None:
    drawn = np.random.default_rng(5)
    rows = np.round(drawn.normal(size=(2000, 8))).astype(np.float32)
    offsets = np.array([0, 0, *range(1, 1000), 1500, 2000])
    for each in (None, offsets):
        scan = VectorScan([rows], 8, each)
        chunks = 2000 if each is None else len(offsets) - 1
        allowed = drawn.random(chunks) < 0.8
        queries = rows[:3].copy()
        for count in (1, 20, 300):
            plain, told = (scorers.ScanScorer(scan, queries, allowed, 2) for _ in range(2))
            told.expect(0, drawn.integers(0, chunks, 600))
            told.expect(2, np.array([5, 5, 0]))
            for batch in (plain, told):
                batch.fetch(range(3), count)
            for number in range(3):
                for one, other in zip(plain.found[number], told.found[number], strict=True):
                    np.testing.assert_array_equal(one, other)
