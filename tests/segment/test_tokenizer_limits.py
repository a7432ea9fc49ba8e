"""Limits in the tokens of any tokenizer: never over, counted exactly, filled, and with no other effect on chunks."""

from __future__ import annotations

import json
import sysconfig
from collections.abc import Callable
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest
from amounts import amounts
from hypothesis import given, settings
from hypothesis import strategies as st
from test_segment import check_exact
from test_sentencepiece import OPTIONS, vocabulary
from vocabularies import PUBLISHED, TIKTOKEN, published_ranks, small_ranks, write_ranks

import pychunk
from pychunk.encoders.static_encoder import SHIPPED
from pychunk.tokenizers.byte_pair import BytePairTokenizer, ranks_vocabulary
from pychunk.tokenizers.unigram import SentencePieceTokenizer
from pychunk.tokenizers.wordpiece import WordPieceTokenizer

TEXT = (
    "Unfamiliar taxpayers subdivided internationalization. Naïve? Yes: e.g. Dr. Who, at 3.14 p.m. \n\n"
    "# Heading\n- 中文没有空格。他走了。\n\tТекст на русском.  Two  spaces.\u3000Wide. 👩‍👩‍👧 emoji!\r\n"
    f"{'x' * 230} end. A b c.\n\n\n\n{'字' * 120}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
)
TEXTS = [TEXT * 4, "", "One.", TEXT[:120], "word " * 400, "\n\n\n", "aaaa" * 300, "👍🏽" * 100, " " * 500 + "x"]
#: Each method with the options that set its size, beside max_tokens.
METHODS: dict[str, dict[str, Any]] = {
    "fixed": {"size": 15},
    "recursive": {"size": 20},
    "structure": {},
    "topic": {},
    "pic": {},
    "semantic": {"min_tokens": 5},
    "cluster": {},
    "sentence": {"min_tokens": 8},
    "paragraph": {"overlap": 6},
    "page": {},
}
SEPARATED: dict[str, Any] = {"size": 20, "separators": ["\n\n", "\n", " ", ""]}
CASES = [*METHODS.items(), ("fixed", {"size": 15, "overlap": 7}), ("recursive", SEPARATED)]
CASES += [("recursive", {**SEPARATED, "overlap": 8}), ("recursive", {"size": 300, "unit": "characters"})]


@cache
def byte_pair() -> BytePairTokenizer:
    return BytePairTokenizer(ranks_vocabulary(small_ranks().items()), "o200k", "small")


@cache
def pieces() -> SentencePieceTokenizer:
    return SentencePieceTokenizer(vocabulary(3), "pieces")


def count_bytes(text: str) -> int:
    return len(text.encode())


def counted_by(tokenizer: Any) -> Callable[[str], int]:
    if callable(tokenizer):
        return cast("Callable[[str], int]", tokenizer)
    tokenizer = {"byte_pair": byte_pair, "pieces": pieces}[tokenizer]()
    return lambda text: int(tokenizer.count_spans(text.encode(), np.array([0, len(text.encode())], np.int64))[0])


@pytest.fixture
def by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"byte_pair": byte_pair(), "pieces": pieces()}
    monkeypatch.setattr("pychunk.tokenizers.sources._named", made.__getitem__)


def check(texts: list[str], tokenizer: Any, method: str, most: int, options: dict[str, Any]) -> pychunk.ChunkBatch:
    """Check the chunks of texts, and return them."""
    own = counted_by(tokenizer)
    out = pychunk.segment(texts, method, tokenizer=tokenizer, max_tokens=most, **options)
    check_exact(texts, out, overlap="overlap" in options)
    for chunk in out:
        assert chunk.tokens == own(chunk.text)
        assert chunk.tokens <= most or len(chunk.text) == 1
        if "size" in options and options.get("unit", "tokens") == "tokens":
            assert chunk.tokens <= options["size"] or len(chunk.text) == 1
    return out


@pytest.mark.usefixtures("by_name")
@pytest.mark.parametrize("tokenizer", ["byte_pair", "pieces", count_bytes])
@pytest.mark.parametrize(("method", "options"), CASES)
@pytest.mark.parametrize("most", [12, 40])
def test_no_chunk_is_over_and_every_count_is_exact(
    tokenizer: Any, method: str, options: dict[str, Any], most: int
) -> None:
    out = check(TEXTS, tokenizer, method, most, options)
    one = pychunk.segment(
        TEXTS, method, tokenizer=tokenizer, max_tokens=most, placement=pychunk.Placement(threads=1), **options
    )
    assert one.table.equals(out.table)
    alone = pychunk.segment(TEXTS[0], method, tokenizer=tokenizer, max_tokens=most, **options)
    assert alone.texts == [chunk.text for chunk in out.by_document()[0]]


