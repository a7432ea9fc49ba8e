"""The groups of options that several commands share, each declared once as a class."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any


def with_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with an option for each field of the groups among its parameters.

    A group is a dataclass whose fields are annotated as options. Its class variable ``heading`` is their title in the
    help. If the parameter has a default, the options take their defaults from it, so each command can have its own.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {}
    headings: dict[str, str] = {}
    shown: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            options = _options(parameter)
            heading = getattr(parameter.annotation, "heading", "Options")
            headings |= {each.name: heading for each in options}
            shown += options
        else:
            shown.append(parameter)

    def run(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        return command(**values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__dict__["headings"] = headings
    run.__dict__["__signature__"] = signature.replace(
        parameters=shown
    )  # the signature that Typer reads through inspect
    run.__annotations__ = {each.name: each.annotation for each in shown}
    return run


def given_in(group: Any) -> list[str]:
    """Return the options of a group whose values differ from the defaults, as the user writes them."""
    usual = type(group)()
    found = [each.name for each in fields(group) if getattr(group, each.name) != getattr(usual, each.name)]
    return [f"--{name.replace('_', '-')}" for name in found]


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    group = parameter.annotation
    defaults = group() if parameter.default is inspect.Parameter.empty else parameter.default
    kinds = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(defaults, each.name),
            annotation=kinds[each.name],
        )
        for each in fields(group)
    ]
