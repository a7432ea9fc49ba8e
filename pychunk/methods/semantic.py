"""Cut where neighbouring sentences are unlike each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .base import Method, check_threshold, check_whole

if TYPE_CHECKING:
    from ..data.plan import Plan

ANY = (float("-inf"), float("inf"))
PERCENT = (0.0, 100.0)
RANGES = {"value": (-1.0, 1.0), "percentile": PERCENT, "std": ANY, "iqr": ANY, "gradient": PERCENT}


class Semantic(Method):
    """Cut where the adjacent cosine ``a_i = e_i . e_(i+1)`` is under a threshold (Kamradt's semantic chunking).

    ``threshold`` is ``("percentile", p)`` of the document's own ``a`` (default, p = 20: PIC's baseline),
    ``("std", k)`` = mean - k std, ``("iqr", k)`` = mean - k IQR, ``("gradient", p)`` = where the gradient of
    ``1 - a`` exceeds its percentile p, or a number. ``Segmenter.fit(sample)`` sets it to the mean ``a`` of a
    sample (the NSP paper's cosine baseline). ``window=w`` compares the sums of w sentences on either side.
    """

    name = "semantic"
    reason = "score"
    needs = frozenset({"vectors"})
    scores = "pairs"
    auto_max_tokens = 512
    fitted_threshold = True

    def __init__(self, *, threshold: tuple[str, float] | float = ("percentile", 20), window: int = 1) -> None:
        self.threshold = check_threshold(threshold, RANGES)
        self.window = check_whole("window", window, least=1)

    @property
    def has_kernel(self) -> bool:
        return self.window == 1

    def plan(self, shared: Plan) -> Plan:
        kind, value = self.threshold
        return super().plan(shared).with_(threshold=kind, threshold_value=value, window=self.window)
