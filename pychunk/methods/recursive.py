"""The method ``recursive``: chunks up to a size, each ending at the strongest boundary in its second half."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice, check_flag, check_whole

if TYPE_CHECKING:
    from .._engine.data.plan import Plan


class Recursive(Method):
    """A method that makes chunks up to ``size`` which end at the strongest boundary of their second half.

    A blank line is stronger than a line break, and a line break is stronger than the end of a sentence. A sentence
    longer than ``size`` is cut at word boundaries, then at character boundaries. The options ``size`` and ``overlap``
    count in ``unit``. ``balance=True`` makes the chunks of a section as even in size as possible without adding a
    chunk. The option ``separators`` is a list of literal strings, the strongest first. With separators, the chunks are
    the same as from LangChain's RecursiveCharacterTextSplitter with ``keep_separator=True``.
    """

    name = "recursive"
    reason = "size"
    sized = True

    def __init__(
        self,
        *,
        size: int = CHUNKS.piece,
        unit: str = "tokens",
        balance: bool = False,
        separators: Sequence[str] | None = None,
    ) -> None:
        self.size = check_whole("size", size, least=1)
        self.unit = check_choice("unit", unit, UNITS)
        listed = separators is None or (
            hasattr(separators, "__iter__") and not isinstance(separators, (str, dict, set))
        )
        if not listed or not all(isinstance(s, str) for s in separators or ()):
            raise ValueError(f"separators must be a list of strings; got {separators!r:.80}")
        if separators is not None and len(separators) == 0:
            raise ValueError("separators must hold at least one string; got none: omit it to use the built-in ones")
        for separator in separators or ():
            if any("\ud800" <= c <= "\udfff" for c in separator):
                raise ValueError(f"separators must be UTF-8; {separator!r} has a lone surrogate: remove it")
        self.balance = check_flag("balance", balance)
        if self.balance and separators is not None:
            raise ValueError("balance= cannot be combined with separators=, which merge chunks as LangChain does")
        self.separators = None if separators is None else tuple(separators)
        self.auto_keep_together = separators is None  # Chunks between separators do not follow sentences.

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's size, unit, balance and separators filled in."""
        plan = super().plan(shared).with_(size=self.size, unit=self.unit, balance=self.balance)
        if self.separators is None:
            return plan
        return plan.with_(separators=self.separators, min_characters=0)
