"""The decompression of a PDF's content streams up to a limit, for counting their work before PDFium reads them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Sequence
from typing import Any

_SHORT = {"Fl": "FlateDecode", "LZW": "LZWDecode", "RL": "RunLengthDecode", "A85": "ASCII85Decode"}
_SHORT |= {"AHx": "ASCIIHexDecode"}
_WHITE = re.compile(rb"[\0\t\n\f\r ]+")
_BASE85 = re.compile(rb"(?:z|[!-u]{5})*(?:[!-u]{2,4})?")
_HEX = re.compile(rb"[0-9a-fA-F]*")
#: The number of bytes that zlib gets at a time. If the data are damaged, the output of the steps before is kept.
_STEP = 1 << 14


def full_name(name: str) -> str:
    """Return a filter's name from its abbreviation."""
    return _SHORT.get(name, name)


def decompressed(
    data: bytes | memoryview, filters: Sequence[tuple[str, dict[str, Any]]], most: int
) -> tuple[bytes, bool]:
    """Return a stream's bytes after its filters, as far as they are valid, and whether PDFium gets the same bytes.

    PDFium gets other bytes if a filter predicts bytes from earlier ones (``Predictor``); no PDF writer uses this for
    content. An unknown filter, or a filter for images, is not applied, as in PDFium. If a filter's output exceeds
    ``most`` bytes, ``most + 1`` bytes are returned.
    """
    found, is_seen = bytes(data), True
    for name, keys in filters:
        predictor = keys.get("Predictor", 1)
        is_seen = is_seen and (not isinstance(predictor, int) or predictor < 2)
        if name == "FlateDecode":
            found = _inflated(found, most + 1)
        elif name == "LZWDecode":
            found = _lzw(found, keys.get("EarlyChange") != 0, most + 1)
        elif name == "RunLengthDecode":
            found = _runs(found, most + 1)
        elif name == "ASCII85Decode":
            found = _base85(found)
        elif name == "ASCIIHexDecode":
            found = _hexadecimal(found)
        elif name != "Crypt":
            break
        if len(found) > most:
            break
    return found[: most + 1], is_seen


def _inflated(data: bytes, most: int) -> bytes:
    out, reader, at, step = bytearray(), zlib.decompressobj(), 0, _STEP
    while at < len(data) and not reader.eof and len(out) < most:
        before = reader.copy() if step > 1 else reader
        try:
            out += reader.decompress(data[at : at + step])
        except zlib.error:
            if step == 1:
                break
            reader, step = before, step >> 7
        else:
            at += step
    return bytes(out[:most])


def _lzw(data: bytes, early: bool, most: int) -> bytes:
    first = [bytes((i,)) for i in range(256)] + [b"", b""]
    table, out, before = first[:], bytearray(), b""
    held = bits = 0
    width = 9
    for byte in data:
        held, bits = (held << 8 | byte) & 0xFFFFFF, bits + 8
        if bits < width:
            continue
        bits -= width
        code = held >> bits & (1 << width) - 1
        if code == 257 or len(out) >= most:
            break
        if code == 256:
            table, before, width = first[:], b"", 9
            continue
        if code > len(table) or (code == len(table) and not before):
            break
        said = table[code] if code < len(table) else before + before[:1]
        out += said
        if before and len(table) < 4096:
            table.append(before + said[:1])
        before = said
        width = min(12, max(9, (len(table) + early).bit_length()))
    return bytes(out)


def _runs(data: bytes, most: int) -> bytes:
    out, at = bytearray(), 0
    while at < len(data) and data[at] != 128 and len(out) < most:
        length = data[at]
        if length < 128:
            out += data[at + 1 : at + 2 + length]
            at += length + 2
        else:
            out += data[at + 1 : at + 2] * (257 - length)
            at += 2
    return bytes(out)


def _base85(data: bytes) -> bytes:
    said = _WHITE.sub(b"", data).removeprefix(b"<~")
    found = _BASE85.match(said)
    try:
        return base64.a85decode(found[0] if found else b"")
    except ValueError:  # a group has more than 32 bits; PDFium continues, but with meaningless bytes
        return said


def _hexadecimal(data: bytes) -> bytes:
    found = _HEX.match(_WHITE.sub(b"", data))
    said = found[0] if found else b""
    return bytes.fromhex((said + b"0" * (len(said) % 2)).decode())
