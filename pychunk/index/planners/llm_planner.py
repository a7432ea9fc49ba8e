"""The planner that asks a model at an endpoint."""

from __future__ import annotations

from ...llm.client import LLM
from ...llm.default_client import DefaultClient
from ...llm.grouping import shown
from ...llm.json_schemas import object_of, one_of
from ...llm.lenient_parser import json_in
from ...llm.messages import Request
from ...llm.prompts import load
from .. import argument_checks
from .planner import Metadata
from .planner_timeout import SECONDS


class LLMPlanner(DefaultClient):
    """A planner that asks a model for the finest and the coarsest level, with one call for each query.

    If there is no answer in time, or the answer does not name two levels of the index, the finer first, it raises an
    error. The learned planner then chooses the levels instead.

    Args:
        llm: The client of the endpoint. None: the endpoint and model that the environment variables PYCHUNK_LLM_URL and
            PYCHUNK_LLM_MODEL name.
        timeout: The most seconds for each query, whatever the client's own timeout. None: only the client's timeout.

    Example:
        >>> planner = LLMPlanner(LLM("http://127.0.0.1:8099/v1", "test"))
        >>> planner.otherwise
        'learned'
    """

    #: The first pass is needed for the learned planner, which answers if this one fails.
    looks = True
    otherwise = "learned"

    def __init__(self, llm: LLM | None = None, *, timeout: float | None = SECONDS) -> None:
        super().__init__(llm)
        if timeout is not None:
            argument_checks.number("timeout", timeout, 0)
        self.timeout = timeout

    def __call__(self, query: str, metadata: Metadata) -> tuple[str, str, str]:
        """Return (low, high, why).

        Raises:
            ValueError: There is no answer, or the answer does not name two levels of the index, the finer first.
        """
        prompt, levels = load("plan"), list(metadata.levels)
        counts = metadata.nodes or (0,) * len(levels)
        told = "\n".join(f"- {level}: {count}" for level, count in zip(levels, counts, strict=True))
        schema = object_of(low=one_of(levels), high=one_of(levels))
        user = f"Question: {shown(query)}\n\nLevels:\n{told}"
        ask = Request(user, prompt.system, stage="plan", version=prompt.version, schema=schema, max_tokens=64)
        (reply,) = self.replies([ask])
        if reply.fault:
            raise ValueError(f"the model gave no plan: {reply.fault}")
        found = json_in(reply.text)
        low, high = (found.get("low"), found.get("high")) if isinstance(found, dict) else (None, None)
        if low not in levels or high not in levels or levels.index(low) > levels.index(high):
            raise ValueError(f"the model must name two levels of the index, the finer first; got {reply.text[:80]!r}")
        return low, high, f"as {self.llm.model} says"
