"use strict";
// The parts that the sections of a page are made of: numbers with units, elements, tables, charts.

// Numbers

const GROUPED = "en-US";
// Units of each quantity, largest first; values come in the unit whose factor is 1.
const UNITS = {
  seconds: [["s", 1], ["ms", 1e-3], ["µs", 1e-6]],
  gflops: [["PFLOPS", 1e6], ["TFLOPS", 1e3], ["GFLOPS", 1], ["MFLOPS", 1e-3]],
  bytes: [["PB", 1e15], ["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]],
};

const known = value => typeof value === "number" && Number.isFinite(value);

// Four significant digits, with grouped thousands.
function figures(value) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(2);
  const digits = size === 0 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(size)));
  return value.toLocaleString(GROUPED, {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

const short = value => value.toLocaleString(GROUPED, {maximumSignificantDigits: 3});
const whole = value => known(value) ? value.toLocaleString(GROUPED, {maximumFractionDigits: 0}) : "–";
const percent = share => known(share) ? (100 * share).toFixed(1) + " %" : "–";
const plural = (count, word) => `${whole(count)} ${word}${count === 1 ? "" : "s"}`;

function unitFor(kind, size) {
  const units = UNITS[kind];
  return units.find(([, factor]) => Math.abs(size) >= factor) ?? units[size === 0 ? 0 : units.length - 1];
}

// "12.34 ms", "33.95 TFLOPS"
function quantity(value, kind, show = figures) {
  if (!known(value)) return "–";
  const [unit, factor] = unitFor(kind, value);
  return (unit === "B" ? whole(value) : show(value / factor)) + " " + unit;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const least = values => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = values => values.reduce((a, b) => Math.max(a, b), -Infinity);
const spread = values => values.length ? {median: median(values), least: least(values), most: most(values)} : null;

function date(seconds) {
  const time = new Date(1000 * seconds);
  return Number.isNaN(time.getTime()) ? "unknown" : time.toISOString().slice(0, 16).replace("T", " ") + " UTC";
}

// Elements

// Attributes that begin with "on" are functions. Children that are strings become text.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child != null));
  return made;
}

const note = (...children) => element("p", {class: "note"}, ...children);

function verdictTag(text) {
  const look = /FAILED|slower/.test(text) ? "bad" : /PASSED|faster/.test(text) ? "good" : "";
  return element("span", {class: `verdict ${look}`}, text);
}

// A select with a value for each choice: [value, text] pairs.
function choice(label, choices, change) {
  const select = element("select", {onchange: () => change(select.value)},
    ...choices.map(([value, text]) => element("option", {value}, text)));
  return element("label", null, label, select);
}

// Tables

// What the cells of a column show, and the unit in its heading. `kind`: text, whole, figures, percent, error, a
// quantity of UNITS, or the unit itself.
function formatOf(kind, values) {
  const error = x => known(x) ? x.toExponential(2) : "–";
  const shows = {text: x => String(x ?? ""), whole, figures, percent, error};
  if (kind in shows) return {show: shows[kind]};
  if (!(kind in UNITS)) return {unit: kind, show: figures};
  const sizes = values.filter(known).map(Math.abs).filter(size => size > 0);
  const [unit, factor] = unitFor(kind, !sizes.length ? 1 : kind === "seconds" ? median(sizes) : most(sizes));
  return {unit, show: x => known(x) ? figures(x / factor) : "–"};
}

// Missing values are last, whatever the direction.
function compareCells(a, b, sign = 1) {
  const missing = x => x == null || Number.isNaN(x);
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", {numeric: true});
}

// Columns: [heading, kind, value(row), cell(row)]; instead of a function, `value` may be a path such as "json.time".
// `cell` makes what is shown instead of the value. A column without any value is left out. A click on a heading sorts; the field above finds the rows that contain all its words.
// `mark(row)` highlights a row; `open(row)` is what a click on it does.
function table(allColumns, rows, {mark, open} = {}) {
  const firstRows = 250, columns = [];
  for (const [name, kind, source, cell] of allColumns) {
    const value = typeof source === "function" ? source
      : row => source.split(".").reduce((place, key) => place?.[key], row);
    const values = rows.map(value);
    if (rows.length && values.every(one => one == null || one === "")) continue;
    columns.push({name, value, cell, numeric: kind !== "text", ...formatOf(kind, values)});
  }
  const searched = rows.map(row => columns.map(({show, value}) => show(value(row))).join(" ").toLowerCase());
  const body = element("tbody"), count = element("span", {class: "faint"});
  const showAll = element("button", {type: "button", onclick: () => fill(Infinity)}, "Show all");
  const search = element("input", {type: "search", placeholder: "Filter rows", "aria-label": "Filter rows",
    oninput: () => fill(firstRows)});
  let sorted = null, descending = false;

  function rowOf(row) {
    const attributes = {...(mark?.(row) && {class: "best"}), ...(open && {onclick: () => open(row)})};
    return element("tr", attributes, ...columns.map(({numeric, show, value, cell}) =>
      element("td", numeric && {class: "number"}, cell ? cell(row) : show(value(row)))));
  }

  function fill(limit) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((_, i) => words.every(word => searched[i].includes(word)));
    if (sorted) found.sort((a, b) => compareCells(sorted.value(a), sorted.value(b), descending ? -1 : 1));
    body.replaceChildren(...found.slice(0, limit).map(rowOf));
    showAll.hidden = found.length <= limit;
    count.textContent = (found.length < rows.length ? `${whole(found.length)} of ` : "") + plural(rows.length, "row") +
      (found.length > limit ? `, the first ${limit} shown` : "");
  }

  function sortBy(column, heading) {
    descending = sorted === column ? !descending : column.numeric;
    sorted = column;
    headings.forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
    fill(firstRows);
  }

  const headings = columns.map(column => {
    const heading = element("th", {scope: "col", ...(column.numeric && {class: "number"})});
    const unit = column.unit && element("span", {class: "unit"}, ` ${column.unit}`);
    const sort = () => sortBy(column, heading);
    heading.append(element("button", {type: "button", onclick: sort}, column.name, unit ?? ""));
    return heading;
  });
  fill(firstRows);
  const content = element("table", null, element("thead", null, element("tr", null, ...headings)), body);
  const scroller = element("div", {class: open ? "scroll opens" : "scroll", tabindex: "0"}, content);
  const hint = element("p", {class: "hint faint"}, "Scroll sideways for more columns \u2192");
  new ResizeObserver(() => hint.hidden = scroller.scrollWidth - scroller.clientWidth <= 1).observe(scroller);
  return element("div", null, rows.length > 8 ? element("div", {class: "bar"}, search, count, showAll) : null, hint, scroller);
}

// Colours and charts

const LOOKS = {
  computing: "computing", transfer: "transfers, nothing computed", network: "network, nothing computed or transferred",
  waiting: "waiting for other ranks", idle: "otherwise idle",
  pivot: "pivot", normalize: "normalize", eliminate: "eliminate", reduce: "reduce", outside: "outside the passes",
};
const TIME_LOOKS = ["computing", "transfer", "network", "waiting", "idle"];
const ROLE_LOOKS = ["pivot", "normalize", "eliminate", "reduce", "outside"];
const HATCHES = {network: "dots", reduce: "dots", waiting: "lines", normalize: "lines", eliminate: "lines"};
const MARKERS = ["circle", "rect", "rectRot", "triangle", "star", "cross", "crossRot", "rectRounded"];
const MOST_SERIES = 8;

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const seriesColour = i => colour(`s${i % MOST_SERIES}`);
const lookOfRole = role => ROLE_LOOKS.includes(role) ? role : "outside";

// The colour of a look, with a hatch that tells it from the others in grey, too.
function fillOf(look) {
  const tile = element("canvas", {width: 6, height: 6}), pen = tile.getContext("2d");
  pen.fillStyle = colour(look);
  pen.fillRect(0, 0, 6, 6);
  pen.fillStyle = pen.strokeStyle = colour("hatch");
  if (HATCHES[look] === "dots") pen.fillRect(2, 2, 1.5, 1.5);
  if (HATCHES[look] === "lines") for (const x of [-6, 0, 6]) { pen.moveTo(x - 1, 7); pen.lineTo(x + 7, -1); }
  pen.lineWidth = 0.6;
  pen.stroke();
  return pen.createPattern(tile, "repeat");
}

// A legend of colours: [name, colour] pairs.
function legendOf(entries) {
  return entries.map(([name, fill]) => {
    const sample = element("canvas", {width: 14, height: 14}), pen = sample.getContext("2d");
    pen.fillStyle = fill;
    pen.fillRect(0, 0, 14, 14);
    return element("span", null, sample, name);
  });
}

const charts = [];  // {canvas, make, chart}: make() returns Chart.js's configuration in the present colours

// Draws new charts, or all of them after the colours changed.
function drawCharts(all = false) {
  Chart.defaults.color = colour("faint");
  Chart.defaults.borderColor = colour("grid");
  for (const entry of charts.splice(0)) {
    const shown = entry.canvas.isConnected;
    if (all || !shown) entry.chart?.destroy();
    if (shown && (all || !entry.chart)) entry.chart = new Chart(entry.canvas, entry.make());
    if (shown || !entry.chart) charts.push(entry);
  }
}

function chart(height, description, make) {
  const canvas = element("canvas", {role: "img", "aria-label": description});
  const frame = element("div", {class: "chart"}, canvas);
  frame.style.height = `${height}px`;
  charts.push({canvas, make, chart: null});
  return frame;
}

// Vertical lines from the least to the most of the repetitions.
const RANGES = {id: "ranges", afterDatasetsDraw({ctx, scales, data}) {
  for (const series of data.datasets) {
    ctx.strokeStyle = series.borderColor;
    ctx.lineWidth = 1.5;
    for (const {x, least, most} of series.data) {
      if (!(most > least)) continue;
      ctx.beginPath();
      ctx.moveTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(least));
      ctx.lineTo(scales.x.getPixelForValue(x), scales.y.getPixelForValue(most));
      ctx.stroke();
    }
  }
}};

