"use strict";
// The secant tool: choose a range of scores on the cumulative curve and read what it holds.
// Every number is a difference of two sums that the library computed; nothing is estimated here.

const $ = (id) => document.getElementById(id);
const UNIT = 1000;

// Numbers for reading, as the library writes them ------------------------------------------------

const minus = (text) => text.replace("-", "\u2212");

/** Write with so many decimals; a tie goes to the even digit, which toFixed does not do. */
function fixed(x, digits) {
  const t = Math.abs(x) * 10 ** digits;
  const down = Math.floor(t);
  const tie = t - down === 0.5 && down % 2 === 0;
  return (tie ? (Math.sign(x) * down) / 10 ** digits : x).toFixed(digits);
}

/** Write three significant digits. */
function metric(x) {
  if (x === 0) return "0";
  const [digits, exponent] = x.toExponential(2).split("e");
  if (exponent < -4 || exponent > 2) {
    return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  }
  return fixed(x, 2 - exponent);
}

/** Write a time no finer than it is: the zeros of midnight, of full minutes and seconds go. */
function writeTime(text) {
  return text
    .replace(/(\.\d*?)0+(?=$|\+)/, "$1")
    .replace(/\.(?=$|\+)/, "")
    .replace(/(T\d\d:\d\d):00(?=$|\+)/, "$1")
    .replace(/T00:00(?=$|\+)/, "")
    .replace("T", " ");
}

function writeScore(x, along) {
  if (typeof x === "string") return writeTime(x);
  if (typeof along === "string") return Number.isInteger(x) ? String(x) : minus(String(Number(x.toPrecision(6))));
  if (x === 0 || x >= 1e-3) return fixed(x, 3);
  return x < 1e-4 ? metric(x).replace(/\.?0*e/, "e") : String(Number(metric(x)));
}

/** Write a score just below 1 with as many decimals as tell it from 1. */
const belowOne = (x) => x.toFixed(Math.ceil(-Math.log10(1 - x))).replace(/0+$/, "");

/** Write a range of scores, or the one score that it is; nobody asks for decimals of the highest of all. */
function writeScores(range) {
  const ends = [range.low, range.high];
  let [low, high] = ends.map((x) => writeScore(x, range.along));
  // What is less than 1 is not written so.
  if (!range.along && low === "1.000" && range.low < 1) [low, high] = ends.map((x) => String(Number(x.toPrecision(15))));
  else if (!range.along && high === "1.000" && range.high < 1 && !range.last) high = belowOne(range.high);
  return low === high ? `${range.along ? "" : "of "}${low}` : `${low} to ${high}`;
}

const points = (x) => minus(metric(100 * x));
const signed = (x) => (x > 0 ? "+" : "") + points(x);
const count = (n) => n.toLocaleString("en-GB");

function percent(x) {
  const text = metric(100 * x);
  return (text === "100" && x < 1 ? String(Number((100 * x).toPrecision(7))) : text) + "%";
}

// What a range holds -----------------------------------------------------------------------------

/** Whether a range is one of those found to be off, of which the verdict speaks. */
const isFound = (series, { low, high }) =>
  series.intervals.some((each) => each.low === low && each.high === high);

/** Assess the predictions after point i and up to point j, as Calibration.between does. */
function between(series, i, j) {
  const c = series.curve;
  const share = c.fraction[j] - c.fraction[i];
  const forecast = Math.min(Math.max((c.scored[j] - c.scored[i]) / share, 0), 1);
  const gap = (c.difference[j] - c.difference[i]) / share;
  const half = series.half_width / share;
  // The limits of the steepest range were found in a way of their own.
  const known = c.next[i] === series.steepest?.low && c.score[j] === series.steepest.high
    && !isFound(series, series.steepest);
  return {
    along: series.along,
    coverage: series.coverage,
    low: c.next[i],
    high: c.score[j],
    last: 1 - c.fraction[j] <= 0.01,
    n: c.n[j] - c.n[i],
    forecast,
    happened: forecast + gap,
    gap,
    limits: known ? series.steepest.ci
      : [Math.max(gap - half, -forecast), Math.min(gap + half, 1 - forecast)],
  };
}

