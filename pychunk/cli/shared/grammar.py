"""The grammar of a method with its options in one word, such as ``pic:k=0.5,summary=lead``."""

from __future__ import annotations

import json
import re
from typing import Any

#: One option, which ends at a comma outside quotes and brackets.
_OPTION = re.compile(r"""(?:"(?:\\.|[^"\\])*"|\[(?:"(?:\\.|[^"\\])*"|[^\]"])*\]|[^,])+""")
_KIND = re.compile(r"([a-z]+):([-+.0-9eE]+)")
_WORDS = {"none": None, "true": True, "false": False}


def method_of(text: str) -> tuple[str, dict[str, Any]]:
    r"""Return (method, options) for ``NAME`` or ``NAME:OPTION=VALUE,OPTION=VALUE``.

    Raises:
        ValueError: A part is not an option with a value.

    >>> method_of("semantic:threshold=percentile:20,window=2")
    ('semantic', {'threshold': ('percentile', 20.0), 'window': 2})
    >>> method_of('recursive:size=80,unit=words,separators=["\\n", ", "]')[1]["separators"]
    ['\n', ', ']
    """
    name, colon, rest = text.partition(":")
    options: dict[str, Any] = {}
    for pair in _OPTION.findall(rest):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip().isidentifier():
            raise ValueError(f"-m must be NAME or NAME:OPTION=VALUE,OPTION=VALUE; got {text!r}")
        if ":" in value and "=" in value and not value.startswith(("[", '"')):
            raise ValueError(f"-m: separate options by commas, as in {name}:size=80,unit=words; got {text!r}")
        if key.strip() in options:
            raise ValueError(f"-m: {key.strip()} is given twice in {text!r}; give it once")
        options[key.strip()] = value_of(value.strip(), f"-m {text}")
    if colon and not options:
        raise ValueError(f"-m must be NAME or NAME:OPTION=VALUE,OPTION=VALUE; got {text!r}")
    return name, options


def value_of(text: str, where: str) -> Any:
    """Return the value that a text means: a number, ``none``, ``true``, ``false``, a pair (``percentile:20``), or JSON.

    JSON begins with ``[`` or ``"``. Any other text is returned unchanged. Errors begin with ``where``.
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text.startswith(("[", '"')):
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(
                f'{where}: {text:.80} is not JSON ({error}): write texts in double quotes, as in ["a", "b"]'
            ) from None
    pair = _KIND.fullmatch(text)
    number = _number(pair[2] if pair else text)
    if pair and number is not None:
        return pair[1], float(number)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
