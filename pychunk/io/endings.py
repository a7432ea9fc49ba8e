"""The endings of file names for which the caller gives the kind, such as ``.log`` for text."""

from __future__ import annotations

from collections.abc import Mapping

from .._util.suggestions import did_you_mean
from . import files, kinds
from .decompression import streams

#: Pairs of an ending, in lower case and with its first dot, and a kind; longer endings come first.
Endings = tuple[tuple[str, str], ...]


def checked(endings: Mapping[str, str]) -> Endings:
    """Return endings in the form that :func:`kind_by` takes.

    Raises:
        ValueError: An ending has no character, or its kind is unknown.

    Example:
        >>> checked({"LOG": "text", ".log.md": "markdown"})
        (('.log.md', 'markdown'), ('.log', 'text'))
    """
    found = {}
    for ending, kind in endings.items():
        own = "." + ending.lower().removeprefix(".")
        if own == "." or "/" in own:
            raise ValueError(f"an ending must be the end of files' names, such as .log; got {ending!r:.80}")
        if kind not in kinds.KINDS:
            meant = did_you_mean(kind, kinds.KINDS)
            raise ValueError(
                f"unknown kind {kind!r:.80} for names that end in {own}; choose one of {', '.join(kinds.KINDS)}{meant}"
            )
        found[own] = kind
    return tuple(sorted(found.items(), key=lambda each: (-len(each[0]), each)))


def kind_by(name: str, endings: Endings) -> str | None:
    """Return the kind that ``endings`` gives a file; None if its name has none of them.

    The suffix of a compression does not count as a part of the name.

    Example:
        >>> endings = checked({".log": "text"})
        >>> kind_by("a/x.LOG.gz", endings), kind_by("x.txt", endings)
        ('text', None)
    """
    if not endings:
        return None
    bare = streams.bare(files.base_name(name)).lower()
    return next((kind for ending, kind in endings if bare.endswith(ending)), None)
