"""The formulas in pages, as TeX, or as the text of their MathML elements in one line."""

from __future__ import annotations

from typing import Any

from ...data.html_tags import VOID, is_block, text_from
from ...data.superscripts import ONE_TOKEN


def shows_formula(attributes: dict[str, str | None]) -> bool:
    return "mwe-math-mathml" in (attributes.get("class") or "")


def _braced(text: str) -> str:
    return text if ONE_TOKEN.fullmatch(text) else f"{{{text}}}"


def _grouped(text: str) -> str:
    return text if (text.isascii() and text.isalnum()) or not text or ONE_TOKEN.fullmatch(text) else f"({text})"


def _plain_tex(written: str) -> str:
    """Return TeX without the commands that MediaWiki adds around it."""
    tex = " ".join(written.split())
    for around in ("{\\displaystyle ", "{\\textstyle "):
        if tex.startswith(around) and tex.endswith("}"):
            return tex[len(around) : -1].strip()
    return tex


class Formulas:
    """The formulas of a page. Each is read once, as TeX if the page has its TeX, otherwise as its elements' text."""

    def __init__(self) -> None:
        self.after = False  # whether the last thing that was read is a formula
        self.displayed = False  # whether the next formula is a block of its own

    def see(self, text: str) -> None:
        if text.strip():
            self.after = False

    def read(self, node: Any, tag: str, attributes: dict[str, str | None]) -> tuple[str, bool] | None:
        """Return the text of a formula, and whether it is a block of its own.

        The text is "" for a second, visual copy of a formula. The result is None if the element is no formula.
        """
        if tag == "math":
            display = self.displayed or attributes.get("display") == "block"
            self.displayed = False
            tex, line = _formula(node)
            tex = _plain_tex(tex if tex.strip() else attributes.get("alttext") or "")
            text = f"${tex}$" if tex else " ".join(line.split())
            self.after = bool(text)
            return text, display
        names = (attributes.get("class") or "") if attributes else ""
        if tag == "img" and attributes:
            wiki = "mwe-math" in names
            if not wiki and names not in ("tex", "latex", "math"):
                return None
            if wiki and self.after:
                return "", False
            if not (tex := _plain_tex(attributes.get("alt") or "")):
                return None
            self.after = True
            return f"${tex}$", "fallback-image-display" in names
        if not names or tag == "a" or tag == "img":
            return None
        if tag == "span" and "katex-" in names:
            if self.after and "katex-html" in names:
                return "", False
            if "katex-display" in names:
                self.displayed = True
        elif (
            ("mw-editsection" in names or "viewcode-link" in names)
            and not is_block(tag)
            and tag not in VOID
            and tag != "br"
        ):
            return "", False
        return None


_INVISIBLE = frozenset("\u2062\u2063\u2064")


def _formula(top: Any) -> tuple[str, str]:
    """Return the TeX and the text of a formula's elements, without recursion."""
    tex: list[str] = []
    in_tex = False
    path: list[tuple[Any, str, list[str]]] = [(None, "math", [])]
    node = top.first_child
    while True:
        if node is None:
            node, name, kids = path.pop()
            in_tex = False
            text = _written(name, kids)
            if not path:
                return "".join(tex), text
            if text:
                path[-1][2].append(text)
            node = node.next
            continue
        tag = node.tag or "-comment"
        if tag == "-text":
            text, node = text_from(node)
            if in_tex:
                tex.append(text)
            elif (word := " ".join(text.split())) and word not in _INVISIBLE:
                path[-1][2].append(" " if word == "\u2061" else word)
        elif tag != "-comment" and tag not in VOID and tag != "br" and tag != "hr":
            if tag == "annotation":
                encoding = node.attributes.get("encoding") or ""
                in_tex = "tex" in encoding or "TeX" in encoding
            path.append((node, tag, []))
            node = node.first_child
            continue
        node = node.next


def _written(name: str, kids: list[str]) -> str:
    if name == "mphantom" or name.startswith("annotation"):
        return ""
    if name == "mspace":
        return " "
    if len(kids) == 2:
        if name in ("msup", "mover"):
            return f"{kids[0]}^{_braced(kids[1])}"
        if name in ("msub", "munder"):
            return f"{kids[0]}_{_braced(kids[1])}"
        if name == "mfrac":
            return f"{_grouped(kids[0])}/{_grouped(kids[1])}"
        if name == "mroot":
            return f"root({kids[1]}, {kids[0]})"
    if len(kids) == 3 and name in ("msubsup", "munderover"):
        return f"{kids[0]}_{_braced(kids[1])}^{_braced(kids[2])}"
    text = "".join(kids)
    if name == "msqrt":
        return f"sqrt({text})"
    if name == "mtext":
        return f" {text} "
    return text + {"mtd": " ", "mtr": "; "}.get(name, "")
