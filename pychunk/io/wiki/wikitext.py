"""Wikitext to plain text: prose, headings and lists stay, markup goes.

One pass finds what must not be parsed (comments, nowiki, math, references), a second one jumps from bracket to bracket
with a stack of what is open, a third one goes over lines. All are linear: hostile input costs time in proportion to
its length. What is not balanced loses its marks and keeps its text, and nothing stays open past a section heading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from html.entities import html5

from ..._engine.data.superscripts import script_text
from .templates import APART, COUNTED, END, LOWERED, RAISED, UNSURE, Arguments, render

#: Template, link and table frames open at once; marks beyond are dropped. Real pages stay below 20.
_DEPTH = 100

# Marks of our own are control characters, which XML cannot hold and which are removed from the text first.
_DROPPED, _PIPE, _BREAK, _HELD, _GOES_ON, _BEGINS = "\x01", "\x02", "\x03", "\x04", "\x05", "\x06"
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f]")

#: Namespace names that dumps do not list: aliases of File in large Wikipedias.
_FILE_ALIASES = re.findall(
    r"\w+", "file image media bild imagen immagine afbeelding grafika imagem изображение зображення 画像 图像 圖像"
)
#: Link prefixes that look like language codes but are not.
_NOT_LANGUAGES = frozenset({"doi", "rfc", "mw", "wp", "ftp", "git", "oeis", "pmid", "isbn", "hdl"})

_OPAQUE = (
    "nowiki|pre|math|ce|chem|source|syntaxhighlight|poem|references|ref|gallery|timeline|imagemap|score|hiero|graph|"
    "mapframe|maplink|templatedata|templatestyles|inputbox|categorytree|includeonly|section|indicator|"
    "dynamicpagelist|charinsert"
)
_OPENING = re.compile(rf"\n[ \t]*<!--|<!--|<({_OPAQUE})\b([^<>]*)>", re.IGNORECASE)
#: Elements in which even their own tag is text.
_VERBATIM = frozenset({"nowiki", "pre", "source", "syntaxhighlight"})
_CLOSING: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"<(/){name}\s*>|<{name}\b([^<>]*)>", re.IGNORECASE) for name in _OPAQUE.split("|")
}
_COMMENT_END = re.compile("-->")
_LINE_END = re.compile(r"[ \t]*(?=\n)")

_HEADING = r"(?=={1,6}[^\n]*=[ \t]*\n)"
_TOKEN = re.compile(
    r"\[\[([^\[\]{}|\n<>]*)(?:\|([^\[\]{}|\n]*))?\]\]"  # a link without markup in it
    r"|\{\{([^{}\[\]<]*)\}\}(?!\})"  # a template without markup in it
    r"|\{\{|\}\}|\[\[|\]\]"
    r"|\n[ \t:*#;]*\{\|(?!\})|\n[ \t]*\|\}"
    rf"|\n{_HEADING}"
    r"|</?table\b[^<>]*>",
    re.IGNORECASE,
)
_HAS_HEADING = re.compile(r"\n==[^\n]*==[ \t]*\n")
_STRAY_MARKS = ("{{", "}}", "[[", "]]", "{|", "|}")
_STRAY = re.compile(r"\{\{+|\}\}+|\[\[+|\]\]+|\n[ \t]*(?:\{\||\|\})")

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
#: Raised and lowered text without markup in it, by its element or by a template's marks.
_SCRIPT = re.compile(
    rf"<(su[pb])\b([^<>]*)>([^<>\n]{{0,200}})</\1\s*>|([{RAISED}{LOWERED}])([^\n{RAISED}{LOWERED}{END}]{{0,200}}){END}",
    re.IGNORECASE,
)
_SCRIPT_MARKS = str.maketrans("", "", RAISED + LOWERED + END)
_FEW = re.compile(r"[0-9+\-−ni]+")
#: What may stand between a raised text and what it belongs to: bold and italic type, tags, what was left out.
_BETWEEN = re.compile(rf"(?:'{{2,}}|<[^<>\n]{{0,100}}>|{_DROPPED})+\Z")
#: Characters before a raised text that are looked at.
_BEFORE = 160
_UNSURE_TEXT = re.compile(f"{UNSURE}([^{UNSURE}\n]*){UNSURE}")
_SHOWN = re.compile(rf"{UNSURE}[^{UNSURE}\n]*{UNSURE}|[{COUNTED}{_DROPPED}{UNSURE}]")
_BETWEEN_DIGITS = re.compile(f"(?<=[0-9]){APART}+(?=[0-9])")
_RAISED = str.maketrans("0123456789+-−ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿⁱ")
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_ORPHANS = re.compile(rf"\([\s,;:{_DROPPED}]*{_DROPPED}[\s,;:{_DROPPED}]*(\)?)")
_ORPHAN = re.compile(rf" {_DROPPED}+(?=[ ,.;:)\]\n])")
_SPACES = re.compile(r"  +")
_BREAKS = re.compile(rf" ?{_BREAK}[ {_BREAK}]*(?:\n[ {_BREAK}]*)?")
_BLANK_LINES = re.compile(r"\n{3,}")
_HEADING_LINE = re.compile(r"(={1,6})(.+?)\1$")
_HELD_INDEX = re.compile(f"{_HELD}([0-9]+){_HELD}")
_CODE_LINE = re.compile(f"[ {_BREAK}]*{_HELD}([0-9]+){_HELD}[ {_BREAK}]*")
#: A block's mark before white space, where it would keep lines and blanks apart that belong together.
_MISPLACED = re.compile(rf"{_BEGINS}.(?:[\s{_BREAK}](?:[\s{_BREAK}]|{_BEGINS}.)*|\Z)")
_TEX_MARKS = re.compile(r"([{}\[|])(?=[{}\[|])|(\])(?=\])")

#: Lines, and letters of them, that are objects at once: a page of two-letter lines would take 50 times its bytes.
_HELD_LINES, _HELD_LETTERS = 4096, 1 << 16

#: Blocks of a page; of one with more of them none are told. Those of Wikipedia have some hundred.
MAX_BLOCKS = 200_000
#: What begins a block is ``_BEGINS`` and one of these letters; items are nested up to 20 deep, as far as is told.
_PARAGRAPH, _CODE, _ITEMS = "p", "c", "ABCDEFGHIJKLMNOPQRST"
_KINDS = {
    _PARAGRAPH: ("paragraph", 0),
    _CODE: ("code", 0),
    **{str(level): ("heading", level) for level in range(1, 7)},
    **{letter: ("item", level) for level, letter in enumerate(_ITEMS, 1)},
}

#: A block of the plain text: kind, level, first character and the one after its last.
Row = tuple[str, int, int, int]
#: A template's arguments to its text; see ``templates``.
Template = Callable[[Arguments], str]


class Cleaner:
    """Turns the wikitext of one wiki's pages into plain text; picklable, thread-safe.

    Headings are lines of their own without marks, with blank lines around them; a paragraph is a line; a list item is
    a line that begins with ``- ``. References, tables, files, categories and unknown templates are left out; link
    texts stay; a formula stays as TeX; templates that carry prose or values are rendered (``templates``), and an
    unknown one with a single plain argument shows it inside a sentence.

    Args:
        namespaces: a dump's namespace names by number, for links to files (6) and categories (14) in its language.
        templates: more templates by lower-case name: functions from ``Arguments`` to text.

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
        """The plain text of one page. Never raises: what cannot be understood loses its marks.

        ``when``: the day that the page is of, for templates that count years from then.
        """
        held: list[str] = []
        return _restore(_lines(self._prose(wikitext, held, when)[0]), held).strip()

    def with_blocks(self, wikitext: str, when: date | None = None) -> tuple[str, list[Row] | None]:
        """The same text, and its blocks as ``pychunk.segment(blocks=...)`` takes them.

        Headings have the level of their marks, which is 2 for the sections of an article; list items how deep they are
        nested; code of several lines is a block of its own; everything else is paragraphs. Of a page with more than
        ``MAX_BLOCKS`` blocks they are None.

        >>> Cleaner().with_blocks("A cat.\\n== Diet ==\\n* fish")
        ('A cat.\\n\\nDiet\\n\\n- fish', [('paragraph', 0, 0, 6), ('heading', 2, 8, 12), ('item', 1, 14, 20)])
        """
        return self.page(wikitext, when)[:2]

    def page(self, wikitext: str, when: date | None = None) -> tuple[str, list[Row] | None, int]:
        """Return what :meth:`with_blocks` returns, and how many templates were left out inside sentences.

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
        """Lines without mark-up but that of headings, lists, bold and italic type; what is put aside is in ``held``.

        Also how many templates were left out inside sentences.
        """
        text = _CONTROLS.sub("", wikitext).replace("\r\n", "\n").replace("\r", "\n")
        text, dropped = _decided(self._resolve(_hold("\n" + text + "\n", held), when))
        return _inline(text), dropped

    def _resolve(self, text: str, when: date | None) -> str:
        """Text without templates, links and tables."""
        stack = [_Frame("")]
        position = 0
        search = _TOKEN.search
        while (match := search(text, position)) is not None:
            start, end = match.span()
            parts = stack[-1].parts
            if start > position:
                parts.append(text[position:start])
            position = end
            target, label, simple = match.groups()
            if target is not None:
                parts.append(self._link(target, label))
            elif simple is not None:
                parts.append(self._template(simple, when))
            else:
                position = self._bracket(text, start, end, stack, when)
        stack[-1].parts.append(text[position:])
        _collapse(stack, 1)
        out = "".join(stack[0].parts).replace(_PIPE, "|")
        for _ in range(4):  # removing a mark can bring two halves of another together; hostile input could go on
            if not any(mark in out for mark in _STRAY_MARKS):
                break
            out = _STRAY.sub(lambda match: "\n" if match[0][0] == "\n" else "", out)
        return out

    def _bracket(self, text: str, start: int, end: int, stack: list[_Frame], when: date | None) -> int:
        """Opens or closes a frame at the bracket text[start:end]; the position to go on from."""
        token = text[start:end]
        if token in ("{{", "[["):
            if len(stack) < _DEPTH:
                stack.append(_Frame(token))
            return end
        if token == "}}":
            depth = _nearest(stack, "{{")
            if depth:
                _collapse(stack, depth + 1)
                content = "".join(stack.pop().parts)
                if text[end : end + 1] == "}" and content.count("{") > content.count("}"):
                    content, end = content + "}", end + 1
                stack[-1].parts.append(self._template(content, when))
            return end
        if token == "]]":
            if stack[-1].kind == "[[":
                content = "".join(stack.pop().parts)
                if text[end : end + 1] == "]" and content.count("[") > content.count("]"):
                    content, end = content + "]", end + 1
                target, bar, label = content.partition("|")
                stack[-1].parts.append(self._link(target, label if bar else None))
            return end
        if token == "\n":  # a heading follows
            _collapse(stack, 1)
            stack[0].parts.append(token)
            return end
        return self._table(text, start, end, stack)

    def _table(self, text: str, start: int, end: int, stack: list[_Frame]) -> int:
        opens = text[end - 1] == "|" or text.startswith("<t", start) or text.startswith("<T", start)
        stack[-1].parts.append("\n")
        if opens:
            if len(stack) < _DEPTH:
                stack.append(_Frame("{|"))
            return end
        closes_template = text.startswith("}", end) and not text.startswith("}}", end) and text[start] == "\n"
        if closes_template and _nearest(stack, "{{"):
            stack[-1].parts.append("|")
            return end - 1  # "|}}": an empty argument, and the template's end
        depth = _nearest(stack, "{|")
        if depth:
            del stack[depth:]
            stack[-1].parts.append("\n")
        return end

    def _link(self, target: str, label: str | None) -> str:
        name, colon, _ = target.partition(":")
        if colon:
            name = name.strip(" \t\n_").lower()
            if name in self._files or name in self._categories:
                return _DROPPED
            if label is None and _is_language(name) and name not in self._spaces:
                return _DROPPED
        if label is None:
            return target.strip().lstrip(":#").replace("|", _PIPE)
        return (label if label.strip() else target.strip().lstrip(":#")).replace("|", _PIPE)

    def _template(self, content: str, when: date | None) -> str:
        if "\n=" in content and _HAS_HEADING.search(content + "\n"):
            return content  # it spans a section's heading: the marks do not belong together
        text = render(content.replace(UNSURE, ""), self._templates, when)
        return text.replace("|", _PIPE) if text else _DROPPED


_ENGLISH = Cleaner()


def clean(wikitext: str) -> str:
    """Plain text of an English page; see ``Cleaner``.

    >>> print(clean("A [[cat|cat]] sat.\\n== Diet ==\\n* fish\\n* {{convert|2|kg|lb}} of mice"))
    A cat sat.
    <BLANKLINE>
    Diet
    <BLANKLINE>
    - fish
    - 2 kg of mice
    """
    return _ENGLISH(wikitext)


class _Frame:
    """What is open: a template ``{{``, a link ``[[``, a table ``{|`` or the page, with the text in it so far."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.parts: list[str] = []


def _nearest(stack: list[_Frame], kind: str) -> int:
    """Depth of the innermost frame of a kind; 0 where none is open."""
    depth = len(stack) - 1
    while depth and stack[depth].kind != kind:
        depth -= 1
    return depth


def _collapse(stack: list[_Frame], depth: int) -> None:
    """Frames from a depth on were never closed: their text joins what holds them."""
    while len(stack) > depth:
        frame = stack.pop()
        stack[-1].parts.extend(frame.parts)


def _is_language(prefix: str) -> bool:
    if not 2 <= len(prefix.partition("-")[0]) <= 3 or prefix in _NOT_LANGUAGES:
        return False
    return prefix.replace("-", "").isalpha() and prefix.isascii()


def _hold(text: str, held: list[str]) -> str:
    """Text without comments and references, with what must not be parsed put aside in ``held``."""
    parts: list[str] = []
    position = 0
    unclosed: set[str] = set()
    while (match := _OPENING.search(text, position)) is not None:
        start, end = match.span()
        parts.append(text[position:start])
        name = (match[1] or "").lower()
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
                unclosed.add(name)  # none further down either: not looked for again
            continue
        position = stop.end()
        parts.append(_opaque(name, text[end : stop.start()], held))
    parts.append(text[position:])
    return "".join(parts)


def _comment(text: str, start: int, end: int, parts: list[str], unclosed: set[str]) -> int:
    """Past a comment, and past its line where it stands alone."""
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
    """(an element's closing tag, whether any may follow where it has none)."""
    while (match := _CLOSING[name].search(text, position)) is not None:
        if match[1]:
            return match, True
        if name not in _VERBATIM and not match[2].rstrip().endswith("/"):
            return None, True  # another one opens first: this one was never closed
        position = match.end()
    return None, False


def _opaque(name: str, content: str, held: list[str]) -> str:
    """What stands in the text for an element that is not parsed further."""
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
    """Text without the marks of its blocks, and what these said."""
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
    """White space, then the mark of the block that begins behind it; none at the end of the text."""
    marks = match[0]
    blank = re.sub(f"{_BEGINS}.", "", marks)
    if match.end() == len(match.string):
        return blank
    last = marks.rindex(_BEGINS)
    return blank + marks[last : last + 2]


def _decided(text: str) -> tuple[str, int]:
    """Text in which templates that nobody knows are shown or left out, and how many were inside sentences.

    They show their argument where their line has words beside them; one that stands alone is a notice or a box.
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
    """Text in which what is raised or lowered is written as in pages of HTML: ``x^{n+1}``, ``x_i``, ``H2O``, ``[3]``.

    Digits alone are raised digits where an element says so.
    """
    parts: list[str] = []
    position = 0
    for match in _SCRIPT.finditer(text):
        parts.append(text[position : match.start()])
        position = match.end()
        own = match[3] if match[4] is None else match[5]
        own = " ".join(_QUOTES.sub("", own.translate(_SCRIPT_MARKS).replace(_DROPPED, "")).split())
        decoded = _entities(own)
        own = own if any(mark in decoded for mark in "<>&[]{}|=" + _HELD) else decoded
        is_raised = match[4] == RAISED or (match[1] or "").lower() == "sup"
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
            parts.append(own)  # H2O(l)
            continue
        written = script_text(is_raised, False, _BETWEEN.sub("", before), own)
        if written[0] in "^_" and written[-1].isdigit() and text[position : position + 1].isdigit():
            written += " "
        parts.append(written)
    parts.append(text[position:])
    return "".join(parts).translate(_SCRIPT_MARKS)


def _inline(text: str) -> str:
    """Text without tags, external links' addresses and traces of what was left out."""
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
        text = _ORPHAN.sub("", text).replace(_DROPPED, "")
    return text


def _tag(match: re.Match[str]) -> str:
    name, rest = match[1].lower(), match[2]
    if name in _BREAKING:
        return _BREAK
    if name in _INLINE or _ATTRIBUTES.fullmatch(rest):
        return ""
    return match[0]


def _variant(match: re.Match[str]) -> str:
    """Text of a language conversion such as -{zh-hans:a; zh-hant:b}-: its first form."""
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
    """Headings, paragraphs and list items on lines of their own; entities decoded.

    Where ``held`` is given, a mark stands where each block begins.
    """
    done: list[str] = []
    out: list[str] = []
    last = ""  # what the line before was: "" blank, "=" heading, "-" list item, "p" paragraph, "c" code
    marks = {letter: "" if held is None else _BEGINS + letter for letter in _KINDS}
    for raw in _split(text):
        if len(out) > _HELD_LINES:
            done.append("\n".join(out[:-1]))
            del out[:-1]
        line = raw.strip(" \t\xa0")
        if "''" in line:
            line = _unquoted(line).strip(" \t\xa0")
        if not line:
            if last in ("p", "c"):
                out.append("")
            last = ""
            continue
        first = line[0]
        if first == "=" and (heading := _HEADING_LINE.match(line)) is not None:
            title = heading[2].replace(_BREAK, " ").strip()
            out += ["", marks[str(len(heading[1]))] + title, ""]
            last = "="
            continue
        if first in "*#:;":
            body = line.lstrip("*#:; \t")
            if not any(map(str.isalnum, body)) and _HELD not in body:
                continue  # an item that was nothing but a template
            signs = line[: len(line) - len(body)]
            listed = "*" in signs or "#" in signs
            if last != "-":
                out.append("")
            if listed:
                depth = sum(map(signs.count, "*#:;"))
                out.append(f"{marks[_ITEMS[min(depth, len(_ITEMS)) - 1]]}- {body}")
            else:
                out.append(marks[_PARAGRAPH] + body)
            last = "-"
            continue
        if first == "|" or line.startswith("----"):
            line = line.lstrip("-") if first == "-" else ""
            if not line:
                continue
        kind = _CODE if held and _HELD in line and _is_code(line, held) else _PARAGRAPH
        begins = "" if last == kind == _PARAGRAPH else marks[kind]
        if last in ("p", "c") and not out[-1].endswith(_BREAK):
            out.append(_GOES_ON + begins + line)
        else:
            if last == "-":
                out.append("")
            out.append(begins + line)
        last = kind
    joined = "\n".join([*done, *out]).replace("\n" + _GOES_ON, " ")
    done.clear()
    joined = _entities(joined).replace("\xa0", " ").replace("\t", " ")
    if held is not None:
        joined = _MISPLACED.sub(_placed, joined)
    joined = _SPACES.sub(" ", joined)
    if _BREAK in joined:
        joined = _BREAKS.sub("\n", joined)
    return _BLANK_LINES.sub("\n\n", joined).strip()


def _is_code(line: str, held: list[str]) -> bool:
    """Whether a line is nothing but code of several lines that was put aside."""
    match = _CODE_LINE.fullmatch(line)
    return match is not None and "\n" in held[int(match[1])]


def _split(text: str) -> Iterator[str]:
    """The lines of a text, a part of them at a time: each is an object, of some 60 bytes more than its letters."""
    begin = 0
    while (end := text.find("\n", begin + _HELD_LETTERS)) >= 0:
        yield from text[begin:end].split("\n")
        begin = end + 1
    yield from text[begin:].split("\n")


def _unquoted(line: str) -> str:
    """A line without bold and italic marks; an apostrophe before an italic word (l'''Odyssée'') stays."""
    if "'''" not in line:
        return line.replace("''", "")
    pieces = _QUOTES.split(line)
    lengths = [len(piece) for piece in pieces[1::2]]
    bold = sum(length in (3, 4) or length >= 5 for length in lengths)
    italic = sum(length == 2 or length >= 5 for length in lengths)
    apostrophe = -1
    if bold % 2 and italic % 2:
        candidates = [i for i, length in enumerate(lengths) if length == 3]
        short = [i for i in candidates if re.search(r"(?:^|\s)\S$", pieces[2 * i])]
        word = [i for i in candidates if pieces[2 * i][-1:].strip()]
        apostrophe = next(iter(short or word or candidates), -1)
    for i, length in enumerate(lengths):
        pieces[2 * i + 1] = "'" if length == 4 or i == apostrophe else ""
    return "".join(pieces)
