"""Adapters, which use pychunk in distributed data frames and through the interfaces of other packages."""

from .._util.lazy_imports import modules_of as _modules_of
from .._util.lazy_imports import on_demand as _on_demand

__getattr__ = _on_demand(__name__)
__dir__ = _modules_of(__name__)
