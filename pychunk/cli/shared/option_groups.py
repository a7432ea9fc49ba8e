"""The groups of options that several commands share, each declared once as a class."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass
from typing import Any


def many(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a dict field that stands for several options and holds the given ones by name."""
    return {"options": dict(options)}


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
            values[name] = group(**{each.name: _taken(each, values) for each in fields(group)})
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
    usual, found = type(group)(), []
    for each in fields(group):
        value = getattr(group, each.name)
        if each.metadata.get("options") is not None:
            found += value
        elif value != getattr(usual, each.name):
            found.append(each.name)
    return [f"--{name.replace('_', '-')}" for name in found]


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    group = parameter.annotation
    defaults = group() if parameter.default is inspect.Parameter.empty else parameter.default
    kinds = typing.get_type_hints(group, include_extras=True)
    found: dict[str, tuple[Any, Any]] = {}
    for each in fields(group):
        several = each.metadata.get("options")
        if several is None:
            found[each.name] = kinds[each.name], getattr(defaults, each.name)
        else:
            found |= {name: (kind, None) for name, kind in several.items()}
    return [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in found.items()
    ]


def _taken(each: Field[Any], values: dict[str, Any]) -> Any:
    several = each.metadata.get("options")
    if several is None:
        return values.pop(each.name)
    found = {name: values.pop(name) for name in several}
    return {name: value for name, value in found.items() if value is not None}
