"""Questions with known answers, reference spans or pages, and documents with known boundaries, read from files."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

Span = tuple[int, int]

_HEADING_WORDS = 8
_PAGE_MARK = re.compile(r"^===== Page (\d+) =====(?:\n|\Z)", re.MULTILINE)
_OPTIONS = tuple("ABCDEF")


@dataclass(frozen=True)
class Question:
    """A question about one document.

    Attributes:
        document: row in the dataset's documents; -1 where it is not known.
        answers: any of these strings is right.
        spans: what answers it, in characters of the document.
        paragraph: what it was asked about, in characters of the document (a paragraph or a page).
        page: the same as a page number, counted from 1.
        options: of a multiple-choice question.
    """

    text: str
    document: int
    answers: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    paragraph: Span | None = None
    page: int | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Documents and what is known about them.

    Attributes:
        kind: what the questions come with; "boundaries" has none and is about the documents themselves.
        ids: one a document.
        page_starts: of each document, in characters; only where there are pages.
        boundaries: where the sections of each document begin, in characters, without 0; only of kind "boundaries".
        titles: of each document, for ``augment="title"``; only where they are told.
    """

    name: str
    kind: Literal["answers", "references", "pages", "boundaries"]
    ids: list[str]
    documents: list[str]
    questions: list[Question] = field(default_factory=list)
    page_starts: list[list[int]] = field(default_factory=list)
    boundaries: list[list[int]] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)


