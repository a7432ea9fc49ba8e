"""The model card of the planner, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``planner.json``."""
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in facts["metrics"].items())
    questions = facts["questions"]
    caution = facts["cautions"][-1]
    return f"""# {facts["name"]}

Which levels of an index to search for a query: a network of one hidden layer over the query's form, what a first pass
over sentences and documents shows (how sharply scores fall, over how many documents they spread), how rare the query's
terms are and how they lie in the sentences of the best documents. It expects a character F1 of each of
{len(facts["ranges"])} ranges of levels within {", ".join(map(str, facts["budgets"]))} words, and the part of it that is
owed to narrow questions, which counts {facts["caution"]:g} times. {facts["bytes"]:,} bytes; one NumPy product a layer.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** hits by vectors of {facts["encoder"]} and BM25; those of any other encoder are refused.
- **Learned from** {questions["train"]:,} questions of mixed breadth, as asked and stripped of their form, about
  articles of English Wikipedia, SQuAD 2.0 (both CC BY-SA 4.0) and Chroma's chunking evaluation (MIT); used to learn
  from, no text is contained. The figures below are of {questions["validation"]:,} questions about other articles; the
  test articles were not read.
- **Narrow questions** count {facts["caution"]:g} times, the least at which, of training questions about articles that a
  network did not see, those of SQuAD and Chroma lost at most half of half an interval beside their best fixed levels:
  {caution["narrow, text"]:+.4f} as asked, {caution["narrow, stripped"]:+.4f} stripped.
- **Licence** {facts["licence"]}. **Language** English.

| F1 within 500 words, validation questions | |
| --- | --- |
{rows}

The figures that count are of test articles: `python bench/levels/mixed_breadth.py`.
"""
