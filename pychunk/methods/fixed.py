"""The method ``fixed``: runs of whole sentences up to a size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice, check_flag, check_whole

if TYPE_CHECKING:
    from .._engine.data.plan import Plan


class Fixed(Method):
    """Greedy runs of whole sentences up to ``size`` in ``unit``. PIC's baseline is ``size=100, unit="words"``.

    The option ``overlap`` counts in the same unit. Each chunk begins with the last sentences of the chunk before, as
    many whole sentences as fit into ``overlap``. A sentence longer than ``size`` is cut at word boundaries, then at
    character boundaries. ``balance=True`` makes chunks as even in size as possible without adding a chunk.
    """

    name = "fixed"
    reason = "size"
    sized = True

    def __init__(self, *, size: int = CHUNKS.piece, unit: str = "tokens", balance: bool = False) -> None:
        self.size = check_whole("size", size, least=1)
        self.unit = check_choice("unit", unit, UNITS)
        self.balance = check_flag("balance", balance)

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's size, unit and balance filled in."""
        return super().plan(shared).with_(size=self.size, unit=self.unit, balance=self.balance)
