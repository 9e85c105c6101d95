"""The style of the report's page: paper, ink and one accent, as on the pages of `asof serve`.

The file is sent around on its own, so that it carries all of it; fonts are the system's.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf8f3; --sheet: #fffefb; --ink: #211f1b; --soft: #625c52; --rule: #ded8cb;
  --link: #1c5068; --mark: #b4541a; --row: 20px;
  --proven: #2f6b55; --confirmed: #6ba58c; --claimed: #b5d3c4; --equivalent: #d9b95b;
  --changed: #b8325a; --unknown: #a79f92;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", P052,
    "Book Antiqua", Georgia, "DejaVu Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Liberation Sans",
    "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono",
    "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171614; --sheet: #1f1d1a; --ink: #e8e2d6; --soft: #a39b8d; --rule: #38342e;
    --link: #92c3d6; --mark: #e59a5b;
    --proven: #6fb497; --confirmed: #47816a; --claimed: #2f5546; --equivalent: #a5883a;
    --changed: #ec7fa0; --unknown: #746d62;
  }
}
* { box-sizing: border-box; }
html {
  font: 100%/1.5 var(--serif); background: var(--paper); color: var(--ink);
  -webkit-text-size-adjust: 100%;
}
body { margin: 0 auto; max-width: 62rem; padding: 0 1.5rem 4rem; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: .18em; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; border-radius: 2px; }
h1 {
  font-size: clamp(1.25rem, 3.2vw, 1.75rem); line-height: 1.25; font-weight: 500; margin: 0;
  overflow-wrap: anywhere;
}
h2 { font-size: 1.25rem; font-weight: 500; margin: 0 0 .25rem; }
h3 { font: 600 .875rem var(--sans); margin: 1.5rem 0 .5rem; }
p { margin: 0 0 .75rem; max-width: 46rem; }
section { margin-top: 3rem; }
section > p:first-of-type { color: var(--soft); }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
.masthead {
  padding: 1.25rem 0 .875rem; border-bottom: 1px solid var(--rule); margin-bottom: 2rem;
}
.wordmark { font: italic 500 1.375rem/1 var(--serif); }
.kicker, .under { margin: 0 0 .25rem; font: .8125rem/1.5 var(--sans); color: var(--soft); }
.under { margin: .375rem 0 0; overflow-wrap: anywhere; max-width: none; }
footer {
  margin-top: 4rem; padding-top: .875rem; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .875rem;
}

/* The numbers */
.verdict { display: grid; grid-template-columns: auto 1fr; gap: 0 2.5rem; margin: 2rem 0 1.5rem; }
.big { margin: 0; font-size: clamp(3rem, 9vw, 5rem); line-height: 1; letter-spacing: -.02em; }
.big small {
  display: block; font: .8125rem var(--sans); color: var(--soft); letter-spacing: 0;
  margin-top: .5rem;
}
.verdict .says { font-size: 1.125rem; margin: .25rem 0 .5rem; }
.verdict .how { color: var(--soft); margin: 0; font-size: .9375rem; }
.grades { display: flex; height: 1.5rem; border-radius: 3px; overflow: hidden; gap: 1px; }
.grades span { flex: 1 1 0; min-width: 3px; }
.key { list-style: none; margin: .75rem 0 0; padding: 0; font: .8125rem/1.5 var(--sans); }
.key.counts { display: grid; grid-template-columns: repeat(auto-fit, minmax(17.5rem, 1fr)); }
.key.counts { gap: .25rem 1.5rem; }
.key.counts li {
  display: grid; grid-template-columns: 1.25rem 7.25rem 1fr; align-content: start;
  align-items: baseline;
}
.key.counts .what { grid-column: 2 / -1; color: var(--soft); }
.key.counts b { font-weight: 600; }
.key.counts .count { font-variant-numeric: tabular-nums; text-align: right; }
.key.line { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; color: var(--soft); }
.swatch { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; }
.key.line .swatch { margin-right: .4rem; vertical-align: -.0625rem; }
.swatch.dot { border-radius: 50%; width: .5625rem; height: .5625rem; background: var(--ink); }
.swatch.ring { border-radius: 50%; width: .625rem; height: .625rem; border: 2px solid var(--ink); }
.swatch.other { border-radius: 0; width: .5625rem; height: .5625rem; background: var(--changed); }
.swatch.rule { border-radius: 0; width: 2px; height: .875rem; background: var(--mark); }
.swatch.dash { border-radius: 0; height: 0; width: 1.25rem; border-top: 2px dashed var(--mark); }
.swatch.dash { vertical-align: .25rem; }
.swatch.shades { width: 3.5rem; background: linear-gradient(90deg, transparent, var(--proven)); }
.swatch.best { background: color-mix(in srgb, var(--mark) 18%, transparent); }
span.proven { background: var(--proven); } span.confirmed { background: var(--confirmed); }
span.claimed { background: var(--claimed); } span.equivalent { background: var(--equivalent); }
span.changed { background: var(--changed); }
span.unknown {
  background: repeating-linear-gradient(135deg, var(--unknown) 0 3px,
    color-mix(in srgb, var(--unknown) 45%, var(--paper)) 3px 6px);
}
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.25rem, 1fr)); gap: 1rem 1.5rem;
  margin: 2rem 0 0; padding: 1.125rem 0; border: solid var(--rule); border-width: 1px 0;
}
.facts dt { font: .8125rem var(--sans); color: var(--soft); }
.facts dd { margin: .125rem 0 0; font-size: 1.375rem; line-height: 1.25; }
.facts dd small {
  display: block; font: .8125rem/1.4 var(--sans); color: var(--soft); overflow-wrap: anywhere;
}
.advice { margin: .75rem 0 0; padding: 0; list-style: none; max-width: 50rem; }
.advice li {
  padding: .5rem 0 .5rem .875rem; border-left: 2px solid var(--mark); margin-bottom: .75rem;
  overflow-wrap: anywhere;
}
.advice code {
  display: inline-block; background: var(--sheet); border: 1px solid var(--rule);
  border-radius: 3px; padding: .0625rem .4375rem; white-space: pre-wrap;
}
.advice code, .page code { user-select: all; }
.option { white-space: nowrap; }

/* The pictures */
figure { margin: 1.25rem 0 0; }
.plot { position: relative; }
.plot svg { display: block; width: 100%; height: 100%; overflow: visible; }
.plot.curve { height: 13rem; }
svg * { vector-effect: non-scaling-stroke; }
.grid { stroke: var(--rule); }
.area { fill: color-mix(in srgb, var(--proven) 22%, transparent); }
.line { fill: none; stroke: var(--proven); stroke-width: 1.75; }
.expected { fill: none; stroke: var(--mark); stroke-width: 1.5; stroke-dasharray: 5 4; }
rect.best { fill: color-mix(in srgb, var(--mark) 18%, transparent); }
.mark { stroke: var(--mark); stroke-width: 2; }
.plot .proven { fill: var(--proven); } .plot .confirmed { fill: var(--confirmed); }
.plot .claimed { fill: var(--claimed); } .plot .equivalent { fill: var(--equivalent); }
.plot .changed { fill: var(--changed); } .plot .unknown { fill: var(--unknown); }
.plot .shade { fill: var(--proven); }
.binned path { shape-rendering: crispEdges; }
.hit { fill: transparent; }
g:hover > .hit, a:hover > .hit { fill: color-mix(in srgb, var(--ink) 9%, transparent); }
.plot .doubt { fill: none; stroke-width: 1.5; }
.doubt.changed { stroke: var(--changed); stroke-dasharray: 4 3; }
.doubt.unknown { stroke: var(--unknown); stroke-dasharray: 1 4; }
.dot { fill: none; stroke-linecap: round; }
.dot.visit, .dot.again { stroke: var(--ink); }
.dot.ring { stroke: var(--paper); }
.dot.other { stroke: var(--changed); stroke-linecap: square; }
.dot { pointer-events: none; }
.y {
  position: absolute; left: .25rem; font: .6875rem var(--sans);
  color: var(--soft);
}
.flags, .ticks {
  position: relative; height: 1.375rem; font: .75rem/1.375rem var(--sans); color: var(--soft);
  white-space: nowrap;
}
.flag { position: absolute; transform: translateX(-50%); color: var(--mark); font-weight: 600; }
.flag.first { transform: none; } .flag.last { transform: translateX(-100%); }
.tick { position: absolute; transform: translateX(-50%); font-variant-numeric: tabular-nums; }
.tick::before {
  content: ""; position: absolute; left: 50%; top: 0; height: .25rem;
  border-left: 1px solid var(--soft);
}
.ticks { border-top: 1px solid var(--rule); }
.days { font: .75rem var(--sans); color: var(--soft); }
.days { text-align: right; margin: 0; max-width: none; }
.rows.labelled { display: grid; grid-template-columns: minmax(0, 15rem) 1fr; gap: 0 .75rem; }
.labels {
  list-style: none; margin: 1.375rem 0 0; padding: 0; font: .75rem/var(--row) var(--mono);
  text-align: right;
}
.labels li { height: var(--row); overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.rows.binned { display: grid; grid-template-columns: 3.25rem 1fr 9rem; gap: 0 .75rem; }
.ranks { position: relative; margin-top: 1.375rem; }
.ranks .y { left: auto; right: 0; transform: translateY(-50%); font-variant-numeric: tabular-nums; }
.binned .share .plot { margin-top: 1.375rem; border-left: 1px solid var(--rule); }
.share .ends {
  display: flex; justify-content: space-between; font: .6875rem/1.375rem var(--sans);
  color: var(--soft); border-top: 1px solid var(--rule);
}

/* Pages by cause */
details { border-bottom: 1px solid var(--rule); }
details:first-of-type { border-top: 1px solid var(--rule); }
summary {
  cursor: pointer; padding: .625rem 0; display: grid; align-items: baseline; gap: 0 .75rem;
  grid-template-columns: .75rem 4.5rem minmax(9rem, auto) 1fr;
}
summary .count { font-variant-numeric: tabular-nums; text-align: right; }
summary .title { font-weight: 600; }
summary .meaning { color: var(--soft); font-size: .9375rem; }
.page { list-style: none; margin: 0 0 1rem; padding: 0 0 0 1.5rem; }
.page li { padding: .375rem 0; border-top: 1px dotted var(--rule); }
.page p { margin: 0; max-width: none; overflow-wrap: anywhere; }
.page .url { font: .8125rem/1.5 var(--mono); }
.page .seen { font: .75rem/1.5 var(--sans); color: var(--soft); }
.page .more { font: .875rem var(--sans); color: var(--soft); }

/* Plan and hosts */
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: .375rem .75rem; }
.bars { align-items: center; font: .8125rem var(--sans); max-width: 46rem; margin: .75rem 0 1rem; }
.bars .track { background: color-mix(in srgb, var(--rule) 60%, transparent); height: .875rem; }
.bars .fill { display: block; height: 100%; background: var(--proven); }
.bars .fill.plan { background: none; border: 1.5px solid var(--proven); }
.bars .n { font-variant-numeric: tabular-nums; text-align: right; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font: .8125rem/1.5 var(--sans); width: 100%; }
th, td { text-align: left; padding: .375rem 1rem .375rem 0; border-bottom: 1px dotted var(--rule); }
th { color: var(--soft); font-weight: 400; }
td.host { font-family: var(--mono); overflow-wrap: anywhere; min-width: 9rem; }
td.bad { color: var(--changed); font-weight: 600; }
.none { color: var(--soft); }

@media (max-width: 44rem) {
  body { padding: 0 1rem 3rem; }
  .verdict { grid-template-columns: 1fr; gap: 1rem; }
  .mid { display: none; }
  .rows.labelled { grid-template-columns: minmax(0, 6.5rem) 1fr; }
  .labels { font-size: .6875rem; direction: rtl; }
  .rows.binned { grid-template-columns: 2.5rem 1fr 4.5rem; gap: 0 .5rem; }
  summary { grid-template-columns: .75rem 3.25rem 1fr; }
  summary .meaning { grid-column: 3; }
  .page { padding-left: 0; }
}
@media print {
  :root { --row: 13px; }
  html { font-size: 10pt; background: none; }
  figure { break-inside: avoid; }
  .labels { font-size: 9px; }
  .rows .plot, .ranks { max-height: 800px; }
  body { max-width: none; padding: 0; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section { margin-top: 2rem; break-inside: auto; }
  h2, h3, summary, section > p:first-of-type { break-after: avoid; }
  .page li, .advice li, .verdict, .facts, .grades, tr { break-inside: avoid; }
  details:not([open]) { break-inside: avoid; }
}
"""
