"""Cut at the strongest separator that makes the pieces small enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .base import UNITS, Method, check_choice, check_whole

if TYPE_CHECKING:
    from ..data.plan import Plan


class Recursive(Method):
    """Blank line, line, sentence, word, character: descend the ladder only where a piece is too long.

    With ``separators`` (literal strings, strongest first) the chunks are those of LangChain's
    RecursiveCharacterTextSplitter with ``keep_separator=True``. ``size`` and ``overlap`` count in ``unit``.
    """

    name = "recursive"
    reason = "size"
    sized = True
    cuts_text = True

    def __init__(self, *, size: int = 200, unit: str = "tokens", separators: Sequence[str] | None = None) -> None:
        self.size = check_whole("size", size, least=1)
        self.unit = check_choice("unit", unit, UNITS)
        if isinstance(separators, (str, dict, set)) or not all(isinstance(s, str) for s in separators or ()):
            raise ValueError(f"separators must be a list of strings; got {separators!r}")
        if separators is not None and len(separators) == 0:
            raise ValueError("separators must hold at least one string; leave it out for the built-in ladder")
        for separator in separators or ():
            if any("\ud800" <= c <= "\udfff" for c in separator):
                raise ValueError(f"separators must be UTF-8; {separator!r} has a lone surrogate")
        self.separators = None if separators is None else tuple(separators)

    def plan(self, shared: Plan) -> Plan:
        return super().plan(shared).with_(size=self.size, unit=self.unit, separators=self.separators or ())
