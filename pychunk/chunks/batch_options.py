"""The options of a batch that a reader needs: those of its method whose value is not the usual one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..methods import METHODS, Method

#: Options in addition to the method's own that are shown only if they differ from these values.
USUAL = {"unwrap_lines": "auto", "min_tokens": 0, "overlap": 0, "window": 1, "k": 0.0, "separators": [], "size": 0}


def told(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that make a difference to the method, out of all that the plan holds."""
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
    """Return the longest allowed chunk for each unit, by a batch's metadata.

    The limits are ``max_tokens``, and the ``size`` of a method that never exceeds it.
    """
    options, found = metadata.get("options") or {}, dict[str, int]()
    if options.get("max_tokens"):
        found["tokens"] = int(options["max_tokens"])
    if options.get("size") and METHODS.get(str(metadata.get("method")), Method).sized:
        unit = str(options.get("unit", "tokens"))
        found[unit] = min(found.get(unit, int(options["size"])), int(options["size"]))
    return found
