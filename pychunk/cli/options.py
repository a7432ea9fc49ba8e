"""The Segmenter's options on the command line: declared once, for every command that cuts documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Method = Annotated[str, typer.Option("-m", "--method", help="How to cut; see `pychunk methods`.")]
Encoder = Annotated[
    str | None,
    typer.Option(
        help="What sees the sentences: static, a name from `pychunk model list`, or an exported model's folder."
    ),
]
VectorEncoder = Annotated[
    str | None, typer.Option(help="Encoder of the vectors that --vectors adds; default: the same.")
]
Runtime = Annotated[
    str, typer.Option(help="What runs a transformer: onnxruntime, openvino or torch; auto: torch on a GPU.")
]
Device = Annotated[str, typer.Option(help="cpu, cuda or cuda:1; auto is cpu.")]
Precision = Annotated[str, typer.Option(help="torch: fp32, fp16, bf16 or mixed; auto: mixed on a GPU, else fp32.")]
Column = Annotated[str | None, typer.Option(help="Column that holds the text, if there are several.")]
IdColumn = Annotated[str | None, typer.Option(help="Column of document ids, kept as `id`.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N documents.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads; default: every CPU at hand.")]
MaxTokens = Annotated[str, typer.Option(help="Longest chunk in tokens: a number, none or auto.")]
MinTokens = Annotated[int, typer.Option(help="Shorter chunks join a neighbour.")]
Overlap = Annotated[int, typer.Option(help="Tokens repeated from the chunk before.")]
Vectors = Annotated[str | None, typer.Option(help="Add vectors: chunk or sentence.")]
Wrap = Annotated[bool, typer.Option(help="Treat line breaks in hard-wrapped text as spaces.")]
Size = Annotated[int | None, typer.Option(help="fixed, recursive: longest chunk, in --unit.")]
Unit = Annotated[str | None, typer.Option(help="fixed, recursive: tokens, words or characters.")]
Threshold = Annotated[
    str | None, typer.Option(help="semantic, nsp: a number, or kind:value such as percentile:20, std:1, iqr:1.5.")
]
Window = Annotated[int | None, typer.Option(help="semantic: sentences compared on either side.")]
Summary = Annotated[str | None, typer.Option(help="pic: extractive, mean, lead, title, given, sentence, random.")]
K = Annotated[float | None, typer.Option(help="pic: threshold = mean + k deviations.")]


def segmenter_options(
    *, max_tokens: str, wrap: bool, threshold: str | None, own: dict[str, Any], **others: Any
) -> dict[str, Any]:
    """Keywords of ``Segmenter``: texts as the values that they mean; ``own`` are the method's, None where not given.

    Raises:
        ValueError: a text that means nothing.
    """
    options = {**others, "max_tokens": _tokens(max_tokens), "wrap": "auto" if wrap else False}
    options |= {name: value for name, value in own.items() if value is not None}
    if threshold is not None:
        options["threshold"] = _threshold(threshold)
    return options


def _tokens(value: str) -> int | str | None:
    if value == "auto":
        return value
    if value.lower() == "none":
        return None
    try:
        return int(value)
    except ValueError:
        raise ValueError(f"--max-tokens must be a number, none or auto; got {value!r}") from None


def _threshold(value: str) -> tuple[str, float] | float:
    kind, colon, number = value.rpartition(":")
    try:
        return (kind, float(number)) if colon else float(number)
    except ValueError:
        raise ValueError(f"--threshold must be a number or kind:value such as percentile:20; got {value!r}") from None
