"""The encoding of bytes that do not say it, or say it falsely: by the letters that a language uses most."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

#: Bytes that are looked at.
_LOOKED_AT = 1 << 18
#: Bytes beyond ASCII of which a guess needs so many, and the share of them that must stand in runs of three and more:
#: letters with accents stand between others, those of another script, and pairs of bytes, among their like.
_LEAST, _IN_RUNS = 12, 0.5
#: A guess of a script holds with so much of the usual share of frequent letters, and so few letters that mean nothing.
_SURE, _WRONG = 0.6, 0.02
_RUNS = re.compile(rb"[\x80-\xff]{3,}")
#: Of a language in Latin letters: the share of letters beyond ASCII that must be its own, how much larger that must be
#: than the share that any language of windows-1252 knows of them there. Of 60,000 bags of words of two to four of those
#: languages, nine were taken for another.
_OWN, _MORE = 0.95, 0.05
#: Marks that are no letters and say nothing, as they are the same bytes in most encodings, or are in texts of all.
_MARKS = re.compile(r"[\x00-\x7f\xa0\xad“”„‘’‚‹›«»–—…•·§©®™°€†‡‰´¨×]+")
_ASCII = re.compile(r"[\x00-\x7f]+")


class _Script(NamedTuple):
    """Encodings of a script, its most frequent letters, and about the share of letters that they are in its texts."""

    encodings: tuple[str, ...]
    letters: frozenset[str]
    usual: float


_SCRIPTS = tuple(
    _Script(tuple(encodings.split()), frozenset(letters), usual)
    for encodings, letters, usual in (
        ("cp1251 koi8_u cp866 iso8859_5", "оеаинтсрвлкмдпуі", 0.75),
        ("cp1253", "αοιετνσηρπκμλόίάς", 0.75),
        ("cp1255", "יוהלארתבשמנ", 0.75),
        ("cp1256", "ايلمنورتبةعدس", 0.7),
        ("cp874", "านรอกเงมยลวดทสตะป่้", 0.65),
        ("cp932 euc_jp", "のにはをたがでてとしれさいるなかっらもりこす。、", 0.4),
        ("gb18030", "的一是不了在人有我他这中大来上国个到说们为子和你地出，。", 0.2),
        ("big5hkscs", "的一是不了在人有我他這中大來上國個到說們為子和你地出，。", 0.2),
        ("cp949", "이다는에의을가고지하로한기서사도은리어", 0.3),
    )
)


#: Letters beyond ASCII of languages that windows-1252 writes.
_WESTERN = tuple(
    map(
        frozenset,
        (
            "äöüßé", "àâæçèéêëîïôœùûüÿ", "áéíóúüñ", "àáâãçéêíóôõúü", "àèéìíîòóù", "åäöéü", "æøåéèêòóô", "áéëïíóöúèê",
            "áðéíóúýþæöø", "àçèéíïòóúü", "äöõüšž", "âêîôûäëïöüáéíóúàè",
        ),
    )
)  # fmt: skip
#: Its signs that are letters elsewhere. In a text of these languages none stands between letters: ``10³``, ``¿Qué``.
_SIGNS = re.compile("(?<![^\\W\\d_])[¡-¿]+|[¡-¿]+(?![^\\W\\d_])")
#: Languages in Latin letters that it does not write: their encodings, their letters, and which share of these at least
#: is other bytes in windows-1252. Slovak without ĺ and ŕ, which are rare, and the bytes of å and à.
_LATIN = tuple(
    (tuple(encodings.split()), frozenset(letters), telling)
    for encodings, letters, telling in (
        ("cp1250 iso8859_2", "ąćęłńóśźż", 0.3),
        ("cp1250 iso8859_2", "áčďéěíňóřšťúůýž", 0.2),
        ("cp1250 iso8859_2", "áäčďéíľňóôšťúýž", 0.12),
        ("cp1250 iso8859_2", "áéíóöőúüű", 0.05),
        ("cp1250 iso8859_2", "ăâîşţ", 0.3),
        ("cp1250 iso8859_2", "čćđšž", 0.3),
        ("cp1254", "çğıöşüâîi̇", 0.3),
        ("cp1257", "ąčęėįšųūž", 0.3),
        ("cp1257", "āčēģīķļņšūž", 0.3),
    )
)


def guessed(data: bytes) -> str | None:
    """An encoding in which bytes that are no UTF-8 read like a language that windows-1252 does not write, or None.

    Example:
        >>> guessed("Все счастливые семьи похожи друг на друга".encode("cp1251")), guessed("naïve".encode("cp1252"))
        ('cp1251', None)
        >>> guessed("Gdzie kucharek sześć, tam nie ma co jeść. Żółw chciał pożyć dłużej.".encode("cp1250"))
        'cp1250'
    """
    data = data[:_LOOKED_AT]
    beyond = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
    if beyond < _LEAST:
        return None
    if sum(map(len, _RUNS.findall(data))) < _IN_RUNS * beyond:
        return _latin(data)
    return _of_script(data)


def _latin(data: bytes) -> str | None:
    """By letters with accents: of one language, where none that windows-1252 writes knows as many of them."""
    western = _letters(_SIGNS.sub("", data.decode("cp1252", "replace")))
    most = max(_share(western, own) for own in _WESTERN)
    best, found = max(_OWN, most + _MORE), None
    for encodings, own, least in _LATIN:
        for encoding in encodings:
            letters = _letters(data.decode(encoding, "replace"))
            if sum(letters.values()) < _LEAST:
                continue
            # The same letter is the same byte in both only if both count it equally often.
            telling = sum(count for each, count in letters.items() if each in own and western.get(each) != count)
            if telling >= least * sum(letters.values()) and (share := _share(letters, own)) > best:
                best, found = share, encoding
    return found


def _letters(text: str) -> Counter[str]:
    """How often each character beyond ASCII is there, in lower case, without marks."""
    return Counter(_MARKS.sub("", text).lower())


def _share(letters: Counter[str], own: frozenset[str]) -> float:
    """Which part of them is a language's own; all of none."""
    return sum(count for each, count in letters.items() if each in own) / sum(letters.values()) if letters else 1.0


def _of_script(data: bytes) -> str | None:
    best, found = _SURE, None
    for script in _SCRIPTS:
        for encoding in script.encodings:
            letters = _ASCII.sub("", data.decode(encoding, "replace"))
            if letters.count("\ufffd") > _WRONG * len(letters):
                continue
            share = sum(map(letters.count, script.letters)) / len(letters) / script.usual
            if share > best:
                best, found = share, encoding
    return found
