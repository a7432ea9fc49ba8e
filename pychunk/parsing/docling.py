"""The conversion of DoclingDocument JSON, which docling makes of a scan, a PDF or an Office file, to text with blocks.

The format is docling-core's ``DoclingDocument``, a tree of references (``body``) to ``texts``, ``tables``, ``pictures``
and ``groups``, each with its position on a page. The text has the same form as the text of a PDF
(``pychunk.parsing.pdf.pdf_document``). A form feed separates pages, `` | `` separates the cells of tables, and list
items follow their markers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .pdf.paged_text import CELLS, RUNNING_FOOT, RUNNING_HEAD, Paged, PagedWriter

#: The beginning of a file, which names its format first.
BEGINS = re.compile(rb'\s*\{\s*"schema_name"\s*:\s*"DoclingDocument"')
#: The maximum number of pages of a document, and elements of its tree, that are read.
MAX_PAGES, MAX_ELEMENTS = 100_000, 5_000_000
#: The maximum number of columns of a table that are read.
_COLUMNS = 10_000
#: The kind of block for each label; an element with any other label is a paragraph.
_KINDS = {
    "title": "heading",
    "section_header": "heading",
    "list_item": "item",
    "caption": "caption",
    "code": "code",
    "checkbox_selected": "form",
    "checkbox_unselected": "form",
}
_FURNITURE = {"page_header": RUNNING_HEAD, "page_footer": RUNNING_FOOT}
_LISTS = ("list", "ordered_list")
_MAX_LEVEL = 6


class DoclingError(ValueError):
    """A file that cannot be read as a DoclingDocument; the message is the reason."""


class _Element(NamedTuple):
    kind: str
    level: int
    text: str
    page: int
    box: tuple[float, float, float, float] | None
    removed: str


def parse_docling(data: bytes) -> Paged:
    """Convert a DoclingDocument, as JSON in UTF-8, to text with structure.

    Elements come in the order of the document's tree, with the captions of a table or picture before it. Page headers
    and footers become removed spans at the beginning and end of their page. A document without pages has blocks without
    pages.

    Raises:
        DoclingError: The file is not JSON, has another format, or has no text.

    Example:
        >>> text = {"self_ref": "#/texts/0", "label": "text", "text": "Hello.", "prov": []}
        >>> body = {"children": [{"$ref": "#/texts/0"}]}
        >>> document = {"schema_name": "DoclingDocument", "texts": [text], "body": body}
        >>> parse_docling(json.dumps(document).encode()).text
        'Hello.'
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DoclingError(f"not JSON: {error}; save it again with DoclingDocument.save_as_json()") from None
    if not isinstance(document, dict) or document.get("schema_name") != "DoclingDocument":
        said = document.get("schema_name") if isinstance(document, dict) else document
        raise DoclingError(f'not a DoclingDocument: "schema_name" must be "DoclingDocument"; got {said!r:.80}')
    tree = _Tree(document)
    elements = [*tree.below(document.get("body"), 0), *tree.below(document.get("furniture"), 0)]
    elements = [element for element in elements if element.text]
    if not any(not element.removed for element in elements):
        raise DoclingError("the document has no text; if it shows scanned pages, convert it again with OCR")
    writer = PagedWriter()
    pages = tree.pages
    for element in _by_page(elements, pages):
        writer.put(element.kind, element.level, element.text, element.page, element.box, element.removed)
    name = document.get("name")
    title = next((element.text for element in elements if element.kind == "heading" and element.level == 1), "")
    return writer.done(tree.title or title or (name if isinstance(name, str) else ""), pages, [])


def _by_page(elements: list[_Element], pages: int) -> Iterator[_Element]:
    """Yield elements with ascending pages; the headers of each page come first, its footers last."""
    if not pages:
        yield from (element._replace(page=1) for element in elements)
        return
    found: dict[int, tuple[list[_Element], list[_Element], list[_Element]]] = {}
    page = 1
    for element in elements:
        own = min(element.page, pages)
        if not element.removed:
            page = own = max(page, own)
        where = {RUNNING_HEAD: 0, RUNNING_FOOT: 2}.get(element.removed, 1)
        found.setdefault(max(1, own), ([], [], []))[where].append(element._replace(page=max(1, own)))
    for number in sorted(found):
        for part in found[number]:
            yield from part


