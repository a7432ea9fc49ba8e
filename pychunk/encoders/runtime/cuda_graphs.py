"""The replay of a function of tensors as CUDA graphs, for inputs whose shapes recur.

A graph needs one launch, whereas the function needs one for each of its kernels.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

#: The tensors of one call; None for a tensor that the call does not have.
Inputs = tuple["torch.Tensor | None", ...]
Function = Callable[..., "torch.Tensor"]
#: A function that takes a function and inputs, captures the call, and returns a function that replays it.
Capture = Callable[[Function, Inputs], Function]

#: The number of shapes that are kept. A corpus has sentences of some 100 lengths. Almost all batches of one length have
#: the same number of rows, and so the same shape.
KEPT = 128
#: The number of calls before a capture. cuBLAS, triton and the allocator set themselves up in the first calls, and this
#: must not be captured.
WARM_UPS = 3


class ShapeGraphs:
    """A function that is captured for each shape of its inputs, when the shape occurs for the second time.

    The last batch of a length mostly has a number of rows that never recurs. Capturing it would take as long as several
    runs. At most ``kept`` captured shapes are stored; the one that was not used for the longest time is dropped first.
    """

    def __init__(self, function: Function, capture: Capture, kept: int = KEPT) -> None:
        self._function, self._capture, self._kept = function, capture, kept
        self._captured: OrderedDict[Any, Function] = OrderedDict()
        self._seen: OrderedDict[Any, None] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *inputs: torch.Tensor | None) -> torch.Tensor:
        """Return the function's result, from a captured graph if the shape of the inputs occurred before."""
        shape = tuple(None if each is None else tuple(each.shape) for each in inputs)
        with self._lock:  # Captures must not overlap, and replays share their buffers.
            if shape in self._captured:
                self._captured.move_to_end(shape)
                return self._captured[shape](*inputs)
            if shape not in self._seen:
                self._seen[shape] = None
                if len(self._seen) > 16 * self._kept:
                    self._seen.popitem(last=False)
                return self._function(*inputs)
            self._captured[shape] = self._capture(self._function, inputs)
            if len(self._captured) > self._kept:  # The capture waited for all replays, so one can be dropped.
                self._captured.popitem(last=False)
            return self._captured[shape](*inputs)


class CudaCapture:
    """A capture of calls on one device as graphs that share one pool of memory.

    A graph may use the memory in which an earlier graph keeps its intermediate results. That is safe because no two
    replays run at once. Each replay waits for the previous one, on any stream, and copies its result out of the pool.
    """

    def __init__(self, device: torch.device) -> None:
        import torch

        cuda: Any = torch.cuda
        self._device = device
        with cuda.device(device):
            self._pool = cuda.graph_pool_handle()
            self._stream = cuda.Stream()
            self._last = cuda.Event()

    def __call__(self, function: Function, inputs: Inputs) -> Function:
        """Capture a call of the function on inputs of this shape, and return a function that replays it."""
        import torch

        with torch.cuda.device(self._device):
            current = torch.cuda.current_stream()
            current.wait_event(self._last)
            static = [None if each is None else each.clone() for each in inputs]
            self._stream.wait_stream(current)
            with torch.cuda.stream(self._stream):
                for _ in range(WARM_UPS):
                    function(*static)
            current.wait_stream(self._stream)
            graph = torch.cuda.CUDAGraph()
            # Entering this context waits for the device. Other threads may use the device during the capture, because
            # only calls of this thread are captured.
            with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
                result = function(*static)

        def replay(*given: torch.Tensor | None) -> torch.Tensor:
            with torch.cuda.device(self._device):
                torch.cuda.current_stream().wait_event(self._last)
                for kept, new in zip(static, given, strict=True):
                    if kept is not None and new is not None:
                        kept.copy_(new)
                graph.replay()
                copied = result.clone()
                self._last.record()
                return copied

        return replay
