"""The reader of WikiExtractor's output, ``<doc id= url= title=> ... </doc>``; ``json_lines`` reads its JSON output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

import pyarrow as pa

from ...defaults import BYTES
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

COLUMNS = (("title", pa.string()), ("url", pa.string()))
#: The maximum size of one document in bytes.
MAX_BYTES = BYTES.wiki_page

_BEGIN = re.compile(rb"^<doc\s([^\n]*?)>[ \t]*\r?\n?", re.MULTILINE)
_END = re.compile(rb"^</doc>[ \t]*\r?\n?", re.MULTILINE)
#: The text between two attributes. Some versions do not escape values, which may then hold quotes.
_NEXT = re.compile(r'"\s+(?=\w+=")')
_NAME = re.compile(r"\w+$")


def documents(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Iterator[Document]:
    """Yield the documents of one file, in order, without the title that WikiExtractor repeats as the first line."""
    held, offset, searched = bytearray(), 0, 0
    for block in blocks:
        if block.gap:
            if held.strip():
                _lost(file, offset, held, "the document is cut off: the bytes after it could not be read", dead_letters)
            offset, held, searched = offset + len(held), bytearray(), 0
            continue
        held += block.data
        end = held.rfind(b"\n</doc>", max(0, searched - 7)) + 7  # the result is 6 if there is no end
        if end > 6:
            yield from _documents(bytes(held[:end]), offset, file, dead_letters, block.bytes_read)
            del held[:end]
            offset, searched = offset + end, 0
        elif len(held) > MAX_BYTES:
            _lost(file, offset, held, f"the document is longer than {MAX_BYTES:,} bytes", dead_letters)
            offset, held, searched = offset + len(held), bytearray(), 0
        searched = len(held)
    if held.strip():
        _lost(file, offset, held, "the document has no end: the file is cut off", dead_letters)


def _documents(data: bytes, offset: int, file: str, dead_letters: DeadLetters, bytes_read: int) -> Iterator[Document]:
    """Yield the documents of bytes that end with </doc>.

    Each byte is read only a few times, even if many documents are not closed.
    """
    begin, position = _BEGIN.search(data), 0
    while begin is not None and (end := _END.search(data, begin.end())) is not None:
        while (again := _BEGIN.search(data, begin.end(), end.start())) is not None:
            _outside(file, offset, data, position, begin.start(), dead_letters)
            _lost(file, offset + begin.start(), data, "the document has no </doc>", dead_letters, begin.start())
            begin, position = again, again.start()
        _outside(file, offset, data, position, begin.start(), dead_letters)
        position = end.end()
        try:
            yield _document(begin[1].decode(), data[begin.end() : end.start()], file, bytes_read)
        except UnicodeDecodeError as error:
            reason = f"invalid UTF-8 at byte {error.start} of the document"
            _lost(file, offset + begin.start(), data, reason, dead_letters, begin.start())
        begin = _BEGIN.search(data, position)
    _outside(file, offset, data, position, len(data), dead_letters)


def _outside(file: str, offset: int, data: bytes, start: int, end: int, dead_letters: DeadLetters) -> None:
    if data[start:end].strip():
        _lost(file, offset + start, data, "text outside <doc> ... </doc>", dead_letters, start)


def _document(head: str, body: bytes, file: str, bytes_read: int) -> Document:
    facts = _attributes(head)
    text, title = body.decode().strip(), facts.get("title")
    first, _, rest = text.partition("\n")
    if title is not None and first.strip() == title:
        text = rest.strip()
    return Document(facts.get("id", title or ""), text, file, (title, facts.get("url")), len(body), bytes_read)


def _attributes(head: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in _NEXT.split(head.rstrip().removesuffix('"')):
        before, equals, value = each.partition('="')
        name = _NAME.search(before)
        if equals and name is not None:
            found[name[0]] = unescape(value)
    return found


def _lost(
    file: str, offset: int, data: bytes | bytearray, reason: str, dead_letters: DeadLetters, start: int = 0
) -> None:
    """Report a dead letter about the bytes of ``data`` from ``start`` on, which are at ``offset`` in the file."""
    excerpt = bytes(data[start : start + EXCERPT_BYTES])
    dead_letters(DeadLetter(file, f"byte {offset}", reason, excerpt))
