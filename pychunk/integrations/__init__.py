"""Adapters: pychunk inside distributed data frames, and behind the interfaces of other packages."""

from .._util.lazy_imports import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
