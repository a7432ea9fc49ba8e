"""HNSW and codes find nearly all hits of brute force, and the kind depends on the number of vectors."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("faiss")

from index_reference import chunks_of, seen

import pychunk
from pychunk.index import Ranking
from pychunk.index.dense import vector_index as vectors_module
from pychunk.index.dense.vector_index import VectorIndex
from pychunk.index.index import Index

pytestmark = pytest.mark.usefixtures("one_faiss_thread")


@pytest.fixture(scope="module")
def many(articles: list[str]) -> Iterator[tuple[Path, pa.Table, list[str]]]:
    """Yield a flat index of a few thousand sentences of real articles, its chunks, and held-out queries."""
    table = chunks_of(
        [text[:4000] for text in articles[:100]], ids=[f"a{i}" for i in range(100)], keep_together=False
    ).table
    queries = [text[a:b].strip() for text in articles[200:300] for a, b in pychunk.split_sentences(text)[0][2:3]]
    folder = Path(tempfile.mkdtemp())
    with Index.create(folder / "flat", bm25=None, kind="flat") as index:
        index.add(table)
        index.save()
    yield folder / "flat", table, queries
    shutil.rmtree(folder)


def recall(index: Index, flat: Index, queries: list[str], **options: Any) -> float:
    shares = []
    for own, exact in zip(*(each.search(queries, k=10, mode="dense", **options) for each in (index, flat))):
        assert len(own) == len(exact)
        shares.append(len({hit.chunk_id for hit in own} & {hit.chunk_id for hit in exact}) / len(exact))
    return float(np.mean(shares))


@pytest.mark.slow
def test_hnsw_finds_nearly_all_and_honours_filters_and_removal(many: Any, tmp_path: Path) -> None:
    flat_folder, table, queries = many
    assert table.num_rows > 3000
    shutil.copytree(flat_folder, tmp_path / "flat")
    with Index.open(tmp_path / "flat") as flat, Index.create(tmp_path / "x", kind="hnsw", bm25=None) as index:
        for begin in range(0, table.num_rows, 1500):  # each save adds its new ones
            index.add(table.slice(begin, 1500).drop_columns(["document_id"]))
            index.save()
        assert recall(index, flat, queries) > 0.9
    with Index.open(tmp_path / "flat") as flat, Index.create(tmp_path / "y", kind="hnsw", bm25=None) as index:
        index.add(table)
        index.save()
        gone = [f"a{i}" for i in range(0, 100, 2)]
        for each in (flat, index):
            each.remove(gone)
        assert recall(index, flat, queries) > 0.9
        assert not {hit.document_id for own in index.search(queries, k=10, mode="dense") for hit in own} & set(gone)
        chosen = [f"a{i}" for i in range(40)]
        assert recall(index, flat, queries, ids=chosen) == 1  # so few are scored one by one
        index.save()
        again = Index.open(tmp_path / "y")
        assert recall(again, flat, queries) > 0.9
        assert [seen(hits) for hits in again.search(queries, mode="dense")] == [
            seen(hits) for hits in index.search(queries, mode="dense")
        ]


def test_hnsw_goes_on_until_k_chunks_are_found(tmp_path: Path) -> None:
    long = " ".join(f"Cats purr {i} times a day." for i in range(300))
    texts = [long, *(f"The cat number {i} purrs." for i in range(30))]
    found = []
    for kind in ("flat", "hnsw"):
        with Index.create(tmp_path / kind, kind=kind) as index:
            index.add(chunks_of(texts, method="fixed", size=1 << 20))
            found.append(
                [len(index.search("Cats purr 7 times a day.", k=10, mode=mode)[0]) for mode in ("dense", "hybrid")]
            )
    assert found == [[10, 10], [10, 10]]


@pytest.mark.slow
def test_bytes_are_searched_by_hnsw_merged_and_compacted(many: Any, tmp_path: Path) -> None:
    _, table, queries = many
    kept, removed = table.slice(0, 800), table.slice(800, 900)
    flat = Index.create(tmp_path / "flat", kind="flat", dtype="int8", bm25=None)
    with Index.create(tmp_path / "x", kind="hnsw", dtype="int8", bm25=None) as index:
        for begin in range(0, 800, 100):
            for each in (flat, index):
                each.add(kept.slice(begin, 100))
                each.search("x", mode="dense")  # ends the part
        index.save()
        assert recall(index, flat, queries) > 0.9
    expected = [seen(hits) for hits in flat.search(queries, mode="dense")]
    before = len(flat)
    ids = [f"other {name}" for name in removed["document_id"].to_pylist()]
    flat.add(removed.set_column(removed.column_names.index("document_id"), "document_id", pa.array(ids)))
    flat.remove(list(dict.fromkeys(ids)))
    flat.save()  # more than half of the rows are removed; the bytes of the others stay
    assert (flat.info["removed"], flat.info["chunks"]) == (0, before)
    assert [seen(hits) for hits in Index.open(tmp_path / "flat").search(queries, mode="dense")] == expected
    flat.close()


@pytest.mark.slow
def test_merging_parts_keeps_the_graph_and_compaction_builds_another(many: Any, tmp_path: Path) -> None:
    _, table, queries = many
    with Index.create(tmp_path / "x", kind="hnsw", bm25=None) as index:
        for begin in range(0, 1600, 200):
            index.add(table.slice(begin, 200))
            index.search("x", mode="dense")  # ends the part
        index.save()
        assert len(list((tmp_path / "x").glob("part-*"))) == 1
        expected = [seen(hits) for hits in index.search(queries, mode="dense")]
        assert [seen(hits) for hits in Index.open(tmp_path / "x").search(queries, mode="dense")] == expected
        name = next((tmp_path / "x").glob("*.faiss")).name
        held = list(dict.fromkeys(index.table["document_id"].to_pylist()))
        index.remove(held[:1])
        index.save()
        assert next((tmp_path / "x").glob("*.faiss")).name == name  # no new rows: the same file
        while len(index) >= 800:
            index.remove([held.pop()])
        index.save()
        assert 5 < index.info["chunks"] == len(index) < 800
        assert [path.name for path in (tmp_path / "x").glob("*.faiss")] != [name]
        assert len(index.search("x", mode="dense", k=5)[0]) == 5


@pytest.mark.slow
def test_codes_find_nearly_all_honour_filters_and_grow(many: Any, tmp_path: Path) -> None:
    flat_folder, table, queries = many
    shutil.copytree(flat_folder, tmp_path / "flat")
    with Index.open(tmp_path / "flat") as flat, Index.create(tmp_path / "x", kind="pq", bm25=None) as index:
        assert index.search("x", mode="dense") == [[]]
        index.add(table.slice(0, 3))
        index.save()
        assert len(index.search("x", mode="dense")[0]) == 3
        assert not list((tmp_path / "x").glob("*.codes")), "too few for codes"
        index.add(table.slice(3, 1500))
        index.save()
        index.add(table.slice(1503))  # coded with the existing centroids
        index.save()
        size = next((tmp_path / "x").glob("*.codes")).stat().st_size
        assert size < 16 * 256 * 4 + 32 * table.num_rows, "centroids, and three bits for four numbers"
        assert index.info["recall"]["sentences"] >= 0.9
        assert recall(index, flat, queries) > 0.95
        found = [seen(hits) for hits in index.search(queries, mode="dense")]
        assert [seen(hits) for hits in Index.open(tmp_path / "x").search(queries, mode="dense")] == found
        gone = [f"a{i}" for i in range(0, 100, 2)]
        for each in (flat, index):
            each.remove(gone)
        assert recall(index, flat, queries) > 0.95
        assert not {hit.document_id for own in index.search(queries, k=10, mode="dense") for hit in own} & set(gone)
        assert recall(index, flat, queries, ids=["a1", "a3", "a5"]) == 1


def test_codes_score_as_stored_and_find_k_where_few_are_allowed() -> None:
    rng = np.random.default_rng(5)
    made = rng.standard_normal((3000, 32)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    index = VectorIndex([made[:2000], made[2000:]], 32, "pq")
    scores, rows = index.search(made[:7], 5)
    assert rows[:, 0].tolist() == list(range(7)), "of itself each vector is the nearest"
    assert np.array_equal(scores, [index.scan.score_rows(made[q], rows[q]) for q in range(7)])
    assert (np.diff(scores) <= 0).all()
    allowed = np.zeros(3000, bool)
    allowed[::500] = True
    assert [sorted(own) for own in index.search(made[:3], 6, allowed)[1].tolist()] == [list(range(0, 3000, 500))] * 3
    assert [len({*own} - {-1}) for own in index.search(made[:2], 2500)[1].tolist()] == [2500] * 2
    index.accuracy = 1
    assert index.search(made[:7], 5)[1][:, 0].tolist() == list(range(7))


@pytest.mark.parametrize("name", ["ivf", "ivfpq"])
def test_indexes_of_before_take_codes(name: str, many: Any, tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", kind="pq", bm25=None) as index:
        index.add(many[1].slice(0, 1100))
        index.save()
        index._contents.store.manifest["kind"] = name
        index.remove(["a0"])
        index.save()
        found = [seen(hits) for hits in index.search(many[2][:5], mode="dense")]
    with Index.open(tmp_path / "x") as index:
        assert index.info["kind"] == name
        assert [seen(hits) for hits in index.search(many[2][:5], mode="dense")] == found


def test_auto_takes_the_kind_by_the_number_of_vectors(
    monkeypatch: pytest.MonkeyPatch, many: Any, tmp_path: Path
) -> None:
    last = vectors_module.SCANNED // 512
    assert last >= 900_000
    assert [vectors_module.choose("auto", n, 512) for n in (0, last, last + 1)] == ["flat", "flat", "pq"]
    assert vectors_module.choose("auto", last, 768) == "pq"  # of 384 dimensions
    monkeypatch.setattr(vectors_module, "SCANNED", 100 * 512)
    monkeypatch.setattr(vectors_module.quantized_index, "LEAST", 100)
    _, table, _ = many
    with Index.create(tmp_path / "x", bm25=None) as index:
        index.add(table.slice(0, 60))
        index.save()
        assert not list((tmp_path / "x").glob("*.codes"))
        index.add(table.slice(60, 200))
        index.save()
        assert list((tmp_path / "x").glob("*.codes"))
        assert len(index.search("x", mode="dense", k=9)[0]) == 9


@pytest.mark.slow
def test_codes_that_leave_out_no_candidate_answer_as_the_scan_does(
    article_chunks: pa.Table, questions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module.quantized_index, "LEAST", 100)
    table = article_chunks.slice(0, 600)
    every = {"k": table.num_rows + 5}
    few = {"where": {"number": 3}, "ids": ["a3", "a13"]}
    documents = {"ranking": Ranking(document_weight=0.5)}
    options: list[dict[str, Any]] = [{}, few, every, {**every, **few}, {"ranking": Ranking(min_score=0.4), **every}]
    options += [{"where": "number > 90"}, documents, {**documents, **few}, {"ranking": Ranking(fusion="rrf")}]
    for vectors in ("sentence", "chunk", "both"):
        indexes = []
        for kind in ("flat", "pq"):
            index = Index.create(tmp_path / vectors / kind, kind=kind, vectors=vectors, accuracy=1 << 40)
            index.add(table.slice(0, 400))
            index.save()
            index.add(table.slice(400))  # coded with what the first ones taught
            index.remove(["a1", "a2"])
            index.save()
            indexes.append(index)
        assert list((tmp_path / vectors / "pq").glob("*.codes"))
        for own in options:
            for mode in ("dense", "sparse", "hybrid"):
                flat, coded = (index.search(questions[:3], mode=mode, **own) for index in indexes)
                assert [seen(hits) for hits in coded] == [seen(hits) for hits in flat], (vectors, mode, own)
        for index in indexes:
            index.close()


@pytest.mark.slow
def test_codes_of_an_index_of_levels_answer_as_the_scan_does(
    articles: list[str], questions: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module.quantized_index, "LEAST", 100)
    texts = [text[:3000] for text in articles[:40]]
    names = ["sentence", "section", "document"]
    nodes = pychunk.segment_levels(texts, names, vectors="chunk", ids=[f"a{i}" for i in range(40)]).chunks()
    indexes = []
    for kind in ("flat", "pq"):
        index = Index.create(tmp_path / kind, kind=kind, vectors="chunk", accuracy=1 << 40)
        index.add(nodes)
        index.remove(["a7"])
        index.save()
        indexes.append(index)
    assert list((tmp_path / "pq").glob("*.codes"))
    rankings = [Ranking(levels="document"), Ranking(levels=["section", "document"]), Ranking(fusion="levels")]
    for own in ({}, *({"ranking": each} for each in rankings), {"k": 10_000}):
        for mode in ("dense", "hybrid"):
            options: dict[str, Any] = {"mode": mode, **own}
            flat, coded = (index.search(questions[:3], **options) for index in indexes)
            assert [seen(hits) for hits in coded] == [seen(hits) for hits in flat], options
    for index in indexes:
        index.close()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_codes_find_nearly_all_through_any_order_of_changes(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_module.quantized_index, "LEAST", 200)
    monkeypatch.setattr(vectors_module.quantized_index, "_FEWEST", 20)
    rng = np.random.default_rng(11)
    middles = rng.standard_normal((20, 32))
    held: dict[str, np.ndarray] = {}
    index = Index.create(tmp_path / "x", kind="pq", dtype=dtype, encoder=None, dim=32, bm25=None)
    shares: list[float] = []
    for step in range(60):
        what = rng.choice(["add", "add", "replace", "remove", "prune", "save", "open"])
        if what in ("add", "replace"):
            known = list(held)
            names = [f"{step}.{i}" for i in range(80)] if what == "add" else known[:: max(1, len(known) // 40)]
            made = middles[rng.integers(20, size=len(names))] + rng.standard_normal((len(names), 32))
            made = np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)
            if names:
                given: Any = {"ids": names, "vectors": "sentence", "columns": {"sentence_vectors": list(made[:, None])}}
                index.add(pychunk.segment([f"Text {name}." for name in names], "sentence", **given))
            held |= dict(zip(names, made))
        elif what in ("remove", "prune") and held:
            gone = list(held)[:: 7 if what == "remove" else 2][: None if step > 30 else 90]
            assert index.remove(gone) == len(gone)
            held = {name: vector for name, vector in held.items() if name not in gone}
        elif what == "save":
            index.save()
        elif what == "open":
            index.save()
            index.close()
            index = Index.open(tmp_path / "x")
        assert len(index) == len(held)
        if not held:
            continue
        names, matrix = list(held), np.stack(list(held.values()))
        queries = matrix[rng.integers(len(held), size=8)] + rng.standard_normal((8, 32)).astype(np.float32) / 12
        nearest = np.argsort(-(queries @ matrix.T), axis=1)[:, :10]
        texts = [""] * len(queries)
        hits = index.search((texts, queries), k=10, mode="dense")
        for own, best in zip(hits, nearest):
            assert len({hit.document_id for hit in own}) == min(10, len(held))
            shares.append(len({hit.document_id for hit in own} & {names[row] for row in best}) / len(best))
    index.save()
    assert max(len(vectors) for vectors in index._contents.searcher().sentences.arrays) > 200
    assert 0.95 < np.mean(shares) < 1, "candidates are fewer than there are"
    index.close()
