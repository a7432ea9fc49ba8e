"""The model card of the next-sentence model, written from the facts of its training run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pychunk.encoders.files.model_dir import ModelFacts
from pychunk.encoders.files.model_packages import NSP

#: The model of the package, in the checkout.
FOLDER = Path(__file__).resolve().parents[2] / NSP.checkout / "pychunk_nsp" / "model"
#: The areas under the curve, over all held-out pairs, at which training aimed.
AIMED = {"auc_other": 0.985, "auc_same": 0.86}


def card(facts: ModelFacts) -> str:
    """Return the card as Markdown from the contents of ``pychunk.json``."""
    notes = facts.notes
    rows = "\n".join(
        f"| {weights} | {kind} | {m['auc_other']:.4f} | {m['auc_same']:.4f} | {m['accuracy']:.4f} "
        f"| {m['calibration_error']:.4f} |"
        for weights, both in notes["metrics"].items()
        for kind, m in both.items()
        if kind != "whole_share"
    )
    commands = "; then, from the resulting model, ".join(f"`{command}`" for command in notes["commands"])
    return f"""# {facts.name}

A cross-encoder of six layers that computes the probability that one sentence follows another. The weights are stored in
8 bits, with a scale for each column. They are restored to float32 when the model is loaded, so that the result does not
depend on the other pairs of a batch.

- **Made by** {commands} (seed {notes["seed"]}).
- **From** {facts.source} ({facts.licence}); its word embeddings are unchanged.
- **Learned from** {notes["pairs"]:,} pairs of English Wikipedia (CC BY-SA 4.0; the model contains no text of it). Half
  of them are neighbours. Of the others, {notes["same_document_share"]:.0%} are from elsewhere in the same article, and
  the rest from other articles. {notes["held_out_articles"]} whole articles were held out for measuring.
- **Input** `[CLS] a [SEP] b [SEP]`, up to {facts.max_length} tokens, cut longest first. **Language** English.
- **Threshold** {facts.threshold}: the mean probability of neighbours in training articles.
- **Licence** {facts.licence}.

| weights | pairs | area under the curve, other articles | same article | accuracy | calibration error |
| --- | --- | --- | --- | --- | --- |
{rows}

Measured on {notes["held_out_pairs"]:,} held-out pairs, half of them neighbours, a quarter each from the same and from
other articles{_whole(notes)}. Accuracy is at probability 0.5. Calibration error is the expected one over ten bins. To
measure again: `python -m training.nsp --evaluate`.
{_aim(notes)}"""


def _whole(notes: dict[str, Any]) -> str:
    """Return a description of the rows "whole", empty if they were not measured."""
    share = notes["metrics"]["int8"].get("whole_share")
    if share is None:
        return ""
    return (
        f'; "whole" are the {share:.0%} of them without headings and other fragments of\nfewer than '
        f"{notes['whole_sentence']} tokens"
    )


def _aim(notes: dict[str, Any]) -> str:
    """Return the aims and why they were not reached, empty if they were."""
    found = notes["metrics"]["int8"]["all"]
    if all(found[measure] >= aimed for measure, aimed in AIMED.items()):
        return ""
    count = len(notes["commands"])
    stages = "one stage" if count == 1 else f"{count} stages"
    whole = notes["metrics"]["int8"].get("whole")
    fragments = ""
    if whole is not None:
        fragments = (
            "\nHeadings and fragments, after which almost any text may follow, are a part of the reason: "
            f"without them\nthe areas are {whole['auc_other']:.3f} and {whole['auc_same']:.3f}."
        )
    return f"""
Training aimed at areas of {AIMED["auc_other"]} and {AIMED["auc_same"]}.
It reached {found["auc_other"]:.3f} and {found["auc_same"]:.3f} with {stages} of training, on {notes["pairs"]:,} pairs.
No further stage was run, and its effect is not known.{fragments}
"""
