"""The groups of options of the commands that read and cut documents, each declared once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, cast

import typer

from ..._util.suggestions import did_you_mean
from ..._util.urls import named, parameters
from ...inputs.document_columns import ROLES, DocumentColumns, wanted_columns
from ...io import KINDS, Source, open_source
from ...io.document_batches import DeadLetters
from ...io.recognition import checked
from ...placement import Placement
from ...tokenizers.tokenizer import Tokenizer
from ...vectors import Vectors as ReturnedVectors
from .grammar import method_of, value_of

#: The option for the kind of the inputs, needed if neither their names nor their first bytes show it.
Kind = Annotated[
    str,
    typer.Option(
        help=f"{', '.join(KINDS)}, or auto: the kind of the inputs. auto finds it by the name, else by the first bytes."
    ),
]
OnError = Annotated[str, typer.Option(help="Action on rows, lines or files that cannot be read: raise or skip.")]
#: The value of PIC's option ``summary`` for each column of the documents that holds summaries.
_BY_COLUMN = {"titles": "title", "summaries": "given"}


def _yes(value: str) -> bool:
    if value not in ("yes", "no"):
        raise ValueError
    return value == "yes"


def _namespaces(value: str) -> tuple[int, ...] | None:
    return None if value == "all" else tuple(int(each) for each in value.split("+"))


def _secrets(value: str) -> tuple[str, ...]:
    names = tuple(value.split("+"))
    parameters(names)
    if any(mark in value for mark in ", "):
        raise ValueError("write the names with + between them, such as visitor+sid")
    return names


#: The options of readers that --reader takes: keywords of `open_source`, with the parsers of their values.
_READER: dict[str, Callable[[str], Any]] = {
    "encoding": str,
    "quotes": _yes,
    "markup": str,
    "redirects": _yes,
    "namespaces": _namespaces,
    "workers": int,
    "noise": str,
    "noise_threshold": float,
    "links": str,
    "ocr": _yes,
    "hide_parameters": _secrets,
}
_EXPECTED: dict[Any, str] = {
    _yes: "write yes or no",
    _namespaces: "write numbers with + between them, or all",
    int: "write a whole number",
    float: "write a number",
}


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
    max_tokens: Annotated[str | None, typer.Option(help="Longest chunk in tokens: a number, none or auto.")] = None
    min_tokens: Annotated[
        str | None, typer.Option(help="Shortest chunk in tokens: a number or auto. Shorter ones join a neighbour.")
    ] = None
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH[,special=N][,render=true]",
            help="Tokenizer that counts tokens: o200k_base, cl100k_base, gpt2, xlm-r (see `pychunk model get`), or the "
            "path of a tokenizer.json, .model, .tiktoken file or model's folder. special=N: tokens that the model adds "
            "to each chunk. render=true: count the text of chunk.render(), with headings. Default: the encoder's.",
        ),
    ] = None
    overlap: Annotated[int | None, typer.Option(help="Number of tokens repeated from the previous chunk.")] = None
    keep_together: Annotated[
        bool | None,
        typer.Option(help="Keep headings, introductions and very short chunks with the text they belong to."),
    ] = None
    unwrap_lines: Annotated[
        bool | None,
        typer.Option(help="Treat single line breaks as spaces, or (--no-) as ends of sentences. Default: detect."),
    ] = None
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="DEVICE|OPTION=VALUE,...",
            help="A device, such as cuda:1, or options: device, threads, runtime (onnxruntime, openvino, torch), "
            "precision (int8, or of torch fp32, fp16, bf16, mixed), cache (a folder that keeps vectors). "
            "Example: device=cuda,precision=fp32. Default: all CPUs.",
        ),
    ] = None

    @property
    def where(self) -> Placement:
        """The placement that ``--placement`` names.

        Raises:
            ValueError: ``--placement`` has an unknown option, or the same option twice.
        """
        if self.placement is None:
            return Placement()
        found: dict[str, Any] = {}
        for part in self.placement.split(","):
            name, is_pair, value = part.partition("=")
            if not is_pair:
                name, value = "device", part
            if name not in ("device", "threads", "runtime", "precision", "cache"):
                raise ValueError(
                    f"--placement has no option {name!r}; its options are device, threads, runtime, precision and cache"
                )
            if name in found:
                raise ValueError(f"--placement names {name} twice: {found[name]} and {value}; name it once")
            found[name] = value_of(value, "--placement threads") if name == "threads" else value
        return Placement(**found)

    def options(
        self,
        said: Mapping[str, str] = {},
        *,
        usual: Mapping[str, Mapping[str, Any]] = {},
        **flags: Any,
    ) -> dict[str, Any]:
        """Return the keywords of ``Segmenter``.

        Args:
            said: The columns that the user named, by role. A column of titles or summaries also sets PIC's option
                ``summary``.
            usual: The command's default options of each method.
            flags: The values of options for which the command has separate flags.

        Raises:
            ValueError: An option is given twice, has no effect, or cannot be given on a command line.
        """
        name, options = (None, {}) if self.method is None else method_of(self.method)
        if name == "precomputed":
            raise ValueError(
                "method precomputed needs cuts, which only Python can pass: "
                "pychunk.segment(texts, 'precomputed', columns={'cuts': ...})"
            )
        vector_encoder = flags.pop("vector_encoder", None)
        if vector_encoder is not None and flags.get("vectors") is None:
            raise ValueError(
                "--vector-encoder changes nothing without --vectors: add --vectors chunk or sentence, or leave it out"
            )
        if flags.get("vectors") is not None:
            flags["vectors"] = _vectors(flags["vectors"], vector_encoder)
        flags |= {
            "overlap": self.overlap,
            "tokenizer": None if self.tokenizer is None else _tokenizer(self.tokenizer),
            "placement": None if self.placement is None else self.where,
        }
        flags = {key: value for key, value in flags.items() if value is not None}
        for key in ("max_tokens", "min_tokens"):
            if (value := getattr(self, key)) is not None:
                flags[key] = _tokens(key, value)
        if self.keep_together is not None:
            flags["keep_together"] = self.keep_together
        if self.unwrap_lines is not None:
            flags["unwrap_lines"] = self.unwrap_lines
        twice = [key for key in flags if key in options]
        if twice:
            raise ValueError(
                f"{twice[0]} is given twice: in -m {self.method}, and by --{twice[0].replace('_', '-')}; leave out one"
            )
        by_column = next((_BY_COLUMN[each] for each in said if each in _BY_COLUMN and name in (None, "pic")), None)
        summary = {"summary": by_column} if by_column else {}
        return {"method": name, **usual.get(name or "", {}), **summary, **options, **flags}


def _tokenizer(text: str) -> str | Tokenizer:
    """Return the tokenizer that ``--tokenizer`` names, with what its tokens include in addition to those of a text."""
    source, given = text, dict[str, str]()
    while match := re.fullmatch(r"(.*),(special|render)=([^,]*)", source, re.DOTALL):
        source, name, value = match.groups()
        if name in given:
            raise ValueError(f"--tokenizer names {name}= twice; got {text!r:.200}: leave out one")
        given[name] = value
    special, render = given.get("special", "0"), given.get("render", "false")
    if not special.isdecimal():
        raise ValueError(
            f"--tokenizer {source},special=N takes a number of special tokens, such as 2; got {special!r:.80}"
        )
    if render not in ("true", "false"):
        raise ValueError(f"--tokenizer {source},render= takes true or false; got {render!r:.80}")
    return Tokenizer(source, special=int(special), render=render == "true") if given else text


def _vectors(text: str, encoder: str | None) -> ReturnedVectors:
    """Return the vectors that ``--vectors`` and ``--vector-encoder`` name."""
    of, *options = text.split(",")
    found: dict[str, Any] = {}
    for each in options:
        name, _, value = each.partition("=")
        if name in found:
            raise ValueError(f"--vectors: {name} is given twice in {text!r:.80}; give it once")
        if name != "late_chunking":
            raise ValueError(f"--vectors takes one option, late_chunking=true; got {each!r:.80}: leave it out")
        found[name] = value_of(value, "--vectors late_chunking")
    return ReturnedVectors(cast(Any, of), encoder, **found)


@dataclass(frozen=True)
class ContextOptions:
    """The context by which an index finds a chunk, in addition to the chunk's text."""

    heading: ClassVar[str] = "Context"

    augment: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOW[:OPTION=N,...]",
            help="Context to index with each chunk: head (its document's first 250 characters, or head:characters=N), "
            "title, summary (the document's central sentences), path (the headings above it), neighbours (the most "
            "central sentence of the chunks around it) or column:NAME. By an LLM: summary:llm, context:llm or "
            "propositions:llm (the chunk's facts). May be repeated.",
        ),
    ] = None


