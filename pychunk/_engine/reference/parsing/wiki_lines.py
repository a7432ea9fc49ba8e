"""The lines of wikitext without brackets, one string a line, as in `csrc/parsing/wiki/lines.cc`."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Marks of ``pychunk.io.wiki.wikitext``: a line break, a text that is held apart, a line that continues a paragraph, and
# the beginning of a block.
_BREAK, _HELD, _GOES_ON, _BEGINS = "\x03", "\x04", "\x05", "\x06"
_ITEMS = "ABCDEFGHIJKLMNOPQRST"

_HEADING_LINE = re.compile(r"(={1,6})(.+?)\1$")
_CODE_LINE = re.compile(f"[ {_BREAK}]*{_HELD}([0-9]+){_HELD}[ {_BREAK}]*")
_QUOTES = re.compile(r"('{2,})")


def wiki_lines(text: str, code: Sequence[bool], marks: bool) -> str:
    """Return the text with each heading, paragraph and list item on a separate line.

    Args:
        text: Wikitext without brackets.
        code: For each text that is held apart, whether it is code of several lines.
        marks: Whether each block begins with a mark.
    """
    out: list[str] = []
    last = ""  # the kind of the previous line: "" blank, "=" heading, "-" list item, "p" paragraph, "c" code
    begins_of = {letter: _BEGINS + letter if marks else "" for letter in "123456pc" + _ITEMS}
    for raw in text.split("\n"):
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
            out += ["", begins_of[str(len(heading[1]))] + title, ""]
            last = "="
            continue
        if first in "*#:;":
            body = line.lstrip("*#:; \t")
            if not any(map(str.isalnum, body)) and _HELD not in body:
                continue  # the item held only a template that was left out
            signs = line[: len(line) - len(body)]
            listed = "*" in signs or "#" in signs
            if last != "-":
                out.append("")
            if listed:
                depth = sum(map(signs.count, "*#:;"))
                out.append(f"{begins_of[_ITEMS[min(depth, len(_ITEMS)) - 1]]}- {body}")
            else:
                out.append(begins_of["p"] + body)
            last = "-"
            continue
        if first == "|" or line.startswith("----"):
            line = line.lstrip("-") if first == "-" else ""
            if not line:
                continue
        kind = "c" if _is_code(line, code) else "p"
        begins = "" if last == kind == "p" else begins_of[kind]
        if last in ("p", "c") and not out[-1].endswith(_BREAK):
            out.append(_GOES_ON + begins + line)
        else:
            if last == "-":
                out.append("")
            out.append(begins + line)
        last = kind
    return "\n".join(out).replace("\n" + _GOES_ON, " ")


def _is_code(line: str, code: Sequence[bool]) -> bool:
    """Return whether a line holds only a reference to code of several lines."""
    match = _CODE_LINE.fullmatch(line)
    return match is not None and int(match[1]) < len(code) and code[int(match[1])]


def _unquoted(line: str) -> str:
    """Return a line without bold and italic marks; an apostrophe before an italic word (l'''Odyssée'') stays."""
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
