// What leaves the page: a link that keeps its settings, the decision as text, SQL or JSON, and its numbers as files.
const kept = all("[data-keep]"), initial = new Map(kept.map((field) => [field, field.value]));
let section = ""; // the part of the page that was gone to last

// Settings that are not those of the start, after the number sign of the address.
const settings = () => {
  const changed = kept.filter((field) => field.value !== initial.get(field) && !(field.id === "model" && follow));
  return new URLSearchParams([...changed.map((field) => [field.id, field.value]), ...(section ? [["at", section]] : [])]);
};
let noting;
const note = () => {
  clearTimeout(noting);
  if (location.protocol === "about:") return; // in a notebook the page has no address
  noting = setTimeout(() => {
    const now = settings(), only = now.size === 1 && section;
    history.replaceState(null, "", now.size ? `#${only ? section : now}` : location.pathname + location.search);
  }, 200);
};
// A value that its field does not take is left out. Anybody may have written the address.
const suits = (field, value) => {
  if (field.tagName === "SELECT") return [...field.options].some((option) => option.value === value);
  if (field.id === "hidden") return /^(,\d+)*,$|^$/.test(value);
  const number = +value;
  return (value !== "" || initial.get(field) === "") && number >= 0 && number < Infinity && !(field.max && !(number > 0 && number < +field.max));
};
const goTo = (id) => {
  const target = at(id);
  if (!target) return;
  section = id;
  target.scrollIntoView();
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
};
const restore = () => {
  const hash = location.hash.slice(1), given = new URLSearchParams(hash.includes("=") ? hash : { at: hash });
  for (const field of kept) {
    const value = given.get(field.id) ?? initial.get(field);
    if (value === field.value || !(suits(field, value) || value === initial.get(field))) continue;
    if (field.id === "model") follow = false;
    set(field, value);
    if (field.id === "hidden") for (const box of all(".switch")) box.checked = !value.includes(`,${box.value},`);
  }
  return given.get("at");
};
addEventListener("hashchange", () => { goTo(restore()); note(); });
for (const field of kept) for (const kind of ["input", "change"]) field.addEventListener(kind, note);
for (const link of all('a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(link.hash.slice(1));
    note();
  });
}

// The decision at the settings of the page. Quotation marks in the name of a column are doubled, so that it stays a name.
const column = (name) => `"${name.replaceAll('"', '""')}"`;
const yearly = () => {
  const cases = +at("yearly").value;
  return cases > 0 ? { cases_per_year: cases, cost_per_year_on_these_cases: cases * at("peryear").dataset.cost } : {};
};
const inYears = () => (+at("yearly").value > 0 ? [`${figures(+at("yearly").value)} cases per year ${at("peryear").textContent}`] : []);
// The verdict in the words of the first lines of the page.
const inWords = (verdict, rivals) => {
  const some = rivals.length > 7 ? [...rivals.slice(0, 6), `${rivals.length - 6} others`] : rivals;
  const listed = [some.slice(0, -1).join(", "), some.at(-1)].filter(Boolean).join(" or ");
  return `${verdict[0].toUpperCase()}${verdict.slice(1)}: ${verdict === "sure" ? "every other choice is shown to cost more" : `${listed} may be as good`}.`;
};
const asText = () => [...asLines(), ...inYears()].join("\n").replaceAll("\u00a0", " ").replaceAll("score ≥ −", "score ≥ -");
const asSql = () => `${asText().split("\n").map((line) => `-- ${line}\n`).join("")}${asRule()}`;
const forms = { text: asText, sql: asSql, json: () => JSON.stringify({ ...decision(), ...yearly() }, null, 2) };
const copyText = async (text) => {
  const box = at("copy");
  box.value = text;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without the permission, as in a notebook
    box.hidden = false;
    box.select();
    return document.execCommand("copy");
  }
  box.hidden = true;
  return true;
};
for (const button of all("[data-copy]")) {
  button.addEventListener("click", async () => {
    const done = await copyText(forms[button.dataset.copy]());
    at("copied").textContent = done ? `Copied ${button.textContent}.` : "The browser does not allow it: copy the text below.";
  });
}

// Files are made from the report that the page contains.
const fromPairs = () => stacked(report.differences.map(({ names: [a, b], pc, estimate, lower, upper }) =>
  ({ a: pc.map(() => a), b: pc.map(() => b), pc, estimate, lower, upper })));
const named = (field) => stacked(report.classifiers.map((one) => {
  const first = Object.values(one[field])[0];
  return { name: first.map(() => one.name), ...one[field] };
}));
const costs = () => Object.fromEntries([["name", report.classifiers.map((one) => one.name)],
  ...["estimate", "lower", "upper"].map((field) => [field, report.classifiers.map((one) => one.cost[field])])]);
const files = {
  "report.json": () => reportText,
  "hull.csv": () => csvText(report.hull),
  "ranges.csv": () => csvText(report.ranges),
  "cost_curves.csv": () => csvText(named("cost_curve")),
  "bands.csv": () => csvText(named("band")),
  "differences.csv": () => csvText(fromPairs()),
  "costs.csv": () => csvText(costs()),
  "pairs.csv": () => csvText(report.pairs),
};
for (const button of all("[data-file]")) {
  button.addEventListener("click", () => {
    const name = button.dataset.file, link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([files[name]()], { type: name.endsWith("json") ? "application/json" : "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

const wanted = restore();
draw().then(() => { if (wanted) goTo(wanted); });
