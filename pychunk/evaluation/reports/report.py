"""The report of an evaluation: tables on the terminal, JSON, and one self-contained HTML page.

All three are made from one dictionary of plain JSON types, the `results` of the functions here. A field that is
missing, null or not a number is shown as an en dash::

    dataset      {name, kind: "answers" | "references" | "pages" | "boundaries", documents, questions, words,
                  "without an answer": number of questions whose answers do not occur in their document}
    encoder (whose vectors are searched), command, machine, versions {name: version}
    rows         [{name, options, peer: null | "chonkie 1.7.0", mode, encoder,
                   measures {name: {mean, low, high}},          low and high: 95 % interval
                   within {words [..], share [..], low [..], high [..]},
                   lengths {edges [..], counts [..], mean, std, chunks},
                   cost {"words a chunk", "chunk seconds", "encoder tokens", "index seconds", "index bytes",
                         "words in top 5", "ms a question", "ms a plan" if a planner is used, and if a model is asked
                         "LLM tokens" and "LLM cost" of chunks and index, "LLM tokens a question", "LLM cost of
                         1,000 questions"},
                   levels: null | {hits, finest, coarsest {level: share}, "words a hit", "plans that failed"}}]
    differences  [{measure, row, against, mean, low, high}]     row minus against, on the same questions
    primary      [measure ..]                                   differences that the terminal shows; default: all
    judged       [{name, judge, better: "more" | "less", share {mean, low, high}, asked, abstained,
                   faults {reason: number}, reasons [why calls had no usable answer ..],
                   counted: null | share without a model,
                   kappa: null | {mean, low, high}}]            if a model judged
    notes        [text ..]                                      questions without an answer, or not answered by a model
    absent       [{name, reason}]                               peers that did not run
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from rich.console import Console
from rich.text import Text

from . import costs, report_plots
from .costs import DASH, is_number, number, numbers
from .report_style import STYLE
from .terminal_tables import Column, RowLabels, blocks, show

Results = Mapping[str, Any]
Row = Mapping[str, Any]

#: The measures for which less is better. For all others, more is better.
LOWER_IS_BETTER = {"pk", "windowdiff"}
#: The columns of the table of judges.
JUDGED = ("judge", "judged", "asked", "abstained", "counted", "kappa")
#: The caption of the table of levels.
LEVELS_SAY = (
    "For each level: % of the best five hits / % of searches whose finest level it is / whose coarsest level it is."
)


def to_json(results: Results) -> str:
    """Return the results as JSON text; a float that is not finite becomes null."""
    return json.dumps(_finite(results), ensure_ascii=False, indent=2) + "\n"


def print_table(results: Results, console: Console) -> None:
    """Print measures, costs, differences and absent peers, in as many tables as the console's width requires."""
    rows = _rows(results)
    names = [_text(row.get("name")) for row in rows]
    short = RowLabels(names, console.width)
    dataset = results.get("dataset") or {}
    sizes = ", ".join(
        f"{number(dataset.get(key), ',')} {key}" for key in ("documents", "questions") if dataset.get(key)
    )
    console.print(Text(_title(results), style="bold").append(f" ({sizes})" if sizes else "", style="dim"))
    if (legend := short.legend()) is not None:
        console.print(legend)
    measures = _measures(rows)
    if any("low" in _interval(row, measure) for row in rows for measure in measures):
        console.print(Text("Each measure with its mean and 95 % interval; the best mean is bold.", style="dim"))
    label = Column("row", [Text(short.short(name)) for name in names])
    columns = []
    for measure in measures:
        best = _best(rows, measure)
        columns.append(Column(measure, [_cell(_interval(row, measure), i in best) for i, row in enumerate(rows)]))
    show(console, [label], columns)
    spent = {name: [Text(shown(costs.of(row, name))) for row in rows] for name, shown in costs.columns(rows).items()}
    show(console, [label], [Column(name, cells) for name, cells in spent.items()])
    _print_levels(rows, console, label)
    _print_differences(results, console, short)
    _print_judged(results, console, short)
    for note in results.get("notes") or []:
        console.print(Text(_text(note), style="yellow"))
    for peer in results.get("absent") or []:
        console.print(Text(f"absent: {_text(peer.get('name'))}: {_text(peer.get('reason'))}", style="dim"))


