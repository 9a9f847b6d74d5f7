"use strict";
// The rest of the page: which curve is read, the bins, the table of groups, the download.

const numbers = JSON.parse($("numbers").textContent);
const views = JSON.parse($("views").textContent);

// The cumulative plot ----------------------------------------------------------------------------

const models = numbers.models;
// The groups of all models, one after the other; each knows among how many it was tested.
const groups = numbers.groups.flatMap((table) =>
  table.rows.map((row) => ({
    ...row, model: table.model, what: table.what, among: table.searched ?? table.groups,
  })));
const base = views.models[0] ?? views.groups[0]; // what Python drew is on this scale
const toBase = (value) => (UNIT * (base.high - value)) / (base.high - base.low);
const tool = secantTool();

/** Make labels along an axis: pairs of a place and a text. */
function writeLabels(axis, ticks, side) {
  axis.replaceChildren(...ticks.map(([at, text]) => {
    const span = document.createElement("span");
    span.textContent = text;
    span.style[side] = `${100 * (side === "top" ? 1 - at : at)}%`;
    return span;
  }));
}

/** Turn the axes to a series and let the tool read it. */
function read(series, view) {
  const area = $("area");
  const share = (value) => (view.high - value) / (view.high - view.low);
  const start = toBase(view.high);
  $("picture").setAttribute("viewBox", `0 ${start} ${UNIT} ${toBase(view.low) - start}`);
  writeLabels(area.querySelector(".axis.left"), view.ticks, "top");
  writeLabels(area.querySelector(".axis.bottom.wide"), view.wide, "left");
  writeLabels(area.querySelector(".axis.bottom.narrow"), view.narrow, "left");
  area.querySelector(".steps path").setAttribute("d", view.steps);
  const noise = [2, 0, -2].map((sigmas) => sigmas * series.noise);
  const [up, middle, down] = noise.map(toBase);
  document.querySelector("#picture .triangle").setAttribute("d", `M0 ${up}L25 ${middle}L0 ${down}Z`);
  const [top, bottom] = [share(noise[0]), share(noise[2])];
  const name = $("noise").querySelector(".noise-name");
  $("noise").style.top = `${100 * top}%`;
  $("noise").style.height = `${100 * (bottom - top)}%`;
  name.toggleAttribute("hidden", view.noise === null);
  if (view.noise !== null) name.style.top = `${(100 * (view.noise - top)) / (bottom - top)}%`;
  $("plot").querySelector(".axis-name.below").textContent = view.name;
  tool.show({ ...series, up: toBase, visible: share });
}

/** Read a model, or a group laid over the models. */
function open(kind, number) {
  const isGroup = kind === "group";
  const series = (isGroup ? groups : models)[number];
  const overlay = $("group-curve");
  overlay.toggleAttribute("hidden", !isGroup);
  if (isGroup) {
    const { fraction, difference } = series.curve;
    const places = fraction.map((x, k) => `${(UNIT * x).toFixed(1)} ${toBase(difference[k]).toFixed(1)}`);
    overlay.setAttribute("d", `M${places.join("L")}`);
  }
  $("plot").dataset.open = kind;
  document.querySelectorAll("#picture [data-series]").forEach((each) => {
    each.classList.toggle("back", isGroup || Number(each.dataset.series) !== number);
  });
  document.querySelectorAll("[data-group]").forEach((each) => {
    each.setAttribute("aria-pressed", isGroup && Number(each.dataset.group) === number);
  });
  $("read-alone").textContent = isGroup && series.among > 1 ? alone(number) : "";
  offer(kind, number);
  read(series, (isGroup ? views.groups : views.models)[number]);
}

/** Say that the limits of one group know nothing of the others. */
function alone(number) {
  const row = document.querySelector(`[data-group="${number}"]`).closest("tr");
  const [adjusted, verdict] = [...row.children].slice(-2).map((cell) => cell.textContent);
  const chance = `P ${adjusted.startsWith("<") ? "" : "= "}${adjusted}`;
  if (groups[number].what === "segment") {
    return `These limits hold for all ${count(groups[number].among)} segments searched, so also for this one. ` +
      `Adjusted for the search, ${chance}: ${verdict}.`;
  }
  return "These limits are for this group alone, as if it were the only one. Among " +
    `${count(groups[number].among)} groups some are off by chance; adjusted for that, ${chance}: ${verdict}.`;
}

/** Offer the models, and the open group, as buttons above the plot. */
function offer(kind, number) {
  const button = (text, pressed, action) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-pressed", pressed);
    made.addEventListener("click", action);
    return made;
  };
  const offered = models.map((model, k) =>
    button(models.length > 1 ? model.name : "All", kind === "model" && k === number, () => open("model", k)));
  if (kind === "group") {
    const back = () => document.querySelector(`[data-group="${number}"]`).focus();
    const { name, model, what } = groups[number];
    offered.push(button(`${what === "segment" ? "Segment" : "Group"} ${name}${model === null ? "" : ` of ${model}`}`, true, back));
  }
  $("series").replaceChildren(...(offered.length > 1 || kind === "group" ? offered : []));
}

