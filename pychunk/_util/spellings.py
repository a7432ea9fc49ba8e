"""The ways in which messages spell a secret."""

from __future__ import annotations

import html
import json
import re
from functools import lru_cache
from urllib.parse import unquote


@lru_cache(4096)
def spellings(secret: str) -> re.Pattern[str]:
    """Return the pattern of a secret as it is, decoded, encoded, escaped, and all of that in part.

    >>> found = spellings("a'b%2Bc")
    >>> all(map(found.fullmatch, ["a'b%2Bc", "a'b+c", "a%27b%252bc", "a&#x27;b+c", "a'b c"]))
    True
    """
    return re.compile("|".join("".join(map(_form, each)) for each in dict.fromkeys((secret, unquote(secret)))))


def _form(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "-._~"):  # which nobody encodes
        return re.escape(character)
    ways: list[str] = []
    for each in "+ " if character in "+ " else character:  # a space is "+" in some parts of a URL
        octets = each.encode(errors="surrogatepass")
        said = {each, f"\\{each}", f"\\u{ord(each):04x}", html.escape(each), repr(octets)[2:-1]}
        said |= {how(each)[1:-1] for how in (repr, ascii, json.dumps)}
        ways += map(re.escape, sorted(said, key=len, reverse=True))
        ways.append("".join(f"%(?:25)*(?i:{octet:02x})" for octet in octets))
    return f"(?:{'|'.join(ways)})"
