"""The kind of a file from its name, its first bytes or the caller, and why a file of a folder is not read."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Mapping

from .._util.suggestions import did_you_mean
from . import files
from .decompression import streams
from .formats.text_files import BINARY, is_binary, not_text
from .kinds import FOREIGN_XML, KINDS, add_installed, name_pattern

#: The names of files that hold no documents: the index of a multistream dump, and the dead letters of an ingest.
_NONE = name_pattern(r".*-index\d*\.txt(-p\d+p\d+)?$|_dead_letters\.jsonl$")
#: The kinds that are most often settings, data or pictures, so that a folder's files are read only if the caller asks
#: for the kind, or images with ``ocr``. The first bytes of .json decide, and .xml is a dump of a wiki otherwise.
ON_REQUEST = ("json", "yaml", "toml", "xml", "image")
#: The names of all other kinds in one pattern, with a named group for each kind, so that the first matching kind is
#: found.
_ANY = name_pattern(
    "|".join(f"(?P<{name}>{kind.names.pattern})" for name, kind in KINDS.items() if name not in ON_REQUEST)
)
#: Pairs of an ending, in lower case and with its first dot, and a kind; longer endings come first.
Endings = tuple[tuple[str, str], ...]


def checked(endings: Mapping[str, str]) -> Endings:
    """Return endings in the form that :func:`kind_by` takes.

    Raises:
        TypeError: ``endings`` is no dict.
        ValueError: An ending is none, it is that of a compression, or its kind is unknown; or it has two kinds.

    Example:
        >>> checked({"LOG": "text", ".log.md": "markdown"})
        (('.log.md', 'markdown'), ('.log', 'text'))
    """
    if not isinstance(endings, Mapping):
        raise TypeError(f"endings must be a dict of endings and kinds, such as {{'.log': 'text'}}; got {endings!r:.80}")
    found: dict[str, str] = {}
    for ending, kind in endings.items():
        own = "." + str(ending).lower().removeprefix(".")
        if not re.fullmatch(r"\.[^\s.*/\\][^\s*/\\]*", own):
            raise ValueError(f"an ending must be the end of files' names, such as .log; got {ending!r:.80}")
        if streams.bare(f"a{own}") != f"a{own}":
            raise ValueError(
                f"{ending} ends like a compressed file: leave out that suffix, which pychunk handles itself"
            )
        if kind not in KINDS:
            meant = did_you_mean(kind, KINDS)
            raise ValueError(
                f"unknown kind {kind!r:.80} for names that end in {own}; choose one of {', '.join(KINDS)}{meant}"
            )
        if found.setdefault(own, kind) != kind:
            raise ValueError(f"{own} has two kinds, {found[own]} and {kind}: name one")
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


def kind_of(name: str, wanted: str = "auto") -> str | None:
    r"""Return the kind that a file's name, without the suffix of a compression, identifies; None if there is none.

    If the name fits several kinds and ``wanted`` is one of them, the result is ``wanted``.

    >>> kind_of("enwiki-20240601-pages-articles1.xml-p1p41242.bz2"), kind_of("a\nb.md"), kind_of("data.bin")
    ('mediawiki', 'markdown', None)
    """
    bare = streams.bare(files.base_name(name))
    if _NONE.fullmatch(bare):
        return None
    if wanted in KINDS and KINDS[wanted].names.fullmatch(bare):
        return wanted
    found = _ANY.fullmatch(bare)
    if found is not None:
        return found.lastgroup
    return next((each for each in add_installed() if KINDS[each].names.fullmatch(bare)), None)


def on_request(name: str) -> str | None:
    """Return the kind of a file that is read only if the caller asks for it, by the file's name; None for other files.

    >>> on_request("a/settings.YAML.gz"), on_request("a.txt")
    ('yaml', None)
    """
    bare = streams.bare(files.base_name(name))
    return next((kind for kind in ON_REQUEST if KINDS[kind].names.fullmatch(bare)), None)


def ending_of(name: str, kind: str) -> str:
    """Return the ending of a file's name if it tells the converter of the file's kind the language, else "".

    >>> ending_of("src/one.PY.gz", "code"), ending_of("run", "code"), ending_of("a.json", "json")
    ('.py', '.txt', '')
    """
    if not KINDS[kind].by_ending:
        return ""
    bare = streams.bare(files.base_name(name)).lower()
    return next((ending for ending in KINDS[kind].endings if bare.endswith(ending)), ".txt")


def kind_of_bytes(head: bytes) -> str | None:
    """Return the kind that the first decompressed bytes of a file identify, or None."""
    add_installed()
    return next((name for name, kind in KINDS.items() if kind.begins(head)), None)


def is_json_document(data: bytes) -> bool:
    r"""Return whether bytes that begin with an object are one JSON document, and not JSON Lines; ``data`` may be cut.

    Example:
        >>> is_json_document(b'{"a": 1}'), is_json_document(b'{"a": 1}\n{"a": 2}'), is_json_document(b"[{}]")
        (True, False, False)
    """
    data = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not data.startswith(b"{"):
        return False
    line, _, rest = data.partition(b"\n")
    try:
        json.loads(line)
    except (ValueError, RecursionError):  # an object on several lines, or longer than ``data``
        return True
    return not rest.strip()


def holds_nothing(path: str) -> bool:
    """Return whether a file's name is that of the index of a dump, or of the dead letters of an ingest."""
    return _NONE.fullmatch(streams.bare(files.base_name(path))) is not None


