"""Recursive splitting: literal cases, guarantees on any text, equality with LangChain and the reference."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk import _core
from pychunk._engine.reference.text.recursive import split_recursive as reference

USUAL = ["\n\n", "\n", " ", ""]
SEPARATORS = [
    USUAL,
    ["\n\n", "\n", " "],
    [" "],
    [""],
    ["\n\n"],
    [". ", " ", ""],
    ["ab", "b", ""],
    ["aba", "a", " "],
    ["--", "-", ""],
    ["\n", "\n\n", " ", ""],
    ["[a", "(", ".*", "\\", ""],
    ["é", "日 ", " "],
    [" ", " ", ""],
]
LENGTHS = {
    "characters": len,
    "words": lambda s: len(s.split()),
    "tokens": lambda s: sum(not c.isspace() for c in s),  # a token starts at each character that is not white space
}
DATA = Path(os.environ.get("PYCHUNK_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))


def native(text, *, size, overlap=0, separators=USUAL, unit="characters", token_starts=()):
    """Return spans and sizes of one document in characters; fail if a span cuts a character."""
    borders = np.cumsum([0, *(len(c.encode()) for c in text)])
    raw = np.frombuffer(text.encode(), np.uint8)
    spans, piece_offsets, sizes = _core.split_recursive(
        raw,
        np.array([0, raw.size]),
        size,
        overlap,
        separators,
        unit,
        token_starts=borders[np.asarray(token_starts, np.int64)],
    )
    assert piece_offsets.tolist() == [0, len(spans)]
    index = np.searchsorted(borders, spans)
    assert (borders[index] == spans).all()
    return [tuple(span) for span in index.tolist()], sizes.tolist()


def pieces(text, **options):
    return [text[start:end] for start, end in native(text, **options)[0]]


def solid(text):
    return [i for i, c in enumerate(text) if not c.isspace()]


# ---- literal cases ----


def test_overlap_repeats_whole_splits():
    text = "aa bb cc dd ee"
    assert pieces(text, size=9, overlap=4) == ["aa bb cc", "cc dd ee"]
    assert pieces(text, size=3, overlap=1, unit="words") == ["aa bb cc", "cc dd ee"]


def test_characters_are_counted_not_bytes():
    assert pieces("éé日日😀😀", size=2) == ["éé", "日日", "😀😀"]


def test_tokens_are_never_cut_where_a_border_can_be_chosen():
    # The tokens are abc|def|g; the word is too long for two of them.
    assert pieces("abcdefg", size=2, unit="tokens", token_starts=[0, 3, 6]) == ["abcdef", "g"]
    assert pieces("abcdefg", size=2, overlap=1, unit="tokens", token_starts=[0, 3, 6]) == ["abcdef", "defg"]
    # Only a character of three tokens exceeds the size.
    assert native("a日b", size=2, unit="tokens", token_starts=[0, 1, 1, 1, 2]) == (
        [(0, 1), (1, 2), (2, 3)],
        [1, 3, 1],
    )


def test_many_documents_equal_one_by_one():
    texts = ["One two three.", "", "\n", "Four\n\nfive six é seven", "x" * 200]
    raw = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, raw)])
    data = np.frombuffer(b"".join(raw), np.uint8)
    spans, piece_offsets, sizes = _core.split_recursive(data, offsets, 10, 4, USUAL)
    for i, one in enumerate(raw):
        alone = _core.split_recursive(np.frombuffer(one, np.uint8), np.array([0, len(one)]), 10, 4, USUAL)
        part = slice(piece_offsets[i], piece_offsets[i + 1])
        assert (spans[part] - offsets[i]).tolist() == alone[0].tolist()
        assert sizes[part].tolist() == alone[2].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 0}, "size must be >= 1, got 0"),
        ({"size": 5, "overlap": 6}, "overlap must be between 0 and size .5., got 6"),
        ({"size": 5, "overlap": -1}, "overlap must be between"),
        ({"size": 5, "separators": []}, "separators must hold at least one"),
        ({"size": 5, "unit": "bytes"}, "unit must be characters, words or tokens; got 'bytes'"),
        ({"size": 5, "unit": "tokens"}, "needs token_starts"),
        ({"size": 5, "token_starts": np.array([3, 1])}, "token_starts must not decrease"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        _core.split_recursive(
            np.frombuffer(b"abc", np.uint8), np.array([0, 3]), **{"overlap": 0, "separators": USUAL, **options}
        )


def test_wrong_offsets():
    for offsets in ([], [0, 4], [-1, 3], [2, 1]):
        with pytest.raises(ValueError, match="offsets must"):
            _core.split_recursive(np.frombuffer(b"abc", np.uint8), np.array(offsets, np.int64), 5, 0, USUAL)


# ---- properties and the reference ----

ALPHABETS = st.sampled_from(
    [
        "ab .\n",
        "ab  \n\n\r\t-[(.*\\",
        "aé日 \u3000\u2003\x85\n\x1c\u2028",
        "😀a\n -",
        "a\u00a0\u205f\u1680Âá‐。",
    ]
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    ALPHABETS.flatmap(lambda letters: st.text(st.sampled_from(letters), max_size=300)),
    # Long runs cross the 64-byte blocks that the native code reads.
    st.lists(
        st.builds(
            str.__mul__,
            st.sampled_from(["a", "word ", " ", "\n", "\r\n", "é", "\u3000", "日"]),
            st.integers(1, 90),
        ),
        max_size=8,
    ).map("".join),
)


@st.composite
def cases(draw):
    text = draw(TEXTS)
    size = draw(st.integers(1, 12) | st.integers(1, 150))
    where = st.lists(st.integers(0, max(0, len(text) - 1)), max_size=40 if text else 0).map(sorted)
    return text, {
        "size": size,
        "overlap": draw(st.just(0) | st.integers(0, size)),
        "unit": draw(st.sampled_from(list(LENGTHS))),
        "separators": draw(st.sampled_from(SEPARATORS)),
        "token_starts": draw(where | st.just(solid(text))),
    }


@pytest.mark.slow
@given(cases())
@settings(max_examples=250, deadline=None)
def test_guarantees(case):
    text, options = case
    spans, sizes = native(text, **options)
    covered = np.zeros(len(text), int)
    for start, end in spans:
        assert text[start:end].strip() == text[start:end] != ""
        covered[start:end] += 1
    times = covered[solid(text)]
    assert (times >= 1).all()
    if options["overlap"] == 0:
        assert (times == 1).all()
    for before, after in pairwise(spans):
        assert before[0] <= after[0]
        assert before[1] <= after[1]

    starts = np.asarray(options["token_starts"], np.int64)
    for (start, end), size in zip(spans, sizes, strict=True):
        if options["unit"] == "tokens":
            assert size == ((starts >= start) & (starts < end)).sum()
        else:
            assert size == LENGTHS[options["unit"]](text[start:end])
        if options["separators"][-1] == "":
            assert size <= options["size"] or end - start == 1


@given(cases())
@settings(max_examples=250, deadline=None)
def test_equals_the_reference(case):
    text, options = case
    assert native(text, **options)[0] == reference(text, **options)


@pytest.mark.parametrize("unit", ["characters", "words"])
@pytest.mark.parametrize("letter", ["x", "é", " ", "\n", "x "])
def test_a_long_line_is_split_in_linear_time(letter, unit):
    # The text has 4 MB; quadratic time would take hours.
    text = np.frombuffer((letter * (4_000_000 // len(letter.encode()))).encode(), np.uint8)
    spans, _, sizes = _core.split_recursive(text, np.array([0, text.size]), 1000, 100, USUAL, unit)
    assert (len(spans) == 0) == letter.isspace()
    assert (sizes <= 1000).all()


def test_same_result_on_every_instruction_set():
    code = """if True:
        import hashlib, numpy as np
        from pychunk import _core
        rng = np.random.default_rng(7)
        text = "".join(rng.choice(list("aaabcdé日😀  \\n\\u3000\\u2003\\u2028\\x85\\xa0-"), 40_000)).encode()
        text = np.frombuffer(text, np.uint8)
        digest = hashlib.sha256()
        for unit in ("characters", "words"):
            for separators in (["\\n\\n", "\\n", " ", ""], ["--", "aa", " "]):
                for result in _core.split_recursive(text, np.array([0, text.size]), 50, 10, separators, unit):
                    digest.update(result.tobytes())
        print(_core.isa(), digest.hexdigest())
    """
    digests = {}
    for isa in _core.available_isas():
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYCHUNK_ISA": isa},
            capture_output=True,
            cwd=os.sep,
            check=True,
        )
        ran, digest = done.stdout.decode().split()
        digests[ran] = digest
    assert list(digests) == _core.available_isas()
    assert len(set(digests.values())) == 1


# ---- LangChain ----


def langchain(text, *, size, overlap, separators, unit):
    splitters = pytest.importorskip("langchain_text_splitters", reason="langchain-text-splitters is not installed")
    splitter = splitters.RecursiveCharacterTextSplitter(
        separators=separators, chunk_size=size, chunk_overlap=overlap, length_function=LENGTHS[unit]
    )
    # LangChain does not strip a split that it cannot cut further, even if it is only white space.
    return [chunk.strip() for chunk in splitter.split_text(text) if chunk.strip()]


@given(cases(), st.sampled_from(SEPARATORS))
@settings(max_examples=1500, deadline=None)
def test_equals_langchain_on_random_text(case, separators):
    text, options = case
    chosen = {
        "size": options["size"],
        "overlap": options["overlap"],
        "unit": options["unit"],
        "separators": separators,
    }
    assert pieces(text, token_starts=solid(text), **chosen) == langchain(text, **chosen)


@pytest.fixture(scope="module")
def articles():
    parquet = pytest.importorskip("pyarrow.parquet")
    path = DATA / "wiki" / "articles.parquet"
    if not path.exists():
        pytest.skip(f"no Wikipedia articles at {path}")
    texts = next(parquet.ParquetFile(path).iter_batches(batch_size=40, columns=["text"]))
    return [text.as_py() for text in texts.column(0)]


@pytest.mark.parametrize(
    ("size", "overlap", "unit", "separators"),
    [
        (1000, 0, "characters", USUAL),
        (1000, 200, "characters", USUAL),
        (100, 99, "characters", USUAL),
        (300, 50, "characters", ["\n\n", "\n", ". ", ", ", " ", ""]),
        (300, 30, "characters", ["(", "[", "e", "th"]),
        (7, 3, "characters", USUAL),
        (100, 0, "words", USUAL),
        (100, 20, "words", ["\n", ". ", " "]),
        (512, 64, "tokens", USUAL),
    ],
)
def test_equals_langchain_on_articles(articles, size, overlap, unit, separators):
    options = {"size": size, "overlap": overlap, "unit": unit, "separators": separators}
    for text in articles[: 40 if unit != "tokens" else 8]:
        assert pieces(text, token_starts=solid(text), **options) == langchain(text, **options)
