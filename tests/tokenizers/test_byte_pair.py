"""Byte-level BPE: equal to the reference on any text, to tiktoken on real text, and no damaged file is accepted."""

from __future__ import annotations

import hashlib
import json
import sys
import sysconfig
import time
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import printed_by_each
from vocabularies import PUBLISHED, TIKTOKEN, published_file, published_ranks, small_ranks, write_ranks

from pychunk import _core
from pychunk._engine.data.patterns import PATTERNS, pattern_name
from pychunk._engine.reference.text import byte_pair as reference
from pychunk.tokenizers.byte_pair import BytePairTokenizer, load_ranks, ranks_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tiktoken

#: Characters at which patterns decide: cases, marks, digits, white space, apostrophes, line breaks, long s.
DECIDING = (
    "aaABzZ'’ſsStTlLvVeErRmMdD  \t\n\r\n\v\f\x1c\x85\u00a0\u3000\u2028/--\"“¿.,!0123٣५Ⅷ½"
    "éÉßǅʰªʼ中文ไทยक्षि\u0301\u0301\u20dd한국어😀👍🏽\0"
)
TEXTS = st.one_of(
    st.text(st.sampled_from(DECIDING), max_size=80),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(["a", " ", "\n", "'s", "1", "!", "é", "字", "\u0301", "  ", "ABC", "/"])).map("".join),
    st.builds(lambda part, times: part * times, st.text(st.sampled_from(DECIDING), max_size=4), st.integers(0, 90)),
)


def utf8(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def whole(data: np.ndarray) -> np.ndarray:
    return np.array([0, len(data)], np.int64)


@cache
def small(pattern: str) -> BytePairTokenizer:
    return BytePairTokenizer(ranks_vocabulary(small_ranks().items()), pattern, "small")


@cache
def published(pattern: str) -> BytePairTokenizer:
    return BytePairTokenizer(ranks_vocabulary(published_ranks(PUBLISHED[pattern]).items()), pattern, pattern)


@cache
def oracle(pattern: str) -> tiktoken.Encoding:
    library = pytest.importorskip("tiktoken", reason="tiktoken is the oracle")
    ranks = published_ranks(PUBLISHED[pattern])
    return library.Encoding(pattern, pat_str=TIKTOKEN[pattern], mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=120)
@given(TEXTS)
def test_pretokens_are_the_matches_of_the_pattern(pattern: str, text: str) -> None:
    ends = small(pattern)._core.pretokens(utf8(text)).tolist()
    expected = np.cumsum([len(part.encode()) for part in reference.pretokens(text, pattern)]).tolist()
    assert ends == expected


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=120)
@given(st.lists(TEXTS, max_size=6))
def test_tokens_equal_the_reference_span_by_span(pattern: str, texts: list[str]) -> None:
    data = utf8("".join(texts))
    bounds = np.cumsum([0, *(len(text.encode()) for text in texts)]).astype(np.int64)
    tokenizer = small(pattern)
    expected, counts = [], []
    for text, begin in zip(texts, bounds.tolist(), strict=False):
        found = reference.encode(text, small_ranks(), pattern)
        expected += [(i, begin + first, begin + last) for i, first, last in found]
        counts.append(len(found))
    for threads in (1, 3):
        tokens, spans = tokenizer.encode(data, bounds, threads=threads)
        assert list(zip(tokens.ids.tolist(), *spans.T.tolist(), strict=True)) == expected
        assert tokens.offsets.tolist() == [0, *np.cumsum(counts).tolist()]
        assert tokens.counts.tolist() == counts
    assert tokenizer.tokens_of(data, bounds).ids.tolist() == [i for i, _, _ in expected]
    assert tokenizer.count(data, bounds).tolist() == counts


