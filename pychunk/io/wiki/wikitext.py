"""The conversion of wikitext to plain text: prose, headings and lists stay, markup is removed.

A first pass finds text that must not be parsed (comments, nowiki, math, references). A second pass goes from bracket to
bracket, with a stack of the open brackets. A third pass goes over the lines. All passes are linear, so even hostile
input takes time only in proportion to its length. Brackets without a counterpart are removed, but the text in them
stays. A heading of a section closes all brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from html.entities import html5

from ..._engine import native
from ..._engine.data.superscripts import script_text
from .templates import APART, COUNTED, END, LOWERED, RAISED, UNSURE, Arguments, render

# The marks that this module puts into text are control characters. XML cannot hold them, and they are first removed
# from the text.
_DROPPED, _PIPE, _BREAK, _HELD, _BEGINS = "\x01", "\x02", "\x03", "\x04", "\x06"
_CONTROLS = bytes([*range(0x09), *range(0x0E, 0x20)])

#: The aliases of the namespace File in large Wikipedias, which dumps do not list.
_FILE_ALIASES = re.findall(
    r"\w+", "file image media bild imagen immagine afbeelding grafika imagem изображение зображення 画像 图像 圖像"
)
#: The link prefixes that look like language codes but are not.
_NOT_LANGUAGES = frozenset({"doi", "rfc", "mw", "wp", "ftp", "git", "oeis", "pmid", "isbn", "hdl"})

_OPAQUE = (
    "nowiki|pre|math|ce|chem|source|syntaxhighlight|poem|references|ref|gallery|timeline|imagemap|score|hiero|graph|"
    "mapframe|maplink|templatedata|templatestyles|inputbox|categorytree|includeonly|section|indicator|"
    "dynamicpagelist|charinsert"
)
_OPENING = re.compile(rf"<(?:!--|({_OPAQUE})\b([^<>]*)>)", re.IGNORECASE)
#: The elements in which even another opening tag of the same name is text.
_VERBATIM = frozenset({"nowiki", "pre", "source", "syntaxhighlight"})
_CLOSING: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"<(/){name}\s*>|<{name}\b([^<>]*)>", re.IGNORECASE) for name in _OPAQUE.split("|")
}
_COMMENT_END = re.compile("-->")
_LINE_END = re.compile(r"[ \t]*(?=\n)")

_HAS_HEADING = re.compile(r"\n==[^\n]*==[ \t]*\n")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftp|irc|news|gopher):|mailto:|//)[^\s\[\]<>]*(?:[ \t]([^\[\]\n]*))?\]", re.IGNORECASE
)
_SWITCH = re.compile(r"__([^\W\d_]+(?:_[^\W\d_]+)*)__")
_VARIANT = re.compile(r"-\{([^{}\n]*)\}-")
_QUOTES = re.compile(r"('{2,})")

_BREAKING = frozenset(
    re.findall(
        r"\w+",
        "br p div blockquote poem center hr ul ol li dl dd dt table tr td th caption h1 h2 h3 h4 h5 h6 section",
    )
)
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr b bdi bdo big cite code data del dfn em font i img ins kbd mark nobr noinclude onlyinclude q rb rp rt "
        "rtc ruby s samp small span strike strong sub sup time translate tt tvar u var wbr tbody thead tfoot timeline "
        "ce chem gallery hiero imagemap includeonly math nowiki pre ref references score source syntaxhighlight",
    )
)
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(\b[^<>]*)>")
_ATTRIBUTES = re.compile(r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))*\s*/?", re.ASCII)
#: Raised or lowered text without markup in it, between the tags of an element or the marks of a template.
#: ``re`` skips to the characters of the leading set. It would try two alternatives at each character.
_SCRIPT = re.compile(
    rf"[<{RAISED}{LOWERED}](?:(?<=<)(su[pb])\b([^<>]*)>([^<>\n]{{0,200}})</\1\s*>|"
    rf"(?<=[{RAISED}{LOWERED}])([^\n{RAISED}{LOWERED}{END}]{{0,200}}){END})",
    re.IGNORECASE,
)
_FEW = re.compile(r"[0-9+\-−ni]+")
#: The markup that may come between raised text and the text before it: bold and italic marks, tags, and dropped text.
_BETWEEN = re.compile(rf"(?:'{{2,}}|<[^<>\n]{{0,100}}>|{_DROPPED})+\Z")
#: The number of characters before raised or lowered text that decide in which form this text is written.
_BEFORE = 160
_UNSURE_TEXT = re.compile(f"{UNSURE}([^{UNSURE}\n]*){UNSURE}")
_SHOWN = re.compile(rf"{UNSURE}[^{UNSURE}\n]*{UNSURE}|[{COUNTED}{_DROPPED}{UNSURE}]")
_BETWEEN_DIGITS = re.compile(f"(?<=[0-9]){APART}+(?=[0-9])")
_RAISED = str.maketrans("0123456789+-−ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿⁱ")
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_ORPHANS = re.compile(rf"\([\s,;:{_DROPPED}]*{_DROPPED}[\s,;:{_DROPPED}]*(\)?)")
_BREAKS = re.compile(rf"{_BREAK}[ {_BREAK}]*(?:\n[ {_BREAK}]*)?")
_HELD_INDEX = re.compile(f"{_HELD}([0-9]+){_HELD}")
#: The mark of a block before white space. It is moved after the white space, whose lines and blanks are then merged.
_MISPLACED = re.compile(rf"{_BEGINS}.(?:[\s{_BREAK}](?:[\s{_BREAK}]|{_BEGINS}.)*|\Z)")
_TEX_MARKS = re.compile(r"([{}\[|])(?=[{}\[|])|(\])(?=\])")

#: The maximum number of blocks of a page. A page with more blocks gets none. Pages of Wikipedia have a few hundred.
MAX_BLOCKS = 200_000
#: The letters that follow the mark ``_BEGINS`` of a block and name its kind. Items have a letter for each level of
#: nesting up to 20.
_PARAGRAPH, _CODE, _ITEMS = "p", "c", "ABCDEFGHIJKLMNOPQRST"
_KINDS = {
    _PARAGRAPH: ("paragraph", 0),
    _CODE: ("code", 0),
    **{str(level): ("heading", level) for level in range(1, 7)},
    **{letter: ("item", level) for level, letter in enumerate(_ITEMS, 1)},
}

#: A block of the plain text: its kind, its level, and the positions of its start and end in characters.
Row = tuple[str, int, int, int]
#: A function from a template's arguments to its text; see ``templates``.
Template = Callable[[Arguments], str]


class Cleaner:
    """A converter of one wiki's pages from wikitext to plain text. It can be pickled and is thread-safe.

    A heading becomes a separate line without marks, between blank lines. A paragraph becomes one line. A list item
    becomes a line that begins with ``- ``. References, tables, files, categories and most unknown templates are left
    out. Link texts stay, and formulas stay as TeX. Templates that carry prose or values become text (see
    ``templates``). An unknown template inside a sentence shows its argument if it has a single plain one.

    Args:
        namespaces: The names of a dump's namespaces by number. By them, links to files (6) and categories (14) are
            recognized in the dump's language.
        templates: Functions from ``Arguments`` to text for further templates, by their names in lower case.

    >>> Cleaner()("'''Ada''' ({{IPA|ˈeɪdə}}) is a [[programming language|language]].<ref>x</ref>")
    'Ada (ˈeɪdə) is a language.'
    """

    def __init__(
        self, namespaces: Mapping[int, str] | None = None, templates: Mapping[str, Template] | None = None
    ) -> None:
        names = namespaces or {}
        self._files = frozenset([*_FILE_ALIASES, names.get(6, "").lower(), names.get(-2, "").lower()]) - {""}
        self._categories = frozenset(["category", names.get(14, "").lower()]) - {""}
        self._spaces = frozenset(name.lower() for name in names.values()) - {""}
        self._templates = dict(templates or {})

    def __call__(self, wikitext: str, when: date | None = None) -> str:
        """Return the plain text of one page. No input raises an error; from invalid markup only the marks are removed.

        ``when`` is the date of the page, for templates that count years up to it.
        """
        held: list[str] = []
        return _restore(_lines(self._prose(wikitext, held, when)[0]), held).strip()

    def with_blocks(self, wikitext: str, when: date | None = None) -> tuple[str, list[Row] | None]:
        r"""Return the plain text of a page, and its blocks in the form of ``segment(columns={"blocks": ...})``.

        The level of a heading is the number of its equals signs, which is 2 for the sections of an article. The level
        of a list item is its depth of nesting. Code of several lines is one block. Everything else is a paragraph. If a
        page has more than ``MAX_BLOCKS`` blocks, the result is None in place of blocks.

        >>> Cleaner().with_blocks("A cat.\n== Diet ==\n* fish")
        ('A cat.\n\nDiet\n\n- fish', [('paragraph', 0, 0, 6), ('heading', 2, 8, 12), ('item', 1, 14, 20)])
        """
        return self.page(wikitext, when)[:2]

    def page(self, wikitext: str, when: date | None = None) -> tuple[str, list[Row] | None, int]:
        """Return the result of :meth:`with_blocks`, and how many templates were left out inside sentences.

        References, notices, boxes, icons and the like are not counted.

        >>> Cleaner().page("It weighs {{mystery|1|2}} kg.{{cn}}")[::2]
        ('It weighs kg.', 1)
        """
        held: list[str] = []
        prose, dropped = self._prose(wikitext, held, when)
        marked = _restore(_lines(prose, held), held)
        if marked.count(_BEGINS) <= MAX_BLOCKS:
            return (*_told(marked), dropped)
        return re.sub(f"{_BEGINS}.", "", marked).strip(), None, dropped

    def _prose(self, wikitext: str, held: list[str], when: date | None) -> tuple[str, int]:
        """Return the text without markup except for headings, lists, bold and italic type.

        Text that must not be parsed is moved to ``held``. The second value is the number of templates that were left
        out inside sentences.
        """
        text = _uncontrolled(wikitext).replace("\r\n", "\n").replace("\r", "\n")
        text = _hold("\n" + text + "\n", held)
        text = native.without_brackets(text, lambda content: self._template(content, when), self._is_hidden)
        text, dropped = _decided(text)
        return _inline(text), dropped

    def _is_hidden(self, target: str, has_label: bool) -> bool:
        """Return whether a link whose target has a colon is left out."""
        name = target.partition(":")[0].strip(" \t\n_").lower()
        if name in self._files or name in self._categories:
            return True
        return not has_label and _is_language(name) and name not in self._spaces

    def _template(self, content: str, when: date | None) -> str:
        if "\n=" in content and _HAS_HEADING.search(content + "\n"):
            return content  # a heading is between the braces, so they do not belong together
        text = render(content.replace(UNSURE, ""), self._templates, when)
        return text.replace("|", _PIPE) if text else _DROPPED


_ENGLISH = Cleaner()


def clean(wikitext: str) -> str:
    r"""Return the plain text of a page of an English wiki. See :class:`Cleaner`.

    >>> print(clean("A [[cat|cat]] sat.\n== Diet ==\n* fish\n* {{convert|2|kg|lb}} of mice"))
    A cat sat.
    <BLANKLINE>
    Diet
    <BLANKLINE>
    - fish
    - 2 kg of mice
    """
    return _ENGLISH(wikitext)


def _is_language(prefix: str) -> bool:
    if not 2 <= len(prefix.partition("-")[0]) <= 3 or prefix in _NOT_LANGUAGES:
        return False
    return prefix.replace("-", "").isalpha() and prefix.isascii()


def _uncontrolled(text: str) -> str:
    """Return the text without control characters.

    Bytes are checked in a sixth of the time that a regular expression takes.
    """
    data = text.encode("utf-8", "surrogatepass")
    kept = data.translate(None, _CONTROLS)
    return text if len(kept) == len(data) else kept.decode("utf-8", "surrogatepass")


def _hold(text: str, held: list[str]) -> str:
    """Return the text without comments and references, and move text that must not be parsed to ``held``."""
    parts: list[str] = []
    position = 0
    unclosed: set[str] = set()
    while (match := _OPENING.search(text, position)) is not None:
        start, end = match.span()
        name = (match[1] or "").lower()
        start = start if name else _line_begin(text, position, start)
        parts.append(text[position:start])
        if not name:
            position = _comment(text, start, end, parts, unclosed)
            continue
        position = end
        if match[2].rstrip().endswith("/"):
            parts.append(_DROPPED)
            continue
        if name in unclosed:
            continue
        stop, more = _end_of(name, text, end)
        if stop is None:
            if not more:
                unclosed.add(name)  # no closing tag follows anywhere, so none is searched again
            continue
        position = stop.end()
        parts.append(_opaque(name, text[end : stop.start()], held))
    parts.append(text[position:])
    return "".join(parts)


def _line_begin(text: str, position: int, start: int) -> int:
    """Return the position of the line feed before ``start`` if only blanks are between them, else ``start``."""
    begin = start
    while begin > position and text[begin - 1] in " \t":
        begin -= 1
    return begin - 1 if begin > position and text[begin - 1] == "\n" else start


def _comment(text: str, start: int, end: int, parts: list[str], unclosed: set[str]) -> int:
    """Return the position after a comment, or after its line if the line holds nothing else."""
    stop = None if "!" in unclosed else _COMMENT_END.search(text, end)
    if text[start] == "\n":
        after = None if stop is None else _LINE_END.match(text, stop.end())
        if stop is not None and after is not None:
            return after.end()
        parts.append("\n")
    if stop is None:
        unclosed.add("!")
        return end
    return stop.end()


def _end_of(name: str, text: str, position: int) -> tuple[re.Match[str] | None, bool]:
    """Return an element's closing tag or None, and whether a later element of the same name may have one."""
    while (match := _CLOSING[name].search(text, position)) is not None:
        if match[1]:
            return match, True
        if name not in _VERBATIM and not match[2].rstrip().endswith("/"):
            return None, True  # another element of this name opens first, so this element was never closed
        position = match.end()
    return None, False


