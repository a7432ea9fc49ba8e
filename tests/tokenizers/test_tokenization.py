"""The functions tokenize() and count_tokens(): equal to the tokenizers' own methods, for any batch and threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tokenizer_limits import byte_pair, pieces

import pychunk
from pychunk.encoders import static_encoder
from pychunk.tokenization import SCHEMA

TEXTS = ["Cats purr. Don't they?\n\n", "", "中文没有空格 👍🏽", " two  spaces ", "ﬁne naïve 12345"]
WORDPIECE = static_encoder.SHIPPED / "vocab.txt"


@pytest.fixture(autouse=True)
def by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    known: Any = __import__("pychunk.tokenizers.sources", fromlist=["_named"])._named
    made = {"byte_pair": byte_pair(), "pieces": pieces()}
    monkeypatch.setattr("pychunk.tokenizers.sources._named", lambda source: made.get(source) or known(source))


@pytest.mark.parametrize("tokenizer", ["byte_pair", "pieces", WORDPIECE])
def test_any_batch_and_any_threads_give_the_same(tokenizer: Any) -> None:
    out = pychunk.tokenize(TEXTS, tokenizer)
    assert out.schema == SCHEMA
    counts = pychunk.count_tokens(TEXTS, tokenizer)
    assert counts.to_pylist() == [len(ids) for ids in out["ids"].to_pylist()]
    assert pychunk.tokenize(TEXTS, tokenizer, threads=3) == out
    chunked = pa.chunked_array([pa.array(["left out", *TEXTS[:2]])[1:], pa.array(TEXTS[2:])])
    assert pychunk.tokenize(chunked, tokenizer).to_pylist() == out.to_pylist()
    assert pychunk.count_tokens(chunked, tokenizer) == counts
    for text, row in zip(TEXTS, out.to_pylist()):
        assert pychunk.tokenize(text, tokenizer).to_pylist() == [row]
    assert pychunk.tokenize([], tokenizer).num_rows == len(pychunk.count_tokens([], tokenizer)) == 0


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=5))
def test_bytes_of_byte_pairs_cover_each_text(texts: list[str]) -> None:
    for text, row in zip(texts, pychunk.tokenize(texts, "byte_pair").to_pylist()):
        data = text.encode()
        assert b"".join(data[a:b] for a, b in zip(row["start_byte"], row["end_byte"])) == data


def test_ids_equal_those_of_tokenizers_and_its_bytes_its_characters(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.BertWordPieceTokenizer(str(WORDPIECE))
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    out = pychunk.tokenize(TEXTS, path).to_pylist()
    for text, row in zip(TEXTS, out):
        wanted = made.encode(text, add_special_tokens=False)
        assert row["ids"] == wanted.ids
        ends = [len(text[:at].encode()) for at in range(len(text) + 1)]
        assert list(zip(row["start_byte"], row["end_byte"])) == [(ends[a], ends[b]) for a, b in wanted.offsets]


def test_a_function_only_counts() -> None:
    assert pychunk.count_tokens(["a b", "c"], len).to_pylist() == [3, 1]
    with pytest.raises(TypeError, match="needs a tokenizer with ids, but len only counts tokens: pass a file, or call"):
        pychunk.tokenize(["a"], len)
    with pytest.raises(ValueError, match="row 1: the text is null"):
        pychunk.count_tokens(["a", None], len)
