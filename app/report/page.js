"use strict";
// Draws the page of `glinpack report` from the documents of --json, which are in the page as they are.
// All text of a document becomes text nodes, labels of charts or values of attributes, never markup.

// Documents

const data = JSON.parse(document.getElementById("data").textContent);
const filesOf = kind => data.files.filter(file => file.kind === kind);
const hostsOf = ({document}) => document?.context.hosts ?? (document?.host ? [document.host.name] : []);
const shownRole = role => role === "none" ? "outside the passes" : role;
const softwareNote = software => software ? " (software driver)" : "";

function incompleteOf({name, document}) {
  const {runs_finished, runs_planned, links_left} = document?.incomplete ?? {};
  const links = links_left ? ", links left" : "";
  return runs_planned == null ? [] : [`${name}: ${runs_finished} of ${runs_planned} runs${links}`];
}

function rowSwap({kind, threshold, pieces}) {
  return (kind === "mix" ? `mix ${threshold}` : kind) + (pieces === 1 ? "" : ` in ${pieces} pieces`);
}

// All that decides what is computed, by name, in the order in which it is shown.
function parametersOf(run, hardware) {
  const parameters = {n: run.n, nb: run.nb, grid: `${run.p}x${run.q}`};
  for (const name of ["backend", "precision", "pivoting", "panel", "broadcast", "order", "matrix"]) {
    if (run[name] != null) parameters[name] = run[name];
  }
  if (run.row_swap) parameters["row swap"] = rowSwap(run.row_swap);
  if (run.variant) parameters.lookahead = run.variant.depth;
  if (run.compute_only) parameters["compute only"] = "yes";
  if (hardware) parameters.hardware = hardware;
  return parameters;
}

// HPL's code of the variant, the column T/V.
function variantCode({variant, order, broadcast}) {
  const digit = data.broadcast_digits[broadcast];
  if (!variant || digit == null) return "";
  const {depth, rfact, ndiv, pfact, nbmin} = variant;
  return `W${order === "row-major" ? "R" : "C"}${depth}${digit}${rfact}${ndiv}${pfact}${nbmin}`;
}

function runOf(json, file) {
  const hardware = json.ranks.some(rank => rank.software_gl) ? "software" : "";
  const singular = json.singular_column;
  let failure = json.failure ?? (singular == null ? "" : `singular: zero pivot in global column ${singular}`);
  const failed = json.checked ? !json.passed : failure !== "";
  if (failed && !failure) failure = "the scaled residual is not below the threshold";
  if (!failed) failure = "";  // a singular matrix that should be one
  return {json, file: file.name, hardware, failure, size: json.p * json.q, code: variantCode(json),
    verdict: failed ? "FAILED" : json.checked ? "PASSED" : "not checked", parameters: parametersOf(json, hardware)};
}

// Names of parameters that have several values, or are missing in some.
function differing(all) {
  const names = new Set(all.flatMap(parameters => Object.keys(parameters)));
  return [...names].filter(name => new Set(all.map(parameters => parameters[name])).size > 1);
}

const headings = {n: "N", nb: "NB", grid: "P×Q"};

// "gl-compute, N 4,096, NB 128"
function listed(parameters, names) {
  const clear = ["grid", "backend", "precision", "variant", "settings", "mode", "of", "what", "file"];
  const shown = value => known(value) ? whole(value) : value;
  return Object.entries(parameters).filter(([name]) => names.includes(name))
    .map(([name, value]) => clear.includes(name) ? value : `${headings[name] ?? name} ${shown(value)}`).join(", ");
}

// Configurations: the repetitions of a run in a file. The file is a parameter if files have configurations in common.
function groupsOf(runs) {
  const groups = new Map(), filesWith = new Map();
  for (const run of runs) {
    const key = JSON.stringify(run.parameters), place = JSON.stringify([run.file, key]);
    if (!groups.has(place)) groups.set(place, {parameters: run.parameters, file: run.file, runs: []});
    groups.get(place).runs.push(run);
    filesWith.set(key, (filesWith.get(key) ?? new Set()).add(run.file));
  }
  const all = [...groups.values()];
  if ([...filesWith.values()].some(files => files.size > 1)) {
    for (const group of all) group.parameters = {file: group.file, ...group.parameters};
  }
  const names = all.length > 1 ? differing(all.map(group => group.parameters)) : ["n", "nb", "grid"];
  for (const group of all) Object.assign(group, {name: listed(group.parameters, names)}, statisticsOf(group.runs));
  return all;
}

// Figures of the runs that did not fail. `middle` is the run with the median time.
function statisticsOf(runs) {
  const good = runs.filter(run => run.verdict !== "FAILED");
  const byTime = [...(good.length ? good : runs)].sort((a, b) => a.json.time - b.json.time);
  const middle = byTime[byTime.length >> 1], gflops = spread(good.map(run => run.json.gflops).filter(rate => rate > 0));
  return {gflops, seconds: spread(good.map(run => run.json.time)), middle, size: middle.size,
    failed: runs.length - good.length, share: gflops && gflops.median / peakOf(middle)};
}

