"""The model card of the planner, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``planner.json``."""
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in facts["metrics"].items())
    questions = facts["questions"]
    caution = facts["cautions"][-1]
    return f"""# {facts["name"]}

The planner chooses which levels of an index to search for a query. It is a network with one hidden layer. Its inputs
are the query's form, the results of a first pass over sentences and documents (how sharply scores fall, over how many
documents they spread), how rare the query's terms are, and their positions in the sentences of the best documents. It
predicts the character F1 of each of {len(facts["ranges"])} ranges of levels within
{", ".join(map(str, facts["budgets"]))} words. It also predicts the part of F1 that comes from narrow questions, which
counts {facts["caution"]:g} times. {facts["bytes"]:,} bytes; one NumPy product for each layer.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** hits by vectors of {facts["encoder"]} and BM25. It refuses those of any other encoder.
- **Learned from** {questions["train"]:,} questions of mixed breadth, as asked and with content words alone, about
  articles of English Wikipedia, SQuAD 2.0 (both CC BY-SA 4.0) and Chroma's chunking evaluation (MIT). The model
  contains no text of them. The figures below are for {questions["validation"]:,} questions about other articles. The
  test articles were not read.
- **Narrow questions** count {facts["caution"]:g} times. This is the smallest weight at which the questions of SQuAD and
  Chroma lost at most half of half an interval compared with their best fixed levels. It was determined on training
  questions about articles that a network did not see: {caution["narrow, text"]:+.4f} as asked,
  {caution["narrow, stripped"]:+.4f} with content words alone.
- **Licence** {facts["licence"]}. **Language** English.

| F1 within 500 words, validation questions | |
| --- | --- |
{rows}

The figures for test articles are more meaningful: `python bench/levels/mixed_breadth.py`.
"""
