"""The reader of MediaWiki XML dumps, to articles. It finds pages by their tags, and parses each page separately.

A page's text cannot hold ``<``, so ``<page>`` and ``</page>`` are found without a parser. The XML between them is
parsed by expat, Python's XML parser. One broken page becomes one dead letter. A document type, which could declare
entities, is an error inside a page, and is ignored outside of pages.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

import pyarrow as pa

from ..._util.memory import check_memory
from ...defaults import BYTES
from ...parsing.block_columns import BLOCKS_TYPE, packed
from ..decompression.bzip2 import Block
from ..document_batches import EXCERPT_BYTES, DeadLetter, DeadLetters, Document

if TYPE_CHECKING:
    from .wikitext import Cleaner

#: The maximum number of bytes of XML of one page. It is limited because a page of a history dump may exceed the memory.
MAX_PAGE_BYTES = BYTES.wiki_page
#: The column with the number of templates that were left out inside a page's sentences.
DROPPED = "dropped_templates"
COLUMNS = (
    ("title", pa.string()),
    ("ns", pa.int32()),
    ("redirect", pa.string()),
    ("timestamp", pa.string()),
    ("blocks", BLOCKS_TYPE),
    (DROPPED, pa.int32()),
)

_BEGIN, _END = b"<page>", b"</page>"
_ELEMENT = re.compile(rb"<[A-Za-z]")
_OWN_TAGS = (b"<mediawiki", b"<siteinfo", _BEGIN)
_NS = re.compile(rb"<ns>\s*(-?\d{1,9})\s*</ns>")
_SITE_BEGIN, _SITE_END = b"<siteinfo", b"</siteinfo>"
_FURNITURE = re.compile(rb"<\?xml\b[^<>]*>|</?mediawiki\b[^<>]*>")
_WHOLE = re.compile(r"-?[0-9]{1,10}")
_REDIRECT_TEXT = re.compile(r"\s*#redirect[\s:]*\[\[([^\]|#]*)", re.IGNORECASE)
_HEAD_BYTES = 1 << 20
#: The maximum depth of nested elements. Pages of dumps have 4.
_DEPTH = 100
#: The elements of a page that are read, by their paths below the root.
_PAGE = frozenset(
    {("title",), ("ns",), ("id",), ("redirect",), *(("revision", x) for x in ("timestamp", "model", "text"))}
)
_NAMESPACE = ("namespaces", "namespace")

#: The numbers and names of namespaces, as a tuple, so that they can be a key of a cache.
Namespaces = tuple[tuple[int, str], ...]


class RawPage(NamedTuple):
    """A page's XML, its offset in the decompressed dump, and the dump's namespaces."""

    file: str
    data: bytes
    offset: int
    namespaces: Namespaces
    bytes_read: int

    @property
    def size(self) -> int:
        """The number of bytes of the XML."""
        return len(self.data)


class PageFilter(NamedTuple):
    """The choice of pages: the numbers of their namespaces (empty: all), and whether redirects are kept."""

    namespaces: frozenset[int] = frozenset({0})
    redirects: bool = False


def pages(
    blocks: Iterable[Block], file: str, dead_letters: DeadLetters, wanted: PageFilter, max_bytes: int = MAX_PAGE_BYTES
) -> Iterator[RawPage]:
    """Yield the pages of one dump that may be wanted, in order and not parsed yet."""
    scan = _Scan(file, dead_letters, max_bytes)
    for block in _as_utf8(blocks, file, dead_letters):
        for page in scan.feed(block):
            if _may_be_wanted(page.data, wanted):
                yield page
    scan.finish()


def _as_utf8(blocks: Iterable[Block], file: str, dead_letters: DeadLetters) -> Iterator[Block]:
    """Yield the blocks unchanged, or converted to UTF-8 if the dump is in UTF-16, which some Windows tools write."""
    source = iter(blocks)
    first = next(source, None)
    if first is None:
        return
    source = itertools.chain([first], source)
    encoding = utf_16(first.data)
    if not encoding:
        yield from source
        return
    # Half a surrogate pair passes here, so that it does not end the reading. Its page is then refused, as invalid XML.
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    done = 0
    for block in source:
        if block.gap:
            yield block
            reason = "the rest is UTF-16, and the place at which its next character begins is unknown"
            dead_letters(DeadLetter(file, f"byte {done} of the UTF-16", reason))
            return
        done += len(block.data)
        yield block._replace(data=decoder.decode(block.data).encode("utf-8", "surrogatepass"))


def begins(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a dump."""
    if encoding := utf_16(head):
        head = head.decode(encoding, "replace").encode()
    return b"<mediawiki" in head and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def may_be(head: bytes) -> bool:
    """Return whether the first bytes of a file may be those of a dump or of a part of one, and not of other markup."""
    if encoding := utf_16(head):
        head = head.decode(encoding, "replace").encode()
    is_markup = head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and _ELEMENT.search(head)
    return not is_markup or any(each in head for each in _OWN_TAGS)