open(models.length ? "model" : "group", 0);

// Groups -----------------------------------------------------------------------------------------

/** Order two cells: numbers by size, texts as people do, what is missing last. */
function compare(a, b) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
}

function sortBy(heading, section) {
  const ascending = heading.parentElement.getAttribute("aria-sort") !== "ascending";
  const cell = (row) => row.children[heading.dataset.column].dataset.value;
  for (const th of section.querySelectorAll("th[aria-sort]")) th.setAttribute("aria-sort", "none");
  heading.parentElement.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = section.querySelector("tbody");
  const rows = [...body.children];
  rows.sort((a, b) => (ascending ? 1 : -1) * compare(cell(a), cell(b)));
  body.append(...rows);
}

function search(section) {
  const wanted = section.querySelector("[type=search]").value.trim().toLowerCase();
  const rows = [...section.querySelector("tbody").children];
  let shown = 0;
  for (const row of rows) {
    // Names and verdicts; digits of the numbers between them would match by accident.
    const { name } = groups[row.querySelector("[data-group]").dataset.group];
    const hit = `${name} ${row.lastElementChild.textContent}`.toLowerCase().includes(wanted);
    row.toggleAttribute("hidden", !hit);
    shown += hit;
  }
  section.querySelector(".search-count").textContent =
    wanted ? `${count(shown)} of ${count(rows.length)} shown` : "";
}

for (const section of document.querySelectorAll("section.groups")) {
  section.querySelector("[type=search]")?.addEventListener("input", () => search(section));
  section.addEventListener("click", (event) => {
    const heading = event.target.closest("[data-column]");
    const row = event.target.closest("tbody tr");
    if (heading) sortBy(heading, section);
    if (row) {
      open("group", Number(row.querySelector("[data-group]").dataset.group));
      $("secant").scrollIntoView();
      $("whole").focus({ preventScroll: true });
    }
  });
}

// Bins -------------------------------------------------------------------------------------------

const binsSection = $("bins");

/** The bins of a model nearest to the wanted number, for the strategy chosen. */
function binsOf(model, wanted, strategy) {
  const rows = model.bins[strategy];
  return rows.findLast((row) => row.n_bins <= wanted) ?? rows[0];
}

function drawBins(block, row, strategy) {
  const square = block.querySelector(".chart.square");
  const [low, high] = [Number(square.dataset.low), Number(square.dataset.high)];
  const x = (value) => ((UNIT * (value - low)) / (high - low)).toFixed(1);
  const y = (value) => ((UNIT * (high - value)) / (high - low)).toFixed(1);
  const places = row.mean_score.map((s, k) => `${x(s)} ${y(row.mean_response[k])}`);
  const bars = (row.low ?? []).map((l, k) => `M${x(row.mean_score[k])} ${y(l)}V${y(row.high[k])}`);
  // A line of no length with round ends is a dot that does not stretch with the picture.
  square.querySelector(".dots").setAttribute("d", places.map((at) => `M${at}h0`).join(""));
  square.querySelector(".limits").setAttribute("d", bars.join("") || "M0 0");
  square.dataset.many = row.n_bins > 64;
  const chart = block.querySelector(".chart.by-bins");
  const here = chart.querySelector(".here");
  here.style.left = `${10 * (Math.log2(row.n_bins) - 2)}%`;
  here.style.top = `${100 * (1 - row.ece / Number(chart.dataset.high))}%`;
  for (const each of chart.querySelectorAll("[data-view]")) {
    each.toggleAttribute("hidden", each.dataset.view !== strategy);
  }
  block.querySelector("dd.ece").textContent = metric(row.ece);
  block.querySelector("dd.noise_floor").textContent = metric(row.noise_floor);
}

function updateBins() {
  const strategy = binsSection.querySelector("[name=strategy]:checked").value;
  const slider = $("bins-slider");
  const wanted = positions[slider.value];
  $("bins-count").textContent = wanted;
  slider.setAttribute("aria-valuetext", `${wanted} bins`);
  for (const block of binsSection.querySelectorAll(".bins[data-model]")) {
    drawBins(block, binsOf(models[block.dataset.model], wanted, strategy), strategy);
  }
}

const binned = binsSection ? models.filter((model) => model.bins) : []; // intervals have one score
const diagrams = binned.length ? binned[0].bins.uniform.filter((row) => row.mean_score) : [];
const positions = diagrams.map((row) => row.n_bins);
if (binned.length) {
  const slider = $("bins-slider");
  slider.max = positions.length - 1;
  slider.value = positions.indexOf(15);
  slider.addEventListener("input", updateBins);
  for (const choice of binsSection.querySelectorAll("[name=strategy]")) {
    choice.addEventListener("change", updateBins);
  }
  updateBins();
}

// Definitions: Escape takes one away ---------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement.matches(".term")) document.activeElement.blur();
});

// Download ---------------------------------------------------------------------------------------

$("download").addEventListener("click", () => {
  const file = new Blob([JSON.stringify(numbers, null, 1)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "calibration.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