const peakOf = ({json}) => json.peak?.gflops ?? NaN;

const allRuns = filesOf("plu").flatMap(file => file.document.runs.map(run => runOf(run, file)));
const modes = filesOf("standalone mode");
const severalFiles = filesOf("plu").length > 1;
const onGpus = allRuns.length > 0 && allRuns.every(run => run.json.backend.startsWith("gl") && !run.hardware);
const sizeWord = onGpus ? "GPU" : "rank", sizeWords = `${sizeWord}s`;

// What is above the sections

function tile(value, text, look = "") {
  return element("div", {class: `tile ${look}`}, element("b", null, value),
    ...text.split("\n").map(line => element("span", null, line)));
}

// "4 × NVIDIA H200", "2 ranks on AMD EPYC": the devices of a run, or its processors.
function devicesOf(run) {
  const users = new Map();  // by name: the devices, or the ranks that the processor computes for
  for (const {rank, host, device, device_index, backend, software_gl} of run.json.ranks) {
    const name = (device || backend).replace("/PCIe/SSE2", "") + softwareNote(software_gl);
    const onGpu = device_index != null && !software_gl, user = onGpu ? `${host} ${device_index}` : rank;
    const entry = users.get(name) ?? users.set(name, {onGpu, all: new Set()}).get(name);
    entry.all.add(user);
  }
  const countOf = ({onGpu, all}) => onGpu ? `${all.size} ×` : `${plural(all.size, "rank")} on`;
  return [...users].map(([name, entry]) => `${countOf(entry)} ${name}`).join(", ");
}

function tilesOf(runs, groups) {
  const good = runs.filter(run => run.verdict !== "FAILED" && known(run.json.gflops));
  const tiles = [];
  if (good.length) {
    const best = good.reduce((a, b) => a.json.gflops >= b.json.gflops ? a : b), peak = peakOf(best);
    const {n, nb, p, q, precision, backend, gflops} = best.json;
    const run = `N ${whole(n)}, NB ${nb}, ${p}\u00a0×\u00a0${q}`;
    tiles.push(tile(quantity(gflops, "gflops"), `best run: ${run}\n${backend}, ${precision}`));
    if (peak > 0) tiles.push(tile(percent(gflops / peak), `of ${quantity(peak, "gflops")}, the ${best.json.peak?.source ?? "measured"} peak`));
    tiles.push(tile(devicesOf(best), "device of the best run", "long"));
  }
  const rows = modes.flatMap(mode => mode.document.results);
  const count = verdict => runs.filter(run => run.verdict === verdict).length;
  const passed = count("PASSED") + rows.filter(row => row.passed).length;
  const failed = count("FAILED") + rows.filter(row => !row.passed).length;
  const others = `${whole(failed)} FAILED, ${whole(count("not checked"))} not checked`;
  if (failed > 0) tiles.push(tile(`${whole(failed)} FAILED`, "reasons below", "bad"));
  if (runs.length + rows.length > 0) tiles.push(tile(`${whole(passed)} PASSED`, others));
  if (groups.length) tiles.push(tile(whole(groups.length), `configurations in ${plural(runs.length, "run")}`));
  const efficiency = most(good.map(run => run.json.energy?.gflops_per_watt ?? 0));
  if (efficiency > 0) tiles.push(tile(`${figures(efficiency)} GFLOPS/W`, "best energy efficiency"));
  const hosts = new Set(data.files.flatMap(hostsOf));
  tiles.push(tile(plural(data.files.length, "file"), hosts.size ? `of ${plural(hosts.size, "host")}` : ""));
  return element("div", {class: "tiles"}, ...tiles);
}

function alarm(title, texts) {
  const shown = texts.slice(0, 50);
  if (texts.length > shown.length) shown.push(`and ${texts.length - shown.length} more`);
  return texts.length === 0 ? null : element("div", {class: "alarm"}, element("b", null, title),
    element("ul", null, ...shown.map(text => element("li", null, text))));
}

function failuresOf(groups) {
  const ofRuns = groups.flatMap(group => group.runs.filter(run => run.verdict === "FAILED")
    .map(run => `${run.file}: ${group.name}: ${run.failure}`));
  const ofModes = modes.flatMap(({name, document}) => document.results.filter(row => !row.passed).map(row => {
    const why = row.failure || `its error, ${figures(row.check?.error)}, is too large`;
    return `${name}: ${document.mode}, ${row.variant}, ${row.size}: ${why}`;
  }));
  return [...ofRuns, ...ofModes];
}

