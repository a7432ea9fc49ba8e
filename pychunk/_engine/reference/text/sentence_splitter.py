"""The sentence splitter in plain Python: where sentences begin, and which breaks are before them."""

from __future__ import annotations

import re
from functools import cache

from ... import native
from .characters import (
    CLOSERS,
    JOINED_STOPS,
    LINE_BREAKS,
    OPENERS,
    SHADS,
    STOPS,
    STRONG_STOPS,
    is_any_digit,
    is_digit,
    is_greek,
    is_letter,
    is_lower,
    is_sign,
    is_upper,
)
from .hard_wrap import hyphenated, separates, wrap_width

PARAGRAPH, BLANK_LINE, PAGE = 1, 2, 4
_REFERENCES = re.compile(r"(?: ?\[[0-9]{1,4}\])*")
_EMOTICON = re.compile(r" ?[:;]-?[()DPp]+(?=\s|\Z)")
_DASHES = "-–—"
_QUOTED = re.compile(
    "って|と(?![てこにりうつき])"
)  # the particle after a quotation, but not the beginning of a longer word
_CLAUSE_ENDS = "，。！？：；、,!?:;“「『"
_ENDS_OF_DIALOGUE = "–—"
#: Words of a single letter with its marks in the scripts of southern India: come, go, give, you. Without this list they
#: would be taken for initials, which also have marks there.
_SYLLABLE_WORDS = ("வா", "போ", "தா", "நீ", "రా", "పో", "ಬಾ", "ಹೋ", "വാ", "പോ")
_KINDS = ("title", "may close", "number", "open", "degree", "street")


@cache
def _words() -> dict[str, set[str]]:
    return {name: set(words.split(" ")) - {""} for name, words in native.word_lists().items()}


def _size(text: str) -> int:
    """Return the number of bytes of a text. The limits of the rules count bytes."""
    return len(text.encode())


def _small(c: str) -> str:
    """Return a letter in lower case, as in the list of abbreviations. Letters that are not in its alphabets stay.

    The alphabets are Latin, Greek and Cyrillic.
    """
    letter = c.isascii() or "\xc0" <= c <= "\xde" or "\u0100" <= c <= "\u017f" or "\u0391" <= c <= "\u03a9"
    return c.lower() if (letter or "\u0400" <= c <= "\u042f") and c not in "\u0130\u0178" else c


def _abbreviation(word: str) -> str | None:
    if not 0 < _size(word) <= 24:
        return None
    lowered = _small(word[0]) + "".join(c.lower() if c.isascii() else c for c in word[1:])
    return next((kind for kind in _KINDS if lowered in _words()[kind]), None)


def _is_caseless(c: str) -> bool:
    """Return whether a character is a letter of an alphabet without case, which excludes Chinese and Japanese."""
    return is_letter(c) and not is_upper(c) and not is_lower(c) and ord(c) < 0x2000


def _is_syllable(word: str) -> bool:
    """Return whether a string is one letter of an alphabet without case, with its marks."""
    return word != "" and _is_caseless(word[0]) and not is_any_digit(word[0]) and all(map(is_sign, word[1:]))


def _vietnamese(text: str) -> bool:
    """Return whether the beginning of the text contains letters that hardly any language but Vietnamese has."""
    head = text.encode()[:4096]
    return re.search(rb"\xe1(?:\xba[\xa0-\xbf]|\xbb)|\xc6[\xa0\xa1\xaf\xb0]", head, re.DOTALL) is not None


def _is_roman(word: str) -> bool:
    return 0 < _size(word) <= 6 and not word.strip("IVXLCM")


def _german(text: str) -> bool:
    head = text.encode()[:4096].decode(errors="surrogateescape")
    words = [word for word in head.split(" ") if 2 <= len(word.encode(errors="surrogateescape")) <= 6]
    return sum((word in _words()["german"]) - (word in _words()["other"]) for word in words) > 0


def flags_of_gap(gap: str) -> int:
    """Return the flags of the sentence after a gap of white space, or 0 if the gap has no line break."""
    breaks, page = sum(c in LINE_BREAKS for c in gap.replace("\r\n", "\n")), "\f" in gap
    return PARAGRAPH * (breaks > 0) | BLANK_LINE * (breaks > 1 or page) | PAGE * page


