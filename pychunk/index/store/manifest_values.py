"""The checks of a manifest's values, before any file is opened or memory allocated according to them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

#: A check of one value.
Check = Callable[[Any], bool]

#: The names of files and folders that an index writes, besides the manifest and the lock. Only these are ever removed.
OWN = re.compile(
    r"part-\d+|(removed|documents)-\d+\.npy|(sentences|chunks)-\d+\.(faiss|codes)|(manifest\.json|seen\.bin)\.\d+\.part"
)
#: The pattern of the names of files in a part.
_PLAIN = re.compile(r"\w[\w.]*")
#: A vector must have fewer numbers than this. No encoder makes wider vectors, and one vector of this width still fits
#: into memory.
_WIDEST = 1 << 20
_LARGEST = 1 << 62


def fault(manifest: Any) -> str | None:
    """Return a description of the first invalid value of a manifest, or None if all are valid.

    Example:
        >>> fault({"schema": 6, "generation": -1})
        "'generation' is -1"
    """
    if not isinstance(manifest, dict):
        return "it is no object"
    for name, check in _NEEDED.items():
        if name not in manifest:
            return f"{name!r} is missing"
        if not check(manifest[name]):
            return f"{name!r} is {manifest[name]!r:.80}"
    for name, check in _OPTIONAL.items():
        if name in manifest and not check(manifest[name]):
            return f"{name!r} is {manifest[name]!r:.80}"
    parts = [part["name"] for part in manifest["parts"]]
    stored = [own["file"] for own in manifest["stored"].values()]
    for name in (*parts, *stored, *manifest["files"]):  # The manifest may be malicious and name files of others.
        if not OWN.fullmatch(name) or name.startswith("part-") != (name in parts):
            return f"it names {name!r:.200}, which cannot be a file of this index"
    for name in (name for part in manifest["parts"] for name in part["files"]):
        if not _PLAIN.fullmatch(name):
            return f"it names {name!r:.200}, which cannot be a file of this index"
    known = manifest["files"]
    for name, own in manifest["stored"].items():
        if own["file"] not in known:
            return f"the file of the stored {name} is {own['file']!r:.80}"
    if len(set(parts)) < len(parts):
        return "a part is named twice"
    return None


def _whole(most: int = _LARGEST, least: int = 0) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value < most


def _number(least: float, most: float) -> Check:
    def check(value: Any) -> bool:
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        return real and math.isfinite(value) and least <= value <= most

    return check


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _one_of(*values: Any) -> Check:
    return lambda value: isinstance(value, (str, type(None))) and value in values


def _either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def _none(value: Any) -> bool:
    return value is None


def _object(needed: dict[str, Check], optional: dict[str, Check] | None = None) -> Check:
    """Return a check of an object that must have the keys ``needed``, and may have ``optional`` and other keys."""

    def check(value: Any) -> bool:
        own = isinstance(value, dict) and all(name in value and test(value[name]) for name, test in needed.items())
        return own and all(test(value[name]) for name, test in (optional or {}).items() if name in value)

    return check


def _mapping(values: Check, keys: Check = _text) -> Check:
    """Return a check of an object with any number of keys, whose keys and values pass one check each."""
    return lambda value: isinstance(value, dict) and all(keys(key) and values(own) for key, own in value.items())


def _list(values: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(values, value))


def _pair(first: Check, second: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) == 2 and first(value[0]) and second(value[1])


_CRC = _whole(1 << 32)
_FILE = _pair(_whole(), _CRC)
_STORED = _object({"file": _text, "kind": _text, "rows": _whole()}, {"recall": _number(0, 1)})
_BM25 = _object({"k1": _number(0, math.inf), "b": _number(0, 1)})
_SCALES = _mapping(_mapping(_list(_number(-math.inf, math.inf))))

_NEEDED: dict[str, Check] = {
    "schema": _whole(),
    "generation": _whole(),
    "pychunk": _text,
    "encoder": _object({"name": _either(_none, _text), "fingerprint": _text, "dim": _whole(_WIDEST, 1)}),
    "metric": _one_of("cosine"),
    "vectors": _one_of("sentence", "chunk", "both"),
    "dtype": _one_of("float16", "float32", "int8"),
    "kind": _one_of("auto", "flat", "pq", "hnsw", "ivf", "ivfpq"),  # Only older versions wrote the last two.
    "terms": _either(_none, _object({"unit": _text})),
    "bm25": _BM25,
    "chunks": _whole(),
    "sentences": _whole(),
    "removed": _whole(),
    "parts": _list(_object({"name": _text, "chunks": _whole(), "files": _mapping(_FILE)}, {"encoded_by": _text})),
    "stored": _mapping(_STORED, _one_of("sentences", "chunks")),
    "files": _mapping(_FILE),
}
_OPTIONAL: dict[str, Check] = {
    "ids": _one_of(None, "uuid"),
    "context_weight": _number(0, 1000),
    "notes": _mapping(_text),
    "pooling": _text,
    "tokenizer": _text,
    "late_chunking": lambda value: isinstance(value, bool),
    "headers": _mapping(_pair(_CRC, _CRC)),
    "blocks": _mapping(_pair(_CRC, _text)),
    "levels": _object({"rows": _whole(), "sizes": _mapping(_whole()), "scales": _SCALES}),
}
