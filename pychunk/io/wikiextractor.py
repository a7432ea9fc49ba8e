"""Output of WikiExtractor, ``<doc id= url= title=> ... </doc>``, to documents. (Its JSON form is JSON Lines.)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

import pyarrow as pa

from .bzip2 import Block
from .documents import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

COLUMNS = (("title", pa.string()), ("url", pa.string()))
#: Bytes that one document may have.
MAX_BYTES = 64 << 20

_BEGIN = re.compile(rb"^<doc\s([^\n]*?)>[ \t]*\r?\n?", re.MULTILINE)
_END = re.compile(rb"^</doc>[ \t]*\r?\n?", re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)="(.*?)"(?=\s+\w+="|\s*$)')


def documents(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Iterator[Document]:
    """The documents of one file, in order; the title that WikiExtractor repeats as the first line is left out."""
    held, offset = b"", 0
    for block in blocks:
        if block.gap:
            _lost(file, offset, held, "the document is cut off: what follows could not be read", dead_letters)
            held = b""
            continue
        held += block.data
        if b"</doc>" not in held:
            if len(held) > MAX_BYTES:
                _lost(file, offset, held, f"the document is longer than {MAX_BYTES:,} bytes", dead_letters)
                offset, held = offset + len(held), b""
            continue
        cut = held.rfind(b"\n", 0, held.rfind(b"</doc>")) + 1  # the last end's line, which may not be complete
        end = _END.search(held, cut)
        if end is None:
            continue
        yield from _documents(held[: end.end()], offset, file, dead_letters, block.bytes_read)
        offset, held = offset + end.end(), held[end.end() :]
    if held.strip():
        _lost(file, offset, held, "the document has no end: the file is cut off", dead_letters)


def _documents(data: bytes, offset: int, file: str, dead_letters: DeadLetters, bytes_read: int) -> Iterator[Document]:
    """Documents of bytes that end with </doc>."""
    position = 0
    while position < len(data):
        begin = _BEGIN.search(data, position)
        end = _END.search(data, position if begin is None else begin.end())
        if begin is None or end is None:
            if data[position:].strip():
                _lost(file, offset + position, data[position:], "text outside <doc> ... </doc>", dead_letters)
            return
        if data[position : begin.start()].strip():
            _lost(file, offset + position, data[position:], "text outside <doc> ... </doc>", dead_letters)
        again = _BEGIN.search(data, begin.end(), end.start())
        if again is not None:
            _lost(file, offset + begin.start(), data[begin.start() :], "the document has no </doc>", dead_letters)
            position = again.start()
            continue
        position = end.end()
        try:
            yield _document(begin[1].decode(), data[begin.end() : end.start()], file, bytes_read)
        except UnicodeDecodeError as error:
            reason = f"invalid UTF-8 at byte {error.start} of it"
            _lost(file, offset + begin.start(), data[begin.start() :], reason, dead_letters)


def _document(head: str, body: bytes, file: str, bytes_read: int) -> Document:
    facts = {name: unescape(value) for name, value in _ATTRIBUTE.findall(head)}
    text, title = body.decode().strip(), facts.get("title")
    first, _, rest = text.partition("\n")
    if title is not None and first.strip() == title:
        text = rest.strip()
    return Document(facts.get("id", title or ""), text, file, (title, facts.get("url")), len(body), bytes_read)


def _lost(file: str, offset: int, data: bytes, reason: str, dead_letters: DeadLetters) -> None:
    if data.strip():
        dead_letters(DeadLetter(file, f"byte {offset}", reason, data[:EXCERPT_BYTES]))
