"""A request that the core rejects is freed with its error."""

import gc
import weakref

import numpy as np
import pytest

from pychunk._engine import native
from pychunk._engine.data.features import Features
from pychunk._engine.data.plan import Plan
from pychunk._engine.data.request import Request


def test_a_rejected_request_is_not_left_to_the_garbage_collector() -> None:
    """The error held the frame that held the error and the text."""

    def reject(*_: object) -> None:
        raise ValueError("rejected")

    request = Request(Features(np.frombuffer(b"One.", np.uint8), np.array([0, 4])), Plan("sentence"))
    freed = weakref.ref(request)
    gc.disable()
    try:
        with pytest.raises(ValueError, match="rejected") as found:
            native._run(reject, request)
        del request, found  # pytest keeps the error and its frames here
        assert freed() is None
    finally:
        gc.enable()
