"use strict";
// The rest of the page: which curve is read, the bins, the table of groups, the download.

const numbers = JSON.parse($("numbers").textContent);
const views = JSON.parse($("views").textContent);

// The cumulative plot ----------------------------------------------------------------------------

const base = views.models[0]; // the curves of the models are drawn on this scale
const toBase = (value) => (UNIT * (base.high - value)) / (base.high - base.low);

/** Make labels along an axis: pairs of a place and a text. */
function writeLabels(axis, ticks, side) {
  axis.replaceChildren(...ticks.map(([at, text]) => {
    const span = document.createElement("span");
    span.textContent = text;
    span.style[side] = `${100 * (side === "top" ? 1 - at : at)}%`;
    return span;
  }));
}

const tool = secantTool();

/** Turn the axes to a series and let the tool read it. */
function activate(series, view) {
  const top = toBase(view.high);
  $("picture").setAttribute("viewBox", `0 ${top} ${UNIT} ${toBase(view.low) - top}`);
  const area = $("area");
  writeLabels(area.querySelector(".axis.left"), view.ticks, "top");
  writeLabels(area.querySelector(".axis.bottom.wide"), view.wide, "left");
  writeLabels(area.querySelector(".axis.bottom.narrow"), view.narrow, "left");
  area.querySelector(".steps path").setAttribute("d", view.steps);
  tool.show({
    ...series,
    up: toBase,
    visible: (value) => (view.high - value) / (view.high - view.low),
  });
}

activate(numbers.models[0], views.models[0]);

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
  square.querySelector(".joined").setAttribute("d", `M${places.join("L")}`);
  square.querySelector(".limits").setAttribute("d", bars.join("") || "M0 0");
  square.dataset.many = row.n_bins > 64;
  const chart = block.querySelector(".chart.by-bins");
  const here = chart.querySelector(".here");
  here.style.left = `${10 * (Math.log2(row.n_bins) - 2)}%`;
  here.style.top = `${100 * (1 - row.ece / Number(chart.dataset.high))}%`;
  for (const each of chart.querySelectorAll("[data-strategy]")) {
    each.toggleAttribute("hidden", each.dataset.strategy !== strategy);
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
    drawBins(block, binsOf(numbers.models[block.dataset.model], wanted, strategy), strategy);
  }
}

const binned = numbers.models.filter((model) => model.bins);
const positions = binned.length ? binned[0].bins.uniform.map((row) => row.n_bins) : [];
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

// Download ---------------------------------------------------------------------------------------

$("download").addEventListener("click", () => {
  const file = new Blob([JSON.stringify(numbers, null, 1)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "calibration.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
