"""The options of a batch that are shown to users: options that matter to its method and have an unusual value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..methods import METHODS, Method

#: Options that are shown only if they differ from these values.
USUAL = {"unwrap_lines": "auto", "min_tokens": 0, "overlap": 0, "window": 1, "k": 0.0, "separators": [], "size": 0}


def told(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options to show to users, out of all options that the batch's metadata holds."""
    made = METHODS.get(str(metadata.get("method")), Method)
    options = dict(metadata.get("options") or {})
    if made is not METHODS["pic"]:
        options.pop("summary", None)
    if not made.sized:
        options.pop("unit", None)
    kind, value = options.pop("threshold", None), options.pop("threshold_value", None)
    if made.scores == "pairs" and value is not None:
        options["threshold"] = value if kind == "value" else f"{kind}:{value:g}"
    for name in ("chunk_vectors", "sentence_vectors", "auto_limits"):
        options.pop(name, None)
    if not options.get("max_tokens"):
        options.pop("max_tokens", None)
    return {name: value for name, value in options.items() if name not in USUAL or value != USUAL[name]}


def limits_of(metadata: Mapping[str, Any]) -> dict[str, int]:
    """Return the limit on the size of a chunk in each unit, from a batch's metadata.

    The limits are ``max_tokens``, and, for methods whose chunks never exceed it, ``size``.
    """
    options, found = metadata.get("options") or {}, dict[str, int]()
    if options.get("max_tokens"):
        found["tokens"] = int(options["max_tokens"])
    if options.get("size") and METHODS.get(str(metadata.get("method")), Method).sized:
        unit = str(options.get("unit", "tokens"))
        found[unit] = min(found.get(unit, int(options["size"])), int(options["size"]))
    return found
