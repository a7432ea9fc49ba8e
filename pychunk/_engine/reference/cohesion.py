"""The cohesion of sentences: headings stay with the text after them, and lone marks with the text next to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

from ...defaults import CHUNKS
from .text.characters import STOPS, is_digit, is_letter, is_lower
from .text.graphemes import count_words


class Cohesion(IntEnum):
    """The cohesion at the boundary between two sentences."""

    OPEN = 0
    #: The sentence before the boundary stays with the text after it.
    LEAD = 1
    #: The sentence after the boundary stays with the text before it.
    TRAIL = 2
    #: A heading begins here, and with it a section.
    SECTION = 3
    #: No chunk crosses this boundary, because removed text or a page begins or ends here.
    WALL = 4

    @property
    def is_closed(self) -> bool:
        return self in (Cohesion.LEAD, Cohesion.TRAIL)

    @property
    def begins_section(self) -> bool:
        return self in (Cohesion.SECTION, Cohesion.WALL)


class Break(IntEnum):
    """The break before a sentence, from the weakest to the strongest."""

    PIECE = 0
    SENTENCE = 1
    LINE = 2
    BLANK_LINE = 3
    PAGE = 4
    DOCUMENT = 5


HEADING_BYTES, HEADING_WORDS, QUESTION_WORDS, SENTENCE_WORDS = 240, 12, 16, 8
INTRODUCTION_WORDS, LABEL_WORDS, PROSE_BYTES, HEADING_RUN, HEADINGS_ABOVE = 6, 3, 100, 6, 3
STATEMENT_WORDS = 5
NUMBER_CHARACTERS, SHORT_CHARACTERS = 16, CHUNKS.short
OPENING, CLOSING, BULLETS, INTRODUCING = "\"'“‘«„([{", "\"'”’»)]}", "-*+•‣◦▪–—·", ":："
_STOPS = frozenset(STOPS)
#: "2", "2.1.", "#3:" or "b)", followed by white space.
_NUMBER = re.compile(r"#?[0-9]{1,3}(\.[0-9]{1,3})*[.):]?\s|#?[A-Za-z][.)]\s")
#: The beginning of a statement, such as "Not for children."
_NEGATION = re.compile(r"(Not|Не)\s")
_MARKUP = re.compile(r"<[^<>]*>|&[0-9A-Za-z#]{1,10};")


def find_cohesion(
    text: str, spans: Sequence[tuple[int, int]], breaks: Sequence[Break], levels: Sequence[int] | None = None
) -> tuple[list[Cohesion], list[int]]:
    """Return for each sentence the cohesion at the boundary before it, and its level as a heading, or 0.

    ``spans`` are the sentences without white space at their edges. ``levels`` holds the level of each sentence if
    headings are known, as from blocks. Without it, lines that look like headings have level 1.
    """
    breaks = [*breaks, Break.DOCUMENT]
    sentences = [text[begin:end] for begin, end in spans]
    short = [_is_short(sentence) for sentence in sentences]
    headings = _headings(text, spans, breaks, short) if levels is None else [level > 0 for level in levels]
    cohesion: list[Cohesion] = []
    led = False
    for s, own in enumerate(sentences):
        before, after = breaks[s], breaks[s + 1]
        if short[s] and not headings[s]:
            leads = after < Break.PAGE and ((led and before < Break.PAGE) or after < before)
            trails = not leads
        else:
            opens = after == Break.SENTENCE and own[-1] in "“‘«„([{" and own[-2:-1].isspace()
            introduces = Break.SENTENCE < after < Break.PAGE and own[-1] in INTRODUCING and not headings[s + 1]
            leads = after < Break.PAGE and (headings[s] or introduces or opens)
            closes = own[0] in CLOSING and not (own[1:] and (is_letter(own[1]) or is_digit(own[1])))
            trails = before == Break.SENTENCE and closes
        found = Cohesion.OPEN
        if s > 0 and before < Break.PAGE:
            plain = Cohesion.SECTION if headings[s] else Cohesion.OPEN
            found = Cohesion.LEAD if led else Cohesion.TRAIL if trails else plain
        cohesion.append(found)
        led = leads
    return cohesion, list(map(int, headings)) if levels is None else list(levels)


@dataclass
class _Line:
    """A line of a text: sentences [first, last)."""

    first: int
    last: int
    text: str
    before: Break
    looks: str
    words: int
    #: The number of consecutive lines of the look "plain" that end with this one.
    run: int

    def __post_init__(self) -> None:
        self.size = len(self.text.encode())
        self.single = self.last == self.first + 1
        self.stops = self.text[-1:] in _STOPS
        self.introduces = self.text[-1:] in set(INTRODUCING)
        number = _NUMBER.match(self.text)
        self.numbered = number is not None
        #: True if the line contains a number that does not have four digits, as years do.
        digits = re.findall("[0-9]+", self.text[number.end() if number else 0 :])
        self.quantity = self.looks == "plain" and any(len(each) != 4 for each in digits)
        self.names_value = self.looks == "plain" and ": " in self.text
        self.item = self.numbered or _has_bullet(self.text)
        #: True if the line is complete in itself. False for a line that the next line may continue, as in a list of
        #: short lines, a title or a table.
        self.complete = self.size >= PROSE_BYTES or self.stops or self.item or not self.single


def _lines(text: str, spans: Sequence[tuple[int, int]], breaks: Sequence[Break]) -> list[_Line]:
    firsts = [s for s in range(len(spans)) if s == 0 or breaks[s] > Break.SENTENCE]
    lines: list[_Line] = []
    for first, last in pairwise([*firsts, len(spans)]):
        line = text[spans[first][0] : spans[last - 1][1]]
        looks = _looks(line) if last == first + 1 else ""
        # Lines form a block as long as the gaps between them do not grow.
        in_block = bool(lines) and breaks[first] < Break.PAGE and breaks[first] <= lines[-1].before
        above = lines[-1].run if in_block else 0
        words = count_words(line) if looks else 0
        lines.append(_Line(first, last, line, breaks[first], looks, words, above + 1 if looks == "plain" else 0))
    return lines


def _headings(
    text: str, spans: Sequence[tuple[int, int]], breaks: Sequence[Break], short: Sequence[bool]
) -> list[bool]:
    """Return for each sentence whether it is a heading.

    In a second pass, lines with a full stop are judged more strictly. It is made if fewer than half of the lines that
    are one sentence with a full stop turn out to be headings.
    """
    lines = _lines(text, spans, breaks)
    headings = _marked_headings(lines, breaks, short, False)
    stopped = [headings[line.first] for line in lines if line.single and line.text[-1:] == "."]
    return _marked_headings(lines, breaks, short, True) if 2 * sum(stopped) < len(stopped) else headings


def _marked_headings(
    lines: Sequence[_Line], breaks: Sequence[Break], short: Sequence[bool], statements: bool
) -> list[bool]:
    """Return for each sentence whether it is a heading.

    Lines are read from the last to the first, because whether a line is a heading depends on the text after it. Lines
    without letters are skipped. With ``statements``, lines with a full stop are judged more strictly.
    """
    headings = [False] * len(short)
    behind: _Line | None = None
    run, marked = 0, False
    for i in reversed(range(len(lines))):
        own, after = lines[i], breaks[lines[i].last]
        if own.single and short[own.first] and own.looks not in ("plain", "marked"):
            if after < Break.PAGE and after <= own.before:  # the number of a heading, on a line of its own
                headings[own.first] = headings[own.last] and any("0" <= c <= "9" for c in own.text)
            continue
        before = lines[i - 1] if i and own.before < Break.PAGE else None
        found = after < Break.PAGE and _is_heading(own, before, behind, after, run, marked, statements)
        headings[own.first] = found
        behind, run, marked = own, run + 1 if found else 0, found and own.looks == "marked"
    return headings


def _says(own: _Line, before: _Line | None, behind: _Line, statements: bool) -> bool:
    """Return whether a line above a heading is text of the previous section rather than another heading."""
    first, last = own.text[0], own.text[-1]
    if not (is_letter(first) or is_digit(first) or first in OPENING + "#"):
        return True
    stops = behind.text[-1:] == "."
    if last == ".":
        return _NEGATION.match(own.text) is not None or (statements and stops and own.words >= STATEMENT_WORDS)
    # A line without a full stop, directly below another line, is text if the heading after it ends with a full stop or
    # a colon.
    close = before is not None and own.before == Break.LINE
    return close and not own.stops and (stops or behind.introduces)


def _is_heading(
    own: _Line, before: _Line | None, behind: _Line | None, after: Break, run: int, marked: bool, statements: bool
) -> bool:
    """Return whether a line is a heading.

    ``before`` and ``behind`` are the lines before and after it, and ``after`` is the break after it. ``run`` headings
    follow directly; if it is 0, other text follows. ``marked`` says that the next line is a heading with marks.
    """
    if own.looks == "marked":
        return True
    # If the gap before a line is smaller than the gap after it, the line belongs to the text before it.
    if not own.looks or behind is None or run >= HEADING_RUN or after > own.before:
        return False
    dotted = own.text[-1] == "."
    blank = own.before >= Break.BLANK_LINE
    apart = blank and after >= Break.BLANK_LINE
    after_prose = before is None or before.complete
    complete = after_prose or (before is not None and before.before < own.before)
    introduced = before is not None and before.introduces
    ends = behind.stops or behind.introduces
    prose = behind.size >= PROSE_BYTES or (behind.size > own.size and ends)
    # This line has a number but neither of the lines next to it has one, so it is no item of a list.
    numbered = own.numbered and not behind.numbered and not (before and before.numbered)
    # In a text whose lines are separated by blank lines, a line that ends with a full stop is a short paragraph.
    if dotted and after >= Break.BLANK_LINE and not (numbered and complete and prose):
        return False
    # A longer line with a full stop is text, unless far more text follows.
    much = behind.text[-1:] != "." if run else behind.size >= 2 * own.size
    if dotted and own.words > SENTENCE_WORDS and not (complete and own.run == 1 and much):
        return False
    # If headings have a full stop, a line with a quantity directly above a heading is text of the previous section.
    if dotted and own.quantity and run and not blank and before is not None and before.complete:
        return False
    if own.looks == "lower":
        short = own.words <= SENTENCE_WORDS and not dotted and not own.introduces
        return apart and complete and prose and not run and short
    if own.introduces:
        if introduced or complete:
            return not introduced and blank
        short_above = before is not None and before.single
        return own.words <= LABEL_WORDS and not run and behind.size > own.size and short_above
    # After a line that ends with a colon, a line without a full stop is an item of a list.
    if introduced and not own.stops and (not prose or own.before == Break.LINE):
        return False
    if marked:  # next to a marked heading, another line is a heading only if blank lines surround it
        return apart and complete and not own.stops
    # Above a heading, more than three short lines without full stops are a list, and so are two lines `name: value`.
    if run:
        if _says(own, before, behind, statements):
            return False
        values = own.run > 1 and before is not None and ": " in own.text and ": " in before.text
        return dotted or (own.run <= HEADINGS_ABOVE and not values)
    if prose or (complete and (behind.item or ends) and (blank or dotted)):
        return True
    if dotted and complete and not behind.stops and own.words <= SENTENCE_WORDS and not statements:
        return True
    # A line between two lists of lines `name: value` is a heading if it has no such form itself.
    if blank and before is not None and before.names_value and behind.names_value and not own.names_value:
        return True
    # A line after a blank line is the title of the short lines after it, if it has a number or is the first short line
    # after prose. Otherwise the lines may be a stanza.
    if blank and (numbered or (after_prose and own.run == 1 and behind.looks == "plain")):
        return True
    return apart and complete


def _has_bullet(line: str) -> bool:
    return line[:1] in set(BULLETS) and line[1:2].isspace()


def _looks(line: str) -> str:
    """Return the look of a line by itself.

    It is "marked" for a line with the marks of a heading, "plain" for a line that may be a heading, "lower" for such a
    line that begins with a small letter, and "" for a line that is no heading.
    """
    characters = [c for c in line if is_letter(c) or is_digit(c)]
    if not characters or len(line.encode()) > HEADING_BYTES:
        return ""
    marks = len(line) - len(line.lstrip("#"))
    if 1 <= marks <= 6 and line[marks].isspace():
        return "marked"
    if len(line.encode()) > 4 and line.startswith("==") and line.endswith("=="):
        return "marked"
    # A line in quotation marks is speech. But if its full stop comes after the quotation marks, it may be a heading
    # that quotes the title of a work.
    if line[0] in OPENING and line[-1] in CLOSING + STOPS and not (line[-1] == "." and line[-2] in CLOSING):
        return ""
    if line[0] == "|" or _has_bullet(line):  # a row of a table, or an item
        return ""
    words = count_words(line)
    if line[-1] in STOPS:
        limit = {"?": QUESTION_WORDS, ".": HEADING_WORDS}.get(line[-1], SENTENCE_WORDS)
        if line[-1] not in ".?!…" or line[-2:-1] in _STOPS or words > limit:
            return ""
    elif line[-1] in ",;，；、-–—" or words > (INTRODUCTION_WORDS if line[-1] in INTRODUCING else HEADING_WORDS):
        return ""
    if not any(map(is_letter, line)) and len(line) < 4:
        return ""
    number = _NUMBER.match(line)
    named = [c for c in line[number.end() :] if is_letter(c) or is_digit(c)] if number else []
    return "lower" if is_lower((named or characters)[0]) else "plain"


def _is_short(sentence: str) -> bool:
    """Return whether a sentence has no letter outside of markup, and no digits unless it is a short number."""
    bare = _MARKUP.sub("", sentence)
    return not any(map(is_letter, bare)) and (not any(map(is_digit, bare)) or len(bare) <= NUMBER_CHARACTERS)
