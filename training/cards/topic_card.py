"""The model card of the topic model, written from the facts of its training run."""

from __future__ import annotations

from typing import Any

_VIEWS = {
    "hidden": "headings hidden, one line",
    "paragraphs": "headings hidden, line breaks kept",
    "whole": "as they are",
}


def card(facts: dict[str, Any]) -> str:
    """Markdown from the contents of ``topic.json``."""
    columns = list(next(iter(facts["metrics"].values())))

    def cell(value: dict[str, float]) -> str:
        return f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"

    rows = "\n".join(
        f"| {_VIEWS[view]} | " + " | ".join(cell(found[column]) for column in columns) + " |"
        for view, found in facts["metrics"].items()
    )
    articles = facts["articles"]
    return f"""# {facts["name"]}

Where sections begin: a convolution of {len(facts["dilations"])} layers over the vectors of sentences, their cosines
over windows of 1 to 8 sentences, the words that they begin with, words that come back, lengths and paragraphs. The
engine computes it in its own call; no runtime is needed. {facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}; those of any other encoder are refused.
- **Learned from** {facts["articles"]["train"]:,} articles ({facts["sentences"]:,} sentences) of English Wikipedia
  (CC BY-SA 4.0; used to learn from, no text is contained): their section starts, headings hidden in most. Training
  stopped, and thresholds were calibrated, on {articles["validation"]:,} other articles; the figures are of
  {articles["test"]:,} more. Which article is where is told by a hash of its id.
- **Licence** {facts["licence"]}. **Language** English.

| test articles | {" | ".join(columns)} |
| --- |{" --- |" * len(columns)}
{rows}

Means over articles with 95 % bootstrap intervals, cuts without a limit of length at the default `size`; the area under
the curve is over the gaps of all articles.
"""