// A select for each parameter in which runs differ; `change` gets the runs that have all values chosen.
function filtersOf(runs, change) {
  const valuesOf = run => ({...(severalFiles && {file: run.file}), ...run.parameters, check: run.verdict});
  const textOf = (run, name) => String(valuesOf(run)[name] ?? "–");
  const wanted = new Map();
  const selects = differing(runs.map(valuesOf)).map(name => {
    const values = [...new Set(runs.map(run => textOf(run, name)))].sort((a, b) => compareCells(a, b));
    return choice(headings[name] ?? name, [["", "all"], ...values.map(value => [value, value])], value => {
      if (value === "") wanted.delete(name);
      else wanted.set(name, value);
      change(runs.filter(run => [...wanted].every(([name, value]) => textOf(run, name) === value)));
    });
  });
  const attributes = {class: "bar filters", role: "group", "aria-label": "Filter runs"};
  return selects.length === 0 ? null : element("div", attributes, element("b", null, "Runs"), ...selects);
}

// Sections of plu's runs. Each returns an element, or null if there is nothing to show.

function section(id, title, ...content) {
  return element("section", {id}, element("h2", null, title), ...content);
}

const heading = (level, text) => element(`h${level}`, null, text);

// Columns for parameters; numbers sort as numbers.
function parameterColumns(groups, names) {
  const kindOf = name => groups.every(group => known(group.parameters[name])) ? "whole" : "text";
  return names.map(name => [headings[name] ?? name, kindOf(name), group => group.parameters[name]]);
}

function configurationsSection(groups) {
  const varying = differing(groups.map(group => group.parameters));
  const names = [...new Set(groups.flatMap(group => Object.keys(group.parameters)))]
    .filter(name => name in headings || varying.includes(name));
  const best = most(groups.map(group => group.gflops?.median ?? 0));
  const check = group => group.failed ? `${group.failed} FAILED` : group.middle.verdict;
  const columns = [
    ...parameterColumns(groups, names),
    ["runs", "whole", "runs.length"], ["best", "gflops", "gflops.most"], ["median", "gflops", "gflops.median"],
    ["spread", "percent", ({gflops}) => gflops && (gflops.most - gflops.least) / gflops.median],
    [`per ${sizeWord}`, "gflops", group => group.gflops && group.gflops.median / group.size],
    ["of peak", "percent", group => group.share > 0 ? group.share : null],
    ["median time", "seconds", "seconds.median"],
    ["check", "text", check, group => verdictTag(check(group))],
  ];
  return section("configurations", "Configurations",
    table(columns, groups, {mark: group => group.gflops?.median === best, open: openDetails}),
    note("Spread: from min to max, relative to the median. Runs that FAILED are left out. ",
      groups.some(group => group.share > 0) ? "Peak: the run's. " : null, "A click on a row shows its roles and phases."));
}

// One series of the fastest configurations at each x, for as many differing parameters as stay readable.
function seriesBy(groups, x, without) {
  const measured = groups.filter(group => group.gflops);
  const names = differing(measured.map(group => group.parameters)).filter(name => !without.includes(name));
  const choices = [names, ["file", "backend", "precision", "hardware", "grid"], ["backend", "precision", "hardware"],
    ["backend"]];
  let series;
  for (const wanted of choices) {
    series = new Map();
    for (const group of measured) {
      const name = listed(group.parameters, names.filter(one => wanted.includes(one))) || "all runs";
      const points = series.get(name) ?? series.set(name, new Map()).get(name), present = points.get(x(group));
      if (!present || present.gflops.median < group.gflops.median) points.set(x(group), group);
    }
    if (series.size <= MOST_SERIES) break;
  }
  return [...series].slice(0, MOST_SERIES).map(([name, points]) =>
    ({name, groups: [...points.values()].sort((a, b) => x(a) - x(b))}));
}

// The point of a configuration in a chart of rates.
function ratePoint(group, x) {
  const {median, least, most} = group.gflops, text = rate => quantity(rate, "gflops");
  const range = most > least ? ` (${text(least)} to ${text(most)})` : "";
  return {x, y: median, least, most, note: `${text(median)}${range}\n${group.name}`};
}

function speedSection(groups) {
  const measured = groups.filter(group => group.gflops), orderOf = group => group.middle.json.n;
  if (!measured.length) return null;
  const series = seriesBy(groups, orderOf, ["n"])
    .map(({name, groups}) => ({name, points: groups.map(group => ratePoint(group, orderOf(group)))}));
  if (series.every(one => one.points.length === 1)) return speedBars(measured);
  return section("speed", "GFLOPS over N", lineChart(series, {title: "GFLOPS over N", x: "N", kind: "gflops"}),
    note("Medians of the repetitions, vertical lines from min to max. Of runs that share a line and N, " +
      "the fastest."));
}

// Instead of lines that would be points.
function speedBars(groups) {
  const fastest = [...groups].sort((a, b) => b.gflops.median - a.gflops.median).slice(0, 40);
  const bars = fastest.map(group => ({group, name: group.name, parts: {rate: group.gflops.median},
    note: quantity(group.gflops.median, "gflops")}));
  const cut = fastest.length < groups.length ? ` The fastest ${fastest.length} of ${groups.length}.` : "";
  return section("speed", "GFLOPS", barChart(bars, [["rate", "median rate"]],
    {title: "GFLOPS of each configuration", kind: "gflops", open: bar => openDetails(bar.group)}),
  note(`Medians of the repetitions.${cut}`));
}

