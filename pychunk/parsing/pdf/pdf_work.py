"""The count of the work that the pages of a PDF need, before PDFium does this work.

PDFium interprets a page in one call that nothing can stop. A stream may be drawn again and again: by several pages, and
by forms that draw forms. Therefore the bytes of content are counted after decompression, and as often as they are
drawn. Per second, PDFium reads between 6 MB of content (operators ``re f``) and 160 MB (``l``), measured on 4 MB of
each of 25 operators. If the content draws text, PDFium reads 4 MB per second. A document within the limits takes at
most 900 s, including the time for reading its characters afterwards.

The count reads a copy of the file that PDFium writes, without encryption and object streams, and with damage repaired
in PDFium's way. Therefore no file can show one content to the count and another to PDFium.
"""

from __future__ import annotations

import ctypes
import re
from binascii import unhexlify
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from operator import itemgetter
from typing import Any, NamedTuple

from .pdf_filters import decompressed, full_name

#: The number of bytes of font files that take as long as one byte of content. PDFium reads about 200 MB of font files
#: per second.
_OF_FONTS = 16
#: The maximum number of nodes in the page tree for each page.
_NODES = 4
#: The deepest nesting of forms that PDFium draws.
_LEVELS = 40
#: The cost of drawing one form without content, which takes 3 microseconds, in bytes of content.
_DRAWN = 100
#: Arrays of numbers, such as widths of letters, are one token, because the count does not need them.
_TOKEN = re.compile(
    rb"\[\s*[\d.-][\d\s.-]*(?:\[[\d\s.-]*\][\d\s.-]*)*\]|(<<)|(>>)|(\[)|(\])|/([^\0\t\n\f\r /<>\[\](){}%]*)|(\d+)"
    rb" \d+ R\b|\([^\\()]*(?:\\.[^\\()]*)*\)|<[^<>]*>|([^\0\t\n\f\r /<>\[\](){}%]+)",
    re.DOTALL,
)
_OBJECT = re.compile(rb"\s*\d+ \d+ obj\s*")
_STREAM = re.compile(rb"\s*stream\r?\n")
#: A name with the operator that draws it (``Do``) or sets it (``Tf``); and each such operator by itself. Matches within
#: strings count, too.
_USED = re.compile(rb"/([^\0\t\n\f\r /<>\[\](){}%]+)[\0\t\n\f\r ]+(?:(Do)|[^\0\t\n\f\r /<>\[\](){}%]+[\0\t\n\f\r ]+Tf)")
_DRAWS, _SETS = (re.compile(rb"%s(?=[\0\t\n\f\r /<>\[\](){}%%]|$)" % operator) for operator in (b"Do", b"Tf"))
#: The number of clips or marks that PDFium copies in the time for one byte of content; a copy takes 12 to 30 ns.
_COPIED = 4
#: The operators that nest clips and marks, and those that begin strings, comments and inline images.
_NESTED = re.compile(rb"[(%]|(?<![^\0\t\n\f\r <>\[\](){}%])(?:(q|Q|W|BMC|BDC|EMC)|ID)(?=[\0\t\n\f\r /<>\[\](){}%*]|$)")
_LINE_END = re.compile(rb"[\r\n]")
_IMAGE_END = re.compile(rb"(?<![^\0\t\n\f\r ])EI(?![^\0\t\n\f\r ])")
_PARENTHESIS = re.compile(rb"\\.|[()]", re.DOTALL)
#: A single empty dictionary for all uses, because dictionaries are distinguished by their address.
_EMPTY: dict[str, Any] = {}
#: The minimum number of bytes of content that draw a form.
_SHORTEST = 5
_HEX = re.compile(rb"#([0-9a-fA-F]{2})")


class Limits(NamedTuple):
    """The limits of a document.

    Attributes:
        pages: The maximum number of pages.
        characters: The maximum number of characters of all pages.
        content: The maximum number of bytes of content after decompression, counted as often as they are drawn, plus
            one for each 16 bytes of loaded fonts. The default allows 20,000 pages of 100 kB; pages of manuals have 20
            kB.
        stream: The maximum size of one stream after decompression, in bytes.
    """

    pages: int = 20_000
    characters: int = 100_000_000
    content: int = 2_000_000_000
    stream: int = 256_000_000


