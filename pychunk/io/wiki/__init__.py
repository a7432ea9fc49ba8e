"""The readers of Wikipedia: XML dumps, the output of WikiExtractor, and wikitext to plain text."""

from ..._util.lazy_imports import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
