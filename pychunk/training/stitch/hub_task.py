"""Questions about documents, from JSON lines, for a language model that plans."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...llm.lenient_parser import json_in
from .tasks import Outcome, Question, Tokens

LEVELS = ("sentence", "paragraph", "subsection", "section", "document")
SYSTEM = f"""You choose where to search in a document. Its levels, from fine to coarse: {", ".join(LEVELS)}.
Say in a few short sentences how much text an answer to the question needs. Then write, as JSON, the finest and the
coarsest level worth searching: {{"low": "...", "high": "..."}}"""
#: The number of tokens of a document that the model sees.
SHOWN = 1000

Plan = tuple[str, str]


class Row(NamedTuple):
    """A line of the dataset: plans that answer the question, the pseudo-label, and the texts of experts."""

    answers: tuple[Plan, ...]
    label: Plan
    traces: tuple[str, ...]


class HubTask:
    """A task with the questions in a file of JSON lines, a tenth of them held out.

    A line has ``question``, ``document`` and ``answers``, which lists the plans ``[low, high]`` with which a search
    found the right answer. Optional are ``label``, the plan of the pseudo-label (default: the first of the answers),
    and ``traces``, the texts that expert models wrote before the first of the answers (default: templates).

    Args:
        path: The file.
        tokenizer: The tokenizer of the policy, with a chat template.
        hard_from: The number of levels in a plan from which a question counts as hard.

    Raises:
        ValueError: A line is not an object, lacks a field, has no answers, or has one that is not a plan. The message
            names the line.
    """

    def __init__(self, path: Path, tokenizer: Any, hard_from: int = 3) -> None:
        self.tokenizer = tokenizer
        self.end = (int(tokenizer.eos_token_id),)
        rows = [_read(line, f"{path}, line {i}") for i, line in _lines(path)]
        if len(rows) < 10:
            raise ValueError(f"{path} has {len(rows)} questions; it needs at least 10, because a tenth is held out")
        questions = [
            Question(self.prompt(given["question"], given["document"]), _searched(row.answers[0]) >= hard_from, row)
            for given, row in rows
        ]
        self.kept, self.learned = questions[::10], [each for i, each in enumerate(questions) if i % 10]

    def prompt(self, question: str, document: str) -> Tokens:
        """Return the tokens of the chat template with the beginning of the document and the question."""
        shown = self.tokenizer.decode(self.tokenizer(document, add_special_tokens=False)["input_ids"][:SHOWN])
        chat = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"Document:\n{shown}\n\nQuestion: {question}"},
        ]
        text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

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
        plan = json.dumps(dict(zip(("low", "high"), row.answers[0], strict=True)))
        texts = row.traces or templates(row.answers[0])
        return [[*map(self._tokens, _sentences(text)), self._tokens(plan) + self.end] for text in texts]

    def _tokens(self, text: str) -> Tokens:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def judge(self, question: Question, trace: Tokens) -> Outcome:
        """Judge a plan.

        It can be parsed if the answer ends, and if its first JSON object names two levels, the finer first.
        """
        found = json_in(self.tokenizer.decode(trace, skip_special_tokens=True)) if trace[-1:] == self.end else None
        plan = _plan((found.get("low"), found.get("high"))) if isinstance(found, dict) else None
        row: Row = question.about
        return Outcome(
            correct=plan in row.answers,
            aligned=plan == row.label,
            formatted=plan is not None,
            searches=_searched(plan) if plan else 0,
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


def _read(line: str, where: str) -> tuple[dict[str, str], Row]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{where} must be an object with question, document and answers; got {found!r:.80}")
    for field in ("question", "document"):
        if not isinstance(found.get(field), str):
            raise ValueError(f"{where} must have a text in {field!r}; got {found.get(field)!r:.80}")
    given = found.get("answers")
    if not isinstance(given, list) or not given:
        raise ValueError(
            f"{where}: answers must be a list of plans such as ['sentence', 'section'] with which a search finds the "
            f"answer; got {given!r:.80}"
        )
    answers = [_plan(each) for each in given]
    label = _plan(found.get("label", given[0]))
    if label is None or None in answers:
        wrong = next((own for own, plan in zip(given, answers, strict=True) if plan is None), found.get("label"))
        raise ValueError(f"{where}: a plan must be a pair of {', '.join(LEVELS)}, the finer first; got {wrong!r:.80}")
    traces = found.get("traces", [])
    if not isinstance(traces, list) or not all(isinstance(each, str) and each.strip() for each in traces):
        raise ValueError(f"{where}: traces must be a list of texts that are not blank; got {traces!r:.80}")
    return found, Row(tuple(each for each in answers if each), label, tuple(traces))


def _plan(given: Any) -> Plan | None:
    if not isinstance(given, (list, tuple)) or len(given) != 2 or not all(each in LEVELS for each in given):
        return None
    low, high = given
    return (low, high) if LEVELS.index(low) <= LEVELS.index(high) else None


def _searched(plan: Plan) -> int:
    return LEVELS.index(plan[1]) - LEVELS.index(plan[0]) + 1


def _sentences(text: str) -> list[str]:
    from ...api import split_sentences

    (spans,) = split_sentences([text])
    return [text[start:end].strip() + " " for start, end in spans]
