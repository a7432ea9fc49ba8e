"""The text of a chunk as a language model or a person should read it, with what its span alone does not say."""

from __future__ import annotations

import re
from typing import Any

#: The fields of a chunk that say what its text alone does not, with their types.
LAYOUT = {"path": list, "sections": list, "header": str, "holes": list}
#: The text between the headings of a path.
BETWEEN = " > "
#: A line that opens or closes a block of code; a line that closes one has nothing after the mark.
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")
_BAR = re.compile(r"(?<!\\)\|")


def rendered(chunk: Any, *, path: bool = True, header: bool = True, fences: bool = True) -> str:
    """Return the text of a :class:`pychunk.Chunk` or :class:`pychunk.Hit`. See :meth:`pychunk.Chunk.render`."""
    text = "".join(joint + chunk.text[begin:end] for joint, begin, end in pieces(chunk))
    before, after = frame(chunk, text, path=path, header=header, fences=fences)
    return f"{before}{text}{after}"


def as_read(chunk: Any) -> str:
    """Return the text of a chunk or a hit as a model reads it: rendered if its document has a tree, else its text.

    Example:
        >>> from types import SimpleNamespace
        >>> as_read(SimpleNamespace(text="They purr."))
        'They purr.'
    """
    return rendered(chunk) if has_tree(chunk) else str(chunk.text)


def has_tree(chunk: Any) -> bool:
    """Return whether a chunk has any of the fields :data:`LAYOUT`, because its document has a tree or removed text.

    A table that pychunk did not make may have columns of these names with other contents, which say nothing.
    """
    known = [(getattr(chunk, name, None), kind) for name, kind in LAYOUT.items()]
    known = [(value, kind) for value, kind in known if value is not None]
    spans = getattr(chunk, "holes", None) or ()
    return (
        bool(known)
        and all(isinstance(value, kind) for value, kind in known)
        and all(isinstance(hole, dict) and hole.keys() >= {"start", "end"} for hole in spans)
    )


def pieces(chunk: Any) -> list[tuple[str, int, int]]:
    r"""Return the pieces of a chunk's text between its holes.

    Returns:
        For each piece, (what joins it to the piece before; its span in the text). Removed text is replaced by a blank
        line if a line break is in it or next to it, else by a space.

    Example:
        >>> from types import SimpleNamespace
        >>> pieces(SimpleNamespace(text="Cats [edit] purr.", start=10, holes=[{"start": 15, "end": 21}]))
        [('', 0, 4), (' ', 12, 17)]
    """
    text, holes = chunk.text, chunk.holes
    if not holes:
        return [("", 0, len(text))]
    found: list[tuple[str, int, int]] = []
    begins = [0, *(hole["end"] - chunk.start for hole in holes)]
    ends = [*(hole["start"] - chunk.start for hole in holes), len(text)]
    for begin, end in zip(begins, ends, strict=True):
        own = text[begin:end]
        first = begin + (len(own) - len(own.lstrip()) if begin else 0)
        last = begin + (len(own.rstrip()) if end < len(text) else len(own))
        if first < last:
            between = text[found[-1][2] : first] if found else ""
            found.append((("\n\n" if "\n" in between else " ") if found else "", first, last))
    return found


def frame(chunk: Any, text: str, *, path: bool = True, header: bool = True, fences: bool = True) -> tuple[str, str]:
    """Return what to write before and after a text that begins with a chunk and has no holes.

    Args:
        chunk: The chunk at the beginning of the text.
        text: The text.
        path: Whether to write the headings above the chunk.
        header: Whether to write the header of the table, or the signature of the code, that the chunk continues.
        fences: Whether to open and close blocks of code.
    """
    own = list((chunk.sections or [chunk.path or []])[0])
    above = own[:] if path else []
    opening, is_signature = "", False
    if chunk.header and _FENCE.match(chunk.header):
        opening = f"{chunk.header}\n" if fences else ""
    elif chunk.header and header:
        is_signature = bool(own) and own[-1] == " ".join(chunk.header.split())
        opening = f"{chunk.header}\n{'' if is_signature else _delimiter(chunk.header)}"
    mark = _open_fence(opening + text) if fences else ""
    if above and (is_signature or _begins_with(opening + text, above[-1])):
        above.pop()
    return (f"{BETWEEN.join(above)}\n\n" if above else "") + opening, f"\n{mark}" if mark else ""


def _delimiter(header: str) -> str:
    """Return the row below the header rows of a table in Markdown, or "" for another table."""
    last = header.splitlines()[-1].strip()
    if "|" not in last or set(last) <= set("|-: \t"):
        return ""
    cells = _BAR.split(last.removeprefix("|").removesuffix("|"))
    return f"|{'---|' * len(cells)}\n"


def _open_fence(text: str) -> str:
    """Return the mark that closes the block of code at the end of a text, or "" if no block is open."""
    mark = ""
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        if not mark:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            mark = ""
    return mark


def _begins_with(text: str, heading: str) -> bool:
    return bool(heading) and next(iter(text.splitlines()), "").strip("#= \t") == heading
