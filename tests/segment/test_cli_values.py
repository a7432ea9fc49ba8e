"""Values of the command line that are parsed without a library equal those that typer parses."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from pychunk.cli.main import app
from pychunk.cli.shared.value_types import _PlainParameter

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["0", "007", "-1", "1e3", "٣", " 5", "1_0", "9" * 12, "nan", "-", ".", "\udcff"]
)


@cache
def command(name: str) -> tuple[Any, Any]:
    """Return a command and a context for it."""
    made: Any = typer.main.get_command(app)
    found = made.commands[name]
    with typer.Context(found) as context:
        return found, context


def read(parameter: Any, value: Any, context: Any) -> Any:
    """Return the parsed form of a written value, or the error about it."""
    try:
        found = parameter.process_value(context, value)
    except typer.BadParameter as error:
        return error.message
    return repr(found)


@settings(deadline=None, max_examples=50)
@given(text=TEXTS, more=st.lists(TEXTS, max_size=2))
@pytest.mark.parametrize("name", ["search", "index"])
def test_values_are_read_as_typer_reads_them(name: str, text: str, more: list[str]) -> None:
    found, context = command(name)
    quick = found.get_params(context)
    if not any(isinstance(getattr(each, "_runtime_param", None), _PlainParameter) for each in quick):
        pytest.skip("this version of typer reads values without Pydantic")
    for parameter in quick:
        if parameter.name == "help" or parameter.callback is not None:
            continue
        several = parameter.multiple or parameter.nargs == -1
        for value in ((text, *more) if several else text, None, parameter.default):
            own = parameter._runtime_param
            parameter._runtime_param = own._slow()
            expected = read(parameter, value, context)
            parameter._runtime_param = own
            assert read(parameter, value, context) == expected, (parameter.name, value)


@pytest.mark.slow
def test_a_search_imports_no_library_to_read_its_values(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Cats purr.")
    code = "import sys; from pychunk.cli.main import app; app(sys.argv[1:], standalone_mode=False); "
    code += "print(*sys.modules, file=sys.stderr)"

    def loaded(*arguments: str) -> list[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stderr.split()

    assert "pydantic" not in loaded("index", "a.txt", "-o", "a.idx", "--placement", "threads=1", "--terms", "words")
    assert "pydantic" not in loaded("search", "a.idx", "Що мурчить?", "-k", "3", "--json")
