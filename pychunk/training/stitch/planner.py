"""The planner in a folder that ``pychunk train stitch`` wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...encoders.model_cache import loaded
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
    the index, the planner raises an error, and the search uses the levels of the learned planner. Each model is loaded
    once and then cached.

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
        self._model = loaded(path, FACTS, lambda: _Model(self.path), _Model)

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return (low, high, why).

        Raises:
            ValueError: The model names no levels of the index, or a tiny model knows no word of the query.
        """
        model = self._model
        if model.tiny:
            (written,) = model.policy.sample([prompt_of(query)], model.limit, None)
            return plan_of(written)
        prompt = model.policy.prompt(plan_prompt.system().system, plan_prompt.user(query, metadata))
        (written,) = model.policy.sample([prompt], model.limit, None)
        text = model.policy.tokenizer.decode(written, skip_special_tokens=True)
        low, high, why = plan_prompt.read(text, metadata)
        return low, high, why or f"as {self.path.name} says"


class _Model:
    """The policy in a folder, the most tokens that it may write, and whether it is a tiny one."""

    def __init__(self, path: Path) -> None:
        file = path / FACTS
        self.policy: Any
        try:
            facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            self.limit = int(facts["settings"]["max_tokens"])
            self.tiny = facts["from"] == "tiny"
            file = path / (CHECKPOINT if self.tiny else MODEL)
            if not file.exists():
                raise FileNotFoundError("it is missing")
            if self.tiny:
                self.policy = policy()
                self.policy.net.load_state_dict(import_torch().load(file, weights_only=True)["policy"])
            else:
                self.policy = HubModel(str(file))
        except ImportError:
            raise
        except Exception as error:  # torch and transformers raise errors of many kinds for damaged files
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
            raise ValueError(f"{file} is damaged ({reason}): train it again with pychunk train stitch") from error
