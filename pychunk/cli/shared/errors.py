"""Errors of the command line as one line that says what to do."""

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

#: What a message advises to pass to a function.
_KEYWORD = re.compile(r"\bpass (\w+)=('([\w-]+)'|(?:True|False)\b)?")
#: What it names besides, where the command line has an option of that name: with a value, or with nothing behind it.
_OPTION = re.compile(
    r"(?<![\w-])(augment|device|encoder|expand|levels|max_tokens|method|min_tokens|mode|parents|plan|pooling|precision|"
    r"rerank|rewrite|runtime|summaries|terms|titles|unit|vectors)="
    r"(?:'([^'\s]+)'|\"([^\"\s]+)\"|(?=[\s,;:.)]|$))"
)
#: What messages about a model behind an endpoint advise; the key is in the environment alone.
_OF_A_MODEL = {"url=": "--llm-url", "model=": "--llm-model", "key= or ": ""}


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """An error's advice in the command line's words; ``flags`` are those that are not called as the keyword is.

    >>> in_flags("unknown kind; pass kind=, one of text, jsonl", {})
    'unknown kind; pass --kind, one of text, jsonl'
    >>> in_flags("mend it or pass on_error='skip'", {})
    'mend it or pass --on-error skip'
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
    """Ends the command with status 2 and the error's message, or 130 and ``interrupted`` after Ctrl-C.

    Warnings, and what is logged as such, are one line, too, without the place in the code that they come from.

    ``flags``: as for :func:`in_flags`. ``inputs``: paths as they are named, whose secrets no message has.
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
    except BrokenPipeError:  # whoever read the output has gone
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
    """Shows what is logged as a warning."""

    def __init__(self, flags: Mapping[str, str], inputs: Sequence[str]) -> None:
        super().__init__(logging.WARNING)
        self._flags, self._inputs = flags, inputs

    def emit(self, record: logging.LogRecord) -> None:
        say(f"warning: {in_flags(hidden(record.getMessage(), *self._inputs), self._flags)}", "yellow")
