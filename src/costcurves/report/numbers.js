// Numbers as the page shows them. This file does not depend on the page.
const figures = (value, digits = 3) =>
  Math.abs(value) >= 1e15 || (value !== 0 && Math.abs(value) < 1e-6)
    ? value.toPrecision(digits)
    : value.toLocaleString("en", { maximumSignificantDigits: Math.max(digits, Math.ceil(Math.log10(Math.abs(value) || 1))) });
const percent = (share) => `${figures(100 * share)}\u00a0%`;
// Numbers that are shown together have the same number of decimals.
const alike = (values) => {
  const least = Math.min(...values.filter((value) => value > 0));
  const decimals = Math.min(12, Math.max(0, 2 - Math.floor(Math.log10(least))));
  const form = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return values.map((value) => (value === 0 ? "0" : value.toLocaleString("en", form)));
};
// The number of cases for which counts are shown: 1,000, or more if the rarer class would have fewer than ten of them.
const casesFor = (share) => {
  let total = 1000;
  while (total * Math.min(share, 1 - share) < 10 && total < 1e12) total *= 10;
  return total;
};
// Integer counts whose rows, columns and total add up. The classes are rounded first, then the flagged cases of each
// class, and the other counts are the remainders. Every count is one of the two integers next to its exact value.
const wholeCases = (total, share, found, alarms) => {
  const exact = total * share, positives = Math.round(exact), negatives = total - positives;
  const tp = Math.round(exact * found), fp = Math.min(negatives, Math.round((total - exact) * alarms));
  return { tp, fn: positives - tp, fp, tn: negatives - fp };
};
// Columns as CSV. A text that a spreadsheet would take for a formula is preceded by an apostrophe; numbers are unchanged.
const csvField = (value) => {
  const infinite = value === "inf" || value === "-inf"; // as JSON has them
  const text = typeof value === "string" && !infinite && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : String(value ?? "");
  return /[,"\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csvText = (columns) => {
  const values = Object.values(columns), lines = [Object.keys(columns), ...values[0].map((_, i) => values.map((one) => one[i]))];
  return lines.map((line) => `${line.map(csvField).join(",")}\n`).join("");
};
// Tables with the same columns, one below the other.
const stacked = (tables) =>
  Object.fromEntries(Object.keys(tables[0]).map((name) => [name, tables.flatMap((table) => table[name])]));
