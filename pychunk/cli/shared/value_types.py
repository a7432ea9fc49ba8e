"""The fast parsing of command-line values that need no library, such as text, paths and integers."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

_NOTHING = object()


class _PlainParameter:
    """A parser of one parameter that reads text, paths and numbers as Typer would, and leaves other values to Typer."""

    def __init__(self, described: Any, slow: Callable[[], Any]) -> None:
        self._as, self._info = described.annotation, described.parameter_info
        self._slow = cache(slow)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        found = self._read(value, several=param.multiple or param.nargs == -1)
        return self._slow().coerce(value, param=param, ctx=ctx) if found is _NOTHING else found

    def _read(self, value: Any, *, several: bool) -> Any:
        if value is None:
            return () if several else None
        if not several:
            return _plain(self._as, value, self._info)
        if self._as == list[str] and isinstance(value, (list, tuple)):
            read = [_plain(str, each, self._info) for each in value]
            return _NOTHING if _NOTHING in read else read
        return _NOTHING


def read_quickly(parameters: list[Any]) -> list[Any]:
    """Return the parameters, changed so that they read plain values without Pydantic.

    From version 0.29 on, Typer imports Pydantic and builds a parser with it for each parameter, even if the parameter
    is not given. This takes 0.13 s of processor time in each call. Parameters of older versions stay unchanged.
    """
    try:
        from typer._coercion import build_runtime_param
    except ImportError:
        return parameters
    for each in parameters:
        described = getattr(each, "type_descriptor", None)
        if described is not None and getattr(each, "_runtime_param", described) is None:
            each._runtime_param = _PlainParameter(described, partial(build_runtime_param, described))
    return parameters


def share_of(flag: str, text: str, *, most: float, or_none: bool = False) -> float:
    """Return a share from its text, for example 0.1 from ``10%`` or ``0.1``.

    Args:
        flag: The option, which the error names.
        text: The value of the option.
        most: Shares must be below this number.
        or_none: Whether 0 is a share.

    Example:
        >>> share_of("--max-regression", "10%", most=10), share_of("--fail-over", "0", most=1, or_none=True)
        (0.1, 0.0)
    """
    number, sign, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if sign else 1)
    except ValueError:
        share = -1.0
    if rest or not (0 < share < most or (or_none and share == 0)):
        below = f"below {100 * most:.0f}%, such as 10%, or a share such as 0.1"
        raise ValueError(f"{flag} must be a percentage {below}; got {text!r}")
    return share


def _plain(kind: Any, value: Any, info: Any) -> Any:
    """Return a value as ``kind``, or :data:`_NOTHING` if only Typer can read it."""
    if info.parser is not None or getattr(info, "click_type", None) is not None:
        return _NOTHING
    if kind in (int, float) and type(value) is kind:  # the value is a default
        read: Any = value
    elif kind is int and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        read = int(value)
    elif kind is str and isinstance(value, str):
        return value if value.isascii() or value.encode(errors="replace").decode() == value else _NOTHING
    elif kind is Path and isinstance(value, str) and "\0" not in value:
        asked = info.exists or info.writable or info.resolve_path or info.allow_dash or info.path_type is not None
        if asked or not (info.file_okay and info.dir_okay) or (os.path.exists(value) and not os.access(value, os.R_OK)):
            return _NOTHING
        return Path(value)
    else:
        return _NOTHING
    low = info.min is not None and read < info.min
    high = info.max is not None and read > info.max
    return _NOTHING if low or high else read
