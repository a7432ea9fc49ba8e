"""The model card of the table of languages, written from the facts of its training run."""

from __future__ import annotations

from typing import Any


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``languages.json``."""
    accuracy = facts["accuracy"]
    rows = "\n".join(f"| {name} | {facts['sentences'][name]:,} | {share:.3f} |" for name, share in accuracy.items())
    by_script = [name for name in facts["languages"] if not facts["sentences"][name]]
    unmeasured = [name for name in facts["languages"] if name not in accuracy and name not in by_script]
    sources = "\n".join(f"- {name}: {place} ({licence})" for name, (place, licence) in facts["sources"].items())
    return f"""# {facts["name"]}

The table tells {len(facts["languages"])} languages apart. It has {facts["rows"]:,} int8 rows, one for each class of
trigrams of letters, and a column for each language. The script of a text leaves some of the languages, of which the one
with the largest sum of weights is chosen. {facts["bytes"]:,} bytes.

- **Made by** `{facts["command"]}`.
- **Learned from** the sentences below and parts of them, of 20 to 100 characters.
- **By their script alone**, as the only language of it here: {", ".join(by_script)}.
- **Measured on** sentences that it did not learn from, some 500 a language: {facts["mean"]:.1%} are right. Languages
  that share most words (Bosnian, Croatian and Serbian; Indonesian and Malay) are taken for each other.
- **Not measured** for want of such sentences: {", ".join(unmeasured)}.
- **Licence** {facts["licence"]}. The table contains no text of its sources.

| language | sentences | right |
| --- | ---: | ---: |
{rows}

## Sources

{sources}
"""