#: Words, marks, and characters that character maps replace. Sentences of them end before white space of all kinds.
WORDS = [
    "Ab",
    "bad",
    "fa",
    "e\u0301",
    "\u0301",
    "\u3000",
    "\u00a0",
    "\u200b",
    "\ufb01",
    "\u2581",
    "\x0b",
    "\x1c",
    "中",
    "X1",
    "👍🏽",
]
SENTENCE_ENDS = [
    ". ",
    ".\n\n",
    "! ",
    "!\n\n",
    "?\u3000",
    ".\u00a0 ",
    "。",
    ". \u200b",
    "\u3000\n\n",
    "a\u0301.\n\n",
    " \x0b\n\n",
    ".  ",
]


@cache
def wordpiece() -> WordPieceTokenizer:
    return WordPieceTokenizer(SHIPPED / "vocab.txt")


@settings(deadline=None, max_examples=150)
@given(
    seed=st.sampled_from([None, *range(len(OPTIONS))]),
    sentences=st.lists(
        st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.sampled_from(SENTENCE_ENDS)), max_size=12
    ),
    most=st.integers(4, 60),
)
def test_sums_of_sentences_are_the_counts_of_chunks(
    seed: int | None, sentences: list[tuple[list[str], str]], most: int
) -> None:
    """Some counters keep the counts of sentences, and add them up for a chunk if nothing joins the sentences."""
    made = wordpiece() if seed is None else SentencePieceTokenizer(vocabulary(seed, **OPTIONS[seed]), "pieces")
    text = "".join(f"{' '.join(words)}{end}" for words, end in sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pychunk.tokenizers.sources._named", lambda name: made)
        for method in ("recursive", "sentence", "paragraph"):
            cut = pychunk.Segmenter(method, tokenizer="made", max_tokens=most, min_tokens=most // 2)
            for chunk in cut(text):
                data = np.frombuffer(chunk.text.encode(), np.uint8)
                assert chunk.tokens == made.count(data, np.array([0, len(data)]))[0], (method, chunk)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=40)
@given(text=st.text(st.sampled_from("ab c.\n\n,é中👍🏽\u0301 \t0'sX"), max_size=200), most=st.integers(1, 30))
def test_limits_hold_on_any_text(method: str, text: str, most: int) -> None:
    options = {name: value for name, value in METHODS[method].items() if name == "size"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pychunk.tokenizers.sources._named", {"byte_pair": byte_pair()}.__getitem__)
        check([text], "byte_pair", method, most, options)


@pytest.mark.usefixtures("by_name")
@pytest.mark.parametrize("tokenizer", ["byte_pair", "pieces", count_bytes])
@pytest.mark.parametrize(
    ("method", "options"), [("sentence", {}), ("page", {}), ("fixed", {"size": 99, "unit": "words"})]
)
def test_tokens_are_counted_without_a_limit(tokenizer: Any, method: Any, options: dict[str, Any]) -> None:
    own = counted_by(tokenizer)
    plain = pychunk.segment(TEXTS, method, **options)
    out = pychunk.segment(TEXTS, method, tokenizer=tokenizer, **options)
    assert out.texts == plain.texts
    assert out.table["tokens"].to_pylist() == [own(text) for text in out.texts]
    special = pychunk.segment(TEXTS, method, tokenizer=pychunk.Tokenizer(tokenizer, special=2), **options)
    assert special.table["tokens"].to_pylist() == [own(text) + 2 for text in out.texts]
    assert pychunk.segment([], method, tokenizer=tokenizer, **options).texts == []


@pytest.mark.usefixtures("by_name")
def test_a_tokenizer_changes_nothing_but_sizes() -> None:
    """Cuts, vectors and scores are those of the encoder, so without a limit only the column of tokens differs.

    For ``topic`` the size is a limit, too.
    """
    for method in ("pic", "semantic", "sentence", "paragraph"):
        options: dict[str, Any] = {"max_tokens": None, "min_tokens": 0, "vectors": "chunk"}
        plain = pychunk.segment(TEXTS, method, **options).table
        other = pychunk.segment(TEXTS, method, tokenizer="byte_pair", **options).table
        assert plain.drop_columns("tokens").equals(other.drop_columns("tokens")), method
        assert not plain["tokens"].equals(other["tokens"])


def test_a_changed_vocabulary_counts_at_once(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "gpt2.tiktoken", {bytes([byte]): byte for byte in range(256)})
    text = "the cat on the mat"
    assert pychunk.segment(text, "fixed", tokenizer=path).table["tokens"].to_pylist() == [len(text)]
    write_ranks(path, {**{bytes([byte]): byte for byte in range(256)}, b"th": 256, b"the": 257})
    assert pychunk.segment(text, "fixed", tokenizer=path).table["tokens"].to_pylist() == [len(text) - 4]


def test_the_reference_refuses_what_it_cannot_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_ranks(tmp_path / "gpt2.tiktoken", small_ranks())
    monkeypatch.setenv("PYCHUNK_BACKEND", "reference")
    with pytest.raises(ValueError, match="counts only the tokens of WordPiece encoders; got the tokenizer gpt2: unset"):
        pychunk.segment("One.", "fixed", tokenizer=path)
    assert pychunk.segment("One.", "fixed").table["tokens"].to_pylist() == [2]


@pytest.mark.usefixtures("by_name")
def test_other_options_than_names_of_tokenizers_are_refused() -> None:
    with pytest.raises(TypeError, match="tokenizer must be the name of a tokenizer"):
        pychunk.Segmenter("fixed", tokenizer=5)


#: The methods that cut real text, with the options beside max_tokens that set the size of chunks.
REAL = {"recursive": ("size",), "fixed": ("size",), "structure": (), "topic": (), "pic": ()}


def texts_of(data: Path, share: float) -> list[str]:
    """Return articles of Wikipedia, paragraphs of XQuAD in all languages, modules of Python, and runs of emoji."""
    table = pq.read_table(data / "wiki" / "articles.parquet", columns=["text"])
    found = table.slice(0, max(1, int(1500 * share)))["text"].to_pylist()
    for path in sorted((data / "xquad").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))["data"]
        found += islice((p["context"] for a in content for p in a["paragraphs"]), max(1, int(240 * share)))
    code = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[: max(1, int(160 * share))]
    return [*found, *(path.read_text(encoding="utf-8") for path in code), "👍🏽👩‍👩‍👧 " * 300, "🇫🇷🇩🇪" * 400]


Counter = Callable[[list[str]], list[int]]


def encoding_of_tiktoken(name: str, folder: Path) -> tuple[Any, Counter]:
    """Return a published vocabulary for pychunk, and the function by which tiktoken counts its tokens."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks, pattern = published_ranks(PUBLISHED[name]), TIKTOKEN[name]
    made = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    if name in ("o200k", "cl100k"):
        return write_ranks(folder / f"{name}_base.tiktoken", ranks), lambda texts: list(
            map(len, made.encode_ordinary_batch(texts))
        )
    return made, lambda texts: list(map(len, made.encode_ordinary_batch(texts)))


def trained_by_tokenizers(name: str, folder: Path, texts: list[str]) -> tuple[Any, Counter]:
    """Return a file of the package tokenizers, trained on the texts, and the function by which it counts tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    special, sizes = ["<unk>"], {"vocab_size": 4000, "show_progress": False}
    if name == "unigram":
        made = tokenizers.Tokenizer(tokenizers.models.Unigram())
        made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        trainer = tokenizers.trainers.UnigramTrainer(special_tokens=special, unk_token="<unk>", **sizes)
    else:
        made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="<unk>"))
        made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=name == "uncased")
        made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
        trainer = tokenizers.trainers.WordPieceTrainer(special_tokens=special, **sizes)
    made.train_from_iterator([text[:2000] for text in texts][:400], trainer)
    made.save(str(folder / "tokenizer.json"))
    made.encode_special_tokens = True
    return folder, lambda texts: [len(each.ids) for each in made.encode_batch(texts, add_special_tokens=False)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["o200k", "cl100k", "gpt2", "llama3", "qwen2", "unigram", "cased", "uncased"])
