"""The model card of the next-sentence model, written from the facts of its training run."""

from __future__ import annotations

from typing import Any

from pychunk.encoders.files.model_dir import ModelFacts

#: Areas under the curve, over all held-out pairs, that training aimed at.
AIMED = {"auc_other": 0.985, "auc_same": 0.86}


def card(facts: ModelFacts) -> str:
    """Markdown from the contents of ``pychunk.json``."""
    notes = facts.notes
    rows = "\n".join(
        f"| {weights} | {kind} | {m['auc_other']:.4f} | {m['auc_same']:.4f} | {m['accuracy']:.4f} "
        f"| {m['calibration_error']:.4f} |"
        for weights, both in notes["metrics"].items()
        for kind, m in both.items()
        if kind != "whole_share"
    )
    commands = "; then, from the model so made, ".join(f"`{command}`" for command in notes["commands"])
    return f"""# {facts.name}

A cross-encoder of six layers: the probability that one sentence follows another. Weights are stored in 8 bits, with a
scale for each column, and restored to float32 when the model is loaded, so that its arithmetic does not depend on what
else is in a batch.

- **Made by** {commands} (seed {notes["seed"]}).
- **From** {facts.source} ({facts.licence}); word embeddings kept as they were.
- **Learned from** {notes["pairs"]:,} pairs of English Wikipedia (CC BY-SA 4.0; used to learn from, no text is
  contained): half of them neighbours; of the others {notes["same_document_share"]:.0%} from elsewhere in the same
  article, the rest from other articles. {notes["held_out_articles"]} whole articles were held out and measured on.
- **Input** `[CLS] a [SEP] b [SEP]`, up to {facts.max_length} tokens, cut longest first. **Language** English.
- **Threshold** {facts.threshold}: the mean probability over neighbours of training articles.
- **Licence** {facts.licence}.

| weights | pairs | area under the curve, other articles | same article | accuracy | calibration error |
| --- | --- | --- | --- | --- | --- |
{rows}

On {notes["held_out_pairs"]:,} held-out pairs, half of them neighbours, a quarter each from the same and from other
articles{_whole(notes)}. Accuracy is at probability 0.5; calibration error is the expected one over
ten bins. To measure again: `python -m training.nsp --evaluate`.
{_aim(notes)}"""


def _whole(notes: dict[str, Any]) -> str:
    """Which pairs the rows "whole" are of, where they were measured."""
    share = notes["metrics"]["int8"].get("whole_share")
    if share is None:
        return ""
    return (
        f'; "whole" are the {share:.0%} of them without headings and other fragments of\nfewer than '
        f"{notes['whole_sentence']} tokens"
    )


def _aim(notes: dict[str, Any]) -> str:
    """What was aimed at and why it was not reached; nothing where it was."""
    found = notes["metrics"]["int8"]["all"]
    if all(found[measure] >= aimed for measure, aimed in AIMED.items()):
        return ""
    count = len(notes["commands"])
    stages = "one stage" if count == 1 else f"{count} stages"
    whole = notes["metrics"]["int8"].get("whole")
    fragments = ""
    if whole is not None:
        fragments = (
            "\nHeadings and fragments, after which almost anything may follow, are a part of it: "
            f"without them\nthe areas are {whole['auc_other']:.3f} and {whole['auc_same']:.3f}."
        )
    return f"""
Areas of {AIMED["auc_other"]} and {AIMED["auc_same"]} were aimed at.
{found["auc_other"]:.3f} and {found["auc_same"]:.3f} are what {stages} of training, on {notes["pairs"]:,} pairs, gave;
no further stage was run, and what it would add is not known.{fragments}
"""