@pytest.mark.parametrize("pattern", PATTERNS)
def test_pretokens_do_not_depend_on_where_a_tile_ends(pattern: str) -> None:
    words = ["don't ", "WORDs", " 中文字", "\u0301é", "123456", "!!\r\n/\n", " \n\n  ", "x" * 70, " " * 70, "é" * 40]
    for shift in range(90):
        text = " " * (8192 - 90 + shift) + "".join(words) * 3 + "a" * 8200 + "".join(reversed(words)) + "9" * 9000
        ends = small(pattern)._core.pretokens(utf8(text)).tolist()
        expected = np.cumsum([len(part.encode()) for part in reference.pretokens(text, pattern)]).tolist()
        assert ends == expected, shift


def test_each_instruction_set_gives_the_same_tokens() -> None:
    code = f"""
        import sys
        sys.path[:0] = {[path for path in sys.path if path]}
        import hashlib, random
        import test_byte_pair as tests
        chosen = random.Random(5)
        data = tests.utf8("".join(chosen.choice(tests.DECIDING) for _ in range(60_000)))
        found = hashlib.sha256()
        for pattern in tests.PATTERNS:
            tokens, spans = tests.small(pattern).encode(data, tests.whole(data))
            found.update(tokens.ids.tobytes() + spans.tobytes())
        print(found.hexdigest())
    """
    assert len(printed_by_each(dedent(code))) == 1


def test_a_million_letters_take_no_quadratic_time() -> None:
    tokenizer, seconds = small("o200k"), []
    for size in (100_000, 1_000_000):
        data = utf8("a" * size)
        begin = time.perf_counter()
        tokens, spans = tokenizer.encode(data, whole(data))
        seconds.append(time.perf_counter() - begin)
        assert (spans[0, 0], spans[-1, 1]) == (0, size)
        assert (spans[1:, 0] == spans[:-1, 1]).all()
        assert len(tokens.ids) == tokenizer.count(data, whole(data))[0]
    assert seconds[1] < 40 * seconds[0] + 0.5


def test_long_words_merge_as_short_ones_do() -> None:
    text = "".join(chr(97 + i * i % 7) for i in range(3000)) + "the" * 500
    for size in (15, 16, 17, 63, 64, 65, 66, 500, 4000):
        found = reference.encode(text[:size], small_ranks(), "llama3")
        data = utf8(text[:size])
        tokens, spans = small("llama3").encode(data, whole(data))
        assert list(zip(tokens.ids.tolist(), *spans.T.tolist(), strict=True)) == found


def test_tokens_that_merges_cannot_make_are_found_as_whole_words() -> None:
    assert small("llama3").encode_text("zqzq") == [500]
    assert small("llama3").encode_text("zqzqzqzq") == [*b"zqzqzqzq"]


