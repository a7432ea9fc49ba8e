"""Makes torch multiply matrices in the precision they are in, whatever the process has allowed it to save."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Sums of half-precision products are kept in float32 where kernels split them, too.
REDUCED = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")

_lock = threading.Lock()
_inside = 0
_put_back: Callable[[], None]


@contextmanager
def exact_products() -> Iterator[None]:
    """No TF32 (10 bits of mantissa) in float32 products and no half-precision sums, as long as any thread is inside.

    These settings are the process's, not the thread's: the first one in changes them, the last one out puts back what
    was there. Calls that are to be captured or compiled are made inside, too, as kernels are chosen then.
    """
    global _inside, _put_back
    with _lock:
        if _inside == 0:
            _put_back = _set()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _put_back()


def _set() -> Callable[[], None]:
    """Changes the settings and returns what undoes it."""
    import torch

    backends: Any = torch.backends
    changed: list[tuple[Any, str, Any]] = []

    def change(owner: Any, name: str, value: Any) -> None:
        changed.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    for name in REDUCED:
        change(backends.cuda.matmul, name, False)
    try:
        older = torch.get_float32_matmul_precision()
    except RuntimeError:  # the process uses the settings of torch 2.9, which the older ones must not be mixed with
        for owner in (backends.cuda.matmul, backends.mkldnn.matmul):
            change(owner, "fp32_precision", "ieee")
        older = "highest"
    if older != "highest":
        torch.set_float32_matmul_precision("highest")

    def put_back() -> None:
        if older != "highest":
            torch.set_float32_matmul_precision(older)
        for owner, name, value in changed:
            setattr(owner, name, value)

    return put_back
