"""Questions with the facts about an index, from JSON lines, for a language model that plans."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...index.planners import plan_prompt
from ...index.planners.planner import Metadata
from .tasks import Outcome, Question, Tokens

Plan = tuple[str, str]


class Row(NamedTuple):
    """A line of the dataset: what the planner reads, the plans that answer, the pseudo-label, and experts' texts."""

    question: str
    metadata: Metadata
    answers: tuple[Plan, ...]
    label: Plan
    traces: tuple[str, ...]


class HubTask:
    """A task with the questions in a file of JSON lines, a tenth of them held out.

    A line has ``question``; ``levels``, the levels of the index from fine to coarse; and ``answers``, which lists the
    plans ``[low, high]`` with which a search found the right answer. Optional are ``nodes``, the number of nodes of
    each level; ``words``, the word budget; ``headings``, the first lines of the sections that a first search found;
    ``label``, the plan of the pseudo-label (default: the first of the answers); and ``traces``, the texts that expert
    models wrote before the label (default: templates). ``pychunk train traces`` writes such a file.

    Args:
        path: The file.
        tokenizer: The tokenizer of the policy.
        prompt: A function that turns a system message and a message of the user into tokens.
        hard_from: The number of levels in a plan from which a question counts as hard.

    Raises:
        ValueError: A line is not an object, lacks a field, has no answers, or has one that is not a plan. The message
            names the line.
    """

    def __init__(self, path: Path, tokenizer: Any, prompt: Callable[[str, str], Tokens], hard_from: int = 3) -> None:
        self.tokenizer = tokenizer
        self.end = (int(tokenizer.eos_token_id),)
        rows = [_read(line, f"{path}, line {i}") for i, line in _lines(path)]
        if len(rows) < 10:
            raise ValueError(f"{path} has {len(rows)} questions; it needs at least 10, because a tenth is held out")
        system = plan_prompt.system().system
        questions = [
            Question(
                prompt(system, plan_prompt.user(row.question, row.metadata)),
                _searched(row.label, row.metadata) >= hard_from,
                row,
            )
            for row in rows
        ]
        self.kept, self.learned = questions[::10], [each for i, each in enumerate(questions) if i % 10]

    def draw(self, count: int, seed: int, step: int) -> list[Question]:
        """Draw questions at random; a question is repeated only if there are too few."""
        random = np.random.default_rng([seed, step])
        chosen = random.choice(len(self.learned), count, replace=count > len(self.learned))
        return [self.learned[i] for i in chosen]

    def held_out(self, count: int) -> list[Question]:
        """Return at most ``count`` held-out questions of each half."""
        halves = ([each for each in self.kept if each.hard == hard] for hard in (False, True))
        return [each for half in halves for each in half[:count]]

    def traces(self, question: Question) -> Sequence[Sequence[Tokens]]:
        """Return the traces of the line's experts, sentence by sentence, with the plan after the last one."""
        row: Row = question.about
        plan = json.dumps(dict(zip(("low", "high"), row.label, strict=True)))
        texts = row.traces or templates(row.label)
        return [[*map(self._tokens, _sentences(text)), self._tokens(plan) + self.end] for text in texts]

    def _tokens(self, text: str) -> Tokens:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def judge(self, question: Question, trace: Tokens) -> Outcome:
        """Judge a plan.

        It can be parsed if the answer ends, and if its first JSON object names two levels, the finer first.
        """
        row: Row = question.about
        plan: Plan | None = None
        if trace[-1:] == self.end:
            try:
                plan = plan_prompt.read(self.tokenizer.decode(trace, skip_special_tokens=True), row.metadata)[:2]
            except ValueError:
                plan = None
        return Outcome(
            correct=plan in row.answers,
            aligned=plan == row.label,
            formatted=plan is not None,
            searches=_searched(plan, row.metadata) if plan else 0,
            tokens=len(trace),
        )


def templates(plan: Plan) -> tuple[str, ...]:
    """Return texts that experts might write before a plan, for lines without traces of models.

    Example:
        >>> templates(("sentence", "section"))[0]
        'A sentence can hold the answer. What surrounds it up to a section helps to tell. More would only add noise.'
    """
    low, high = plan
    return (
        f"A {low} can hold the answer. What surrounds it up to a {high} helps to tell. More would only add noise.",
        f"Less than a {low} would leave the question open. A {high} is as much as it asks for.",
        f"The question is about what one {low} says. To understand it takes a {high}. So the search ends there.",
    )


def _lines(path: Path) -> list[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    return [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]


def _read(line: str, where: str) -> Row:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{where} must be an object with question, levels and answers; got {found!r:.80}")
    question, levels, given = (found.get(name) for name in ("question", "levels", "answers"))
    if not isinstance(question, str):
        raise ValueError(f"{where} must have a text in 'question'; got {question!r:.80}")
    if not isinstance(levels, list) or not levels or not all(isinstance(each, str) for each in levels):
        raise ValueError(
            f"{where}: levels must be the names of the index's levels from fine to coarse; got {levels!r:.80}"
        )
    if not isinstance(given, list) or not given:
        raise ValueError(
            f"{where}: answers must be a list of plans such as ['sentence', 'section'] with which a search finds the "
            f"answer; got {given!r:.80}"
        )
    answers = [_plan(each, levels) for each in given]
    label = _plan(found.get("label", given[0]), levels)
    if label is None or None in answers:
        wrong = next((own for own, plan in zip(given, answers, strict=True) if plan is None), found.get("label"))
        raise ValueError(f"{where}: a plan must be a pair of {', '.join(levels)}, the finer first; got {wrong!r:.80}")
    traces = found.get("traces", [])
    if not isinstance(traces, list) or not all(isinstance(each, str) and each.strip() for each in traces):
        raise ValueError(f"{where}: traces must be a list of texts that are not blank; got {traces!r:.80}")
    return Row(question, _metadata(found, where), tuple(each for each in answers if each), label, tuple(traces))


def _metadata(found: dict[str, Any], where: str) -> Metadata:
    levels, nodes, words, headings = (found.get(name) for name in ("levels", "nodes", "words", "headings"))
    assert isinstance(levels, list)
    whole = nodes is None or (isinstance(nodes, list) and len(nodes) == len(levels) and _counts(nodes))
    if not whole or not (words is None or _counts([words])):
        raise ValueError(
            f"{where}: nodes must be a number for each level, and words a number; got {nodes!r:.80}, {words!r:.80}"
        )
    if headings is not None and not (isinstance(headings, list) and all(isinstance(each, str) for each in headings)):
        raise ValueError(f"{where}: headings must be a list of texts; got {headings!r:.80}")
    return Metadata(tuple(levels), tuple(nodes or ()), words, headings=tuple(headings or ()))


def _counts(values: list[Any]) -> bool:
    return all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in values)


def _plan(given: Any, levels: Sequence[str]) -> Plan | None:
    if not isinstance(given, (list, tuple)) or len(given) != 2 or not all(each in levels for each in given):
        return None
    low, high = given
    return (low, high) if levels.index(low) <= levels.index(high) else None


def _searched(plan: Plan, metadata: Metadata) -> int:
    return metadata.levels.index(plan[1]) - metadata.levels.index(plan[0]) + 1


def _sentences(text: str) -> list[str]:
    from ...api import split_sentences

    (spans,) = split_sentences([text])
    return [text[start:end].strip() + " " for start, end in spans]