class Splitter:
    """The splitter of one document. ``starts`` and ``flags`` are the result."""

    def __init__(self, text: str, unwrap_lines: str | bool) -> None:
        self.text, self.starts, self.flags = text, [0], [PARAGRAPH]
        self.start = self.skip_space(0)
        if self.start == len(text):
            self.starts, self.flags = [], []
            return
        self.paragraph_start, self.next = 0, 0
        self.width = wrap_width(text) if unwrap_lines == "auto" else 0
        self.wrapped = unwrap_lines is True or self.width > 0
        self.hyphens = unwrap_lines is not False
        for i, c in enumerate(text):
            if i < self.next or i < self.start:
                continue
            if c in LINE_BREAKS:
                self.line_break(i)
            elif self.is_stop(i):
                self.stop(i)

    def is_stop(self, i: int) -> bool:
        """Return whether a character is a stop. A semicolon after a Greek letter is a question mark."""
        return self.text[i] in STOPS or (self.text[i] == ";" and i > 0 and is_greek(self.text[i - 1]))

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
        if breaks == 1 and not page and text[i] == "\n" and self.is_wrap(i):
            if self.wrapped_stop(gap, following):
                self.border(following, 0)
            return
        self.border(following, flags_of_gap(space))

    def is_wrap(self, i: int) -> bool:
        """Return whether a single line feed is a space: in wrapped text, or after a hyphen that divides a word."""
        text = self.text
        if self.wrapped:
            return not separates(text, i, self.width)
        if not self.hyphens or i < 2 or text[:i].rstrip(" \t\r")[-1:] not in ("-", "\u2010"):
            return False
        before, after = text[:i].rsplit("\n", 1)[-1], text[i + 1 :].split("\n", 1)[0]
        return hyphenated(before, after) and not separates(text, i, 0)

    def wrapped_stop(self, end: int, following: int) -> bool:
        closed = self.start + len(self.text[self.start : end].rstrip(CLOSERS))
        first = closed
        while first > self.start and self.is_stop(first - 1):
            first -= 1
        return first < closed and self.ends(first, closed, end, following)

    def stop(self, i: int) -> None:
        text = self.text
        stops = i
        while stops < len(text) and self.is_stop(stops):
            stops += 1
        stops = self.past_shads(i, stops)
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
            ends = not broken and not (end == following and end > stops and self.is_quoted(end))
        elif not space:
            ends = end == stops and (self.is_strong(i, stops) or self.ends_glued(i, stops))
        else:
            ends = not broken and self.ends(i, stops, end, following)
        if ends:
            self.border(following, 0)

    def past_shads(self, i: int, stops: int) -> int:
        """Return the end of stops that begin with a Tibetan shad, including further shads after a space."""
        text = self.text
        while text[i] in SHADS and text[stops : stops + 1] == " " and text[stops + 1 : stops + 2] in list(SHADS):
            stops += 2
        return stops

    def is_strong(self, i: int, stops: int) -> bool:
        """Return whether a stop ends a sentence even if no space follows."""
        text = self.text
        if text[i] == "…":
            return self.is_chinese_pause(i, stops)
        if text[i] == "\u0589" and i > 0 and is_digit(text[i - 1]) and is_digit(text[stops]):
            return False
        return text[i] in STRONG_STOPS and not (text[i] == "\u06d4" and self.is_initial(i, stops))

    def is_chinese_pause(self, i: int, stops: int) -> bool:
        """Return whether the six dots of a Chinese ellipsis end a sentence.

        They do not inside a quotation, or between two equal characters, as in a stutter.
        """
        text = self.text
        if text[i:stops] != "……" or i - 1 <= self.start:
            return False
        before, after = text[i - 1], text[stops]
        quoted = any(c in "“「『" for c in text[max(self.start, i - 40) : i])
        return "\u4e00" <= before <= "\u9fff" and "\u4e00" <= after <= "\u9fff" and before != after and not quoted

    def is_quoted(self, end: int) -> bool:
        """Return whether the sentence continues after a quotation that ends here.

        Such a sentence continues with って or と, or with a clause that says who speaks.
        """
        text = self.text
        if _QUOTED.match(text, end):
            return True
        if text[end - 1] not in '"”’」』':
            return False
        stop = end
        while stop < len(text) and stop - end < 20 and text[stop] not in _CLAUSE_ENDS and not text[stop].isspace():
            stop += 1
        if stop == len(text) or stop == end or text[stop] not in _CLAUSE_ENDS:
            return False
        clause = text[end:stop]
        if clause[-1] in "着著了过過" and len(clause) > 1:
            clause = clause[:-1]
        if any(clause.endswith(word) for word in _words()["unsaid"]):
            return False
        return any(clause.endswith(word) for word in _words()["said"])

    def opens(self, i: int) -> bool:
        """Return whether the quotation mark at ``i`` opens a quotation, and so belongs to the text after it."""
        quote = self.text[i]
        return quote == "“" or (quote == '"' and self.text.count('"', self.paragraph_start, i) % 2 == 0)

    def past_marks(self, end: int) -> int:
        """Return the position after the marks that belong to the sentence before them.

        They are references such as "[3]", an emoticon, and a closing quotation mark between spaces.
        """
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
        """Return whether the sentence ends with the stops [i, stops), the closers [stops, end) and white space."""
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
        if c in "라이하" and end > stops and inside == following and self.word_at(inside) in _words()["quoting"]:
            return False
        if is_lower(c):
            return (inside == following or bracketed) and end == stops and self.ends_before_lower(i, stops)
        if text[i:stops] != ".":
            if text[i] == "\u06d4" and self.is_initial(i, stops):
                return False
            if text[i] not in ".…":
                return True
            return is_upper(c) or is_digit(c) or inside > following or is_letter(c)
        if end > stops or (skipping and is_upper(c) and text[self.start] in _ENDS_OF_DIALOGUE):
            return True
        return self.full_stop_ends(i, inside)

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
        alone = stops - i == 1 and i - 1 > self.start and text[i - 1] == " "
        if alone and not is_lower(text[self.start]):
            # The mark is the name of a key, as in "Press ? for help". In text without capitals it may be a real stop.
            return False
        if stop in "?;\u037e":
            return text[self.start] not in _ENDS_OF_DIALOGUE
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

    def word_before(self, i: int) -> int:
        """Return the position at which the word before ``i`` begins."""
        begin = i
        while begin > self.start and i - begin < 40:
            c = self.text[begin - 1]
            if c.isspace() or c in OPENERS + "/–—":
                break
            begin -= 1
        return begin

    def is_initial(self, i: int, stops: int) -> bool:
        """Return whether the word before the stop is an initial, the name of a letter or a short title.

        The word must be of letters without case.
        """
        text, begin = self.text, self.word_before(i)
        word = text[begin:i]
        if not word or not _is_caseless(word[0]) or is_any_digit(word[0]):
            return False
        last = word[word.rfind(".") + 1 :]
        if last in _words()["letter"]:
            return True
        joined_and = len(word) == 2 and word[0] == "و" and _is_syllable(word[1:])
        if not _is_syllable(word) and not joined_and and word not in _words()["doubtful letter"]:
            return False
        inside = self.skip_space(stops)
        after = self.cluster_at(inside)
        chained = after != "" and text[inside + len(after) : inside + len(after) + 1] == text[i]
        head = text[max(self.start, begin - 2) : begin]
        if len(head) == 2 and head[0] == text[i] and head[1] == " ":
            chained |= self.is_short_before(begin - 2)
        if joined_and:
            return chained or not self.is_counted(begin)
        if len(word) > 1:
            return chained or ("\u0b80" <= word < "\u0e00" and word not in _SYLLABLE_WORDS)
        return chained or not self.is_counted(begin) or "\u0900" <= word < "\u0e00"

    def is_counted(self, begin: int) -> bool:
        """Return whether there is a number and a space before ``begin``."""
        text = self.text
        return begin - 2 >= self.start and text[begin - 1] == " " and is_any_digit(text[begin - 2])

    def is_short_before(self, i: int) -> bool:
        word = self.text[self.word_before(i) : i]
        return _is_syllable(word) or word in _words()["letter"] or word in _words()["doubtful letter"]

    def cluster_at(self, begin: int) -> str:
        """Return the word at ``begin`` if it is a letter with its marks or the name of a letter, else ""."""
        word = self.word_at(begin)
        letter = _is_syllable(word) or word in _words()["letter"] or word in _words()["doubtful letter"]
        return word if letter else ""

    def initial_follows(self, inside: int) -> bool:
        word = self.word_at(inside)
        return len(word) == 1 and is_upper(word) and self.text[inside + 1 : inside + 2] == "."

    def is_spaced_part(self, begin: int) -> bool:
        """Return whether there is a small letter with a full stop before ``begin``, as in "z. B." and "i. d. R."."""
        text = self.text
        if begin - 3 < self.start or text[begin - 2 : begin] != ". " or not is_lower(text[begin - 3]):
            return False
        return begin - 3 == self.start or text[begin - 4].isspace() or text[begin - 4] in OPENERS

    def is_label(self, inside: int) -> bool:
        """Return whether at most eight characters in brackets, without a space, follow, such as "(EU)" or "[b]"."""
        if self.text[inside - 1] not in "([":
            return False
        found = re.match(r"[^\s()\[\]]{1,8}[)\]]", self.text[inside : inside + 9])
        return found is not None

    def full_stop_ends(self, i: int, inside: int) -> bool:
        text, start = self.text, self.start
        begin = self.word_before(i)
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
        acronym = bool(re.fullmatch("[A-Z]{2}", word)) or word == "E.D"  # a court's district; "e.d." is Dutch
        if acronym and word[0] == word[1] and re.match(r"([A-Z])\1\.", text[inside : inside + 3]):
            return False
        if _is_caseless(first) and self.is_initial(i, i + 1):
            return False
        last = word[word.rfind(".") + 1 :]
        if upper and _size(last) <= 5 and last in _words()["vietnamese title"] and _vietnamese(text):
            return False
        single = len(word) == 1 and is_upper(first)
        looked_up = word[word.rfind(".-") + 2 :] if ".-" in word else word
        kind = None if single or (acronym and word not in titles) else _abbreviation(looked_up)
        dot = text[inside + len(following) : inside + len(following) + 1] == "."
        pronoun = begin > start and following in _words()["pronoun"] and not dot  # not an initial, as in "U.S. I. Lee"
        dotted = bool(re.fullmatch(r"([^.0-9]{1,2}\.)+[^.0-9]{0,2}", word))
        if kind == "degree":
            return opens or not (begin - 2 > start and text[begin - 2 : begin] == ". ")
        if kind == "street":
            return upper and self.is_counted(begin)
        if kind == "open":
            return word in ("п", "д") and upper and begin - 3 >= start and text[begin - 3 : begin] == "т. "
        if kind == "number":
            if begin == start and word in ("No", "no"):
                return not is_digit(c) and c != "#"
            if is_digit(c) or c in "#№" or _is_roman(following):
                return False
            return opens or (small and (word == "no" or not self.is_label(inside)))
        if kind == "title":
            if word == "Me" and begin == start:
                return True
            closes = small and "." not in word and word not in ("jr", "sr")
            return opens or (pronoun and not small) or closes
        if kind == "may close":
            year = word in _words()["year"]
            size = _size(text[start:begin])
            # A preposition and a year are no sentence: "В 1965 г. Леонов" continues.
            brief = year and size <= 40 and text.count(" ", start, begin) <= 2
            if self.is_counted(begin) and (brief or ((year or size <= 24) and self.initial_follows(inside))):
                return False
            return upper and text[i + 2 : i + 3] != "("
        if single:
            if self.is_spaced_part(begin):
                return False
            if first == "I" and begin > start and not self.is_name_before(begin):
                return True
            return opens and begin > start
        if dotted:
            return opens or (pronoun and is_upper(first))
        if len(word) == 1 and (_size(following) == 1 or following == "Chr" or is_digit(c)):
            return opens
        if re.fullmatch(r"[0-9]|[0-9][0-9.]*[0-9]", word):
            return self.number_ends(begin, inside, word, opens)
        if is_digit(c) and begin > start and re.fullmatch("(?i:(?![aeiouy])[a-z])?(?:(?![aeiouy])[a-z])+", word):
            return False  # without a vowel it is no word but an abbreviation, as in "Rdnr. 5"
        if begin == start and all(map(is_any_digit, word)):
            return False
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


def sentence_starts(text: str, unwrap_lines: str | bool) -> tuple[list[int], list[int]]:
    """Return (first characters, flags) of the sentences of one document; see csrc/text/sentence_splitter.h."""
    made = Splitter(text, unwrap_lines)
    return made.starts, made.flags
