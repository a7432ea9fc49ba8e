"""The model card of the planner, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``planner.json``."""
    metrics = dict(facts["metrics"])
    rows = "\n".join(f"| {name} | {value:.3f} |" for name, value in metrics.items())
    questions = facts["questions"]
    caution = facts["cautions"][-1]
    budgets = ", ".join(map(str, facts["budgets"]))
    return f"""# {facts["name"]}

The planner chooses which levels of an index to search for a query. It is a network with one hidden layer. Its inputs
are the query's form, the results of a first pass over sentences and documents (how sharply scores fall, whether vectors
and BM25 agree, over how many documents, paragraphs and chunks the hits spread), how rare the query's terms are, and
their positions in the sentences of the best documents. It predicts the character F1 of each of {len(facts["ranges"])}
ranges of levels within {budgets} words, and the chance that the question is narrow and its answer is found.
{facts["bytes"]:,} bytes; one NumPy product for each layer.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** hits by vectors of {facts["encoder"]} and BM25. It refuses those of any other encoder.
- **Learned from** {questions["train and small collections"]:,} questions of mixed breadth, as asked and with content
  words alone, about articles of English Wikipedia and SQuAD 2.0 (both CC BY-SA 4.0). Half of them are about all
  articles together. The other half are the same questions about small collections, half of which were joined to at
  most three long documents. The model contains no text of them. The figures below are for
  {questions["validation"]:,} questions about other articles, as asked and with content words alone. The test articles
  were not read, and nothing was learned from Chroma's chunking evaluation.
- **Floor**: plain chunks (level `{facts["plain"][0]}`) are left only for levels whose predicted value is higher by more
  than {facts["margin"]:.4f}. Above this margin, the true gain of training questions about unseen articles is above
  zero.
- **Narrow questions**: the chance that their answer is found has the weight {facts["caution"]:g}. It is the smallest
  weight at which these questions, as asked, lose at most 0.2 % of the answers that plain chunks find:
  {caution["answers minus plain chunks, text"]:+.4f}. With content words alone they lose
  {caution["answers minus plain chunks, stripped"]:+.4f}.
- **Licence** {facts["licence"]}. **Language** English.

| validation questions, within 500 words | |
| --- | --- |
{rows}

The figures for test articles are more meaningful: `python bench/levels/mixed_breadth.py`.
"""
