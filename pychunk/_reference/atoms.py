"""What must not be cut apart: headings from what follows them, scraps and marks from what they belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from .characters import STOPS, is_digit, is_letter, is_lower
from .graphemes import count_words


class Tie(IntEnum):
    """A border, by the sentence behind it."""

    OPEN = 0
    #: The sentence before it belongs to what follows.
    LEAD = 1
    #: The sentence behind it belongs to what is before.
    TRAIL = 2
    #: A heading begins, where a chunk always begins.
    SECTION = 3
    #: Nothing crosses it: text that is left out begins or ends.
    WALL = 4

    @property
    def is_closed(self) -> bool:
        return self in (Tie.LEAD, Tie.TRAIL)

    @property
    def begins_section(self) -> bool:
        return self in (Tie.SECTION, Tie.WALL)


class Break(IntEnum):
    """What lies before a sentence, weakest first."""

    PIECE = 0
    SENTENCE = 1
    LINE = 2
    BLANK_LINE = 3
    PAGE = 4
    DOCUMENT = 5


HEADING_BYTES, HEADING_WORDS, PROSE_BYTES, HEADING_RUN = 240, 12, 100, 6
NUMBER_CHARACTERS, SCRAP_CHARACTERS = 16, 50
OPENING, CLOSING, BULLETS, INTRODUCING = "\"'“‘«„([{", "\"'”’»)]}", "-*+•‣◦▪–—·", ":："
_STOPS = frozenset(STOPS)
_MARKUP = re.compile(r"<[^<>]*>|&[0-9A-Za-z#]{1,10};")


def find_ties(
    text: str, spans: Sequence[tuple[int, int]], breaks: Sequence[Break], levels: Sequence[int] | None = None
) -> tuple[list[Tie], list[int]]:
    """Of each sentence, whose span has no white space at its edges, the tie of the border before it, and its level.

    ``levels``: of those that are known to be headings, 0 for others; without them the lines that look like headings
    have level 1.
    """
    breaks = [*breaks, Break.DOCUMENT]
    sentences = [text[begin:end] for begin, end in spans]
    scraps = [_is_scrap(sentence) for sentence in sentences]
    headings = _headings(text, spans, breaks, scraps) if levels is None else [level > 0 for level in levels]
    ties: list[Tie] = []
    led = False
    for s, own in enumerate(sentences):
        before, after = breaks[s], breaks[s + 1]
        if scraps[s] and not headings[s]:
            leads = after < Break.PAGE and ((led and before < Break.PAGE) or after < before)
            trails = not leads
        else:
            opens = after == Break.SENTENCE and own[-1] in "“‘«„([{" and own[-2:-1].isspace()
            introduces = Break.SENTENCE < after < Break.PAGE and own[-1] in INTRODUCING and not headings[s + 1]
            leads = after < Break.PAGE and (headings[s] or introduces or opens)
            closes = own[0] in CLOSING and not (own[1:] and (is_letter(own[1]) or is_digit(own[1])))
            trails = before == Break.SENTENCE and closes
        tie = Tie.OPEN
        if s > 0 and before < Break.PAGE:
            tie = Tie.LEAD if led else Tie.TRAIL if trails else Tie.SECTION if headings[s] else Tie.OPEN
        ties.append(tie)
        led = leads
    return ties, list(map(int, headings)) if levels is None else list(levels)


def _headings(
    text: str, spans: Sequence[tuple[int, int]], breaks: Sequence[Break], scraps: Sequence[bool]
) -> list[bool]:
    """Lines from the last one up, as what follows decides; lines that are scraps are looked through."""
    headings = [False] * len(spans)
    run = following = 0
    prose_ends = marked = False
    last = len(spans)
    for s in reversed(range(len(spans))):
        if breaks[s] <= Break.SENTENCE:
            continue
        line, single = text[spans[s][0] : spans[last - 1][1]], last == s + 1
        looks = _looks(line) if single else ""
        if not (single and scraps[s] and not looks):
            size = len(line.encode())
            found = False
            if single and breaks[last] < Break.PAGE and run < HEADING_RUN:
                apart = breaks[s] >= Break.BLANK_LINE and breaks[s + 1] >= Break.BLANK_LINE
                prose = following >= PROSE_BYTES or (following > size and prose_ends)
                # Where blank lines set lines apart, one that ends with a full stop is a short paragraph.
                short = line[-1:] == "." and (breaks[s + 1] >= Break.BLANK_LINE or breaks[s] == Break.BLANK_LINE)
                # Behind a line that introduces it a line without a stop is an item.
                led = s > 0 and breaks[s] == Break.LINE and text[slice(*spans[s - 1])][-1:] in set(INTRODUCING)
                item = led and line[-1:] not in _STOPS
                plain = (
                    not short
                    and not item
                    and ((run > 0 and not marked) or prose or (apart and line[-1:] not in _STOPS))
                )
                found = looks == "marked" or (looks == "plain" and plain)
            headings[s] = found
            run = run + 1 if found else 0
            marked = found and looks == "marked"  # beside it a line that is not is no heading
            following, prose_ends = size, line[-1:] in {*_STOPS, *INTRODUCING}
        elif last < len(spans) and breaks[last] < Break.PAGE and breaks[last] <= breaks[s]:
            headings[s] = headings[last] and any("0" <= c <= "9" for c in line)  # its number, on a line of its own
        last = s
    return headings


def _looks(line: str) -> str:
    """What a line looks like by itself: "marked" up as a heading, a "plain" one, or neither."""
    characters = [c for c in line if is_letter(c) or is_digit(c)]
    if not characters or len(line.encode()) > HEADING_BYTES:
        return ""
    marks = len(line) - len(line.lstrip("#"))
    if 1 <= marks <= 6 and line[marks].isspace():
        return "marked"
    if len(line.encode()) > 4 and line.startswith("==") and line.endswith("=="):
        return "marked"
    if line[0] in OPENING and not (line[-1] == "." and line[-2] in CLOSING):
        return ""  # speech ends with its stop inside, a title of a work with the stop behind it
    if line[0] == "|":  # a row of a table
        return ""
    if line[0] in BULLETS and line[1:2].isspace():
        return ""
    words = count_words(line)
    if words > HEADING_WORDS:
        return ""
    if line[-1] in STOPS:
        if line[-1] not in ".?" or line[-2:-1] in _STOPS or words > 8:
            return ""
    elif line[-1] in ",;:，；：、-–—":
        return ""
    if not any(map(is_letter, line)) and len(line) < 4:
        return ""
    return "" if is_lower(characters[0]) else "plain"


def _is_scrap(sentence: str) -> bool:
    """No letter outside of mark-up, and no more than a bare number."""
    bare = _MARKUP.sub("", sentence)
    return not any(map(is_letter, bare)) and (not any(map(is_digit, bare)) or len(bare) <= NUMBER_CHARACTERS)
