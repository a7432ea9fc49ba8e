"""The decoding of a page's bytes, even if the page declares a wrong character encoding or none."""

from __future__ import annotations

import codecs
import re

import numpy as np

from ..._engine import native
from .charset import guessed

#: The number of bytes at the beginning of a page in which a declaration counts. The HTML standard searches 1,024 bytes
#: first, and obeys later declarations while it parses. A quarter of real pages have their declaration later.
DECLARED_WITHIN = 4096
#: The number of bytes at the beginning in which zero bytes show UTF-16 or UTF-32, and the minimum share of characters
#: with a zero byte. The markup, spaces and digits of any page reach this share. Even in Cyrillic prose without markup,
#: one character in six has a zero byte.
_ZEROS_WITHIN, _ZEROS = 4096, 0.1
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: The labels of the Encoding Standard, by the codec that they mean. A label is read as ASCII, so its page cannot be
#: UTF-16 or UTF-32; these labels mean UTF-8. Labels that the standard refuses (iso-2022-kr, hz-gb-2312) are left out.
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8 csunicode iso-10646-ucs-2 ucs-2 "
    "unicode unicodefeff unicodefffe utf-16 utf-16be utf-16le utf16 utf-32 utf32",
    "cp1252": "ansi_x3.4-1968 ascii us-ascii ansi windows-1252 x-cp1252 x-user-defined cp819 csisolatin1 ibm819 "
    "iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1",
    "cp1250": "windows-1250 x-cp1250",
    "cp1251": "windows-1251 x-cp1251",
    "cp1253": "windows-1253 x-cp1253",
    "cp1254": "windows-1254 x-cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 "
    "l5 latin5",
    "cp1255": "windows-1255 x-cp1255",
    "cp1256": "windows-1256 x-cp1256",
    "cp1257": "windows-1257 x-cp1257",
    "cp1258": "windows-1258 x-cp1258",
    "cp866": "866 csibm866 ibm866",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8-e iso-8859-8-i iso-ir-138 iso8859-8 "
    "iso88598 iso_8859-8 iso_8859-8:1988 logical visual",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "mac_roman": "csmacintosh mac macintosh x-mac-roman",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
}
_MEANT = {label: codec for codec, labels in _LABELS.items() for label in (codec, *labels.split())}

#: The number of bytes at the beginning from which :func:`likely` guesses the encoding.
_LIKELY_WITHIN = 1 << 18
_BEYOND, _BEYOND_BYTES = re.compile(r"[^\x00-\x7f]+"), re.compile(rb"[\x80-\xff]+")
#: The bytes that windows-1252 does not define.
_UNUSED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_SPACE = rb"\t\n\f\r "
#: What "<" begins in markup: a comment, a meta element, another tag, or a declaration.
_MARKUP = re.compile(rb"<(?:(!--)|(meta)(?=[%b/])|/?[a-z][^%b>]*|[!/?])" % (_SPACE, _SPACE), re.I)
#: An attribute as the standard's prescan parses it: its name, and its value with or without quotes.
_ATTRIBUTE = re.compile(
    rb"""[%(s)b/]*(=?[^%(s)b/>=]*)(?:[%(s)b]*=[%(s)b]*(?:"([^"]*)"|'([^']*)'|([^%(s)b>]*)))?""" % {b"s": _SPACE}
)
_CONTENT = re.compile(rb"""charset[%(s)b]*=[%(s)b]*(?:"([^"]*)"|'([^']*)'|([^%(s)b;"']*))""" % {b"s": _SPACE}, re.I)
_XML = re.compile(rb"""<\?xml[^>]*?encoding[%(s)b]*=[%(s)b]*(["'])([^"'>]*)\1""" % {b"s": _SPACE})