function scalingSection(groups) {
  const series = seriesBy(groups, group => group.size, ["n", "nb", "grid", "file"])
    .filter(one => one.groups.length > 1);
  if (!series.length) return null;
  const perSize = group => group.gflops.median / group.size;
  const rates = series.map(({name, groups}) => ({name, points: groups.map(group => ratePoint(group, group.size))}));
  const ideals = series.slice(0, 3).map(({name, groups}) => ({name: `${name}, ideal`, dashed: true,
    points: groups.map(({size}) => ({x: size, y: perSize(groups[0]) * size}))}));
  const efficiencies = series.map(({name, groups}) => ({name, points: groups.map(group => {
    const efficiency = perSize(group) / perSize(groups[0]);
    return {x: group.size, y: efficiency, note: `${percent(efficiency)}\n${group.name}`};
  })}));
  const rows = series.flatMap(({name, groups}) => groups.map(group => ({name, group, first: groups[0]})));
  const columns = [
    ["series", "text", row => series.length > 1 ? row.name : null],
    [sizeWords, "whole", "group.size"], ["rate", "gflops", "group.gflops.median"],
    [`per ${sizeWord}`, "gflops", row => perSize(row.group)],
    ["speed-up", "figures", row => row.group.gflops.median / row.first.gflops.median],
    ["efficiency", "percent", row => perSize(row.group) / perSize(row.first)],
    ["of peak", "percent", row => row.group.share > 0 ? row.group.share : null],
    ["fastest configuration", "text", "group.name"],
  ];
  return section("scaling", `Scaling over ${sizeWords}`,
    element("div", {class: "pair"},
      lineChart([...rates, ...ideals], {title: `GFLOPS over ${sizeWords}`, x: sizeWords, kind: "gflops", height: 300}),
      lineChart(efficiencies, {title: `Efficiency over ${sizeWords}`, x: sizeWords, y: "efficiency", height: 300,
        yFormat: share => `${short(100 * share)} %`, share: true})),
    table(columns, rows),
    note(`For each number of ${sizeWords} the configuration with the best median, whatever its N. Efficiency: the ` +
      `rate per ${sizeWord}, relative to that with the fewest ${sizeWords}.`));
}

const meanOf = entry => known(entry) ? entry : entry?.mean ?? 0;

// A role's or a rank's time in parts that add up to it.
function timeParts(time) {
  const waiting = meanOf(time.waiting), idle = Math.max(0, meanOf(time.idle) - waiting);
  const {computing, transfer, network} = time;
  return {computing: meanOf(computing), transfer: meanOf(transfer), network: meanOf(network), waiting, idle};
}

// Parts of a run's time, a mean over ranks.
function runParts({json}) {
  const sum = {computing: 0, transfer: 0, network: 0, waiting: 0, idle: 0};
  for (const role of json.breakdown.roles) {
    const weight = role.ranks / Math.max(1, json.ranks.length);
    for (const [look, seconds] of Object.entries(timeParts(role))) sum[look] += weight * seconds;
  }
  return sum;
}

const lookPairs = looks => looks.map(look => [look, LOOKS[look]]);
const timed = groups => groups.filter(group => group.middle.json.breakdown && group.middle.json.time > 0);

function timesSection(groups) {
  const found = timed(groups), shown = found.slice(0, 60);
  if (!found.length) return null;
  const bars = shown.map(group => {
    const {time, breakdown} = group.middle.json, hidden = breakdown.network.hidden.mean / time;
    const shares = Object.entries(runParts(group.middle)).map(([look, seconds]) => [look, seconds / time]);
    const text = hidden >= 0.005 ? `, ${Math.round(100 * hidden)} % network hidden` : "";
    return {group, name: group.name, parts: Object.fromEntries(shares), note: quantity(time, "seconds") + text};
  });
  const cut = shown.length < found.length
    ? ` The first ${shown.length} of ${found.length} configurations: choose others at the top of the page.` : "";
  return section("times", "Where the time went", barChart(bars, lookPairs(TIME_LOOKS),
    {title: "Where the time went", format: percent, open: bar => openDetails(bar.group)}),
  note("A bar is the repetition with the median time, a mean over its ranks. A part counts while nothing left of it " +
    `is under way; the network time that computation hides is at the end of the bar.${cut}`));
}

let openDetails = () => {};  // shows the roles and phases of a configuration

function outlineOf({n, nb, p, q, time, factor_seconds, solve_seconds, gflops, breakdown}) {
  const seconds = value => quantity(value, "seconds");
  const rate = known(gflops) ? `, ${quantity(gflops, "gflops")}` : "";
  const moved = [[breakdown.network_bytes, "over the network"], [breakdown.transfer_bytes, "between hosts and devices"]]
    .filter(([bytes]) => bytes > 0).map(([bytes, where]) => `; ${quantity(bytes, "bytes")} ${where}`).join("");
  return `N ${whole(n)}, NB ${nb}, ${p} × ${q}: ${seconds(time)}, factorised in ${seconds(factor_seconds)}, ` +
    `solved in ${seconds(solve_seconds)}${rate}${moved}.`;
}