def _opaque(name: str, content: str, held: list[str]) -> str:
    """Return the text that replaces an element whose content is not parsed."""
    if name == "poem":
        return "\n\n" + content.strip("\n").replace("\n", f"{_BREAK}\n") + "\n\n"
    if name == "nowiki":
        if not content:
            return ""
        held.append(_entities(content))
    elif name in ("math", "ce", "chem"):
        held.append(_TEX_MARKS.sub(r"\1\2 ", " ".join(_entities(content).split())).replace("'''", "' ' '"))
    elif name in ("pre", "source", "syntaxhighlight"):
        held.append(_entities(content).strip("\n"))
        block = f"{_HELD}{len(held) - 1}{_HELD}"
        return f"{_BREAK}{block}{_BREAK}" if "\n" in held[-1] else block
    else:
        return _DROPPED
    return f"{_HELD}{len(held) - 1}{_HELD}"


def _restore(text: str, held: list[str]) -> str:
    return _HELD_INDEX.sub(lambda match: held[int(match[1])], text) if held else text


def _told(marked: str) -> tuple[str, list[Row]]:
    """Return the text without the marks of blocks, and the blocks."""
    before, *pieces = marked.split(_BEGINS)
    parts = [before]
    rows: list[Row] = []
    at = len(before)
    for piece in pieces:
        body = piece[1:]
        end = at + len(body.rstrip())
        start = at + len(body) - len(body.lstrip())
        if start < end:
            rows.append((*_KINDS[piece[0]], start, end))
        parts.append(body)
        at += len(body)
    text = "".join(parts)
    blank = len(text) - len(text.lstrip())
    return text.strip(), [(kind, level, start - blank, end - blank) for kind, level, start, end in rows]


