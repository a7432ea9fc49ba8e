"""Answers of an LLM to questions, from numbered sources. After an unusable answer, the LLM is asked once more."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import NamedTuple

from .client import LLM
from .default_client import DefaultClient
from .json_schemas import TEXT, WHOLE, list_of, object_of
from .lenient_parser import json_in, numbers_of
from .messages import Request, Response
from .plain_text import plain
from .prompts import load
from .repair import AnswerError, once_more, read_or_fault

#: The letters of the options: a question can have at most 26.
LETTERS = string.ascii_uppercase
#: The longest answer, in characters and in tokens.
LONGEST, _TOKENS = 2000, 512
_SCHEMAS = {
    "answer": object_of(answer=TEXT, sources=list_of(WHOLE)),
    "choice": object_of(option=TEXT, sources=list_of(WHOLE)),
}
#: The letter of an option in its usual forms, as in "(C)", "C." or "Option C: ...".
_LETTER = re.compile(
    r"(?:(?:option|answer)\s*:?\s*)?[(\[]?([A-Za-z])[)\].:]?(?:\s.*)?", re.IGNORECASE | re.DOTALL | re.ASCII
)


class CitedQuestion(NamedTuple):
    """A question, the texts of its sources, numbered from 1, and its options if it has any."""

    question: str
    lines: Sequence[str]
    options: Sequence[str] | None = None


class CitedAnswer(NamedTuple):
    """The answer to a question.

    Attributes:
        text: The text of the answer, "" if the sources do not say or no answer was usable.
        option: The index of the chosen option from 0, or None.
        sources: The distinct numbers of the sources that the answer cites.
        fault: The reason why the text or the sources are missing, else "".
    """

    text: str = ""
    option: int | None = None
    sources: tuple[int, ...] = ()
    fault: str = ""


class Answerer(DefaultClient):
    """A function that asks an LLM questions with their sources, with one call for each question.

    The answer is text or one of the options. If an answer is unusable or cites no existing source, the question is
    asked once more with the fault named.

    Args:
        llm: The client, or None for the one that the environment names (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).

    Example:
        >>> ask = Answerer(LLM("http://127.0.0.1:8099/v1", "test", dry_run=True, cache=False))
        >>> ask([CitedQuestion("Why do cats purr?", ["(cats.txt) They are content."])])[0].fault
        'dry run'
    """

    def __init__(self, llm: LLM | None = None) -> None:
        super().__init__(llm)

    @property
    def facts(self) -> dict[str, object]:
        """The model, parameters and prompts on which answers depend in addition to questions and sources."""
        return {**self.llm.facts, "prompts": [load(name).version for name in _SCHEMAS]}

    def __call__(self, questions: Sequence[CitedQuestion]) -> list[CitedAnswer]:
        """Return the answer to each question.

        Raises:
            LLMError: The endpoint is missing, the key is wrong, or a limit is reached. See :meth:`LLM.ask_many`.
        """
        replies = self.replies([self._ask(each) for each in questions])
        found = [_read(reply, each) for reply, each in zip(replies, questions, strict=True)]
        again = [
            place
            for place, (reply, said) in enumerate(zip(replies, found, strict=True))
            if said.fault and not reply.error and not self.llm.dry_run
        ]
        asks = [self._ask(questions[place], found[place].fault) for place in again]
        for place, reply in zip(again, self.replies(asks) if asks else [], strict=True):
            second = _read(reply, questions[place])
            if second.text or not found[place].text:  # an answer without sources is better than none
                found[place] = second
        return found

    def _ask(self, asked: CitedQuestion, fault: str = "") -> Request:
        name = "answer" if asked.options is None else "choice"
        prompt = load(name)
        lines = [f"[{number}] {' '.join(text.split())}" for number, text in enumerate(asked.lines, 1)]
        options = [f"{LETTERS[place]}) {' '.join(text.split())}" for place, text in enumerate(asked.options or ())]
        return Request(
            "\n".join(
                [f"{once_more(fault)}Sources:", *lines, "", f"Question: {' '.join(asked.question.split())}", *options]
            ),
            prompt.system,
            stage="answer",
            version=prompt.version,
            schema=_SCHEMAS[name],
            max_tokens=_TOKENS,
        )


def _read(reply: Response, asked: CitedQuestion) -> CitedAnswer:
    found = read_or_fault(reply, lambda text: read(text, len(asked.lines), asked.options))
    return CitedAnswer(fault=found) if isinstance(found, str) else found


def read(text: str, count: int, options: Sequence[str] | None = None) -> CitedAnswer:
    """Return the content of an answer to a question with ``count`` sources, and with options if there are any.

    Raises:
        AnswerError: The answer cannot be read, or is none of the options.

    Example:
        >>> read('{"answer": "They are content.", "sources": [2, "1", 9, 2]}', 3)
        CitedAnswer(text='They are content.', option=None, sources=(2, 1), fault='')
        >>> read('{"option": "b)", "sources": [1]}', 1, ["by day", "by night"])
        CitedAnswer(text='by night', option=1, sources=(1,), fault='')
    """
    key = "answer" if options is None else "option"
    found = json_in(text)
    value = found.get(key) if isinstance(found, dict) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not isinstance(found, dict):
        raise AnswerError(f'the answer held no JSON with a text "{key}" and a list "sources"')
    named = numbers_of(found.get("sources")) or []
    sources = tuple(number for number in dict.fromkeys(named) if 1 <= number <= count)
    option = None if options is None else option_of(value, options)
    said = plain(value, LONGEST) if options is None else options[option] if option is not None else ""
    if said and not sources:
        return CitedAnswer(said, option, (), f"the answer cited no source from 1 to {count}")
    return CitedAnswer(said, option, sources if said else (), "")


def option_of(value: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that a value names by letter or by text, or None for an empty value.

    Raises:
        AnswerError: The value names no option.

    Example:
        >>> [option_of(each, ["by day", "a night"]) for each in ("(B)", "By  Day", "A night", "")]
        [1, 0, 1, None]
    """
    bare = " ".join(value.split()).strip("\"'")
    if not bare:
        return None
    texts = [" ".join(each.split()).casefold() for each in options]
    if bare.casefold() in texts:
        return texts.index(bare.casefold())
    found = _LETTER.fullmatch(bare)
    place = LETTERS.index(found[1].upper()) if found else len(options)
    rest = bare[found.end(1) :].strip(" ).:]") if found else ""
    if place < len(options) and (not rest or rest.casefold() == texts[place]):
        return place
    raise AnswerError(f"{bare[:60]!r} is not a letter from {LETTERS[0]} to {LETTERS[len(options) - 1]}")
