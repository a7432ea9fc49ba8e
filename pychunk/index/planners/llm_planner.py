"""The planner that asks a model at an endpoint."""

from __future__ import annotations

from ...llm.client import LLM
from ...llm.default_client import DefaultClient
from ...llm.messages import Request
from .. import argument_checks
from . import plan_prompt
from .planner import Metadata
from .planner_timeout import SECONDS

#: The longest answer: three sentences and the levels.
MOST_TOKENS = 200


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
    headings = True
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
        prompt = plan_prompt.system()
        user = plan_prompt.user(query, metadata)
        ask = Request(user, prompt.system, stage="plan", version=prompt.version, max_tokens=MOST_TOKENS)
        (reply,) = self.replies([ask])
        if reply.fault:
            raise ValueError(f"the model gave no plan: {reply.fault}")
        low, high, why = plan_prompt.read(reply.text, metadata)
        return low, high, f"{self.llm.model}: {why}" if why else f"as {self.llm.model} says"
