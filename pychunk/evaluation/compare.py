"""The evaluation in one call, from documents, questions and methods to rows of measures."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from . import datasets, runner, systems
from .retrieval_setups import Strategy


def evaluate(
    documents: Mapping[str, str] | Sequence[str] | str | os.PathLike[str],
    questions: Iterable[Mapping[str, Any]] | str | os.PathLike[str],
    methods: Mapping[str, Any] | Iterable[Any] = (None,),
    *,
    modes: Sequence[str | Strategy] = ("hybrid",),
    encoders: Sequence[Any] = ("static",),
    seed: int = 0,
    **options: Any,
) -> list[dict[str, Any]]:
    """Compare methods on the same questions, with a row for each method, encoder and mode.

    Args:
        documents: Texts by their ids, or texts whose ids are their numbers from 0, or a file or folder of texts.
        questions: Mappings with ``question``, ``answers`` and ``document`` (the id), as described in
            :func:`~.datasets.questions_of`, or a file of them.
        methods: Names, None for the default, your own methods or classes, functions that return the chunks of a text,
            or pairs of one of these and its options. A dictionary names the rows.
        modes: How chunks are searched: names from :data:`~.runner.MODES`, or strategies.
        encoders: Names, folders, or your own models, which are objects with an ``encode`` that takes a list of texts.
        seed: The seed of the intervals.
        **options: Options of :meth:`pychunk.Index.create`, such as ``bm25``, and the ``ranking`` of the search.

    Returns:
        The ``rows`` of ``pychunk eval --json``: ``name``, ``mode``, ``encoder``, ``measures`` (with ``mean``, ``low``
            and ``high`` each), ``within``, ``lengths``, ``cost``. A question whose answers do not occur in its document
            counts as missed, and a warning gives the number of such questions.

    Raises:
        ValueError: A document is missing, or no question has an answer in its document.

    Example:
        >>> documents = {"cats": "Cats purr at night. They sleep by day.", "sun": "The sun is a star."}
        >>> asked = [{"question": "When do cats purr?", "answers": ["at night"], "document": "cats"}]
        >>> rows = evaluate(documents, asked, ["sentence"], modes=["sparse"])
        >>> rows[0]["name"], rows[0]["measures"]["strict hits@1"]["mean"]
        ('sentence, sparse', 1.0)
    """
    data = _dataset(documents, questions)
    made = [systems.Encoder(each) for each in encoders]
    makers: list[Callable[[], systems.SystemChunks]] = []
    of_each: list[systems.Encoder] = []
    for encoder in made:
        for name, given in _named(methods):
            method, own = given if isinstance(given, tuple) else (given, {})
            shown = name and (f"{name}, {encoder.name}" if len(made) > 1 else name)
            makers.append(partial(systems.of_any, method, own, data, encoder, shown))
            of_each.append(encoder)
    results = runner.run(data, makers, of_each, list(modes), options, seed=seed)
    for note in results["notes"]:
        warnings.warn(note, UserWarning, stacklevel=2)
    return list(results["rows"])


def _named(methods: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(methods, Mapping):
        return methods.items()
    if isinstance(methods, str) or not isinstance(methods, Iterable):
        return [("", methods)]
    return [("", each) for each in methods]


def _dataset(documents: Any, questions: Any) -> datasets.Dataset:
    if isinstance(documents, (str, os.PathLike)):
        given = datasets.read_documents(documents)
    elif isinstance(documents, Mapping):
        given = [str(key) for key in documents], list(documents.values())
    else:
        given = [str(number) for number in range(len(documents))], list(documents)
    wrong = next((number for number, text in enumerate(given[1]) if not isinstance(text, str)), None)
    if wrong is not None:
        raise TypeError(
            f"documents must be texts; got {given[1][wrong]!r:.80} for the document {given[0][wrong]!r:.80}"
        )
    if isinstance(questions, (str, os.PathLike)):
        return datasets.questions_of(questions, given)
    return datasets.questions_from(
        ((f"question {number}", each) for number, each in enumerate(questions)), "questions", given
    )