def _placed(match: re.Match[str]) -> str:
    """Return the white space of a match, then the mark of the last block in it; at the end of the text, no mark."""
    marks = match[0]
    blank = re.sub(f"{_BEGINS}.", "", marks)
    if match.end() == len(match.string):
        return blank
    last = marks.rindex(_BEGINS)
    return blank + marks[last : last + 2]


def _decided(text: str) -> tuple[str, int]:
    """Decide whether unknown templates are shown or left out.

    Return the text, and the number of templates that were left out inside sentences. A template shows its argument if
    its line has other words. A template that is alone in its line is a notice or a box, and is left out.
    """
    if UNSURE not in text and COUNTED not in text:
        return text, 0
    lines = text.split("\n")
    dropped = 0
    for number, line in enumerate(lines):
        if UNSURE not in line and COUNTED not in line:
            continue
        if any(map(str.isalnum, _SHOWN.sub("", line))):
            dropped += line.count(COUNTED)
            line = _UNSURE_TEXT.sub(rf"{APART}\1{APART}", line)
        lines[number] = _SHOWN.sub(_DROPPED, line)
    return "\n".join(lines), dropped


def _scripts(text: str) -> str:
    """Return the text with raised and lowered text written as from HTML: ``x^{n+1}``, ``x_i``, ``H2O``, ``[3]``.

    If an element, and not a template, raises only digits, signs, n or i, they become Unicode's superscripts.
    """
    parts: list[str] = []
    position = 0
    for match in _SCRIPT.finditer(text):
        parts.append(text[position : match.start()])
        position = match.end()
        own = match[3] if match[4] is None else match[4]
        own = " ".join(_QUOTES.sub("", _unmarked(own).replace(_DROPPED, "")).split())
        decoded = _entities(own)
        own = own if any(mark in decoded for mark in "<>&[]{}|=" + _HELD) else decoded
        is_raised = match[0][0] == RAISED or (match[1] or "").lower() == "sup"
        if not own or _HELD in own or _PIPE in own:
            parts.append(own)
            continue
        if is_raised and match[4] is None and _FEW.fullmatch(own):
            parts.append(own.translate(_RAISED))
            continue
        before = ""
        for piece in reversed(parts[-8:]):
            before = piece[-_BEFORE:] + before
            if len(before) >= _BEFORE:
                break
        if not is_raised and own.startswith("("):
            parts.append(own)  # such as H2O(l)
            continue
        written = script_text(is_raised, False, _BETWEEN.sub("", before), own)
        if written[0] in "^_" and written[-1].isdigit() and text[position : position + 1].isdigit():
            written += " "
        parts.append(written)
    parts.append(text[position:])
    return _unmarked("".join(parts))


