"""The conversion of XML to the text of its elements; no entity of another file is read, and no element is run."""

from __future__ import annotations

import html
from xml.parsers import expat

from ..pdf.paged_text import Paged, PagedWriter
from .dispatch import ConversionError, plain

#: The maximum number of elements, and of elements around another one.
MAX_ELEMENTS, MAX_DEPTH = 5_000_000, 1000
#: The maximum length of the text, as a multiple of the file's, plus this many characters. Entities can make it longer.
MAX_GROWTH, MAX_MORE = 4, 1_000_000
#: The names of the elements that are headings, items, code and terms; other elements with text are paragraphs.
_KINDS = {
    "heading": ["title", "head", "heading"],
    "item": ["listitem", "item", "li"],
    "code": ["programlisting", "screen", "literallayout", "verbatim", "pre", "synopsis"],
    "term": ["term"],
}
_OF = {name: kind for kind, names in _KINDS.items() for name in names}
#: The names of attributes whose values a reader sees, as in OPML, drawings and forms.
_SHOWN = frozenset(["alt", "caption", "description", "label", "summary", "text", "title"])
#: The elements that hold facts about the element around them, whose titles are that element's.
_ABOUT = frozenset(
    ["info", "bookinfo", "articleinfo", "chapterinfo", "sectioninfo", "titlepage", "header", "metadata", "prolog"]
)


def convert(data: bytes) -> Paged:
    r"""Convert XML to a document in which each element that has text of its own is a block.

    Elements inside such text, such as emphasis, belong to it. The level of a heading counts the elements around it. The
    attributes that a reader sees, such as ``title`` and ``alt``, come before the text of their element.

    Raises:
        ConversionError: The bytes are not well-formed XML, or are above the limits.

    Example:
        >>> convert(b"<book><title>Cats</title><para>They <em>purr</em>.</para></book>").text
        'Cats\n\nThey purr.'
    """
    return _Reader(data).read()


#: The names of elements that begin and end a line.
_BREAKS = frozenset(["br", "lb", "l", "line", "p", "para", "div", "li", "item", "tr", "row", "td", "th", "cell"])


class _Reader:
    """The events of the parser, and the blocks that they make."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.names: list[str] = []
        self.mixed: list[bool] = []  # for each open element, whether it has text of its own
        self.text: list[str] = []
        self.at = 0  # the number of elements around the text
        self.kind = "paragraph"
        self.level = 0
        self.blocks: list[tuple[str, int, str]] = []
        self.left = MAX_GROWTH * len(data) + MAX_MORE
        self.elements = MAX_ELEMENTS

    def read(self) -> Paged:
        parser = expat.ParserCreate(namespace_separator=None)
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.SkippedEntityHandler = self.skipped
        parser.UseForeignDTD(True)  # makes an undefined entity a skipped one instead of an error; nothing is read
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            raise ConversionError(f"not XML: {error}; correct the file, or pass kind='text'") from None
        self.flush()
        writer = PagedWriter()
        levels = sorted({level for kind, level, _ in self.blocks if kind == "heading"})
        for kind, level, text in self.blocks:
            own = min(6, levels.index(level) + 1) if kind == "heading" else level if kind == "item" else 0
            writer.put(kind, own, text, 1)
        title = next((text for kind, _, text in self.blocks if kind == "heading"), "")
        return writer.done(" ".join(title.split()), 0, [])

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.elements -= 1
        if self.elements < 0:
            raise ConversionError(f"it has more than {MAX_ELEMENTS:,} elements: divide the file")
        if len(self.names) >= MAX_DEPTH:
            raise ConversionError(f"it has elements inside more than {MAX_DEPTH:,} others: correct the file")
        if not (self.mixed and self.mixed[-1]):
            self.flush()
        self.names.append(name.rpartition(":")[2].lower())
        self._break()
        self.mixed.append(bool(self.mixed) and self.mixed[-1])
        for key, value in attributes.items():
            if value.strip() and key.rpartition(":")[2].lower() in _SHOWN:
                self._show(value)

    def _show(self, value: str) -> None:
        """Add the value of an attribute to the text around its element, or as a block of its own."""
        self._count(value)
        if self.mixed[-1]:
            self.text.append(f" {value} ")
        else:
            self._begin()
            self.text.append(value)
            self.flush()

    def end(self, name: str) -> None:
        self._break()
        self.names.pop()
        self.mixed.pop()

    def _break(self) -> None:
        """End a line at an element that begins or ends one in the text around it."""
        if self.text and self.names[-1] in _BREAKS:
            self.text.append("\n")

    def _count(self, text: str) -> None:
        self.left -= len(text)
        if self.left < 0:
            raise ConversionError("its entities make a text that is much longer than the file: remove them")

    def characters(self, text: str) -> None:
        self._count(text)
        if text.strip() and not self.mixed[-1]:
            # An element at the beginning of this one belongs to its text, unless others were between.
            if self.text and len(self.names) < self.at - 1:
                self.flush()
            if not self.text:
                self._begin()
            self.at = len(self.names)
            self.mixed[-1] = True
        if self.text or text.strip():
            self.text.append(text)

    def skipped(self, name: str, is_parameter: bool) -> None:
        """Keep an entity that the document does not define: those of HTML as their characters, others as written."""
        if not is_parameter:
            self.characters(html.unescape(f"&{name};"))

    def flush(self) -> None:
        """Make a block of the text so far."""
        text = "".join(self.text).replace("\f", " ")
        self.text.clear()
        bare = text.strip("\n").rstrip() if self.kind == "code" else " ".join(text.split())
        if not bare.strip():
            return
        self.blocks.append((self.kind, self.level, plain(bare)))

    def _begin(self) -> None:
        """Set the kind and the level of the block whose text begins."""
        self.kind = next((_OF[each] for each in reversed(self.names) if each in _OF), "paragraph")
        self.level = len(self.names) - sum(each in _ABOUT for each in self.names)
        if self.kind == "item":
            self.level = min(100, sum(_OF.get(each) == "item" for each in self.names))
