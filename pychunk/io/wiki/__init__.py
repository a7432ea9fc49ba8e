"""Wikipedia: XML dumps, what WikiExtractor made of them, wikitext to plain text."""

from ..._util.lazy_imports import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