def test_ranks_that_need_tokens_of_higher_ranks() -> None:
    """A vocabulary that training never makes: "abc" has a lower rank than "ab", without which it cannot be made."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abc": 256, b"ab": 257, b"bcd": 258, b"abcabc": 259}
    tokenizer = BytePairTokenizer(ranks_vocabulary(ranks.items()), "llama3", "odd")
    for text in ("abc", "abcabc", "xabcd", "abcabcabcd", "xabcabcab"):
        assert tokenizer.encode_text(text) == [i for i, _, _ in reference.encode(text, ranks, "llama3")]


def test_special_tokens_are_text_unless_allowed() -> None:
    vocabulary = ranks_vocabulary(small_ranks().items())
    tokenizer = BytePairTokenizer(vocabulary, "o200k", "small", {"<tool>": 600}, {"<|end|>": 601, "<|end|>!": 602})
    text = "the <tool>cat<|end|>! "
    plain = small("o200k")
    assert tokenizer.encode_text(text) == [
        *plain.encode_text("the "), 600, *plain.encode_text("cat<|end|>! ")
    ]  # fmt: skip
    allowed = tokenizer.allow(["<|end|>", "<|end|>!"])
    data = utf8(text)
    tokens, spans = allowed.encode(data, np.array([0, 6, 18, len(data)], np.int64))
    expected = [*plain.encode_text("the "), *plain.encode_text("<t"), *plain.encode_text("ool>cat"), 602]
    assert tokens.ids[: tokens.offsets[1]].tolist() == [*plain.encode_text("the "), *plain.encode_text("<t")]
    assert (spans[1:, 0] == spans[:-1, 1]).all()
    assert spans[-1, 1] == len(data)
    whole_tokens = allowed.tokens_of(data, whole(data))
    assert whole_tokens.ids.tolist()[-2] == 602
    assert allowed.count(data, whole(data)).tolist() == [len(whole_tokens.ids)]
    assert expected[-1] in whole_tokens.ids.tolist()
    assert allowed.fingerprint != tokenizer.fingerprint
    with pytest.raises(ValueError, match=r"has no special token '<\|no\|>'"):
        tokenizer.allow(["<|no|>"])


def test_fingerprint_depends_on_the_vocabulary_and_the_pattern() -> None:
    other = BytePairTokenizer(ranks_vocabulary([*small_ranks().items(), (b"new one", 777)]), "o200k", "other")
    found = {small("o200k").fingerprint, small("gpt2").fingerprint, other.fingerprint}
    assert len(found) == 3
    assert other.equals(other)
    assert not other.equals(small("o200k"))
    assert all(len(each) == 16 and set(each) <= set("0123456789abcdef") for each in found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({b"": 900}, "token 900 must have 1 to 65536 bytes, got 0"),
        ({b"x" * 70_000: 900}, "must have 1 to 65536 bytes, got 70000"),
        ({b"qq": 3}, "two tokens have the id 3"),
        ({b"a": None}, "byte 97 is no token"),
    ],
)
def test_a_damaged_vocabulary_is_an_error(changes: dict[bytes, int | None], message: str) -> None:
    ranks = {token: rank for token, rank in (small_ranks() | changes).items() if rank is not None}
    with pytest.raises(ValueError, match=message):
        BytePairTokenizer(ranks_vocabulary(ranks.items()), "gpt2", "damaged")


def test_duplicate_tokens_are_an_error() -> None:
    with pytest.raises(ValueError, match="tokens 97 and 900 are the same bytes"):
        BytePairTokenizer(ranks_vocabulary([*small_ranks().items(), (b"a", 900)]), "gpt2", "twice")


@pytest.mark.parametrize("name", ["small.tiktoken", "small.tiktoken.gz"])
def test_a_file_of_ranks(tmp_path: Path, name: str) -> None:
    tokenizer = load_ranks(write_ranks(tmp_path / name, small_ranks()), "cl100k")
    assert tokenizer.name == "small"
    assert tokenizer.fingerprint == small("cl100k").fingerprint
    assert tokenizer.vocabulary_size == len(small_ranks())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"YQ== 0\n%%%% 1\n", "line 2 must be a token in base64 and its rank"),
        (b"YQ==\n", "line 1 must be"),
        (b"YQ== -1\n", "the rank of line 1 must be below"),
        (b"YQ== 99999999999\n", "the rank of line 1 must be below"),
        (b"\x1f\x8b\x08broken", "the compressed data is damaged"),
        (b"YQ== 0\n", r"bad\.tiktoken: .*byte 0 is no token"),
    ],
)
def test_a_damaged_file_of_ranks_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.tiktoken"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        load_ranks(path, "cl100k")
    assert str(path) in str(error.value)


def test_arguments_are_checked() -> None:
    data = utf8("aé")
    with pytest.raises(ValueError, match="bounds must be between characters, got 2"):
        small("gpt2").encode(data, np.array([0, 2, 3], np.int64))
    with pytest.raises(ValueError, match="the last of bounds must be at most 3"):
        small("gpt2").encode(data, np.array([0, 4], np.int64))
    with pytest.raises(ValueError, match="must be valid UTF-8; got byte 0xff at 1"):
        small("gpt2").encode(np.array([97, 255], np.uint8), np.array([0, 2], np.int64))
    with pytest.raises(ValueError, match="pattern must be one of gpt2"):
        load_ranks(Path("nothing"), "other")
    with pytest.raises(ValueError, match="the pattern must be gpt2"):
        _core.BytePair(b"", np.zeros(1, np.int64), np.zeros(0, np.int32), None, True, "other")
    tokens, count = bytes(range(256)) + b"xx", 257
    offsets = np.array([*range(257), 258], np.int64)
    with pytest.raises(ValueError, match="merges: row 0 must make the token of both parts"):
        _core.BytePair(tokens, offsets, np.arange(count, dtype=np.int32), np.array([1, 2, 256], np.int32), True, "gpt2")


def test_each_text_of_a_pattern_has_its_name() -> None:
    assert {pattern_name(text) for texts in PATTERNS.values() for text in texts} == set(PATTERNS)
    assert all(pattern_name(text) == name for name, text in TIKTOKEN.items())
    assert pattern_name(r"\w+") is None


# ---- tiktoken ----


def real_texts(data: Path, step: int) -> Iterator[str]:
    """Yield articles of Wikipedia, texts of XQuAD in all its languages, and source code of Python's library."""
    articles = data / "wiki" / "articles.parquet"
    if articles.exists():
        yield from pq.read_table(articles, columns=["text"])["text"].to_pylist()[::step]
    for file in sorted((data / "xquad").glob("*.json")):
        for article in json.loads(file.read_text(encoding="utf-8"))["data"][:: max(1, step // 10)]:
            yield "\n\n".join(part["context"] for part in article["paragraphs"])
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:: max(1, step // 10)]:
        yield file.read_text(encoding="utf-8", errors="replace")


def check_equal(pattern: str, texts: list[str]) -> None:
    """Check ids, offsets and counts of all texts, each of which is a span."""
    encoding, tokenizer = oracle(pattern), published(pattern)
    data = utf8("".join(texts))
    bounds = np.cumsum([0, *(len(text.encode()) for text in texts)]).astype(np.int64)
    expected = [encoding.encode_ordinary(text) for text in texts]
    tokens, spans = tokenizer.encode(data, bounds)
    for i, ids in enumerate(expected):
        assert tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]].tolist() == ids, texts[i][:80]
    lengths = [len(encoding.decode_single_token_bytes(i)) for ids in expected for i in ids]
    ends = np.cumsum(lengths)
    assert (spans[:, 1] == ends).all()
    assert (spans[:, 0] == ends - lengths).all()
    assert tokenizer.count(data, bounds, threads=2).tolist() == [len(ids) for ids in expected]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_real_texts_equal_tiktoken(pattern: str, data: Path) -> None:
    check_equal(pattern, list(real_texts(data, 200)))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_real_texts_equal_tiktoken(pattern: str, data: Path) -> None:
    texts = list(real_texts(data, 1))
    for first in range(0, len(texts), 500):
        check_equal(pattern, texts[first : first + 500])


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=100)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_any_text_equals_tiktoken(pattern: str, texts: list[str]) -> None:
    check_equal(pattern, texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", [name if name == "o200k" else pytest.param(name, marks=pytest.mark.long) for name in PATTERNS]
)
def test_every_character_equals_tiktoken(pattern: str) -> None:
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    for around in ("{}", "a{}A1 {}'s", "A{}B"):
        check_equal(
            pattern, ["".join(around.format(c, c) for c in every[i : i + 997]) for i in range(0, len(every), 997)]
        )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "pattern"), [("o200k_base", "o200k"), ("cl100k_base", "cl100k")])
def test_published_files_of_ranks(name: str, pattern: str) -> None:
    tokenizer = load_ranks(published_file(name), pattern)
    assert tokenizer.fingerprint != hashlib.sha256(b"").hexdigest()[:16]
    assert sorted(tokenizer.encode_text("hello world")) == sorted(published(pattern).encode_text("hello world"))
