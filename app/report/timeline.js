"use strict";
// The timeline of traces: each rank's lanes on a canvas, with zoom, pan and tooltips; and the way to Perfetto.

const PERFETTO = "https://ui.perfetto.dev";
const LANES = ["gpu", "copy", "cpu", "net"];
const timelines = [];

// Opens the trace in Perfetto's window, which answers PONG as soon as it listens
// (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui). Nothing else of the page leaves it.
function openInPerfetto(name, text, say) {
  const target = open(PERFETTO);
  if (!target) return say("The browser did not open a window for Perfetto: allow it, or download the trace.");
  const pings = setInterval(() => target.postMessage("PING", PERFETTO), 100);
  const answer = ({source, origin, data}) => {
    if (source !== target || origin !== PERFETTO || data !== "PONG") return;
    stop();
    say("");
    const {buffer} = new TextEncoder().encode(text);
    target.postMessage({perfetto: {buffer, title: name, fileName: `${name}.json`}}, PERFETTO);
  };
  const patience = setTimeout(() => {
    stop();
    say("Perfetto does not answer: download the trace, and open the file there.");
  }, 60000);
  function stop() {
    clearInterval(pings);
    clearTimeout(patience);
    removeEventListener("message", answer);
  }
  addEventListener("message", answer);
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], {type: "application/json"}));
  element("a", {href: address, download: `${name}.json`}).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Runs of a trace: {name, length, ranks: [{name, lanes: [{name, intervals}]}], passes}; times in seconds from the run's
// start. An interval waits for another rank from begin to work.
function runsOfTrace({traceEvents}) {
  const names = new Map(), runs = [];
  for (const {ph, pid, name, ts, dur, cat, args} of traceEvents) {
    if (ph === "M" && name === "process_name") names.set(pid, args.name);
    if (ph === "i") runs.push({name, start: ts * 1e-6, length: 0, byRank: new Map(), begins: new Map()});
    if (ph !== "X" || name === "wait") continue;  // wait: the host waits for the device
    const run = runs[runs.length - 1], begin = ts * 1e-6 - run.start, end = begin + dur * 1e-6;
    const work = Math.min(begin + (args.waiting ?? 0) * 1e-6, end), {pass = -1, role, bytes, flops} = args;
    run.length = Math.max(run.length, end);
    const lanes = run.byRank.get(pid) ?? run.byRank.set(pid, {}).get(pid);
    (lanes[cat] ??= []).push({begin, work, end, phase: name, role, pass, bytes, flops});
    const start = run.begins.get(pass), key = [role === "pivot" ? 0 : 1, begin];
    if (pass >= 0 && !(start && compareStarts(start, key) <= 0)) run.begins.set(pass, key);
  }
  for (const run of runs) {
    run.passes = [...run.begins].map(([pass, [, at]]) => ({pass, at})).sort((a, b) => a.at - b.at);
    const lanesOf = lanes => LANES.filter(lane => lanes[lane])
      .map(lane => ({name: lane, intervals: lanes[lane].sort((a, b) => a.begin - b.begin)}));
    run.ranks = [...run.byRank].sort(([a], [b]) => a - b)
      .map(([pid, lanes]) => ({name: names.get(pid) ?? `rank ${pid}`, lanes: lanesOf(lanes)}));
  }
  return runs.filter(run => run.length > 0);
}

const compareStarts = (a, b) => a[0] - b[0] || a[1] - b[1];

// A timeline of one run. Drag pans; the buttons, + and -, Ctrl and the wheel, or two fingers zoom; a double click shows
// all.
class Timeline {
  static LEFT = 44;  // pixels, as the others
  static TOP = 36;
  static LANE = 15;
  static RANK = 22;
  static MOST_RANKS = 64;

  constructor(run) {
    this.run = run;
    [this.from, this.to] = [0, run.length];
    this.rows = [];  // {lane, y}, and {name, y} of ranks
    this.height = Timeline.TOP;
    for (const rank of run.ranks.slice(0, Timeline.MOST_RANKS)) {
      this.rows.push({name: rank.name, y: this.height + 3});
      this.height += Timeline.RANK;
      for (const lane of rank.lanes) {
        this.rows.push({lane, y: this.height});
        this.height += Timeline.LANE;
      }
    }
    const phases = [...new Set(this.rows.flatMap(({lane}) => lane?.intervals.map(({phase}) => phase) ?? []))];
    const phaseColour = phase => seriesColour(phases.indexOf(phase));
    this.colourings = {
      role: {keys: ROLE_LOOKS, keyOf: ({role}) => lookOfRole(role), fill: colour, name: look => LOOKS[look]},
      phase: {keys: phases, keyOf: ({phase}) => phase, fill: phaseColour, name: phase => phase},
    };
    this.by = this.colourings.role;
    this.canvas = element("canvas", {tabindex: "0", role: "img", "aria-label": `Timeline of ${run.name}`});
    this.canvas.style.height = `${this.height}px`;
    this.tooltip = element("div", {class: "tooltip", hidden: ""});
    this.legend = element("div", {class: "legend"});
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  get width() { return this.canvas.clientWidth - Timeline.LEFT; }
  xOf(time) { return Timeline.LEFT + (time - this.from) / (this.to - this.from) * this.width; }
  timeAt(x) { return this.from + (x - Timeline.LEFT) / this.width * (this.to - this.from); }

  view(from, to) {
    const length = Math.min(Math.max(to - from, 1e-7), this.run.length);
    this.from = Math.min(Math.max(0, from), this.run.length - length);
    this.to = this.from + length;
    this.tooltip.hidden = true;
    this.draw();
  }

  showAll() { this.view(0, this.run.length); }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const shift = share * (this.to - this.from);
    this.view(this.from + shift, this.to + shift);
  }

