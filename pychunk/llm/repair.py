"""The functions that read answers about numbered units. No other module repairs or refuses such answers.

A unit is a numbered text in a request, such as a sentence. The functions read an answer leniently, clip numbers to the
existing units, and sort ranges. If ranges overlap, the first range keeps the units that they share. If an answer is
refused, the caller asks once more with the fault named. If that answer is refused, too, the caller continues without an
LLM. No unit is lost: units that the answer does not mention become chunks of their own. Only units that the answer
names as noise and puts into no chunk are removed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .json_schemas import TEXT, WHOLE, list_of, object_of
from .lenient_parser import json_in, number_of, numbers_of, ranges_of
from .messages import Response
from .plain_text import plain

T = TypeVar("T")

#: The longest proposition, in characters. A longer one is truncated.
LONGEST = 400


class AnswerError(ValueError):
    """The reason why an answer is unusable, in words that the second request repeats to the model."""


def once_more(fault: str) -> str:
    """Return the beginning of a second request, which names the fault of the first answer, or "" without a fault.

    >>> once_more("the answer was empty")[:49], once_more("")
    ('Your last answer was refused: the answer was empt', '')
    """
    return f"Your last answer was refused: {fault}. Answer again, in the form that was asked for.\n\n" if fault else ""


def read_or_fault(reply: Response, read: Callable[[str], T]) -> T | str:
    """Return the result of ``read`` on an answer, or a text with the reason why the answer is unusable.

    >>> read_or_fault(Response('{"first": 3}'), lambda text: turn(text, 2))
    '3 is neither a unit from 2 to 2 nor 0'
    """
    if reply.fault:
        return reply.fault
    try:
        return read(reply.text)
    except AnswerError as fault:
        return str(fault)


class Groups(NamedTuple):
    """The decisions about n units, with one bool for each unit in each list.

    Attributes:
        begins: Whether each unit begins a chunk.
        noise: Whether each unit is noise.
    """

    begins: list[bool]
    noise: list[bool]


class Propositions(NamedTuple):
    """The propositions about n units: for each unit, a list of texts."""

    said: list[list[str]]


def ranges(text: str, count: int) -> Groups:
    """Read an answer with the ranges of chunks and noise, in numbers from 1.

    Raises:
        AnswerError: The answer cannot be read, names no existing unit, or leaves out more than half of the units.

    Example:
        >>> ranges('{"chunks": [[1, 2], [2, 3]], "noise": [[4, 9]]}', 5)
        Groups(begins=[True, False, True, True, False], noise=[False, False, False, True, True])
    """
    found = json_in(text)
    value = found if isinstance(found, dict) else {"chunks": found}
    chunks, noise = ranges_of(value.get("chunks")), ranges_of(value.get("noise")) or []
    if chunks is None:
        raise AnswerError('the answer held no JSON with a list "chunks"')
    known = sorted(_clipped(chunks, count), key=lambda each: each[0])
    left_out = sorted(_clipped(noise, count))
    if not known and not left_out:
        raise AnswerError(f"the answer named no unit from 1 to {count}")
    owner = [-1] * count
    for number, (first, last) in enumerate(known):
        for unit in range(first, last + 1):
            if owner[unit] < 0:
                owner[unit] = number
    out = [False] * count
    for first, last in left_out:
        for unit in range(first, last + 1):
            out[unit] = owner[unit] < 0
    unsaid = [unit for unit in range(count) if owner[unit] < 0 and not out[unit]]
    if 2 * len(unsaid) > count:
        raise AnswerError(f"the answer left out {len(unsaid)} of {count} units, such as {unsaid[0] + 1}")
    state = [-2 if out[unit] else owner[unit] for unit in range(count)]
    return Groups([unit == 0 or state[unit] != state[unit - 1] for unit in range(count)], out)


def splits(text: str, count: int) -> Groups:
    """Read an answer with the units after which a chunk ends.

    Raises:
        AnswerError: The answer cannot be read, or names only units that do not exist.

    Example:
        >>> splits('{"split_after": [3, 1, 3, 4, 70]}', 4).begins
        [True, True, False, True]
    """
    found = json_in(text)
    value = numbers_of(found.get("split_after") if isinstance(found, dict) else found)
    if value is None:
        raise AnswerError('the answer held no JSON with a list "split_after" of numbers')
    known = {number for number in value if 1 <= number <= count}
    if value and not known:
        raise AnswerError(f"the answer named no unit from 1 to {count}")
    return Groups([unit == 0 or unit in known for unit in range(count)], [False] * count)


def turn(text: str, count: int) -> Groups:
    """Read an answer with the number of the one unit at which the content changes, or 0 for no unit.

    Raises:
        AnswerError: The answer cannot be read, or is neither 0 nor the number of a unit after the first.

    Example:
        >>> turn('{"first": 3}', 4).begins, turn("0", 2).begins
        ([True, False, True, False], [True, False])
    """
    found = json_in(text)
    value = number_of(found.get("first") if isinstance(found, dict) else text.strip())
    if value is None:
        raise AnswerError('the answer held no JSON with a number "first"')
    if value == 1 or not 0 <= value <= count:
        raise AnswerError(f"{value} is neither a unit from 2 to {count} nor 0")
    return Groups([unit in (0, value - 1) if value else unit == 0 for unit in range(count)], [False] * count)


def order(text: str, count: int) -> list[int]:
    """Read an answer with numbers in a new order. Return the indices from 0 in that order, unnamed ones last.

    Raises:
        AnswerError: The answer cannot be read, or names no existing number.

    Example:
        >>> order('{"order": [3, 9, 3, 1]}', 4)
        [2, 0, 1, 3]
    """
    found = json_in(text)
    value = numbers_of(found.get("order") if isinstance(found, dict) else found)
    known = [] if value is None else [number - 1 for number in dict.fromkeys(value) if 1 <= number <= count]
    if not known:
        raise AnswerError(f'the answer held no JSON with a list "order" of numbers from 1 to {count}')
    named = set(known)
    return [*known, *(place for place in range(count) if place not in named)]


def texts(text: str, name: str, characters: int) -> list[str]:
    """Read an answer with a list of texts. Return the distinct ones, each cut to ``characters`` of plain text.

    Raises:
        AnswerError: The answer cannot be read, or holds no text.

    Example:
        >>> texts('["Cats  purr", "cats purr", 3, ""]', "queries", 9)
        ['Cats purr']
    """
    found = json_in(text)
    value = found.get(name) if isinstance(found, dict) else found
    listed = [plain(each, characters) for each in value if isinstance(each, str)] if isinstance(value, list) else []
    known = {each.casefold(): each for each in reversed(listed) if each}
    if not known:
        raise AnswerError(f'the answer held no JSON with a list "{name}" of texts')
    return list(dict.fromkeys(known[each.casefold()] for each in listed if each))


def propositions(text: str, count: int) -> Propositions:
    """Read an answer with propositions and the numbers of their units. Return each unit's distinct propositions.

    An empty list is a valid answer, which means that the units state nothing. The function skips texts that name no
    existing unit.

    Raises:
        AnswerError: The answer cannot be read, or none of its texts names an existing unit.

    Example:
        >>> propositions('{"propositions": [{"text": "Cats  purr.", "units": [1, 9]}, {"text": "So", "units": 7}]}', 2)
        Propositions(said=[['Cats purr.'], []])
    """
    found = json_in(text)
    value = found.get("propositions") if isinstance(found, dict) else found
    if not isinstance(value, list):
        raise AnswerError('the answer held no JSON with a list "propositions"')
    said: list[dict[str, None]] = [{} for _ in range(count)]
    for each in value:
        if not isinstance(each, dict) or not isinstance(each.get("text"), str):
            continue
        one, units = plain(each["text"], LONGEST), each.get("units")
        for first, last in _clipped(ranges_of(units if isinstance(units, (list, str)) else [units]) or [], count):
            for unit in range(first, last + 1):
                if one:
                    said[unit].setdefault(one)
    if value and not any(said):
        raise AnswerError(f'none of its texts has "units" from 1 to {count}')
    return Propositions([list(own) for own in said])


def _clipped(pairs: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """Return ranges of existing units, counted from 0, from ranges counted from 1, which may be reversed."""
    turned = [(min(pair), max(pair)) for pair in pairs]
    return [(max(first, 1) - 1, min(last, count) - 1) for first, last in turned if first <= count and last >= 1]


class Form(NamedTuple):
    """The form of a task's answer: its JSON schema, the function that reads it, and its length limit.

    The limit in tokens is 64, plus ``tokens`` for each unit, plus ``again`` for each token of the units' text.
    ``again`` is above 0 if an answer repeats this text.
    """

    schema: dict[str, Any]
    read: Callable[[str, int], Groups] | Callable[[str, int], Propositions]
    tokens: int
    again: int = 0


FORMS = {
    "autochunker": Form(object_of(chunks=list_of(list_of(WHOLE)), noise=list_of(list_of(WHOLE))), ranges, 12),
    "llm_semantic": Form(object_of(split_after=list_of(WHOLE)), splits, 4),
    "lumber": Form(object_of(first=WHOLE), turn, 0),
    "proposition": Form(
        object_of(propositions=list_of(object_of(text=TEXT, units=list_of(WHOLE)))), propositions, 32, 3
    ),
}