def load(path: str | Path, limit: int | None = None, *, pdf: bool = False) -> Dataset:
    """The dataset in a file or folder, of whatever kind it is; its first ``limit`` questions.

    ``pdf``: of leaflets the PDF files, as :func:`unlp` has it.

    A path that is not there is looked for in the folder that PYCHUNK_DATA names. Documents are never left out, but
    where there are no questions ``limit`` is of documents.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1; got {limit}")
    where = Path(path)
    if not where.exists():
        where = Path(os.environ.get("PYCHUNK_DATA", "")) / path
    if not where.exists():
        raise ValueError(f"no dataset at {path}: no such file or folder, nor one in the folder PYCHUNK_DATA names")
    if pdf:
        if not (where / "questions.csv").is_file():
            raise ValueError(f"{where} has no questions.csv about PDF files, which alone are read as such")
        return unlp(where, limit, pdf=True)
    if where.is_dir():
        return _load_folder(where, limit)
    if where.suffix == ".parquet":
        return wikipedia_sections(where, limit)
    if where.suffix == ".jsonl":
        return jsonl(where, limit=limit)
    if where.suffix == ".json":
        return squad(where, limit)
    raise ValueError(f"{where} is no dataset: looked for .json (SQuAD), .jsonl or .parquet; got {where.suffix!r}")


def _load_folder(folder: Path, limit: int | None) -> Dataset:
    table = folder / "questions.csv"
    if table.exists():
        with table.open(encoding="utf-8-sig", newline="") as lines:
            columns = next(csv.reader(lines), [])
        if set(columns) >= _REFERENCE_COLUMNS:
            return chunking_evaluation(folder, limit)
        if set(columns) >= _PAGE_COLUMNS:
            return unlp(folder, limit)
        raise ValueError(
            f"{table} is no dataset: looked for the columns {sorted(_REFERENCE_COLUMNS)} or {sorted(_PAGE_COLUMNS)}; "
            f"got {columns}"
        )
    if (folder / "questions.jsonl").exists():
        documents = folder / "documents.jsonl"
        return jsonl(folder / "questions.jsonl", documents if documents.exists() else None, limit)
    files = [file for file in sorted(folder.iterdir()) if file.suffix in (".json", ".jsonl", ".parquet")]
    if len(files) == 1:
        return load(files[0], limit)
    raise ValueError(
        f"{folder} is no dataset: looked for questions.csv, questions.jsonl or one .json, .jsonl or .parquet file; "
        f"found {', '.join(file.name for file in files) or 'none of them'}"
    )


def squad(path: str | Path, limit: int | None = None) -> Dataset:
    """SQuAD 1 or 2 (Rajpurkar et al., 2016, 2018), its answerable questions.

    A document is an article, its paragraphs joined by a line break. An answer may be a string or {"text": ...}.
    """
    file = Path(path)
    content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or "data" not in content:
        got = sorted(content) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{file} is not SQuAD: looked for the key 'data'; got {got}")
    ids, documents, questions = [], [], []
    titles = [str(article.get("title", "")).replace("_", " ") for article in content["data"]]
    for number, article in enumerate(content["data"]):
        start = 0
        for paragraph in article["paragraphs"]:
            span = (start, start + len(paragraph["context"]))
            start = span[1] + 1
            for asked in paragraph["qas"]:
                answers = _distinct(
                    answer if isinstance(answer, str) else answer["text"] for answer in asked["answers"]
                )
                if answers and not asked.get("is_impossible"):
                    questions.append(Question(asked["question"], number, answers, paragraph=span))
        ids.append(str(article.get("title", number)))
        documents.append("\n".join(paragraph["context"] for paragraph in article["paragraphs"]))
    return Dataset(file.stem, "answers", ids, documents, questions[:limit], titles=titles if any(titles) else [])


_REFERENCE_COLUMNS = {"question", "references", "corpus_id"}


def chunking_evaluation(folder: str | Path, limit: int | None = None) -> Dataset:
    """Chroma's chunking evaluation: questions.csv, and a text <corpus_id>.md for each of its corpora."""
    folder = Path(folder)
    texts = {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.md"))}
    rows = {name: row for row, name in enumerate(texts)}
    questions = []
    for number, row in islice(_csv_rows(folder / "questions.csv", _REFERENCE_COLUMNS), limit):
        corpus = row["corpus_id"]
        if corpus not in texts:
            raise ValueError(
                f"questions.csv row {number}: no {corpus}.md in {folder}; got {', '.join(texts) or 'none'}"
            )
        spans = []
        for reference in json.loads(row["references"]):
            start, end = int(reference["start_index"]), int(reference["end_index"])
            if texts[corpus][start:end] != reference["content"]:
                raise ValueError(
                    f"questions.csv row {number}: characters {start} to {end} of {corpus}.md are "
                    f"{texts[corpus][start:end]!r}, not {reference['content']!r}"
                )
            spans.append((start, end))
        questions.append(Question(row["question"], rows[corpus], spans=tuple(spans)))
    return Dataset(folder.name, "references", list(texts), list(texts.values()), questions)


_PAGE_COLUMNS = {"Question", "Doc_ID", "Page_Num", *_OPTIONS}


def unlp(folder: str | Path, limit: int | None = None, *, pdf: bool = False) -> Dataset:
    """The UNLP 2026 shared task: questions.csv, and at any depth a text <Doc_ID>.txt with page marks for each document.

    With ``pdf``, or where there are no texts, the files <Doc_ID>.pdf are read in their place (extra ``docs``).

    A mark is a line ``===== Page 3 =====``. It follows its page; if text goes on after the last mark, they precede.
    Marks are not part of the documents. The answer is the right option, where the table says which that is.
    """
    folder = Path(folder)
    files = [] if pdf else sorted(folder.rglob("*.txt"))
    pages = [_split_pages(file) for file in files] if files else _pages_of_pdf(folder)
    files = files or sorted(folder.rglob("*.pdf"))
    rows = {file.stem: row for row, file in enumerate(files)}
    documents = ["".join(parts) for parts in pages]
    starts = [_starts(parts) for parts in pages]
    questions = []
    for number, row in islice(_csv_rows(folder / "questions.csv", _PAGE_COLUMNS), limit):
        document, page = rows.get(Path(row["Doc_ID"]).stem), int(row["Page_Num"])
        if document is None:
            raise ValueError(f"questions.csv row {number}: no text of {row['Doc_ID']} in {folder}")
        if not 1 <= page <= len(starts[document]):
            raise ValueError(
                f"questions.csv row {number}: {row['Doc_ID']} has pages 1 to {len(starts[document])}; got {page}"
            )
        begin = starts[document][page - 1]
        right = row.get("Correct_Answer")
        questions.append(
            Question(
                row["Question"],
                document,
                answers=(row[right],) if right in _OPTIONS else (),
                paragraph=(begin, begin + len(pages[document][page - 1])),
                page=page,
                options=tuple(row[option] for option in _OPTIONS),
            )
        )
    return Dataset(folder.name, "pages", [file.stem for file in files], documents, questions, page_starts=starts)


def _pages_of_pdf(folder: Path) -> list[list[str]]:
    """The text of each page of the PDF files in a folder, at any depth, in the order of their paths."""
    from ..io import open_source

    found: dict[str, list[str]] = {}
    if any(folder.rglob("*.pdf")):
        for batch in open_source(folder, kind="pdf").batches():
            for row in batch.table.select(["file", "text", "page_starts"]).to_pylist():
                borders = pairwise([0, *row["page_starts"][1:], len(row["text"])])
                found[row["file"]] = [row["text"][begin:end] for begin, end in borders]
    return [found.get(str(file), [""]) for file in sorted(folder.rglob("*.pdf"))]


def _split_pages(file: Path) -> list[str]:
    """The text of each page; joined they are the document."""
    text = file.read_text(encoding="utf-8")
    parts = _PAGE_MARK.split(text)  # text, number, text, number, ..., text
    numbers, texts = [int(number) for number in parts[1::2]], parts[::2]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"{file} must mark its pages from 1 on by lines '===== Page 1 ====='; got {numbers}")
    outside = texts.pop(0 if texts[-1].strip() else -1)
    if outside.strip():
        raise ValueError(f"{file} has text after its last page mark, yet {outside[:40]!r} before its first")
    return texts


