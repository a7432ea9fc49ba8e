"""The native reader of bzip2 compared with Python's bz2: any content, any parts, damage and truncation."""

import bz2
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk._engine import native

contents = st.one_of(
    st.binary(max_size=3000),
    st.text("ab \n", max_size=3000).map(str.encode),
    st.lists(st.tuples(st.sampled_from(b"abc"), st.integers(1, 700)), max_size=20).map(
        lambda runs: b"".join(bytes([byte]) * count for byte, count in runs)
    ),
)
streams = st.lists(st.builds(bz2.compress, contents, st.integers(1, 9)), min_size=1, max_size=6).map(b"".join)


def read(parts: list[bytes]) -> tuple[bytes, str, bool]:
    """Return the plain bytes, the error, and whether a stream has no end."""
    reader = native.Bzip2Reader()
    made = []
    for part in parts:
        reader.feed(np.frombuffer(part, np.uint8))
        while (out := reader.next()) is not None:
            made.append(out)
        if reader.error:
            break
    return b"".join(made), reader.error, reader.is_unfinished


def reference(data: bytes) -> tuple[bytes, bool, bool]:
    """Return the plain bytes before any damage, whether there is damage, and whether a stream has no end."""
    made = b""
    while data:
        inner = bz2.BZ2Decompressor()
        try:
            made += inner.decompress(data)
        except OSError:
            return made, True, False
        if not inner.eof:
            return made, False, True
        data = inner.unused_data
    return made, False, False


@given(streams, st.lists(st.integers(0, 4000), max_size=4))
def test_any_streams_in_any_parts(data: bytes, cuts: list[int]) -> None:
    borders = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parts = [data[begin:end] for begin, end in zip(borders, borders[1:])]
    assert read(parts) == (reference(data)[0], "", False)


@given(streams, st.floats(0, 1, exclude_max=True))
def test_a_cut_file_gives_all_complete_blocks(data: bytes, share: float) -> None:
    data = data[: int(share * len(data))]
    found, error, is_unfinished = read([data])
    expected, is_damaged, is_open = reference(data)
    assert (found, error, is_unfinished) == (expected, "", is_open or is_damaged)


@given(streams, st.integers(0, 1 << 30), st.integers(1, 3))
@settings(max_examples=300)
def test_damage_is_found_as_by_the_reference(data: bytes, seed: int, count: int) -> None:
    damaged, draw = bytearray(data), random.Random(seed)
    for _ in range(count):
        damaged[draw.randrange(min(len(damaged), draw.choice([150, 10_000])))] ^= 1 << draw.randrange(8)
    found, error, is_unfinished = read([bytes(damaged)])
    expected, is_damaged, is_open = reference(bytes(damaged))
    assert found.startswith(expected)  # the reference drops the blocks before damage in the same call
    assert bool(error) == is_damaged
    if not is_damaged:
        assert (found, is_unfinished) == (expected, is_open)


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 9])
def test_blocks_of_full_size(level: int) -> None:
    draw = random.Random(3)
    words = [bytes(draw.choices(b"abcdefgh", k=draw.randrange(2, 9))) for _ in range(2000)]
    data = b" ".join(draw.choices(words, k=400_000)) + draw.randbytes(400_000) + b"\0" * 3_000_000
    packed = bz2.compress(data, level)
    assert read([packed]) == (data, "", False)
    assert read([packed[at : at + 100_000] for at in range(0, len(packed), 100_000)]) == (data, "", False)


def test_an_error_names_the_stream_that_it_hit() -> None:
    good, bad = bz2.compress(b"good"), bytearray(bz2.compress(b"bad" * 50))
    bad[12] ^= 1
    reader = native.Bzip2Reader()
    reader.feed(np.frombuffer(good + bytes(bad) + good, np.uint8))
    assert [reader.next(), reader.next()] == [b"good", None]
    assert reader.stream_begin == len(good)
    assert "damaged" in reader.error


def test_a_randomised_block_is_refused_with_a_remedy() -> None:
    data = bytearray(bz2.compress(b"a block" * 9))
    data[14] |= 0x80  # the bit after the checksum, which bzip2 before 0.9.5 could set
    assert "randomised" in read([bytes(data)])[1]
