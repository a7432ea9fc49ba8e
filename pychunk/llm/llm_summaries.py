"""The summaries of documents that an LLM writes."""

from __future__ import annotations

from collections.abc import Sequence

from .account import Counts
from .client import LLM
from .messages import Request
from .prompts import load

#: The longest document that the LLM sees in full, in characters (some 8,000 tokens). If a document is longer, the LLM
#: sees its beginning and its end.
SHOWN = 32_000
#: The longest summary, in tokens, and the number of a document's first characters that replace a missing summary.
LONGEST, INSTEAD = 256, 400


class Summariser:
    """The function that methods call to get summaries from an LLM.

    Args:
        llm: The client.
        language: The language of the prompt.
    """

    def __init__(self, llm: LLM, language: str = "en") -> None:
        self.llm, self.prompt = llm, load("summary", language)

    def __call__(self, texts: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
        """Return the summary of each document, and (row, reason) for each whose beginning replaces the summary.

        The summary of a blank document is empty, and the LLM is not asked.

        Raises:
            LLMError: The endpoint is missing, the key is wrong, or a limit is reached. See :meth:`LLM.ask_many`.
        """
        rows = [row for row, text in enumerate(texts) if text.strip()]
        out, notes = [""] * len(texts), []
        for row, reply in zip(rows, self.llm.ask_many([self._ask(texts[row]) for row in rows]), strict=True):
            out[row] = " ".join(reply.text.split())
            if reply.fault and not (reply.finish == "length" and out[row]):  # a summary without its end is usable
                out[row] = texts[row].strip()[:INSTEAD]
                if not self.llm.dry_run:
                    notes.append((row, f"its beginning replaces the summary: {reply.fault}"))
        if not self.llm.dry_run:
            self.llm.account.settle("summary", Counts(asked=len(rows), fell_back=len(notes)))
        return out, notes

    @property
    def facts(self) -> dict[str, object]:
        """The model, parameters and prompt on which summaries depend in addition to the text."""
        return {**self.llm.facts, "prompt": self.prompt.version}

    def _ask(self, text: str) -> Request:
        text = text.strip()
        cut = text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}\n…\n{text[-SHOWN // 2 :]}"
        return Request(cut, self.prompt.system, stage="summary", version=self.prompt.version, max_tokens=LONGEST)