LIMITS = Limits()


class WorkError(ValueError):
    """The error for pages that need more work than is allowed; its message names the limit and the number received."""


class _Ref(NamedTuple):
    number: int


class _Stream(NamedTuple):
    keys: dict[str, Any]
    data: memoryview


class _Content(NamedTuple):
    """A stream's content: its bytes after decompression, how often it draws each form, and the fonts that it sets.

    ``forms_unknown`` is the number of further forms that it may draw, and ``fonts_unknown`` the number of further fonts
    that it may set. The names of these forms and fonts cannot be read.
    """

    length: int
    forms: Counter[str]
    fonts: frozenset[str]
    forms_unknown: int
    fonts_unknown: int


class _Work(NamedTuple):
    """The bytes of content, counted as often as they are drawn, and the fonts that the content sets.

    A page loads each font once.
    """

    drawn: int
    fonts: frozenset[int]


def check_work(document: Any, limits: Limits) -> None:
    """Check that the pages of an open ``pypdfium2.PdfDocument`` need no more work than the limits allow.

    Raises:
        WorkError: The pages need more work.
    """
    count = len(document)
    if count > limits.pages:
        raise WorkError(f"asks for too much work: {count:,} pages; at most {limits.pages:,} are read: split the file")
    objects = _Objects(saved(document))
    pages = _pages(objects, count)
    counter = _Counter(objects, len(pages), limits)
    for page in pages:
        counter.add(page)


def saved(document: Any) -> bytearray:
    """Return the file as PDFium writes it."""
    import pypdfium2.raw as raw

    found = bytearray()

    def write(_: Any, data: int, size: int) -> int:
        found.extend(ctypes.string_at(data, size))
        return 1

    out = raw.FPDF_FILEWRITE(version=1)
    out.WriteBlock = type(out.WriteBlock)(write)
    raw.FPDF_SaveAsCopy(document, out, raw.FPDF_REMOVE_SECURITY)
    return found


