"""The readers of Wikipedia's XML dumps and of WikiExtractor's output, and the conversion of wikitext to plain text."""

from ..._util.lazy_imports import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
