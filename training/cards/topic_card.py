"""The model card of the topic model, written from the facts of its training run."""

from __future__ import annotations

from typing import Any

_VIEWS = {
    "hidden": "headings hidden, one line",
    "paragraphs": "headings hidden, line breaks kept",
    "whole": "complete articles",
}


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``topic.json``."""
    columns = list(next(iter(facts["metrics"].values())))

    def cell(value: dict[str, float]) -> str:
        return f"{value['mean']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"

    rows = "\n".join(
        f"| {_VIEWS[view]} | " + " | ".join(cell(found[column]) for column in columns) + " |"
        for view, found in facts["metrics"].items()
    )
    articles = facts["articles"]
    chapters, measured, language = "", "", "English"
    if "manuals" in facts:
        language = f"those of the {len(facts['languages'])} languages"
        sources = "".join(f"\n  - {name} ({licence})" for name, licence in facts["sources"].items())
        held = facts["chapters"]
        chapters = f""" And from {held["train"]:,}
  chapters of translated manuals ({held["validation"]:,} others to stop on), in {", ".join(facts["languages"])}. A hash
  of the name of a page or chapter, the same in every language, decides its part. Debian's packages:{sources}
- **Saw no section** in {", ".join(facts["unseen"])}."""
        lines = [
            f"| {name}{', not learned from' if name in facts['unseen'] else ''} | "
            + " | ".join(cell(found[column]) for column in columns)
            + " |"
            for name, found in facts["manuals"].items()
        ]
        head = f"| chapters of manuals held out, in one line | {' | '.join(columns)} |"
        measured = "\n".join(["", head, f"| --- |{' --- |' * len(columns)}", *lines, ""])
    return f"""# {facts["name"]}

The topic model predicts where sections begin. It is a convolutional network of {len(facts["dilations"])} layers over
the vectors of sentences, their cosines over windows of 1 to 8 sentences, their first words, repeated words, lengths and
paragraphs. The engine computes it in its own call, and no runtime is needed. {facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}` (seed {facts["seed"]}).
- **Reads** vectors of {facts["encoder"]}. It refuses those of any other encoder.
- **Learned from** {facts["sentences"]:,} sentences: from {articles["train"]:,} articles of English Wikipedia (CC BY-SA
  4.0; the model contains no text of it) and their section starts, with headings hidden in most of them. Training
  stopped, and thresholds were calibrated, on {articles["validation"]:,} other articles. The figures are for
  {articles["test"]:,} more. A hash of an article's id decides which part it belongs to.{chapters}
- **Licence** {facts["licence"]}. **Language** {language}.

| test articles | {" | ".join(columns)} |
| --- |{" --- |" * len(columns)}
{rows}
{measured}
Values are means over articles with 95 % bootstrap intervals, with cuts without a limit of length at the default
`size`. The area under the curve is over the gaps of all articles.
"""
