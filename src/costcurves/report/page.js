// What Vega-Lite cannot do itself: fit the pictures into the available space, describe the chosen point in words,
// connect a slider with its field, and switch between light and dark. Everything else is in the specifications.
const at = (id) => document.getElementById(id);
const read = (id) => JSON.parse(at(id).textContent);
const all = (selector) => [...document.querySelectorAll(selector)];
const specs = read("specs"), words = read("words");

// To be small, tables are stored by column, with counts instead of rates and numbers instead of names.
const rows = (table) => (Object.values(table)[0] ?? []).map((_, i) => {
  const row = {};
  for (const [field, values] of Object.entries(table)) row[field] = values[i];
  if ("k" in row) row.name = words.short[row.k];
  if ("t" in row) row.cut = row.t === null ? "–" : String(row.t).replace(/^-/, "−");
  if ("tp" in row) Object.assign(row, { x: row.fp / words.negatives, y: row.tp / words.positives });
  return row;
});

// The report as JSON is in the page once, compressed: pictures and downloads are made from it.
const packed = Uint8Array.from(atob(at("report").textContent), (sign) => sign.charCodeAt(0));
const reportText = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
const report = JSON.parse(reportText);
const data = Object.fromEntries(Object.entries(report.page.pictures).map(([name, table]) => [name, rows(table)]));
const pairRows = (q) => {
  const { pc, estimate: d, lower: lo, upper: hi } = report.differences[q];
  return rows({ pc, d, lo, hi });
};
data.capped = [];
if (report.hull) {
  data.hull = rows({ x: report.hull.fpr, y: report.hull.tpr });
  data.bands = report.classifiers.flatMap(({ band, simultaneous_band: all }, k) => rows({
    k: band.pc.map(() => k), pc: band.pc, c: band.estimate, lo: band.lower, hi: band.upper, slo: all.lower, shi: all.upper,
  }));
}

const money = (value, text = figures(value)) => {
  const sign = words.currency;
  return !sign ? text : "$€£¥₹₩₽₺₴₿".includes(sign) ? sign + text : `${text}\u00a0${sign}`;
};
const set = (field, value) => {
  field.value = value;
  field.dispatchEvent(new Event(field.tagName === "SELECT" ? "change" : "input"));
};

// Write a line of words in which names have their own elements.
const say = (target, ...parts) => {
  target.replaceChildren(...parts.map((part) => {
    if (typeof part === "string") return part;
    const name = document.createElement("b"), isolated = document.createElement("bdi");
    isolated.textContent = part.name;
    name.append(isolated);
    return name;
  }));
};

let follow = true; // the threshold explorer shows the chosen classifier until the reader selects another
let leading; // the explorer follows when all inputs are set: Vega drops a value that returns before its change was drawn
const lead = (k) => {
  clearTimeout(leading);
  leading = setTimeout(() => { if (follow && at("model").value !== String(k)) set(at("model"), k); });
};

const nothingAtStake = () => +at("cost_fn").value === 0 && +at("cost_fp").value === 0;

// What the choice at the settings of the page costs in a year, if its number of cases is known.
const showYearly = (cost) => {
  const total = +at("yearly").value;
  say(at("peryear"), total > 0 ? `cost ${money(+(total * cost).toPrecision(3))} per year, as on these cases.` : "");
  at("peryear").dataset.cost = cost;
};
at("yearly").addEventListener("input", () => showYearly(+at("peryear").dataset.cost));

let chosen, spacesView; // the operating point that is marked, and the picture of it
const showChosen = (row) => {
  if (!row) return;
  chosen = row;
  const [cost, low, high] = alike([row.cost, row.low, row.high].map((value) => value * row.stake));
  const saved = row.trivial > 0 ? `, ${percent(1 - row.cost / row.trivial)} less than deciding without a classifier` : "";
  if (nothingAtStake()) {
    say(at("now"), "Nothing is at stake: both costs are 0, and every choice costs the same.");
  } else if (row.k < 0) {
    say(at("now"), "Use no classifier: ", { name: row.k === -1 ? words.never : words.always },
      ` costs ${money(0, cost)} per case. pc ${row.pc.toFixed(3)}.`);
  } else {
    say(at("now"), "Use ", { name: words.names[row.k] }, ` at score ≥\u00a0${row.cut}: ${money(0, cost)} per case on these cases `,
      `(${words.level} limits ${money(0, low)} to ${money(0, high)}, as if classifier and threshold had been chosen on other cases)${saved}. `,
      `It finds ${percent(row.y)} of `, { name: words.positive }, ` cases with ${percent(row.x)} false alarms. pc ${row.pc.toFixed(3)}.`);
    lead(row.k);
  }
  const { k, t, x, y, pc } = row, [value, from, to] = [row.cost, row.low, row.high].map((share) => share * row.stake);
  Object.assign(at("now").dataset, { k, t, x, y, pc, cost: value, low: from, high: to });
  showYearly(value);
  setTimeout(showCapped);
};

