"""The card of the weights of ``rerank="features"``."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``rank.json``."""

    def cell(value: dict[str, float]) -> str:
        return f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"

    columns = ("found first", "found first, reranked", "gain")
    rows = "\n".join(
        f"| {name} | {found['queries']:,} | " + " | ".join(cell(found[column]) for column in columns) + " |"
        for name, found in facts["metrics"].items()
    )
    weights = "\n".join(
        f"| {name} | {value:.2f} |" for name, value in zip(facts["inputs"], facts["values"], strict=True)
    )
    articles = facts["articles"]
    return f"""# {facts["name"]}

What `rerank="features"` orders hits by: a weighted sum of what the stages of a search know of each. {facts["bytes"]:,}
bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}; indexes of any other encoder are refused.
- **Learned from** {facts["queries"]:,} sentences of {articles["train"]:,} articles of English Wikipedia (CC BY-SA 4.0;
  used to learn from, no text is contained), each with words left out: the chunk that holds the sentence, or the rest of
  the paragraph that it was taken out of, is to come first. No question, and nobody's judgement, was used. The figures
  are of {articles["test"]:,} other articles. Which article is where is told by a hash of its id.
- **Licence** {facts["licence"]}. **Language** English.

| input | weight |
| --- | --- |
{weights}

| sentences | queries | found first | found first, reranked | gain |
| --- | --- | --- | --- | --- |
{rows}

Means over queries with 95 % bootstrap intervals; gains are paired.
"""
