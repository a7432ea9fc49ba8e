"""The lines of wikitext without brackets, one string a line, as in `csrc/parsing/wiki/lines.cc`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# Marks of ``pychunk.io.wiki.wikitext``: a line break, a text that is held apart, a line that continues a paragraph, and
# the beginning of a block.
_BREAK, _HELD, _GOES_ON, _BEGINS = "\x03", "\x04", "\x05", "\x06"
_ITEMS = "ABCDEFGHIJKLMNOPQRST"

_HEADING_LINE = re.compile(r"(={1,6})(.+?)\1$")
_CODE_LINE = re.compile(f"[ {_BREAK}]*{_HELD}([0-9]+){_HELD}[ {_BREAK}]*")
_BREAKS = re.compile(rf"{_BREAK}[ {_BREAK}]*(?:\n[ {_BREAK}]*)?")
_HELD_INDEX = re.compile(f"{_HELD}([0-9]+){_HELD}")
#: The mark of a block before white space. It is moved after the white space, whose lines and blanks are then merged.
_MISPLACED = re.compile(rf"{_BEGINS}.(?:[\s{_BREAK}](?:[\s{_BREAK}]|{_BEGINS}.)*|\Z)")
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_QUOTES = re.compile(r"('{2,})")


Blocks = tuple[str, list[int], list[int]]


def wiki_text(page: str, held: list[str], entity: Callable[[str], str], most_blocks: int) -> tuple[str, Blocks | None]:
    """Return the plain text of a page, and of its blocks the kinds' letters, starts and ends, in characters.

    Args:
        page: Wikitext without brackets.
        held: Texts that were held apart, which replace their marks.
        entity: The function that returns the text of an entity from its name, such as ``amp`` or ``#65``.
        most_blocks: If a page has more blocks, the result is None in place of blocks.
    """
    lines = _lines(page.replace(_BEGINS, ""), ["\n" in each for each in held])
    lines = _ENTITY.sub(lambda match: entity(match[1]), lines).replace("\xa0", " ").replace("\t", " ")
    lines = re.sub(" {2,}", " ", _MISPLACED.sub(_placed, lines))
    lines = _BREAKS.sub("\n", lines.replace(" " + _BREAK, _BREAK))
    lines = re.sub("\n{3,}", "\n\n", lines).strip()
    if held:
        lines = _HELD_INDEX.sub(lambda match: held[at] if (at := _index(match[1])) < len(held) else "", lines)
    too_many = lines.count(_BEGINS) > most_blocks
    text, blocks = _without_marks(lines)
    return text, None if too_many else blocks


def _index(digits: str) -> int:
    """Return a number, or a greater one than there are texts if it has many digits."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 18 else 10**18


def _lines(text: str, code: Sequence[bool]) -> str:
    """Return each heading, paragraph and list item on a separate line, with a mark before it.

    ``code`` says of each text that is held apart whether it is code of several lines.
    """
    out: list[str] = []
    last = ""  # the kind of the previous line: "" blank, "=" heading, "-" list item, "p" paragraph, "c" code
    begins_of = {letter: _BEGINS + letter for letter in "123456pc" + _ITEMS}
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
    return match is not None and (at := _index(match[1])) < len(code) and code[at]


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


def _without_marks(marked: str) -> tuple[str, Blocks]:
    """Return the text without the marks of blocks, and the blocks."""
    before, *pieces = marked.split(_BEGINS)
    parts = [before]
    rows: list[tuple[str, int, int]] = []
    at = len(before)
    for piece in pieces:
        body = piece[1:]
        end = at + len(body.rstrip())
        start = at + len(body) - len(body.lstrip())
        if start < end:
            rows.append((piece[0], start, end))
        parts.append(body)
        at += len(body)
    text = "".join(parts)
    blank = len(text) - len(text.lstrip())
    kinds, starts, ends = zip(*rows, strict=True) if rows else ((), (), ())
    return text.strip(), ("".join(kinds), [start - blank for start in starts], [end - blank for end in ends])


def _placed(match: re.Match[str]) -> str:
    """Return the white space of a match, then the mark of the last block in it; at the end of the text, no mark."""
    marks = match[0]
    blank = re.sub(f"{_BEGINS}.", "", marks)
    if match.end() == len(match.string):
        return blank
    last = marks.rindex(_BEGINS)
    return blank + marks[last : last + 2]