// A note at the end of each horizontal bar.
const NOTES = {id: "notes", afterDatasetsDraw(drawn, _, {texts}) {
  const {ctx, chartArea, scales, data} = drawn;
  if (!chartArea || drawn.width < 560) return;
  ctx.fillStyle = colour("faint");
  ctx.font = `12px ${Chart.defaults.font.family}`;
  ctx.textBaseline = "middle";
  data.labels.forEach((_, i) => ctx.fillText(texts[i] ?? "", chartArea.right + 8, scales.y.getPixelForValue(i)));
}};

// Logarithmic if the values span more than `decades`. With `exact`, a few values are the ticks themselves.
function axis(title, values, {decades, format = short, exact}) {
  const high = most(values), low = least(values), places = [...new Set(values)].sort((a, b) => a - b);
  const logarithmic = low > 0 && high / low > 10 ** decades, atPlaces = exact && places.length <= 12;
  const ticks = {maxRotation: 0, autoSkipPadding: 12, callback: value => {
    if (logarithmic && !atPlaces && ![1, 2, 5].includes(Number(value.toExponential(0)[0]))) return null;
    return format(value);
  }};
  return {type: logarithmic ? "logarithmic" : "linear", title: {display: title !== "", text: title}, ticks,
    beginAtZero: !logarithmic && low < 0.5 * high, suggestedMin: low, suggestedMax: high, grace: logarithmic ? 0 : "4%",
    ...(atPlaces && {afterBuildTicks: scale => scale.ticks = places.map(value => ({value}))})};
}