@dataclass(frozen=True)
class Encoders:
    """The encoder that the method uses, and the encoder of the vectors by which chunks are found."""

    heading: ClassVar[str] = "Encoder"

    encoder: Annotated[
        str | None,
        typer.Option(
            help="Encoder of the sentences: static (default), multilingual, auto (one of these for each document), a "
            "name from `pychunk model list`, or an exported model's folder."
        ),
    ] = None
    vector_encoder: Annotated[
        str | None, typer.Option(help="Encoder of the vectors that are stored; default: the same as --encoder.")
    ] = None


@dataclass(frozen=True)
class Vectors(Encoders):
    """The encoders, and the vectors that the table of chunks stores."""

    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="OF[,late_chunking=true]",
            help="Vectors to add as columns: chunk or sentence. If a transformer should read whole documents: "
            "chunk,late_chunking=true.",
        ),
    ] = None


@dataclass(frozen=True)
class ReaderOptions:
    """The documents to read, and the columns with further facts about each document."""

    heading: ClassVar[str] = "Input"

    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ROLE=]COLUMN",
            help="Column with the text, needed if several columns hold text. ROLE=COLUMN names a column that holds "
            f"something else about each document: {', '.join(ROLES)}. May be repeated.",
        ),
    ] = None
    ids: Annotated[
        str | None,
        typer.Option(
            "--ids", "--id-column", metavar="COLUMN", help="Column with the document ids, stored as `document_id`."
        ),
    ] = None
    metadata_columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to repeat on every chunk; may be repeated."),
    ] = None
    reader: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPTION=VALUE",
            help="Option of a reader; may be repeated. encoding=cp1252 is for text, CSV and JSON Lines; "
            "markup=markdown (or html, auto) for tables; quotes=no for CSV and TSV; redirects=yes and namespaces=0+14 "
            "(or all) for mediawiki; workers=2 for mediawiki and PDF. For HTML there are noise=rules or off (default: "
            "model), noise_threshold=0.3 (default: chosen for each page) and links=inline. ocr=yes reads scanned pages "
            "of PDF, and images. hide_parameters=visitor+sid names secret parameters of URLs, which no output and no "
            "message shows; users, passwords, tokens, keys, signatures and the like are always hidden.",
        ),
    ] = None
    ext: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENDING=KIND",
            help="Kind of the files whose names end so, such as .log=text, also inside archives; may be repeated.",
        ),
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first N documents.")] = None

    def __post_init__(self) -> None:
        try:
            _ = self.reading
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    @functools.cached_property
    def roles(self) -> DocumentColumns:
        """The columns of documents by role, as `segment` takes them.

        Raises:
            ValueError: A role is named twice.
        """
        found: dict[str, str] = {}
        for each in self.column or []:
            role, is_pair, name = each.partition("=")
            if not (is_pair and role in ("text", *ROLES)):
                role, name = "text", each
            if role in found:
                raise ValueError(f"--column names {role} twice: {found[role]!r} and {name!r}; name it once")
            found[role] = name
        return cast("DocumentColumns", found)

    @property
    def text(self) -> str | None:
        """The column that holds the text, if it is named."""
        return self.roles.get("text")

    @property
    def said(self) -> dict[str, str]:
        """The named columns by role, without the column of the text."""
        return {role: str(name) for role, name in self.roles.items() if role != "text"}

    @functools.cached_property
    def reading(self) -> dict[str, Any]:
        """The options of readers as `open_source` takes them.

        Raises:
            ValueError: An option is unknown or has a wrong value.
        """
        found: dict[str, Any] = {"endings": self._endings()} if self.ext else {}
        for each in self.reader or []:
            name, _, value = each.partition("=")
            if name not in _READER:
                meant = did_you_mean(name, _READER)
                raise ValueError(f"--reader has no option {name!r}; its options are {', '.join(_READER)}{meant}")
            if name in found:
                raise ValueError(f"--reader names {name} twice; name it once")
            try:
                found[name] = _READER[name](value)
            except ValueError as error:  # the value of hide_parameters may hold a secret
                expected = _EXPECTED.get(_READER[name])
                raise ValueError(f"--reader {name}={value}: {expected}" if expected else f"{name}: {error}") from None
        return found

    def _endings(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in self.ext or []:
            ending, _, kind = each.partition("=")
            if not ending or not kind:
                raise ValueError(f"--ext {each}: write an ending and a kind, such as .log=text")
            if found.setdefault(ending, kind) != kind:
                raise ValueError(f"--ext names {ending} twice: {found[ending]} and {kind}; name it once")
        return dict(checked(found))

    @property
    def hidden(self) -> frozenset[str]:
        """The further parameters of URLs that are secret."""
        return parameters(self.reading.get("hide_parameters"))

    def named(self, paths: list[str]) -> list[str]:
        """Return paths and URLs as messages name them, without secrets."""
        return named(paths, self.hidden)

    def sources(
        self,
        paths: list[str],
        kind: str,
        wants: frozenset[str],
        dead_letters: DeadLetters,
        kept: Sequence[str] = (),
        ids: str | None = None,
    ) -> list[tuple[Source, dict[str, Any]]]:
        """Return the inputs, each with the keywords that name the columns of its documents in a call of the segmenter.

        Args:
            paths: The paths and URLs to read.
            kind: The kind of the inputs, or ``auto``.
            wants: The roles of the columns that the method can use.
            dead_letters: The handler of documents that cannot be read.
            kept: The columns to keep if the user names none, from inputs that have them.
            ids: The column of ids if the user names none, from inputs that have it.

        Raises:
            ValueError: An option applies to a kind of file that is not among the inputs.
        """
        paths = self.named(paths)
        found = [self._source(path, kind, wants, dead_letters, kept, alone=len(paths) == 1) for path in paths]
        if ids and self.ids is None:
            found = [(_with_ids(source, ids), said) for source, said in found]
        if self.metadata_columns and (len(paths) > 1 or len(found[0][0].files) > 1):
            found = self._typed(found)
        kinds = {each: None for source, _ in found for each in source.kinds}
        tables = [name for name, kind in KINDS.items() if kind.is_table]
        said: dict[str, Any] = {"--column": self.text, "--ids": self.ids}
        said |= {f"--reader {name}": self.reading.get(name) for name in ("quotes", "markup", "redirects", "namespaces")}
        for option, value in said.items():
            of = tables if option in ("--column", "--ids", "--reader markup") else ["mediawiki"]
            of = ["csv", "tsv"] if option == "--reader quotes" else of
            if value is not None and kinds.keys().isdisjoint(of):
                raise ValueError(
                    f"{option} changes nothing for {', '.join(kinds)}: leave it out, or pass kind= {', '.join(of)} if "
                    "the input is of that kind"
                )
        return found

    def _typed(self, found: list[tuple[Source, dict[str, Any]]]) -> list[tuple[Source, dict[str, Any]]]:
        """Return the inputs, changed so that an input that lacks a kept column gets nulls in it.

        The nulls have the type that the column has in the other inputs.

        Raises:
            ValueError: No input has the column.
        """
        types: dict[str, Any] = {}
        there: set[str] = set()
        for source, said in found:
            lacking = source.lacking(said["metadata_columns"])
            own = replace(
                source, metadata_columns=tuple(name for name in said["metadata_columns"] if name not in lacking)
            )
            there.update(own.metadata_columns)
            types = own.kept_types() | types
        for name in self.metadata_columns or []:
            if name not in there:
                known = dict.fromkeys(
                    each for source, _ in found for own in source.columns_by_kind().values() for each in own
                )
                close = get_close_matches(name, known, 1)
                meant = f" (did you mean {close[0]!r}?)" if close else ""
                listing = ", ".join(known) or "nothing"
                raise ValueError(
                    f"--metadata-columns: none of the inputs has a column {name!r}{meant}; the columns are {listing}"
                )
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
        """Return an input with the keywords that name its columns in a call, also the columns that the method uses.

        If there are several inputs, an input that is no table keeps only columns that files of its kind can have.
        """
        metadata_columns = self.metadata_columns or []
        if metadata_columns and not alone:
            kinds = set(self._opened(path, kind, self.said, dead_letters, ()).kinds)
            known = {"id", "text", "file"}.union(*([name for name, _ in KINDS[each].columns] for each in kinds))
            if not any(KINDS[each].is_table for each in kinds):
                metadata_columns = [name for name in metadata_columns if name in known]
        found = self._opened(path, kind, self.said, dead_letters, metadata_columns)
        if kept and self.metadata_columns is None:
            metadata_columns = _there(found, kept)
            found = self._opened(path, kind, self.said, dead_letters, metadata_columns)
        said: dict[str, Any] = dict(self.said)
        if wants - said.keys() and path != "-":
            said = wanted_columns(wants, found.column_names(), said)
            found = self._opened(path, kind, said, dead_letters, metadata_columns)
        return found, {**said, "metadata_columns": metadata_columns or ()}

    def _opened(
        self, path: str, kind: str, said: Mapping[str, str], dead_letters: DeadLetters, metadata_columns: Sequence[str]
    ) -> Source:
        return open_source(
            path,
            kind=kind,
            column=self.text,
            ids=self.ids,
            metadata_columns=metadata_columns,
            needed=list(said.values()),
            dead_letters=dead_letters,
            **self.reading,
        )


def _with_ids(source: Source, name: str) -> Source:
    """Return the source with ids from a column, if its tables have the column."""
    if not any(KINDS[kind].is_table for kind in source.kinds):
        return source
    known = source.columns_by_kind() if source.path != "-" else {source.kind: [name]}
    return replace(source, ids=name) if all(name in known.get(kind, [name]) for kind in known) else source


def _there(source: Source, names: Sequence[str]) -> list[str]:
    """Return the columns among ``names`` that the source has; for JSON Lines all of them, as any row may have them."""
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
