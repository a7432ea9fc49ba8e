"""The model card of the next-sentence model, written from the facts of its training run."""

from __future__ import annotations

from ..encoders.files.model_dir import ModelFacts


def card(facts: ModelFacts) -> str:
    """Markdown from the contents of ``pychunk.json``."""
    notes = facts.notes
    rows = "\n".join(
        f"| {weights} | {kind} | {m['auc_other']:.4f} | {m['auc_same']:.4f} | {m['accuracy']:.4f} "
        f"| {m['calibration_error']:.4f} |"
        for weights, both in notes["metrics"].items()
        for kind, m in ((kind, both[kind]) for kind in ("all", "whole"))
    )
    commands = "; then, from the model so made, ".join(f"`{command}`" for command in notes["commands"])
    share = notes["metrics"]["int8"]["whole_share"]
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
articles; "whole" are the {share:.0%} of them without headings and other fragments of fewer than
{notes["whole_sentence"]} tokens. Accuracy is at probability 0.5; calibration error is the expected one over ten
bins. To measure again: `python -m pychunk.training.nsp --evaluate`.
"""