/** Which way a gap is off: forecasts, or, of intervals, how many cover. */
const direction = (gap, coverage) => (gap === 0 ? (coverage ? "as promised" : "even")
  : coverage ? (gap < 0 ? "too little" : "too much") : gap < 0 ? "too high" : "too low");
/** Whether the limits leave no doubt about the direction. */
const certain = (range) => range.limits[0] > 0 || range.limits[1] < 0;
/** Which way a range is off, unless that could be noise. */
const wayOff = (range) =>
  (range.gap === 0 || certain(range) ? direction(range.gap, range.coverage) : "could be noise");
const mood = (range) => (certain(range) ? (range.gap < 0 ? "high" : "low") : "unsure");

/** What is said of a range, as the library prints it, in three parts: the second matters most. */
function sentence(range) {
  const [low, high] = range.limits;
  const sure = certain(range);
  const size = `${points(Math.abs(range.gap))} points`;
  const way = direction(range.gap, range.coverage);
  const off = sure ? (range.coverage ? `${size} ${way}` : `${way} by ${size}`)
    : `off by ${points(range.gap)} points, which could be noise`;
  const limits = sure && range.gap < 0 ? [-high, -low] : [low, high];
  const plural = range.n === 1 ? "" : "s";
  const what = range.coverage
    ? `interval${plural} cover${range.n === 1 ? "s" : ""} ${percent(range.happened)} where ` +
      `${percent(range.forecast)} was promised, `
    : `prediction${plural}: mean forecast ${percent(range.forecast)}, mean outcome ${percent(range.happened)}, `;
  return [
    `${range.along ?? "Scores"} ${writeScores(range)}, ${count(range.n)} ${what}`,
    off,
    ` (${points(limits[0])} to ${points(limits[1])}).`,
  ];
}

// The tool ---------------------------------------------------------------------------------------

