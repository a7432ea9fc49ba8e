"""The hits of one query as a flat list, which adapters of searches need."""

from __future__ import annotations

from typing import Any, cast

from ..index.index import Index
from ..index.search.hits import Hit


def best(index: Index, options: dict[str, Any], **asked: Any) -> list[Hit]:
    """Return the hits for the one query in ``asked``. ``options`` are those of :meth:`pychunk.Index.search`."""
    return cast("list[Hit]", index.search(**asked, **options)[0])


def text_of(hit: Hit) -> str:
    """Return the text of a hit, including the chunks around it if the search has an expansion."""
    return "\n\n".join(each.text for each in hit.around) if hit.around else hit.text
