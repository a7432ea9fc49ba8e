"""The exact search on a GPU by torch, which computes all inner products. It is used if FAISS has no GPU build."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
I64 = npt.NDArray[np.int64]

#: The most inner products that are in memory at a time, as float32: 1 GiB.
_PRODUCTS = 1 << 28
#: The number of rows that are converted to float32 at a time.
_ROWS = 1 << 20


class TorchFlat:
    """An index of rows in the memory of a device. Inner products are computed in float32, without TF32.

    Args:
        blocks: Arrays float16 or float32 [n, dim], which together have all rows. The device stores them in this type.
        device: The torch name of the device.
    """

    def __init__(self, blocks: Iterable[npt.NDArray[Any]], device: str) -> None:
        try:
            import torch
        except ImportError as error:
            raise ImportError("an index on a GPU needs a GPU build of FAISS, or torch: pip install torch") from error
        self._torch: Any = torch
        self.device = device
        self._parts = [torch.tensor(np.asarray(block), device=device) for block in blocks if len(block)]

    def __len__(self) -> int:
        return sum(len(part) for part in self._parts)

    def search(self, queries: F32, count: int) -> tuple[F32, I64]:
        """Return (scores float32[q, count], rows int64[q, count]), best first. Equal scores may be in any order."""
        from ...encoders.runtime.torch_precision import exact_products

        scores, rows = [], []
        step = max(1, _PRODUCTS // max(1, min(_ROWS, len(self))))
        for first in range(0, len(queries), step):
            with self._torch.inference_mode(), exact_products():
                found = self._best(self._torch.from_numpy(queries[first : first + step]).to(self.device), count)
            scores.append(found[0].cpu().numpy())
            rows.append(found[1].cpu().numpy())
        if not scores:
            return np.empty((0, count), np.float32), np.empty((0, count), np.int64)
        return np.concatenate(scores), np.concatenate(rows)

    def _best(self, queries: Any, count: int) -> tuple[Any, Any]:
        """Return (scores, rows) of the best rows: after each block, the best of its rows and of the earlier best."""
        torch = self._torch
        best = torch.empty((len(queries), 0), device=self.device)
        rows = torch.empty((len(queries), 0), dtype=torch.int64, device=self.device)
        begin = 0
        for part in self._parts:
            for first in range(0, len(part), _ROWS):
                block = part[first : first + _ROWS]
                found, at = (queries @ block.float().T).topk(min(count, len(block)), dim=1)
                best, rows = torch.cat([best, found], 1), torch.cat([rows, at + begin + first], 1)
                best, keep = best.topk(min(count, best.shape[1]), dim=1)
                rows = rows.gather(1, keep)
            begin += len(part)
        return best, rows
