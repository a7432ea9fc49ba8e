"""A planner by rules on a query's words (asking, comparing, counting, "summarise"), its length and its names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...levels.level_names import NAMES
from .planner import Metadata, unreadable

#: The levels to search for each breadth of a question, from fine to coarse, as far as an index has them.
_NARROW = ("sentence", "group", "paragraph")
_MIDDLE = ("paragraph", "subsection", "section", "page")
_BROAD = ("section", "document")
_LEVELS = {"narrow": _NARROW, "middle": _MIDDLE, "broad": _BROAD}

_WORD = re.compile(r"\w+(?:['’-]\w+)*")
#: The rules as (breadth, reason, pattern). The first pattern that matches the query decides.
_FORMS: tuple[tuple[str, str, str], ...] = (
    ("broad", "asks for the whole", r"\b(summari[sz]e|summary|overview|describe|outline|introduction to|all about)\b"),
    (
        "middle",
        "compares",
        r"\b(compare|compared|comparison|difference|differences|differ|versus|vs)\b|\bboth\b.*\band\b",
    ),
    ("narrow", "counts", r"\bhow (many|much|long|old|far|often|big|tall|large)\b|\bnumber of\b"),
    ("middle", "asks how or why", r"\b(how|why|explain|reasons?|causes?)\b"),
    ("narrow", "asks for a fact", r"\b(who|whom|whose|when|where|which|what|is|was|are|were|did|does|do)\b.*\?"),
)
#: A query without a question mark is short, like a heading or title, if it has at most _SHORT words. It is mostly names
#: if at least the share _NAMES of its words begin with a capital or a digit.
_SHORT, _NAMES = 7, 0.5
#: The least number of words of a query without a question mark that counts as a long description.
_LONG = 10


class Rules:
    """The planner that chooses levels by the form of a question. It is made for English.

    Example:
        >>> known = Metadata(("sentence", "paragraph", "section", "document"))
        >>> for query in ("Who crossed the Andes?", "Why did Rome fall?", "Summarise the war.", "Ada Lovelace: Life"):
        ...     print(Rules()(query, known))
        ('sentence', 'paragraph', 'asks for a fact')
        ('paragraph', 'section', 'asks how or why')
        ('section', 'document', 'asks for the whole')
        ('paragraph', 'section', 'short, mostly names')
    """

    looks = False
    timeout = None

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return the finest and the coarsest level for a query, and the reason for them."""
        levels = metadata.levels
        reason = unreadable(query)
        if reason:
            return levels[0], levels[-1], reason
        breadth, why = breadth_of(query)
        low, high = within(_LEVELS[breadth], breadth, levels)
        return low, high, why


def breadth_of(query: str) -> tuple[str, str]:
    """Return the breadth of a query, ``"narrow"``, ``"middle"`` or ``"broad"``, and the rule that decided it.

    Example:
        >>> breadth_of("How many sentences are there?"), breadth_of("rivers")
        (('narrow', 'counts'), ('middle', 'short'))
    """
    lower = query.casefold()
    asks = "?" in query
    for breadth, why, pattern in _FORMS:
        if re.search(pattern, lower):
            return breadth, why
    words = _WORD.findall(query)
    names = sum(word[0].isupper() or word[0].isdigit() for word in words) / max(1, len(words))
    if len(words) <= _SHORT and not asks:
        return "middle", "short, mostly names" if names >= _NAMES else "short"
    if len(words) >= _LONG and not asks:
        return "broad", "a long description"
    return "middle", "no rule says more"


def within(wanted: Sequence[str], breadth: str, levels: Sequence[str]) -> tuple[str, str]:
    """Return the finest and the coarsest of the wanted levels that an index has.

    If the index has levels by size, such as ``"256"``, return instead the finest, the middle or the coarsest third of
    its levels, as ``breadth`` says.

    Example:
        >>> within(("section", "document"), "broad", ("sentence", "128", "256", "512", "document"))
        ('512', 'document')
    """
    found = [level for level in levels if level in wanted]
    if found and all(level in NAMES for level in levels):
        return found[0], found[-1]
    last = len(levels) - 1
    low, high = {"narrow": (0, last // 3), "middle": (last // 3, last - 1), "broad": (last - 1, last)}[breadth]
    return levels[max(0, min(low, high))], levels[max(0, high)]
