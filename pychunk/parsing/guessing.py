"""The encoding of bytes that do not say it, or say it falsely: by the letters that a language uses most."""

from __future__ import annotations

import re
from typing import NamedTuple

#: Bytes that are looked at.
_LOOKED_AT = 1 << 18
#: Bytes beyond ASCII of which a guess needs so many, and the share of them that must stand in runs of three and more:
#: letters with accents stand between others, those of another script, and pairs of bytes, among their like.
_LEAST, _IN_RUNS = 12, 0.5
#: A guess holds with so much of the usual share of frequent letters, and with so few letters that mean nothing.
_SURE, _WRONG = 0.6, 0.02
_RUNS = re.compile(rb"[\x80-\xff]{3,}")
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


def guessed(data: bytes) -> str | None:
    """An encoding in which bytes that are no UTF-8 read like a language of another script; None where they do not.

    Example:
        >>> guessed("Все счастливые семьи похожи друг на друга".encode("cp1251")), guessed("naïve".encode("cp1252"))
        ('cp1251', None)
    """
    data = data[:_LOOKED_AT]
    beyond = len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
    if beyond < _LEAST or sum(map(len, _RUNS.findall(data))) < _IN_RUNS * beyond:
        return None
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
