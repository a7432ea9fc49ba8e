"""Document evidence: a chunk's score and its document's own, compared with every chunk scored one by one."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pychunk.index import Ranking

pytest.importorskip("faiss")

from index_reference import F32, Reference, chunks_of, encoded, seen, shown, worth

import pychunk
from pychunk._engine.reference.search.scan import products
from pychunk.evaluation import datasets
from pychunk.index.index import Index
from pychunk.index.lexical.analyzer import Analyzer
from pychunk.index.scoring.document_scores import BEST

WORDS = [
    "all",
    "bark",
    "bread",
    "burns",
    "cats",
    "day",
    "dogs",
    "hydrogen",
    "night",
    "oven",
    "purr",
    "rust",
    "sleep",
    "star",
    "the",
]


class WithDocuments(Reference):
    """The slow index with document evidence, which makes documents from their rows for each query."""

    def documents(self) -> dict[Any, list[dict[str, Any]]]:
        found: dict[Any, list[dict[str, Any]]] = {}
        for row in self.rows:
            found.setdefault(row.get("document_id", row["document_index"]), []).append(row)
        return found

    def by_words(self, query: str) -> dict[Any, np.float32]:
        whole = WithDocuments(self.dtype, self.k1, self.b)
        documents = self.documents()
        for rows in documents.values():
            whole.rows.append({"terms": sum((row["terms"] for row in rows), Counter())})
        return dict(zip(documents, whole.bm25(query)))

    def by_vectors(self, vector: Any, name: str) -> dict[Any, np.float32]:
        found = {}
        for key, rows in self.documents().items():
            scores = [score for row in rows if row[name].size for score in products(row[name], vector).tolist()]
            best = [F32(score) for score in sorted(scores, reverse=True)[:BEST]]
            found[key] = F32(sum(best, F32(0)) / F32(max(1, len(best))))
        return found

    def found(
        self,
        query: str,
        vector: Any,
        k: int,
        mode: str,
        weight: float,
        keep: Callable[[dict[str, Any]], bool] = lambda row: True,
    ) -> list[tuple[Any, ...]]:
        """Return the right result of search(), in the form of ``seen``."""
        vector = worth(query, vector, mode)
        kinds = [name for name in ("rows", "pooled") if any(row[name].size for row in self.rows)]
        share = 1 / max(1, len(kinds))
        own_words, sparse = self.by_words(query), self.bm25(query)
        own_vectors = {name: self.by_vectors(vector, name) for name in kinds}
        found = []
        for place, row in enumerate(self.rows):
            key = row.get("document_id", row["document_index"])
            parts = []
            if mode != "sparse":
                parts += [F32(share) * products(row[name], vector).max() for name in kinds]
                parts += [F32(share * weight) * own_vectors[name][key] for name in kinds]
            if mode != "dense":
                by = 1.5 if mode == "hybrid" else 1.0
                parts += [F32(by) * sparse[place], F32(by * weight) * own_words[key]]
            score = sum(parts[1:], parts[0])
            if keep(row) and (mode != "sparse" or score > 0):
                found.append((-float(score), place, row))
        found.sort(key=lambda each: each[:2])
        return shown(found[:k])


def texts(seed: int, count: int) -> list[str]:
    """Return documents of one to nine sentences of few words, so that scores are often equal."""
    random = np.random.default_rng(seed)
    return [
        " ".join(
            " ".join(random.choice(WORDS, random.integers(1, 7))).capitalize() + "."
            for _ in range(random.integers(1, 10))
        )
        for _ in range(count)
    ]


def assert_equal(
    reference: WithDocuments, index: Index, queries: list[str], k: int, weight: float, **filters: Any
) -> None:
    keep = filters.pop("keep", lambda row: True)
    for mode in ("sparse", "dense", "hybrid"):
        found = index.search(queries, k=k, mode=mode, ranking=Ranking(document_weight=weight), **filters)
        for query, vector, hits in zip(queries, encoded(queries), found):
            assert seen(hits) == reference.found(query, vector, k, mode, weight, keep), (mode, query, weight)


@pytest.mark.parametrize("vectors", ["sentence", "chunk", "both"])
@pytest.mark.parametrize("with_ids", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_search_equals_every_chunk_scored_one_by_one(tmp_path: Path, vectors: str, with_ids: bool) -> None:
    documents = texts(1, 30)
    chunks = chunks_of(documents, vectors, [f"d{i}" for i in range(30)] if with_ids else None)
    reference = WithDocuments()
    reference.add(chunks)
    with Index.create(tmp_path / "x", vectors=vectors) as index:
        index.add(chunks)
        for weight in (1.0, 7.0):
            for k in (3, 400):
                assert_equal(reference, index, ["Do cats sleep all day?", "the rust star", "zebra"], k, weight)


@pytest.mark.slow
def test_with_removed_and_replaced_documents_filters_and_parts(tmp_path: Path) -> None:
    documents, ids = texts(2, 80), [f"d{i}" for i in range(80)]
    reference = WithDocuments()
    with Index.create(tmp_path / "x") as index:
        for begin in (0, 30, 60):
            part = chunks_of(documents[begin : begin + 30], ids=ids[begin : begin + 30])
            reference.add(part)
            index.add(part)
            index.save()
        again = chunks_of(texts(3, 5), ids=ids[10:15])
        reference.add(again)
        index.add(again)
        index.remove(ids[::7])
        reference.rows = [row for row in reference.rows if row["document_id"] not in ids[::7]]
        queries = ["Do cats sleep all day?", "hydrogen burns in the oven"]
        assert_equal(reference, index, queries, 9, 1.0)
        chosen = ids[20:50:3]
        assert_equal(reference, index, queries, 9, 1.0, ids=chosen, keep=lambda row: row["document_id"] in chosen)
        # Conditions choose chunks; the rest of a document counts as evidence nevertheless.
        assert_equal(
            reference, index, queries, 9, 2.0, where="chunk_index >= 3", keep=lambda row: row["chunk_index"] >= 3
        )
        assert_equal(reference, index, queries, 9, 2.0, where="chunk_index = 99", keep=lambda row: False)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=12), st.text(max_size=30))
def test_arbitrary_text(tmp_path_factory: Any, documents: list[str], query: str) -> None:
    reference, chunks = WithDocuments(), chunks_of(documents)
    reference.add(chunks)
    with Index.create(tmp_path_factory.mktemp("any") / "x") as index:
        index.add(chunks)
        if len(index) and query.strip():
            assert_equal(reference, index, [query], 5, 1.0)


def test_ngrams_count_in_documents(tmp_path: Path) -> None:
    documents = ["Katze und Hund. Der Kater schläft.", "Kätzchen schlafen. Ein Hund bellt.", "Brot und Wasser."]
    chunks = chunks_of(documents)
    reference, analyzer = WithDocuments(), Analyzer("ngrams", ngram=4)
    reference.add(chunks)
    for row in reference.rows:
        row["terms"] = Counter(analyzer.terms(row["text"]))
    with Index.create(tmp_path / "x", bm25="ngrams") as index:
        index.add(chunks)
        terms = analyzer.terms("Katzen schlafen")
        searcher = index._contents.searcher()
        found = searcher.document_bm25.scores([terms])[0]
        lengths = np.array([sum(len(analyzer.terms(text)) for text in [whole]) for whole in documents])
        expected, bound = np.zeros(3), 0.0
        for term, times in Counter(terms).items():
            counts = np.array([analyzer.terms(whole).count(term) for whole in documents])
            if counts.any():
                idf = times * np.log1p((3 - (counts > 0).sum() + 0.5) / ((counts > 0).sum() + 0.5))
                bound += idf
                expected += idf * counts / (counts + 0.9 * (0.6 + 0.4 * lengths / lengths.mean()))
    assert np.allclose(found, expected / bound, atol=1e-6)


def test_documents_are_ranked_by_it_and_ranks_are_fused(tmp_path: Path) -> None:
    # The first document's chunk is the better one, but the second's text is about nothing else.
    documents = [
        "Cats purr. Rust is memory safe. Bread needs an oven. The sun burns. Stars shine.",
        "Cats purr at night. Cats sleep. Cats purr again.",
    ]
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(documents, ids=["short", "whole"]))
        plain = index.search_documents("cats purr", mode="sparse")[0]
        with_it = index.search_documents("cats purr", mode="sparse", ranking=Ranking(document_weight=1.0))[0]
        assert [each.document_id for each in plain] == ["short", "whole"]
        assert [each.document_id for each in with_it] == ["whole", "short"]
        hit = with_it[0].hits[0]
        assert hit.score == pytest.approx(hit.scores["sparse"] + hit.scores["document_sparse"])
        hits = index.search("cats purr", k=8, ranking=Ranking(fusion="rrf", document_weight=1.0))[0]
        assert {"dense", "document_dense", "sparse", "document_sparse"} == set(hits[0].scores)
        # all chunks of a document have one rank by it
        words = sorted({hit.scores["document_sparse"] for hit in hits}, reverse=True)
        vectors = sorted({hit.scores["document_dense"] for hit in hits}, reverse=True)
        dense = [hit.chunk_id for hit in index.search("cats purr", k=8, mode="dense")[0]]
        sparse = [hit.chunk_id for hit in index.search("cats purr", k=8, mode="sparse")[0]]
        for hit in hits:
            expected = 1 / (61 + dense.index(hit.chunk_id)) + 1 / (61 + vectors.index(hit.scores["document_dense"]))
            expected += 1.5 / (61 + words.index(hit.scores["document_sparse"]))
            expected += 1.5 / (61 + sparse.index(hit.chunk_id)) if hit.chunk_id in sparse else 0
            assert hit.score == pytest.approx(expected, abs=1e-6)


def test_rank_and_threads_agree_with_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = ["Do cats sleep all day?", "the rust star", "oven"] * 24
    with Index.create(tmp_path / "x") as index:
        index.add(chunks_of(texts(5, 50)))
        for mode in ("sparse", "dense", "hybrid"):
            rows, scores = index.rank(queries, 4, mode, ranking=Ranking(document_weight=1.0))
            for threads in (1, 3):
                monkeypatch.setattr(index, "_threads", threads)
                for i, hits in enumerate(index.search(queries, 4, mode, ranking=Ranking(document_weight=1.0))):
                    assert [(hit.row, hit.score) for hit in hits] == list(zip(rows[i].tolist(), scores[i].tolist()))


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with Index.create(tmp_path / "x", bm25=None) as index:
        index.add(chunks_of(["Cats purr. Dogs bark."]))
        with pytest.raises(ValueError, match=r"no terms.*build it again without bm25=None"):
            index.search("cats", mode="sparse", ranking=Ranking(document_weight=1.0))
        assert index.search("cats", mode="dense", ranking=Ranking(document_weight=1.0))[0]
        with pytest.raises(ValueError, match="document_weight must be"):
            index.search("cats", mode="dense", ranking=Ranking(document_weight=-1.0))


def test_an_approximate_index_scores_what_it_finds_exactly(tmp_path: Path) -> None:
    chunks = chunks_of(texts(7, 150), ids=[f"d{i}" for i in range(150)])
    with Index.create(tmp_path / "x", kind="hnsw") as index, Index.create(tmp_path / "flat") as flat:
        for made in (index, flat):
            made.add(chunks)
        for mode in ("dense", "hybrid"):
            every = {
                hit.row: hit.score
                for hit in flat.search("the rust star", 1000, mode, ranking=Ranking(document_weight=1.0))[0]
            }
            for hit in index.search("the rust star", 9, mode, ranking=Ranking(document_weight=1.0))[0]:
                assert hit.score == every[hit.row]


def test_the_leaflets_are_told_apart_by_whole_documents(data: Path, tmp_path: Path) -> None:
    """BM25 of n-grams finds 0.893 of the leaflets and 0.599 of their pages without document evidence."""
    leaflets = datasets.unlp(data / "unlp2026")
    ids = [str(number) for number in range(len(leaflets.documents))]
    chunks = pychunk.segment(
        leaflets.documents, "page", vectors="sentence", ids=ids, columns={"page_starts": leaflets.page_starts}
    )
    with Index.create(tmp_path / "x", bm25="auto") as index:
        index.add(chunks)
        measured = {}
        for weight in (0.0, 1.0):
            rows, _ = index.rank(
                [each.text for each in leaflets.questions], 1, "sparse", ranking=Ranking(document_weight=weight)
            )
            found = index.table.select(["document_id", "page"]).take(pa.array(rows[:, 0])).to_pylist()
            pairs = list(zip(found, leaflets.questions))
            document = np.mean([int(row["document_id"]) == each.document for row, each in pairs])
            page = np.mean(
                [int(row["document_id"]) == each.document and row["page"] == each.page for row, each in pairs]
            )
            measured[weight] = document, page
    assert measured[0.0] == pytest.approx((0.893, 0.599), abs=0.005)
    assert measured[1.0] == pytest.approx((0.954, 0.630), abs=0.005)
