"""The sentence splitter in plain Python, in characters: where sentences begin, and what lies before them."""

from __future__ import annotations

import re
from functools import cache

from .. import _native
from .characters import (
    CLOSERS,
    JOINED_STOPS,
    LINE_BREAKS,
    OPENERS,
    STOPS,
    STRONG_STOPS,
    is_digit,
    is_letter,
    is_lower,
    is_upper,
)
from .wrap import separates, wrap_width

PARAGRAPH, BLANK_LINE, PAGE = 1, 2, 4
_REFERENCES = re.compile(r"(?: ?\[[0-9]{1,4}\])*")
_EMOTICON = re.compile(r" ?[:;]-?[()DPp]+(?=\s|\Z)")
_DASHES = "-–—"
_QUOTED = re.compile("って|と(?![てこにりうつき])")  # a particle behind a quotation, unless it begins a word


@cache
def _words() -> dict[str, set[str]]:
    return {name: set(words.split(" ")) - {""} for name, words in _native.word_lists().items()}


def _size(text: str) -> int:
    """Bytes: the limits of the rules are in bytes."""
    return len(text.encode())


def _abbreviation(word: str) -> str | None:
    if not 0 < _size(word) <= 24:
        return None
    lowered = "".join(c.lower() if c.isascii() else c for c in word)
    return next((kind for kind in ("title", "may close", "number", "open") if lowered in _words()[kind]), None)


def _is_roman(word: str) -> bool:
    return 0 < _size(word) <= 6 and not word.strip("IVXLCM")


def _german(text: str) -> bool:
    head = text.encode()[:4096].decode(errors="surrogateescape")
    words = [word for word in head.split(" ") if 2 <= len(word.encode(errors="surrogateescape")) <= 6]
    return sum((word in _words()["german"]) - (word in _words()["other"]) for word in words) > 0


def flags_of_gap(gap: str) -> int:
    """Flags of the sentence behind this white space; none without a line break."""
    breaks, page = sum(c in LINE_BREAKS for c in gap.replace("\r\n", "\n")), "\f" in gap
    return PARAGRAPH * (breaks > 0) | BLANK_LINE * (breaks > 1 or page) | PAGE * page