// Two charts side by side: the time of each role, and its phases.
function roleCharts({roles, phases}) {
  const names = [...new Set(phases.map(phase => phase.phase))];
  const secondsOf = (role, name) => phases.filter(phase => phase.role === role && phase.phase === name)
    .reduce((sum, phase) => sum + phase.seconds.mean, 0);
  const bars = roles.map(role => ({name: `${shownRole(role.role)} (${plural(role.ranks, "rank")})`, role}));
  const noteOf = ({seconds, idle}) =>
    `${quantity(seconds.mean, "seconds")}, idle ${Math.round(100 * idle.mean / seconds.mean)} %`;
  const byPart = bars.map(({name, role}) => ({name, parts: timeParts(role), note: noteOf(role)}));
  const byPhase = bars.map(({name, role}) => ({name,
    parts: Object.fromEntries(names.map(name => [`phase ${name}`, secondsOf(role.role, name)]))}));
  return element("div", {class: "pair"},
    element("div", null, heading(4, "Roles: a rank's time in passes in which it has the role"),
      barChart(byPart, lookPairs(TIME_LOOKS), {title: "Time of each role", kind: "seconds"})),
    element("div", null, heading(4, "Phases of each role; lanes overlap, so the sum can exceed its time"),
      barChart(byPhase, names.map(name => [`phase ${name}`, name]), {title: "Phases of each role", kind: "seconds"})));
}

function rankChart(ranks) {
  const shown = ranks.filter(rank => rank.roles?.length).slice(0, 128);
  if (!shown.length) return null;
  const bars = shown.map(({rank, row, column, host, roles}) => {
    const sum = (key, among = roles) => among.reduce((total, role) => total + role[key], 0);
    const parts = ROLE_LOOKS.map(look => [look, sum("seconds", roles.filter(({role}) => lookOfRole(role) === look))]);
    return {name: `rank ${rank} (${row}, ${column}) ${host}`, parts: Object.fromEntries(parts),
      note: `idle ${Math.round(100 * sum("idle") / sum("seconds"))} %`};
  });
  return element("div", null, heading(4, "Ranks: the time of each in its roles"),
    barChart(bars, lookPairs(ROLE_LOOKS), {title: "Roles of each rank", kind: "seconds"}),
    shown.length < ranks.length ? note(`The first ${shown.length} of ${ranks.length} ranks.`) : null);
}

// HPL's phases and the idle time, which add up to the run's. Older files lack them.
function hplPhases({time, breakdown: {hpl_phases: phases = [], idle}}) {
  if (!phases.length) return null;
  const columns = [
    ["phase", "text", "phase"], ["mean", "seconds", "seconds.mean"], ["max", "seconds", "seconds.max"],
    ["of the run", "percent", row => row.seconds.mean / time], ["hidden", "seconds", "hidden.mean"],
    ["rate", "gflops", row => row.gflops || null], ["rate", "GB/s", row => row.gigabytes_per_second || null],
  ];
  return element("div", null, heading(4, "HPL's phases: with the idle time they add up to the time of the run"),
    table(columns, [...phases, {phase: "idle", seconds: idle}]));
}

function detailsOf({json}) {
  const columns = [
    ["role", "text", phase => shownRole(phase.role)], ["phase", "text", "phase"], ["lane", "text", "lane"],
    ["min", "seconds", "seconds.min"], ["mean", "seconds", "seconds.mean"], ["max", "seconds", "seconds.max"],
    ["of the run", "percent", phase => phase.seconds.mean / json.time],
    ["rate", "gflops", phase => phase.gflops || null], ["moved", "bytes", phase => phase.bytes || null],
    ["rate", "GB/s", phase => phase.bytes > 0 ? phase.gigabytes_per_second : null],
  ];
  return element("div", null, element("p", null, outlineOf(json)), hplPhases(json), roleCharts(json.breakdown),
    rankChart(json.ranks), heading(4, "Phases: over the ranks that have the role; lanes run at the same time"),
    table(columns, json.breakdown.phases));
}

function rolesSection(groups) {
  const found = timed(groups);
  if (!found.length) return null;
  const content = element("div");
  const selector = choice("Configuration", found.map((group, i) => [i, group.name]), i => show(found[i]));
  function show(group) {
    selector.querySelector("select").value = found.indexOf(group);
    content.replaceChildren(detailsOf(group.middle));
    drawCharts();
  }
  const made = section("roles", "Roles, ranks and phases", element("div", {class: "bar"}, selector), content);
  openDetails = group => {
    if (!found.includes(group)) return;
    show(group);
    made.scrollIntoView();
  };
  show(found.reduce((a, b) => (a.gflops?.median ?? 0) >= (b.gflops?.median ?? 0) ? a : b));
  return made;
}

