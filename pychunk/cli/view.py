"""The command `view`, which shows chunks on a page."""

from __future__ import annotations

import webbrowser
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from .._util.counting import counted
from ..chunks.provenance import BatchProvenance
from ..inputs.document_columns import arguments_of
from ..inputs.inputs import Inputs
from ..io import KINDS
from ..segmenter import Segmenter
from ..view import Pages
from .shared.batches import SkippedDocuments, documents, refuse
from .shared.console import errors, say
from .shared.errors import readable_errors
from .shared.option_groups import with_groups
from .shared.outputs import Overwrite, check_output
from .shared.segment_options import Encoders, Kind, OnError, ReaderOptions, SegmentOptions

EPILOG = """Examples:

pychunk view README.md -o readme.html

pychunk view README.md -m pic --against semantic --against fixed:size=100,unit=words -o readme.html --open

pychunk view articles.parquet --ids id --limit 20 -q "Who crossed the Andes?" -o andes.html"""


@with_groups
def view(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help=f"Files, folders, URLs ({', '.join(KINDS)}), or - for standard input."),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="HTML file to write, or - for standard output.")],
    against: Annotated[
        list[str] | None,
        typer.Option(metavar="METHOD[:OPTION=VALUE,...]", help="Another method to compare with -m; up to three."),
    ] = None,
    query: Annotated[
        list[str] | None,
        typer.Option("-q", "--query", help="Question whose hits the page shows in the text; may be repeated."),
    ] = None,
    hits: Annotated[int, typer.Option(min=1, help="Number of hits for each question.")] = 5,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    overwrite: Overwrite = False,
    *,
    cutting: SegmentOptions,
    encoders: Encoders,
    kind: Kind = "auto",
    reading: ReaderOptions,
    on_error: OnError = "raise",
) -> None:
    """Show documents with their chunks, scores and sizes on one page of HTML.

    The page needs no network.
    """
    inputs = reading.named(inputs)
    with readable_errors("interrupted; nothing was written", inputs=inputs):
        if output != "-":
            check_output(output, inputs, overwrite=overwrite)
        elif show:
            raise ValueError("--open needs a file, but -o is - (standard output): name a file with -o")
        methods = [cutting, *(replace(cutting, method=other) for other in against or [])]
        if len(methods) > 4:
            raise ValueError(f"a page has room for four methods side by side; got {len(methods)}")
        made = [
            Segmenter(**each.options(reading.said, **vars(encoders)), on_error=cast(Any, on_error)) for each in methods
        ]
        left_out = SkippedDocuments()
        title = ", ".join(Path(each).name or each for each in islice(inputs, 3)) + (", ..." if len(inputs) > 3 else "")
        pages = Pages(title, query or [], hits)
        first = 0
        with errors().status("reading") as status:
            for texts, said in documents(made, inputs, kind, reading, left_out if on_error == "skip" else refuse):
                status.update(f"cutting {counted(first + len(texts), 'document')}")
                batches = [
                    each(texts, first_document=first, **arguments_of(say)).with_origin(
                        BatchProvenance(each, Inputs(texts, dict(say), first_document=first))
                    )
                    for each, say in zip(made, said, strict=True)
                ]
                values = [value for part in texts.texts for value in part.to_pylist()]
                ids = range(first, first + len(values)) if texts.ids is None else texts.ids.to_pylist()
                pages.add(batches, values, [str(name) for name in ids])
                first += len(values)
            status.update("writing the page")
            page = pages.page()
        if output == "-":
            typer.echo(page.html, nl=False)
            return
        page.write(output)
        size = len(page.html.encode())
        large = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
        say(f"{counted(first, 'document')}, {large}: {output}")
        if show and not webbrowser.open(Path(output).resolve().as_uri()):
            say(f"this machine has no browser; open the page elsewhere: {output}", "yellow")
