"""The conversion of RTF to plain text.

The package striprtf reads all bytes in one encoding, whatever their fonts declare, and loses the cells of tables.
"""

from __future__ import annotations

import codecs
import itertools
import re
from dataclasses import dataclass, field, replace
from operator import itemgetter

from ..pdf.paged_text import CELLS, Paged, PagedWriter
from .dispatch import ConversionError

#: A control word with its number, a byte in hexadecimal, an escaped character, a brace, a line end, or text.
_TOKEN = re.compile(rb"(?is)\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\(.)|([{}])|[\r\n]+|[^\\{}\r\n]+")
#: The code page that the file declares for the bytes of its characters.
_PAGE = re.compile(rb"\\ansicpg(\d{3,5})")
#: The pages of the Macintosh, which Python knows by names.
_MAC_PAGES = {"10000": "mac_roman", "10006": "mac_greek", "10007": "mac_cyrillic", "10029": "mac_latin2"}
#: The encodings of the character sets that a font may have. Other fonts have the encoding of the file.
_CHARSETS = {0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950"}
_CHARSETS |= {161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257"}
_CHARSETS |= {204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"}
#: The control words and the escaped characters that stand for characters.
_SIGNS = {"tab": "\t", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ", "qmspace": " ", "bullet": "•"}
_SIGNS |= {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "zwj": "\u200d", "zwnj": "\u200c"}
_SIGNS |= {"~": " ", "_": "\u2011", "{": "{", "}": "}", "\\": "\\", "nestcell": " "}
#: The ends of a line.
_ENDS = ("par", "line", "sect", "page", "column", "\n", "\r")
#: The groups that are no text.
_HIDDEN = re.compile(
    "(header|footer)[lrf]?|colortbl|stylesheet|info|pict|nonshppict|fldinst|[rt]?xe|tc|sp|shprslt|nonesttables|"
    "obj(data|class|name)|bkmk(start|end)|annotation|listtable|filetbl"
)
#: The groups whose text follows that of the document; and groups that are read though a star lets readers skip them.
_APART = ("footnote", "shptxt", "dptxbxtext")
_SHOWN = (*_APART, "shpinst", "do")


@dataclass
class _Story:
    """The lines of the document, of a footnote or of a text box, each with whether it is the row of a table."""

    lines: list[tuple[bool, str]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)  # of the line so far
    cell: list[str] = field(default_factory=list)  # the lines of the cell so far
    row: list[str] = field(default_factory=list)  # the cells of the row so far
    inside: bool = False  # whether the line is in a table

    def end_line(self) -> None:
        # A character beyond 16 bits is written as two numbers, which are two halves of a pair.
        text = "".join(self.text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self.text = []
        line = " ".join(text.split())
        if line and self.inside:
            self.cell.append(line)
        elif line:
            self.lines.append((False, line))

    def end_row(self) -> None:
        """End the row, if there is one. Lines after its last cell are paragraphs."""
        self.end_line()
        if any(self.row):
            self.lines.append((True, CELLS.join(self.row).strip()))
        self.lines += [(False, line) for line in self.cell]
        self.cell, self.row, self.inside = [], [], False


@dataclass(frozen=True)
class _Group:
    """The state that holds until the end of a group."""

    story: _Story | None  # that its text belongs to; None if the text is hidden
    deleted: bool = False  # whether the file only records that the text was there
    font: int = -1
    others: int = 1  # the bytes after a character of Unicode that are for programs without Unicode


def convert(data: bytes) -> Paged:
    r"""Convert RTF to plain text with a paragraph for each line; rows of tables have bars between their cells.

    Lines of one cell are joined. Deleted text is left out. Footnotes and text boxes follow the text, each with
    paragraphs of its own.

    Raises:
        ConversionError: The bytes are not RTF.

    Example:
        >>> convert(rb"{\rtf1\ansi Cats purr.\par They sleep.\par}").text
        'Cats purr.\n\nThey sleep.'
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise ConversionError("not RTF: it does not begin with {\\rtf; save it as .rtf again")
    page = _PAGE.search(data[:4096])
    number = page[1].decode() if page else "1252"
    encoding = _MAC_PAGES.get(number, f"cp{number}")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ConversionError(f"the code page {number} is unknown; save it in another format") from None
    reader = _Reader(encoding)
    reader.read(data)
    writer = PagedWriter()
    for story in reader.stories:
        for are_rows, group in itertools.groupby(story.lines, itemgetter(0)):
            lines = [line for _, line in group]
            for text in ["\n".join(lines)] if are_rows else lines:
                writer.put("table" if are_rows else "paragraph", 0, text, 1)
    return writer.done("", 0, [])


class _Reader:
    """The reader of a file, whose stories are the document, then its footnotes and its text boxes."""

    def __init__(self, encoding: str) -> None:
        self.stories = [_Story()]
        self._group, self._outer = _Group(self.stories[0]), list[_Group]()
        self._encoding, self._encodings = encoding, dict[int, str]()  # of the file, and of its fonts
        self._font, self._fonts = -1, _Story()  # the font of text that names none; the list of fonts is no text
        self._skipped = 0

    def read(self, data: bytes) -> None:
        at, starred = data.index(b"{"), False
        data += b"}"  # the text at the end of a file without its last brace is text, too
        held = bytearray()  # the bytes of one character may be in several tokens
        while (token := _TOKEN.match(data, at)) is not None:
            at = token.end()
            word, value, code, escaped, brace = token.groups()
            name = (word or escaped or b"").decode("latin-1")
            if code is not None or not (name or brace):
                piece = bytes.fromhex(code.decode()) if code is not None else token[0].strip(b"\r\n")
                held += piece[self._skipped :]
                self._skipped = max(0, self._skipped - len(piece))
                continue
            self._put(held.decode(self._encodings.get(self._group.font, self._encoding), "replace"))
            held.clear()
            self._skipped = 0
            if brace == b"{":
                self._outer.append(self._group)
            elif brace:
                self._group = self._outer.pop()
                if not self._outer:
                    break
            elif name == "bin":
                at += max(0, int(value or 0))
            else:
                self._word(name, None if value is None else int(value), starred)
            starred = name == "*"
        for story in self.stories:
            story.end_row()

    def _put(self, text: str) -> None:
        group = self._group
        if group.story is not None and not group.deleted:
            group.story.text.append(text)

    def _word(self, name: str, value: int | None, starred: bool) -> None:
        """Do what a control word says, or an escaped character; ``value`` is its number, if it has one."""
        group, story = self._group, self._group.story
        if story is None:
            return
        if _HIDDEN.fullmatch(name) or (starred and name not in _SHOWN):
            self._group = replace(group, story=None)
        elif name in _APART:
            self.stories.append(_Story())
            self._group = replace(group, story=self.stories[-1])
        elif name == "fonttbl":
            self._group = replace(group, story=self._fonts)
        elif name == "fcharset" and story is self._fonts and value in _CHARSETS:
            self._encodings[group.font] = _CHARSETS[value]
        elif name in ("deff", "f"):
            self._font = value or 0 if name == "deff" else self._font
            self._group = replace(group, font=value or 0)
        elif name == "plain":
            self._group = replace(group, font=self._font, deleted=False)
        elif name == "deleted":
            self._group = replace(group, deleted=value != 0)
        elif name == "uc":
            self._group = replace(group, others=max(0, value or 0))
        elif name == "u":
            number = (value or 0) + (1 << 16 if (value or 0) < 0 else 0)
            self._put(chr(number) if 0 < number < 0x110000 else "\ufffd")
            self._skipped = group.others
        elif name in _SIGNS:
            self._put(_SIGNS[name])
        elif name in _ENDS:
            story.end_line()
        elif name in ("trowd", "intbl"):
            story.inside = True
        elif name == "cell":
            story.inside = True
            story.end_line()
            story.row.append(" ".join(story.cell))
            story.cell = []
        elif name == "row":
            story.end_row()
