"""How good chunks are: measures on arrays and strings."""

from ..plumbing.lazy import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