// Series: {name, dashed, points: [{x, y, least, most, note}]}; y is shown in the unit of `kind`, or as it is.
function lineChart(series, {title, x, y = "", kind, xFormat = whole, yFormat = short, share = false, height = 330}) {
  const points = series.flatMap(one => one.points);
  const [unit, factor] = kind ? unitFor(kind, most(points.map(point => point.y))) : ["", 1];
  const scaled = point => ({...point, y: point.y / factor, least: point.least / factor, most: point.most / factor});
  const ys = points.flatMap(point => [point.y, point.least, point.most]).filter(known).map(y => y / factor);
  return chart(height, title, () => ({
    type: "line",
    data: {datasets: series.map((one, i) => ({label: one.name, data: one.points.map(scaled),
      borderColor: one.dashed ? colour("faint") : seriesColour(i), backgroundColor: seriesColour(i),
      borderDash: one.dashed ? [6, 4] : i < MOST_SERIES ? [] : [2, 2], borderWidth: one.dashed ? 1.2 : 2, tension: 0,
      pointStyle: one.dashed ? "line" : MARKERS[i % MARKERS.length], pointRadius: one.dashed ? 0 : 4,
      pointHoverRadius: one.dashed ? 0 : 6}))},
    options: {
      interaction: {mode: "nearest", intersect: false},
      scales: {x: axis(x, points.map(point => point.x), {decades: 1, format: xFormat, exact: true}),
        y: {...axis([y, unit].filter(Boolean).join(", "), ys, {decades: share ? Infinity : 1.7, format: yFormat}),
          ...(share && {beginAtZero: true, suggestedMin: 0, suggestedMax: 1, grace: 0})}},
      plugins: {legend: {display: series.length > 1, position: "bottom", labels: {usePointStyle: true, boxHeight: 7}},
        tooltip: {callbacks: {title: items => `${x} ${xFormat(items[0].parsed.x)}`,
          label: item => item.raw.note ? [item.dataset.label, ...item.raw.note.split("\n")] : item.dataset.label}}},
    },
    plugins: [RANGES],
  }));
}