  draw() {
    const {canvas, by} = this, {LEFT, LANE} = Timeline, scale = devicePixelRatio || 1;
    if (!canvas.clientWidth) return;
    const pen = canvas.getContext("2d");
    canvas.width = canvas.clientWidth * scale;
    canvas.height = this.height * scale;
    pen.scale(scale, scale);
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    pen.textBaseline = "middle";
    const fills = Object.fromEntries(by.keys.map(key => [key, by.fill(key)]));
    this.drawMarks(pen);
    for (const {name, lane, y} of this.rows) {
      pen.fillStyle = colour(lane ? "faint" : "ink");
      pen.fillText(lane ? lane.name : name, lane ? 8 : 0, y + LANE / 2);
      if (!lane) continue;
      pen.fillStyle = colour("inset");
      pen.globalAlpha = 0.7;
      pen.fillRect(LEFT, y, this.width, LANE - 1);
      pen.globalAlpha = 1;
      this.drawLane(pen, lane, y, fills);
    }
    this.legend.replaceChildren(...legendOf(by.keys.map(key => [by.name(key), fills[key]])));
  }

  // Times, and the passes at their begins.
  drawMarks(pen) {
    const {LEFT, TOP} = Timeline, right = LEFT + this.width, perSecond = this.width / (this.to - this.from);
    const power = 10 ** Math.floor(Math.log10(90 / perSecond));
    const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size * perSecond > 80);
    pen.textAlign = "center";
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i) {
      const x = this.xOf(i * step);
      pen.fillStyle = colour("grid");
      pen.fillRect(x, TOP - 4, 1, this.height - TOP + 4);
      pen.fillStyle = colour("faint");
      if (x < right - 30) pen.fillText(timeText(i * step, step), x, 10);
    }
    let free = LEFT;
    for (const {pass, at} of this.run.passes) {
      const x = this.xOf(at);
      if (x < free || x > right) continue;
      pen.fillText(pass, x, 26);
      free = x + pen.measureText(pass).width + 10;
    }
    pen.textAlign = "left";
    pen.fillText("pass", 0, 26);
  }

  drawLane(pen, {intervals}, y, fills) {
    const {LEFT, LANE} = Timeline, right = LEFT + this.width;
    let drawnTo = -1, drawnKey = null;
    for (const interval of intervals) {
      if (interval.end < this.from || interval.begin > this.to) continue;
      const x = Math.max(LEFT, this.xOf(interval.begin)), end = Math.min(right, this.xOf(interval.end));
      const key = this.by.keyOf(interval);
      if (end <= drawnTo && key === drawnKey) continue;  // no pixel of its own
      const work = Math.min(Math.max(x, this.xOf(interval.work)), end);
      pen.fillStyle = fills[key];
      if (work > x) pen.fillRect(x, y + 5, work - x, 3);  // thin while it waits
      if (interval.end > interval.work) pen.fillRect(work, y + 1, Math.max(0.7, end - work), LANE - 3);
      [drawnTo, drawnKey] = [Math.max(drawnTo, Math.ceil(end)), key];
    }
  }

  // Shows the tooltip of the interval below the pointer.
  explain(x, y) {
    const row = this.rows.find(({lane, y: top}) => lane && y >= top && y < top + Timeline.LANE);
    const time = this.timeAt(x), near = 2 / this.width * (this.to - this.from);  // two pixels
    const found = row?.lane.intervals.filter(({begin, end}) => begin - near <= time && time <= end + near).pop();
    this.tooltip.hidden = !found || x < Timeline.LEFT;
    if (this.tooltip.hidden) return;
    const {phase, role, pass, begin, work, end, bytes, flops} = found, seconds = end - work;
    this.tooltip.textContent = [`${phase}${pass >= 0 ? `, pass ${pass}` : ""}, ${shownRole(role)}`,
      `${row.lane.name}, ${quantity(end - begin, "seconds")} from ${quantity(begin, "seconds")}`,
      work > begin && `waits ${quantity(work - begin, "seconds")} for another rank`,
      bytes > 0 && `${quantity(bytes, "bytes")}${seconds > 0 ? `, ${figures(bytes / seconds / 1e9)} GB/s` : ""}`,
      flops > 0 && seconds > 0 && quantity(flops / seconds / 1e9, "gflops")].filter(Boolean).join("\n");
    this.tooltip.style.top = `${y + 18}px`;
    this.tooltip.style.left = `${Math.max(0, Math.min(x + 12, this.canvas.clientWidth - this.tooltip.offsetWidth))}px`;
  }

  listen() {
    const {canvas} = this, pointers = new Map();  // pressed pointers with their x
    const on = (name, act, options) => canvas.addEventListener(name, act, options);
    on("pointerdown", event => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event.offsetX);
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, event => pointers.delete(event.pointerId));
    on("pointerleave", () => this.tooltip.hidden = true);
    on("pointermove", event => {
      if (!pointers.has(event.pointerId)) return this.explain(event.offsetX, event.offsetY);
      const before = [...pointers.values()];
      pointers.set(event.pointerId, event.offsetX);
      const after = [...pointers.values()];
      if (after.length === 1) return this.pan((before[0] - after[0]) / this.width);
      const distance = ([a, b]) => Math.max(1, Math.abs(a - b));
      return this.zoom(distance(before) / distance(after), this.timeAt((after[0] + after[1]) / 2));
    });
    on("wheel", event => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;  // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY)) * 0.004), this.timeAt(event.offsetX));
    }, {passive: false});
    on("dblclick", () => this.showAll());
    const keys = {"+": () => this.zoom(0.6), "=": () => this.zoom(0.6), "-": () => this.zoom(1.6),
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), Home: () => this.showAll()};
    on("keydown", event => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  // With its buttons and the legend.
  get element() {
    const button = (text, title, onclick) =>
      element("button", {type: "button", title, "aria-label": title, onclick}, text);
    const colours = choice("Colours", [["role", "by role"], ["phase", "by phase"]], name => {
      this.by = this.colourings[name];
      this.draw();
    });
    const all = this.run.ranks.length, {MOST_RANKS} = Timeline;
    return element("div", null,
      element("div", {class: "bar"}, button("+", "Zoom in", () => this.zoom(0.5)),
        button("−", "Zoom out", () => this.zoom(2)), button("◀", "Earlier", () => this.pan(-0.4)),
        button("▶", "Later", () => this.pan(0.4)), button("All", "Show the whole run", () => this.showAll()), colours),
      this.legend, element("div", {class: "timeline"}, this.canvas, this.tooltip),
      all > MOST_RANKS ? note(`The first ${MOST_RANKS} of ${all} ranks.`) : null);
  }
}