def utf_16(head: bytes) -> str:
    """Return the codec if bytes begin with a byte order mark of UTF-16 or with "<" in UTF-16, else ""."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-16-le" if head.startswith(b"<\0") else "utf-16-be" if head.startswith(b"\0<") else ""


def _may_be_wanted(data: bytes, wanted: PageFilter) -> bool:
    """Return whether a page may be wanted, judged by its XML before the first revision.

    Pages of old dumps have no ``ns`` and are checked again after parsing.
    """
    end = data.find(b"<revision")
    end = len(data) if end < 0 else end
    if not wanted.redirects and data.find(b"<redirect", 0, end) >= 0:
        return False
    match = _NS.search(data, 0, end) if wanted.namespaces else None
    return match is None or int(match[1]) in wanted.namespaces


class _Scan:
    """A scan that cuts a dump at its page tags."""

    def __init__(self, file: str, dead_letters: DeadLetters, max_bytes: int) -> None:
        self._file, self._dead_letters, self._max = file, dead_letters, max_bytes
        # These are the bytes that are not processed yet. Inside a page they begin with the page. Python deletes bytes
        # at the front of a bytearray without moving the others.
        self._held = bytearray()
        self._offset = 0  # the offset of the first of these bytes in the decompressed dump
        self._searched = 0
        self._inside = False
        self._outside = bytearray()
        self._outside_offset = 0
        self._namespaces: Namespaces = ()
        self._opened = self._closed = self._gap = False
        self._lost = False  # whether the rest of a page that was already reported may come before the next page

    def feed(self, block: Block) -> Iterator[RawPage]:
        if block.gap:
            self._lose("the page is cut off: the bytes after it could not be decompressed")
            self._gap = True
            return
        self._held += block.data
        while True:
            if not self._inside:
                start = self._held.find(_BEGIN, self._searched)
                if start < 0:
                    self._pass(max(0, len(self._held) - len(_BEGIN) + 1))
                    return
                self._pass(start)
                self._between()
                self._inside, self._searched = True, len(_BEGIN)
            end = self._held.find(_END, self._searched)
            if end < 0:
                self._searched = max(len(_BEGIN), len(self._held) - len(_END) + 1)
                if len(self._held) > self._max:
                    self._lose(f"the page is longer than {self._max:,} bytes")
                    continue
                return
            again = self._held.rfind(_BEGIN, 1, end)
            if again > 0:
                self._letter(self._offset, "the page has no end before the next one begins", self._held)
                self._drop(again)
            end = end + len(_END) - max(0, again)
            yield RawPage(self._file, bytes(self._held[:end]), self._offset, self._namespaces, block.bytes_read)
            self._drop(end)
            self._inside, self._searched = False, 0

    def finish(self) -> None:
        """Report a page that is open at the dump's end."""
        if self._inside:
            self._lose("the page has no end: the dump is cut off")
            return
        self._pass(len(self._held))
        self._between()
        if self._opened and not self._closed and not self._gap:
            self._letter(self._offset, "the dump does not end with </mediawiki>: it is cut off", b"")

    def _drop(self, count: int) -> None:
        del self._held[:count]
        self._offset += count

    def _pass(self, count: int) -> None:
        """Process bytes outside pages."""
        if not self._outside:
            self._outside_offset = self._offset
        self._outside += self._held[: min(count, max(0, _HEAD_BYTES - len(self._outside)))]
        self._drop(count)
        self._searched = 0

    def _between(self) -> None:
        """Check the bytes before a page, and report any but white space and the beginning or end of a dump."""
        outside, self._outside = bytes(self._outside).strip(), bytearray()
        lost, self._lost = self._lost, False
        if not outside:
            return
        begin, end = outside.rfind(b"<mediawiki"), outside.rfind(b"</mediawiki>")
        if begin >= 0 or end >= 0:
            self._opened, self._closed = True, end > begin
        rest = _FURNITURE.sub(b"", self._without_site(outside)).strip()
        if rest and not lost:
            self._letter(self._outside_offset, "bytes outside pages", rest)

    def _without_site(self, outside: bytes) -> bytes:
        """Return the bytes without the ``siteinfo`` elements, and read the namespaces that these define."""
        kept, position = [], 0
        while (begin := outside.find(_SITE_BEGIN, position)) >= 0:
            end = outside.find(_SITE_END, begin)
            if end < 0:
                break  # no later siteinfo has an end either
            kept.append(outside[position:begin])
            position = end + len(_SITE_END)
            self._read_site(outside[begin:position])
        return b"".join([*kept, outside[position:]])

    def _read_site(self, data: bytes) -> None:
        """Read the namespaces, and report those that cannot be read."""
        names: list[tuple[int, str]] = []
        try:
            for attributes, name in Parsed(data).namespaces:
                number = _number(attributes.get("key", ""))
                if number is None:
                    reason = f"siteinfo: the key of namespace {_short(name)} must be a whole number; got "
                    reason += _short(attributes["key"]) if "key" in attributes else "none"
                    self._letter(self._outside_offset, reason, data)
                else:
                    names.append((number, name))
        except (expat.ExpatError, ValueError) as error:
            self._letter(self._outside_offset, f"siteinfo cannot be read: {error}", data)
        self._namespaces = tuple(names)

    def _lose(self, reason: str) -> None:
        if self._inside:
            self._letter(self._offset, reason, self._held)
        self._offset += len(self._held)
        self._held, self._inside, self._searched = bytearray(), False, 0
        self._lost = True

    def _letter(self, offset: int, reason: str, data: bytes | bytearray) -> None:
        self._dead_letters(DeadLetter(self._file, f"byte {offset} of the XML", reason, bytes(data[:EXCERPT_BYTES])))