def _starts(parts: list[str]) -> list[int]:
    starts, end = [], 0
    for part in parts:
        starts.append(end)
        end += len(part)
    return starts


def wikipedia_sections(path: str | Path, limit: int | None = None) -> Dataset:
    """Wikipedia articles with the boundaries of their sections, from a Parquet file with columns ``id`` and ``text``.

    The text is WikiExtractor's, a paragraph a line. A line is taken for a heading if it has at most 8 words, ends with
    one full stop, has a capital or a digit as its first letter, and is followed by a longer line or another heading.
    Headings that follow on each other begin one section. A few short sentences pass for headings.
    """
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    missing = {"id", "text"} - set(file.schema_arrow.names)
    if missing:
        raise ValueError(f"{path} must have the columns id and text; got {', '.join(file.schema_arrow.names)}")
    rows = (row for batch in file.iter_batches(256, columns=["id", "text"]) for row in batch.to_pylist())
    articles = list(islice(rows, limit))
    documents = [article["text"] or "" for article in articles]
    boundaries = [section_starts(text) for text in documents]
    if not any(boundaries):
        raise ValueError(
            f"{path}: none of {len(documents)} articles has sections to compare with (looked for lines of at most "
            f"{_HEADING_WORDS} words that end with a full stop, before a longer line); questions come as .json or "
            ".jsonl"
        )
    ids = [str(article["id"]) for article in articles]
    return Dataset(Path(path).stem, "boundaries", ids, documents, boundaries=boundaries)


def section_starts(text: str) -> list[int]:
    """Where the sections of a WikiExtractor text begin, in characters, without 0.

    Example:
        >>> section_starts("Ada was a mathematician.\\nLife.\\nYouth.\\nAda was born in London.")
        [25]
    """
    lines = lines_with_headings(text)
    return [start for (_, _, before), (start, _, heading) in pairwise(lines) if heading and not before]