// Time on the axis: as many digits as the step needs.
function timeText(time, step) {
  const [unit, factor] = unitFor("seconds", Math.max(time, step));
  const digits = Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9));
  return `${(time / factor).toLocaleString(GROUPED, {maximumFractionDigits: digits})} ${unit}`;
}

function traceElement(file) {
  const title = element("h3", null, `Trace ${file.name}`);
  if (!file.trace) {
    const size = quantity(file.bytes, "bytes");
    return element("div", null, title, note(`The trace has ${size}, too many for a page: open `,
      element("code", null, file.path), " in Perfetto, or trace fewer and smaller runs."));
  }
  const text = document.getElementById(file.trace).textContent, runs = runsOfTrace(JSON.parse(text));
  const message = element("span", {class: "faint", role: "status"}), content = element("div");
  const say = words => message.textContent = words;
  const show = i => {
    const timeline = runs[i] && new Timeline(runs[i]);
    if (timeline) timelines.push(timeline);
    content.replaceChildren(timeline?.element ?? note("The trace has no interval."));
  };
  show(0);
  const button = (name, onclick) => element("button", {type: "button", onclick}, name);
  return element("div", null, title, element("div", {class: "bar"},
    runs.length > 1 ? choice("Run", runs.map((run, i) => [i, run.name]), show) : runs[0]?.name,
    button("Open in Perfetto", () => openInPerfetto(file.name, text, say)),
    button("Download the trace", () => download(file.name, text)), message), content);
}

function timelineSection() {
  const files = filesOf("trace");
  return files.length === 0 ? null : section("timeline", "Timeline of the passes",
    note("What each rank does when: on its device (gpu), in large transfers (copy), on its processor (cpu), in messages " +
      "(net; thin while it waits for a rank that has not begun its end). The numbers above are passes, each at the time " +
      "when its pivot rank begins it. Drag to pan. Zoom with the buttons, two fingers, Ctrl and the wheel, or + and − " +
      "after a click. Perfetto opens in a new window, and the trace goes to it only when you click."),
    ...files.map(traceElement));
}
