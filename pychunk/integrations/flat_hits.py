"""Hits of one query, as adapters of searches want them: a flat list."""

from __future__ import annotations

from typing import Any, cast

from ..index.index import Index
from ..index.search.hits import Hit


def best(index: Index, options: dict[str, Any], **asked: Any) -> list[Hit]:
    """The hits for the one query in ``asked``; ``options`` are those of :meth:`pychunk.Index.search`."""
    if options.get("by_document"):
        raise ValueError("by_document groups hits, which have no place here: call index.search itself")
    return cast("list[Hit]", index.search(**asked, **options)[0])


def text_of(hit: Hit) -> str:
    """Its text, with ``expand`` what stands around it, too."""
    return "\n\n".join(each.text for each in hit.around) if hit.around else hit.text