class _Objects:
    """The objects of a file that PDFium wrote, each parsed on request."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._places: dict[int, int] = {}
        self._parsed: dict[int, Any] = {}
        begin = data.rfind(b"\nxref") + 1
        end = data.find(b"trailer", begin)
        self.trailer: dict[str, Any] = {}
        if not begin or end < 0:
            return
        lines = iter(bytes(data[begin:end]).split(b"\n")[1:])
        for head in lines:
            first, _, count = head.strip().partition(b" ")
            if count:
                for number in range(int(first), int(first) + int(count)):
                    entry = next(lines)
                    if entry[17:18] == b"n":
                        self._places[number] = int(entry[:10])
        found = _value(data, end + len(b"trailer"))[0]
        if isinstance(found, dict):
            self.trailer = found

    def get(self, value: Any) -> Any:
        """Return the object that a reference refers to; any other value is returned unchanged."""
        if not isinstance(value, _Ref):
            return value
        number = value.number
        if number not in self._parsed:
            self._parsed[number] = self._read(number)
        return self._parsed[number]

    def keys(self, value: Any) -> dict[str, Any]:
        """Return the dictionary that a value is, refers to, or has as a stream; empty if there is none."""
        found = self.get(value)
        if isinstance(found, _Stream):
            return found.keys
        return found if isinstance(found, dict) else _EMPTY

    def _read(self, number: int) -> Any:
        place = self._places.get(number)
        head = None if place is None else _OBJECT.match(self._data, place)
        if head is None:
            return None
        found, end = _value(self._data, head.end())
        stream = _STREAM.match(self._data, end) if isinstance(found, dict) else None
        if stream is None:
            return found
        length = found.get("Length")
        length = length if isinstance(length, int) else self.get(length)
        return _Stream(found, memoryview(self._data)[stream.end() :][: length if isinstance(length, int) else 0])


def _key(value: Any) -> int:
    """Return a number that identifies a value: the number of the object it refers to, or minus its memory address."""
    return value.number if isinstance(value, _Ref) else -id(value)


def _value(data: bytes | bytearray, at: int) -> tuple[Any, int]:
    """Return the value that begins at ``at``, and the position after it; strings, fractions and words become None."""
    root: list[Any] = []
    stack: list[tuple[bool, list[Any]]] = [(False, root)]
    for token in _TOKEN.finditer(data, at):
        kind, items = token.lastindex, stack[-1][1]
        if kind == 1 or kind == 3:
            stack.append((kind == 1, []))
            continue
        if kind == 2 or kind == 4:
            if len(stack) == 1:
                return None, token.start()
            is_dict, inner = stack.pop()
            made: Any = inner
            if is_dict:
                made = {key: value for key, value in zip(inner[::2], inner[1::2], strict=False) if isinstance(key, str)}
            stack[-1][1].append(made)
        elif kind == 5:
            items.append(_name(token[5]))
        elif kind == 6:
            items.append(_Ref(int(token[6])))
        else:
            items.append(int(token[7]) if kind == 7 and token[7].isdigit() else None)
        if len(stack) == 1:
            return root[0], token.end()
    return None, len(data)


def _name(said: bytes) -> str:
    if b"#" in said:
        said = _HEX.sub(lambda found: unhexlify(found[1]), said)
    return said.decode("latin-1")


_NOTHING = _Work(0, frozenset())


class _Page(NamedTuple):
    contents: list[Any]
    resources: Any


def _pages(objects: _Objects, count: int) -> list[_Page]:
    """Return the pages in their order, with the resources that they inherit."""
    pages: list[_Page] = []
    left: list[tuple[Iterator[Any], Any]] = [(iter([objects.keys(objects.trailer.get("Root")).get("Pages")]), None)]
    nodes = _NODES * count + 1000
    while left and len(pages) < count:
        kids, resources = left[-1]
        node = next(kids, left)
        if node is left:
            left.pop()
            continue
        keys = objects.keys(node)
        resources = keys.get("Resources", resources)
        below = objects.get(keys.get("Kids"))
        nodes -= 1
        if nodes < 0:
            most = _NODES * count + 1000
            raise WorkError(
                f"asks for too much work: {most + 1:,} nodes or more in its tree of {count:,} pages; at most {most:,} "
                f"are read: print it into a new PDF"
            )
        if isinstance(below, list):
            left.append((iter(below), resources))
        elif keys:
            found = objects.get(keys.get("Contents"))
            pages.append(_Page(found if isinstance(found, list) else [keys.get("Contents")], resources))
    return pages


def _filters(objects: _Objects, stream: _Stream) -> list[tuple[str, dict[str, Any]]]:
    """Return the filters of a stream in the order of decompression, each with its parameters."""
    names, given = (objects.get(stream.keys.get(key)) for key in ("Filter", "DecodeParms"))
    names = [objects.get(name) for name in names] if isinstance(names, list) else [names]
    given = given if isinstance(given, list) else [given]
    return [
        (full_name(name), objects.keys(each))
        for name, each in zip_longest(names, given[: len(names)])
        if isinstance(name, str)
    ]


def _of_font(objects: _Objects, font: Any) -> list[Any]:
    """Return the streams of a font that PDFium reads for each page."""
    keys = objects.keys(font)
    below = objects.get(keys.get("DescendantFonts"))
    inner = objects.keys(below[0]) if isinstance(below, list) and below else {}
    found = [keys.get("ToUnicode"), keys.get("Encoding"), inner.get("CIDToGIDMap")]
    for each in (keys, inner):
        described = objects.keys(each.get("FontDescriptor"))
        found += [described.get(key) for key in ("FontFile", "FontFile2", "FontFile3")]
    return found


class _Counter:
    """A counter of the work of pages, which decompresses each stream once."""

    def __init__(self, objects: _Objects, pages: int, limits: Limits) -> None:
        self._objects, self._limits = objects, limits
        self._pages, self._number, self._total = pages, 0, 0
        self._contents: dict[int, _Content] = {}
        self._lengths: dict[int, int] = {}
        self._fonts: dict[int, Any] = {}
        # The work of each font. Type 3 fonts are not stored, because a page's resources may draw their letters.
        self._files: dict[int, _Work] = {}
        self._forms: dict[tuple[int, int, int], _Work] = {}
        self._resources: Any = None  # the resources of the page

    def add(self, page: _Page) -> None:
        """Count a page.

        Raises:
            WorkError: This page and the pages before it need more work than is allowed.
        """
        if page.resources != self._resources or not isinstance(page.resources, _Ref):
            self._forms.clear()
        self._resources = page.resources
        self._number += 1
        drawn, fonts = 0, set[int]()
        for each in page.contents:
            stream = self._objects.get(each)
            if isinstance(stream, _Stream):
                work = self._drawn(stream, self._of_page(), 0)
                drawn += work.drawn
                fonts |= work.fonts
                self._check(drawn)
        loaded: set[int] = set()
        while fonts:
            font = fonts.pop()
            loaded.add(font)
            work = self._font(font)
            drawn += work.drawn
            fonts |= work.fonts - loaded
            self._check(drawn)
        self._total += drawn

    def _check(self, more: int) -> None:
        if self._total + more > self._limits.content:
            alone = more > self._limits.content
            which = "draws" if alone else "and those before it draw"
            raise WorkError(
                f"asks for too much work: page {self._number:,} of {self._pages:,} {which} "
                f"{more if alone else self._total + more:,} bytes of content or more; at most "
                f"{self._limits.content:,} are read: {'print it into a new PDF' if alone else 'split the file'}"
            )

    def _drawn(self, stream: _Stream, resources: dict[str, Any], level: int) -> _Work:
        """Return the work of drawing a stream once; ``level`` is the number of forms around it.

        Names refer to ``resources``, else to the resources of the page.
        """
        content = self._content(stream)
        drawn, fonts = content.length + _DRAWN, set[int]()
        set_here = [self._named("Font", name, resources) for name in content.fonts]
        for font in (*set_here, *(self._all("Font", resources) if content.fonts_unknown else ())):
            if font is not None:
                key = _key(font)
                self._fonts[key] = font
                fonts.add(key)
        if level < _LEVELS:
            named = [(self._named("XObject", name, resources), count) for name, count in content.forms.items()]
            works = [(self._form(form, resources, level + 1), count) for form, count in named]
            if content.forms_unknown:
                each = [self._form(form, resources, level + 1) for form in self._all("XObject", resources)]
                works.append((max(each, default=_NOTHING, key=itemgetter(0)), content.forms_unknown))
                fonts.update(*(work.fonts for work in each))
            for work, count in works:
                drawn += work.drawn * count
                fonts |= work.fonts
                self._check(drawn)
        return _Work(drawn, frozenset(fonts))

    def _form(self, value: Any, above: dict[str, Any], level: int) -> _Work:
        """Return the work of drawing a form once; a form without resources uses those of the content that draws it."""
        form = self._objects.get(value)
        if not isinstance(form, _Stream) or form.keys.get("Subtype") == "Image":
            return _NOTHING
        own = self._objects.keys(form.keys.get("Resources")) or above
        key = id(form), id(own), level
        if key not in self._forms:
            self._forms[key] = self._drawn(form, own, level)
        return self._forms[key]

    def _font(self, key: int) -> _Work:
        """Return the work of loading a font once: reading its files, and drawing the letters of a Type 3 font."""
        if key in self._files:
            return self._files[key]
        font = self._fonts[key]
        total = sum(self._length(stream) for stream in _of_font(self._objects, font)) // _OF_FONTS
        keys, fonts = self._objects.keys(font), set[int]()
        if keys.get("Subtype") == "Type3":
            own = self._objects.keys(keys.get("Resources"))
            for each in self._objects.keys(keys.get("CharProcs")).values():
                letter = self._objects.get(each)
                if isinstance(letter, _Stream):
                    work = self._drawn(letter, own, 1)
                    total += work.drawn
                    fonts |= work.fonts
            return _Work(total, frozenset(fonts))
        return self._files.setdefault(key, _Work(total, frozenset()))

    def _named(self, kind: str, name: str, resources: dict[str, Any]) -> Any:
        for each in (resources, self._of_page()):
            found = self._objects.keys(each.get(kind)).get(name)
            if found is not None:
                return found
        return None

    def _all(self, kind: str, resources: dict[str, Any]) -> list[Any]:
        """Return all forms or all fonts that content with these resources may name."""
        return [each for held in (resources, self._of_page()) for each in self._objects.keys(held.get(kind)).values()]

    def _of_page(self) -> dict[str, Any]:
        return self._objects.keys(self._resources)

    def _content(self, stream: _Stream) -> _Content:
        key = id(stream)
        if key not in self._contents:
            self._contents[key] = _content_of(*self._data(stream))
        return self._contents[key]

    def _length(self, value: Any) -> int:
        stream = self._objects.get(value)
        if not isinstance(stream, _Stream):
            return 0
        key = id(stream)
        if key not in self._lengths:
            self._lengths[key] = len(self._data(stream)[0])
        return self._lengths[key]

    def _data(self, stream: _Stream) -> tuple[bytes, bool]:
        found = decompressed(stream.data, _filters(self._objects, stream), self._limits.stream)
        if len(found[0]) > self._limits.stream:
            raise WorkError(
                f"asks for too much work: a stream has {len(found[0]):,} bytes or more after decompression; at most "
                f"{self._limits.stream:,} are read: print it into a new PDF"
            )
        return found


def nesting(data: bytes) -> int:
    """Return the sum of the depths at which content nests its clips and marks.

    For each new clip or mark, PDFium copies the existing ones, so the time is quadratic in their number: 280 kB of
    ``/a BMC`` take 26 s. If an upper bound of the sum costs no more than the content itself, the function returns this
    bound, which is quicker to compute.
    """
    most = sum(data.count(word) for word in (b"W", b"BMC", b"BDC"))
    if most * most // 2 <= _COPIED * len(data):
        return most * most // 2
    total = clips = marks = at = 0
    saved_clips: list[int] = []
    while token := _NESTED.search(data, at):
        at, word = token.end(), token[1]
        if word == b"W":
            clips += 1
            total += clips
        elif word in (b"BMC", b"BDC"):
            marks += 1
            total += marks
        elif word == b"EMC":
            marks = max(0, marks - 1)
        elif word == b"q":
            saved_clips.append(clips)
        elif word == b"Q":
            clips = saved_clips.pop() if saved_clips else clips
        else:
            end = _end_of(data, token)
            for inner in _NESTED.finditer(data, at, end):
                # The clips and marks inside count, too, because this may not be a string, comment or image at all.
                clips += inner[1] == b"W"
                marks += inner[1] in (b"BMC", b"BDC")
                total += max(clips, marks) if inner[1] in (b"W", b"BMC", b"BDC") else 0
            at = end
    return total


def _end_of(data: bytes, token: re.Match[bytes]) -> int:
    """Return the end of a string, a comment or an inline image that a token begins."""
    if token[0] == b"%":
        found = _LINE_END.search(data, token.end())
        return found.end() if found else len(data)
    if token[0] == b"ID":
        found = _IMAGE_END.search(data, token.end())
        return found.end() if found else len(data)
    depth = 1
    for each in _PARENTHESIS.finditer(data, token.end()):
        depth += {b"(": 1, b")": -1}.get(each[0], 0)
        if not depth:
            return each.end()
    return len(data)


def _content_of(data: bytes, is_seen: bool) -> _Content:
    forms: Counter[str] = Counter()
    fonts: Counter[str] = Counter()
    if not is_seen:
        return _Content(len(data), forms, frozenset(), len(data) // _SHORTEST, len(data) // _SHORTEST)
    for (name, draws), count in Counter(_USED.findall(data)).items():
        (forms if draws else fonts)[_name(name)] += count
    length = len(data) + nesting(data) // _COPIED
    unknown = (max(0, len(each.findall(data)) - found.total()) for each, found in ((_DRAWS, forms), (_SETS, fonts)))
    return _Content(length, forms, frozenset(fonts), *unknown)