def _unmarked(text: str) -> str:
    """Return the text without the marks of raised and lowered text; ``translate`` takes 30 times as long."""
    return text.replace(RAISED, "").replace(LOWERED, "").replace(END, "")


def _inline(text: str) -> str:
    """Return the text without tags, addresses of external links, and blanks and brackets around dropped text."""
    if APART in text:
        text = _BETWEEN_DIGITS.sub(" ", text).replace(APART, "")
    if RAISED in text or LOWERED in text or END in text or "</su" in text or "</SU" in text:
        text = _scripts(text)
    if "<" in text:
        text = _TAG.sub(_tag, text)
    if "[" in text:
        text = _EXTERNAL.sub(lambda match: (match[1] or "").strip() or _DROPPED, text)
    if "__" in text:
        text = _SWITCH.sub(lambda match: "" if match[1].isupper() else match[0], text)
    if "-{" in text:
        text = _VARIANT.sub(_variant, text)
    if _DROPPED in text:
        text = _ORPHANS.sub(lambda match: _DROPPED if match[1] else "(", text)
        text = _without_orphans(text).replace(_DROPPED, "")
    return text


def _without_orphans(text: str) -> str:
    """Return the text without each blank before dropped text that a blank, a sign or the line's end follows."""
    first, *pieces = text.split(" " + _DROPPED)
    parts = [first]
    for number, piece in enumerate(pieces, 1):
        piece = piece.lstrip(_DROPPED)
        # If nothing follows in the piece, the blank of the next piece does.
        joins = piece[0] in " ,.;:)]\n" if piece else number < len(pieces)
        parts.append(piece if joins else " " + piece)
    return "".join(parts)


