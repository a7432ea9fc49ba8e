"""Embeddings of other packages in a LangChain store: their errors name them, and leave the store as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.embeddings import Embeddings

from pychunk.integrations.langchain_store import PychunkVectorStore


class Broken(Embeddings):
    """Embeddings that return or raise what a test asks for, after ``good`` calls."""

    def __init__(self, answer: Any, good: int = 1) -> None:
        self.answer, self.left = answer, good

    def embed_documents(self, texts: list[str]) -> Any:
        self.left -= 1
        return [[1.0, 2.0] for _ in texts] if self.left >= 0 else self.answer(texts)

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])[0]


def fail(texts: list[str]) -> Any:
    raise OSError("no network")


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (lambda texts: [[1.0] for _ in texts], ValueError, r"'Broken' must return one vector.*\[2, 2\].*\[2, 1\]"),
        (lambda texts: [[1.0, 2.0]], ValueError, r"\[2, 2\]; got the shape \[1, 2\]"),
        (lambda texts: [[1.0, float("nan")] for _ in texts], ValueError, "'Broken' must return finite numbers"),
        (lambda texts: [[1.0], [1.0, 2.0]], ValueError, "must return an array of numbers"),
        (fail, RuntimeError, "'Broken' failed for a batch.*no network"),
    ],
)
def test_embeddings_that_fail_leave_the_store_as_it_was(answer: Any, kind: Any, message: str, tmp_path: Path) -> None:
    store = PychunkVectorStore.from_texts([], Broken(answer), path=tmp_path / "index")
    with pytest.raises(kind, match=message):
        store.add_texts(["One.", "Two."])
    store.index.close()
    assert len(PychunkVectorStore(tmp_path / "index", Broken(answer)).index) == 0