function secantTool() {
  const area = $("area");
  const parts = { whole: $("whole"), from: $("from"), to: $("to") };
  let series = null;
  let ends = [0, 1];
  let grabbed = null; // the fixed end, or how a whole range is held
  let announcement = 0;

  const last = () => series.curve.n.length - 1;
  const fractionOf = (k) => series.curve.fraction[k];

  /** The point whose share of predictions is nearest. */
  function nearest(fraction) {
    const x = series.curve.fraction;
    let low = 0;
    let high = x.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle] < fraction) low = middle;
      else high = middle;
    }
    return fraction - x[low] <= x[high] - fraction ? low : high;
  }

  const pointerFraction = (event) => {
    const box = area.getBoundingClientRect();
    return (event.clientX - box.left) / box.width;
  };

  /** Choose the range between two different points, given in any order. */
  function select(a, b) {
    if (a === b) [a, b] = a === 0 ? [0, 1] : [a - 1, a];
    ends = a < b ? [a, b] : [b, a];
    const range = between(series, ...ends);
    place(range);
    read(range);
  }

  function place(range) {
    const [left, right] = ends.map(fractionOf);
    const height = (k) => series.up(series.curve.difference[k]);
    $("secant-line").setAttribute(
      "d", `M${left * UNIT} ${height(ends[0])}L${right * UNIT} ${height(ends[1])}`);
    parts.from.style.left = `${100 * left}%`;
    parts.to.style.left = `${100 * right}%`;
    parts.whole.style.left = `${100 * left}%`;
    parts.whole.style.width = `${100 * (right - left)}%`;
    ends.forEach((k, number) => {
      const handle = number ? parts.to : parts.from;
      handle.firstChild.style.top = `${100 * series.visible(series.curve.difference[k])}%`;
      handle.setAttribute("aria-valuenow", Math.round(100 * fractionOf(k)));
      handle.setAttribute("aria-valuetext", `${range.along ?? "score"} ${writeScore(number ? range.high : range.low, range.along)}`);
    });
    parts.whole.setAttribute("aria-valuenow", Math.round(50 * (left + right)));
    parts.whole.setAttribute(
      "aria-valuetext", `${range.along ?? "scores"} ${writeScores(range)}`);
    const [number, words] = $("caliper-text").children;
    number.textContent = range.gap === 0 ? "even" : signed(range.gap);
    words.textContent = range.gap === 0 ? "" : ` points, ${wayOff(range)}`;
    // A range narrower than its text has it on the side with more room.
    $("caliper-text").dataset.side = left + right > 1 ? "left" : "right";
    $("caliper-text").style.setProperty("--middle", (left + right) / 2);
    for (const each of [$("tool"), $("secant-line"), $("readout")]) each.dataset.mood = mood(range);
    document.querySelectorAll("#presets button").forEach((button) => {
      const here = Number(button.dataset.from) === ends[0] && Number(button.dataset.to) === ends[1];
      button.setAttribute("aria-pressed", here);
    });
  }

  function read(range) {
    const parts = sentence(range);
    parts.forEach((text, number) => { $("read-says").children[number].textContent = text; });
    const says = parts.join("");
    // As in Python, with all digits of the level.
    $("read-level").textContent = `${Number((100 * series.confidence_level).toPrecision(10))}% limits`;
    // The limits beside zero, to see whether they hold it.
    const reach = 1.08 * Math.max(Math.abs(range.limits[0]), Math.abs(range.limits[1]), 1e-12);
    const [low, gap, high] = [range.limits[0], range.gap, range.limits[1]].map((x) => 50 + (50 * x) / reach);
    const [, span, dot] = $("whisker").children;
    span.style.left = `${low}%`;
    span.style.width = `${high - low}%`;
    dot.style.left = `${gap}%`;
    for (const key of ["low", "high", "n", "forecast", "happened", "gap"]) {
      $("readout").dataset[key] = range[key]; // with all digits
    }
    $("readout").dataset.limits = range.limits;
    clearTimeout(announcement); // a screen reader hears where a movement ends, not every step
    announcement = setTimeout(() => { $("said").textContent = says; }, 500);
  }

  // Dragging: over the plot chooses a new range; a handle moves one end; the bar moves both.

  area.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const here = pointerFraction(event);
    const grip = event.target.closest("[role=slider]");
    if (grip === parts.from || grip === parts.to) {
      grabbed = { fixed: ends[grip === parts.from ? 1 : 0] };
    } else if (grip === parts.whole) {
      grabbed = { offset: here - fractionOf(ends[0]), width: fractionOf(ends[1]) - fractionOf(ends[0]) };
    } else {
      grabbed = { fixed: nearest(here), start: event.clientX };
    }
    area.setPointerCapture(event.pointerId);
    if (grip) grip.focus({ preventScroll: true });
    event.preventDefault();
  });

  area.addEventListener("pointermove", (event) => {
    if (!grabbed) return;
    const here = Math.min(Math.max(pointerFraction(event), 0), 1);
    if (grabbed.width !== undefined) {
      const left = Math.min(Math.max(here - grabbed.offset, 0), 1 - grabbed.width);
      select(nearest(left), nearest(left + grabbed.width));
    } else if (grabbed.start === undefined || Math.abs(event.clientX - grabbed.start) > 3) {
      grabbed.start = undefined; // from here on it is a drag and not a click
      select(grabbed.fixed, nearest(here));
    }
  });

  for (const ending of ["pointerup", "pointercancel"]) {
    area.addEventListener(ending, () => { grabbed = null; });
  }

  // A pointer that only passes by is told the score under it.

  const hair = $("hair");
  area.addEventListener("pointermove", (event) => {
    const here = pointerFraction(event);
    hair.hidden = grabbed !== null || event.pointerType === "touch" || here < 0 || here > 1;
    if (hair.hidden) return;
    const k = nearest(here);
    hair.style.left = `${100 * fractionOf(k)}%`;
    hair.dataset.score = writeScore(series.curve.score[k], series.along);
  });
  area.addEventListener("pointerleave", () => { hair.hidden = true; });

  // The keyboard: arrows by a hundredth of the predictions, with Shift by one point of the curve.

  const STEPS = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01,
    PageDown: -0.1, PageUp: 0.1 };

  /** The point a step further, at least the next one. */
  function stepped(k, step, single) {
    const target = single ? k + Math.sign(step) : nearest(fractionOf(k) + step);
    const moved = target === k ? k + Math.sign(step) : target;
    return Math.min(Math.max(moved, 0), last());
  }

  $("tool").addEventListener("keydown", (event) => {
    const { key, shiftKey } = event;
    const grip = event.target;
    let [a, b] = ends;
    if (key === "Home" || key === "End") {
      const edge = key === "Home" ? 0 : last();
      if (grip === parts.whole) [a, b] = [0, last()];
      else if (grip === parts.from) a = Math.min(edge, b - 1);
      else b = Math.max(edge, a + 1);
    } else if (key in STEPS) {
      const step = STEPS[key];
      if (grip === parts.whole) {
        const [c, d] = [stepped(a, step, shiftKey), stepped(b, step, shiftKey)];
        if (c !== a && d !== b) [a, b] = [c, Math.max(d, c + 1)];
      } else if (grip === parts.from) a = Math.min(stepped(a, step, shiftKey), b - 1);
      else b = Math.max(stepped(b, step, shiftKey), a + 1);
    } else return;
    event.preventDefault();
    select(a, b);
  });

  /** The points at which a range that was found begins and ends. */
  const placeOf = (each) =>
    [series.curve.next.indexOf(each.low), series.curve.score.indexOf(each.high, 1)];

  /** The ranges worth a button: what was found (or at least the worst), the steepest, everything. */
  function presets() {
    const { intervals, worst, steepest } = series;
    const found = intervals.length ? intervals : worst.n ? [worst] : [];
    const named = found.map((each) => [intervals.length ? "" : "Largest deviation, ", placeOf(each)]);
    const apart = steepest && !isFound(series, steepest);
    if (apart) named.push(["Steepest, ", placeOf(steepest), steepest.at_least]);
    named.push([series.coverage ? "All intervals" : "All predictions", [0, last()]]);
    const buttons = named.map(([what, [i, j], least], number) => {
      const button = document.createElement("button");
      const range = between(series, i, j);
      const scores = number === named.length - 1 ? ""
        : writeScores(range);
      const size = range.gap === 0 ? "" : `${signed(range.gap)} points, `;
      const off = least === undefined ? size : `\u2265 ${points(least)} points, `;
      button.type = "button";
      button.textContent = `${what}${scores}: ${off}${wayOff(range)}`;
      button.dataset.from = i;
      button.dataset.to = j;
      button.dataset.mood = mood(range);
      button.addEventListener("click", () => select(i, j));
      return button;
    });
    $("presets").replaceChildren(...buttons);
    return named[0][1];
  }

  /** Shade the ranges found, with a sign and a word in each. */
  function shade() {
    const found = series.intervals.map((each) => {
      const [left, right] = placeOf(each).map(fractionOf);
      return { each, left, width: right - left, mood: each.miscalibration < 0 ? "high" : "low" };
    });
    $("found").replaceChildren(...found.map(({ left, width, mood }) => {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const where = { x: UNIT * left, width: UNIT * width, y: -1e5, height: 2e5 };
      for (const [name, value] of Object.entries(where)) rect.setAttribute(name, value);
      rect.classList.add("shade");
      rect.dataset.mood = mood;
      return rect;
    }));
    $("signs").replaceChildren(...found.map(({ each, left, width, mood }) => {
      const span = document.createElement("span");
      const [sign, word] = [document.createElement("b"), document.createElement("i")];
      sign.textContent = each.miscalibration < 0 ? "\u2212" : "+";
      word.textContent = ` ${direction(each.miscalibration, series.coverage)}`;
      span.append(sign, word);
      span.style.left = `${100 * left}%`;
      span.style.width = `${100 * width}%`;
      span.dataset.mood = mood;
      return span;
    }));
  }

  return {
    /** Read this series from now on. */
    show(next) {
      series = next;
      for (const each of [$("tool"), $("secant-line"), $("readout")]) each.removeAttribute("hidden");
      const first = presets();
      shade();
      select(...first);
    },
  };
}
