"""The values of ``tokenizer=``: names, files, folders, objects of other packages, functions, and what is refused."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_tokenizer_json import content
from vocabularies import TIKTOKEN, small_ranks, write_ranks

import pychunk
from pychunk.encoders import static_encoder
from pychunk.tokenizers import NotNativeError
from pychunk.tokenizers.byte_pair import BytePairTokenizer
from pychunk.tokenizers.library import FunctionTokenizer, LibraryTokenizer
from pychunk.tokenizers.sources import ENCODINGS, load, tokenizer_of
from pychunk.tokenizers.tokenizer_json import load_byte_pair
from pychunk.tokenizers.wordpiece import WordPieceTokenizer

TEXT = "Don't split naïve words: 12345 中文没有空格 <|end|> <tool> 👍🏽\n\nA second paragraph."


def count(tokenizer: Any, text: str = TEXT) -> int:
    data = text.encode()
    return int(tokenizer.count_spans(data, np.array([0, len(data)], np.int64))[0])


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    return write_ranks(tmp_path / "o200k_base.tiktoken.gz", small_ranks())


def written(path: Path, pattern: str = "llama3", **changes: Any) -> Path:
    path.write_text(json.dumps({**content(small_ranks(), pattern), **changes}))
    return path


def test_a_tiktoken_file_has_the_pattern_of_its_name(ranks: Path, tmp_path: Path) -> None:
    found = tokenizer_of(ranks)
    assert isinstance(found, BytePairTokenizer)
    assert (found.name, found.pattern) == ("o200k_base", "o200k")
    assert tokenizer_of(str(ranks)) is found
    for name, pattern in ENCODINGS.items():
        assert tokenizer_of(write_ranks(tmp_path / f"{name}.tiktoken", small_ranks())).pattern == pattern
    other = write_ranks(tmp_path / "mine.tiktoken", small_ranks())
    with pytest.raises(ValueError, match=r"mine\.tiktoken: a \.tiktoken file must.*got the name 'mine'.*cl100k_base"):
        tokenizer_of(other)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "gpt2.tiktoken", small_ranks())
    before = tokenizer_of(path).fingerprint
    write_ranks(path, {**small_ranks(), b"new": 700})
    os.utime(path, ns=(1, 1))
    assert tokenizer_of(path).fingerprint != before


def test_a_folder_of_a_model_gives_its_tokenizer_and_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "llama"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"llama has no tokenizer; a folder must hold one of tokenizer\.json"):
        tokenizer_of(folder)
    written(folder / "tokenizer.json")
    found = tokenizer_of(folder)
    assert isinstance(found, BytePairTokenizer)
    assert found.name == "llama"
    shutil.copy(static_encoder.SHIPPED / "vocab.txt", tmp_path / "vocab.txt")
    assert isinstance(tokenizer_of(tmp_path), WordPieceTokenizer)


def test_a_name_is_found_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCHUNK_CACHE", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"the tokenizer 'o200k_base' is neither in .*get it with `pychunk model get"):
        tokenizer_of("o200k_base")
    with pytest.raises(ValueError, match=r"unknown tokenizer 'o200k'; choose one of .*did you mean 'o200k_base'"):
        tokenizer_of("o200k")
    for wrong in ("o200k_base,2", "o200k_base, special=2", "o200k_base:special=2"):
        with pytest.raises(ValueError, match=r"is no name; .*pychunk\.Tokenizer\('o200k_base', special=2\), or on"):
            tokenizer_of(wrong)
    with pytest.raises(ValueError, match="tokenizer must be a name or a path; got ''"):
        tokenizer_of("")
    with pytest.raises(ValueError, match=r"tokenizer='no/tokenizer\.json' does not exist; pass the path"):
        tokenizer_of("no/tokenizer.json")
    folder = tmp_path / "tokenizers" / "o200k_base"
    folder.mkdir(parents=True)
    write_ranks(folder / "o200k_base.tiktoken.gz", small_ranks())
    assert tokenizer_of("o200k_base").name == "o200k_base"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o200k_base").mkdir()
    assert tokenizer_of("o200k_base").name == "o200k_base"
    with pytest.raises(ValueError, match="has no tokenizer"):
        tokenizer_of("./o200k_base")
    write_ranks(tmp_path / "cl100k_base.tiktoken", small_ranks())
    assert tokenizer_of(".").name == "cl100k_base"


def test_another_ending_and_another_type_are_refused(tmp_path: Path) -> None:
    (tmp_path / "words.bin").write_bytes(b"")
    with pytest.raises(ValueError, match=r"words\.bin must be a tokenizer\.json.*got the ending '\.bin'"):
        load(tmp_path / "words.bin")
    with pytest.raises(TypeError, match=r"tokenizer must be the name of a tokenizer such as 'o200k_base'.*got 5"):
        tokenizer_of(5)


@pytest.mark.parametrize("pattern", ["gpt2", "qwen2"])
@pytest.mark.parametrize("normalizer", [None, {"type": "NFC"}])
def test_objects_of_tokenizers_count_as_they_do(tmp_path: Path, pattern: str, normalizer: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer.from_file(str(written(tmp_path / "tokenizer.json", pattern, normalizer=normalizer)))
    found = tokenizer_of(made)
    assert isinstance(found, BytePairTokenizer)
    made.encode_special_tokens = True
    for text in (TEXT, "re\u0301sume\u0301 e\u0301", "plain"):
        assert count(found, text) == len(made.encode(text, add_special_tokens=False).ids)


def test_tokens_of_text_that_is_not_in_nfc_are_those_of_the_package(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = written(tmp_path / "tokenizer.json", "qwen2", normalizer={"type": "NFC"})
    made = tokenizers.Tokenizer.from_file(str(path))
    made.encode_special_tokens = True
    apart = ["re\u0301sume\u0301 e\u0301", "n\u0303 o\u0302 \u1100\u1161", "\u0344 q\u0323\u0307 end"]
    texts = ["plain", TEXT, apart[0], "", apart[1], "café", apart[2]]
    marked = ["e", "\u0301", "\u1100", "\u1161\u11a8", "e\u0301", "a", "\u0323"]  # in NFC one by one, but not together
    for batch in (texts, texts[::-1], texts[2:3], texts[:2], marked, [*marked, *texts], [*apart, *marked, *apart]):
        for source in (path, made):
            for row, text in zip(pychunk.tokenize(batch, source).to_pylist(), batch, strict=True):
                wanted = made.encode(text, add_special_tokens=False)
                ends = [len(text[:n].encode()) for n in range(len(text) + 1)]
                assert row["ids"] == wanted.ids
                if not unicodedata.is_normalized("NFC", text):  # a part of a character has all of it there
                    spans = [(ends[a], ends[b]) for a, b in wanted.offsets]
                    assert list(zip(row["start_byte"], row["end_byte"], strict=True)) == spans
    with pytest.raises(NotNativeError, match="normalizes text to NFC, and this text is not in NFC"):
        load_byte_pair(path).encode_text(texts[2])


def test_what_is_not_native_is_run_by_the_package(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = written(tmp_path / "tokenizer.json", normalizer={"type": "Lowercase"})
    found = tokenizer_of(path)
    assert isinstance(found, LibraryTokenizer)
    made = tokenizers.Tokenizer.from_file(str(path))
    made.encode_special_tokens = True
    assert count(found) == count(found) == len(made.encode(TEXT, add_special_tokens=False).ids)
    assert [record.message.count("normalizer.type is 'Lowercase'") for record in caplog.records] == [1]


def test_an_encoding_of_tiktoken_counts_as_it_does() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    for pattern in ("o200k", "cl100k"):
        made = tiktoken.Encoding(
            "mine", pat_str=TIKTOKEN[pattern], mergeable_ranks=small_ranks(), special_tokens={"<|end|>": 900}
        )
        found = tokenizer_of(made)
        assert isinstance(found, BytePairTokenizer)
        assert found.name == "mine"
        assert count(found) == len(made.encode_ordinary(TEXT))
    own = tiktoken.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks=small_ranks(), special_tokens={})
    assert isinstance(tokenizer_of(own), FunctionTokenizer)
    assert count(tokenizer_of(own)) == len(own.encode_ordinary(TEXT))


def test_a_tokenizer_of_transformers_counts_as_it_does(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    path = written(tmp_path / "tokenizer.json", "gpt2")
    made = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    assert count(tokenizer_of(made), "a plain text") == len(made.encode("a plain text", add_special_tokens=False))


def test_a_processor_of_sentencepiece_counts_as_it_does(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    (tmp_path / "text.txt").write_text("the cat sat on the mat\nthe dog ran to the cat\n" * 40)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"), model_prefix=str(tmp_path / "m"), vocab_size=18, minloglevel=2
    )
    made = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    for found in (tokenizer_of(made), tokenizer_of(tmp_path / "m.model")):
        assert count(found, "the cat ran") == len(made.encode("the cat ran"))
