"""The text of Markdown's inline markup, character by character, as in `csrc/parsing/markdown_inline.h`."""

from __future__ import annotations

import html
import re

TRIES = 32
_TAGS = (
    "a abbr acronym b big br center cite code del details dfn div em font h1 h2 h3 h4 h5 h6 hr i img input ins kbd "
    "label mark nobr p path picture q ruby s samp small source span strike strong sub summary sup svg td tt u var "
    "video wbr"
)
_PARTING = {"br", "dd", "div", "dt", "hr", "li", "p", "td", "th", "tr"}
_ENTITIES = (
    "AMP Auml COPY Eacute GT LT Ouml QUOT REG Uuml aacute agrave alpha amp apos ast auml beta bull ccedil "
    "cent check colon commat copy deg divide eacute egrave emsp ensp equals euro frac12 ge gt harr hellip "
    "iacute laquo larr lbrace ldquo le lowbar lpar lsqb lsquo lt mdash micro middot mu nbsp ndash ne ntilde "
    "num oacute ouml pi plusmn pound quot raquo rarr rbrace rdquo reg rpar rsqb rsquo sect szlig times trade "
    "uacute uuml"
)
_ASCII_ALNUM = re.compile(r"[A-Za-z0-9]")
_GAPS = " \t\n\v\f\r"
_GAP = re.compile(r"[ \t-\r]*")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]+:[^ \t-\r<>]+|(?=[^ \t-\r<>@]+@[^ \t-\r<>]+>)[^ \t-\r<>]+)>")
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)(?=[ \t-\r/>])")
_ALTERNATIVE = re.compile(r"[ \t-\r][aA][lL][tT]=([\"'])")
_FOOTNOTE = re.compile(r"\[\^[^ \t-\r\[\]]+\]")
_SPECIAL_NAME = re.compile(r"__[a-z][A-Za-z0-9_]*")
_DEFINITION = re.compile(r"[ \t>]*\[([^\]\r\n]*)\]:")


def link_labels(document: str) -> frozenset[str]:
    """Return the labels of the link reference definitions of a document."""
    lines = re.split(r"[\r\n]", document)
    return frozenset(_folded(found[1]) for line in lines if (found := _DEFINITION.match(line)))


def inline_text(source: str, is_html: bool, labels: frozenset[str]) -> str:
    """Return the text of inline Markdown, or with ``is_html`` of inline HTML, without its markup.

    White space is kept. ``labels`` are those of the document's link reference definitions.
    """
    return _InlineText(source, is_html, labels).text()


def _folded(label: str) -> str:
    small = "".join(c.lower() if c.isascii() else c for c in label)
    return " ".join(part for part in re.split(r"[ \t-\r]+", small) if part)


def _is_mark(character: str) -> bool:
    return " " < character < "\x7f" and not _ASCII_ALNUM.match(character)