class Splitter:
    """Splits one document; ``starts`` and ``flags`` are the result."""

    def __init__(self, text: str, wrap: bool) -> None:
        self.text, self.starts, self.flags = text, [0], [PARAGRAPH]
        self.start = self.skip_space(0)
        if self.start == len(text):
            self.starts, self.flags = [], []
            return
        self.paragraph_start, self.next = 0, 0
        self.width = wrap_width(text) if wrap else 0
        for i, c in enumerate(text):
            if i < self.next or i < self.start:
                continue
            if c in LINE_BREAKS:
                self.line_break(i)
            elif c in STOPS:
                self.stop(i)

    def skip_space(self, i: int) -> int:
        while i < len(self.text) and self.text[i].isspace():
            i += 1
        return i

    def border(self, at: int, flags: int) -> None:
        self.starts.append(at)
        self.flags.append(flags)
        self.start = self.next = at
        if flags & PARAGRAPH:
            self.paragraph_start = at

    def line_break(self, i: int) -> None:
        text = self.text
        gap = self.start + len(text[self.start : i].rstrip())
        self.next = following = self.skip_space(i)
        if following == len(text):
            return
        space = text[gap:following].replace("\r\n", "\n")
        breaks = sum(c in LINE_BREAKS for c in space)
        page = "\f" in space
        if self.width and breaks == 1 and not page and text[i] == "\n" and not separates(text, i, self.width):
            if self.wrapped_stop(gap, following):
                self.border(following, 0)
            return
        self.border(following, flags_of_gap(space))

    def wrapped_stop(self, end: int, following: int) -> bool:
        closed = self.start + len(self.text[self.start : end].rstrip(CLOSERS))
        first = self.start + len(self.text[self.start : closed].rstrip(STOPS))
        return first < closed and self.ends(first, closed, end, following)

    def stop(self, i: int) -> None:
        text = self.text
        stops = i
        while stops < len(text) and text[stops] in STOPS:
            stops += 1
        end = stops
        joined = any(c in JOINED_STOPS for c in text[i:stops])
        while end < len(text) and text[end] in CLOSERS and not (joined and self.opens(end)):
            end += 1
        end = self.past_marks(end)
        self.next = stops
        following = self.skip_space(end)
        space = text[end:following]
        if following == len(text):
            return
        broken = any(c in LINE_BREAKS for c in space)
        if joined:
            ends = not broken and not (end == following and end > stops and _QUOTED.match(text, end))
        elif not space:
            ends = end == stops and (text[i] in STRONG_STOPS or self.ends_glued(i, stops))
        else:
            ends = not broken and self.ends(i, stops, end, following)
        if ends:
            self.border(following, 0)

    def opens(self, i: int) -> bool:
        """Whether the quotation mark behind a stop that needs no space begins what follows."""
        quote = self.text[i]
        return quote == "“" or (quote == '"' and self.text.count('"', self.paragraph_start, i) % 2 == 0)

    def past_marks(self, end: int) -> int:
        """Past references, an emoticon and a closing quote between spaces."""
        text = self.text
        found = _REFERENCES.match(text, end)
        end = found.end() if found else end
        found = _EMOTICON.match(text, end)
        end = found.end() if found else end
        if end < len(text) and text[end].isspace():
            quote = "''" if text.startswith("''", end + 1) else text[end + 1 : end + 2]
            after = end + 1 + len(quote)
            spaced = after == len(text) or text[after].isspace()
            open_quotes = text.count('"', self.paragraph_start, end + 1) % 2
            closes = quote in ("''", "”", "»") or (quote == '"' and open_quotes)
            if quote and closes and spaced and text[end] not in LINE_BREAKS:
                return after
        return end

    def ends(self, i: int, stops: int, end: int, following: int) -> bool:
        """Whether stops [i, stops), closers [stops, end) and white space end the sentence."""
        text = self.text
        inside, skipping = following, False
        while True:
            quote = text.startswith(",,", inside)
            if not quote and text[inside] not in OPENERS + _DASHES:
                break
            skipping |= quote or text[inside] in _DASHES
            inside += 2 if quote else 1
            inside = self.skip_space(inside) if skipping else inside
            if inside >= len(text):
                return True
        c = text[inside]
        bracketed = inside > following and text[inside - 1] in "(["
        if c == "." and bracketed:
            return True
        if c in ",;:)].":
            return False
        if is_lower(c):
            return (inside == following or bracketed) and end == stops and self.ends_before_lower(i, stops)
        if text[i:stops] != ".":
            if text[i] not in ".…":
                return True
            return is_upper(c) or is_digit(c) or inside > following or is_letter(c)
        return end > stops or self.full_stop_ends(i, inside)

    def ends_glued(self, i: int, stops: int) -> bool:
        text = self.text
        if text[i] not in ".!?" or stops >= len(text):
            return False
        question = text[i:stops] == "?" and "a" <= text[stops] <= "z"
        if not (is_upper(text[stops]) or question):
            return False
        begin = i
        while begin > self.start and is_lower(text[begin - 1]):
            begin -= 1
        if i - begin < 3 or begin == self.start or not text[begin - 1].isspace():
            return False
        after = stops + 1
        while after < len(text) and is_lower(text[after]):
            after += 1
        ends_word = after == len(text) or text[after].isspace() or text[after] in "',"
        long_enough = after - stops >= 2 or text[stops] in "IA"
        return long_enough and ends_word and _abbreviation(text[begin:i]) is None

    def ends_before_lower(self, i: int, stops: int) -> bool:
        text, stop = self.text, self.text[i]
        if stop == "?":
            return True
        if stop not in ".!":
            return False
        if stops - i > 1:
            return stop == "!"
        if text[i - 1] == " " and i - 1 > self.start:
            return True
        begin = i
        while begin > self.start and is_lower(text[begin - 1]):
            begin -= 1
        capital = begin > self.start and is_upper(text[begin - 1])
        begin -= capital
        word = text[begin:i]
        vowel = any(c in "aeiouy" or ord(c) >= 0x80 for c in word)
        if len(word) < 2 or not vowel or begin == self.start:
            return False
        if not (text[begin - 1].isspace() or text[begin - 1] == "'") or _abbreviation(word) is not None:
            return False
        return len(word) >= (6 if capital else 4) or (not capital and stop == "!") or word in _words()["short"]

    def full_stop_ends(self, i: int, inside: int) -> bool:
        text, start = self.text, self.start
        begin = i
        while begin > start and i - begin < 40:
            c = text[begin - 1]
            if c.isspace() or c in OPENERS + "/–—":
                break
            begin -= 1
        word = text[begin:i]
        if not word:
            return True
        first, c = word[0], text[inside]
        if begin > 0 and text[begin - 1] == "(" and is_lower(first) and ")" not in word and _size(word) <= 12:
            return False
        following = self.word_at(inside)
        opens = following in _words()["opener"]
        upper = is_upper(c)
        small = "a" <= first <= "z"
        titles = ("MR", "MS", "DR", "ST", "NO", "VS", "LT", "MT", "FT", "JR", "SR")
        acronym = bool(re.fullmatch("[A-Z]{2}", word)) and word not in titles
        kind = None if acronym else _abbreviation(word)
        if kind == "open":
            return word in ("п", "д") and upper and begin - 3 >= start and text[begin - 3 : begin] == "т. "
        if kind == "number":
            if begin == start and word in ("No", "no"):
                return not is_digit(c) and c != "#"
            return not is_digit(c) and c not in "#№" and not _is_roman(following) and (opens or small)
        if kind == "title":
            return opens or (small and "." not in word and word not in ("jr", "sr"))
        if kind == "may close":
            return upper and text[i + 2 : i + 3] != "("
        if len(word) == 1 and is_upper(first):
            if first == "I" and begin > start and not self.is_name_before(begin):
                return True
            return opens and begin > start
        if re.fullmatch(r"([^.0-9]{1,2}\.)+[^.0-9]{0,2}", word):
            return opens
        if len(word) == 1 and (_size(following) == 1 or following == "Chr" or is_digit(c)):
            return opens
        if re.fullmatch(r"[0-9]|[0-9][0-9.]*[0-9]", word):
            return self.number_ends(begin, inside, word, opens)
        if begin == start and _size(word) <= 5 and (_is_roman(word) or not word.strip("ivx") or len(word) == 1):
            return False
        return opens or not _german(text) if _is_roman(word) and len(word) > 1 else True

    def number_ends(self, begin: int, inside: int, number: str, opens: bool) -> bool:
        if begin == self.start:
            return False
        found = re.compile("[0-9]*").match(self.text, inside)
        digits = found.end() - inside if found else 0
        if len(number) <= 2 and digits:
            return not (digits == 4 or (digits <= 2 and self.text[inside + digits : inside + digits + 1] == "."))
        if len(number) <= 2 and self.continues_list(begin, number):
            return False
        whole, dot, rest = number.partition(".")
        ordinal = len(number) <= 3 if not dot else len(whole) <= 2 and len(rest) <= 2
        if ordinal and self.word_at(inside) in _words()["month"]:
            return False
        return not ordinal or opens or not _german(self.text)

    def continues_list(self, begin: int, number: str) -> bool:
        head = self.text[self.start : begin].encode()[-1000:]
        if int(number) == 1:
            return head[-2:-1] == b":"
        before = f"{int(number) - 1}. ".encode()
        at = head.rfind(before)
        return at == 0 or (at > 0 and head[at - 1 : at] == b" ")

    def word_at(self, begin: int) -> str:
        end = begin
        while end < len(self.text) and _size(self.text[begin:end]) < 40:
            if not is_letter(self.text[end]) and self.text[end] != "'":
                break
            end += 1
        return self.text[begin:end]

    def is_name_before(self, begin: int) -> bool:
        head = self.text[self.start : begin].rstrip()
        word = len(head)
        while word > 0 and is_letter(head[word - 1]):
            word -= 1
        return word < len(head) and is_upper(head[word])


def sentence_starts(text: str, wrap: bool) -> tuple[list[int], list[int]]:
    """(first characters, flags) of the sentences of one document; see csrc/text.h."""
    made = Splitter(text, wrap)
    return made.starts, made.flags