const showExplored = (row) => {
  if (!row) return;
  const total = casesFor(row.p), cases = `${figures(total)} cases`, count = wholeCases(total, row.p, row.y, row.x);
  for (const cell of ["tp", "fn", "fp", "tn"]) at(cell).textContent = figures(count[cell]);
  for (const one of all(".cases")) one.textContent = cases;
  say(at("explored"), { name: words.names[row.k] }, ` at score ≥\u00a0${row.cut}`,
    row.cost === row.least ? ", its best threshold here." : `, ${money(total * (row.cost - row.least))} more per ${cases} than at its best threshold.`);
  const flagged = count.tp + count.fp;
  say(at("price"), `${money(total * row.cost)} per ${cases}. ${figures(flagged)} ${flagged === 1 ? "is" : "are"} flagged`,
    flagged > 0 ? `, ${figures(count.tp)} of them correctly (${percent(count.tp / flagged)}).` : ".");
  if (at("cut").value === "") at("cutslider").value = row.share;
  at("cutslider").setAttribute("aria-valuetext", `score ≥ ${row.cut}`);
  Object.assign(at("explored").dataset, { k: row.k, t: row.t, cost: row.cost });
};

// The cheapest point that flags no more cases than can be checked. Flagging none is always possible.
const showCapped = () => {
  if (!chosen) return;
  const p = Math.min(Math.max(at("prevalence").value / 100, 1e-9), 1 - 1e-9), most = at("checks").value, total = +at("cases").value;
  const cost = (row) => chosen.stake * (chosen.pc * (1 - row.y) + (1 - chosen.pc) * row.x), load = (row) => p * row.y + (1 - p) * row.x;
  const flags = (row) => { const n = total * load(row); return `${figures(n)} of ${figures(total)} cases a day`; };
  const limit = +most / total + 1e-12, free = most === "" || load(chosen) <= limit;
  let best = free ? chosen : { k: -1, x: 0, y: 0, cut: "–", name: words.short[-1] };
  if (!free) for (const row of data.points) {
    if (row.t !== null && load(row) <= limit && cost(row) < cost(best) && !at("hidden").value.includes(`,${row.k},`)) best = row;
  }
  if (!(total > 0)) say(at("capped"), "");
  else if (free) say(at("capped"), `The choice above flags ${flags(chosen)}${most === "" ? "." : ", which is within the limit."}`);
  else if (best.k < 0) say(at("capped"), "With this limit, ", { name: words.never }, ` costs least: ${money(cost(best))} per case.`);
  else say(at("capped"), "With this limit, use ", { name: words.names[best.k] }, ` at score ≥\u00a0${best.cut}: it flags ${flags(best)}, finds ${percent(best.y)} of `,
    { name: words.positive }, ` cases and costs ${money(cost(best))} per case, ${money(cost(best) - cost(chosen))} more than without the limit.`);
  const { k, t = "", x, y } = best;
  Object.assign(at("capped").dataset, { k, t, x, y, cost: cost(best) });
  data.capped = free ? [] : [best];
  spacesView?.data("capped", data.capped).runAsync();
};

// The thresholds that are not shown to cost more are known for the classifiers that the scenarios recommend.
const showShaded = (_, rows) => {
  const legend = at("shaded"), row = rows.find((one) => one.said), area = document.createElement("span");
  if (!legend) return;
  say(legend, row ? `Shaded: scenario ${row.n}. ${row.said}`
    : "At the condition of a scenario, the thresholds of its recommended classifier that are not shown to cost more are shaded.");
  if (!row) return;
  area.className = `area own${row.k % words.colours}`;
  legend.prepend(area);
};

// Find the table of a named layer, because Vega-Lite assigns its own names to tables.
const source = (marks, layer) => {
  for (const mark of marks ?? []) {
    if (new RegExp(`^${layer}(_\\d+)?_marks$`).test(mark.name ?? "")) return mark.from.data;
    const found = source(mark.marks, layer);
    if (found) return found;
  }
};
const watch = ({ view, vgSpec }, layer, show) => {
  const table = source(vgSpec.marks, layer);
  view.addDataListener(table, (_, rows) => show(rows[0], rows));
  show(view.data(table)[0], view.data(table));
};

const moveTo = (pc) => {
  const p = at("prevalence").value / 100, alarm = +at("cost_fp").value;
  if (pc > 0 && pc < 1 && alarm > 0) set(at("cost_fn"), +((pc / (1 - pc)) * ((1 - p) / p) * alarm).toPrecision(4));
};

// A click in cost space selects the condition at the pointer. In ROC space it selects the middle of the conditions at
// which the nearest vertex is best.
const clicked = (event, item) => {
  const box = document.querySelector(".cost_group .background").getBoundingClientRect();
  const share = (event.clientX - box.x) / box.width, height = (event.clientY - box.y) / box.height;
  const vertex = item?.datum?.datum ?? item?.datum;
  if (share > 0 && share < 1 && height > 0 && height < 1) moveTo(share);
  else if (vertex?.mid) moveTo(vertex.mid);
};