class _Tree:
    """The tree of a document's elements; each element is returned once, however often it is referred to."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._seen: set[str] = set()
        self._heights = self._pages()
        self.pages = max(self._heights, default=0)
        self.title = ""
        texts = document.get("texts")
        titled = isinstance(texts, list) and any(_get(text, "label") == "title" for text in texts)
        self._shift = 1 if titled else 0  # section headers are below the title

    def _pages(self) -> dict[int, float]:
        found: dict[int, float] = {}
        pages = self._document.get("pages")
        for number, page in pages.items() if isinstance(pages, dict) else ():
            height = _get(_get(page, "size"), "height")
            if number.isdecimal() and 0 < len(number) < 7 and 0 < int(number) <= MAX_PAGES:
                found[int(number)] = float(height) if _is_number(height) else math.nan
        return found

    def below(self, node: Any, depth: int) -> Iterator[_Element]:
        """Yield the elements below a node, in order; ``depth`` is the number of lists around the node.

        The method does not recurse, because trees may be deep.
        """
        waiting: list[tuple[Any, int]] = [(child, depth) for child in reversed(_children(node, "children"))]
        while waiting:
            item, lists = waiting.pop()
            if isinstance(item, _Element):
                yield item
                continue
            found = self._found(item)
            if found is None:
                continue
            label = _get(found, "label")
            inner = lists + 1 if label in _LISTS else lists
            waiting += [(child, inner) for child in reversed(_children(found, "children"))]
            waiting.append((self._element(found, label, lists), lists))
            waiting += [(caption, lists) for caption in reversed(_children(found, "captions"))]

    def _found(self, reference: Any) -> Any:
        """Return the object that ``{"$ref": "#/texts/3"}`` refers to; None from the second time on."""
        path = _get(reference, "$ref")
        if not isinstance(path, str) or path in self._seen or len(self._seen) > MAX_ELEMENTS:
            return None
        self._seen.add(path)
        parts = path.split("/")
        if len(parts) != 3 or parts[0] != "#" or not parts[2].isdecimal() or len(parts[2]) > 9:
            return None
        items = self._document.get(parts[1])
        found = items[int(parts[2])] if isinstance(items, list) and int(parts[2]) < len(items) else None
        return found if isinstance(found, dict) else None

    def _element(self, found: dict[str, Any], label: Any, lists: int) -> _Element:
        """Return an element; one without text is a group or a picture."""
        kind = _KINDS.get(label, "paragraph") if isinstance(label, str) else "paragraph"
        level = 0
        data = found.get("data")
        if isinstance(data, dict) and ("grid" in data or "table_cells" in data):
            kind, text = "table", _table(data)
        else:
            text = _clean(found.get("text"), lines=kind == "code")
        if label == "title":
            level = 1
            self.title = self.title or text
        elif kind == "heading":
            said = found.get("level")
            level = min(_MAX_LEVEL, self._shift + (said if isinstance(said, int) and said > 0 else 1))
        elif kind == "item":
            level = max(1, lists)
            mark = _clean(found.get("marker")) or "-"
            text = f"{mark} {text}" if text and not text.startswith(mark) else text
        page, box = self._place(found.get("prov"))
        removed = _FURNITURE.get(label, "") if isinstance(label, str) else ""
        return _Element(kind, level, text, page, box, removed)

    def _place(self, prov: Any) -> tuple[int, tuple[float, float, float, float] | None]:
        """Return where an element begins: its page from 1 (0 if unknown), and its box from the page's top left."""
        first = prov[0] if isinstance(prov, list) and prov else None
        page, said = _get(first, "page_no"), _get(first, "bbox")
        if not isinstance(page, int) or not 0 < page <= MAX_PAGES:
            return 0, None
        sides = [_get(said, side) for side in "ltrb"]
        if not all(map(_is_number, sides)):
            return page, None
        left, top, right, bottom = map(float, sides)
        if _get(said, "coord_origin") == "BOTTOMLEFT":
            height = self._heights.get(page, math.nan)
            top, bottom = height - top, height - bottom
        return page, (left, top, right, bottom)


def _table(data: dict[str, Any]) -> str:
    """Return the rows of a table as lines; a cell that spans several rows or columns has its text in the first."""
    rows: dict[int, dict[int, str]] = {}
    cells = data.get("table_cells")
    if isinstance(cells, list) and cells:
        for cell in cells:
            row, column = _get(cell, "start_row_offset_idx"), _get(cell, "start_col_offset_idx")
            if isinstance(row, int) and isinstance(column, int) and 0 <= column < _COLUMNS:
                rows.setdefault(row, {}).setdefault(column, _clean(_get(cell, "text")))
    else:
        grid = data.get("grid")
        for number, row in enumerate(grid if isinstance(grid, list) else []):
            for column, cell in enumerate(row if isinstance(row, list) else []):
                rows.setdefault(number, {})[column] = _clean(_get(cell, "text"))
    width = 1 + max((max(row, default=0) for row in rows.values()), default=0)
    lines = [CELLS.join(rows[number].get(column, "") for column in range(width)).strip() for number in sorted(rows)]
    return "\n".join(line for line in lines if line.strip(CELLS))


def _clean(text: Any, *, lines: bool = False) -> str:
    """Return a text without characters that would begin a page or a block; "" if it is not a string."""
    if not isinstance(text, str):
        return ""
    text = text.encode("utf-8", "replace").decode()
    if lines:
        return "\n".join(text.replace("\f", "\n").splitlines()).strip("\n")
    return " ".join(text.split())


def _children(node: Any, name: str) -> list[Any]:
    found = _get(node, name)
    return found if isinstance(found, list) else []


def _get(node: Any, name: str) -> Any:
    return node.get(name) if isinstance(node, dict) else None


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that can be a position on a page."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9
