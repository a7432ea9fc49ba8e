"""The column text_id: its values, which never change, and what it does not depend on."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pychunk
from pychunk._engine.reference import hashing
from pychunk.chunks.text_ids import text_ids, with_own_text_ids, with_text_ids

SENTENCES = ["Cats purr.", "Dogs bark.", "Die Möwe ruft.", "猫は鳴く。", "🐈 schläft."]
DOCUMENTS = st.lists(st.sampled_from(SENTENCES), max_size=8)
#: One sentence in each chunk.
ALONE: dict[str, Any] = {"method": "sentence", "keep_together": False, "min_tokens": 0}
#: Ids of texts by the document's id. They never change, because stores know chunks by them.
VALUES: dict[str | None, dict[str, str]] = {
    None: {
        "Cats purr.": "3320f8eff9a21dcde740123bd241446b",
        "Dogs bark.": "076161ee360e30b07ecf2e4365c26ff0",
        "Die Möwe ruft.": "7eb4a81b40475ea18edb884bc4488ce7",
        "猫は鳴く。": "3c14c39c62076d2f11d37245e2ef6e90",
        "🐈 schläft.": "ca28950b4ef4c41992263c926a652e20",
        "again": "46c3710406125ae41829058f8a3306b9",
    },
    "a": {
        "Cats purr.": "466feb34fed1fc0751080b8ba25be6e1",
        "Dogs bark.": "a25d4c723bbb990e450e369b76d9774d",
        "Die Möwe ruft.": "7428c371522af51e4298e409c147aaab",
        "猫は鳴く。": "7ee6117ba75962c08364cde89c9f0c00",
        "🐈 schläft.": "a7a45644954f2136024fa374c22810c9",
        "again": "ae0b72ce76abf0191eb3c81cf9752b7d",
    },
    "7": {
        "Cats purr.": "6d8210b8202b849a2cd1783ee50e5f28",
        "Dogs bark.": "541e4fcbd9389fd9d7ebfa0ecdecfaa4",
        "Die Möwe ruft.": "0fa4939ff5f25b38044cb071f1bed799",
        "猫は鳴く。": "3ffeabd02429aa44f222837ac1bb4d1d",
        "🐈 schläft.": "78a3cad2f7817a9eb37bb85e14c519b5",
        "again": "490f53ef1de4f60d1a38a2ed37bbbc8f",
    },
    "Möwe 🐈": {
        "Cats purr.": "6e7e37b9c3800123220d87055bb59201",
        "Dogs bark.": "75552ea5872e8b6ecf429369ac7982b1",
        "Die Möwe ruft.": "4d6d0f28b5cab5d5f6701dd5894c5750",
        "猫は鳴く。": "b4cb382cbb63404fe01f6d53e4039c41",
        "🐈 schläft.": "1a339f86da6263ce14e017370e2ea6f8",
        "again": "810e48107e287a7c4a7618886a2cc892",
    },
}


def ids_of(chunks: pychunk.ChunkBatch) -> list[str]:
    found: list[str] = chunks.table["text_id"].to_pylist()
    return found


@pytest.mark.parametrize("name", VALUES)
def test_the_values_never_change(name: str | None) -> None:
    text = " ".join([*SENTENCES, SENTENCES[0]])
    found = pychunk.segment([text], ids=None if name is None else [name], **ALONE)
    assert dict(zip([*SENTENCES, "again"], ids_of(found), strict=True)) == VALUES[name]


def test_ids_that_are_numbers_are_hashed_as_their_text() -> None:
    text = " ".join([*SENTENCES, SENTENCES[0]])
    assert ids_of(pychunk.segment([text], ids=[7], **ALONE)) == list(VALUES["7"].values())


@pytest.mark.parametrize("named", [True, False])
@settings(max_examples=20, deadline=None)
@given(st.lists(DOCUMENTS, max_size=4), st.randoms(use_true_random=False))
def test_ids_do_not_depend_on_the_batch(named: bool, documents: list[list[str]], rng: random.Random) -> None:
    names = [f"d{row}" for row in range(len(documents))]

    def ids_by_document(order: list[int], threads: int = 1) -> dict[int, list[str]]:
        texts = [" ".join(documents[row]) for row in order]
        own = [names[row] for row in order] if named else None
        placement = pychunk.Placement(threads=threads)
        chunks = pychunk.segment(texts, ids=own, placement=placement, **ALONE)
        return {row: [chunk.text_id for chunk in of] for row, of in zip(order, chunks.by_document(), strict=True)}

    rows = list(range(len(documents)))
    expected: dict[int, list[str]] = {}
    for row in rows:
        equal = Counter[str]()
        expected[row] = []
        for text in documents[row]:
            name = names[row].encode() if named else None
            expected[row].append(hashing.text_id(name, text, equal[text]))
            equal[text] += 1
    assert ids_by_document(rows) == ids_by_document(rows, threads=3) == expected
    assert ids_by_document(rng.sample(rows, len(rows))) == expected
    for row in rows:
        assert ids_by_document([row]) == {row: expected[row]}
    keys = [(row, names[row] if named else None, text) for row in rows for text in documents[row]]
    assert list(text_ids(keys)) == [each for row in rows for each in expected[row]]


@settings(max_examples=20, deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.integers(0, 8))
def test_an_edit_changes_only_ids_of_equal_texts_after_it(before: list[str], more: list[str], at: int) -> None:
    at = min(at, len(before))
    after = before[:at] + more + before[at:]
    old, new = (
        ids_of(pychunk.segment([" ".join(each)], ids=["a"], **ALONE)) if each else [] for each in (before, after)
    )
    assert new[:at] == old[:at]
    for place, text in enumerate(before[at:], at):
        same = new[place + len(more)] == old[place]
        assert same == (text not in more)
    assert len(set(new)) == len(new)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_both_engines_give_the_same_ids(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    monkeypatch.setenv("PYCHUNK_BACKEND", backend)
    text = " ".join([*SENTENCES, SENTENCES[0]])
    found = pychunk.segment([text, text], ids=["a", "7"], **ALONE)
    assert found.metadata["backend"] == backend
    assert ids_of(found) == [*VALUES["a"].values(), *VALUES["7"].values()]


@pytest.mark.parametrize("ids", [None, ["a", "b"]])
def test_tables_of_older_versions_get_ids(ids: list[str] | None) -> None:
    table = pychunk.segment(["Cats purr. Dogs bark. Cats purr.", "Cats purr."], ids=ids, **ALONE).table
    former = table.drop_columns(["text_id"])
    assert with_text_ids(former)["text_id"].equals(table["text_id"])
    assert with_text_ids(table) is table
    joined = pa.concat_tables([former.slice(0, 3), table.slice(3)], promote_options="default")
    assert with_text_ids(joined)["text_id"].equals(table["text_id"])
    assert with_text_ids(joined.slice(0, 0)).num_rows == 0


def test_nodes_of_levels_have_ids_of_their_own() -> None:
    levels = ["sentence", "paragraph", "document"]
    text = "Cats purr.\n\nDogs bark. Cats purr.\n\nCats purr."
    for texts in ([text], [text, "Dogs bark."]):
        nodes = pychunk.segment_levels(texts, levels, ids=["a", "b"][: len(texts)]).chunks()
        assert len(set(ids_of(nodes))) == len(nodes)
        assert with_own_text_ids(nodes.table) is nodes.table
    table = pa.table({"document_index": [0, 0, 0, 1], "text": ["x", "x", "y", "x"], "text_id": ["1", "1", "2", "1"]})
    found = with_own_text_ids(table)["text_id"].to_pylist()
    assert found == [*text_ids([(0, None, "x"), (0, None, "x")]), "2", "1"]
