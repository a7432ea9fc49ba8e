"""One summary a document, by a model."""

from __future__ import annotations

from collections.abc import Sequence

from .account import Counts
from .client import LLM
from .messages import Request
from .prompts import load

#: Longest document that is shown whole, in characters, some 8,000 tokens; of a longer one its beginning and its end.
SHOWN = 32_000
#: Longest summary, in tokens, and what stands in for one where there is no answer: so much of the beginning.
LONGEST, INSTEAD = 256, 400


class Summariser:
    """What a method is handed whose summaries come from a model.

    Args:
        llm: the client.
        language: of the prompt.
    """

    def __init__(self, llm: LLM, language: str = "en") -> None:
        self.llm, self.prompt = llm, load("summary", language)

    def __call__(self, texts: Sequence[str]) -> tuple[list[str], list[tuple[int, str]]]:
        """A summary of each document, and (document, why) of those whose beginning stands in for one.

        Of a blank document it is empty, and nothing is asked.

        Raises:
            LLMError: no endpoint, a wrong key, a limit; see :meth:`LLM.ask_many`.
        """
        rows = [row for row, text in enumerate(texts) if text.strip()]
        out, notes = [""] * len(texts), []
        for row, reply in zip(rows, self.llm.ask_many([self._ask(texts[row]) for row in rows]), strict=True):
            out[row] = " ".join(reply.text.split())
            if reply.fault and not (reply.finish == "length" and out[row]):  # a long summary is one, without its end
                out[row] = texts[row].strip()[:INSTEAD]
                if not self.llm.dry_run:
                    notes.append((row, f"its beginning stands in for a summary: {reply.fault}"))
        if not self.llm.dry_run:
            self.llm.account.settle("summary", Counts(asked=len(rows), fell_back=len(notes)))
        return out, notes

    @property
    def facts(self) -> dict[str, object]:
        """What summaries depend on besides the text."""
        return {**self.llm.facts, "prompt": self.prompt.version}

    def _ask(self, text: str) -> Request:
        text = text.strip()
        cut = text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}\n…\n{text[-SHOWN // 2 :]}"
        return Request(cut, self.prompt.system, stage="summary", version=self.prompt.version, max_tokens=LONGEST)
