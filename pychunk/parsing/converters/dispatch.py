"""The call of a converter in a worker process, and the forms that a converter may return: Markdown, HTML or blocks."""

from __future__ import annotations

import codecs
import importlib
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._engine.data.blocks import Blocks
from ..html.encodings import likely
from ..markdown import blocks_of, titles_of
from ..pdf.paged_text import Paged

#: Byte order marks with their encodings. That of UTF-16 is the beginning of that of UTF-32.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class ConversionError(ValueError):
    """The error for a file that cannot be converted.

    The message is the reason, and what to do about it.
    """


def request(function: str, data: bytes, ending: str = "") -> bytes:
    """Return the input of :func:`convert` that applies ``function``, as ``"package.module:name"``, to ``data``.

    A function that reads several languages gets the ending of the file's name, too.
    """
    return b"\0".join((function.encode(), ending.encode(), data))


def convert(asked: bytes) -> Paged:
    r"""Return the document that a converter makes of a file's bytes.

    Args:
        asked: A result of :func:`request`.

    Raises:
        ConversionError: The converter cannot read the bytes. Every error of a library becomes this error, since some of
            them cannot be passed from one process to another.
        ImportError: A package is missing.
        MemoryError: The converter needs more memory than it may have.

    Example:
        >>> convert(request("pychunk.parsing.converters.notebooks:convert", b'{"cells": []}')).text
        ''
    """
    name, _, rest = asked.partition(b"\0")
    ending, _, data = rest.partition(b"\0")
    del asked, rest  # otherwise a long file would be in memory twice
    module, _, function = name.decode().partition(":")
    try:
        if not data and not ending:  # files of code may be empty, such as ``__init__.py``
            raise ConversionError("the file is empty")
        found: Any = getattr(importlib.import_module(module), function)(data, *([ending.decode()] if ending else []))
    except (ConversionError, ImportError, MemoryError):
        raise
    except RecursionError:
        raise ConversionError("cannot be read: its parts are nested too deeply") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ConversionError(f"damaged or cut off: {error!s:.300}; copy or download the file again") from None
    except Exception as error:
        raise ConversionError(f"cannot be read: {type(error).__name__}: {error!s:.300}") from None
    if isinstance(found, str):
        return of_markdown(found)
    if not isinstance(found, Paged):
        raise ConversionError(f"{name.decode()} must return Markdown or a Paged; got {type(found).__name__}")
    return found


def of_markdown(text: str, title: str = "", facts: dict[str, Any] | None = None) -> Paged:
    """Return a document whose text is Markdown; without ``title``, the text's own title counts."""
    text = plain(text)
    blocks = blocks_of([text], threads=1)
    return Paged(text, blocks, np.empty(0, np.int64), title or titles_of([text], blocks)[0] or "", [], [], facts or {})


def of_html(
    data: bytes | str, title: str = "", facts: dict[str, Any] | None = None, *, is_xhtml: bool = False
) -> Paged:
    """Return a document whose text is what the HTML reader makes of ``data``; nothing is removed as noise.

    Raises:
        ImportError: selectolax is not installed.
    """
    # The import is here since few converters read HTML; it takes 0.05 s.
    from ..html.page import parse_html, with_end_tags

    page = parse_html(with_end_tags(data) if is_xhtml and isinstance(data, bytes) else data)
    return Paged(page.text, page.blocks, np.empty(0, np.int64), title or page.title, [], [], facts or {})


def joined(parts: Sequence[Paged], title: str, facts: dict[str, Any] | None = None) -> Paged:
    """Return one document of several without pages, with a blank line between them; parts without text are left out.

    Removed spans and notes stay.
    """
    parts = [replace(part, text=part.text.rstrip("\n")) for part in parts if part.text.strip("\n")]
    starts = np.cumsum([0, *(len(part.text) + 2 for part in parts)])[:-1]

    def column(name: str, shifts: Sequence[int] | None = None) -> Any:
        values = [getattr(part.blocks, name) for part in parts]
        return np.concatenate([value + shift for value, shift in zip(values, shifts or [0] * len(values), strict=True)])

    notes = [note for part in parts for note in part.notes]
    if not parts:
        return Paged("", Blocks.of([[]]), np.empty(0, np.int64), title, [], [], facts or {})
    shifts: list[int] = starts.tolist()
    removed = [
        span._replace(start=span.start + shift, end=span.end + shift)
        for part, shift in zip(parts, shifts, strict=True)
        for span in part.removed
    ]
    own = [
        np.zeros(len(part.blocks.kind), np.bool_) if part.blocks.markup is None else part.blocks.markup
        for part in parts
    ]
    kinds = column("kind")
    blocks = Blocks(
        np.array([0, len(kinds)], np.int64),
        kinds.astype(np.int8),
        column("level").astype(np.int16),
        column("start", shifts),
        column("end", shifts),
        markup=np.concatenate(own),
    )
    text = "\n\n".join(part.text for part in parts)
    return Paged(text, blocks, np.empty(0, np.int64), title, removed, notes, facts or {})


def decoded(data: bytes) -> str:
    """Return the text of bytes in UTF-8, or in UTF-16 or UTF-32 after a byte order mark.

    Raises:
        ConversionError: The bytes are in another encoding, which the message guesses, or do not fit their mark.
    """
    name = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        guess = likely(data) if name == "utf-8" else None
        may_be = f"; it may be {guess}, which is a guess: pass encoding='{guess}'" if guess else ""
        raise ConversionError(f"invalid {name.upper()} at byte {error.start}{may_be}") from None


def plain(text: str) -> str:
    """Return a text that can be written as UTF-8, with a question mark for each surrogate that stands alone."""
    return text.encode("utf-8", "replace").decode()


def plain_line(text: str) -> str:
    """Return a text in one line, with single spaces, that can be written as UTF-8 (see :func:`plain`)."""
    return plain(" ".join(text.split()))
