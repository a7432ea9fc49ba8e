"""The conversion of JSON arrays of objects to JSON Lines, one line per element, so that both have the same reader."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator

from ...defaults import BYTES
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters

#: The maximum size in bytes of a JSON array, which is in memory as a whole. JSON Lines are read in parts.
MAX_BYTES = BYTES.json
#: The beginning of an array of objects; and a first line that ends with ``]``, followed by a line that begins with an
#: object or array, which means that the file is JSON Lines.
_BEGINS, _LINES = re.compile(rb"\s*\[\s*(?:\{|\])"), re.compile(rb"[^\r\n]*\][ \t]*[\r\n]+[ \t]*[{\[]")
_SPACE = re.compile(r"[ \t\r\n]*")
_BREAKS = str.maketrans("\r\n", "  ")


def as_lines(blocks: Iterator[Block], name: str, dead_letters: DeadLetters) -> tuple[Iterator[Block], DeadLetters, str]:
    """Return blocks of JSON Lines, the callable that gets dead letters about them, and the word for a row.

    Elements stay as they are written, except that line breaks in them become spaces. The blocks of a file that is not
    an array are returned unchanged.
    """
    first = next(blocks, None)
    if first is None:
        return iter(()), dead_letters, "line"
    blocks = itertools.chain([first], blocks)
    if not _BEGINS.match(first.data) or _LINES.match(first.data):
        return blocks, dead_letters, "line"

    def tell(letter: DeadLetter) -> None:
        dead_letters(letter._replace(position=letter.position.replace("line", "element", 1)))

    return _elements(blocks, name, dead_letters), tell, "element"


def _elements(blocks: Iterator[Block], name: str, dead_letters: DeadLetters) -> Iterator[Block]:
    held = bytearray()
    read = 0
    for block in blocks:
        read = block.bytes_read
        if block.gap:
            return
        held += block.data
        if len(held) > MAX_BYTES:
            reason = f"a JSON array longer than {MAX_BYTES:,} bytes: write it as JSON Lines"
            dead_letters(DeadLetter(name, "whole file", reason, bytes(held[:EXCERPT_BYTES])))
            return
    text = held.decode("utf-8", "surrogateescape")  # invalid UTF-8 is reported later, for single elements
    del held
    decoder = json.JSONDecoder()
    lines: list[str] = []
    size = count = 0
    at = _after(text, text.index("[") + 1)
    reason = ""
    while at < len(text) and text[at] != "]":
        try:
            end = decoder.raw_decode(text, at)[1]
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep"
            break
        lines.append(text[at:end].translate(_BREAKS))
        size, count = size + end - at, count + 1
        if size >= _BLOCK:
            yield _joined(lines, read)
            lines, size = [], 0
        at = _after(text, end)
        if text[at : at + 1] == ",":
            at = _after(text, at + 1)
        elif text[at : at + 1] != "]":
            reason = "expected a comma or the array's end"
            break
    if not reason and at >= len(text):
        reason = "the array has no end: the file is cut off"
    elif not reason and (at := _after(text, at + 1)) < len(text):
        reason = "text after the array's end"
    if lines:
        yield _joined(lines, read)
    if reason:
        excerpt = text[at : at + EXCERPT_BYTES].encode("utf-8", "surrogateescape")[:EXCERPT_BYTES]
        said = f"{reason}; the rest is not read"
        dead_letters(DeadLetter(name, f"element {count + 1}", said, excerpt))


#: The least number of characters of a block. A block is yielded as soon as its elements have this number together.
_BLOCK = 8 << 20


def _joined(lines: list[str], read: int) -> Block:
    return Block(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"), read)


def _after(text: str, at: int) -> int:
    """Return the first position after white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
