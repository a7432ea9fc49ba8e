"""In any order of additions, removals, saves, losses and compactions an index is a list of chunks."""

import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

pytest.importorskip("faiss")

from index_reference import Reference, assert_equal_to, chunks_of

from pychunk.index.dense import quantized_index
from pychunk.index.index import Index

pytestmark = pytest.mark.usefixtures("one_faiss_thread")

IDS = st.sampled_from([f"d{i}" for i in range(6)])
SENTENCES = st.sampled_from(
    [
        "Cats purr.",
        "Cats sleep all day.",
        "Dogs bark at night.",
        "The sun is a star.",
        "Rust is safe.",
        "北京大学。",
        "1984.",
    ]
)
TEXTS = st.lists(SENTENCES, max_size=4).map(" ".join)
QUERIES = ["Do cats purr?", "star", "safe dogs in 1984"]


class Machine(RuleBasedStateMachine):
    """The index and its reference, in their current and their last saved state."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = Reference()
        self.saved = Reference()
        self.changed = True
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(quantized_index, "LEAST", 4)  # with so few vectors all are candidates: codes lose none

    @initialize(
        vectors=st.sampled_from(["sentence", "chunk", "both"]),
        dtype=st.sampled_from(["float16", "float32", "int8"]),
        kind=st.sampled_from(["flat", "pq"]),
    )
    def create(self, vectors: str, dtype: str, kind: str) -> None:
        self.vectors = vectors
        self.now, self.saved = Reference(dtype), Reference(dtype)
        self.index = Index.create(Path(self.folder.name) / "x", vectors=vectors, dtype=dtype, kind=kind)

    @rule(
        documents=st.dictionaries(IDS, TEXTS, min_size=1, max_size=4), method=st.sampled_from(["sentence", "paragraph"])
    )
    def add(self, documents: dict[str, str], method: str) -> None:
        chunks = chunks_of(list(documents.values()), self.vectors, list(documents), method)
        gone = {row["key"] for row in self.now.rows}
        found = self.index.add(chunks)
        self.now.add(chunks)
        self.changed = True
        told = {row["key"] for row in self.now.rows} - gone
        assert found.added >= len(told)

    @rule(ids=st.lists(IDS, min_size=1, max_size=3))
    def remove(self, ids: list[str]) -> None:
        before = len(self.now.rows)
        self.now.rows = [row for row in self.now.rows if row["document_id"] not in ids]
        assert self.index.remove(ids) == before - len(self.now.rows)
        self.changed = True

    @precondition(lambda self: self.now.rows)
    @rule(data=st.data())
    def remove_a_chunk(self, data: Any) -> None:
        row = data.draw(st.sampled_from([row["chunk_id"] for row in self.now.rows]))
        self.now.rows = [each for each in self.now.rows if each["chunk_id"] != row]
        assert self.index.remove(chunk_ids=[row]) == 1
        self.changed = True

    @rule()
    def save(self) -> None:
        self.index.save()
        self.saved = copy.copy(self.now)
        self.saved.rows = list(self.now.rows)

    @rule(save=st.booleans())
    def open_again(self, save: bool) -> None:
        if save:
            self.save()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unsaved changes are lost, which is the point of the test
            self.index.close()
        self.index = Index.open(Path(self.folder.name) / "x")
        self.now = copy.copy(self.saved)
        self.now.rows = list(self.saved.rows)
        self.changed = True

    @rule(id=IDS, k=st.sampled_from([1, 3]))
    def search_in_one_document(self, id: str, k: int) -> None:
        assert_equal_to(self.now, self.index, QUERIES[:1], k, ids=[id], keep=lambda row: row["document_id"] == id)

    @invariant()
    def is_the_reference(self) -> None:
        if not self.changed:
            return
        assert len(self.index) == len(self.now.rows)
        assert_equal_to(self.now, self.index, QUERIES, 5)
        self.changed = False

    def teardown(self) -> None:
        self.index.close(discard=True)
        self.folder.cleanup()
        self.patch.undo()


TestIndex = Machine.TestCase
TestIndex.settings = settings(max_examples=8, stateful_step_count=20, deadline=None)


@pytest.mark.slow
class TestOneThousandOperations(Machine.TestCase):
    settings = settings(max_examples=20, stateful_step_count=50, deadline=None)


@pytest.mark.slow
@pytest.mark.long
class TestTenThousandOperations(Machine.TestCase):
    settings = settings(max_examples=200, stateful_step_count=50, deadline=None)
