"""The model card of the static encoder, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``static.json``."""
    columns = list(next(iter(facts["metrics"].values())))
    rows = "\n".join(
        f"| {name} | " + " | ".join(f"{scores[column]:.4f}" for column in columns) + " |"
        for name, scores in facts["metrics"].items()
    )
    return f"""# {facts["name"]}

A table of {facts["tokens"]:,} x {facts["dim"]} int8 rows, one for each token of BERT's uncased vocabulary. The vector
of a sentence is the unit-length sum of its tokens' rows. The rows' lengths contain the weights of tokens. Sums of
integers are exact, so the vector depends only on the text.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Teacher** {facts["teacher"]} (Apache-2.0); vectors to learn from in {facts["teacher_dtype"]}, vectors for measuring
  in float32.
- **Learned from** {facts["sentences"]:,} sentences ({facts["distinct_sentences"]:,} distinct) of English Wikipedia
  (CC BY-SA 4.0; the model contains no text of it). {facts["held_out_articles"]} whole articles
  ({facts["held_out_sentences"]:,} sentences) were held out for measuring.
- **Licence** {facts["licence"]}. **Language** English: other scripts are split into single letters and [UNK].

| table | {" | ".join(column.replace("_", " ") for column in columns)} |
| --- |{" --- |" * len(columns)}
{rows}

`adjacent` and `to mean` are Pearson correlations with the teacher's similarities (384 dimensions, float32) of
neighbouring sentences and of sentences to their document's mean. They are pooled over all held-out sentences, or
averaged over documents (`per document`). `cosine` is the mean cosine to the teacher's vector reduced to
{facts["dim"]} dimensions. `baseline` is plain distillation of the vocabulary, `float` the fitted table, and `int8` the
shipped one. To measure again: `pychunk train static --out pychunk/models --evaluate`.
"""