@pytest.mark.parametrize("share", amounts(0.02, 1.0))
def test_real_text_counted_by_the_library_itself(data: Path, tmp_path: Path, share: float, name: str) -> None:
    texts = texts_of(data, share)
    if name in TIKTOKEN:
        tokenizer, count = encoding_of_tiktoken(name, tmp_path)
    else:
        tokenizer, count = trained_by_tokenizers(name, tmp_path, texts_of(data, 0.02))
    chunks = 0
    for size, (method, own) in product((32, 128, 512), REAL.items()):
        options = dict.fromkeys(("max_tokens", *own), size)
        out = pychunk.segment(texts, method, tokenizer=tokenizer, **options)
        counts = count(out.texts)
        assert out.table["tokens"].to_pylist() == counts
        assert max(counts) <= size
        chunks += len(out)
    print(f"{name}: {chunks:,} chunks, none over the limit, each count exact")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["o200k", "cl100k", "gpt2", "llama3", "qwen2"])
@pytest.mark.parametrize("share", amounts(0.05, 1.0))
def test_chunks_of_prose_are_filled_as_with_the_native_tokenizer(
    data: Path, tmp_path: Path, share: float, name: str
) -> None:
    tokenizer, _ = encoding_of_tiktoken(name, tmp_path)
    prose = texts_of(data, share)[: int(1500 * share)]
    for size in (32, 128, 512):
        found = pychunk.segment(prose, "recursive", tokenizer=tokenizer, size=size)
        plain = pychunk.segment(prose, "recursive", size=size)
        fill, usual = (float(np.mean(each.table["tokens"].to_numpy())) / size for each in (found, plain))
        assert fill > (0.78 if size > 32 else usual - 0.005)
