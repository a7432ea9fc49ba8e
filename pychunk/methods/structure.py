"""Chunks by headings, of units that belong together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice, check_flag, check_whole

if TYPE_CHECKING:
    from .._engine.data.plan import Plan, Traits

#: Without ``size``; of tokens it is ``max_tokens``, whose 200 stand for characters where the tokenizer knows no words.
_SIZES = {"tokens": 0, "words": 150, "characters": 800}
#: What cuts a section that is longer than a chunk, and what that needs.
WITHIN: dict[str, frozenset[str]] = {
    "size": frozenset(),
    "topic": frozenset({"vectors", "topics"}),
    "semantic": frozenset({"vectors"}),
    "nsp": frozenset({"pairs"}),
}


class Structure(Method):
    """Sections by headings; in one, units that belong together, packed up to ``size``; the table holds their tree.

    Headings, lists, tables and code come from ``blocks=``; without them lines that look like headings are headings of
    one level. A unit is a list with the line that introduces it, a question with its answer, a table with its caption,
    code with the sentence before it, or a sentence, the first of a block with the next where it has at most five words,
    as a heading that runs into its text; a heading belongs to what it heads. Chunks end at the strongest border of
    their second half (blank line, line, else sentence), and the last ones are as even as can be (``balance``). A unit
    that is too long is cut into even parts, at items, rows and lines where that is enough; the columns ``part`` and
    ``parts`` number them, and ``header`` repeats the first row of a table that was cut. No chunk crosses the start of a
    page (``page_starts=``) between two blocks, or what ``removed=`` leaves out.

    Sections that fit into one chunk share it; its ``path`` are the headings above all of them. One that does not fit,
    or is not in the section that holds the chunk's first one, begins the next chunk if this one is half full; else both
    are cut as one. ``within`` says where what is longer than a chunk is cut between units, in place of ``"size"``:
    ``"topic"`` where the network of method ``topic`` is surest, all cuts together, that the topic changes, with as few
    chunks under a third of ``size`` as can be; ``"semantic"`` at the lowest adjacent cosine, ``"nsp"`` at the lowest
    probability that the next sentence follows, and what is left again until it fits.
    """

    name = "structure"
    reason = "size"
    sized = True
    keeps_short = True
    outline = True

    def __init__(
        self, *, size: int | None = None, unit: str = "tokens", balance: bool = True, within: str = "size"
    ) -> None:
        self.size = None if size is None else check_whole("size", size, least=1)
        self.unit = check_choice("unit", unit, UNITS)
        self.balance = check_flag("balance", balance)
        self.within = check_choice("within", within, tuple(WITHIN))

    @property
    def traits(self) -> Traits:
        return replace(super().traits, needs=WITHIN[self.within])

    @property
    def auto_max_tokens(self) -> int:
        return CHUNKS.max_tokens if self.size is None and self.unit == "tokens" else 0

    def plan(self, shared: Plan) -> Plan:
        size = _SIZES[self.unit] if self.size is None else self.size
        return super().plan(shared).with_(size=size, unit=self.unit, balance=self.balance, within=self.within)
