"""The grammar of -m METHOD:OPTION=VALUE, and groups of options that commands share."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pychunk import Segmenter
from pychunk.cli.shared.grammar import method_of, value_of
from pychunk.cli.shared.option_groups import many, with_groups
from pychunk.cli.shared.segment_options import SHORT_FORMS, ContextOptions, ReaderOptions, SegmentOptions, Vectors
from pychunk.inputs.document_columns import DOCUMENT_COLUMNS
from pychunk.methods import METHODS, option_names


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("pic", "pic", {}),
        ("pic:k=0.5,summary=lead", "pic", {"k": 0.5, "summary": "lead"}),
        ("semantic:threshold=percentile:20,window=2", "semantic", {"threshold": ("percentile", 20.0), "window": 2}),
        ("semantic:threshold=.5", "semantic", {"threshold": 0.5}),
        ("pic:max_tokens=none, vectors=chunk", "pic", {"max_tokens": None, "vectors": "chunk"}),
        ("pic:wrap=false", "pic", {"wrap": False}),
        (
            'recursive:separators=["\\n\\n", ", ", "]"],size=80',
            "recursive",
            {"separators": ["\n\n", ", ", "]"], "size": 80},
        ),
        ('pic:encoder="a,b:c=d"', "pic", {"encoder": "a,b:c=d"}),
        ("pic:encoder=./models/mine", "pic", {"encoder": "./models/mine"}),
    ],
)
def test_a_method_with_its_options_in_a_word(text: str, name: str, options: dict[str, Any]) -> None:
    assert method_of(text) == (name, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pic:", "must be NAME or NAME:OPTION=VALUE"),
        ("pic:k", "must be NAME or NAME:OPTION=VALUE"),
        ("pic:=3", "must be NAME or NAME:OPTION=VALUE"),
        ("recursive:size=80:unit=words", "separate options by commas, as in recursive:size=80,unit=words"),
        ("recursive:separators=[1", "is not JSON"),
    ],
)
def test_what_is_no_option_is_said(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        method_of(text)


@given(st.one_of(st.integers(-(2**70), 2**70), st.lists(st.text(max_size=5), max_size=4), st.text(max_size=9)))
def test_any_value_can_be_written(value: Any) -> None:
    assert value_of(json.dumps(value), "here") == value
    assert method_of(f"x:a={json.dumps(value)},b=1") == ("x", {"a": value, "b": 1})


def test_flags_are_short_for_options_and_said_once() -> None:
    assert SegmentOptions("semantic", {"threshold": "percentile:20"}, max_tokens="none").options() == {
        "method": "semantic",
        "threshold": ("percentile", 20.0),
        "max_tokens": None,
    }
    with pytest.raises(ValueError, match="size is given twice: in -m fixed:size=3, and by --size"):
        SegmentOptions("fixed:size=3", {"size": "4"}).options()
    with pytest.raises(ValueError, match="takes its cuts from Python"):
        SegmentOptions("given").options()
    usual = {"recursive": {"size": 110, "unit": "words"}}
    assert SegmentOptions("recursive:size=20").options(usual=usual) == {
        "method": "recursive",
        "size": 20,
        "unit": "words",
    }
    assert SegmentOptions().options({"titles": "t"}) == {"method": None, "summary": "title"}  # which means pic
    assert SegmentOptions("pic:summary=lead").options({"titles": "t"})["summary"] == "lead"
    assert SegmentOptions().options() == {"method": None}
    assert set(SHORT_FORMS) <= {option for method in METHODS for option in option_names(method)}


def test_every_option_of_a_segmenter_can_be_said() -> None:
    flags = {
        name for group in (SegmentOptions, Vectors, ContextOptions) for name in inspect.signature(group).parameters
    }
    assert set(inspect.signature(Segmenter).parameters) - flags == {"on_error", "options"}  # on_error: each command's
    said = ["titles", "summaries", "page_starts", "blocks", "removed"]
    assert [each.name for each in DOCUMENT_COLUMNS if each.flag] == said
    assert ReaderOptions(namespace=["0", "4"]).namespaces == (0, 4)
    assert ReaderOptions(namespace=["all"]).namespaces is None
    with pytest.raises(ValueError, match="--namespace must be a number or all; got x"):
        _ = ReaderOptions(namespace=["x"]).namespaces


OTHERS = {"left_one": Annotated[str | None, typer.Option(help="Left.")], "right": str | None}


@dataclass(frozen=True)
class Pair:
    first: Annotated[int, typer.Option("-f", help="The first.")] = 1
    more: dict[str, str] = field(
        default_factory=dict,
        metadata=many(OTHERS),
    )


SEVEN = Pair(first=7)


def test_a_group_is_its_options_with_the_commands_defaults() -> None:
    app = typer.Typer()

    @app.command()
    @with_groups
    def command(name: str, *, pair: Pair = SEVEN) -> None:
        """What it does."""
        typer.echo(f"{name} {pair}")

    run = CliRunner().invoke
    assert run(app, ["x"]).output == "x Pair(first=7, more={})\n"
    assert run(app, ["x", "-f", "2", "--left-one", "a"]).output == "x Pair(first=2, more={'left_one': 'a'})\n"
    assert "What it does." in run(app, ["--help"]).output
    assert run(app, ["x", "--pair", "1"]).exit_code == 2