def _tag(match: re.Match[str]) -> str:
    name, rest = match[1].lower(), match[2]
    if name in _BREAKING:
        return _BREAK
    if name in _INLINE or _ATTRIBUTES.fullmatch(rest):
        return ""
    return match[0]


def _variant(match: re.Match[str]) -> str:
    """Return the first form of a language conversion such as -{zh-hans:a; zh-hant:b}-."""
    text = match[1].rpartition("|")[2]
    first = text.split(";")[0]
    code, colon, form = first.partition(":")
    return form.strip() if colon and code.strip().isascii() else text


def _entities(text: str) -> str:
    return _ENTITY.sub(_entity, text) if "&" in text else text


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    if name[0] != "#":
        return html5.get(name + ";", match[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    printable = code in (9, 10) or 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF
    return chr(code) if printable else ""


def _lines(text: str, held: list[str] | None = None) -> str:
    """Return the text with each heading, paragraph and list item on a separate line, and with entities decoded.

    If ``held`` is not None, the result has a mark at the beginning of each block.
    """
    code = ["\n" in each for each in held or ()]
    joined = _entities(native.wiki_lines(text, code, held is not None)).replace("\xa0", " ").replace("\t", " ")
    if held is not None:
        joined = _MISPLACED.sub(_placed, joined)
    joined = _shortened(joined, "  ", " ")
    if _BREAK in joined:
        joined = _BREAKS.sub("\n", joined.replace(" " + _BREAK, _BREAK))
    return _shortened(joined, "\n\n\n", "\n\n").strip()


def _shortened(text: str, run: str, short: str) -> str:
    """Return the text with each run of a character, as long as ``run`` or longer, replaced by ``short``.

    Each pass takes a third of a run or more, so all passes together are linear. A regular expression takes 4 times as
    long, because it stops at each such character.
    """
    while run in text:
        text = text.replace(run, short)
    return text
