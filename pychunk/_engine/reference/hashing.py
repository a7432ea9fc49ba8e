"""The hash function MurmurHash3_x64_128 and the random numbers of SplitMix64, in Python's integers."""

from __future__ import annotations

from collections.abc import Iterator

MASK = 2**64 - 1
ONE, TWO = 0x87C37B91114253D5, 0x4CF5AD432745937F


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & MASK


def _avalanche(x: int) -> int:
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def _mix_one(x: int) -> int:
    return _rotate(x * ONE & MASK, 31) * TWO & MASK


def _mix_two(x: int) -> int:
    return _rotate(x * TWO & MASK, 33) * ONE & MASK


def hash128(data: bytes) -> tuple[int, int]:
    """Return the (low, high) halves of the 128-bit hash of bytes, with seed 0."""
    a = b = 0
    whole = len(data) // 16 * 16
    for i in range(0, whole, 16):
        a ^= _mix_one(int.from_bytes(data[i : i + 8], "little"))
        a = ((_rotate(a, 27) + b) * 5 + 0x52DCE729) & MASK
        b ^= _mix_two(int.from_bytes(data[i + 8 : i + 16], "little"))
        b = ((_rotate(b, 31) + a) * 5 + 0x38495AB5) & MASK
    tail = data[whole:]
    b ^= _mix_two(int.from_bytes(tail[8:], "little"))
    a ^= _mix_one(int.from_bytes(tail[:8], "little"))
    a, b = a ^ len(data), b ^ len(data)
    a = (a + b) & MASK
    b = (b + a) & MASK
    a, b = _avalanche(a), _avalanche(b)
    a = (a + b) & MASK
    return a, (b + a) & MASK


def chunk_id(document: bytes, start: int, end: int, text: str) -> str:
    """Return the id of a chunk, 32 hexadecimal digits.

    It is a hash of the document's id (or of its text, if it has no id), the span in characters and the chunk's text.
    """
    words = [*hash128(document), start, end, *hash128(text.encode())]
    low, high = hash128(b"".join(word.to_bytes(8, "little") for word in words))
    return f"{high:016x}{low:016x}"


def extend_row_hashes(rows: list[bytes], states: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the hash (low, high) of each row's state and of its bytes."""
    found = []
    for row, (low, high) in zip(rows, states, strict=True):
        words = (low, high, *hash128(row), 0)
        found.append(hash128(b"".join(word.to_bytes(8, "little") for word in words)))
    return found


def text_id(document: bytes | None, text: str, number: int) -> str:
    """Return the id of a chunk's text, 32 hexadecimal digits.

    It is a hash of the document's id, the text, and the number of chunks before it in the document with the same text.
    ``document`` is None if there are no ids.
    """
    name = (0, 0) if document is None else hash128(document)
    low, high = hash128(b"".join(word.to_bytes(8, "little") for word in (*name, *hash128(text.encode()), number)))
    return f"{high:016x}{low:016x}"


def random_words(seed: int) -> Iterator[int]:
    """Yield the 64-bit numbers of SplitMix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31
