"""The model card of the next-sentence network on static vectors, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``nsp_static.json``."""
    metrics = facts["metrics"]
    rows = "\n".join(
        f"| {name} | {m['auc_other']:.4f} | {m['auc_same']:.4f} | {m['accuracy']:.4f} | {m['calibration_error']:.4f} |"
        for name, m in (("this network", metrics["static"]), ("cross-encoder", metrics["cross_encoder"]))
    )
    every, near = metrics["agreement_all_pairs"], metrics["agreement_neighbours"]
    return f"""# {facts["name"]}

A network with one hidden layer of {facts["hidden"]} on the static vectors of two sentences, which computes the
probability that the second follows the first. The engine computes it in its own call, and no runtime is needed.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Distilled from** {facts["teacher"]}, on vectors of {facts["encoder"]}.
- **Learned from** pairs of English Wikipedia (CC BY-SA 4.0; the model contains no text of it). Whole articles were held
  out for measuring.
- **Threshold** {facts["threshold"]}: the mean probability of neighbours in training articles.
- **Licence** {facts["licence"]}. **Language** English.

| model | area under the curve, other articles | same article | accuracy | calibration error |
| --- | --- | --- | --- | --- |
{rows}

Measured on held-out pairs, half of them neighbours, a quarter each from the same and from other articles. Accuracy is
at probability 0.5. Calibration error is the expected one over ten bins. With their own thresholds, the two models
decide alike on {every["equal_cuts"]:.1%} of all pairs and on {near["equal_cuts"]:.1%} of neighbours. Their log-odds
correlate with {every["correlation"]:.2f} and {near["correlation"]:.2f}.
"""
