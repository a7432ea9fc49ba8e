"""The options of the judges, which ask an LLM about the chunks that an evaluation compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ...evaluation import datasets, judge_rows, retrieval_setups, systems
from ...evaluation.judges import chunk_judge

if TYPE_CHECKING:
    from ...llm import LLM

#: The name of the judge of the answers that an LLM gives with ``--answer``.
_ANSWERS = "answers"
_NAMES = [*(name.replace("_", "-") for name in judge_rows.NAMES), _ANSWERS]


@dataclass(frozen=True)
class JudgeOptions:
    """The judgements of an LLM about chunks, in addition to the measures that need no LLM."""

    heading: ClassVar[str] = "LLM judge"
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help=f"LLM judges ({_ANSWERS} rates the answers from --answer): {', '.join(_NAMES)}.",
        ),
    ] = None
    judge_chunks: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of chunks to judge for each row of results, drawn with a fixed seed."
        ),
    ] = 200
    judge_task: Annotated[str, typer.Option(metavar="TEXT", help="Purpose of the chunks, for --judge task.")] = (
        chunk_judge.PURPOSE
    )

    @property
    def names(self) -> list[str]:
        """The names of the judges of chunks and answers.

        Raises:
            ValueError: A judge is unknown.
        """
        names = [] if self.judge is None else [name.strip() for name in self.judge.split(",")]
        for name in names:
            if name not in _NAMES:
                raise ValueError(f"--judge must be one or more of {', '.join(_NAMES)}, with commas; got {name!r}")
        return [name.replace("-", "_") for name in dict.fromkeys(names)]

    @property
    def of_answers(self) -> bool:
        """True if answers are judged as well."""
        return _ANSWERS in self.names

    def rows(
        self,
        llm: LLM | None,
        data: datasets.Dataset,
        encoder: systems.Encoder,
        ways: Sequence[retrieval_setups.Strategy],
        options: Mapping[str, Any],
        step: Callable[[str], None],
    ) -> Callable[[systems.SystemChunks], list[Any]] | None:
        """Return the function that :func:`pychunk.evaluation.runner.run` calls for each row, or None without judges."""
        names = [name for name in self.names if name != _ANSWERS]
        if not names or llm is None:
            return None
        judged = partial(judge_rows.judged_rows, llm, names, most=self.judge_chunks, task=self.judge_task)
        return lambda chunked: judged(chunked, data, encoder, ways, options, step=step)
