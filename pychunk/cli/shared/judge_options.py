"""Options of judges: what a model is asked of the chunks that an evaluation compares."""

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

#: The judge of the answers that ``--answer`` has a model give.
_ANSWERS = "answers"
_NAMES = [*(name.replace("_", "-") for name in judge_rows.NAMES), _ANSWERS]


@dataclass(frozen=True)
class JudgeOptions:
    """What a model says of chunks, beside what is counted of them."""

    heading: ClassVar[str] = "What a model says of chunks"
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help=f"What a model says of chunks, or of --answer's ({_ANSWERS}): {', '.join(_NAMES)}."
        ),
    ] = None
    judge_chunks: Annotated[
        int, typer.Option(min=1, metavar="N", help="Chunks that --judge is shown of each row, drawn by a fixed seed.")
    ] = 200
    judge_task: Annotated[str, typer.Option(metavar="TEXT", help="What chunks are for, which --judge task asks.")] = (
        chunk_judge.PURPOSE
    )

    @property
    def names(self) -> list[str]:
        """The judges, of chunks and of answers.

        Raises:
            ValueError: there is no such one.
        """
        names = [] if self.judge is None else [name.strip() for name in self.judge.split(",")]
        for name in names:
            if name not in _NAMES:
                raise ValueError(f"--judge must be of {', '.join(_NAMES)}, with commas; got {name!r}")
        return [name.replace("-", "_") for name in dict.fromkeys(names)]

    @property
    def of_answers(self) -> bool:
        """Whether answers are judged, too."""
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
        """What :func:`pychunk.evaluation.runner.run` calls of each row's chunks; None where nothing is judged."""
        names = [name for name in self.names if name != _ANSWERS]
        if not names or llm is None:
            return None
        judged = partial(judge_rows.judged_rows, llm, names, most=self.judge_chunks, task=self.judge_task)
        return lambda chunked: judged(chunked, data, encoder, ways, options, step=step)
