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

from ..._util import memory
from ..._util.memory import LACK, is_lack
from ..._util.urls import hidden
from ...inputs.document_columns import ROLES
from ...placement import Placement
from ...telemetry import logger
from .console import is_json, say, write_json

#: The option of the command line for each keyword, if the option takes several keywords as KEYWORD=VALUE.
_HOLDERS = {
    **dict.fromkeys(("device", "threads", "runtime", "precision"), "--placement"),
    **dict.fromkeys(
        (
            *("encoding", "quotes", "markup", "redirects", "namespaces", "workers", "noise", "noise_threshold"),
            *("links", "ocr", "hide_parameters"),
        ),
        "--reader",
    ),
    **dict.fromkeys(ROLES, "--column"),
}
#: A keyword argument that a message advises to pass.
_KEYWORD = re.compile(r"\bpass (\w+)=('([\w-]+)'|(?:True|False)\b)?")
#: A keyword argument that a message names and that is an option of the command line, with a value or without.
_OPTION = re.compile(
    rf"(?<![\w-])(augment|bm25|device|encoder|expansion|levels|max_tokens|method|min_tokens|mode|parents|planner|pooling|"
    rf"precision|rerank|rewrite|runtime|vectors|{'|'.join(ROLES)})="
    r"(?:'([^'\s]+)'|\"([^\"\s]+)\"|(?=[\s,;:.)]|$))"
)
#: The keywords of searches and indexes that have a shorter name on the command line.
_SHORT = {"bm25": "terms", "bm25_weight": "weight", "expansion": "expand", "max_words": "words", "planner": "plan"}
_SHORT_MUST = re.compile(rf"^({'|'.join(_SHORT)})(?= must )")
#: The objects Placement and Vectors in messages. Their arguments become options of the command line.
_PLACED = re.compile(r"placement=pychunk\.Placement\((\w+)=([^()]*)\)")
_VECTORS = re.compile(r"vectors=pychunk\.Vectors\('(\w+)', \.\.\.\)")
#: The objects Rerank, Rewrite and Expansion in messages. Their arguments become options of the command line.
_STAGE = re.compile(r"\b(Rerank|Rewrite)\('([^']+)'\)")
_PARENTS = re.compile(r"\bExpansion\('(\w+)', parents=True\)")
#: A role of the argument ``columns`` in a message. Another function's keyword for it may follow in brackets.
_ROLE = re.compile(r"columns=\{'(\w+)': \.\.\.\}(?: \(column= of [^)]*\))?")
#: The argument ``endings`` in a message.
_ENDINGS = re.compile(r"endings=\{'([^']+)': '(\w+)'\}")
#: The keywords in messages about an LLM endpoint, with their options. The key has no option, because it comes only from
#: the environment.
_OF_A_MODEL = {"url=": "--llm-url", "model=": "--llm-model", "key= or ": ""}


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message with the options of the command line in place of keywords.

    ``flags`` holds the option for each keyword whose option has another name.

    >>> in_flags("unknown kind; pass kind=, one of text, jsonl", {})
    'unknown kind; pass --kind, one of text, jsonl'
    >>> in_flags("fix it or pass on_error='skip'", {})
    'fix it or pass --on-error skip'
    >>> in_flags("method 'pic' needs columns={'titles': ...}: a title", {})
    "method 'pic' needs --column titles=...: a title"
    >>> in_flags("where quotes mean nothing, pass quotes=False", {})
    'where quotes mean nothing, pass --reader quotes=no'
    >>> in_flags("no method has it: pass placement=pychunk.Placement(threads=...)", {})
    'no method has it: pass --placement threads=...'
    >>> in_flags("an LLM needs url=, or PYCHUNK_LLM_URL in the environment", {})
    'an LLM needs --llm-url, or PYCHUNK_LLM_URL in the environment'
    >>> in_flags("build it again without bm25=None", {})
    'build it again without --terms none'
    >>> in_flags("expansion must be 0 or more, or expansion='section'", {})
    '--expand must be 0 or more, or --expand section'
    >>> in_flags("Rerank('features') needs terms: search with mode='hybrid'", {})
    '--rerank features needs terms: search with --mode hybrid'
    >>> in_flags("parents= needs a tree: pass Expansion('subtree', parents=True)", {})
    '--parents needs a tree: pass --expand subtree --parents'
    >>> in_flags("text of an unknown kind: pass kind='text' or endings={'.log': 'text'} to read it", {})
    'text of an unknown kind: pass --kind text or --ext .log=text to read it'
    """
    message = _PLACED.sub(lambda found: f"{found[1]}={found[2].removeprefix('...')}", message)
    message = _VECTORS.sub(r"--vectors \1 --vector-encoder", message)
    message = _STAGE.sub(lambda found: f"--{found[1].lower()} {found[2]}", message)
    message = _PARENTS.sub(r"--expand \1 --parents", message)
    message = _ENDINGS.sub(r"--ext \1=\2", message)
    if "PYCHUNK_LLM_" in message:
        for keyword, said in _OF_A_MODEL.items():
            message = re.sub(rf"\b{keyword}", said, message)

    def flag(found: re.Match[str]) -> str:
        value = found[3] or {"True": "yes", "False": "no"}.get(found[2] or "", "")
        if found[1] in _HOLDERS:
            return f"pass {_held(found[1], value)}"
        name = flags.get(found[1], f"--{found[1].replace('_', '-')}")
        if value == "no":
            name = f"--no-{name.removeprefix('--')}"
        return f"pass {name} {found[3]}" if found[3] else f"pass {name}"

    def option(found: re.Match[str]) -> str:
        value = found[2] or found[3]
        if found[1] in _HOLDERS:
            return _held(found[1], value)
        name = _SHORT.get(found[1], found[1])
        return f"--{name.replace('_', '-')}" + (f" {value}" if value else "")

    def role(found: re.Match[str]) -> str:
        if found[1] == "text":
            return "--column"
        return _held(found[1], None) if found[1] in ROLES else f"{found[0]} in Python"

    message = message.replace("bm25=None", "bm25='none'")
    message = _SHORT_MUST.sub(lambda found: f"--{_SHORT[found[1]]}", message)
    return _KEYWORD.sub(flag, _ROLE.sub(role, _OPTION.sub(option, message)))


def _held(keyword: str, value: str | None) -> str:
    """Return the option for a keyword, such as ``--reader quotes=no``, with an ellipsis for an unknown value."""
    return f"{_HOLDERS[keyword]} {keyword}={value or '...'}"


def cap_memory(where: Placement) -> None:
    """Make a run whose container has too little memory end with a message; see :func:`pychunk._util.memory.cap`.

    On a GPU nothing is limited, because its driver reserves more memory than it uses.
    """
    if where.device in ("auto", "cpu"):
        memory.cap()


@contextmanager
def readable_errors(
    interrupted: str, flags: Mapping[str, str] = {}, inputs: Sequence[str] = (), quiet: bool = False
) -> Iterator[None]:
    """End the command with status 2 and the error's message, or with 130 and ``interrupted`` after Ctrl-C.

    Warnings, and messages that are logged as warnings, also become one line, without their place in the code.

    Args:
        interrupted: The message after Ctrl-C.
        flags: The option for each keyword whose option has another name, as for :func:`in_flags`.
        inputs: The paths and URLs of the inputs. Messages do not show their secrets.
        quiet: Whether totals are not printed.
    """

    def shown(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"warning: {in_flags(hidden(str(message), *inputs), flags)}", "yellow")

    logged, level = _Logged(flags, inputs, quiet=quiet), logger.level
    logger.addHandler(logged)
    logger.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = shown
            yield
    except KeyboardInterrupt:
        say(interrupted)
        raise typer.Exit(130) from None
    except BrokenPipeError:  # the program that reads the output has ended
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
        logger.setLevel(level)


#: The events that the command line shows as a line.
_SHOWN = ("ocr.end",)
#: The attributes of every log record; those of pychunk's events have others, too.
_OF_RECORDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}


class _Logged(logging.Handler):
    """A logging handler that prints warnings and totals as the command line does; as JSON, it prints all events."""

    def __init__(self, flags: Mapping[str, str], inputs: Sequence[str], *, quiet: bool) -> None:
        super().__init__(logging.INFO)
        self._flags, self._inputs, self._quiet = flags, inputs, quiet

    def emit(self, record: logging.LogRecord) -> None:
        message = in_flags(hidden(record.getMessage(), *self._inputs), self._flags)
        if not is_json():
            if record.levelno >= logging.WARNING:
                say(f"warning: {message}", "yellow")
            elif getattr(record, "event", "") in _SHOWN and not self._quiet:
                say(message)
            return
        fields = {name: value for name, value in vars(record).items() if name not in _OF_RECORDS}
        write_json(record.levelname.lower(), fields.pop("event", "message"), message, fields)
