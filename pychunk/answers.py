"""answer(): questions answered by a model from what an index finds, with the sources as spans of documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .index.search.assembly import AssembledText, Part, assemble
from .index.search.hit_pages import pages_text
from .index.search.query_rewriting import Choice, choices
from .llm.cited_answers import LETTERS, Answerer, CitedAnswer, CitedQuestion

if TYPE_CHECKING:
    from .index.index import Index
    from .llm import LLM

_SPAN = pa.struct(
    {
        "id": pa.large_string(),
        **{name: pa.int64() for name in ("document", "start", "end", "page", "page_end")},
    }
)


@dataclass(frozen=True)
class Answer:
    """What a model answered to one question.

    Attributes:
        question: as it was asked.
        text: the answer; of a multiple-choice question the option's text; "" where there is none.
        option: the place of the option, from 0; None where there is none.
        sources: the spans that the answer names, the surest source first; each is among ``shown``.
        shown: all that the model was shown, in the order of the assembled text.
        reason: why there is no answer, or none with sources; "" where both are there.
    """

    question: str
    text: str
    option: int | None
    sources: tuple[Part, ...]
    shown: tuple[Part, ...]
    reason: str = ""

    def __str__(self) -> str:
        return self.text


class Answers(list[Answer]):
    """Answers, one a question, in order.

    Attributes:
        facts: the model, the prompts, and what the calls took by stage.
    """

    def __init__(self, answers: Sequence[Answer] = (), facts: dict[str, Any] | None = None) -> None:
        super().__init__(answers)
        self.facts = facts or {}

    @property
    def failed(self) -> list[tuple[int, str]]:
        """(place, why) of the questions without an answer, or with one that names no source."""
        return [(place, each.reason) for place, each in enumerate(self) if each.reason]

    @cached_property
    def table(self) -> pa.Table:
        """A row a question: ``question``, ``answer``, ``option``, ``reason``, and ``sources``, a list of ``id`` (as
        text), ``document``, ``start``, ``end``, ``page`` and ``page_end``; the facts in the metadata."""
        columns = {
            "question": pa.array([each.question for each in self], pa.large_string()),
            "answer": pa.array([each.text for each in self], pa.large_string()),
            "option": pa.array([each.option for each in self], pa.int64()),
            "reason": pa.array([each.reason for each in self], pa.large_string()),
            "sources": pa.array([[_span(part) for part in each.sources] for each in self], pa.large_list(_SPAN)),
        }
        return pa.table(columns).replace_schema_metadata({"pychunk": json.dumps({"answers": self.facts})})


def answer(
    index: Index,
    questions: Any,
    options: Sequence[Any] | None = None,
    *,
    llm: LLM | None = None,
    k: int = 10,
    words: int | None = 1500,
    strict: bool = False,
    **search: Any,
) -> Answers:
    """Searches, assembles what was found, and has a model answer from that alone: one call a question.

    An answer that cannot be read, is none of the options or names no source that there is, is asked for once more with
    its fault named. Then the question is without an answer (or the answer without sources), and ``reason`` says why.
    Where the sources do not say, the answer is empty, too. A question for which nothing is found is not asked.

    Args:
        index: a :class:`pychunk.Index`.
        questions: one text or several; or pairs of a question and its options.
        options: of each question its possible answers, 2 to 26 texts, or None; of one question its answers.
        llm: the client; None: by the environment (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        k: hits for each question.
        words: longest text that the model is shown of them, as :func:`pychunk.index.assemble` has it.
        strict: raise where a question is without an answer that can be used.
        search: further keywords of :meth:`pychunk.Index.search`: ``mode``, ``rewrite``, ``rerank``, ``expand`` ...

    Returns:
        :class:`Answers`, one a question, with a ``table``.

    Raises:
        ValueError: options that are none, no endpoint, or what ``search`` refuses.
        LLMError: the endpoint is not there, refuses the key, fails whatever it is asked; a limit is reached.
        RuntimeError: with ``strict``; names the question.

    Example:
        >>> import pychunk, tempfile
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> chunks = pychunk.segment(["Cats purr when content."], "sentence", vectors="sentence", ids=["cats.txt"])
        >>> with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(folder + "/pets") as index:
        ...     _ = index.add(chunks)
        ...     found = answer(index, "When do cats purr?", llm=llm)[0]
        >>> found.reason, [(part.id, part.start, part.end) for part in found.shown], llm.account.total.calls
        ('dry run', [('cats.txt', 0, 23)], 1)
    """
    texts, given = _asked(questions, options)
    ask = Answerer(llm)  # before the search: without an endpoint nothing is searched
    queries: list[Any] = list(texts)
    if search.get("rewrite") == "options":
        queries = [Choice(text, own or ()) for text, own in zip(texts, given, strict=True)]
    found: Any = index.search(queries, k, **search) if texts else []
    return _answers(ask, texts, given, found, words, strict)


def from_hits(
    hits: Sequence[Any],
    questions: Any,
    options: Sequence[Any] | None = None,
    *,
    llm: LLM | None = None,
    words: int | None = 1500,
    strict: bool = False,
) -> Answers:
    """:func:`answer` from hits that are there: a list of them a question, as ``search`` returns it.

    Raises:
        ValueError: there are not as many lists as questions; else as :func:`answer`.
    """
    texts, given = _asked(questions, options)
    if len(hits) != len(texts):
        raise ValueError(f"there are {len(texts)} questions and {len(hits)} lists of hits: one for each")
    return _answers(Answerer(llm), texts, given, hits, words, strict)


def _answers(
    ask: Answerer,
    texts: list[str],
    given: list[tuple[str, ...] | None],
    hits: Sequence[Any],
    words: int | None,
    strict: bool,
) -> Answers:
    assembled = [assemble(own, words) for own in hits]
    rows = [row for row, each in enumerate(assembled) if each.parts]
    before = ask.llm.account.copy()
    said = ask([CitedQuestion(texts[row], _lines(assembled[row]), given[row]) for row in rows])
    known = dict(zip(rows, said, strict=True))
    out = []
    for row, text in enumerate(texts):
        one = known.get(row, CitedAnswer(fault="nothing was found"))
        if strict and one.fault and not ask.llm.dry_run:
            raise RuntimeError(f"the stage answer failed for question {row} ({text!r:.80}): {one.fault}")
        parts = assembled[row].parts
        named = tuple(parts[number - 1] for number in one.sources)
        reason = one.fault or ("" if one.text else "the sources do not say")
        out.append(Answer(text, one.text, one.option, named, parts, reason))
    return Answers(out, {**ask.facts, "account": ask.llm.account.since(before)})


def _asked(questions: Any, options: Sequence[Any] | None) -> tuple[list[str], list[tuple[str, ...] | None]]:
    """(texts, the options of each, None where it has none).

    Raises:
        ValueError: a question that is no text, options that are not 2 to 26 texts; names the question.
    """
    single = isinstance(questions, str)
    texts, own = choices(questions)
    given: list[Any] = [None if each is None else each.options for each in own]
    if options is not None:
        given = [options] if single else list(options)
        if any(own):
            raise ValueError("options are said twice: with the questions, and by options=")
        if len(given) != len(texts):
            raise ValueError(f"options must be one list a question: there are {len(texts)}, and {len(given)} lists")
    for row, (text, each) in enumerate(zip(texts, given, strict=True)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"question {row} must be a text; got {text!r:.80}")
        if each is None:
            continue
        bare = [] if isinstance(each, str) else [one for one in each if isinstance(one, str) and one.strip()]
        if not 2 <= len(bare) == len(list(each)) <= len(LETTERS):
            raise ValueError(f"options of question {row} must be 2 to {len(LETTERS)} texts; got {each!r:.80}")
        given[row] = tuple(bare)
    return texts, given


def _lines(assembled: AssembledText) -> list[str]:
    """Each part of the text, so that pages that follow each other are sources of their own: document and page in
    brackets, then the text."""
    lines = []
    for part in assembled.parts:
        name = " ".join(str(part.document if part.id is None else part.id).split())
        page = "" if part.page is None else f", {pages_text(part.page, part.page_end)}"
        lines.append(f"({name}{page}) {assembled.text[part.text_start : part.text_end]}")
    return lines


def _span(part: Part) -> dict[str, Any]:
    wanted = {name: getattr(part, name) for name in ("document", "start", "end", "page", "page_end")}
    return {**wanted, "id": None if part.id is None else str(part.id)}
