"""Measures of chunks on arrays and strings, and the comparison of methods with questions."""

from typing import TYPE_CHECKING

from .._util.lazy_imports import on_demand as _on_demand

if TYPE_CHECKING:
    from .compare import evaluate as evaluate

__getattr__ = _on_demand(__name__, objects={"evaluate": ".compare"})
