"""The model card of the planner, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``planner.json``."""
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in facts["metrics"].items())
    questions = facts["questions"]
    return f"""# {facts["name"]}

Which levels of an index to search for a query: a network of one hidden layer over the query's form and what a first
pass over sentences and documents shows (how sharply scores fall, over how many documents they spread), which expects a
character F1 of each of {len(facts["ranges"])} ranges of levels within {", ".join(map(str, facts["budgets"]))} words.
{facts["bytes"]:,} bytes; one NumPy product a layer.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** hits by vectors of {facts["encoder"]} and BM25; those of any other encoder are refused.
- **Learned from** {questions["train"]:,} questions of mixed breadth, as asked and stripped of their form, about
  articles of English Wikipedia, SQuAD 2.0 (both CC BY-SA 4.0) and Chroma's chunking evaluation (MIT); used to learn
  from, no text is contained. {questions["validation"]:,} questions about other articles stopped it; the test articles
  were not read.
- **Licence** {facts["licence"]}. **Language** English.

| F1 within 500 words, validation questions | |
| --- | --- |
{rows}

The figures that count are of test articles: `python bench/smartchunk.py breadth`.
"""
