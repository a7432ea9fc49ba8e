"""The style sheet of the evaluation report, for light and dark, wide and narrow, screen and paper."""

from ...view import page_style

STYLE = (
    page_style.STYLE
    + """.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.line.peer { stroke-dasharray: 5 3; }
.band { fill: var(--c); opacity: .15; }
.dot { fill: var(--c); }
svg text.number { fill: var(--c); font-weight: 700; }
.whisker { stroke: var(--mark); stroke-width: 2; stroke-linecap: round; }
.within { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 1.5rem; align-items: start; }
.within figcaption { color: var(--soft); }
.within ol { margin: .25rem 0 0; padding: 0; list-style: none; counter-reset: line; color: var(--ink); }
.within li { display: grid; grid-template-columns: 1.6rem 1.8rem 1fr auto; gap: .4rem; align-items: baseline;
  counter-increment: line; padding: .15rem 0; }
.within li::before { content: counter(line); font-weight: 700; text-align: right; }
.within li b { font-variant-numeric: tabular-nums; }
.key { border-top: 3px solid var(--c); transform: translateY(-.3em); }
.key.peer { border-top-style: dashed; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 1.5rem 2.5rem; }
.grid.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 235px), 1fr)); gap: 1.25rem 1.5rem; }
.grid.small figure { display: flex; flex-direction: column; justify-content: space-between; gap: .25rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; font-size: .95rem; padding-bottom: .15rem; }
th, td { padding: .2rem .6rem .2rem 0; text-align: right; font-weight: normal; vertical-align: baseline; }
th[scope=row], th:first-child, .text th, .text td { text-align: left; }
thead th, thead td { color: var(--soft); font-size: .8rem; }
tbody tr { border-top: 1px solid var(--rule); }
.forest { align-self: start; }
.forest th, .forest td { vertical-align: middle; }
.forest td:nth-child(2) { width: 130px; }
.forest .number { white-space: nowrap; width: 1%; padding-right: 0; }
.forest thead th { text-align: right; padding-right: 0; }
.forest svg { width: 120px; }
.ends { display: flex; justify-content: space-between; width: 120px; }
.best { font-weight: 700; } .best th, .best td { font-weight: inherit; }
.scroll { overflow-x: auto; overflow-wrap: normal; }
.scroll th, .scroll td { white-space: nowrap; padding-right: 1.25rem; }
.scroll th[scope=row], .scroll.text td { min-width: 9rem; white-space: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: 1rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 700px) { .within { grid-template-columns: minmax(0, 1fr); }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; } .within svg, .small svg { font-size: 15px; }
  .grid.small { grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 1rem; }
  .forest .number .soft { display: block; } .forest svg, .ends { width: 100px; }
  .forest td:nth-child(2) { width: 105px; } }
@media print { body { font-size: 11px; } figure, table, tr { break-inside: avoid; } h2, caption { break-after: avoid; }
  .scroll { overflow: visible; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
)
