"""Index.open(require=...): nothing returns a chunk of somebody else, in any mode, with any option."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from index_reference import chunks_of

import pychunk
from pychunk.index import Expansion, Ranking, chunk_tables
from pychunk.index.index import Index

SENTENCES = ["Cats purr.", "Cats sleep all day.", "Dogs bark.", "Stars burn hydrogen.", "Bread is baked in ovens."]
TEXTS = [f"# Part {i}\n\n" + " ".join(SENTENCES[j % 5] for j in range(i, i + 4)) for i in range(12)]
TENANTS = ["a", "b", None]


@pytest.fixture(scope="module", params=["flat", "hnsw", "pq"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param != "flat":
        pytest.importorskip("faiss")
    made = tmp_path_factory.mktemp(request.param) / "i"
    table = pa.table({"text": TEXTS, "tenant": [TENANTS[i % 3] for i in range(12)], "id": list(map(str, range(12)))})
    with Index.create(made, vectors="both", kind=request.param) as index:
        for part in (table[:5], table[5:]):
            batch = pychunk.parse(part, "markdown", column="text", ids="id")
            seg = pychunk.Segmenter("sentence", keep_together=False, vectors="sentence", augment="path")
            index.add(chunk_tables.encode_chunks(
                seg(batch, metadata_columns=["tenant"]), vectors="both"))  # fmt: skip
        index.remove(["3"])
    return made


def own(hits: Any) -> set[Any]:
    return {hit.metadata.get("tenant") for hit in hits}


@pytest.mark.parametrize("tenant", ["a", "b"])
def test_no_search_returns_a_chunk_of_another(folder: Path, tenant: str) -> None:
    ours = {str(i) for i in range(12) if TENANTS[i % 3] == tenant} - {"3"}
    with Index.open(folder, require={"tenant": tenant}) as index:
        assert set(index.ids()) == ours
        assert len(index) == index.count()
        assert index.count({"tenant": "b" if tenant == "a" else "a"}) == index.count("tenant is null") == 0
        rankings = [
            Ranking(fusion=fusion, document_weight=weight) for fusion in ("score", "rrf") for weight in (0, 0.5)
        ]
        expansions: list[Any] = [
            None,
            2,
            "subtree",
            "section",
            Expansion("subtree", parents=True),
            Expansion(3, max_words=40),
        ]
        for mode, ranking, expansion in itertools.product(("sparse", "dense", "hybrid"), rankings, expansions):
            found = index.search("cats sleep", k=50, mode=mode, ranking=ranking, expansion=expansion)[0]
            assert found
            assert own(found) == {tenant}
            assert {hit.document_id for hit in found} <= ours
            assert all(each.text in "".join(TEXTS[int(hit.document_id)]) for hit in found for each in hit.around)
            documents = index.search_documents("cats sleep", k=50, mode=mode, ranking=ranking, expansion=expansion)[0]
            assert {each.document_id for each in documents} <= ours
        assert index.search("cats", k=9, where="tenant = 'a' or tenant = 'b' or tenant is null", ids=["0", "1", "2"])[0]
        assert own(index.search("cats", k=9, where={"tenant": ["a", "b", None]})[0]) == {tenant}


def test_hits_are_those_of_an_index_without_the_others(folder: Path, tmp_path: Path) -> None:
    with Index.open(folder) as whole:
        for i in range(12):
            assert whole.get(str(i)).num_rows == (0 if i == 3 else whole.count(ids=[str(i)]))
        filtered = [
            (hit.document_id, hit.chunk_index, hit.score)
            for hit in whole.search("cats sleep", k=50, mode="dense", where={"tenant": "a"})[0]
        ]
    with Index.open(folder, require="tenant = 'a'") as index:
        found = index.search("cats sleep", k=50, mode="dense")[0]
        assert [(hit.document_id, hit.chunk_index, hit.score) for hit in found] == filtered
        assert index.get("1").num_rows == 0
        assert "1" not in index


def test_what_would_show_or_change_other_chunks_is_refused(folder: Path, tmp_path: Path) -> None:
    with Index.open(folder, require={"tenant": "a"}) as index:
        with pytest.raises(ValueError, match="shows no table of all chunks"):
            _ = index.table
        for change in (
            lambda: index.add(chunks_of(["One."], ids=["x"])),
            lambda: index.remove(["0"]),
            index.save,
        ):
            with pytest.raises(ValueError, match="opened with require= cannot be changed"):
                change()
    with pytest.raises(ValueError, match="require= cannot be combined with create=True"):
        Index.open(tmp_path / "new", require={"tenant": "a"}, create=True)


def test_a_condition_that_nothing_can_meet_closes_the_index(folder: Path) -> None:
    with pytest.raises(ValueError, match="where names the column 'tennant'"):
        Index.open(folder, require={"tennant": "a"})
    with Index.open(folder, require={"tenant": "c"}) as index:
        assert len(index) == 0
        assert index.search("cats", k=5)[0] == index.search_documents("cats", k=5)[0] == []


def test_rows_that_lack_the_column_are_closed(tmp_path: Path) -> None:
    with Index.create(tmp_path / "i") as index:
        index.add(chunks_of(["Cats purr."], ids=["old"]))
        index.save()
        table = pa.table({"text": ["Cats sleep."], "id": ["new"], "tenant": ["a"]})
        index.add(
            pychunk.segment(
                table, "sentence", columns={"text": "text"}, ids="id", metadata_columns=["tenant"], vectors="sentence"
            )
        )
    with Index.open(tmp_path / "i", require={"tenant": "a"}) as index:
        assert [hit.document_id for hit in index.search("cats", k=5)[0]] == ["new"]
