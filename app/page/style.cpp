#include "app/page/style.hpp"

namespace glinpack::app {

// Colours match scripts/plot and the documentation's figures. Dark mode lightens the darkest ones.
Html style() {
  return R"css(<style>
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --ink: #1b1f24; --faint: #57606a; --rule: #d0d7de; --grid: #dfe3e8; --link: #0a58a8;
  --track: #eceff3; --good: #116329; --good-back: #dafbe1; --bad: #a40e26; --bad-back: #ffdfdc; --unknown-back: #e7eaee;
  --computing: #2f5c8f; --transfer: #2a8f7a; --network: #e9a23b; --waiting: #f6dfb8; --idle: #d5dae0;
  --pivot: #0b2e59; --normalize: #58b39d; --eliminate: #c8501e; --reduce: #f3d77c; --outside: #b9c0c8;
  --hatch: rgba(0, 0, 0, 0.45);
  --s0: #0b2e59; --s1: #b2430f; --s2: #2a8f7a; --s3: #c98a00; --s4: #7a5cc4; --s5: #4f9bd6; --s6: #d1618f; --s7: #7d7d7d;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1b2129; --ink: #e6e9ee; --faint: #a3adb9; --rule: #39424e; --grid: #2b333d; --link: #7fb8f5;
    --track: #262e38; --good: #7ee2a0; --good-back: #12381f; --bad: #ffa198; --bad-back: #4d1519; --unknown-back: #2b333d;
    --computing: #4a7fbd; --transfer: #2f9c85; --waiting: #8a7550; --idle: #3d4652;
    --pivot: #3f7fd0; --reduce: #dcbd5b; --outside: #66707c;
    --s0: #6ea8ee; --s1: #ff8f5e; --s2: #52c7ae; --s3: #edb83d; --s4: #b09bf0; --s5: #9fd3ff; --s6: #f29abd; --s7: #b5b5b5;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1rem 1.25rem 3rem; max-width: 76rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Verdana, Arial, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 0.6rem; padding-top: 0.6rem; border-top: 2px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.4rem 0 0.4rem; }
h4 { font-size: 0.95rem; margin: 1rem 0 0.3rem; color: var(--faint); }
p { margin: 0.4rem 0 0.8rem; }
a { color: var(--link); }
nav { font-size: 0.9rem; }
nav a { display: inline-block; padding: 0.3rem 0.8rem 0.3rem 0; }
sup { white-space: nowrap; line-height: 0; }
.faint, figcaption, .unit { color: var(--faint); }
.faint, figcaption { font-size: 0.9rem; }
.unit { font-weight: normal; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.7rem; margin: 1rem 0; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: 0.6rem 0.8rem; }
.tile b { display: block; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile span { color: var(--faint); font-size: 0.85rem; }
.scroll { overflow-x: auto; margin: 0.5rem 0 1rem; }
table { border-collapse: collapse; font-size: 0.88rem; min-width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.3rem 0.7rem 0.3rem 0; border-bottom: 1px solid var(--grid); vertical-align: top;
  overflow-wrap: normal; white-space: nowrap; }
th { border-bottom: 2px solid var(--rule); vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
tbody tr:hover { background: var(--card); }
code, pre { font: 0.85rem/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
pre { white-space: pre-wrap; background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: 0.6rem 0.8rem; }
.verdict { display: inline-block; padding: 0 0.45rem; border-radius: 4px; font-weight: 600; white-space: nowrap;
  font-size: 0.82rem; background: var(--unknown-back); }
.passed { color: var(--good); background: var(--good-back); }
.failed { color: var(--bad); background: var(--bad-back); }
.alarm { border-left: 5px solid var(--bad); background: var(--bad-back); padding: 0.5rem 0.8rem; }
details { border: 1px solid var(--rule); border-radius: 6px; margin: 0.6rem 0; padding: 0 0.8rem; }
details[open] { padding-bottom: 0.6rem; }
summary { cursor: pointer; padding: 0.55rem 0; font-weight: 600; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; font-size: 0.9rem; margin: 0.4rem 0 0.8rem; }
.facts dt { color: var(--faint); }
.facts dd { margin: 0; }

svg { display: block; overflow: visible; }
svg.definitions { position: absolute; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; font-size: 0.88rem; }
.legend span { display: inline-flex; align-items: center; gap: 0.4rem; }
.sample { width: 16px; height: 12px; flex: none; }
.sample.wide { width: 30px; }
/* the same columns in every row: bars must be as comparable as they look */
.bar { display: grid; grid-template-columns: 15rem 1fr 13rem; gap: 0.1rem 0.8rem; align-items: center;
  font-size: 0.88rem; margin: 0.25rem 0; }
.bar .note { font-variant-numeric: tabular-nums; }
.track { width: 100%; background: var(--track); }
.track rect { stroke: var(--page); stroke-width: 1px; }
text { font-size: 12px; fill: var(--ink); }
.tick { fill: var(--faint); }
.tick.y { text-anchor: end; }
.tick.x { text-anchor: middle; }
.chart { margin: 0.5rem 0 1rem; }
.chart .frame { padding: 0.5rem 1.4rem 1.6rem 3.4rem; }
.plot { width: 100%; height: 19rem; border-left: 1px solid var(--faint); border-bottom: 1px solid var(--faint); }
.y-name, .x-name { font-size: 0.85rem; color: var(--faint); }
.x-name { text-align: center; }
.grid { stroke: var(--grid); stroke-width: 1px; }
.line { stroke-width: 1.6px; }
.dashed .line { stroke-dasharray: 6 4; }
.range { stroke-width: 1.2px; }
.lanes { font-size: 0.8rem; margin: 0.5rem 0 1rem; }
.lanes .row { display: grid; grid-template-columns: 2.6rem 1fr; align-items: center; }
.lanes .name { color: var(--faint); }
.lanes .group { margin-top: 0.45rem; font-weight: 600; }
.lane { width: 100%; height: 13px; background: var(--track); margin-bottom: 1px; overflow: hidden; }
.times { width: 100%; overflow: hidden; }

.look-computing { fill: var(--computing); } .look-transfer { fill: var(--transfer); }
.look-network { fill: url(#dots); } .look-waiting { fill: url(#slashes); } .look-idle { fill: var(--idle); }
.look-pivot { fill: var(--pivot); } .look-normalize { fill: url(#slashes-normalize); }
.look-eliminate { fill: url(#slashes-eliminate); } .look-reduce { fill: url(#dots-reduce); }
.look-outside { fill: var(--outside); } .look-plain { fill: var(--computing); }
.lane .look-normalize { fill: var(--normalize); } .lane .look-eliminate { fill: var(--eliminate); }
.lane .look-reduce { fill: var(--reduce); } .lane .look-network { fill: var(--network); }
.lane .look-waiting { fill: var(--waiting); }
text.on { text-anchor: middle; font-size: 11.5px; fill: #16191d; stroke: #ffffff; stroke-width: 2.5px; paint-order: stroke; }
text.look-computing, text.look-transfer, text.look-pivot, text.look-eliminate { fill: #ffffff; stroke: none; font-weight: 600; }
.base { fill: var(--network); } .base-waiting { fill: var(--waiting); } .base-normalize { fill: var(--normalize); }
.base-eliminate { fill: var(--eliminate); } .base-reduce { fill: var(--reduce); }
.ink { fill: var(--hatch); } .stroke { stroke: var(--hatch); stroke-width: 1px; }
.series-0 { fill: var(--s0); stroke: var(--s0); } .series-1 { fill: var(--s1); stroke: var(--s1); }
.series-2 { fill: var(--s2); stroke: var(--s2); } .series-3 { fill: var(--s3); stroke: var(--s3); }
.series-4 { fill: var(--s4); stroke: var(--s4); } .series-5 { fill: var(--s5); stroke: var(--s5); }
.series-6 { fill: var(--s6); stroke: var(--s6); } .series-7 { fill: var(--s7); stroke: var(--s7); }

@media (max-width: 40rem) {
  body { padding: 0.6rem 0.8rem 2rem; }
  h1 { font-size: 1.4rem; }
  .bar { grid-template-columns: 1fr max-content; margin: 0.6rem 0; }
  .bar .name { grid-column: 1; grid-row: 1; }
  .bar .note { grid-column: 2; grid-row: 1; }
  .bar .track { grid-column: 1 / 3; grid-row: 2; }
  .plot { height: 15rem; }
  .facts { grid-template-columns: 1fr; }
  .facts dd { margin-bottom: 0.4rem; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding-right: 0.4rem; overflow-wrap: anywhere; white-space: normal; }
  .tile, pre, details { background: none; }
  .bar, .row, tr, figure, .tile { break-inside: avoid; }
  h2, h3, h4, summary { break-after: avoid; }
  details::details-content { content-visibility: visible; }
  .track, .lane, .verdict { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
</style>
)css"_html;
}

}  // namespace glinpack::app
