"""The model card of the next-sentence network on multilingual vectors, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``nsp_static.json``."""
    areas = ("auc_other", "auc_same", "cosine_other", "cosine_same")
    rows = "\n".join(
        f"| {language} | {' | '.join(f'{measured[area]:.3f}' for area in areas)} |"
        for language, measured in sorted(facts["metrics"].items())
    )
    unseen = f" The network saw no text in {', '.join(facts['unseen'])}." if facts["unseen"] else ""
    return f"""# {facts["name"]}

A network with one hidden layer of {facts["hidden"]} on the multilingual vectors of two sentences, which computes the
probability that the second follows the first. The engine computes it in its own call, and no runtime is needed.

- **Made by** `{facts["command"]}` on vectors of {facts["encoder"]}.
- **Learned from** {facts["pairs"]:,} pairs of sentences, neighbours and strangers, of documents in
  {facts["languages"]} languages, from the sources in [README.md](README.md). No cross-encoder taught it. Most documents
  are manuals and descriptions of software.{unseen}
- **Threshold** {facts["threshold"]}: the mean probability of neighbours in the text that it learned from.
- **Licence** {facts["licence"]}.

Measured on translated news that were held out, by pairs of which half are neighbours, and a quarter each from the same
and from other articles. The columns are areas under the curve, of the network and of the cosine of both vectors.

| language | other articles | same article | cosine, other articles | cosine, same article |
| --- | ---: | ---: | ---: | ---: |
{rows}
"""
