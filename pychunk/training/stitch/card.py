"""The files that a training writes next to its checkpoint: the weights, its facts, and its card."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

#: The measures, by column of the curve.
MEASURES = {
    "reward": "mean reward",
    "reward_hard": "mean reward, hard half",
    "solved": "questions answered",
    "solved_hard": "questions answered, hard half",
}


def write(folder: Path, training: Any) -> None:
    """Write ``stitch.json`` and ``README.md``, and the weights in the model's own format if it has one."""
    facts = {
        "name": f"pychunk-planner-{training.method}",
        "from": training.name,
        "method": training.method,
        "settings": asdict(training.settings),
        "command": _command(training),
        "steps": training.step,
        "trace_tokens": training.trace_tokens,
        "curve": training.curve,
        "licence": "Apache-2.0" if training.name == "tiny" else f"that of {training.name}",
    }
    if hasattr(training.policy, "tokenizer"):
        training.policy.net.save_pretrained(folder / "model")
        training.policy.tokenizer.save_pretrained(folder / "model")
    (folder / "stitch.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(card(facts), encoding="utf-8")


def _command(training: Any) -> str:
    what = "--tiny" if training.name == "tiny" else "--config FILE --data FILE"
    given = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in asdict(training.settings).items())
    return f"pychunk train stitch {what} --method {training.method} {given}"


def card(facts: dict[str, Any]) -> str:
    """Return the card as Markdown from the contents of ``stitch.json``."""
    first, last = facts["curve"][0], facts["curve"][-1]
    rows = "\n".join(
        f"| {text} | {first[name]:.3f} | {last[name]:.3f} |"
        for name, text in MEASURES.items()
        if first[name] is not None  # there may be no hard questions
    )
    weights = "checkpoint.pt, trained from random weights" if facts["from"] == "tiny" else "in the folder model"
    return f"""# {facts["name"]}

A planner that reasons before it names the levels to search, trained by {facts["method"]} from {facts["from"]}.

- **Made by** `{facts["command"]}`.
- **Weights** {weights}. **Licence** {facts["licence"]}.
- **Learned** in {facts["steps"]} steps; {facts["trace_tokens"]:,} tokens of experts' traces were imitated.

| held-out questions, plans sampled from the policy | before | after |
| --- | ---: | ---: |
{rows}
"""
