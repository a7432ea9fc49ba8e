"""A synthetic planning task whose best policy is known.

A question takes one hop or eight. Its first word tells, by a lexicon to be learned, at which of five levels the first
hop finds its evidence. Further words tell the levels of the further hops, by a lexicon of their own. A plan searches
one level for each hop, in order, and answers the question only if all are right. Nothing in a prompt names a level, and
a partly right plan earns nothing.

Eight hops are the hard half. Untrained weights write every word with the same probability, and three of the ten words
change nothing. A plan of one hop (level, stop, end) is therefore right once in 7 ** 3 = 343 times. A plan of eight hops
has 17 words and is right once in 7 ** 17 = 2e14 times, so rollouts alone see no reward for it. Even a policy that
writes only plans of eight searches is right once in 5 ** 8 = 390,625 times. After a hint of seven sentences, a plan is
right once in 343 times again. The best policy writes the plan and nothing else. Its reward under the default settings
is 1.09 for one hop, 1.02 for eight, and 1.055 on average.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .tasks import Outcome, Question, Tokens

LEVELS = ("sentence", "paragraph", "subsection", "section", "document")
#: Words that experts write before a level; they change only the length.
VERBS = ("search", "read", "open")
STOP, END = ".", "<end>"
#: The words of plans, which are the only words that the model can write.
WRITTEN = (*LEVELS, *VERBS, STOP, END)
FIRST = ("who", "when", "where", "which", "how", "why", "compare", "summarise", "list", "define")
NEXT = ("there", "within", "around", "across", "beyond")
ASK, PLAN = "<ask>", "<plan>"
#: All words; their positions in this list are their ids.
VOCABULARY = (*WRITTEN, *FIRST, *NEXT, ASK, PLAN)
ID = {word: i for i, word in enumerate(VOCABULARY)}
HOPS = {False: 1, True: 8}
#: The share of pseudo-labels with a wrong hop; they come from retrieval, which makes errors.
WRONG_LABELS = 0.05
#: The number of tokens of the longest prompt with its trace and rollout.
LONGEST = 2 + HOPS[True] + 3 * HOPS[True] + 1 + 64

_FIRST_LEVEL = dict(zip(FIRST, (0, 3, 1, 4, 2, 1, 3, 4, 0, 2), strict=True))
_NEXT_LEVEL = dict(zip(NEXT, (2, 0, 4, 1, 3), strict=True))
#: The seed of held-out questions; questions to learn from use the seed of the training.
_HELD_OUT = 1_000_003


class Hops(NamedTuple):
    """The level of each hop, and the levels of the pseudo-label."""

    levels: tuple[int, ...]
    label: tuple[int, ...]


class TinyTask:
    """A task with questions of one hop and of eight, half of each."""

    def draw(self, count: int, seed: int, step: int) -> list[Question]:
        """Draw questions, alternately easy and hard."""
        random = np.random.default_rng([seed, step])
        return [_question(random, hard=bool(i % 2)) for i in range(count)]

    def held_out(self, count: int) -> list[Question]:
        """Return ``count`` questions of each half.

        There are few questions of one hop, so these also occur in training.
        """
        random = np.random.default_rng(_HELD_OUT)
        return [_question(random, hard=hard) for hard in HOPS for _ in range(count)]

    def traces(self, question: Question) -> Sequence[Sequence[Tokens]]:
        """Return the traces of three experts, which differ in the word before a level."""
        return [_trace(question.about.levels, verb) for verb in VERBS]

    def judge(self, question: Question, trace: Tokens) -> Outcome:
        """Judge a plan; it can be parsed if it ends and each of its sentences names one level."""
        levels = parsed(trace)
        return Outcome(
            correct=levels == question.about.levels,
            aligned=levels == question.about.label,
            formatted=bool(levels),
            searches=len(levels),
            tokens=len(trace),
        )


def parsed(trace: Tokens) -> tuple[int, ...]:
    """Return the levels that a trace searches, () if it cannot be parsed.

    Example:
        >>> def of(text):
        ...     return parsed(tuple(ID[word] for word in text.split()))
        >>> of("search section . read sentence . <end>"), of("section . <end>"), of("search . <end>"), of("section .")
        ((3, 0), (3,), (), ())
    """
    if not trace or trace[-1] != ID[END]:
        return ()
    levels: list[int] = []
    sentence: list[int] = []
    for token in trace[:-1]:
        if token == ID[STOP]:
            if len(sentence) != 1:
                return ()
            levels += sentence
            sentence = []
        elif token < len(LEVELS):
            sentence.append(token)
    return () if sentence else tuple(levels)


def prompt_of(query: str) -> Tokens:
    """Return the prompt of a query: its first question word and the words of further hops after it.

    Raises:
        ValueError: The query has no question word of the task.

    Example:
        >>> [VOCABULARY[token] for token in prompt_of("When do cats sleep, and where within?")]
        ['<ask>', 'when', 'within', '<plan>']
    """
    words = re.findall(r"\w+", query.casefold())
    first = next((place for place, word in enumerate(words) if word in FIRST), None)
    if first is None:
        raise ValueError(f"a tiny planner knows only questions with one of the words {', '.join(FIRST)}; got {query!r}")
    hops = [word for word in words[first + 1 :] if word in NEXT][: HOPS[True] - 1]
    return tuple(ID[word] for word in (ASK, words[first], *hops, PLAN))


def plan_of(written: Tokens) -> tuple[str, str, str]:
    """Return the finest and the coarsest level that a trace searches, and the trace in words.

    Raises:
        ValueError: The trace cannot be parsed.

    Example:
        >>> plan_of(tuple(ID[word] for word in "search section . read sentence . <end>".split()))
        ('sentence', 'section', 'search section . read sentence .')
    """
    levels = parsed(written)
    said = " ".join(VOCABULARY[token] for token in written if token != ID[END])
    if not levels:
        raise ValueError(f"the tiny planner wrote no plan; got {said!r:.80}")
    return LEVELS[min(levels)], LEVELS[max(levels)], said


def _question(random: np.random.Generator, hard: bool) -> Question:
    words = [FIRST[random.integers(len(FIRST))]]
    levels = [_FIRST_LEVEL[words[0]]]
    for _ in range(HOPS[hard] - 1):
        words.append(NEXT[random.integers(len(NEXT))])
        levels.append(_NEXT_LEVEL[words[-1]])
    label = list(levels)
    if random.random() < WRONG_LABELS:
        at = random.integers(len(label))
        label[at] = (label[at] + 1 + random.integers(len(LEVELS) - 1)) % len(LEVELS)
    prompt = tuple(ID[word] for word in (ASK, *words, PLAN))
    return Question(prompt, hard, Hops(tuple(levels), tuple(map(int, label))))


def _trace(levels: Sequence[int], verb: str) -> list[Tokens]:
    sentences: list[Tokens] = [(ID[verb], level, ID[STOP]) for level in levels]
    return [*sentences[:-1], (*sentences[-1], ID[END])]