function runsSection(runs) {
  const columns = [
    ["check", "text", "verdict", run => verdictTag(run.verdict)], ["file", "text", run => severalFiles ? run.file : null],
    ["N", "whole", "json.n"], ["NB", "whole", "json.nb"], ["P×Q", "text", "parameters.grid"],
    ["backend", "text", run => run.json.backend + (run.hardware && ` (${run.hardware})`)],
    ["precision", "text", "json.precision"], ["pivoting", "text", "json.pivoting"],
    ["T/V", "text", "code", run => element("code", null, run.code)], ["repetition", "whole", run => run.json.repeat + 1],
    ["time", "seconds", "json.time"], ["rate", "gflops", "json.gflops"], ["scaled residual", "error", "json.residual"],
  ];
  return section("runs", "Runs", table(columns, runs),
    note("T/V is HPL's code: wall time, PMAP, DEPTH, BCAST, RFACT, NDIV, PFACT, NBMIN. The scaled " +
      "residual is HPL's, with the epsilon of the precision: 2", element("sup", null, "−24"),
    " for single, else 2", element("sup", null, "−53"),
    ". Only double precision with partial pivoting is what HPL computes."));
}

function energySection(groups) {
  const rows = groups.flatMap(group => group.runs.map(run => ({group, run, ...run.json.energy}))
    .filter(({joules, wall_watts}) => joules != null || wall_watts != null));
  if (!rows.length) return null;
  const columns = [
    ["run", "text", "group.name"], ["repetition", "whole", row => row.run.json.repeat + 1],
    ["energy", "J", "joules"], ["mean", "W", "average_watts"], ["max", "W", "peak_watts"],
    ["efficiency", "GFLOPS/W", "gflops_per_watt"],
    ["sensors", "text", row => [row.scope, row.rough && "rough: a short run",
      row.wall_watts != null && `GFLOPS/W by a wall meter: ${figures(row.wall_watts)} W`].filter(Boolean).join("; ")],
  ];
  return section("energy", "Energy", table(columns, rows), note("Factorisation and solution. Energy, mean and maximum " +
    "are by the sensors that could be read. GFLOPS/W is by the wall meter (--watts, --power-log) if there is one; else by " +
    "the sensors, if they cover all nodes and GPUs of the run."));
}

// Sections of other documents

function comparisonTable({a, b, result}) {
  const names = differing(result.pairs.map(pair => pair.parameters));
  const nameOf = ({parameters}) => listed(parameters, names.length ? names : Object.keys(parameters));
  const measured = ({median, repetitions, failed}) => median == null ? (failed ? "FAILED" : "–")
    : figures(median) + (repetitions > 1 ? ` (${repetitions})` : "");
  const alone = [["a", result.only_a], ["b", result.only_b]].filter(([, runs]) => runs.length)
    .map(([file, runs]) => `Only in ${file}: ${plural(runs.length, "run")}. `).join("");
  const columns = [
    ["run", "text", nameOf], ["a", "figures", "a.median", pair => measured(pair.a)],
    ["b", "figures", "b.median", pair => measured(pair.b)], ["in", "text", "quantity"],
    ["speed b / a", "figures", "ratio"], ["range", "text", pair => `${figures(pair.least)} to ${figures(pair.most)}`],
    ["finding of b", "text", "finding", pair => verdictTag(pair.finding)],
  ];
  return element("div", null, heading(3, `a: ${a}, b: ${b}`), table(columns, result.pairs), alone ? note(alone) : null);
}

function comparisonSection() {
  const shown = data.comparisons.slice(0, 20);
  return shown.length === 0 ? null : section("comparison", "Files compared",
    note("Runs with the same parameters. Speed b / a is above 1 if b is faster, for times, too: the ratio of the " +
      "medians, and the range of all pairs of repetitions. The finding has a confidence of at least 90 % by Mann and " +
      "Whitney's test, which needs three repetitions on each side. In brackets: repetitions."),
    ...shown.map(comparisonTable),
    shown.length < data.comparisons.length ? note(`The first 20 of ${data.comparisons.length} comparisons.`) : null);
}

// Times over n of the results that passed; a line for each variant with its settings.
function modeChart({mode, results}) {
  const lines = new Map(), orders = new Set();
  for (const {variant, settings, precision, n, times, passed} of results) {
    if (!passed || !(times?.compute.least > 0)) continue;
    const name = [variant, settings, precision === "single" ? "" : precision].filter(Boolean).join(", ");
    const {median: y, least, most} = times.compute, points = lines.get(name) ?? lines.set(name, new Map()).get(name);
    if (!points.has(n)) points.set(n, {x: n, y, least, most, note: quantity(y, "seconds")});
    orders.add(n);
  }
  if (lines.size === 0 || lines.size > 2 * MOST_SERIES || orders.size < 2) return null;
  const series = [...lines].map(([name, points]) => ({name, points: [...points.values()].sort((a, b) => a.x - b.x)}));
  return lineChart(series, {title: `${mode}: time over n`, x: "n", y: "computing", kind: "seconds"});
}

