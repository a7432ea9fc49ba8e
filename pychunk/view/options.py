"""The options of a batch as a reader needs them: those that its method has, where they are not the usual ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Options that are shown where they are not the usual ones, besides the method's own.
USUAL = {"wrap": True, "min_tokens": 0, "overlap": 0, "window": 1, "k": 0.0, "separators": [], "size": 0}


def told(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The options that make a difference to the method, of all that the plan holds."""
    method, options = metadata.get("method"), dict(metadata.get("options") or {})
    for name, users in (("summary", ("pic",)), ("k", ("pic",)), ("unit", ("fixed", "recursive"))):
        if method not in users:
            options.pop(name, None)
    if method in ("semantic", "nsp"):
        kind, value = options.pop("threshold", None), options.pop("threshold_value", None)
        options["threshold"] = value if kind == "value" else f"{kind}:{value:g}" if value is not None else kind
    else:
        options.pop("threshold", None), options.pop("threshold_value", None)
    for name in ("chunk_vectors", "sentence_vectors"):
        options.pop(name, None)
    if not options.get("max_tokens"):
        options.pop("max_tokens", None)
    return {name: value for name, value in options.items() if name not in USUAL or value != USUAL[name]}
