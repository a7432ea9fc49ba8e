"""The commands: their list, help and completion, the modules that they load, and interrupts during that."""

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from cli_files import command
from command_line import invoke

from pychunk.cli import train
from pychunk.cli.main import app


def test_the_list_of_commands_is_whole_at_80_columns() -> None:
    listed = invoke(["--help"], terminal_width=80).output.partition("Commands:")[2].strip().splitlines()
    assert listed[0].split()[0] == "segment"
    assert len(listed) == 16  # one line each
    assert not [line for line in listed if line.endswith("...")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "place", "found"), [("se", 1, ["segment", "search", "serve"]), ("segment --meth", 2, ["--method"])]
)
def test_a_shell_completes_commands_and_options(word: str, place: int, found: list[str]) -> None:
    said = {"_PYCHUNK_COMPLETE": "complete_bash", "COMP_WORDS": f"pychunk {word}", "COMP_CWORD": str(place)}
    assert command(**said).stdout.split() == found


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_is_that_of_the_shell_that_asks() -> None:
    # The shell is found among the parents of the process; the colon keeps this one there.
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m pychunk --show-completion; :"], capture_output=True, text=True, cwd=os.sep
    )
    assert "_PYCHUNK_COMPLETE=complete_bash" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["doctor"], ["segment", "-"]])
def test_an_impossible_instruction_set_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("One. Two.")
    run = command(*(str(text) if argument == "-" else argument for argument in arguments), PYCHUNK_ISA="sse9")
    assert run.returncode == 2
    assert re.fullmatch(r"error: PYCHUNK_ISA must be one of: baseline.* on this CPU; got 'sse9'\n", run.stderr)
    code = [sys.executable, "-c", "import pychunk; pychunk.segment('One.')"]
    env = {**os.environ, "PYCHUNK_ISA": "sse9"}
    run = subprocess.run(code, capture_output=True, text=True, cwd=os.sep, env=env)
    assert run.stderr.count("Traceback") == 1
    assert "PYCHUNK_ISA must be one of: baseline" in run.stderr.splitlines()[-1]


@pytest.mark.parametrize("package", ["numpy", "pyarrow", "typer"])
def test_an_interrupt_while_the_command_loads_says_nothing(package: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("raise KeyboardInterrupt")
    run = command("methods", PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")
    code = [sys.executable, "-c", "import pychunk, typer"]  # a program that uses pychunk gets its interrupt
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(code, capture_output=True, text=True, cwd=os.sep, env=env)
    assert run.stderr.endswith("KeyboardInterrupt\n")


def test_an_interrupt_while_a_commands_own_file_loads_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "rich").mkdir()
    (tmp_path / "rich" / "__init__.py").write_text("raise KeyboardInterrupt")
    run = command("methods", PYTHONPATH=str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


#: Each command runs in a process of its own, which has imported the application and no command.
LOADS = """
import os, sys, typer
from pychunk.cli.main import app
for name, without in [each.split() for each in sys.argv[1:]]:
    child = os.fork()
    if child == 0:
        typer.main.get_command(app).commands[name]
        print(name, without, f"pychunk.{without}" in sys.modules, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_command_loads_what_it_takes() -> None:
    pairs = ["doctor index", "search io", "search evaluation", "segment evaluation"]
    done = subprocess.run([sys.executable, "-c", LOADS, *pairs], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{pair} False" for pair in pairs]


def _flags(group: Any, name: str = "pychunk") -> dict[str, set[str]]:
    """Return the flags of every command, by the words that call it."""
    options = {flag for option in group.params for flag in (*option.opts, *option.secondary_opts)}
    found = {name: {"--help", *(flag for flag in options if flag.startswith("--"))}}
    for word, made in getattr(group, "commands", {}).items():
        found |= _flags(made, f"{name} {word}")
    return found


@pytest.mark.slow
def test_every_flag_that_a_text_names_exists() -> None:
    """The texts are docstrings, errors and help of the package, the pages, and the words after a command's name."""
    flags = _flags(typer.main.get_command(app))
    every = set().union(*flags.values()) | {"--no-deps", "--upgrade"}  # pip's
    root = Path(__file__).resolve().parents[2]
    for name, (module, _) in train.TRAINERS.items():  # these parse their options themselves
        parser = importlib.import_module(f"pychunk.training.{module}").parser()
        flags[f"pychunk train {name}"] = set(parser._option_string_actions)
        every |= flags[f"pychunk train {name}"]
    named = 0
    for file in (*sorted(root.glob("pychunk/**/*.py")), *root.glob("*.md"), *root.glob("docs/*.md")):
        text = file.read_text(encoding="utf-8")
        for call in re.finditer(r"pychunk ((?:model |llm |train )?[a-z]+)((?:[^`\n#;&|]|\\\n)*)", text):
            known = flags.get(f"pychunk {call[1]}")
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", call[2]) if known else ():
                named += 1
                assert flag in known | {"--no-deps"}, f"{file.name}: {call[0]}"
        if file.suffix == ".py":
            raised = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise)]
            strings = [
                part.value
                for node in raised
                for part in ast.walk(node)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", " ".join(strings)):
                named += 1
                assert flag in every, f"{file.name}: {flag}"
    assert named > 20


@pytest.mark.parametrize(
    ("command", "usage", "headings"),
    [
        ("segment", "segment [OPTIONS] INPUT...", ["Options", "Chunking", "Encoder", "Context", "Input"]),
        ("search", "search [OPTIONS] INDEX QUERY...", ["Arguments", "Options"]),
        ("eval", "eval [OPTIONS] DATASET", ["Options", "LLM judge", "LLM endpoint"]),
        ("methods", "methods [OPTIONS] [METHOD...]", ["Arguments", "Options"]),
    ],
)
def test_help_has_a_heading_for_each_group_of_options(command: str, usage: str, headings: list[str]) -> None:
    shown = invoke([command, "--help"]).output
    assert f"Usage: pychunk {usage}\n" in shown.replace("root", "pychunk").replace("main", "pychunk")
    places = [shown.index(f"\n{heading}") for heading in headings]
    assert places == sorted(places)
    assert not re.search(r"<(list|str|int|float|path)", shown)
    assert max(map(len, shown.splitlines())) <= 80
