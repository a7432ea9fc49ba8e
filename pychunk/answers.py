"""The function answer(): an LLM answers questions from the hits of an index, and cites spans of documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._util.counting import counted
from .index.options import Rerank, Rewrite
from .index.search.assembly import AssembledText, Part, assemble
from .index.search.hit_pages import pages_text
from .index.search.query_rewriting import Choice, choices
from .llm.cited_answers import LETTERS, Answerer, CitedAnswer, CitedQuestion

if TYPE_CHECKING:
    from .index.index import Index
    from .llm import LLM

_SPAN = pa.struct(
    {
        "document_id": pa.large_string(),
        **{name: pa.int64() for name in ("document_index", "start", "end", "page", "page_end")},
    }
)


@dataclass(frozen=True)
class Answer:
    """The answer of an LLM to one question.

    Attributes:
        question: The question as it was asked.
        text: The answer, for a multiple-choice question the text of the chosen option; "" if there is no answer.
        option: The position of the chosen option, from 0; None if no option was chosen.
        sources: The spans that the answer cites, the most certain source first; each is also in ``shown``.
        shown: All spans that the LLM saw, in the order of the assembled text.
        reason: Why there is no answer, or no source for it; "" if there are both.
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
    """A list of answers, one for each question, in order.

    Attributes:
        facts: The model, the prompts, and the cost of the calls by stage.
    """

    def __init__(self, answers: Sequence[Answer] = (), facts: dict[str, Any] | None = None) -> None:
        super().__init__(answers)
        self.facts = facts or {}

    @property
    def failed(self) -> list[tuple[int, str]]:
        """The (position, reason) of each question without an answer, or with an answer that cites no source."""
        return [(place, each.reason) for place, each in enumerate(self) if each.reason]

    @cached_property
    def table(self) -> pa.Table:
        """A table with one row for each question.

        Its columns are ``question``, ``answer``, ``option``, ``reason`` and ``sources``, a list of ``document_id`` (as
        text), ``document_index``, ``start``, ``end``, ``page`` and ``page_end``. The metadata holds the facts.
        """
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
    """Search, assemble the hits, and let an LLM answer from them alone, with one call for each question.

    If an answer cannot be read, is none of the options or cites no existing source, pychunk asks once more and names
    the error. If the second answer fails too, the question has no answer, or an answer without sources, and ``reason``
    says why. If the LLM says that the hits do not contain the answer, the answer is empty as well. A question without
    hits is not sent to the LLM.

    Args:
        index: A :class:`pychunk.Index`.
        questions: One text or several, or pairs of a question and its options.
        options: A list with the 2 to 26 possible answers of each question, or None for a question without options. For
            a single question, the list of its possible answers.
        llm: The client. None: the one that the environment describes (PYCHUNK_LLM_URL, PYCHUNK_LLM_MODEL).
        k: The number of hits for each question.
        words: The most words of the hits that the LLM sees, as in :func:`pychunk.index.assemble`.
        strict: Whether a question without a usable answer raises an error.
        **search: Further keywords of :meth:`pychunk.Index.search`: ``mode``, ``ranking``, ``expansion`` and ``stages``.

    Returns:
        :class:`Answers`, one for each question, with a ``table``.

    Raises:
        ValueError: Options are invalid, there is no endpoint, or :meth:`pychunk.Index.search` rejects a keyword.
        LLMError: The endpoint does not exist, rejects the key or fails on every request, or a limit of the client is
            reached.
        RuntimeError: With ``strict``, a question has no usable answer; the message names the question.

    Example:
        >>> import pychunk, tempfile
        >>> from pychunk.llm import LLM
        >>> llm = LLM("http://127.0.0.1:8099/v1", "test", cache=False, dry_run=True)
        >>> chunks = pychunk.segment(["Cats purr when content."], "sentence", vectors="sentence", ids=["cats.txt"])
        >>> with tempfile.TemporaryDirectory() as folder, pychunk.Index.create(folder + "/pets") as index:
        ...     _ = index.add(chunks)
        ...     found = answer(index, "When do cats purr?", llm=llm)[0]
        >>> found.reason, [(part.document_id, part.start, part.end) for part in found.shown]
        ('dry run', [('cats.txt', 0, 23)])
        >>> llm.account.total.calls
        1
    """
    texts, given = _asked(questions, options)
    ask = Answerer(llm)  # This comes before the search, so that nothing is searched without an endpoint.
    queries: list[Any] = list(texts)
    stages = search.get("stages", ())
    stages = [stages] if isinstance(stages, (Rewrite, Rerank)) else stages
    if any(isinstance(each, Rewrite) and each.by == "options" for each in stages):
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
    """Answer questions from the hits of an earlier search: one list of hits for each question.

    See :func:`answer`.

    Raises:
        ValueError: The number of lists is not the number of questions; for other reasons see :func:`answer`.
    """
    texts, given = _asked(questions, options)
    if len(hits) != len(texts):
        raise ValueError(
            f"there must be one list of hits for each question; got {counted(len(hits), 'list')} for "
            f"{counted(len(texts), 'question')}"
        )
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
            raise RuntimeError(
                f"the stage answer failed for question {row} ({text!r:.80}): {one.fault.removesuffix('.')}; pass "
                "strict=False to get the other answers"
            )
        parts, readings = assembled[row].parts, assembled[row].readings
        named = tuple(part for number in one.sources for part in readings[number - 1].parts)
        reason = one.fault or ("" if one.text else "the sources do not say")
        out.append(Answer(text, one.text, one.option, named, parts, reason))
    return Answers(out, {**ask.facts, "account": ask.llm.account.since(before)})


