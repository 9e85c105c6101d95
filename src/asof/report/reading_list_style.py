"""The style of a reading list: paper, ink and one accent, as on the other pages that asof writes.

The file is sent around on its own, so that it carries all of it; fonts are the system's.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #faf8f3; --sheet: #fffefb; --ink: #211f1b; --soft: #625c52; --rule: #ded8cb;
  --link: #1c5068; --mark: #b4541a; --kept: #2f6b55; --gone: #b5d3c4;
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
    --link: #92c3d6; --mark: #e59a5b; --kept: #6fb497; --gone: #2f5546;
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
p { margin: 0 0 .75rem; max-width: 46rem; }
section { margin-top: 3rem; }
section > p { color: var(--soft); }
code { font-family: var(--mono); font-size: .875em; overflow-wrap: anywhere; }
.masthead {
  padding: 1.25rem 0 .875rem; border-bottom: 1px solid var(--rule); margin-bottom: 2rem;
}
.wordmark { font: italic 500 1.375rem/1 var(--serif); }
.kicker { margin: 0 0 .25rem; font: .8125rem/1.5 var(--sans); color: var(--soft); }
.under { margin: .5rem 0 0; max-width: none; color: var(--soft); }
footer {
  margin-top: 4rem; padding-top: .875rem; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .875rem;
}
.verdict { display: grid; grid-template-columns: auto 1fr; gap: 0 2.5rem; margin: 2rem 0 1.5rem; }
.big { margin: 0; font-size: clamp(3rem, 9vw, 5rem); line-height: 1; letter-spacing: -.02em; }
.big small {
  display: block; font: .8125rem var(--sans); color: var(--soft); letter-spacing: 0;
  margin-top: .5rem;
}
.says { font-size: 1.125rem; margin: .25rem 0 .5rem; }
.how { color: var(--soft); margin: 0; font-size: .9375rem; }
.shares { display: flex; height: 1.5rem; border-radius: 3px; overflow: hidden; gap: 1px; }
.shares span { flex: 1 1 0; min-width: 3px; }
span.kept { background: var(--kept); } span.gone { background: var(--gone); }
.key {
  list-style: none; margin: .75rem 0 0; padding: 0; font: .8125rem/1.5 var(--sans);
  display: flex; flex-wrap: wrap; gap: .25rem 1.5rem;
}
.swatch { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; }
.swatch { margin-right: .4rem; vertical-align: -.0625rem; }
.facts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(8.25rem, 1fr)); gap: 1rem 1.5rem;
  margin: 2rem 0 0; padding: 1.125rem 0; border: solid var(--rule); border-width: 1px 0;
}
.facts dt { font: .8125rem var(--sans); color: var(--soft); }
.facts dd { margin: .125rem 0 0; font-size: 1.375rem; line-height: 1.25; }
.facts dd small {
  display: block; font: .8125rem/1.4 var(--sans); color: var(--soft); overflow-wrap: anywhere;
}

/* Documents. What is folded away is not laid out: long lists open at once. */
details { border-bottom: 1px solid var(--rule); }
details:first-of-type { border-top: 1px solid var(--rule); }
summary { cursor: pointer; padding: .5rem 0; }
summary b { font-weight: 600; font-variant-numeric: tabular-nums; }
summary span { color: var(--soft); font-size: .9375rem; }
ul.stays, ul.gone { list-style: none; margin: 0 0 1rem; padding: 0; }
.stays > li {
  padding: .5rem 0; border-top: 1px dotted var(--rule); content-visibility: auto;
  contain-intrinsic-size: auto 4rem;
}
.stays p, .gone p { margin: 0; max-width: none; overflow-wrap: anywhere; }
.name { font: .8125rem/1.5 var(--mono); }
.told, .more { font: .75rem/1.5 var(--sans); color: var(--soft); }
.told q { quotes: none; font: italic .875rem/1.4 var(--serif); color: var(--ink); }
ul.gone { margin: .25rem 0 0 .25rem; padding-left: .875rem; border-left: 2px solid var(--gone); }
.gone li { padding: .25rem 0; }
.stays details, .stays details:first-of-type { border: 0; }
.stays summary { padding: .125rem 0; font: .75rem/1.5 var(--sans); color: var(--soft); }
.told i {
  display: inline-block; width: 3.5rem; height: .5rem; margin-right: .5rem;
  background: linear-gradient(90deg, var(--kept) calc(var(--c) * 1%), var(--rule) 0);
}
.told span { font-variant-numeric: tabular-nums; white-space: nowrap; margin-right: .625rem; }

@media (max-width: 44rem) {
  body { padding: 0 1rem 3rem; }
  .verdict { grid-template-columns: 1fr; gap: 1rem; }
}
@media print {
  html { font-size: 10pt; background: none; }
  body { max-width: none; padding: 0; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, summary, section > p { break-after: avoid; }
  .verdict, .facts, .gone li { break-inside: avoid; }
  .stays > li { content-visibility: visible; }
}
"""
