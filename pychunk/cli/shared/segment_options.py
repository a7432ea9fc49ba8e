"""The groups of options of the commands that read and cut documents, each declared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, cast

import typer

from ..._util.urls import named, parameters
from ...inputs.document_columns import DOCUMENT_COLUMNS, wanted_columns
from ...io import KINDS, Source, open_source
from ...io.document_batches import DeadLetters
from ...io.formats.html_files import How, Links
from ...methods import METHODS, option_names
from ...methods.pic import SOURCES
from ...methods.structure import WITHIN
from .grammar import method_of, value_of
from .option_groups import many

#: The options of methods that have a flag of their own, as a short form of -m METHOD:OPTION=VALUE.
SHORT_FORMS = {
    "size": "longest chunk in --unit, or with topic the mean length in tokens",
    "unit": "unit of sizes (tokens, words or characters)",
    "threshold": "threshold of scores (a number, or kind:value such as percentile:20, std:1 or iqr:1.5)",
    "window": "number of sentences compared on either side of a boundary",
    "summary": ", ".join(SOURCES),
    "k": "k of the threshold, which is the mean + k standard deviations",
    "within": f"{', '.join(WITHIN)}, the rule that cuts a section longer than a chunk",
}
#: The option for the kind of an input, for inputs whose names and first bytes do not tell.
Kind = Annotated[
    str,
    typer.Option(
        help=f"{', '.join(KINDS)}, or auto: the kind of the inputs, which auto finds by name, else by the first bytes."
    ),
]
OnError = Annotated[str, typer.Option(help="Action on rows, lines or files that cannot be read: raise or skip.")]
#: The sources of PIC's summary that belong to a column of the documents.
_BY_COLUMN = {"titles": "title", "summaries": "given"}


def _short(name: str) -> Any:
    owners = ", ".join(method for method in METHODS if name in option_names(method))
    return Annotated[str | None, typer.Option(help=f"{owners}: {SHORT_FORMS[name]}; short for -m METHOD:{name}=VALUE.")]


def _column(text: str) -> Any:
    return Annotated[str | None, typer.Option(metavar="COLUMN", help=f"Column: {text}.")]


_COLUMNS = {each.name: _column(each.text) for each in DOCUMENT_COLUMNS if each.flag}


@dataclass(frozen=True)
class SegmentOptions:
    """The options of a Segmenter for cutting documents."""

    heading: ClassVar[str] = "Chunking"

    method: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--method",
            metavar="METHOD[:OPTION=VALUE,...]",
            help="Method that chooses the boundaries, see `pychunk methods`. Default: structure for Markdown, HTML and "
            "PDF, else topic:size=150 in chunks of 64 to 200 tokens.",
        ),
    ] = None
    short: dict[str, str] = field(default_factory=dict, metadata=many({name: _short(name) for name in SHORT_FORMS}))
    max_tokens: Annotated[str | None, typer.Option(help="Longest chunk in tokens: a number, none or auto.")] = None
    min_tokens: Annotated[
        str | None, typer.Option(help="Shortest chunk in tokens: a number or auto. Shorter ones join a neighbour.")
    ] = None
    overlap: Annotated[int | None, typer.Option(help="Number of tokens repeated from the previous chunk.")] = None
    atoms: Annotated[
        bool | None,
        typer.Option(help="Keep headings, introductions, short pieces and marks with the text they belong to."),
    ] = None
    wrap: Annotated[
        bool | None,
        typer.Option(help="Treat single line breaks as spaces, or as ends of sentences. Default: detect from lines."),
    ] = None
    runtime: Annotated[
        str | None, typer.Option(help="Runtime of a transformer: onnxruntime, openvino or torch; auto: torch on a GPU.")
    ] = None
    device: Annotated[
        str | None, typer.Option(help="Device of a transformer, such as cpu, cuda or cuda:1; auto: cpu.")
    ] = None
    precision: Annotated[
        str | None,
        typer.Option(help="Precision with torch: fp32, fp16, bf16 or mixed; auto: mixed on a GPU, else fp32."),
    ] = None
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads; default: one for each available CPU.")
    ] = None

    def options(
        self,
        said: Mapping[str, str] = {},
        *,
        usual: Mapping[str, Mapping[str, Any]] = {},
        **flags: Any,
    ) -> dict[str, Any]:
        """Return the keywords of ``Segmenter`` without ``threads``.

        Args:
            said: The columns that the user named, which choose the summary that belongs to them.
            usual: The command's default options of each method.
            flags: The options that the command has flags of its own for.

        Raises:
            ValueError: An option is given twice, has no effect, or cannot be given on a command line.
        """
        name, options = (None, {}) if self.method is None else method_of(self.method)
        if name == "given":
            raise ValueError("method given takes its cuts from Python: pychunk.segment(texts, 'given', cuts=...)")
        if flags.get("vector_encoder") is not None and flags.get("vectors", "") is None:
            raise ValueError(
                "--vector-encoder changes nothing without --vectors: add --vectors chunk or sentence, or leave it out"
            )
        flags |= {key: value_of(value, f"--{key}") for key, value in self.short.items()}
        flags |= {key: getattr(self, key) for key in ("overlap", "runtime", "device", "precision")}
        flags = {key: value for key, value in flags.items() if value is not None}
        for key in ("max_tokens", "min_tokens"):
            if (value := getattr(self, key)) is not None:
                flags[key] = _tokens(key, value)
        if self.atoms is not None:
            flags["atoms"] = self.atoms
        if self.wrap is not None:
            flags["wrap"] = self.wrap
        twice = [key for key in flags if key in options]
        if twice:
            raise ValueError(f"{twice[0]} is given twice: in -m {self.method}, and by --{twice[0].replace('_', '-')}")
        by_column = next((_BY_COLUMN[each] for each in said if each in _BY_COLUMN and name in (None, "pic")), None)
        summary = {"summary": by_column} if by_column else {}
        return {"method": name, **usual.get(name or "", {}), **summary, **options, **flags}


@dataclass(frozen=True)
class ContextOptions:
    """The context that an index finds a chunk by, in addition to its text."""

    heading: ClassVar[str] = "Context"

    augment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOW[:OPTION=N,...]",
            help="Context to index with each chunk: head (the document's first 250 characters, or head:characters=N), "
            "title, path (the chunk's headings), summary (the document's central sentences), neighbours (text of the "
            "chunks around it), "
            "summary:llm or context:llm (written by an LLM), propositions:llm (facts in the chunk, by an LLM), or "
            "column:NAME; may be repeated.",
        ),
    ] = None


@dataclass(frozen=True)
class Encoders:
    """The encoder for the method, and the encoder of the vectors that chunks are found by."""

    heading: ClassVar[str] = "Encoder"

    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of the sentences: static, a name from `pychunk model list`, or an exported model's folder."
        ),
    ] = None
    vector_encoder: Annotated[
        str | None, typer.Option(help="Encoder of the vectors that are stored; default: that of --encoder.")
    ] = None


@dataclass(frozen=True)
class Vectors(Encoders):
    """The encoders, and the vectors that the table of chunks stores."""

    vectors: Annotated[str | None, typer.Option(help="Vectors to add as columns: chunk or sentence.")] = None


@dataclass(frozen=True)
class ReaderOptions:
    """The documents to read, and the columns with further facts about each."""

    heading: ClassVar[str] = "Input"

    column: Annotated[str | None, typer.Option(help="Column with the text; needed if several hold text.")] = None
    ids: Annotated[
        str | None,
        typer.Option("--ids", "--id-column", metavar="COLUMN", help="Column with the document ids, stored as `id`."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to repeat on every chunk; may be repeated."),
    ] = None
    said: dict[str, str] = field(default_factory=dict, metadata=many(_COLUMNS))
    encoding: Annotated[
        str | None,
        typer.Option(help="Character encoding of text, CSV and JSON Lines, such as cp1252; default: UTF-8."),
    ] = None
    quotes: Annotated[
        bool,
        typer.Option(help="csv, tsv: allow quoted fields, which may hold line breaks; else each line is one row."),
    ] = True
    redirects: Annotated[bool, typer.Option("--redirects", help="mediawiki: also read redirects.")] = False
    namespace: Annotated[
        list[str] | None, typer.Option(help="mediawiki: number of a namespace to read, or all; may be repeated.")
    ] = None
    workers: Annotated[int, typer.Option(min=1, help="mediawiki: number of processes that clean text.")] = 1
    noise: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="html: how to remove menus, banners, related links and footers: model (a trained one), rules (names "
            "of elements, share of links), or off (keep all).",
        ),
    ] = "model"
    noise_threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="html: remove blocks whose probability of being noise is higher than this number, 0 to 1. Default: "
            "chosen for each page.",
        ),
    ] = None
    links: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="html: form of links in the text: text (only their words), or inline ([words](target), and "
            "[image: alternative text] for an image in a block of its own).",
        ),
    ] = "text"
    hide_parameter: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Secret parameter of URLs, which no output and no message shows. Users, passwords, tokens, keys, "
            "signatures and the like are always hidden; may be repeated.",
        ),
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first N documents.")] = None

    def __post_init__(self) -> None:
        try:
            parameters(self.hide_parameter)
        except ValueError as error:
            raise typer.BadParameter(f"--hide-parameter: {error}") from None

    def named(self, paths: list[str]) -> list[str]:
        """Return paths and URLs as messages name them, without secrets."""
        return named(paths, parameters(self.hide_parameter))

    def sources(
        self,
        paths: list[str],
        kind: str,
        wants: frozenset[str],
        dead_letters: DeadLetters,
        kept: Sequence[str] = (),
        ids: str | None = None,
    ) -> list[tuple[Source, dict[str, Any]]]:
        """Return the inputs, each with the keywords of a call that name the columns of its documents.

        Args:
            paths: The paths and URLs to read.
            kind: The kind of the inputs, or ``auto``.
            wants: The columns that the method needs.
            dead_letters: The handler of documents that cannot be read.
            kept: The columns to keep by default, from inputs that have them.
            ids: The column of ids by default, from inputs that have it.

        Raises:
            ValueError: An option applies to a kind of file that is not among the inputs.
        """
        paths = self.named(paths)
        found = [self._source(path, kind, wants, dead_letters, kept, alone=len(paths) == 1) for path in paths]
        if ids and self.ids is None:
            found = [(_with_ids(source, ids), said) for source, said in found]
        if self.keep and (len(paths) > 1 or len(found[0][0].files) > 1):
            found = self._typed(found)
        kinds = {each: None for source, _ in found for each in source.kinds}
        tables = [name for name, kind in KINDS.items() if kind.is_table]
        said: dict[str, Any] = {"--column": self.column, "--ids": self.ids}
        said |= {"--no-quotes": None if self.quotes else True}
        said |= {"--redirects": self.redirects or None, "--namespace": self.namespace}
        of_tables, of_csv = ("--column", "--ids"), ("--no-quotes",)
        for option, value in said.items():
            of = tables if option in of_tables else ["csv", "tsv"] if option in of_csv else ["mediawiki"]
            if value is not None and kinds.keys().isdisjoint(of):
                raise ValueError(
                    f"{option} changes nothing for {', '.join(kinds)}: leave it out, or pass kind= {', '.join(of)} if "
                    "the input is of that kind"
                )
        return found

    def _typed(self, found: list[tuple[Source, dict[str, Any]]]) -> list[tuple[Source, dict[str, Any]]]:
        """Return the inputs, changed so that those that lack a column to keep get nulls of its type in the others.

        Raises:
            ValueError: No input has the column.
        """
        types: dict[str, Any] = {}
        there: set[str] = set()
        for source, said in found:
            lacking = source.lacking(said["keep"])
            own = replace(source, keep=tuple(name for name in said["keep"] if name not in lacking))
            there.update(own.keep)
            types = own.kept_types() | types
        for name in self.keep or []:
            if name not in there:
                known = dict.fromkeys(
                    each for source, _ in found for own in source.columns_by_kind().values() for each in own
                )
                close = get_close_matches(name, known, 1)
                meant = f" (did you mean {close[0]!r}?)" if close else ""
                listing = ", ".join(known) or "nothing"
                raise ValueError(f"--keep: none of the inputs has a column {name!r}{meant}; the columns are {listing}")
        return [(replace(source, kept=tuple(types.items())), said) for source, said in found]

    def _source(
        self,
        path: str,
        kind: str,
        wants: frozenset[str],
        dead_letters: DeadLetters,
        kept: Sequence[str],
        *,
        alone: bool,
    ) -> tuple[Source, dict[str, Any]]:
        """Return an input with the keywords of a call that name its columns, including those that methods need.

        Among several inputs, only those whose kinds may have a column keep it.
        """
        keep = self.keep or []
        if keep and not alone:
            kinds = set(self._opened(path, kind, self.said, dead_letters, ()).kinds)
            known = {"id", "text", "file"}.union(*([name for name, _ in KINDS[each].columns] for each in kinds))
            if not any(KINDS[each].is_table for each in kinds):
                keep = [name for name in keep if name in known]
        found = self._opened(path, kind, self.said, dead_letters, keep)
        if kept and self.keep is None:
            keep = _there(found, kept)
            found = self._opened(path, kind, self.said, dead_letters, keep)
        said: dict[str, Any] = dict(self.said)
        if wants - said.keys() and path != "-":
            said = wanted_columns(wants, found.column_names(), said)
            found = self._opened(path, kind, said, dead_letters, keep)
        return found, {**said, "keep": keep or ()}

    def _opened(
        self, path: str, kind: str, said: Mapping[str, str], dead_letters: DeadLetters, keep: Sequence[str]
    ) -> Source:
        return open_source(
            path,
            kind=kind,
            column=self.column,
            ids=self.ids,
            keep=keep,
            needed=list(said.values()),
            encoding=self.encoding,
            quotes=self.quotes,
            redirects=self.redirects,
            namespaces=self.namespaces,
            workers=self.workers,
            dead_letters=dead_letters,
            noise=cast("How", self.noise),
            noise_threshold=self.noise_threshold,
            links=cast("Links", self.links),
            hide_parameters=self.hide_parameter or (),
        )

    @property
    def namespaces(self) -> tuple[int, ...] | None:
        """The namespaces as ``open_source`` takes them, with None for all."""
        if not self.namespace:
            return (0,)
        if "all" in self.namespace:
            return None
        try:
            return tuple(int(each) for each in self.namespace)
        except ValueError:
            raise ValueError(f"--namespace must be a number or all; got {', '.join(self.namespace)}") from None


def _with_ids(source: Source, name: str) -> Source:
    """Return the source with ids from a column, if its tables have the column."""
    if not any(KINDS[kind].is_table for kind in source.kinds):
        return source
    known = source.columns_by_kind() if source.path != "-" else {source.kind: [name]}
    return replace(source, ids=name) if all(name in known.get(kind, [name]) for kind in known) else source


def _there(source: Source, names: Sequence[str]) -> list[str]:
    """Return the columns among ``names`` that the source has by its first rows; any row of JSON Lines may have them."""
    if "jsonl" in source.kinds or (source.path == "-" and KINDS[source.kind].is_table):
        return list(names)
    known = {"file"}.union(*source.columns_by_kind().values())
    return [name for name in names if name in known]


def _tokens(key: str, value: str) -> int | str | None:
    if value == "auto":
        return value
    if value.lower() == "none" and key == "max_tokens":
        return None
    try:
        return int(value)
    except ValueError:
        choices = "a number, none or auto" if key == "max_tokens" else "a number or auto"
        raise ValueError(f"--{key.replace('_', '-')} must be {choices}; got {value!r}") from None
