"""The options of an LLM endpoint, and the command `llm check`, which reports what an endpoint offers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from ..augmentation.augment import with_client
from ..augmentation.llm_contexts import asks_model
from ..inputs.texts import PartialRowError
from ..methods import METHODS
from ..methods.llm_base import LLMMethod
from ..methods.proposition import Proposition
from .shared.commands import Command
from .shared.console import say
from .shared.errors import readable_errors

if TYPE_CHECKING:
    from rich.console import Console

    from ..chunks.batch import ChunkBatch
    from ..llm import LLM

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check what the LLM at an endpoint offers.")

Url = Annotated[
    str | None, typer.Option(help="URL of an OpenAI-compatible endpoint, up to /v1; default: PYCHUNK_LLM_URL.")
]
Model = Annotated[str | None, typer.Option(help="Name of the model at the endpoint; default: PYCHUNK_LLM_MODEL.")]

#: The methods that ask an LLM for their cuts or for propositions.
_ASKING = tuple(name for name, method in METHODS.items() if issubclass(method, (LLMMethod, Proposition)))

#: The most windows without an answer that are named one by one.
_MOST_NOTES = 3


@dataclass(frozen=True)
class LLMOptions:
    """The LLM that a command asks, and the limit on its cost."""

    heading: ClassVar[str] = "LLM endpoint"
    llm_url: Url = None
    llm_model: Model = None
    llm_price: Annotated[
        str | None,
        typer.Option(metavar="IN,OUT", help="Price of a million input and a million output tokens, for --max-cost."),
    ] = None
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop asking once this amount is spent.")] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask nothing, and report the calls and tokens that the run would need.")
    ] = False

    def client(self, options: Mapping[str, Any]) -> LLM | None:
        """Return the client if the options of a Segmenter need an LLM, else None.

        Raises:
            ValueError: An option of this group is given, but nothing asks an LLM.
        """
        return self.opened(asks_a_model(options))

    def opened(self, asks: bool, others: str = "") -> LLM | None:
        """Return the client if ``asks``, else None.

        ``others`` names further options by which a command asks an LLM, for the error message.
        """
        if not asks:
            given = [name for name, value in vars(self).items() if value not in (None, False)]
            if given:
                flag = f"--{given[0].replace('_', '-')}"
                raise ValueError(
                    f"{flag} needs an option that asks an LLM: methods {', '.join(_ASKING)}, -m pic:summary=llm, "
                    f"--augment summary:llm, context:llm or propositions:llm{others}"
                )
            return None
        from ..llm import LLM
        from ..llm.account import parsed_price

        price = parsed_price(self.llm_price, self.max_cost)
        return LLM(self.llm_url, self.llm_model, price=price, max_cost=self.max_cost, dry_run=self.dry_run)


def asks_a_model(options: Mapping[str, Any]) -> bool:
    """Return whether a Segmenter with these options asks an LLM, for cuts, summaries or contexts."""
    return by_method(options) or asks_model(options.get("augment"))


def by_method(options: Mapping[str, Any]) -> bool:
    """Return whether the method of these options asks an LLM."""
    return options["method"] in _ASKING or options.get("summary") == "llm"


def with_llm(options: Mapping[str, Any], llm: LLM) -> dict[str, Any]:
    """Return the options of a Segmenter with this client for its method and contexts."""
    asking = {"llm": llm} if by_method(options) else {}
    return {**options, **asking, **({"augment": with_client(options["augment"], llm)} if "augment" in options else {})}


class LLMReport:
    """The report on an LLM at the end of a run: windows without an answer, calls and cost.

    ``llm`` is the client, or None if no LLM is asked.
    """

    def __init__(self, llm: LLM | None, console: Console | None = None) -> None:
        self.llm, self.notes, self.count = llm, list[str](), 0
        self.console = console

    def __enter__(self) -> LLMReport:
        return self

    def __exit__(self, *_: object) -> None:
        self.say()

    def see(self, out: ChunkBatch) -> None:
        """Record the partial errors of a batch."""
        for error in out.errors:
            if isinstance(error, PartialRowError):
                self.count += 1
                if self.count <= _MOST_NOTES:
                    self.notes.append(f"document {error.row}: {error.reason}")

    def say(self) -> None:
        """Print the report, on standard error by default."""
        if self.llm is None:
            return
        more = [f"and {self.count - _MOST_NOTES:,} more"] if self.count > _MOST_NOTES else []
        for note in [*self.notes, *more]:
            say(note, "yellow", self.console)
        dry = ("dry run, nothing was asked; it would take at most ", ", plus retries")
        before, after = dry if self.llm.dry_run else ("", "")
        say(f"{before}{self.llm.account.line()}{after}", console=self.console)


@app.callback()
def _group() -> None:
    """Check what the LLM at an endpoint offers."""


@app.command(cls=Command, short_help="Ask an endpoint four short questions, and report what it offers.")
def check(llm_url: Url = None, llm_model: Model = None) -> None:
    """Ask an endpoint four short questions, and report what it offers.

    The report says whether the endpoint answers, how fast, and whether it offers JSON and logprobs. The key is read
    from PYCHUNK_LLM_KEY.
    """
    from rich.console import Console
    from rich.text import Text

    with readable_errors("interrupted"):
        from ..llm import LLM, Request
        from ..llm.json_schemas import TEXT, object_of

        console = Console(highlight=False, soft_wrap=True)
        with LLM(llm_url, llm_model, cache=False, retries=1) as llm:
            console.print(Text(f"endpoint    {llm.url}, model {llm.model}"))
            begun = time.monotonic()
            reply = llm.ask("Answer with the one word yes.", max_tokens=16)
            if reply.error:
                raise ValueError(f"{llm.url}, model {llm.model!r}: {reply.error}")
            spent = f"{reply.tokens_in} tokens in, {reply.tokens_out} out"
            console.print(Text(f"answers     in {time.monotonic() - begun:.2f} s ({spent}): {reply.text[:60]!r}"))
            logprobs = llm.ask("Answer with the one word yes or no.", max_tokens=1, logprobs=5).logprobs
            console.print(Text(f"logprobs    {'no' if logprobs is None else 'yes'}"))
        for form in ("schema", "json"):
            with LLM(llm_url, llm_model, cache=False, retries=1, output=form) as llm:
                schema = object_of(answer=TEXT)
                asked = Request('Answer in JSON with the one word yes: {"answer": "..."}', schema=schema, max_tokens=64)
                reply = llm.ask(asked)
                console.print(Text(f"{'JSON ' + form:<12}{_judged(reply.error, reply.text)}"))


def _judged(error: str, text: str) -> str:
    if error:
        return f"no: {error}"
    try:
        return "yes" if isinstance(json.loads(text), dict) else "accepted, but the answer is not an object"
    except (ValueError, RecursionError):
        return f"accepted, but the answer is not JSON: {text[:60]!r}"
