// The decision of two classes in words, as a rule in SQL and as plain values.
const trivial = { "always negative": -1, "always positive": -2 };
const answers = report.scenarios.flatMap((one) => one.ends ?? [one]); // each has a button
// The scenario of these settings. Its verdict is on the recommended choice, which is another one if that was hidden.
const scenarioHere = () => {
  const buttons = all(".goals button"), fits = (one) => ["prevalence", "cost_fn", "cost_fp"].every((id) => +one.dataset[id] === +at(id).value);
  const i = buttons.findIndex(fits);
  if (i < 0) return null;
  const { verdict, recommendation: { best, rivals } } = answers[i];
  const same = chosen.k === (trivial[best] ?? report.classifiers.findIndex((one) => one.name === best));
  return { name: buttons[i].title, verdict: same ? verdict : null, rivals };
};
const decision = () => {
  const value = (id) => +at(id).value, { k, t, x, y, pc, stake } = chosen;
  const here = scenarioHere();
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
    scenario: here && { name: here.name, verdict: here.verdict },
  };
};
const asLines = () => {
  const here = scenarioHere(), amount = (id) => money(+at(id).value);
  const verdict = here?.verdict ? ` ${inWords(here.verdict, here.rivals.map((name) => [words.never, words.always][-1 - trivial[name]] ?? name))}` : "";
  return [
    `${words.title}: ${figures(+at("prevalence").value)} % of cases are ${words.positive}; a miss costs ${amount("cost_fn")}, a false alarm ${amount("cost_fp")}.`,
    at("now").textContent,
    ...(here ? [`This is scenario ${here.name}.${verdict}`] : []),
  ];
};
// A column of scores has the name of its classifier.
const asRule = () => {
  const { classifier, threshold } = decision();
  return classifier === null ? `${+(chosen.k === -2)} AS flagged` : `CASE WHEN ${column(classifier)} >= ${threshold} THEN 1 ELSE 0 END AS flagged`;
};
