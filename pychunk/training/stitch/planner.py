"""The planner in a folder that ``pychunk train stitch`` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...index.planners import plan_prompt
from ...index.planners.planner import Metadata
from ..teacher import import_torch
from .hub_model import HubModel
from .tiny import policy
from .tiny_task import plan_of, prompt_of

FACTS, CHECKPOINT, MODEL = "stitch.json", "checkpoint.pt", "model"


class StitchPlanner:
    """A language model that reasons before it names the levels to search.

    The model writes the likeliest tokens, so the plan of a query is always the same. If the answer names no levels of
    the index, the planner raises an error, and the search uses the levels of the learned planner.

    A model of ``--tiny`` knows only the words of its synthetic task. Its plan is the range from the finest to the
    coarsest level that it writes.

    Args:
        path: The folder.

    Raises:
        ValueError: A file of the folder is missing or damaged.
        ImportError: torch is missing, or transformers for a model of Hugging Face.
    """

    looks = True
    headings = True
    otherwise = "learned"
    timeout = None

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.facts: dict[str, Any] = json.loads((self.path / FACTS).read_text(encoding="utf-8"))
            self.limit = int(self.facts["settings"]["max_tokens"])
            tiny = self.facts["from"] == "tiny"
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{self.path / FACTS} is missing or damaged ({error}): train it again with pychunk train stitch"
            ) from error
        self._model: Any
        if tiny:
            torch = import_torch()
            self._model = policy()
            state = torch.load(self._there(CHECKPOINT), weights_only=True)
            self._model.net.load_state_dict(state["policy"])
        else:
            self._model = HubModel(str(self._there(MODEL)))
        self._tiny = tiny

    def _there(self, name: str) -> Path:
        found = self.path / name
        if not found.exists():
            raise ValueError(f"{found} is missing: train the planner again with pychunk train stitch")
        return found

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return (low, high, why).

        Raises:
            ValueError: The model names no levels of the index, or a tiny model knows no word of the query.
        """
        if self._tiny:
            (written,) = self._model.sample([prompt_of(query)], self.limit, None)
            low, high, why = plan_of(written)
            return low, high, why
        prompt = self._model.prompt(plan_prompt.system().system, plan_prompt.user(query, metadata))
        (written,) = self._model.sample([prompt], self.limit, None)
        text = self._model.tokenizer.decode(written, skip_special_tokens=True)
        low, high, why = plan_prompt.read(text, metadata)
        return low, high, why or f"as {self.path.name} says"