function modeElement({name, document: {mode, device, host, results}}) {
  const text = seconds => quantity(seconds, "seconds");
  const range = entry => text(entry?.median) +
    (entry?.repetitions > 1 ? ` (${text(entry.least)} to ${text(entry.most)})` : "");
  const verdict = row => row.passed ? "PASSED" : "FAILED";
  const columns = [
    ["variant", "text", row => row.variant + (row.rival ? " (host)" : "")], ["settings", "text", "settings"],
    ["size", "text", "size"], ["precision", "text", "precision"],
    ["computing", "figures", "times.compute.median", row => range(row.times?.compute)],
    ["with packing and transfer", "figures", "times.with_all.median", row => text(row.times?.with_all.median)],
    ["rate", "gflops", "gflops"], ["speed-up", "figures", "speedup"], ["error", "error", "check.error"],
    ["check", "text", verdict, row => verdictTag(verdict(row))],
  ];
  const used = device ? device.renderer + softwareNote(device.software) : "The host alone";
  return element("div", null, heading(3, mode === name ? mode : `${mode}: ${name}`),
    note(`${used}; host ${host.name}: ${host.processor ?? ""}, ${plural(host.threads, "thread")}.`),
    modeChart({mode, results}), table(columns, results));
}

function modesSection() {
  return modes.length === 0 ? null : section("modes", "Standalone modes", ...modes.map(modeElement));
}

const linkName = ({first, second}) => `${first.rank}-${second.rank} (${first.host}, ${second.host})`;

function messagesElement(runs) {
  const columns = [
    ["N", "whole", "n"], ["NB", "whole", "nb"], ["P×Q", "text", run => `${run.p}x${run.q}`],
    ["broadcast", "text", "broadcast"], ["pivoting", "text", "pivoting"], ["precision", "text", "precision"],
    ["time", "seconds", "time"], ["in messages", "percent", "network_share"], ["received", "bytes", "traffic.bytes"],
    ["messages", "whole", "traffic.messages"], ["a rank's rate", "GB/s", "traffic.gigabytes_per_second"],
  ];
  return runs.length === 0 ? null
    : element("div", null, heading(4, "The messages of a factorisation alone"), table(columns, runs));
}

function pingPongElement(pairs) {
  if (!pairs.length) return null;
  const rows = pairs.flatMap(pair => pair.sizes.map(size => ({name: linkName(pair), ...size})));
  const series = pairs.slice(0, 2 * MOST_SERIES).map(pair => ({name: linkName(pair), points: pair.sizes.map(
    ({bytes, gigabytes_per_second: rate, least_seconds}) =>
      ({x: bytes, y: rate, note: `${figures(rate)} GB/s, ${quantity(least_seconds, "seconds")} at best`}))}));
  const columns = [
    ["ranks", "text", "name"], ["bytes", "whole", "bytes"], ["min", "seconds", "least_seconds"],
    ["mean", "seconds", "mean_seconds"], ["rate", "GB/s", "gigabytes_per_second"],
  ];
  return element("div", null, heading(4, "Ping-pong, one way: GB/s over the message's size"),
    lineChart(series, {title: "Ping-pong", x: "bytes", y: "GB/s", xFormat: bytes => quantity(bytes, "bytes", short)}),
    table(columns, rows));
}

function linksElement(screening) {
  if (!screening) return null;
  const {links, slow, within_hosts, between_hosts} = screening;
  const rows = [["median within hosts", within_hosts], ["median between hosts", between_hosts],
    ...slow.map(link => [`SLOW: ranks ${linkName(link)}`, link])].filter(([, link]) => link);
  const columns = [["link", "text", "0"], ["latency", "seconds", "1.latency_seconds"],
    ["rate", "GB/s", "1.gigabytes_per_second"]];
  return element("div", null, heading(4, `Links: ${links.length} screened, ${slow.length || "none"} slow`),
    table(columns, rows));
}

function networkSection() {
  const files = filesOf("network");
  return files.length === 0 ? null : section("network", "Network", ...files.map(({name, document}) =>
    element("div", null, heading(3, name),
      document.waits_nap ? note("Processes outnumber cores on some node: waits sleep, and times include that.") : null,
      messagesElement(document.runs), pingPongElement(document.ping_pong), linksElement(document.screening))));
}

