"""The conversion of wikitext to plain text: prose, headings and lists stay, markup is removed.

A first pass finds text that must not be parsed (comments, nowiki, math, references). A second pass goes from bracket to
bracket, with a stack of the open brackets. A third pass goes over the lines. These three are native, in
``csrc/parsing/wiki``; templates, tags and external links are read here. All passes are linear, so even hostile input
takes time only in proportion to its length. Brackets without a counterpart are removed, but the text in them stays. A
heading of a section closes all brackets.
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
_DROPPED, _PIPE, _BREAK, _HELD = "\x01", "\x02", "\x03", "\x04"

#: The aliases of the namespace File in large Wikipedias, which dumps do not list.
_FILE_ALIASES = re.findall(
    r"\w+", "file image media bild imagen immagine afbeelding grafika imagem изображение зображення 画像 图像 圖像"
)
#: The link prefixes that look like language codes but are not.
_NOT_LANGUAGES = frozenset({"doi", "rfc", "mw", "wp", "ftp", "git", "oeis", "pmid", "isbn", "hdl"})

_HAS_HEADING = re.compile(r"\n==[^\n]*==[ \t]*\n")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftp|irc|news|gopher):|mailto:|//)[^\s\[\]<>]*(?:[ \t]([^\[\]\n]*))?\]", re.IGNORECASE
)
_SWITCH = re.compile(r"__([^\W\d_]+(?:_[^\W\d_]+)*)__")
_VARIANT = re.compile(r"-\{([^{}\n]*)\}-")
_QUOTES = re.compile(r"'{2,}")

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
_TEX_MARKS = re.compile(r"([{}\[|])(?=[{}\[|])|(\])(?=\])")

#: The maximum number of blocks of a page. A page with more blocks gets none. Pages of Wikipedia have a few hundred.
MAX_BLOCKS = 200_000
#: The kinds and levels of blocks by the letters that ``native.wiki_text`` returns. Items have a letter for each level
#: of nesting up to 20.
_KINDS = {
    "p": ("paragraph", 0),
    "c": ("code", 0),
    **{str(level): ("heading", level) for level in range(1, 7)},
    **{letter: ("item", level) for level, letter in enumerate("ABCDEFGHIJKLMNOPQRST", 1)},
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
        return native.wiki_text(self._prose(wikitext, held, when)[0], held, _entity, 0)[0]

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
        text, blocks = native.wiki_text(prose, held, _entity, MAX_BLOCKS)
        if blocks is None:
            return text, None, dropped
        return text, [(*_KINDS[kind], start, end) for kind, start, end in zip(*blocks, strict=True)], dropped

    def _prose(self, wikitext: str, held: list[str], when: date | None) -> tuple[str, int]:
        """Return the text without markup except for headings, lists, bold and italic type.

        Text that must not be parsed is moved to ``held``. The second value is the number of templates that were left
        out inside sentences.
        """
        text = native.without_elements(wikitext, lambda name, content: _opaque(name, content, held))
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


def _opaque(name: str, content: str, held: list[str]) -> str:
    """Return the text that replaces an element whose content is shown but not parsed."""
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
    return _ENTITY.sub(lambda match: _entity(match[1]), text) if "&" in text else text


def _entity(name: str) -> str:
    if name[0] != "#":
        return html5.get(name + ";", f"&{name};")
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    printable = code in (9, 10) or 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF
    return chr(code) if printable else ""
