"""The conversion of Jupyter notebooks to Markdown: cells of text as they are, cells of code as fenced code."""

from __future__ import annotations

import json
import re
from typing import Any

from ..pdf.paged_text import Paged
from .dispatch import ConversionError, joined, of_markdown

_TICKS = re.compile("`{3,}")


def convert(data: bytes) -> Paged:
    r"""Convert a notebook, in version 3 or 4 of the format, to a document in Markdown.

    A blank line separates the cells, each of which is parsed by itself, as Jupyter does. Outputs, attachments and empty
    cells are left out, and nothing is run.

    Raises:
        ConversionError: The bytes are not a notebook.

    Example:
        >>> cells = [{"cell_type": "markdown", "source": ["# One"]}, {"cell_type": "code", "source": "x = 1"}]
        >>> convert(json.dumps({"cells": cells, "metadata": {}}).encode()).text
        '# One\n\n```\nx = 1\n```'
    """
    try:
        book = json.loads(data)
    except ValueError as error:
        raise ConversionError(f"not JSON: {error}; save the notebook again") from None
    if not isinstance(book, dict) or not isinstance(cells := _cells(book), list):
        raise ConversionError("not a notebook: it has no list of cells")
    said = book.get("metadata")
    about: dict[str, Any] = said if isinstance(said, dict) else {}
    language = _language(about)
    texts = [text for cell in cells if isinstance(cell, dict) and (text := _text(cell, language))]
    authors = about.get("authors")
    names = [each.get("name") for each in authors if isinstance(each, dict)] if isinstance(authors, list) else []
    author = ", ".join(name for name in names if isinstance(name, str))
    title = about.get("title")
    parts = [of_markdown(text) for text in texts]
    title = title if isinstance(title, str) else next((part.title for part in parts if part.title), "")
    return joined(parts, title, {"author": author})


def _cells(book: dict[str, Any]) -> Any:
    sheets = book.get("worksheets")
    if "cells" in book or not isinstance(sheets, list):
        return book.get("cells")
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]


def _language(about: dict[str, Any]) -> str:
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        found = about.get(name)
        said = found.get(key) if isinstance(found, dict) else None
        if isinstance(said, str) and re.fullmatch(r"[\w+#.-]{1,40}", said):
            return said
    return ""


def _text(cell: dict[str, Any], language: str) -> str:
    """Return a cell as Markdown; the fence of code is longer than any row of backticks in the code."""
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str) or not source.strip():
        return ""
    kind = cell.get("cell_type")
    if kind == "heading":  # only in version 3
        level = cell.get("level")
        return f"{'#' * min(6, max(1, level if isinstance(level, int) else 1))} {' '.join(source.split())}"
    if kind != "code":
        return source.strip("\r\n")
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(source)), default=0))
    return f"{fence}{language}\n{source.rstrip()}\n{fence}"
