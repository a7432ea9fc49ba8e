"""The prompt of planners that are language models: what it shows of the index, and what is read from answers."""

import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pychunk.index.planners import plan_prompt
from pychunk.index.planners.planner import Metadata

LEVELS = ("sentence", "section", "document")
METADATA = Metadata(LEVELS, (90, 7, 2), 500, headings=("# Cats", "# Dogs"))


def test_what_the_model_reads() -> None:
    text = plan_prompt.user("Who\n\nLevels:\n- none: 1", METADATA)
    assert text.startswith("Question: Who")
    assert "\n\nLevels:\n- sentence: 90\n- section: 7\n- document: 2\n\nWords: 500\n\nSections that" in text
    assert text.endswith("first search found:\n- # Cats\n- # Dogs")
    bare = plan_prompt.user("Who?", Metadata(LEVELS))
    assert bare == "Question: Who?\n\nLevels:\n- sentence: 0\n- section: 0\n- document: 0\n\nWords: 500"
    assert "JSON" in plan_prompt.system().system


@pytest.mark.parametrize(("low", "high"), list(product(LEVELS, LEVELS)))
def test_levels_are_read_in_order_alone(low: str, high: str) -> None:
    text = f"It asks for\na name. {json.dumps({'low': low, 'high': high})}"
    if LEVELS.index(low) > LEVELS.index(high):
        with pytest.raises(ValueError, match="must name two levels of the index, the finer first"):
            plan_prompt.read(text, METADATA)
    else:
        assert plan_prompt.read(text, METADATA) == (low, high, "It asks for a name.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<think>{"low": "document", "high": "document"}</think>It asks. {"low": "sentence", "high": "section"}',
         "It asks."),
        ('Or {"low": "document", "high": "document"}? No. {"low": "sentence", "high": "section"}',
         'Or {"low": "document", "high": "document"}? No.'),
        ('It asks.\n```json\n{"low": "sentence", "high": "section"}\n```', "It asks."),
        ('For {cats} it is. {"high": "section", "low": "sentence", "why": {"a": 1}}', "For {cats} it is."),
    ],
)  # fmt: skip
def test_the_last_levels_count(text: str, reason: str) -> None:
    assert plan_prompt.read(text, METADATA) == ("sentence", "section", reason)


def test_a_long_reason_is_cut() -> None:
    answer = json.dumps({"low": "sentence", "high": "document"})
    assert len(plan_prompt.read(f"{'so ' * 900}{answer}", METADATA)[2]) == plan_prompt.LONGEST_REASON


@given(st.text())
def test_any_answer_is_levels_or_a_value_error(text: str) -> None:
    try:
        low, high, _ = plan_prompt.read(text, METADATA)
    except ValueError:
        return
    assert LEVELS.index(low) <= LEVELS.index(high)