class Parsed:
    """The elements of a page or of ``siteinfo`` that are needed. Other elements are parsed, but not kept in memory.

    Attributes:
        texts: The texts of a page's elements, by path below the root. Of several elements with the same path, only the
            last counts.
        redirect: The target that the redirect element names.
        namespaces: The attributes and text of each namespace.

    Raises:
        expat.ExpatError: The XML is not well-formed.
        ValueError: Elements are nested too deep.
    """

    def __init__(self, data: bytes) -> None:
        self.texts: dict[tuple[str, ...], str] = {}
        self.redirect: str | None = None
        self.namespaces: list[tuple[dict[str, str], str]] = []
        self._path: list[str] = []
        self._kept: list[str] | None = None  # the text of the innermost open element, if it is wanted
        self._attributes: dict[str, str] = {}
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 1 << 16
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.Parse(data, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) > _DEPTH:
            raise ValueError(f"elements are nested more than {_DEPTH} deep")
        path = tuple(self._path[1:])
        wanted = path in _PAGE or path == _NAMESPACE
        self._kept, self._attributes = ([], attributes) if wanted else (None, {})
        if path == ("redirect",):
            self.redirect = attributes.get("title")

    def _end(self, _: str) -> None:
        if self._kept is not None:
            path, text = tuple(self._path[1:]), "".join(self._kept)
            if path == _NAMESPACE:
                self.namespaces.append((self._attributes, text))
            else:
                self.texts[path] = text
        self._kept = None
        self._path.pop()

    def _text(self, text: str) -> None:
        if self._kept is not None:
            self._kept.append(text)


