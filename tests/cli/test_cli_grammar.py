"""The grammar of -m METHOD:OPTION=VALUE, and groups of options that commands share."""

from __future__ import annotations

import dataclasses
import inspect
import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pychunk
from pychunk import Segmenter
from pychunk.cli.ingest import _sample_of
from pychunk.cli.shared.grammar import method_of, value_of
from pychunk.cli.shared.option_groups import with_groups
from pychunk.cli.shared.segment_options import ContextOptions, ReaderOptions, SegmentOptions, Vectors
from pychunk.inputs.document_columns import DOCUMENT_COLUMNS
from pychunk.io import open_source


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("pic", "pic", {}),
        ("pic:k=0.5,summary=lead", "pic", {"k": 0.5, "summary": "lead"}),
        ("semantic:threshold=percentile:20,window=2", "semantic", {"threshold": ("percentile", 20.0), "window": 2}),
        ("semantic:threshold=.5", "semantic", {"threshold": 0.5}),
        ("pic:max_tokens=none, vectors=chunk", "pic", {"max_tokens": None, "vectors": "chunk"}),
        ("pic:unwrap_lines=false", "pic", {"unwrap_lines": False}),
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


def test_an_option_is_said_once() -> None:
    assert SegmentOptions("semantic:threshold=percentile:20", max_tokens="none").options() == {
        "method": "semantic",
        "threshold": ("percentile", 20.0),
        "max_tokens": None,
    }
    with pytest.raises(ValueError, match="-m: size is given twice in 'fixed:size=3,size=4'"):
        SegmentOptions("fixed:size=3,size=4").options()
    with pytest.raises(ValueError, match="overlap is given twice: in -m fixed:overlap=3, and by --overlap"):
        SegmentOptions("fixed:overlap=3", overlap=4).options()
    with pytest.raises(ValueError, match="needs cuts, which only Python can pass"):
        SegmentOptions("precomputed").options()
    usual = {"recursive": {"size": 110, "unit": "words"}}
    assert SegmentOptions("recursive:size=20").options(usual=usual) == {
        "method": "recursive",
        "size": 20,
        "unit": "words",
    }
    assert SegmentOptions().options({"titles": "t"}) == {"method": None, "summary": "title"}  # which means pic
    assert SegmentOptions("pic:summary=lead").options({"titles": "t"})["summary"] == "lead"
    assert SegmentOptions().options() == {"method": None}


def test_every_option_of_a_segmenter_can_be_said() -> None:
    flags = {
        name for group in (SegmentOptions, Vectors, ContextOptions) for name in inspect.signature(group).parameters
    }
    own = {"on_error", "options"}  # on_error: each command's
    assert set(inspect.signature(Segmenter).parameters) - flags == own
    values: dict[str, Any] = {
        "device": "cuda:1",
        "threads": 2,
        "runtime": "torch",
        "precision": "bf16",
        "cache": "kept",
    }
    assert {each.name for each in dataclasses.fields(pychunk.Placement)} == set(values)
    said = ",".join(f"{name}={value}" for name, value in values.items())
    assert SegmentOptions(placement=said).options()["placement"] == pychunk.Placement(**values)
    assert SegmentOptions(placement="cuda,threads=2").where == pychunk.Placement("cuda", threads=2)
    assert {each.name for each in dataclasses.fields(pychunk.Vectors)} == {"of", "encoder", "late_chunking"}
    assert {"vectors", "vector_encoder"} <= flags
    for text, wanted in {
        "chunk": pychunk.Vectors("chunk", "minilm"),
        "sentence,late_chunking=true": pychunk.Vectors("sentence", "minilm", late_chunking=True),
    }.items():
        assert SegmentOptions().options(vectors=text, vector_encoder="minilm")["vectors"] == wanted
    for text in ("chunk,late=true", "chunk,late_chunking=true,late_chunking=true"):
        with pytest.raises(ValueError, match=r"--vectors.* late"):
            SegmentOptions().options(vectors=text)
    roles = ["titles", "summaries", "page_starts", "blocks", "removed"]
    assert [each.name for each in DOCUMENT_COLUMNS if each.flag] == roles
    reading = ReaderOptions(column=["body", *(f"{role}={role}_of" for role in roles)])
    assert reading.roles == {"text": "body"} | {role: f"{role}_of" for role in roles}
    assert (reading.text, list(reading.said)) == ("body", roles)
    assert ReaderOptions(column=["a=b"]).text == "a=b"  # a column may have any name
    assert ReaderOptions(column=["text=titles=x"]).roles == {"text": "titles=x"}


def test_options_of_readers_are_those_of_open_source() -> None:
    values: dict[str, tuple[str, Any]] = {
        "encoding": ("cp1252", "cp1252"),
        "quotes": ("no", False),
        "redirects": ("yes", True),
        "namespaces": ("0+4", (0, 4)),
        "workers": ("2", 2),
        "noise": ("rules", "rules"),
        "noise_threshold": ("0.3", 0.3),
        "links": ("inline", "inline"),
    }
    said = [f"{name}={text}" for name, (text, _) in values.items()]
    assert ReaderOptions(reader=said).reading == {name: value for name, (_, value) in values.items()}
    assert set(values) <= set(inspect.signature(open_source).parameters)
    assert ReaderOptions(reader=["namespaces=all"]).reading == {"namespaces": None}
    for wrong, expected in {
        "namespaces=x": "write numbers with + between them, or all",
        "quotes=maybe": "write yes or no",
        "workers=many": "write a whole number",
        "noise_threshold=low": "write a number",
        "nois=off": "did you mean 'noise'?",
    }.items():
        with pytest.raises(typer.BadParameter) as error:
            ReaderOptions(reader=[wrong])
        assert expected in str(error.value)


@dataclass(frozen=True)
class Pair:
    first: Annotated[int, typer.Option("-f", help="The first.")] = 1
    left_one: Annotated[str | None, typer.Option(help="Left.")] = None


SEVEN = Pair(first=7)


def test_a_group_is_its_options_with_the_commands_defaults() -> None:
    app = typer.Typer()

    @app.command()
    @with_groups
    def command(name: str, *, pair: Pair = SEVEN) -> None:
        """Do something."""
        typer.echo(f"{name} {pair}")

    run = CliRunner().invoke
    assert run(app, ["x"]).output == "x Pair(first=7, left_one=None)\n"
    assert run(app, ["x", "-f", "2", "--left-one", "a"]).output == "x Pair(first=2, left_one='a')\n"
    assert "Do something." in run(app, ["--help"]).output
    assert run(app, ["x", "--pair", "1"]).exit_code == 2


def test_a_sample_is_a_number_with_or_without_a_seed() -> None:
    assert _sample_of("20") == (20, 0)
    assert _sample_of("20,seed=-7") == (20, -7)


@pytest.mark.parametrize("text", ["", "0", "x", "20,7", "20,seed=", "20,seed=x", "-1"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--sample must be a number of at least 1, or a number with a seed"):
        _sample_of(text)
