"""What is made of an answer about numbered units: the only place where answers are repaired or refused.

In this order: read leniently, clip to the units there are, order, resolve overlaps by the first. Who asked then asks
once more with the fault named, and after that does without a model. No unit is lost: what nothing was said of is kept,
in chunks of its own, and only what was named as noise, and in no chunk, is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .json_schemas import TEXT, WHOLE, list_of, object_of
from .lenient_parser import json_in, number_of, numbers_of, ranges_of
from .messages import Response
from .plain_text import plain

T = TypeVar("T")

#: Longest proposition, in characters; a longer one is cut.
LONGEST = 400


class AnswerError(ValueError):
    """Why an answer is of no use, in words that a model is told."""


def once_more(fault: str) -> str:
    """What a question begins with that is asked once more; "" where nothing was wrong.

    >>> once_more("the answer was empty")[:49], once_more("")
    ('Your last answer was refused: the answer was empt', '')
    """
    return f"Your last answer was refused: {fault}. Answer again, in the form that was asked for.\n\n" if fault else ""


def read_or_fault(reply: Response, read: Callable[[str], T]) -> T | str:
    """What ``read`` finds in an answer; a text is why it is of no use, in words that a model is told.

    >>> read_or_fault(Response('{"first": 3}'), lambda text: turn(text, 2))
    '3 is no unit from 2 to 2, and not 0'
    """
    if reply.fault:
        return reply.fault
    try:
        return read(reply.text)
    except AnswerError as fault:
        return str(fault)


class Groups(NamedTuple):
    """What was decided of the units 0 to n - 1: ``begins`` a new chunk, is ``noise``; one bool each."""

    begins: list[bool]
    noise: list[bool]


class Propositions(NamedTuple):
    """What was said of the units 0 to n - 1: of each a list of texts."""

    said: list[list[str]]


def ranges(text: str, count: int) -> Groups:
    """Of an answer of ranges of chunks and of noise, numbers from 1.

    Raises:
        AnswerError: it cannot be read, names no unit that there is, or says nothing of more than half of them.

    Example:
        >>> ranges('{"chunks": [[1, 2], [2, 3]], "noise": [[4, 9]]}', 5)
        Groups(begins=[True, False, True, True, False], noise=[False, False, False, True, True])
    """
    found = json_in(text)
    value = found if isinstance(found, dict) else {"chunks": found}
    chunks, noise = ranges_of(value.get("chunks")), ranges_of(value.get("noise")) or []
    if chunks is None:
        raise AnswerError('it held no JSON with a list "chunks"')
    known = sorted(_clipped(chunks, count), key=lambda each: each[0])
    left_out = sorted(_clipped(noise, count))
    if not known and not left_out:
        raise AnswerError(f"it named no unit from 1 to {count}")
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
        raise AnswerError(f"it said nothing of {len(unsaid)} of {count} units, such as {unsaid[0] + 1}")
    state = [-2 if out[unit] else owner[unit] for unit in range(count)]
    return Groups([unit == 0 or state[unit] != state[unit - 1] for unit in range(count)], out)


def splits(text: str, count: int) -> Groups:
    """Of an answer of the units after which a chunk ends.

    Raises:
        AnswerError: it cannot be read, or names none but units that there are not.

    Example:
        >>> splits('{"split_after": [3, 1, 3, 4, 70]}', 4).begins
        [True, True, False, True]
    """
    found = json_in(text)
    value = numbers_of(found.get("split_after") if isinstance(found, dict) else found)
    if value is None:
        raise AnswerError('it held no JSON with a list "split_after" of numbers')
    known = {number for number in value if 1 <= number <= count}
    if value and not known:
        raise AnswerError(f"it named no unit from 1 to {count}")
    return Groups([unit == 0 or unit in known for unit in range(count)], [False] * count)


def turn(text: str, count: int) -> Groups:
    """Of an answer of the one unit at which the content turns; 0: at none.

    Raises:
        AnswerError: it cannot be read, or is no unit after the first.

    Example:
        >>> turn('{"first": 3}', 4).begins, turn("0", 2).begins
        ([True, False, True, False], [True, False])
    """
    found = json_in(text)
    value = number_of(found.get("first") if isinstance(found, dict) else text.strip())
    if value is None:
        raise AnswerError('it held no JSON with a number "first"')
    if value == 1 or not 0 <= value <= count:
        raise AnswerError(f"{value} is no unit from 2 to {count}, and not 0")
    return Groups([unit in (0, value - 1) if value else unit == 0 for unit in range(count)], [False] * count)


def order(text: str, count: int) -> list[int]:
    """Of an answer of numbers in a new order: places from 0, each once; those that it does not name come last.

    Raises:
        AnswerError: it cannot be read, or names none that there is.

    Example:
        >>> order('{"order": [3, 9, 3, 1]}', 4)
        [2, 0, 1, 3]
    """
    found = json_in(text)
    value = numbers_of(found.get("order") if isinstance(found, dict) else found)
    known = [] if value is None else [number - 1 for number in dict.fromkeys(value) if 1 <= number <= count]
    if not known:
        raise AnswerError(f'it held no JSON with a list "order" of numbers from 1 to {count}')
    named = set(known)
    return [*known, *(place for place in range(count) if place not in named)]


def texts(text: str, name: str, characters: int) -> list[str]:
    """Of an answer with a list of texts: each as plain text of at most so many characters, each once.

    Raises:
        AnswerError: it cannot be read, or holds none.

    Example:
        >>> texts('["Cats  purr", "cats purr", 3, ""]', "queries", 9)
        ['Cats purr']
    """
    found = json_in(text)
    value = found.get(name) if isinstance(found, dict) else found
    listed = [plain(each, characters) for each in value if isinstance(each, str)] if isinstance(value, list) else []
    known = {each.casefold(): each for each in reversed(listed) if each}
    if not known:
        raise AnswerError(f'it held no JSON with a list "{name}" of texts')
    return list(dict.fromkeys(known[each.casefold()] for each in listed if each))


def propositions(text: str, count: int) -> Propositions:
    """Of an answer of texts with the numbers of the units that each comes from; each text once a unit.

    An empty list is an answer: nothing is stated. What names no unit that there is is left out.

    Raises:
        AnswerError: it cannot be read, or no text of it names a unit that there is.

    Example:
        >>> propositions('{"propositions": [{"text": "Cats  purr.", "units": [1, 9]}, {"text": "So", "units": 7}]}', 2)
        Propositions(said=[['Cats purr.'], []])
    """
    found = json_in(text)
    value = found.get("propositions") if isinstance(found, dict) else found
    if not isinstance(value, list):
        raise AnswerError('it held no JSON with a list "propositions"')
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
    """Those that name units there are, from 0, without those that there are not; backwards ones turned around."""
    turned = [(min(pair), max(pair)) for pair in pairs]
    return [(max(first, 1) - 1, min(last, count) - 1) for first, last in turned if first <= count and last >= 1]


class Form(NamedTuple):
    """The form of a task's answer: its JSON schema, how it is read, and its longest length.

    That is in tokens a unit, and where an answer repeats what is shown, so many for each token of it.
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
