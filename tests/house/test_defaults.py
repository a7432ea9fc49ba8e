"""Each default is defined once, in pychunk/defaults.py."""

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pychunk import defaults
from pychunk.augmentation.augment import WAYS
from pychunk.evaluation.retrieval_setups import Strategy
from pychunk.index import Bm25, Ranking, Rerank
from pychunk.index.index import Index
from pychunk.index.scoring.ranking import RankingOptions
from pychunk.llm import LLM
from pychunk.methods.fixed import Fixed
from pychunk.methods.recursive import Recursive

ROOT = Path(__file__).resolve().parents[2]


def default_of(function: Callable[..., Any], name: str) -> Any:
    return inspect.signature(function).parameters[name].default


def test_signatures_have_the_defaults() -> None:
    search = defaults.SEARCH
    for function in (Index.search, Index.search_documents, Index.rank):
        assert (default_of(function, "k"), default_of(function, "mode")) == (search.k, search.mode)
    for name in ("fusion", "bm25_weight", "chunk_vector_weight", "document_weight"):
        assert getattr(Ranking(), name) == getattr(search, name)
    own = RankingOptions()
    assert (own.mode, own.fusion, own.document_weight) == (search.mode, search.fusion, search.document_weight)
    assert (own.weight, 1 - own.blend) == (search.bm25_weight, search.chunk_vector_weight)
    assert Rerank("features").depth == search.rerank_depth
    assert (Bm25().k1, Bm25().b) == (defaults.BM25.k1, defaults.BM25.b)
    assert Strategy("hybrid").depth == search.evaluation_depth
    assert default_of(Fixed, "size") == default_of(Recursive, "size") == defaults.CHUNKS.piece
    client, contexts = defaults.CLIENT, defaults.CONTEXTS
    assert [default_of(LLM, name) for name in ("concurrency", "retries")] == [client.concurrency, client.retries]
    assert WAYS["summary"] == WAYS["summary:llm"] == {"characters": contexts.characters, "window": contexts.ends}
    assert WAYS["neighbours"] == WAYS["context:llm"] == {"characters": contexts.characters, "window": contexts.around}


@pytest.mark.slow
def test_no_other_module_writes_a_default_of_a_search() -> None:
    search = defaults.SEARCH
    known = {"k1": defaults.BM25.k1, "weight": search.bm25_weight, "blend": 1 - search.chunk_vector_weight}
    known |= {name: getattr(search, name) for name in ("bm25_weight", "chunk_vector_weight", "document_weight")}
    found = []
    for file in sorted((ROOT / "pychunk").rglob("*.py")):
        if file.name == "defaults.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            values: list[tuple[str, ast.expr | None]] = []
            if isinstance(node, ast.arguments):
                plain = [each.arg for each in (*node.posonlyargs, *node.args)]
                values = [*zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True)]
                values += zip((each.arg for each in node.kwonlyargs), node.kw_defaults, strict=True)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                values = [(node.target.id, node.value)]
            for own, value in values:
                if own in known and isinstance(value, ast.Constant) and value.value == known[own]:
                    found.append(file.name)
    assert not found


def test_constants_of_the_core_are_the_defaults() -> None:
    header = ROOT / "csrc" / "document" / "cohesion.h"
    if not header.exists():
        pytest.skip("no checkout")
    found = re.search(r"kShortCharacters = (\d+);", header.read_text(encoding="utf-8"))
    assert found is not None
    assert int(found[1]) == defaults.CHUNKS.short
