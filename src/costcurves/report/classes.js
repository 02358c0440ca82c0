// The page of k classes: what each classifier costs with other class frequencies and costs, and its errors in 1,000 cases.
const sizes = report.classifiers[0].confusion.map((row) => row.reduce((sum, n) => sum + n, 0));
const rates = report.classifiers.map(({ confusion }) => confusion.map((row, t) => row.map((n) => n / sizes[t])));
const constants = Object.keys(report.constants);
const everybody = [...words.names, ...constants];
const chances = (c, t, p) => (c < rates.length ? rates[c][t][p] : +(c - rates.length === p)); // of predicting p for class t

// Shares are those of the fields, scaled so that they add up to 1; costs of the errors of a class are multiplied.
const mixture = () => {
  const share = sizes.map((n, t) => (n > 0 ? +at(`share_${t}`).value : 0)), total = share.reduce((sum, one) => sum + one, 0);
  return { share: share.map((one) => one / total), times: sizes.map((_, t) => +at(`times_${t}`).value), total };
};
const costOf = (c, { share, times }) => report.costs.reduce((sum, row, t) =>
  share[t] === 0 ? sum : sum + share[t] * times[t] * row.reduce((inner, cost, p) => inner + cost * chances(c, t, p), 0), 0);
const inThousand = (value) => (value === 0 ? "0" : value < 0.05 ? "< 0.1" : value < 10 ? value.toFixed(1) : figures(Math.round(value)));
const cell = (tag, text, attributes = {}) => {
  const one = document.createElement(tag);
  one.append(text);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  return one;
};
const called = (name) => cell("bdi", name);
const row = (...cells) => { const one = document.createElement("tr"); one.append(...cells); return one; };

const showMatrix = (mix) => {
  const c = +at("shown").value, table = at("errors"), body = document.createElement("tbody");
  const paid = (t, p) => mix.share[t] * mix.times[t] * report.costs[t][p] * chances(c, t, p), most = Math.max(costOf(c, mix), 1e-300);
  report.labels.forEach((label, t) => {
    if (!(mix.share[t] > 0)) return;
    const cells = report.labels.map((predicted, p) => {
      const count = 1000 * mix.share[t] * chances(c, t, p), one = cell("td", inThousand(count), { class: t === p ? "right" : count > 0 ? "wrong" : "" });
      if (t !== p && count > 0) {
        one.title = `${money(1000 * paid(t, p))}: ${label} predicted ${predicted}`;
        one.style.setProperty("--part", `${Math.round(100 * Math.sqrt(paid(t, p) / most))}%`);
      }
      return one;
    });
    body.append(row(cell("th", called(words.labels[t]), { scope: "row" }), ...cells, cell("td", inThousand(1000 * mix.share[t]), { class: "sum" })));
  });
  table.tBodies[0]?.remove();
  table.append(body);
};

const showMixture = () => {
  const mix = mixture();
  if (!(mix.total > 0)) {
    say(at("mixed"), "No class has a share: set one above 0.");
    say(at("cheapest"), "");
    return;
  }
  const known = report.labels.map((_, t) => t).filter((t) => mix.share[t] > 0).sort((a, b) => mix.share[b] - mix.share[a]);
  say(at("mixed"), "Of 1,000 cases, ", ...known.flatMap((t, i) => [
    `${i === 0 ? "" : i === known.length - 1 ? " and " : ", "}${inThousand(1000 * mix.share[t])}${i ? "" : " are"} `, { name: words.labels[t] }]),
  "."); // the largest first
  const costs = everybody.map((_, c) => costOf(c, mix)), order = everybody.map((_, c) => c).sort((a, b) => costs[a] - costs[b] || a - b);
  const [best, next] = order, more = costs[next] - costs[best], equal = more <= 1e-12 * costs[next];
  say(at("cheapest"), "On these cases ", { name: everybody[best] },
    ` costs least: ${money(costs[best])} per case, ${money(1000 * costs[best])} per 1,000 cases. `, { name: everybody[next] },
    equal ? " costs the same." : ` is next and costs ${money(1000 * more)} more per 1,000 cases.`);
  Object.assign(at("cheapest").dataset, { name: everybody[best], cost: costs[best], best });
  showYearly(costs[best]);
  const constant = order.find((c) => c >= rates.length), table = at("priced"), body = document.createElement("tbody");
  for (const c of order.filter((one) => one < rates.length || one === constant)) {
    body.append(row(cell("th", called(everybody[c]), { scope: "row" }), cell("td", money(costs[c]), { class: "n" }),
      cell("td", money(1000 * costs[c]), { class: "n" }), cell("td", c === best ? "–" : money(1000 * (costs[c] - costs[best])), { class: "n" })));
  }
  table.tBodies[0]?.remove();
  table.append(body);
  showMatrix(mix);
};

for (const field of all(".mix input[type=number]")) field.addEventListener("input", showMixture);
for (const button of all("[data-mix]")) {
  button.addEventListener("click", () => {
    report.labels.forEach((_, t) => {
      const share = at(`share_${t}`), alike = button.dataset.mix === "alike";
      if (!share.disabled) set(share, alike ? +(100 / sizes.filter((n) => n > 0).length).toPrecision(6) : share.defaultValue);
      if (!alike) set(at(`times_${t}`), "1");
    });
  });
}
at("shown").addEventListener("change", () => showMatrix(mixture()));
all("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
showMixture();

// The decision at these settings. What the data show is known only at the settings of the start.
const decision = () => {
  const { share, times } = mixture(), { best, cost } = at("cheapest").dataset, c = +best, constant = c - rates.length;
  const start = all(".mix input[type=number]").every((field) => field.value === field.defaultValue);
  return {
    title: report.title,
    class_shares: Object.fromEntries(report.labels.map((label, t) => [label, share[t]])),
    times_cost_of_errors: Object.fromEntries(report.labels.map((label, t) => [label, times[t]])),
    currency: report.currency,
    classifier: constant < 0 ? report.classifiers[c].name : null,
    predict: constant < 0 ? "what the classifier predicts" : report.labels[constant],
    cost_per_case_on_these_cases: +cost,
    verdict: start ? report.verdict : null,
  };
};
const asLines = () => {
  const scaled = report.labels.map((_, t) => t).filter((t) => mixture().times[t] !== 1), { verdict } = decision();
  return [
    `${words.title}: ${at("mixed").textContent}`,
    ...scaled.map((t) => `Errors of ${words.labels[t]} cost ${figures(mixture().times[t])} times as much as in the cost matrix.`),
    at("cheapest").textContent,
    verdict === null ? "At these settings it was not tested how sure that is." : inWords(verdict, report.rivals),
  ];
};
// A column of predicted classes has the name of its classifier.
const asRule = () => {
  const { classifier, predict } = decision();
  return `${classifier === null ? `'${predict.replaceAll("'", "''")}'` : column(classifier)} AS predicted`;
};