def may_be(head: bytes, kind: str, encoding: str = "") -> bool:
    """Return whether the first bytes of a file, whose name identifies no kind, fit ``kind``.

    If ``encoding`` is not empty, a file of the kinds text, Markdown, CSV and TSV may have any bytes.
    """
    if kind in ("text", "markdown", "csv", "tsv"):
        return bool(encoding) or not (not_text(head) or (is_binary(head) and not _is_utf8(head)))
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") if kind == "html" else KINDS[kind].begins(head)


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


_PLAIN = "text of an unknown kind: pass kind='text'"


def is_plain(reason: str) -> bool:
    """Return whether the reason of :func:`why_unread` only says that a file is text."""
    return reason.startswith(_PLAIN)


def why_unread(path: str, head: bytes) -> str:
    """Return why a file of a folder is not read, and what to do.

    ``head`` holds the first bytes of the file. It is empty for a remote file.

    Example:
        >>> why_unread("a.md", b"# One")
        "its name is of kind markdown, but another kind was requested: pass kind='markdown' to read it"
    """
    bare = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if bare.startswith(b"<?xml") or (kind_of(path) == "mediawiki" and head):
        return FOREIGN_XML
    asked = on_request(path)
    if asked == "image":
        return "an image: pass ocr=True to read its text"
    if (known := kind_of(path)) is not None:
        if lacks := KINDS[known].lacks:
            return f"of kind {known}, which needs {lacks}: {KINDS[known].install}"
        return f"its name is of kind {known}, but another kind was requested: pass kind='{known}' to read it"
    if not head:
        return "of an unknown kind: pass kind= and its kind to read it"
    if found := kind_of_bytes(head):
        return f"its first bytes are of kind {found}, but its name is of no kind: pass kind='{found}' to read it"
    if reason := not_text(head) or (BINARY if is_binary(head) else ""):
        return reason
    if asked == "json" and bare.startswith((b"{", b"[")):
        return "JSON that is neither an array of objects nor a DoclingDocument: pass kind='json' to read its values"
    if asked in ("yaml", "toml"):
        return f"of kind {asked}, which is most often settings: pass kind='{asked}' to read its values"
    ending = os.path.splitext(streams.bare(files.base_name(path)))[1]
    more = f" or endings={{'{ending}': 'text'}}" if re.fullmatch(r"\.[\w-]+", ending) else ""
    return f"{_PLAIN}{more} to read it"
