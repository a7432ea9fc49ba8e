"""The errors of the command line, each shown as one line that says what to do."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from ..._util.memory_errors import LACK, is_lack
from ..._util.urls import hidden
from .console import say

#: A keyword argument that a message advises to pass.
_KEYWORD = re.compile(r"\bpass (\w+)=('([\w-]+)'|(?:True|False)\b)?")
#: A keyword argument that a message names and that is an option of the command line, with a value or without.
_OPTION = re.compile(
    r"(?<![\w-])(augment|device|encoder|expand|levels|max_tokens|method|min_tokens|mode|parents|plan|pooling|precision|"
    r"rerank|rewrite|runtime|summaries|terms|titles|unit|vectors)="
    r"(?:'([^'\s]+)'|\"([^\"\s]+)\"|(?=[\s,;:.)]|$))"
)
#: The keywords in messages about an LLM endpoint, with their options. The key comes only from the environment.
_OF_A_MODEL = {"url=": "--llm-url", "model=": "--llm-model", "key= or ": ""}


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message with the options of the command line in place of keywords.

    ``flags`` holds the options whose names differ from the keyword.

    >>> in_flags("unknown kind; pass kind=, one of text, jsonl", {})
    'unknown kind; pass --kind, one of text, jsonl'
    >>> in_flags("fix it or pass on_error='skip'", {})
    'fix it or pass --on-error skip'
    >>> in_flags("where quotes mean nothing, pass quotes=False", {})
    'where quotes mean nothing, pass --no-quotes'
    >>> in_flags("an LLM needs url=, or PYCHUNK_LLM_URL in the environment", {})
    'an LLM needs --llm-url, or PYCHUNK_LLM_URL in the environment'
    >>> in_flags("rerank='features' needs terms: search with mode='hybrid'", {})
    '--rerank features needs terms: search with --mode hybrid'
    """
    if "PYCHUNK_LLM_" in message:
        for keyword, said in _OF_A_MODEL.items():
            message = re.sub(rf"\b{keyword}", said, message)

    def flag(found: re.Match[str]) -> str:
        name = flags.get(found[1], f"--{found[1].replace('_', '-')}")
        if found[2] == "False":
            name = f"--no-{name.removeprefix('--')}"
        return f"pass {name} {found[3]}" if found[3] else f"pass {name}"

    def option(found: re.Match[str]) -> str:
        value = found[2] or found[3]
        return f"--{found[1].replace('_', '-')}" + (f" {value}" if value else "")

    return _OPTION.sub(option, _KEYWORD.sub(flag, message))


@contextmanager
def readable_errors(interrupted: str, flags: Mapping[str, str] = {}, inputs: Sequence[str] = ()) -> Iterator[None]:
    """End the command with status 2 and the error's message, or with 130 and ``interrupted`` after Ctrl-C.

    Warnings, and messages that are logged as warnings, also become one line, without their place in the code.

    Args:
        interrupted: The message after Ctrl-C.
        flags: The options whose names differ from the keyword, as for :func:`in_flags`.
        inputs: The paths as the command names them, whose secrets no message shows.
    """

    def shown(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"warning: {in_flags(hidden(str(message), *inputs), flags)}", "yellow")

    logger, logged = logging.getLogger(__package__.partition(".")[0]), _Logged(flags, inputs)
    logger.addHandler(logged)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = shown
            yield
    except KeyboardInterrupt:
        say(interrupted)
        raise typer.Exit(130) from None
    except BrokenPipeError:  # the reader of the output has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RuntimeError) as error:
        if is_lack(error):
            message = LACK
        elif isinstance(error, RuntimeError):
            raise
        else:
            message = in_flags(hidden(str(error), *inputs) or type(error).__name__, flags)
        say(f"error: {message}", "red")
        raise typer.Exit(2) from None
    finally:
        logger.removeHandler(logged)


class _Logged(logging.Handler):
    """A logging handler that prints warnings as the command line does."""

    def __init__(self, flags: Mapping[str, str], inputs: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self._flags, self._inputs = flags, inputs

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {in_flags(hidden(record.getMessage(), *self._inputs), self._flags)}", "yellow")
