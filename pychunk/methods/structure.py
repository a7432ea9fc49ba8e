"""The method ``structure``: chunks by headings, made of units that belong together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..defaults import CHUNKS
from .base import UNITS, Method, check_choice, check_flag, check_whole

if TYPE_CHECKING:
    from .._engine.data.plan import Plan, Traits

#: The value of ``size`` by unit if the caller passes none. In tokens, 0 stands for ``max_tokens``. Its default is 200,
#: or 800 characters for a document whose words the tokenizer does not know.
_SIZES = {"tokens": 0, "words": 150, "characters": 800}
#: The values of the option ``within``, with the features that each needs.
WITHIN: dict[str, frozenset[str]] = {
    "size": frozenset(),
    "topic": frozenset({"vectors", "topics"}),
    "semantic": frozenset({"vectors"}),
    "nsp": frozenset({"pairs"}),
}


class Structure(Method):
    """A method that cuts at headings and packs the units of a section into chunks of up to ``size``.

    The table holds the tree of headings. Headings, lists, tables and code come from the column ``blocks``. Without it,
    lines that look like headings are headings, all of one level. A heading stays with the text below it. Each of these
    is one unit: a list with the line that introduces it, a question with its answer, a table with its caption, and code
    with the sentence before it. Any other sentence is a unit, too. If the first sentence of a block has at most five
    words, it stays with the next sentence, because it may be a heading on the same line as its text.

    A chunk ends at the strongest boundary of its second half: a blank line, a line break, or the end of a sentence.
    ``balance=True`` makes the last chunks as even in size as possible. A unit that is too long is cut into even parts,
    at items, rows and lines if that is enough. The columns ``part`` and ``parts`` number the parts, and ``header``
    repeats the first row of a table that was cut. No chunk crosses a ``removed`` span, or the start of a page
    (``page_starts``) between two blocks.

    Sections that fit into one chunk share it. Its ``path`` holds the headings above all of them. If the next section
    does not fit, or is outside the parent of the chunk's first section, it begins the next chunk. But if the chunk is
    less than half full, the chunk and the section are cut as one text.

    The option ``within`` chooses where to cut a section that is longer than a chunk. All its values cut between units.
    ``"size"`` is described above. ``"topic"`` makes as few chunks as possible that are shorter than a third of
    ``size``. Among such cuts it takes those with the lowest sum of the probabilities that the topic goes on, which the
    network of the method ``topic`` computes. ``"semantic"`` cuts at the lowest cosine of neighbouring sentences, and
    ``"nsp"`` at the lowest probability that the next sentence follows. These two cut each part again until it fits.
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
        if self.size is None and self.unit == "tokens":
            self.auto_max_tokens = CHUNKS.max_tokens

    @property
    def traits(self) -> Traits:
        """The requirements of the method, including the features by which it cuts long sections."""
        return replace(super().traits, needs=WITHIN[self.within])

    def plan(self, shared: Plan) -> Plan:
        """Return the shared plan with the method's size, unit, balance and ``within`` filled in."""
        size = _SIZES[self.unit] if self.size is None else self.size
        return super().plan(shared).with_(size=size, unit=self.unit, balance=self.balance, within=self.within)
