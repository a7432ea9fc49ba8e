"""The command line's messages: on a terminal, without one, and next to a progress bar."""

import io

import pytest
from rich.console import Console

from pychunk.cli.shared.batches import progress_bar
from pychunk.cli.shared.console import errors, say


@pytest.mark.parametrize(
    "text", ["done", "a\tb", "two\nlines", "", "bell\a, back\b and \rreturn", "ціна [bold]5 €[/bold] 🙂"]
)
def test_without_a_terminal_lines_are_those_that_rich_prints(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    say(text, "yellow")
    plain = capsys.readouterr().err
    say(text, "yellow", console=errors())
    assert plain == capsys.readouterr().err


def test_what_is_said_is_cut_between_words_on_a_terminal_and_paths_stay_whole() -> None:
    path = "/" + "long/" * 20
    screen, file = io.StringIO(), io.StringIO()
    say(
        f"error: one two three {path} four",
        console=Console(file=screen, force_terminal=True, width=20, color_system=None),
    )
    say(f"error: one two three {path} four", console=Console(file=file, width=20))
    assert screen.getvalue().splitlines() == ["error: one two three", path, "four"]
    assert file.getvalue().splitlines() == [f"error: one two three {path} four"]


def test_a_bar_is_gone_when_it_is_done_and_what_is_said_stands_above_it() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=60)
    with progress_bar("ingest", console) as bar:
        bar.add_task("", total=1.0, rate="")
        say("warning: so it is", console=console)
    shown = screen.getvalue()
    assert shown.index("warning: so it is\n") >= 0
    assert shown.rstrip("\n").endswith("\x1b[2K"), "the last line is erased"
