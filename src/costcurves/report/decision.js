// The decision of two classes in words, as a rule in SQL and as plain values.
const decision = () => {
  const value = (id) => +at(id).value, { k, t, x, y, pc, stake } = chosen;
  const here = all(".goals button").find((one) => ["prevalence", "cost_fn", "cost_fp"].every((id) => +one.dataset[id] === value(id)));
  return {
    title: report.title,
    condition: { prevalence: value("prevalence") / 100, cost_fp: value("cost_fp"), cost_fn: value("cost_fn"), pc },
    currency: report.currency,
    classifier: k < 0 ? null : report.classifiers[k].name,
    threshold: k < 0 ? null : t,
    predict: k < 0 ? (k === -1 ? "never positive" : "always positive") : "positive if score >= threshold",
    positive_label: report.data.positive_label,
    false_positive_rate: x,
    true_positive_rate: y,
    cost_per_case_on_these_cases: chosen.cost * stake,
    limits: { level: report.level, lower: chosen.low * stake, upper: chosen.high * stake, threshold: "taken as given" },
    scenario: here ? { name: here.title, shown_to_be_cheapest: here.dataset.sure === "yes" } : null,
  };
};
const asLines = () => {
  const { scenario } = decision(), amount = (id) => money(+at(id).value);
  return [
    `${words.title}: ${figures(+at("prevalence").value)} % of cases are ${words.positive}; a miss costs ${amount("cost_fn")}, a false alarm ${amount("cost_fp")}.`,
    at("now").textContent,
    ...(scenario ? [`This is scenario ${scenario.name}: the data ${scenario.shown_to_be_cheapest ? "show" : "do not show"} that this is the cheapest choice.`] : []),
  ];
};
// A column of scores has the name of its classifier.
const asRule = () => {
  const { classifier, threshold } = decision();
  return classifier === null ? `${+(chosen.k === -2)} AS flagged` : `CASE WHEN ${column(classifier)} >= ${threshold} THEN 1 ELSE 0 END AS flagged`;
};