def decode(data: bytes | bytearray | memoryview) -> tuple[str, str]:
    """Return the text, without NUL and without a byte order mark, and the encoding with which it was decoded.

    The first of these rules that applies decides:

    - A byte order mark names the encoding.
    - Zero bytes at the positions where UTF-16 and UTF-32 have them show the encoding.
    - Bytes that are valid UTF-8 are UTF-8, whatever is declared. Text in another encoding that has letters beyond ASCII
      is not valid UTF-8 by chance.
    - The encoding that the page declares counts, except windows-1252. Many pages declare that although they are not in
      it.
    - The encoding is UTF-8 if most of the bytes beyond ASCII are valid UTF-8.
    - An encoding is guessed in which the letters fit a language that windows-1252 does not write (:mod:`charset`).
    - The encoding is windows-1252.

    The function never fails: bytes without a meaning become U+FFFD.

    Example:
        >>> decode("naïve".encode("cp1252")), decode('<meta charset="koi8-r">мир'.encode("koi8-r"))[1]
        (('naïve', 'cp1252'), 'koi8-r')
    """
    data = bytes(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _clean(data[len(mark) :].decode(encoding, "replace")), encoding
    if encoding := without_mark(data):
        return _clean(data.decode(encoding, "replace")), encoding
    if b"\x1b" in data and (declared := declared_in(data)) == "iso2022_jp":
        return _clean(data.decode(declared, "replace")), "iso-2022-jp"
    try:
        text = data.decode()
        return (_clean(text) if b"\0" in data else text), "utf-8"  # NUL is found faster in bytes
    except UnicodeDecodeError:
        pass
    declared = declared_in(data)
    if declared not in ("", "cp1252", "utf-8", "iso2022_jp"):
        text = data.decode(declared, "replace")
        if text.count("�") * 100 <= len(text):
            return _clean(text), declared
    text = data.decode("utf-8", "replace")
    if text.count("�") * 3 <= sum(map(len, _BEYOND.findall(text))):
        return _clean(text), "utf-8"
    if found_by_letters := guessed(data):
        return _clean(data.decode(found_by_letters, "replace")), found_by_letters
    # The five bytes that windows-1252 does not define become control characters, as in browsers.
    return _clean(data.decode("latin-1").translate(_WINDOWS)), "cp1252"


def is_utf8(data: bytes) -> bool:
    """Return whether :func:`decode` would change no byte but only decode UTF-8, without making the text.

    Example:
        >>> is_utf8("naïve".encode()), is_utf8("naïve".encode("cp1252")), is_utf8("naïve".encode("utf-8-sig"))
        (True, False, False)
    """
    if data.startswith(codecs.BOM_UTF8) or b"\0" in data or b"\x1b" in data:
        return False
    return native.find_invalid_utf8(np.frombuffer(data, np.uint8)) < 0


def likely(data: bytes | bytearray) -> str:
    """Return the most likely codec of bytes that are not UTF-8; "" if they are UTF-8 with errors, or if it is unclear.

    Example:
        >>> likely("“Quoted” – it costs 5 €".encode("cp1252")), likely("Все счастливые семьи".encode("koi8-r"))
        ('cp1252', 'koi8_u')
    """
    data = bytes(data[:_LIKELY_WITHIN])
    text = data.decode("utf-8", "replace")
    if text.count("�") * 3 <= sum(map(len, _BEYOND.findall(text))):
        return ""
    if found := guessed(data):
        return found
    beyond = _BEYOND_BYTES.findall(data)
    in_runs = sum(len(run) for run in beyond if len(run) > 2)
    # FE and FF mostly come from a broken byte order mark of UTF-16, seldom from text.
    letters = b"".join(beyond).strip(b"\xfe\xff")
    return "cp1252" if letters and not _UNUSED.search(data) and 2 * in_runs <= len(letters) else ""


def without_mark(data: bytes | bytearray) -> str:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, by the positions of zero bytes; "" otherwise.

    Example:
        >>> without_mark("<!-- Привіт --><p>".encode("utf-16-le")), without_mark("<p>".encode())
        ('utf-16-le', '')
    """
    head = bytes(data[:_ZEROS_WITHIN])
    if b"\0" not in head or len(head) < 8:
        return ""
    for encoding, (first, second) in {"utf-32-le": (3, 2), "utf-32-be": (0, 1)}.items():
        planes = head[second::4]  # most letters are in Unicode's plane 0
        if not head[first::4].strip(b"\0") and 2 * planes.count(0) > len(planes) and _reads(head, encoding):
            return encoding
    low, high = head[0::2], head[1::2]
    plain = sum(32 <= one < 127 and 32 <= other < 127 for one, other in zip(low, high, strict=False))
    for encoding, zeros, others in (("utf-16-le", high, low), ("utf-16-be", low, high)):
        count = zeros.count(0)
        if count >= max(_ZEROS * len(high), plain, 2 * others.count(0)) and _reads(head, encoding):
            return encoding
    return ""


def _reads(head: bytes, encoding: str) -> bool:
    """Return whether at most 1 % of the characters are invalid or control characters if decoded with ``encoding``."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head)
    return 100 * len(_NO_TEXT.findall(text)) <= len(text)


_NO_TEXT = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd\ufffe\uffff]")


def declared_in(data: bytes) -> str:
    """Return the codec that a page declares in its first bytes, as browsers understand it; "" if it declares none.

    The function follows the HTML standard's prescan, so text in a comment or in another attribute is no declaration. An
    XML declaration counts only if no ``<meta>`` declares an encoding.

    Example:
        >>> declared_in(b'<!-- <meta charset=koi8-r> --><meta name="x" content="charset=koi8-r"><META charset="866">')
        'cp866'
    """
    head = data[:DECLARED_WITHIN]
    at = 0
    while found := _MARKUP.search(head, at):
        at = found.end()
        if found[1]:
            if (end := head.find(b"-->", found.start() + 2)) < 0:
                break
            at = end + 3
        elif found[2]:
            attributes, at = _attributes(head, at)
            if codec := _of_meta(attributes):
                return codec
        elif found[0] not in (b"<!", b"</", b"<?"):
            at = _attributes(head, at)[1]
        elif (at := head.find(b">", at)) < 0:
            break
    xml = _XML.match(head)
    return _MEANT.get(_label(xml[2]), "") if xml else ""


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return a tag's attributes by name in lower case, and the end of the tag; of equal names, the first one counts."""
    found: dict[bytes, bytes] = {}
    while (one := _ATTRIBUTE.match(head, at)) and one.end() > at:
        at = one.end()
        value = one[2] if one[2] is not None else one[3] if one[3] is not None else one[4] or b""
        if one[4] and one[4][:1] in b"\"'":  # the quote has no end
            return {}, len(head)
        if one[1]:
            found.setdefault(one[1].lower(), value)
        if head[at : at + 1] == b">":
            break
    return found, at


def _of_meta(attributes: dict[bytes, bytes]) -> str:
    """Return the codec that a ``<meta>`` declares, "" if it is unknown."""
    if b"charset" in attributes:
        return _MEANT.get(_label(attributes[b"charset"]), "")
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return ""
    content = _CONTENT.search(attributes.get(b"content", b""))
    return _MEANT.get(_label(content[1] or content[2] or content[3] or b""), "") if content else ""


def _label(name: bytes) -> str:
    return name.strip(_SPACES).decode("ascii", "replace").lower()


_SPACES = b"\t\n\f\r "
_WINDOWS = {
    byte: bytes([byte]).decode("cp1252", "replace")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def _clean(text: str) -> str:
    return text.replace("\0", "") if "\0" in text else text
