"""The class of commands that start fast and whose help has a heading for each group of options."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

from .other_flags import advice
from .value_types import read_quickly

#: Typer's names for the types of values. The line below has the names that the help shows instead.
_TYPE = re.compile(r"<(?:list\[)?(str|int|float|path)(?: range)?\]?>")
_SHOWN = {"str": "TEXT", "int": "N", "float": "NUMBER", "path": "PATH"}


class Command(TyperCommand):
    """A command whose help shows its options in groups.

    Attributes:
        headings: The title of the group of each option, by the name of the parameter. Other options have no entry.
    """

    headings: dict[str, str] = {}

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, changed by :func:`read_quickly`."""
        return read_quickly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the arguments. The error for an unknown option names its replacement if there is one."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # Typer's class for an unknown option is in different modules by its version.
            flag = str(getattr(error, "option_name", None))
            instead = advice(flag, {name for each in self.params for name in (*each.opts, *each.secondary_opts)})
            if instead is not None:
                vars(error).update(message=f"No such option: {flag}; write {instead}", possibilities=None)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the pieces of the usage line."""
        return [_usage(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options to the help, each group under its heading."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is None:
                continue
            said, about = record
            if each.param_type_name == "argument":
                found["Arguments"].append((_TYPE.sub("", said).rstrip(), about))
            else:
                shown = _TYPE.sub(lambda type_: _SHOWN[type_[1]], said)
                found.setdefault(self.headings.get(str(each.name), "Options"), []).append((shown, about))
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _usage(piece: str) -> str:
    """Return a part of the usage line in the common notation.

    >>> _usage("{INPUT...}..."), _usage("{NAME}"), _usage("[METHOD...]..."), _usage("[OPTIONS]"), _usage("INDEX")
    ('INPUT...', 'NAME', '[METHOD...]', '[OPTIONS]', 'INDEX')
    """
    several = "..." if piece.endswith("...") else ""
    inside = piece.removesuffix("...")
    if inside.startswith("{") and inside.endswith("}"):
        return inside[1:-1].removesuffix("...") + several
    if several and inside.startswith("[") and inside.endswith("]"):
        return f"[{inside[1:-1].removesuffix('...')}...]"
    return piece
