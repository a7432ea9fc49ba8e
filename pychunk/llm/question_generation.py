"""The generation of questions about chunks by an LLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .client import LLM
from .json_schemas import TEXT, list_of, object_of
from .lenient_parser import json_in
from .messages import Request
from .prompts import load
from .repair import AnswerError, once_more, read_or_fault
from .verdicts import shown

#: The longest question, in characters. A longer question in an answer is ignored.
LONGEST = 400
_SCHEMA = object_of(questions=list_of(TEXT))


class Questions(NamedTuple):
    """The questions about some chunks.

    Attributes:
        texts: The questions.
        rows: The index of the chunk that each question is about.
        faults: (index, reason) for each chunk whose answers were unusable.
    """

    texts: list[str]
    rows: list[int]
    faults: list[tuple[int, str]]


def make_questions(llm: LLM, texts: Sequence[str], *, each: int = 1, language: str = "en") -> Questions:
    """Return for each text at most ``each`` questions that the text answers.

    There is one call for each text. After an unusable answer, the LLM is asked once more with the fault named.

    Raises:
        LLMError: The endpoint is missing, the key is wrong, or a limit is reached. See :meth:`LLM.ask_many`.

    Example:
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> make_questions(llm, ["Cats purr."]).texts, llm.account.total.calls
        ([], 1)
    """
    if isinstance(each, bool) or not isinstance(each, int) or each < 1:
        raise ValueError(f"each must be a whole number of at least 1; got {each!r:.80}")
    prompt = load("judge_questions", language)

    def ask(text: str, fault: str = "") -> Request:
        user = f"{once_more(fault)}Number: {each}\n\nChunk: {shown(text)}"
        longest = 32 + 64 * each
        return Request(
            user, prompt.system, stage="questions", version=prompt.version, schema=_SCHEMA, max_tokens=longest
        )

    def found_in(text: str) -> list[str]:
        return read(text, each)

    found = [read_or_fault(reply, found_in) for reply in llm.stream(map(ask, texts))]
    left = [row for row, own in enumerate(found) if isinstance(own, str) and not llm.dry_run]
    second = llm.stream(ask(texts[row], str(found[row])) for row in left)
    for row, reply in zip(left, second, strict=True):
        found[row] = read_or_fault(reply, found_in)
    made = [(text, row) for row, own in enumerate(found) if not isinstance(own, str) for text in own]
    faults = [(row, own) for row, own in enumerate(found) if isinstance(own, str)]
    return Questions([text for text, _ in made], [row for _, row in made], faults)


def read(text: str, each: int) -> list[str]:
    """Return the first ``each`` distinct questions of an answer, each on one line.

    The list is empty if the list in the answer is empty.

    Raises:
        AnswerError: The answer holds no JSON with a list of questions, or the list has items but no question.

    Example:
        >>> read('{"questions": ["Why do cats purr?", 7, " why do cats  purr?", "When?"]}', 2)
        ['Why do cats purr?', 'When?']
    """
    found = json_in(text)
    given = found.get("questions") if isinstance(found, dict) else found
    if not isinstance(given, list):
        raise AnswerError('the answer held no JSON with a list "questions"')
    kept: dict[str, str] = {}
    for one in given:
        line = " ".join(one.split()) if isinstance(one, str) else ""
        line = line.encode("utf-8", "replace").decode()  # JSON may hold the escape of a lone surrogate
        if 0 < len(line) <= LONGEST:
            kept.setdefault(line.casefold(), line)
    if given and not kept:
        raise AnswerError(f"the answer held no question of at most {LONGEST} characters")
    return list(kept.values())[:each]
