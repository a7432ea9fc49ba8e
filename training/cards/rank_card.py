"""The card of the weights of ``Rerank("features")``, written from the facts of their training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``rank.json``."""

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

The weights with which `Rerank("features")` orders hits: it sums what the stages of a search know about each hit.
{facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}. It refuses indexes of any other encoder.
- **Learned from** {facts["queries"]:,} sentences of {articles["train"]:,} articles of English Wikipedia (CC BY-SA 4.0;
  the model contains no text of them), each with words left out. The right chunk contains the sentence, or the rest of
  the paragraph that the sentence was removed from. Neither questions of people nor their judgements were used. The
  figures are for {articles["test"]:,} other articles. A hash of an article's id decides which part it belongs to.
- **Licence** {facts["licence"]}. **Language** of the articles: English.

| input | weight |
| --- | --- |
{weights}

| sentences | queries | found first | found first, reranked | gain |
| --- | --- | --- | --- | --- |
{rows}

Means over queries with 95 % bootstrap intervals; gains are paired.
"""