function peaksSection() {
  const names = {copy: "copy, read + written", read_back: "read-back"};
  const entriesOf = place => Object.entries(place).filter(([, entry]) => entry?.median != null)
    .map(([key, entry]) => ({what: names[key] ?? key.replace("_", ", "), right: true, ...entry}));
  const peaks = filesOf("peaks").flatMap(({name, document: {device, host}}) => [
    ...(device ? [[`${name}: device ${device.renderer}`, entriesOf(device)]] : []),
    [`${name}: host ${host.name}`, entriesOf(host)]]);
  const tunings = filesOf("tune").flatMap(({name, document}) => document.tunings.map(
    ({precision, order, depth, taken, trials}) => [
      `${name}: ${precision}, order ${order}, depth ${depth}; fastest: ${taken}`,
      trials.map(trial => ({what: trial.tile, ...trial}))]));
  const columns = [
    ["what", "text", "what"], ["median", "figures", "median"], ["min", "figures", "least"], ["max", "figures", "most"],
    ["unit", "text", "unit"], ["result", "text", row => row.right ? "right" : "WRONG"],
  ];
  const groups = [...peaks, ...tunings];
  return groups.length === 0 ? null : section("peaks", "Peaks and tuning",
    ...groups.flatMap(([title, rows]) => [heading(4, title), table(columns, rows)]));
}

// The ranks of a file's runs with the same host, device and driver.
function placesOf(runs) {
  const places = new Map();
  for (const {rank, host, backend, device, driver, software_gl, threads} of runs.flatMap(run => run.ranks)) {
    if (backend == null) continue;  // a rank of `glinpack network` computes nothing
    const place = {host, backend, device: device + softwareNote(software_gl), driver}, key = JSON.stringify(place);
    if (!places.has(key)) places.set(key, {...place, threads, ranks: new Set()});
    places.get(key).ranks.add(rank);
  }
  return [...places.values()];
}

function machineElement(file, i) {
  const {context = {}, host, notes = [], runs = []} = file.document ?? {}, places = placesOf(runs);
  const blas = [...context.blas_library ?? [], ...(context.blas_kernels ?? []).map(name => `${name} kernels`)];
  if (host?.blas) blas.push(`${host.blas}, ${host.kernels} kernels`);
  const facts = {
    file: file.path, kind: file.kind, glinpack: [context.version, context.git_commit].filter(Boolean).join(", "),
    MPI: context.mpi_library, BLAS: blas.join("; "), hosts: hostsOf(file).join(", "), processor: host?.processor,
    notes: [...context.notes ?? [], ...incompleteOf(file).map(text => `INCOMPLETE: ${text}`), ...notes].join("; "),
  };
  const columns = [
    ["host", "text", "host"], ["ranks", "whole", "ranks.size"], ["threads a rank", "whole", "threads"],
    ["backend", "text", "backend"], ["device", "text", "device"], ["driver", "text", "driver"],
  ];
  return element("details", i < 3 ? {open: ""} : null, element("summary", null, file.name),
    element("dl", {class: "facts"}, ...Object.entries(facts).filter(([, value]) => value)
      .flatMap(([name, value]) => [element("dt", null, name), element("dd", null, value)])),
    context.command_line?.length ? element("pre", null, context.command_line.join(" ")) : null,
    places.length ? table(columns, places) : null);
}

// The page

function showHead() {
  document.title = data.title;
  document.querySelector("h1").textContent = data.title;
  document.querySelector("footer").textContent = `Made by ${data.program}`;
  if (!allRuns.length) return;
  const starts = allRuns.map(run => run.json.start_time), all = allRuns.map(run => run.parameters);
  const days = [...new Set([date(least(starts)), date(most(starts))])].join(" to "), names = differing(all);
  const common = Object.keys(all[0]).filter(name => !names.includes(name));
  document.getElementById("subtitle").textContent = `Runs of ${days} · all with ${listed(all[0], common)}`;
}

function show() {
  showHead();
  const summary = element("div"), first = element("div"), last = element("div");
  const fill = (place, ...elements) => place.replaceChildren(...elements.filter(one => one != null));
  const showRuns = runs => {
    const groups = groupsOf(runs);
    fill(summary, tilesOf(runs, groups), alarm("INCOMPLETE", data.files.flatMap(incompleteOf)),
      alarm("FAILED", failuresOf(groups)));
    if (allRuns.length) {
      const roles = rolesSection(groups);  // first: it sets openDetails
      fill(first, configurationsSection(groups), speedSection(groups), scalingSection(groups), timesSection(groups),
        roles);
      fill(last, runsSection(runs), energySection(groups));
    }
    drawCharts();
  };
  fill(document.querySelector("main"), filtersOf(allRuns, showRuns), summary, first, last,
    comparisonSection(), modesSection(), networkSection(), peaksSection(),
    section("machines", "Hosts and versions", ...data.files.map(machineElement)));
  showRuns(allRuns);
  document.querySelector("nav").append(...[...document.querySelectorAll("section")].map(({id, firstChild}) =>
    element("a", {href: `#${id}`}, firstChild.textContent)));
}

Object.assign(Chart.defaults, {animation: false, maintainAspectRatio: false});
Object.assign(Chart.defaults.font, {family: getComputedStyle(document.body).fontFamily, size: 12});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawCharts(true));
for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    document.documentElement.classList.toggle("printing", printing);  // paper is light, whatever the screen is
    drawCharts(true);
  });
}
show();