def lines_with_headings(text: str) -> list[tuple[int, str, bool]]:
    """(first character, text, whether it is a heading) of each line of a WikiExtractor text that is not blank.

    Example:
        >>> lines_with_headings("Ada lived.\\nLife.\\nShe was born.")
        [(0, 'Ada lived.', False), (11, 'Life.', True), (17, 'She was born.', False)]
    """
    lines, start = [], 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((start, line))
        start += len(line) + 1
    heading = [False] * (len(lines) + 1)
    for i in range(len(lines) - 2, 0, -1):
        line, following = lines[i][1], lines[i + 1][1]
        heading[i] = _looks_like_heading(line) and (heading[i + 1] or len(following) > len(line))
    return [(start, line, found) for (start, line), found in zip(lines, heading, strict=False)]


def _looks_like_heading(line: str) -> bool:
    if line[0].isspace() or not line.endswith(".") or line.endswith("..") or len(line.split()) > _HEADING_WORDS:
        return False
    letter = next((character for character in line if character.isalnum()), "")
    return letter.isupper() or letter.isdigit()


def jsonl(path: str | Path, documents: str | Path | None = None, limit: int | None = None) -> Dataset:
    """Questions a line: {"question": ..., "answers": [...], "document": ...}.

    ``document`` is the text, or with a ``documents`` file, of lines {"id": ..., "text": ...}, the id there; it may then
    be missing. ``answers`` may also be called ``answer`` and may be one string.
    """
    file, ids, texts = Path(path), [], []
    if documents is not None:
        for _, row in _json_rows(Path(documents), {"id", "text"}):
            ids.append(str(row["id"]))
            texts.append(str(row["text"]))
    rows = {key: number for number, key in enumerate(ids)}
    if len(rows) < len(ids):
        raise ValueError(f"{documents} must give each id once; got {len(ids)} lines of {len(rows)} ids")
    questions = []
    for number, row in _json_rows(file, {"question", "document"} if documents is None else {"question"}):
        given = row.get("answers", row.get("answer"))
        answers = _distinct([given] if isinstance(given, str) else given or [])
        if not answers:
            raise ValueError(
                f"{file} line {number}: looked for 'answers', a string or a list of strings; got {given!r}"
            )
        document, key = -1, row.get("document")
        if documents is None:
            document = rows.setdefault(str(key), len(texts))
            if document == len(texts):
                ids.append(str(document))
                texts.append(str(key))
        elif key is not None:
            if str(key) not in rows:
                raise ValueError(f"{file} line {number}: document {key!r} is not an id in {documents}")
            document = rows[str(key)]
        questions.append(Question(row["question"], document, answers))
    return Dataset(file.stem, "answers", ids, texts, questions[:limit])


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Each once, in order."""
    return tuple(dict.fromkeys(values))


def _json_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number from 1, object)."""
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict) or not needed <= set(row):
                    got = sorted(row) if isinstance(row, dict) else type(row).__name__
                    raise ValueError(f"{file} line {number}: looked for the keys {sorted(needed)}; got {got}")
                yield number, row


def _csv_rows(file: Path, needed: set[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(row number from 1, without the header; columns).

    Raises:
        ValueError: columns are missing, a row has more or fewer fields than the first, or a quote that means nothing,
            which would take along the rows up to the next one.
    """
    with file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines, strict=True)
        missing = needed - set(reader.fieldnames or [])
        if missing:
            raise ValueError(f"{file} lacks the columns {sorted(missing)}; got {reader.fieldnames}")
        try:
            for number, row in enumerate(reader, 1):
                if None in row or None in row.values():
                    raise ValueError(
                        f"{file}: row {number}, which ends in line {reader.line_num}, has more or fewer fields than "
                        "the first row"
                    )
                yield number, row
        except csv.Error as error:
            raise ValueError(
                f'{file}, line {reader.line_num + 1}: {error}: write quotes inside of a quoted field twice ("")'
            ) from None
