"""A context in which torch computes in full precision, by kernels that need no plan for each shape of a batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: The settings that let kernels sum half-precision products in less than float32.
REDUCED = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")

_lock = threading.Lock()
_inside = 0
_put_back: Callable[[], None]


@contextmanager
def exact_products() -> Iterator[None]:
    """Disable TF32 (10 bits of mantissa) for float32 products, and sums in half precision, inside this context.

    Disable cuDNN's attention, too, which torch prefers on an H200: it plans each shape of a batch in each thread,
    for longer than the batch takes.

    These settings belong to the process, not to the thread. The first thread to enter changes them, and the last thread
    to leave restores them.
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
    """Change the settings and return a function that restores them."""
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
    except RuntimeError:  # The process uses the settings of torch 2.9, which must not be mixed with the older ones.
        for owner in (backends.cuda.matmul, backends.mkldnn.matmul):
            change(owner, "fp32_precision", "ieee")
        older = "highest"
    if older != "highest":
        torch.set_float32_matmul_precision("highest")
    planned = backends.cuda.cudnn_sdp_enabled()
    backends.cuda.enable_cudnn_sdp(False)

    def put_back() -> None:
        backends.cuda.enable_cudnn_sdp(planned)
        if older != "highest":
            torch.set_float32_matmul_precision(older)
        for owner, name, value in changed:
            setattr(owner, name, value)

    return put_back
