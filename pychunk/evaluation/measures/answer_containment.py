"""The check whether a span of a text contains an answer, after folding of width, case and white space.

- In scripts with spaces, only whole words match: ``art`` is neither in ``start`` nor in ``article``.
- Only whole numbers match: ``12`` is not in ``2012``, and ``1.5`` is neither in ``11.5`` nor in ``1.55``.
- In scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan), a match may be anywhere. Numerals
  are an exception.
- A word of Arabic or Hebrew of three letters or more may have articles and prepositions attached (``وبالكتاب``).
- In some languages, endings may follow a word: particles in Korean, and suffixes of nouns in Turkish and Azerbaijani.
  In Tamil, Telugu, Kannada, Malayalam, Georgian and Hungarian, any ending may follow a word of three letters or more.
  In other languages, Hindi among them, no ending may follow, because it would turn short words into other words.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

Span = tuple[int, int]

_NO_SPACES = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u0f40-\u0fbc\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u17dc"
    "\u1950-\u19df\u1a20-\u1aad\ua9e0-\ua9ef\uaa60-\uaa7f\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"
    "\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U000323af]"
)
#: The numerals of Chinese and Japanese. The line below has the numerals that multiply the digits before them.
_NUMERALS = frozenset("零〇一二两兩三四五六七八九十百千万萬亿億兆")
_MULTIPLES = frozenset("十百千万萬亿億兆")
#: The marks that can join the digits of one number, time or ratio.
_JOINERS = frozenset(".,:'/\u2044\u066b\u066c\u00b7")
#: A date, which is not one number, though its parts are numbers.
_DATE = re.compile(r"\d{1,2}([./])\d{1,2}\1\d{2,4}|\d{4}([./])\d{1,2}\2\d{1,2}")
_ALIKE = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    "\u0131": "i",  # upper-casing turns both into I in most languages
    "\u0640": "",
}
#: Characters that belong to the one before: vowels and final consonants of Hangul, halfwidth katakana marks.
_FOLLOWS = re.compile("[\u1160-\u11ff\uff9e\uff9f]")
#: Letters that occur only at the end of Arabic words. The next letter begins a word even if a space is missing.
_LAST = frozenset("ىة")
_ARABIC = re.compile("[\u0620-\u06ff]")
_ARABIC_BEFORE = re.compile("[وف]?(?:[بكل]?(?:ال)?|لل)|س")
_HEBREW = re.compile("[\u05d0-\u05ea]")
_HEBREW_BEFORE = re.compile("[ושהבלכמ]{1,3}")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_PARTICLES = re.compile(
    "(?:들)?(?:이?라고|이?라는|이?란|이?나|이?며|이?고|인|이?다|이?었다|였다|입니다|이에요|예요)?"
    "(?:에서|에게서|에게|에|께서|께|한테|으로서|으로써|로서|로써|으로|로|부터|까지|보다|처럼|같이|만큼|마다|조차|마저|밖에|하고|와|과|의)?"
    "(?:은|는|이|가|을|를|도|만|부터|까지)?"
)
_CHAINS = re.compile("[\u0b80-\u0d7f\u10a0-\u10ff]")
_VOWEL = "[iuü]"
_TURKISH = re.compile(
    f"(?:l[ae]r)?(?:{_VOWEL}?m(?:{_VOWEL}z)?|{_VOWEL}?n(?:{_VOWEL}z)|s?{_VOWEL})?"
    f"(?:n?[dt][ae]n?|[yn]?{_VOWEL}|[yn]?[ae]|n?{_VOWEL}n|{_VOWEL}?y?l[ae]|c[ae])?(?:ki(?:l[ae]r)?n?{_VOWEL}?n?)?"
    f"(?:[dt]{_VOWEL}r|y?[dt]{_VOWEL}|y?m{_VOWEL}ş)?"
)
_ANY = re.compile(r"[^\W\d_]+")
#: The part of an English contraction that follows the apostrophe.
_CONTRACTED = re.compile(r"(?:[stdm]|ll|re|ve)(?![^\W_])")
_AROUND = " .,;:!?'\"()[]{}…。、！？«»「」『』।॥؟،؛"
_ARTICLE = re.compile(r"(?:a|an|the) (?=.)")


class FoldedText:
    """A text folded once for searching, with the position of each of its characters in the original.

    Attributes:
        text: The text with width, case and digits folded. A run of white space becomes one space, or nothing next to
            scripts without spaces.

    Example:
        >>> FoldedText("The  Ｃａｔ sat.").text
        'the cat sat.'
    """

    def __init__(self, text: str) -> None:
        self.text, self._at = _folded(text)
        self._length = len(text)
        self._endings = None if self.text.isascii() else _endings_of(text)

    def holds(self, answer: str, start: int = 0, end: int | None = None) -> bool:
        """Return whether these characters of the text contain the folded answer as whole words and numbers.

        Args:
            answer: One of the answer's :func:`forms`.
            start: The first character to search, in the original text.
            end: The character before which the search ends, in the original text. None: the end of the text.
        """
        return next(self._found(answer, start, self._length if end is None else end), None) is not None

    def _found(self, answer: str, start: int, end: int) -> Iterator[int]:
        if not answer:
            return
        low, high = bisect_left(self._at, start), bisect_left(self._at, end)
        place = self.text.find(answer, low, high)
        while place >= 0:
            if self._begins(place, answer) and self._ends(place + len(answer), answer):
                yield place
            place = self.text.find(answer, place + 1, high)

    def _begins(self, place: int, answer: str) -> bool:
        text, first = self.text, answer[0]
        before = text[place - 1] if place else ""
        if before == "'" and place > 1 and text[place - 2].isalpha() and _CONTRACTED.match(text, place):
            return False
        if not before or (not _in_word(first) and first not in _JOINERS):
            return True
        if first in _JOINERS or first.isdecimal():
            joined = before if first.isdecimal() else first
            if before.isdecimal() or (joined in _JOINERS and self._joins(place - 1 if first.isdecimal() else place)):
                return False
            if not first.isdecimal():
                return True
        if _numeral(answer) and (before in _NUMERALS or before.isdecimal()):
            return False
        if _without_spaces(first) or not _in_word(before) or _without_spaces(before) or before in _LAST:
            return True
        return self._written_on(place, answer)

    def _written_on(self, place: int, answer: str) -> bool:
        """Return whether the part of the word before this place consists of attached articles and prepositions."""
        begin = place
        while begin and _in_word(self.text[begin - 1]) and not _without_spaces(self.text[begin - 1]):
            begin -= 1
            if place - begin > 4:
                return False
        before, word = self.text[begin:place], answer.split(" ", 1)[0]
        if answer[0].isdecimal():
            return before in ("و", "ب", "ל", "ב", "ה", "מ", "ו")
        letters = sum(map(str.isalpha, word))
        if _ARABIC.match(word):
            return letters >= 3 and _ARABIC_BEFORE.fullmatch(before) is not None
        return letters >= 3 and _HEBREW.match(word) is not None and _HEBREW_BEFORE.fullmatch(before) is not None

    def _ends(self, place: int, answer: str) -> bool:
        text, last = self.text, answer[-1]
        after = text[place] if place < len(text) else ""
        if after == "'" and last == "n" and _CONTRACTED.match(text, place + 1) and text[place + 1] == "t":
            return False
        if not after or not _in_word(last):
            return not (last in _JOINERS and after.isdecimal() and len(answer) > 1 and answer[-2].isdecimal())
        if last.isdecimal():
            if after.isdecimal() or (after in _JOINERS and self._joins(place)) or after in _MULTIPLES:
                return False
        elif _numeral(answer) and (after in _NUMERALS or after.isdecimal()):
            return False
        if unicodedata.category(after)[0] == "M":
            return False  # the mark is part of the last character
        if _without_spaces(last) or not _in_word(after) or _without_spaces(after):
            return True
        end = place
        while end < len(text) and _in_word(text[end]) and not _without_spaces(text[end]):
            end += 1
        return self._may_follow(answer.rsplit(" ", 1)[-1], text[place:end])

    def _may_follow(self, word: str, ending: str) -> bool:
        if self._endings is None and not (_HANGUL.match(ending) or _CHAINS.match(ending)):
            return False
        if _HANGUL.match(ending):
            return _PARTICLES.fullmatch(ending) is not None
        if len(word) < 3 or (not word[-1].isalpha() and unicodedata.category(word[-1])[0] != "M"):
            return False
        if _CHAINS.match(ending):
            return _CHAINS.match(word[-1]) is not None
        return self._endings is not None and self._endings.fullmatch(ending) is not None

    def _joins(self, place: int) -> bool:
        """Return whether the mark at this place, between digits, makes them one number."""
        text = self.text
        if not (0 < place < len(text) - 1 and text[place - 1].isdecimal() and text[place + 1].isdecimal()):
            return False
        begin, end = place, place + 1
        while begin and (text[begin - 1].isdecimal() or text[begin - 1] in _JOINERS):
            begin -= 1
        while end < len(text) and (text[end].isdecimal() or text[end] in _JOINERS):
            end += 1
        whole = text[begin:end].strip("".join(_JOINERS))
        years = text[place] == "/" and any(len(part) == 4 for part in whole.split("/"))
        return not years and _DATE.fullmatch(whole) is None


class Gold:
    """The answers to questions and their occurrences in documents, each of which is folded once.

    Args:
        documents: The texts of the documents.
        asked: A tuple for each question: its document (-1 for any), the paragraph in it if known, its answers, and the
            spans of the answers in that document if known.

    Attributes:
        nowhere: The indices of the questions that have no spans and none of whose answers occurs where it should. This
            is the question's paragraph if known, else its document if known, else any document.
    """

    def __init__(
        self,
        documents: Sequence[str],
        asked: Iterable[tuple[int, Span | None, Sequence[str], Sequence[Span]]],
    ) -> None:
        self._folded = [FoldedText(text) for text in documents]
        self._forms: list[list[tuple[str, str]]] = []
        self.nowhere: list[int] = []
        for number, (document, paragraph, answers, places) in enumerate(asked):
            start, end = paragraph or (0, None)
            looked = self._folded if document < 0 else [self._folded[document]]
            # An answer without letters and digits, such as a full stop, occurs in any text.
            answers = [each for each in answers if any(map(str.isalnum, each))] or answers
            stand = []
            for answer in answers:
                found = (form for form in forms(answer) if any(text.holds(form, start, end) for text in looked))
                stand += [
                    (form, answer) for form in islice(found, 1)
                ]  # only the best form: "The Who" must not match "who"
            self._forms.append(stand or [(form, answer) for answer in answers for form in forms(answer)[:1]])
            if not stand and not places:
                self.nowhere.append(number)

    def held(self, question: int, document: int, start: int, end: int) -> list[str]:
        """Return the answers to a question that these characters of a document contain."""
        text = self._folded[document]
        return [answer for form, answer in self._forms[question] if text.holds(form, start, end)]


def holds(text: str, answer: str) -> bool:
    """Return whether a text contains an answer.

    Example:
        >>> holds("Opened in 2012.", "2012"), holds("Opened in 2012.", "12"), holds("诺曼底在法国。", "法国")
        (True, False, True)
    """
    folded = FoldedText(text)
    return any(folded.holds(form) for form in forms(answer))


def folded(text: str) -> str:
    """Return the text folded as in :class:`FoldedText`.

    Example:
        >>> folded("Der\u00a0 WEG")
        'der weg'
    """
    return _folded(text)[0].strip()


@functools.lru_cache(maxsize=1 << 14)
def forms(answer: str) -> tuple[str, ...]:
    """Return the folded answer, then without the punctuation around it, then also without an English article before it.

    Example:
        >>> forms("The Moon."), forms("12")
        (('the moon.', 'the moon', 'moon'), ('12',))
    """
    whole = folded(answer)
    bare = whole.strip(_AROUND)
    if not any(map(str.isalnum, bare)):
        bare = whole
    return tuple(each for each in dict.fromkeys((whole, bare, _ARTICLE.sub("", bare, count=1))) if each)


def _folded(text: str) -> tuple[str, array[int]]:
    """Return (folded text, the position in the original text of each of its characters)."""
    parts: list[str] = []
    at = array("q")
    space, before, place = False, "", 0
    while place < len(text):
        begin = place
        character = text[place]
        place += 1
        while place < len(text) and text[place] > "\u02ff" and _follows(text[place]):
            place += 1
        found = _character(text[begin:place])
        if found == " ":
            space = True
            continue
        if not found:
            continue
        if space and before and not (_loose(before) or _loose(character)):
            parts.append(" ")
            at.append(begin)
        space, before = False, character
        parts.append(found)
        at.extend([begin] * len(found))
    return "".join(parts), at


@functools.lru_cache(maxsize=1 << 16)
def _character(cluster: str) -> str:
    if cluster.isspace() or cluster == "\u200b":
        return "" if cluster == "\u200b" else " "
    first = cluster[0]
    if unicodedata.decomposition(first).startswith("<super>"):
        # An exponent is not a digit of the number, nor is a note's mark.
        return cluster
    found = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster).casefold())
    if found.isspace():
        return " "
    found = "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else _ALIKE.get(each, each)
        for each in found
        if unicodedata.category(each) != "Cf" and not _pointing(each)
    )
    return found.replace("i\u0307", "i")


def _pointing(character: str) -> bool:
    """Return whether a character is a vowel sign of Arabic or Hebrew, which writers may leave out."""
    return "\u064b" <= character <= "\u0652" or character == "\u0670" or "\u0591" <= character <= "\u05c7"


@functools.lru_cache(maxsize=1 << 14)
def _follows(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or _FOLLOWS.match(character) is not None


@functools.lru_cache(maxsize=1 << 14)
def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" or character.isdecimal()


@functools.lru_cache(maxsize=1 << 14)
def _without_spaces(character: str) -> bool:
    return _NO_SPACES.match(character) is not None


@functools.lru_cache(maxsize=1 << 14)
def _loose(character: str) -> bool:
    """Return whether white space next to the character has no meaning."""
    wide = "\u3001" <= character <= "\u303f" or "\uff01" <= character <= "\uff65"
    return _without_spaces(character) or (wide and unicodedata.category(character)[0] == "P")


def _numeral(answer: str) -> bool:
    return _NUMERALS.issuperset(answer)


def _endings_of(text: str) -> re.Pattern[str] | None:
    """Return a pattern for the endings of the text's language, recognised by letters that no other language has.

    The share of these letters must be at least 1.5 % for Turkish and Azerbaijani and 0.8 % for Hungarian. Texts in
    these languages have some 5 % and 2 %. A foreign name in another text has some of the letters, too.
    """
    for letters, per_mille, endings in (("ğıĞİ", 15, _TURKISH), ("őűŐŰ", 8, _ANY)):
        if 1000 * sum(map(text.count, letters)) >= per_mille * len(text):
            return endings
    return None
