"""The properties of elements that their attributes tell: hidden elements, permalinks, footnote marks, classes."""

from __future__ import annotations

import re

from ...data.html_tags import SMALL, is_block

_INTEGER = re.compile(r"[ \t\n\f\r]*([+-]?[0-9]{1,9})(?![0-9])")


def integer(text: str | None) -> int | None:
    """Return the integer at the beginning of an attribute, as HTML reads it. Text after its digits is ignored."""
    found = _INTEGER.match(text or "")
    return int(found[1]) if found else None


def is_hidden(tag: str, attributes: dict[str, str | None]) -> bool:
    if "hidden" in attributes:
        return True
    style = (attributes.get("style") or "").replace(" ", "").translate(SMALL)
    return bool(style) and _style_hides(style, is_block(tag) and tag != "p")


def is_in_line(attributes: dict[str, str | None]) -> bool:
    """Return whether a style makes a block element part of a line."""
    style = attributes.get("style") or ""
    return "inline" in style and _values(style.replace(" ", "").translate(SMALL)).get("display") == "inline"


def _values(style: str) -> dict[str, str]:
    """Return the properties of a ``style`` attribute, which must be in lower case and without spaces."""
    values: dict[str, str] = {}
    for each in style.split(";"):
        name, colon, value = each.partition(":")
        if colon:
            values[name] = value.removesuffix("!important")
    return values


def _style_hides(style: str, container: bool) -> bool:
    """Return whether a style, in lower case and without spaces, hides an element's text."""
    if "display:none" in style or "visibility:hidden" in style:
        return True
    values = _values(style)
    # Pages set font size 0 on containers to close the gaps between their children, which have font sizes themselves.
    if not container and _ZERO.fullmatch(values.get("font-size", "")):
        return True
    # An element that fades in begins with opacity 0, but its style then also has a transition or an animation.
    if _ZERO.fullmatch(values.get("opacity", "")) and "trans" not in style and "anim" not in style:
        return True
    if "text-indent:-" in style and len(values.get("text-indent", "").encode()) >= 7:
        return True
    if "position:absolute" in style or "position:fixed" in style:
        for side in ("left", "top", "right"):
            value = values.get(side, "")
            if value.startswith("-") and value.endswith("px") and len(value.encode()) >= 7:
                return True
    if "color:" in style and "background" in style:
        color = _COLORS.get(values.get("color", ""), values.get("color", ""))
        ground = values.get("background-color", "") or values.get("background", "")
        return color not in ("", "transparent", "inherit") and "(" not in color and color == _COLORS.get(ground, ground)
    return False


#: Zero, such as 0, 0px, 0.0em or 0%.
_ZERO = re.compile(r"\.*0[^1-9(]*")
_COLORS = {"#fff": "white", "#ffffff": "white", "rgb(255,255,255)": "white"}
_COLORS |= {"#000": "black", "#000000": "black", "rgb(0,0,0)": "black"}
_PERMALINKS = ("headerlink", "hash-link", "header-anchor", "anchor", "permalink")
#: The text of permalinks, which pages add to headings as links to the heading itself.
_MARK = re.compile(r"[#\s\u00b6\u00a7\u00a0\u2000-\u206f\u2190-\u2bff\ue000-\uf8ff\ufe0f\ufeff\U0001f000-\U0010ffff]+")


def is_permalink_mark(text: str) -> bool:
    return len(text.encode()) <= 16 and all(
        each.isspace() if each.isascii() and each != "#" else _MARK.fullmatch(each) for each in text
    )


def is_permalink(attributes: dict[str, str | None], heading: bool) -> bool:
    """Return whether a link is a permalink: by its class, or in a heading, if it points to a place on the page."""
    names = attributes.get("class") or ""
    return (heading and is_fragment(attributes)) or any(each in names for each in _PERMALINKS)


def role_level(attributes: dict[str, str | None]) -> int:
    if attributes.get("role") != "heading":
        return 0
    level = attributes.get("aria-level") or ""
    number = int(level) if level.isascii() and level.isdecimal() and len(level) < 4 else 2
    return min(6, max(1, number))


def is_note(attributes: dict[str, str | None]) -> bool:
    names = attributes.get("class") or ""
    return "footnote" in names or "reference" in names or "noteref" in names


def is_fragment(attributes: dict[str, str | None]) -> bool:
    return (attributes.get("href") or "").startswith("#")


_SPACES = re.compile("[ \t\n\f\r]")


def class_words(attributes: dict[str, str | None]) -> list[str]:
    return _SPACES.split(attributes.get("class") or "")
