"""The words of blocks as input of a noise model: the native core equals the reference on any text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk._engine import native as _native
from pychunk._engine.data.ragged import offsets_of
from pychunk._engine.engine import engine
from pychunk.parsing.html import noise_features

_PIECES = st.one_of(
    st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=6),
    st.sampled_from([*sorted(noise_features.STOP_WORDS)[::9], "2024", "٣٤", "²", "1½", "Ⅷ", "(a)", "“é”", "…", "?!"]),
    st.sampled_from([" ", " ", "\n", "\u3000", "\x1c", "ΑΣ ", "İ "]),
)


def words_of(bodies: list[str], backend: str) -> tuple:
    written = [body.encode("utf-8", "replace") for body in bodies]
    text, offsets = np.frombuffer(b"".join(written), np.uint8), offsets_of(list(map(len, written)))
    kept = {"first": noise_features.FIRST_WORDS, "last": noise_features.LAST_WORDS}
    return engine(backend).block_words(text, offsets, noise_features._STOP_LINES, noise_features._STRIPPED, **kept)


def native(bodies: list[str]) -> tuple:
    return words_of(bodies, "native")


def check(bodies: list[str]) -> None:
    for found, slow in zip(native(bodies), words_of(bodies, "reference"), strict=True):
        assert found.dtype == slow.dtype
        assert found.tolist() == slow.tolist()


@pytest.mark.slow
@given(st.lists(st.lists(_PIECES, max_size=50).map(lambda pieces: "".join(pieces).lower()), max_size=5))
@settings(max_examples=200)
def test_words_are_those_of_the_reference(bodies: list[str]) -> None:
    check(bodies)


def test_marks_space_and_digits_are_pythons() -> None:
    # The native core has the digits of Unicode 14. It takes later ones, all above U+FFFF, for letters.
    every = [chr(code) for code in range(1, 0x3100)] + [chr(code) for code in range(0xFF00, 0x10000)]
    check([f"{each}1{each} {each}" for each in every])
    words, stops, hashed, ends, hashes = native(["the (7) 12ab, 99", "", "…", " ".join("x" * 40)])
    assert words.tolist() == [4, 0, 1, 40]
    assert stops.tolist() == [1, 0, 0, 0]
    assert hashed.tolist() == [4, 0, 0, 16]
    assert ends.tolist() == [0, 1, 1, 0]
    assert hashes[:4].tolist() == [noise_features.word_hash(word) for word in ("the", "0", "12ab", "00")]
    assert hashes.dtype == np.uint32
    check(["中国 is two", "ไทย", "한국어 문장"])
    assert native(["中国 is two", "ไทย", "한국어 문장"])[0].tolist() == [4, 3, 2]  # counted as sizes in words are


def test_first_and_last_words_may_be_none() -> None:
    text, offsets = np.frombuffer(b"one two three four", np.uint8), np.array([0, 18])
    for first, last, wanted in ((1, 0, ["one"]), (0, 1, ["four"]), (0, 0, []), (2, 1, ["one", "two", "four"])):
        _, _, hashed, _, hashes = _native.block_words(text, offsets, "", "", first=first, last=last)
        assert hashes.tolist() == [noise_features.word_hash(word) for word in wanted]
        assert hashed.tolist() == [len(wanted)]
    with pytest.raises(ValueError, match="0 or more"):
        _native.block_words(text, offsets, "", "", first=-1, last=0)


def lower(text: str) -> str | None:
    found = _native.lower_of_text(np.frombuffer(text.encode("utf-8", "replace"), np.uint8))
    return None if found is None else found.tobytes().decode()


def test_lower_case_is_pythons_or_unknown() -> None:
    unknown = 0
    for first in range(0, 0x20000, 64):
        text = "a" + "".join(map(chr, range(first, first + 64))).encode("utf-8", "replace").decode() + "A"
        found = lower(text)
        unknown += found is None
        assert found in (None, text.lower()), hex(first)
    # Of 2,048 texts, these are of Latin-1, punctuation, East Asia and pictures; surrogates were replaced in 32.
    assert unknown == 2048 - (4 + 3 + 448 + 64) - 32
    assert lower("ÀB×“Ç”… €日本 😀ß") == "àb×“ç”… €日本 😀ß"
    assert lower("Ωж") is None
