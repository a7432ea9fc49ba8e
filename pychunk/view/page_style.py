"""The style of every page of pychunk: colours in light and dark, fonts, headings, drawings and control characters."""

STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1c2024; --soft: #5a636d; --rule: #d9dee3; --mark: #1f5fc4;
  --c0: #1f5fc4; --c1: #c04a00; --c2: #12784c; --c3: #9b2f92; --c4: #8a6100; --c5: #bd2045; --c6: #0b7686;
  --c7: #6a5747; }
@media (prefers-color-scheme: dark) { :root { --page: #15181c; --ink: #e6e9ec; --soft: #a0a9b3; --rule: #353c44;
  --mark: #74aaff; --c0: #74aaff; --c1: #ff9d5c; --c2: #52cc97; --c3: #e08bda; --c4: #e3bb49; --c5: #ff8299;
  --c6: #52cbdf; --c7: #c4b29f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; padding-top: .75rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
p { margin: .25rem 0 1rem; max-width: 75ch; }
header p, section > p, .soft, svg text { color: var(--soft); }
.soft { font-weight: normal; }
figure { margin: 0; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--soft); }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); }
.c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); } .c7 { --c: var(--c7); }
.rule, .leader { stroke: var(--rule); }
.axis, .zero { stroke: var(--soft); }
.bar, .mean { fill: var(--mark); }
.ctl { unicode-bidi: isolate; }
.ctl::before { content: attr(data-u); font: .65em/1 ui-monospace, monospace; border: 1px solid var(--soft);
  border-radius: 2px; padding: 0 .2em; margin: 0 .1em; vertical-align: middle; }
"""
