"""The targets of links and the alternative texts of images, for Markdown."""

from __future__ import annotations

import re

from ...data.html_tags import LINE_BREAK, SMALL

_PICTURE = re.compile(r"[^?#]*\.(?:png|jpe?g|gif|webp|svg)(?:[?#].*)?", re.DOTALL)


def is_picture(attributes: dict[str, str | None]) -> bool:
    """Return whether a link's target is an image."""
    return _PICTURE.fullmatch((attributes.get("href") or "").translate(SMALL)) is not None


#: The length of an informative alternative text: the fewest words, the fewest characters in a language without spaces,
#: and the most characters.
_SAYS_WORDS, _SAYS_CHARACTERS, _SAYS_MOST = 3, 6, 1000


def alternative(attributes: dict[str, str | None], heads: bool) -> str:
    """Return the alternative text of an image, or "" if it is not informative.

    The text of an image in a heading (``heads``) needs only one word.
    """
    text = " ".join((attributes.get("alt") or "").split())
    says = text.count(" ") + 1 >= _SAYS_WORDS or (text >= "\u3000" and len(text) >= _SAYS_CHARACTERS)
    return text if (says or heads) and len(text) <= _SAYS_MOST else ""


def link_target(attributes: dict[str, str | None]) -> str:
    """Return the target of a link for Markdown, or "" if it is a place on the same page, a script, data or too long."""
    target = (attributes.get("href") or "").strip(" \t\n\f\r")
    if target.startswith("#") or target.translate(SMALL).startswith(("javascript:", "data:")) or len(target) > 2000:
        return ""
    for character, written in _IN_TARGETS.items():
        target = target.replace(character, written)
    return target


def write_target(parts: list[str], at: int, target: str) -> int:
    """Make a Markdown link of the text from ``parts[at]`` on, unless the text is blank or has several lines.

    Returns:
        The number of characters that this adds.
    """
    text = "".join(parts[at:])
    if target and at >= 0 and (inside := text.strip()) and LINE_BREAK not in text:
        first = text.index(inside)
        parts[at:] = [f"{text[:first]}[{inside}]({target}){text[first + len(inside) :]}"]
        return len(target) + 4
    return 0


#: Characters that would end a target or a table cell.
_IN_TARGETS = {" ": "%20", "\t": "%09", "\n": "%0A", "\r": "%0D", "\f": "%0C", "(": "%28", ")": "%29", "|": "%7C"}