def _asked(questions: Any, options: Sequence[Any] | None) -> tuple[list[str], list[tuple[str, ...] | None]]:
    """Return the texts of the questions, and for each its options, or None if it has none.

    Raises:
        ValueError: A question is not a text, or its options are not 2 to 26 texts. The message names the question.
    """
    single = isinstance(questions, str)
    texts, own = choices(questions)
    given: list[Any] = [None if each is None else each.options for each in own]
    if options is not None:
        given = [options] if single else list(options)
        if any(own):
            raise ValueError("options are given twice: in pairs with the questions, and by options=; leave out one")
        if len(given) != len(texts):
            raise ValueError(
                f"options must hold one list for each question; got {counted(len(given), 'list')} for "
                f"{counted(len(texts), 'question')}"
            )
    for row, (text, each) in enumerate(zip(texts, given, strict=True)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"question {row} must be a text that is not blank; got {text!r:.80}")
        if each is None:
            continue
        bare = [] if isinstance(each, str) else [one for one in each if isinstance(one, str) and one.strip()]
        if not 2 <= len(bare) == len(list(each)) <= len(LETTERS):
            got = f"{len(each)} options" if len(each) > len(LETTERS) else f"{each!r:.80}"
            raise ValueError(
                f"options of question {row} must be a list of 2 to {len(LETTERS)} texts, none of them blank; got {got}"
            )
        given[row] = tuple(bare)
    return texts, given


def _lines(assembled: AssembledText) -> list[str]:
    """Return each passage as a model reads it by itself, after the document and the page in brackets.

    Adjacent pages of a document are separate passages, so that each can be a source.
    """
    lines = []
    for reading in assembled.readings:
        part = reading.parts[0]
        name = " ".join(str(part.document_index if part.document_id is None else part.document_id).split())
        page = "" if part.page is None else f", {pages_text(part.page, part.page_end)}"
        lines.append(f"({name}{page}) {reading.text}")
    return lines


def _span(part: Part) -> dict[str, Any]:
    wanted = {name: getattr(part, name) for name in ("document_index", "start", "end", "page", "page_end")}
    return {**wanted, "document_id": None if part.document_id is None else str(part.document_id)}