class _InlineText:
    def __init__(self, source: str, is_html: bool, labels: frozenset[str]) -> None:
        self.source, self.is_html, self.labels = source, is_html, labels
        self.at, self.tries = 0, TRIES
        self.shown: list[str] = []  # the parts of the text, with "" for each mark that is not part of it
        self.alternative = ""
        # of each open bracket: position in the text, position in the source, whether it is an image, what is nested
        self.brackets: list[tuple[int, int, bool, list[bool]]] = []
        self.openers: dict[str, list[list[int]]] = {"*": [], "_": [], "~": []}
        self.opened: set[str] = set()

    def text(self) -> str:
        while self.at < len(self.source):
            self._step()
        shown = "".join(self.shown)
        return shown if shown.strip(_GAPS) else self.alternative

    def _byte(self, at: int) -> str:
        return self.source[at : at + 1]

    def _ahead(self, wanted: str, start: int) -> int:
        if self.tries == 0:
            return -1
        found = self.source.find(wanted, start)
        if found < 0:
            self.tries -= 1
        return found

    def _step(self) -> None:
        c = self.source[self.at]
        if c == "<":
            return self._angle()
        if c == "&":
            return self._entity()
        if not self.is_html:
            after = self._byte(self.at + 1)
            if c == "\\":
                self.at += bool(after) and _is_mark(after)
                c = self.source[self.at]
            elif c == "`":
                return self._code()
            elif c == "{" and self.source.startswith("{/*", self.at):
                if (end := self._ahead("*/}", self.at + 3)) >= 0:
                    self.at = end + 3
                    return None
            elif c == "[" or (c == "!" and after == "["):
                if c == "[" and (found := _FOOTNOTE.match(self.source, self.at)):
                    self.at = found.end()
                    return None
                return self._open_bracket(c == "!")
            elif c == "]":
                return self._close_bracket()
            elif c in "*_~":
                return self._emphasis(c)
        self.shown.append(c)
        self.at += 1
        return None

    def _run(self, at: int) -> int:
        rest = self.source[at:]
        return len(rest) - len(rest.lstrip(self.source[at]))

    def _code(self) -> None:
        marks = self._run(self.at)
        begin = end = self.at + marks
        while self.tries > 0:
            end = self.source.find("`", end)
            if end < 0:
                self.tries -= 1
                break
            closing = self._run(end)
            if closing == marks:
                inside = self.source[begin:end]
                if len(inside) > 2 and inside[0] in _GAPS and inside[-1] in _GAPS:
                    inside = inside[1:-1]
                self.shown += inside
                self.at = end + marks
                return
            end += closing
        self.shown += self.source[self.at : begin]
        self.at = begin

    def _angle(self) -> None:
        if self.source.startswith("<!--", self.at) and (end := self._ahead("-->", self.at + 4)) >= 0:
            self.at = end + 3
            return
        if not self.is_html and (found := _AUTOLINK.match(self.source, self.at)):
            self.shown += found[0][1:-1]
            self.at = found.end()
            return
        end, name, closes, has_more = self._tag()
        if end < 0 or not self._is_markup(end, name, closes, has_more):
            self.shown.append("<")
            self.at += 1
            return
        if name in _PARTING:
            self.shown.append(" ")
        if name == "img" and not self.alternative:
            tag = self.source[self.at : end]
            if found := _ALTERNATIVE.search(tag):
                close = tag.find(found[1], found.end())
                self.alternative = tag[found.end() : close] if close >= 0 else ""
        self.at = end

    def _tag(self) -> tuple[int, str, bool, bool]:
        """Return (end, name, whether it is an end tag, whether it contains = or /) of the tag that begins here.

        The end is -1 if no tag begins here.
        """
        found = _TAG_NAME.match(self.source, self.at)
        if not found:
            return -1, "", False, False
        i, has_more = found.end(), False
        while i < len(self.source) and self.source[i] != ">":
            c = self.source[i]
            if c == "<":
                return -1, "", False, False
            has_more = has_more or c in "=/"
            if c in "\"'":
                i = self._ahead(c, i + 1)
                if i < 0:
                    return -1, "", False, False
            i += 1
        end = i + 1 if i < len(self.source) else -1
        return end, found[2].lower(), bool(found[1]), has_more

    def _is_markup(self, end: int, name: str, closes: bool, has_more: bool) -> bool:
        if self.is_html:
            return True
        if name not in _TAGS.split():
            return False
        if closes:
            return name in self.opened
        if name == "br":
            parted = self._byte(self.at - 1) in tuple(_GAPS) and self._byte(end) in tuple(_GAPS)
            return self.at > 0 and not parted
        if not has_more and not re.compile(f"(?ai:</{name})").search(self.source, end):
            return False
        self.opened.add(name)
        return True

    def _entity(self) -> None:
        found = re.compile(r"&([A-Za-z0-9#]{1,12});").match(self.source, self.at)
        shown = _character(found[1]) if found else ""
        self.shown.append(shown or "&")
        self.at = found.end() if found and shown else self.at + 1

    def _open_bracket(self, is_image: bool) -> None:
        if self.brackets:
            self.brackets[-1][3][0] = True
        length = 1 + is_image
        self.brackets.append((len(self.shown), self.at + length, is_image, [False]))
        self.shown += self.source[self.at : self.at + length]
        self.at += length

    def _close_bracket(self) -> None:
        if self.brackets:
            text, source, is_image, nested = self.brackets.pop()
            if nested[0] and self.brackets:
                self.brackets[-1][3][0] = True
            if (end := self._link_end(source, nested[0])) >= 0:
                if is_image:
                    self.alternative = self.alternative or "".join(self.shown[text + 2 :])
                    del self.shown[text:]
                    for openers in self.openers.values():
                        while openers and openers[-1][0] >= text:
                            openers.pop()
                else:
                    self.shown[text] = ""
                self.at = end
                return
        self.shown.append("]")
        self.at += 1

    def _link_end(self, begin: int, nested: bool) -> int:
        after = self._byte(self.at + 1)
        if after == "(" and self.tries > 0:
            if (end := self._target(self.at + 2)) >= 0:
                return end
            self.tries -= 1
        own = self.source[begin : self.at]
        if after == "[":
            found = re.compile(r"([^\[\]]*)\]").match(self.source, self.at + 2)
            if found and _folded(own if not found[1] and not nested else found[1]) in self.labels:
                return found.end()
        return self.at + 1 if not nested and _folded(own) in self.labels else -1

    def _past_gap(self, at: int) -> int:
        found = _GAP.match(self.source, at)
        return found.end() if found else at

    def _target(self, i: int) -> int:
        i = self._past_gap(i)
        if self._byte(i) == "<":
            found = re.compile(r"<[^<>\n]*>").match(self.source, i)
            if not found:
                return -1
            i = found.end()
        else:
            depth = 0
            while i < len(self.source) and self.source[i] not in _GAPS:
                c = self.source[i]
                if c == "\\":
                    i += 1
                if c == ")" and depth == 0:
                    break
                depth += (c == "(") - (c == ")")
                i += 1
        i = self._past_gap(i)
        if closing := {'"': '"', "'": "'", "(": ")"}.get(self._byte(i)):
            i += 1
            while i < len(self.source) and self.source[i] != closing:
                i += 2 if self.source[i] == "\\" else 1
            i = self._past_gap(i + 1)
        return i + 1 if self._byte(i) == ")" else -1

    def _emphasis(self, c: str) -> None:
        count = self._run(self.at)
        end = self.at + count
        before = self.source[self.at - 1] if self.at else " "
        after = self._byte(end) or " "
        between = bool(_ASCII_ALNUM.match(before)), bool(_ASCII_ALNUM.match(after))
        if c == "_" and count == 2 and not between[0]:
            name = _SPECIAL_NAME.match(self.source, self.at)
            if name and name[0].endswith("__"):
                self.shown += name[0]
                self.at = name.end()
                return
        left = not after.isspace() and (not _is_mark(after) or before.isspace() or _is_mark(before))
        right = not before.isspace() and (not _is_mark(before) or after.isspace() or _is_mark(after))
        opens, closes = left, right
        if c == "_":
            opens = left and (not right or _is_mark(before))
            closes = right and (not left or _is_mark(after))
        elif count != 2 if c == "~" else all(between):
            opens = closes = False
        openers, rest = self.openers[c], count
        while closes and rest and openers:
            opener = openers[-1]
            used = min(opener[1], rest)
            for _ in range(used):
                opener[1] -= 1
                self.shown[opener[0] + opener[1]] = ""
            rest -= used
            if not opener[1]:
                openers.pop()
        if opens and rest:
            openers.append([len(self.shown), rest])
        self.shown += c * rest
        self.at = end


def _character(name: str) -> str:
    """Return the character of an entity's name, or "" if there is none."""
    if not name.startswith("#"):
        return html.unescape(f"&{name};") if name in _ENTITIES.split() else ""
    found = re.fullmatch(r"#(?:[xX]([0-9a-fA-F]{1,7})|([0-9]{1,7}))", name)
    if not found:
        return ""
    value = int(found[1], 16) if found[1] else int(found[2])
    return "" if value == 0 or value > 0x10FFFF or 0xD800 <= value < 0xE000 else chr(value)
