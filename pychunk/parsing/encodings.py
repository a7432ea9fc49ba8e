"""Bytes of a page to text, whatever encoding it declares, falsely or not at all."""

from __future__ import annotations

import codecs
import re

from .guessing import guessed

#: Bytes in which an encoding is declared (browsers look at 1,024; a quarter of real pages have it later).
DECLARED_WITHIN = 4096
#: Bytes in which a page in UTF-16 without a mark has nothing but markup.
_MARKUP = 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{0,400}?|<\?xml[^>]{0,100}?en)c(?:harset|oding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I
)
#: Labels of web pages that mean another encoding than Python's of that name, or one that Python does not know.
_MEANT = {
    "iso-8859-1": "cp1252", "iso8859-1": "cp1252", "iso_8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252",
    "ascii": "cp1252", "us-ascii": "cp1252", "x-cp1252": "cp1252", "ansi": "cp1252",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "tis-620": "cp874", "iso-8859-11": "cp874", "windows-874": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "windows-949": "cp949", "x-euc-jp": "euc_jp",
    "x-mac-cyrillic": "mac_cyrillic",
    "macintosh": "mac_roman", "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "iso-8859-8-i": "iso-8859-8",
}  # fmt: skip
#: What a page may declare; Python's other codecs (unicode_escape, punycode, ...) are none of the web's.
_KNOWN = re.compile(
    r"cp(?:125[0-8]|866|874|932|949)|windows-125[0-8]|iso-8859-(?:[2-8]|1[03-6])|koi8-[ru]|mac_(?:roman|cyrillic)"
    r"|gb18030|big5hkscs|euc[-_]jp|iso-2022-jp"
)


def decode(data: bytes | bytearray | memoryview) -> tuple[str, str]:
    """(text without NUL and without a byte order mark, the encoding it was read by).

    A byte order mark decides; else bytes that are UTF-8 are UTF-8, whatever is declared (other text is not, by chance,
    once it has letters beyond ASCII); else what the page declares, then UTF-8 where most of what is not ASCII is right
    in it, then the encoding in which letters are those of a language that windows-1252 does not write, then that, which
    is also declared of pages that are not in it. Never fails: bytes that mean nothing become U+FFFD.

    Example:
        >>> decode("naïve".encode("cp1252")), decode('<meta charset="koi8-r">мир'.encode("koi8-r"))[1]
        (('naïve', 'cp1252'), 'koi8-r')
    """
    data = bytes(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _clean(data[len(mark) :].decode(encoding, "replace")), encoding
    if encoding := _wide(data[:_MARKUP]):
        return _clean(data.decode(encoding, "replace")), encoding
    found = _DECLARED.search(data, 0, DECLARED_WITHIN)
    label = found[1].decode("ascii", "replace").lower() if found else ""
    declared = _MEANT.get(label, label)
    if declared == "iso-2022-jp" and b"\x1b" in data:
        return _clean(data.decode("iso2022_jp", "replace")), declared
    try:
        text = data.decode()
        return (_clean(text) if b"\0" in data else text), "utf-8"  # bytes are looked through in no time, text is not
    except UnicodeDecodeError:
        pass
    if _KNOWN.fullmatch(declared) and declared not in ("cp1252", "windows-1252"):
        text = data.decode(declared, "replace")
        if text.count("�") * 100 <= len(text):
            return _clean(text), declared
    text = data.decode("utf-8", "replace")
    beyond = len(text) - sum(map(len, re.findall(r"[\x00-\x7f]+", text)))
    if text.count("�") * 3 <= beyond:
        return _clean(text), "utf-8"
    if found_by_letters := guessed(data):
        return _clean(data.decode(found_by_letters, "replace")), found_by_letters
    # The five bytes that windows-1252 leaves open are control characters, as in browsers.
    return _clean(data.decode("latin-1").translate(_WINDOWS)), "cp1252"


_WINDOWS = {
    byte: bytes([byte]).decode("cp1252", "replace")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def _wide(head: bytes) -> str:
    """UTF-16 without its mark: every second byte of markup is NUL."""
    if len(head) >= 8 and head[1::2].count(0) == len(head) // 2 and head[0::2].count(0) == 0:
        return "utf-16-le"
    if len(head) >= 8 and head[0::2].count(0) == (len(head) + 1) // 2 and head[1::2].count(0) == 0:
        return "utf-16-be"
    return ""


def _clean(text: str) -> str:
    return text.replace("\0", "") if "\0" in text else text
