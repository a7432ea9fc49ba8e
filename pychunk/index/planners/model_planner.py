"""The learned planner, which predicts how well a search of each range of levels would answer a query.

``pychunk train planner`` trains its model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..._util.weights import read_weights
from ...encoders import static_encoder
from ...encoders.model_cache import loaded
from .planner import WORDS, Metadata, unreadable
from .planner_features import features

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    F32 = npt.NDArray[np.float32]

FACTS = "planner.json"


class PlanModel:
    """A network of one hidden layer that predicts the value of each range of levels.

    A range is a pair of the finest and the coarsest level. From the features of :mod:`.planner_features`, the network
    predicts two numbers for each range and each word budget: the character F1 of the text that a search returns, and
    the chance that the question is narrow and the text contains its answer.

    A narrow question has at best a tenth of the F1 of other questions, because its answer is short. By F1 alone, a
    query that may be narrow would be treated as broad. The value of a range is therefore its F1 plus ``caution`` times
    that chance.

    Plain chunks are the floor: another range is chosen only if its value exceeds that of plain chunks by more than
    ``margin``. :mod:`pychunk.training.planner` determines ``caution`` and ``margin`` with questions about articles that
    the network did not see.

    Args:
        path: The folder with ``planner.json`` and the weights that it names. The default is the model that pychunk
            ships.

    Raises:
        ValueError: A file is missing, damaged, or of a newer format.
    """

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.path = Path(path)
        remedy = (
            f"train it again with pychunk train planner --out {self.path}, or install pychunk again if it came with it"
        )
        self.facts, stored = read_weights(
            self.path / FACTS, "planner", remedy, ("encoder", "ranges", "budgets", "caution", "plain", "margin")
        )
        self.parts: dict[str, F32] = {name: value.astype(np.float32) for name, value in stored.items()}
        try:
            self.ranges = [(str(low), str(high)) for low, high in self.facts["ranges"]]
            self.budgets = [int(words) for words in self.facts["budgets"]]
            self.caution, self.margin = float(self.facts["caution"]), float(self.facts["margin"])
            low, high = self.facts["plain"]
            self.plain = self.ranges.index((str(low), str(high)))
            if not self.budgets or not np.isfinite([self.caution, self.margin]).all():
                raise ValueError("caution and margin must be finite, and there must be a budget")
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path / FACTS} is damaged ({error}): {remedy}") from error

    def expected(self, seen: F32) -> F32:
        """Return the expected F1 and chance of each range, float32[2, ranges, budgets].

        Args:
            seen: The features, float32[inputs].
        """
        own = np.clip((seen - self.parts["mean"]) / self.parts["scale"], -5, 5).astype(np.float32)
        hidden = np.maximum(own @ self.parts["hidden"] + self.parts["hidden_bias"], 0)
        out: F32 = hidden @ self.parts["out"] + self.parts["out_bias"]
        return out.reshape(2, len(self.ranges), len(self.budgets))

    def choice(self, expected: F32, known: Sequence[int]) -> int:
        """Return the range to search, as a position in :attr:`ranges`.

        Args:
            expected: The numbers of :meth:`expected` for one budget, float32[2, ranges].
            known: The ranges whose levels the index has.
        """
        value = expected[0] + np.float32(self.caution) * expected[1]
        best = known[int(np.argmax(value[list(known)]))]
        is_known = self.plain in known
        return self.plain if is_known and value[best] - value[self.plain] <= self.margin else best


def model(path: str | Path = static_encoder.SHIPPED) -> PlanModel:
    """Return the model in a directory. It is loaded once and then cached."""
    return loaded(path, FACTS, lambda: PlanModel(path), PlanModel)


class ModelPlanner:
    """The planner that leaves plain chunks only for levels that promise more within the word budget.

    Plain chunks are the level ``group``. An index without it is searched at the levels with the highest value.

    It is made for English and for the vectors of one encoder. For an index with another encoder it raises an error, so
    that the planner ``"fixed"`` chooses the levels instead.

    Args:
        path: The folder of the model. The default is the one that pychunk ships.
    """

    looks = True
    timeout = None

    def __init__(self, path: str | Path = static_encoder.SHIPPED) -> None:
        self.model = model(path)

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return (low, high, why).

        Raises:
            ValueError: The index has another encoder than the model, fewer than two of the ranges that the model knows,
                or there is no first pass.
        """
        levels = metadata.levels
        reason = unreadable(query)
        if reason:
            return levels[0], levels[-1], reason
        wanted = self.model.facts["encoder"]
        if metadata.encoder != wanted:
            raise ValueError(
                f"the planner in {self.model.path} is for vectors of {wanted}; the index has {metadata.encoder}"
            )
        known = [number for number, pair in enumerate(self.model.ranges) if set(pair) <= set(levels)]
        if len(known) < 2:
            names = ", ".join(dict.fromkeys(level for pair in self.model.ranges for level in pair))
            raise ValueError(f"the planner chooses among {names}; the index has {', '.join(levels)}")
        words = metadata.words or WORDS
        budget = int(np.argmin([abs(np.log(words / each)) for each in self.model.budgets]))
        expected = self.model.expected(features(query, metadata))
        best = self.model.choice(expected[:, :, budget], known)
        low, high = self.model.ranges[best]
        assert metadata.fine is not None
        spread = len(np.unique(metadata.fine.document))
        of = f"best {len(metadata.fine.document)} sentences of {spread} document{'s' * (spread != 1)}"
        share = min(1.0, max(0.0, float(expected[0, best, budget])))
        return low, high, f"expected F1 {share:.2f} within {words} words, {of}"