def _print_levels(rows: Sequence[Row], console: Console, label: Column) -> None:
    """Print the levels of the best hits and of the plans, if rows have levels."""
    if not any(row.get("levels") for row in rows):
        return
    table = _levels(rows)
    console.print()
    console.print(Text(LEVELS_SAY, style="dim"))
    show(console, [label], [Column(name, [Text(cell) for cell in cells]) for name, cells in table.items()])


def _levels(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns of the table of levels, with a cell for each row."""
    own = [row.get("levels") or {} for row in rows]
    names = list(dict.fromkeys(level for each in own for level in each.get("hits") or {}))
    found = {
        level: [
            "/".join(_share((each.get(part) or {}).get(level)) for part in ("hits", "finest", "coarsest"))
            if each
            else DASH
            for each in own
        ]
        for level in names
    }
    return found | {"words a hit": [number(each.get("words a hit"), ".0f") for each in own]}


def _share(value: Any) -> str:
    return number(100 * value, ".0f") if is_number(value) else DASH


def _print_differences(results: Results, console: Console, names: RowLabels) -> None:
    primary = results.get("primary")
    found = [each for each in results.get("differences") or [] if primary is None or each.get("measure") in primary]
    for against in dict.fromkeys(_text(each.get("against")) for each in found):
        own = {
            (_text(each.get("row")), _text(each.get("measure"))): each
            for each in found
            if _text(each.get("against")) == against
        }
        rows, measures = (list(dict.fromkeys(key[place] for key in own)) for place in (0, 1))
        console.print()
        base = f"row {names.short(against)}" if names.numbered else against
        text = f"Difference from {base} on the same questions; an interval that includes 0 shows no clear difference."
        console.print(Text(text, style="dim"))
        label = Column("row", [Text(names.short(row)) for row in rows])
        columns = [
            Column(measure, [_cell(own.get((row, measure)) or {}, False, "+.3f") for row in rows])
            for measure in measures
        ]
        for table in blocks([label], columns, console.width):
            console.print(table)


def _print_judged(results: Results, console: Console, names: RowLabels) -> None:
    judged = results.get("judged") or []
    if not judged:
        return
    labels = [Column("row", [Text(names.short(_text(each.get("name")))) for each in judged])]
    labels.append(Column(JUDGED[0], [Text(_text(each.get("judge"))) for each in judged]))
    shown = {
        "judged": [_cell(each.get("share") or {}, False) for each in judged],
        "asked": [Text(number(each.get("asked"), ",")) for each in judged],
        "abstained": [Text(number(each.get("abstained"), ",")) for each in judged],
        "counted": [Text(number(each.get("counted"), ".3f")) for each in judged],
        "kappa": [_cell(each.get("kappa") or {}, False) for each in judged],
    }
    show(console, labels, [Column(name, shown[name]) for name in JUDGED[1:]])
    for each in filter(lambda each: each.get("faults"), judged):
        console.print(Text(f"{_text(each.get('name'))}, {_text(each.get('judge'))}: {_faults(each)}", style="dim"))


def _cell(interval: Mapping[str, Any], best: bool, form: str = ".3f") -> Text:
    text = Text(number(interval.get("mean"), form), style="bold" if best else "")
    if is_number(interval.get("low")) and is_number(interval.get("high")):
        text.append(f" {interval['low']:{form}}{DASH}{interval['high']:{form}}", style="dim")
    return text


def html(results: Results) -> str:
    """Return the results as one page that needs no other file, no script and no network."""
    sections = [
        _within(results),
        _forest(results),
        _differences(results),
        _judged(results),
        _cost(results),
        _lengths(results),
        _run(results),
    ]
    title = escape(_title(results))
    dataset = results.get("dataset") or {}
    sizes = [f"{number(dataset.get(key), ',')} {key}" for key in ("documents", "questions", "words")]
    kind = {"answers": "questions with answers", "references": "questions with reference spans"}
    about = escape(" · ".join([*sizes, kind.get(str(dataset.get("kind")), _text(dataset.get("kind")))]))
    notes = "".join(f"<p>{escape(_text(note))}</p>" for note in results.get("notes") or [])
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<header><h1>{title}</h1><p>{about}</p>{notes}</header>\n"
        + "\n".join(filter(None, sections))
        + "\n</main>\n</body>\n</html>\n"
    )


def _within(results: Results) -> str:
    rows = [row for row in _rows(results) if numbers((row.get("within") or {}).get("share"))]
    if not rows:
        return ""
    rows.sort(key=lambda row: -row["within"]["share"][-1])
    own = [i for i, row in enumerate(rows) if not row.get("peer")]
    peers = [i for i, row in enumerate(rows) if row.get("peer")]
    edges = [(row["within"].get("low"), row["within"].get("high")) for row in rows]
    banded = [i for i in (*own[:1], *peers[:1]) if all(numbers(edge) for edge in edges[i])]
    legend = "".join(
        f'<li><span class="key {report_plots.colour(i)}{" peer" if row.get("peer") else ""}"></span>'
        f"<span>{_name(row)}</span><b>{100 * row['within']['share'][-1]:.1f} %</b></li>"
        for i, row in enumerate(rows)
    )
    notes = "Share of questions whose answer is in the first W words of the retrieved chunks."
    if peers:
        notes += " Dashed: other packages."
    if banded:
        notes += f" Shaded: 95 % interval of line {' and '.join(str(i + 1) for i in banded)}."
    words = max(row["within"]["words"][-1] for row in rows)
    return _section(
        "Answers found within W words",
        f'<p>{notes}</p><figure class="within">{report_plots.within_words(rows, banded)}'
        f"<figcaption>At {words:,} words<ol>{legend}</ol></figcaption></figure>",
    )


def _forest(results: Results) -> str:
    rows = _rows(results)
    tables = []
    for measure in _measures(rows):
        intervals = [_interval(row, measure) for row in rows]
        scale = _scale(intervals)
        best = _best(rows, measure)
        body = ""
        for i, (row, interval) in enumerate(zip(rows, intervals, strict=True)):
            mark = ' class="best"' if i in best else ""
            cells = f"<td>{_whisker(interval, scale)}</td>{_means(interval)}"
            body += f'<tr{mark}><th scope="row">{_name(row)}</th>{cells}</tr>'
        less = " (less is better)" if measure.lower() in LOWER_IS_BETTER else ""
        tables.append(
            f'<table class="forest"><caption>{escape(measure)}{less}</caption>{_forest_head(scale, "mean")}'
            f"<tbody>{body}</tbody></table>"
        )
    if not tables:
        return ""
    notes = "Means over the questions with their 95 % bootstrap intervals; the best mean is bold."
    return _section("Measures", f'<p>{notes}</p><div class="grid">{"".join(tables)}</div>')


def _differences(results: Results) -> str:
    differences = results.get("differences") or []
    if not differences:
        return ""
    tables = []
    for measure in dict.fromkeys(_text(difference.get("measure")) for difference in differences):
        chosen = [difference for difference in differences if _text(difference.get("measure")) == measure]
        scale = _scale([*chosen, {"mean": 0.0}])
        body = "".join(
            f'<tr><th scope="row">{escape(_text(one.get("row")))} <span class="soft">minus '
            f"{escape(_text(one.get('against')))}</span></th>"
            f"<td>{_whisker(one, scale, zero=True)}</td>{_means(one, '+.3f')}</tr>"
            for one in chosen
        )
        tables.append(
            f'<table class="forest"><caption>{escape(measure)}</caption>{_forest_head(scale, "difference")}'
            f"<tbody>{body}</tbody></table>"
        )
    notes = "Differences on the same questions; an interval that includes 0 shows no clear difference."
    return _section("Paired differences", f'<p>{notes}</p><div class="grid">{"".join(tables)}</div>')


def _judged(results: Results) -> str:
    body = ""
    for each in results.get("judged") or []:
        asked, abstained = (number(each.get(key), ",") for key in ("asked", "abstained"))
        less = ' <span class="soft">(less is better)</span>' if each.get("better") == "less" else ""
        body += (
            f'<tr><th scope="row">{_name(each)}</th><td>{escape(_text(each.get("judge")))}{less}</td>'
            f'{_means(each.get("share") or {})}<td class="number">{asked}</td><td class="number">{abstained}'
            f"{f' ({escape(_faults(each))})' if each.get('faults') else ''}</td>"
            f'<td class="number">{number(each.get("counted"), ".3f")}</td>{_means(each.get("kappa") or {})}</tr>'
        )
    if not body:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("row", *JUDGED))
    notes = (
        "The verdicts of a model on sampled chunks: the share of yes, or weighted precision, with its interval over "
        "documents. Next to it, the share counted without a model, and Cohen's kappa of both: 1 if they always agree, "
        "0 if they agree no more than by chance. Chunks without a verdict are left out."
    )
    return _section("Judged by a model", f"<p>{notes}</p>" + _scrolled(f"<tr>{head}</tr>", body, "Verdicts of a model"))


def _faults(judged: Mapping[str, Any]) -> str:
    """Return the reasons why chunks have no verdict, with their numbers."""
    counts = ", ".join(f"{number(count, ',')} {name}" for name, count in (judged.get("faults") or {}).items())
    return ": ".join(filter(None, [counts, "; ".join(judged.get("reasons") or ())]))


def _cost(results: Results) -> str:
    rows = _rows(results)
    own = costs.columns(rows)
    head = "".join(f'<th scope="col">{name}</th>' for name in own)
    body = "".join(
        f'<tr><th scope="row">{_name(row)}</th>'
        f"{''.join(f'<td>{shown(costs.of(row, name))}</td>' for name, shown in own.items())}</tr>"
        for row in rows
    )
    table = _scrolled(f'<tr><th scope="col">row</th>{head}</tr>', body, "Cost of each row")
    if any(row.get("levels") for row in rows):
        columns = _levels(rows)
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
        body = "".join(
            f'<tr><th scope="row">{_name(row)}</th>{"".join(f"<td>{cells[i]}</td>" for cells in columns.values())}</tr>'
            for i, row in enumerate(rows)
        )
        levels = _scrolled(f'<tr><th scope="col">row</th>{head}</tr>', body, "Levels of each row")
        table += f"<h3>Levels</h3><p>{LEVELS_SAY}</p>{levels}"
    return _section("Cost", table)


def _lengths(results: Results) -> str:
    rows = [row for row in _rows(results) if (row.get("lengths") or {}).get("counts")]
    if not rows:
        return ""
    end = max(_far(row["lengths"]) for row in rows)
    cards = ""
    for row in rows:
        lengths = row["lengths"]
        mean = lengths.get("mean") if is_number(lengths.get("mean")) else None
        drawing = report_plots.histogram(lengths["edges"], lengths["counts"], end, mean, _text(row.get("name")))
        about = (
            f"{number(lengths.get('chunks'), ',')} chunks, "
            f"{number(lengths.get('mean'), '.0f')} ± {number(lengths.get('std'), '.0f')} words"
        )
        cards += f'<figure><figcaption>{_name(row)}<br><span class="soft">{about}</span></figcaption>{drawing}</figure>'
    notes = (
        "Words in a chunk, on the same axis for all rows. Each row is scaled to its own peak. The line is the mean. "
    )
    notes += "The longest 0.5 % of a row's chunks may be beyond the axis."
    return _section("Chunk lengths", f'<p>{notes}</p><div class="grid small">{cards}</div>')


def _run(results: Results) -> str:
    body = ""
    for row in _rows(results):
        options = row.get("options") or {}
        cells = (
            _text(row.get("peer") or "pychunk"),
            _text(row.get("mode")),
            _text(row.get("encoder")),
            ", ".join(f"{key}={value}" for key, value in options.items()) or DASH,
        )
        body += f'<tr><th scope="row">{_name(row)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
    head = "".join(f'<th scope="col">{name}</th>' for name in ("row", "package", "mode", "encoder", "options"))
    versions = ", ".join(f"{name} {version}" for name, version in (results.get("versions") or {}).items()) or DASH
    absent = "".join(
        f"<dt>{escape(_text(peer.get('name')))}</dt><dd>{escape(_text(peer.get('reason')))}</dd>"
        for peer in results.get("absent") or []
    )
    if absent:
        absent = f"<h3>Packages that did not run</h3><dl>{absent}</dl>"
    return _section(
        "Settings of the run",
        _scrolled(f"<tr>{head}</tr>", body, "Options of each row", "text")
        + f"<dl><dt>Command</dt><dd><code>{escape(_text(results.get('command')))}</code></dd>"
        f"<dt>Machine</dt><dd>{escape(_text(results.get('machine')))}</dd>"
        f"<dt>Versions</dt><dd>{escape(versions)}</dd></dl>" + absent,
    )


def _section(heading: str, body: str) -> str:
    return f"<section><h2>{heading}</h2>{body}</section>"


def _scrolled(head: str, body: str, label: str, kind: str = "") -> str:
    """Return a table that scrolls inside a narrow page, also by keyboard."""
    table = f'<table class="{kind}"><thead>{head}</thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">{table}</div>'


def _forest_head(scale: tuple[float, float], last: str) -> str:
    low, high = (f"{end:.3g}" for end in scale)
    return (
        f'<thead><tr><td></td><td><span class="ends"><span>{low}</span><span>{high}</span></span></td>'
        f'<th scope="col">{last}</th></tr></thead>'
    )


def _name(row: Row) -> str:
    return escape(_text(row.get("name")))


def _means(interval: Mapping[str, Any], form: str = ".3f") -> str:
    mean, low, high = (number(interval.get(key), form) for key in ("mean", "low", "high"))
    ends = f' <span class="soft">{low} to {high}</span>' if DASH not in (low, high) else ""
    return f'<td class="number">{mean}{ends}</td>'


def _whisker(interval: Mapping[str, Any], scale: tuple[float, float], zero: bool = False) -> str:
    if not is_number(interval.get("mean")):
        return ""
    low, high = (interval.get(key) if is_number(interval.get(key)) else None for key in ("low", "high"))
    return report_plots.whisker(interval["mean"], low, high, scale, zero)


def _scale(intervals: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    values = [one[key] for one in intervals for key in ("mean", "low", "high") if is_number(one.get(key))]
    marks = report_plots.ticks(min(values, default=0.0), max(values, default=1.0), 8)
    return marks[0], marks[-1]


def _far(lengths: Mapping[str, Any]) -> float:
    """Return the length below which 99.5 % of the chunks are.

    A few huge chunks would otherwise squeeze the others into one bar.
    """
    left = 0.995 * sum(lengths["counts"])
    for edge, count in zip(lengths["edges"][1:], lengths["counts"], strict=True):
        left -= count
        if left <= 0:
            return float(edge)
    return float(lengths["edges"][-1])


def _title(results: Results) -> str:
    return f"Chunking evaluation: {_text((results.get('dataset') or {}).get('name'))}"


def _rows(results: Results) -> list[Row]:
    return list(results.get("rows") or [])


def _measures(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(measure for row in rows for measure in row.get("measures") or {}))


def _interval(row: Row, measure: str) -> Mapping[str, Any]:
    return (row.get("measures") or {}).get(measure) or {}


def _best(rows: Sequence[Row], measure: str) -> set[int]:
    means = [(i, _interval(row, measure).get("mean")) for i, row in enumerate(rows)]
    known: dict[int, float] = {i: mean for i, mean in means if is_number(mean)}
    choose = min if measure.lower() in LOWER_IS_BETTER else max
    best = choose(known.values(), default=None)
    return {i for i, mean in known.items() if mean == best}


def _text(value: Any) -> str:
    return DASH if value is None or value == "" else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