// Bars: {name, parts: {look: value}, note}; looks: [key, name] pairs with the fill of the key, or of a series.
function barChart(bars, looks, {title, kind, format, open}) {
  const totals = bars.map(bar => Object.values(bar.parts).reduce((a, b) => a + Math.max(0, b), 0));
  const [unit, factor] = kind ? unitFor(kind, most(totals)) : ["", 1];
  const show = format ?? (value => `${figures(value)} ${unit}`);
  const used = looks.filter(([key]) => bars.some(bar => bar.parts[key] > 0));
  const noteWidth = 7 * most(bars.map(bar => bar.note?.length ?? 0)) + 8;
  const fill = (key, i) => key in LOOKS ? fillOf(key) : seriesColour(i);
  const legend = element("div", {class: "legend"});
  const frame = chart(70 + 24 * bars.length, title, () => ({
    type: "bar",
    data: {labels: bars.map(bar => bar.name), datasets: used.map(([key, name], i) => ({label: name,
      data: bars.map(bar => Math.max(0, bar.parts[key] ?? 0) / factor), maxBarThickness: 22, categoryPercentage: 0.86,
      backgroundColor: fill(key, i), borderColor: colour("card"), borderWidth: 0.5}))},
    options: {
      indexAxis: "y",
      layout: {padding: context => ({right: context.chart.width < 560 ? 8 : noteWidth})},
      interaction: {mode: "nearest", axis: "y", intersect: false},
      onClick: (_, items) => { if (open && items.length) open(bars[items[0].index]); },
      scales: {
        x: {stacked: true, ...(format && {max: 1}), title: {display: unit !== "", text: unit},
          ticks: {maxRotation: 0, autoSkipPadding: 12,
            callback: value => format ? `${short(100 * value)} %` : short(value)}},
        y: {stacked: true, grid: {display: false}, ticks: {autoSkip: false, color: colour("ink"), callback(index) {
          const text = String(this.getLabelForValue(index)), fits = Math.max(26, Math.floor(this.chart.width / 20));
          return text.length > fits ? text.slice(0, fits - 1) + "…" : text;
        }}},
      },
      plugins: {
        notes: {texts: bars.map(bar => bar.note)},
        legend: {display: false},
        tooltip: {mode: "index", axis: "y", filter: item => item.raw > 0,
          callbacks: {label: item => `${item.dataset.label}: ${show(item.raw)}`,
            footer: items => bars[items[0]?.dataIndex]?.note ?? ""}},
      },
    },
    plugins: [NOTES, {afterInit() {
      legend.replaceChildren(...legendOf(used.map(([key, name], i) => [name, fill(key, i)])));
    }}],
  }));
  return element("div", null, used.length > 1 ? legend : null, frame);
}
