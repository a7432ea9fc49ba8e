"""The forms in which a secret may appear in messages, such as encoded for a URL."""

from __future__ import annotations

import html
import json
import re
from functools import lru_cache

#: A sequence of percent-encoded bytes in a URL.
_ENCODED = re.compile("((?:%[0-9a-fA-F]{2})+)")


@lru_cache(4096)
def spellings(secret: str) -> re.Pattern[str]:
    """Return a pattern that matches a secret, even if all of it or parts of it are decoded, encoded or escaped.

    >>> found = spellings("a'b%2Bc%61")
    >>> all(map(found.fullmatch, ["a'b%2Bc%61", "a'b+ca", "a%27b%252bc%61", "a&#x27;b+c%61", "a'b ca"]))
    True
    """
    parts = _ENCODED.split(secret)
    decoded = "".join(_decoded(part) if at % 2 else "".join(map(_form, part)) for at, part in enumerate(parts))
    return re.compile("|".join(dict.fromkeys((decoded, "".join(map(_form, secret))))))


def _decoded(encoded: str) -> str:
    """Return a pattern that matches percent-encoded characters, each of them encoded or decoded."""
    pattern = ""
    for each in bytes.fromhex(encoded.replace("%", "")).decode(errors="surrogateescape"):
        octets = each.encode(errors="surrogateescape")
        # unquote() replaces bytes that are not UTF-8 by this character.
        means = "\ufffd" if "\udc80" <= each <= "\udcff" else each
        pattern += f"(?:{_octets(octets)}|{_form(means)})"
    return pattern


def _octets(octets: bytes) -> str:
    return "".join(f"%(?:25)*(?i:{octet:02x})" for octet in octets)


def _form(character: str) -> str:
    if character.isascii() and (character.isalnum() or character in "-._~"):  # URLs never encode these characters.
        return re.escape(character)
    ways: list[str] = []
    for each in "+ " if character in "+ " else character:  # a space is "+" in some parts of a URL
        octets = each.encode(errors="surrogatepass")
        said = {each, f"\\{each}", f"\\u{ord(each):04x}", html.escape(each), repr(octets)[2:-1]}
        said |= {how(each)[1:-1] for how in (repr, ascii, json.dumps)}
        ways += map(re.escape, sorted(said, key=len, reverse=True))
        ways.append(_octets(octets))
    return f"(?:{'|'.join(ways)})"