const fitted = (name, holder) => {
  const spec = structuredClone(specs[name]), room = Math.floor(holder.clientWidth);
  if (name === "difference") data.differences = pairRows(+at("pair").value);
  for (const table of Object.keys(spec.datasets)) spec.datasets[table] ??= data[table];
  if (spec.concat) {
    spec.columns = room >= 760 ? 2 : 1;
    const side = Math.floor((room - 36 * (spec.columns - 1)) / spec.columns - 62);
    for (const part of spec.concat) Object.assign(part, { width: side, height: Math.max(260, Math.min(side, 400)) });
  } else if (!("natural" in holder.dataset) || spec.width + 130 > room) {
    Object.assign(spec, { width: room, autosize: { type: "fit-x", contains: "padding" } });
  }
  return spec;
};

// Vega-Lite loses the connection between points and the cells around them, so names in tooltips would be undefined.
const mended = (spec) => {
  const mend = (marks) => {
    for (const mark of marks ?? []) {
      const tip = mark.encode?.update?.tooltip;
      if (tip?.signal && mark.name?.endsWith("_voronoi")) tip.signal = tip.signal.replace(/(?<!datum\.)datum\[/g, "datum.datum[");
      mend(mark.marks);
    }
  };
  mend(spec.marks);
  return spec;
};

let drawn = [];
const draw = async () => {
  spacesView = undefined;
  for (const one of drawn) one.finalize();
  drawn = [];
  for (const holder of all(".chart")) {
    const name = holder.dataset.spec;
    const result = await vegaEmbed(holder, fitted(name, holder), {
      // The page's security policy allows neither code made from text nor style sheets that are added later.
      ast: true, defaultStyle: false, tooltip: { theme: "page", disableDefaultStyle: true },
      actions: false, renderer: "svg", mode: "vega-lite", patch: mended,
    });
    holder.querySelector("svg").setAttribute("aria-hidden", "true"); // its container describes it
    drawn.push(result);
    if (name === "difference") at("pair").onchange = () => result.view.data("differences", pairRows(+at("pair").value)).runAsync();
    if (name === "spaces") {
      spacesView = result.view;
      watch(result, "chosen", showChosen);
      result.view.addEventListener("click", clicked);
    }
    if (name === "explorer") {
      watch(result, "explored", showExplored);
      watch(result, "shaded", showShaded);
    }
  }
  document.documentElement.dataset.ready = "yes";
};

// Sliders use log odds for a share and logarithms for costs, rounded to three figures.
const odds = { to: (v) => Math.log(v / (100 - v)), from: (s) => 100 / (1 + Math.exp(-s)) };
const logs = { to: (v) => Math.log10(v), from: (s) => 10 ** s };
const scales = { logit: odds, log: logs, linear: { to: (v) => v, from: (s) => s } };
for (const slider of all("input[type=range][data-for]")) {
  const field = at(slider.dataset.for), scale = scales[slider.dataset.scale];
  // A slider that is being moved is not set, because the value in the field is rounded.
  const show = () => {
    if (document.activeElement !== slider) slider.value = field.value === "" ? slider.max : Math.max(scale.to(+field.value), +slider.min);
    slider.setAttribute("aria-valuetext", `${field.value || "all"} ${slider.dataset.unit}`.trim());
  };
  slider.addEventListener("input", () => set(field, +scale.from(+slider.value).toPrecision(3)));
  field.addEventListener("input", show);
  field.addEventListener("change", () => {
    const value = +field.value;
    if (field.value === "" || !(value >= 0) || (field.max && !(value > 0 && value < 100))) set(field, field.defaultValue);
  });
  show();
}
for (const box of all(".switch")) {
  box.addEventListener("change", () => {
    const off = all(".switch").filter((one) => !one.checked).map((one) => one.value);
    set(at("hidden"), off.length ? `,${off.join(",")},` : "");
  });
}
for (const button of all(".goals button")) {
  button.addEventListener("click", () => {
    for (const name of ["prevalence", "cost_fn", "cost_fp"]) set(at(name), button.dataset[name]);
  });
}
if (at("model")) {
  at("model").addEventListener("input", () => { follow = false; set(at("cut"), ""); });
  at("cutslider").addEventListener("input", () => set(at("cut"), at("cutslider").value));
  at("bestcut").addEventListener("click", () => set(at("cut"), ""));
  for (const name of ["checks", "cases"]) at(name).addEventListener("input", showCapped);
  at("cases").addEventListener("input", () => { document.querySelector("[data-for=checks]").max = at("cases").value; });
  at("unlimited").addEventListener("click", () => set(at("checks"), ""));
  all("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
}

const root = document.documentElement, controls = document.querySelector(".controls");
// What is scrolled to stands below the controls while they stay in sight.
if (controls) new ResizeObserver(() => {
  root.style.scrollPaddingTop = getComputedStyle(controls).position === "sticky" ? `${controls.offsetHeight + 8}px` : "";
}).observe(controls);
at("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

let width = document.body.clientWidth, waiting;
addEventListener("resize", () => {
  if (Math.abs(document.body.clientWidth - width) < 24) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => { width = document.body.clientWidth; draw(); }, 150);
});
