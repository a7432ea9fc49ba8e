"""The reader of text, one document per file."""

from __future__ import annotations

from collections.abc import Iterable

from ...defaults import BYTES
from ...parsing.html.encodings import likely, without_mark
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, MAY_BE, DeadLetter, DeadLetters, Document

#: The maximum size of a file in bytes.
MAX_BYTES = BYTES.text
#: The first bytes of files that are not text, each with a description of the file and what to do about it.
_OTHERS = (
    (b"%PDF-", "a PDF, not text: its kind is pdf"),
    (b"PK\x03\x04", "a ZIP archive (as .docx, .xlsx and .epub are), not text: extract its text first"),
    (b"\xd0\xcf\x11\xe0", "an old Office document, not text: extract its text first"),
    (b"\xff\xfe\0\0", "text in UTF-32, not UTF-8: pass encoding='utf-32'"),
    (b"\0\0\xfe\xff", "text in UTF-32, not UTF-8: pass encoding='utf-32'"),
    (b"\xff\xfe", "text in UTF-16, not UTF-8: pass encoding='utf-16'"),
    (b"\xfe\xff", "text in UTF-16, not UTF-8: pass encoding='utf-16'"),
    (b"PAR1", "a Parquet file, not text: its kind is parquet"),
    (b"ARROW1", "an Arrow file, not text: its kind is arrow"),
    (b"SQLite format 3", "an SQLite database, not text"),
    (b"{\\rtf", "an RTF document, not plain text: extract its text first"),
    (b"\x89PNG", "a PNG image, not text"),
    (b"\xff\xd8\xff", "a JPEG image, not text"),
    (b"GIF8", "a GIF image, not text"),
    (b"\x7fELF", "a program, not text"),
    (b"\x1f\x8b", "a gzip file: decompress it first"),
    (b"BZh91AY&SY", "a bzip2 file: decompress it first"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file: decompress it first"),
)


#: The control characters that do not occur in text. White space, form feeds, backspaces and the escape character occur,
#: the last in ISO-2022 and in output for terminals.
_CONTROLS = bytes(range(0x20)).translate(None, b"\t\n\v\f\r\x08\x1b") + b"\x7f"
#: The number of bytes at the beginning that are examined, and the largest share of control characters among them that
#: text may have. Random bytes have 9 %.
_HEAD, _MOST_CONTROLS = 4096, 0.02
BINARY = "not text at all: bytes of a program, an image or the like"


def not_text(data: bytes | bytearray) -> str:
    """Return a description of bytes that are not UTF-8 text, such as "a PDF, not text: ..."; "" if they may be text."""
    for magic, meaning in _OTHERS:
        if data.startswith(magic):
            return meaning
    head = bytes(data[:_HEAD])
    if encoding := without_mark(head):
        return f"text in {encoding[:6].upper()} without a byte order mark, not UTF-8: pass encoding='{encoding}'"
    if head.count(0) > len(head) // 4:
        return "not text at all: every fourth byte or more is NUL"
    return ""


def decoded(data: bytes | bytearray) -> tuple[str, str, int]:
    """Return (text, "", 0), or ("", the reason, the byte at fault) if the bytes are not text."""
    if reason := not_text(data):
        return "", reason, 0
    try:
        return data.decode(), "", 0
    except UnicodeDecodeError as error:
        at = error.start
    if is_binary(data):
        return "", BINARY, at
    return "", f"invalid UTF-8 at byte {at}{advice(data)}", at


def is_binary(data: bytes | bytearray) -> bool:
    """Return whether bytes that are not UTF-8 have too many control characters to be text in another encoding."""
    head = bytes(data[:_HEAD])
    return len(head) - len(head.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(head)


def advice(data: bytes | bytearray) -> str:
    """Return a guess of the encoding for the end of a dead letter about invalid UTF-8; "" if no encoding is likely.

    Example:
        >>> advice("“Quoted” – it costs 5 €".encode("cp1252"))
        "; it may be cp1252, which is a guess: pass encoding='cp1252'"
    """
    found = likely(data)
    return f"{MAY_BE}{found}, which is a guess: pass encoding='{found}'" if found else ""


def document(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Document | None:
    """Return a file as one document, named by its path; None if it cannot be decoded."""
    held = bytearray()  # blocks in a list would be in memory a second time while they are joined
    read = 0
    for block in blocks:
        read = block.bytes_read
        if block.gap:
            return None
        held += block.data
        if len(held) > MAX_BYTES:
            excerpt = bytes(held[:EXCERPT_BYTES])
            dead_letters(DeadLetter(file, "whole file", f"longer than {MAX_BYTES:,} bytes", excerpt))
            return None
    text, reason, at = decoded(held)
    if reason:
        dead_letters(DeadLetter(file, "whole file", reason, bytes(held[at : at + EXCERPT_BYTES])))
        return None
    return Document(file, text, file, (), len(held), read)