def _number(text: str) -> int | None:
    """Return the integer that a text represents, or None if it is not an integer that fits into 32 bits."""
    if not _WHOLE.fullmatch(text) or not -(1 << 31) <= int(text) < 1 << 31:
        return None
    return int(text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


@lru_cache(maxsize=16)
def _cleaner(namespaces: Namespaces) -> Cleaner:
    # The import is here since few inputs are dumps; it would add 0.01 s to the start of every command.
    from .wikitext import Cleaner

    return Cleaner(dict(namespaces))


def rendered(found: Sequence[RawPage], wanted: PageFilter) -> tuple[list[Document], list[DeadLetter]]:
    """Return the documents of the wanted pages, parsed and cleaned, and dead letters for broken pages."""
    documents: list[Document] = []
    letters: list[DeadLetter] = []
    for page in found:
        try:
            document = _document(page, wanted)
        except expat.ExpatError as error:
            letters.append(lost(page, f"the page is not well-formed XML: {error}"))
            continue
        except ValueError as error:
            letters.append(lost(page, f"the page cannot be read: {error}"))
            continue
        except MemoryError as error:
            check_memory(error)
            letters.append(lost(page, f"the page of {page.size:,} bytes takes more memory than is available"))
            continue
        if document is not None:
            documents.append(document)
    return documents, letters


def lost(page: RawPage, reason: str) -> DeadLetter:
    """Return the dead letter of a page that cannot be read."""
    return DeadLetter(page.file, f"byte {page.offset} of the XML", reason, page.data[:EXCERPT_BYTES])


def _document(page: RawPage, wanted: PageFilter) -> Document | None:
    parsed = Parsed(page.data)
    texts = parsed.texts
    title, text = texts.get(("title",), ""), texts.get(("revision", "text"), "")
    target = parsed.redirect
    if ("ns",) in texts:
        ns = _number(texts["ns",].strip())
        if ns is None:
            raise ValueError(f"<ns> must be a whole number of at most 32 bits; got {_short(texts['ns',])}")
    else:  # dumps from before 2011 mark neither the namespace nor redirects
        ns = _namespaces(page.namespaces).get(title.partition(":")[0], 0) if ":" in title else 0
        match = _REDIRECT_TEXT.match(text)
        target = target or (match[1].strip() if match else None)
        if (wanted.namespaces and ns not in wanted.namespaces) or (target is not None and not wanted.redirects):
            return None
    blocks, dropped = None, 0
    timestamp = texts.get(("revision", "timestamp"))
    if texts.get(("revision", "model"), "wikitext") == "wikitext":
        if target is not None:
            text = text.lstrip().removeprefix("#")  # with the "#" of "#REDIRECT", the text would become a list item
        text, found, dropped = _cleaner(page.namespaces).page(text, _day(timestamp))
        blocks = None if found is None else packed(found)
    more = (title, ns, target, timestamp, blocks, dropped)
    return Document(texts.get(("id",), title), text, page.file, more, page.size, page.bytes_read)


def _day(timestamp: str | None) -> date | None:
    try:
        return date.fromisoformat((timestamp or "")[:10])
    except ValueError:
        return None


@lru_cache(maxsize=16)
def _namespaces(namespaces: Namespaces) -> dict[str, int]:
    return {name: number for number, name in namespaces if name}
