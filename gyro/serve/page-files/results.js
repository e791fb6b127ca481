// What came of a bag: a card for each system.

import { fill, h, large, number } from "./dom.js";
import { LatticeView } from "./lattice.js";
import { titleOf } from "./settings.js";

/** A card that tells how long the work has taken so far; `end()` stops its clock. */
export function waitingCard(system) {
  const clock = h("span", { class: "soft" }, "0.0 s");
  const begin = performance.now();
  const timer = setInterval(() => (clock.textContent = `${((performance.now() - begin) / 1000).toFixed(1)} s`), 100);
  const element = h(
    "article",
    { class: "card waiting", "aria-busy": "true" },
    h("header", {}, h("h2", {}, titleOf(system)), clock),
    h("div", { class: "bar" }),
    h("p", { class: "soft" }, "Searching …"),
  );
  return { element, end: () => clearInterval(timer) };
}

export function faultCard(system, message) {
  return h(
    "article",
    { class: "card fault", role: "alert" },
    h("header", {}, h("h2", {}, titleOf(system)), h("span", { class: "badge bad" }, "no order")),
    h("p", {}, message),
  );
}

/** The best orders of several systems in one table, with their costs under the models that all were asked for. */
export function compareCard(answers) {
  const { reference } = answers[0];
  const models = Object.keys(answers[0].orders[0].costs);
  const costs = (name) => answers.map((answer) => answer.orders[0].costs[name]);
  const cells = (order) =>
    models.map((name) => {
      const isLeast = order.costs[name] <= Math.min(...costs(name)) + 5e-4;
      return h("td", { class: isLeast ? "least" : null, "data-label": name }, number(order.costs[name]));
    });
  const rows = answers.map((answer) => {
    const [best] = answer.orders;
    const name = h("td", { class: "who" }, titleOf(answer.system), answer.outcome.proved ? " ✓" : "");
    const isSame = reference && best.tokens.join(" ") === reference.tokens.join(" ");
    const text = h("th", { scope: "row" }, bestWords(best.text, best.tokens, reference?.tokens), isSame ? h("small", { class: "good" }, " put back") : null);
    return h("tr", {}, name, text, cells(best), h("td", { "data-label": "time" }, `${number(answer.seconds)} s`));
  });
  const typed = reference && h("tr", { class: "reference" }, h("td", { class: "who" }, "as typed"), h("th", { scope: "row" }, reference.text), cells(reference), h("td", {}));
  const head = ["system", "best order", ...models, "time"].map((name) => h("th", { scope: "col" }, name));
  return h(
    "article",
    { class: "card compare" },
    h("header", {}, h("h2", {}, "Side by side")),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Systems side by side" }, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows, typed))),
  );
}

/** The answer of a system. */
export function answerCard(answer, ways, hasRules) {
  const card = h("article", { class: "card" });
  const [best] = answer.orders;
  const sentence = h("p", { class: "best" }, bestWords(best.text, best.tokens, answer.reference?.tokens));
  const along = h("div", { class: "along-part" });
  let view = null;
  const choose = (rank) => {
    table.mark(rank);
    view?.setOrder(rank);
    if (answer.orders[rank]) fill(along, alongSentence(answer.orders[rank]));
  };
  const table = ordersTable(answer, choose);
  if (answer.lattice) view = new LatticeView(answer.lattice, choose);
  choose(0);
  fill(
    card,
    h("header", {}, h("h2", {}, titleOf(answer.system)), badge(answer)),
    sentence,
    verdict(answer),
    proof(answer, ways, hasRules),
    answer.orders.length > 1 || answer.orders[0].words ? h("h3", {}, answer.orders.length > 1 ? "Best orders" : "Costs") : null,
    table.element,
    along,
    view && h("h3", {}, "Lattice"),
    view?.element,
  );
  return card;
}

function badge(answer) {
  if (answer.outcome.proved) return h("span", { class: "badge good" }, "✓ proved best");
  const isCertain = answer.system === "gyro" && answer.settings.neural === "off";
  return h("span", { class: "badge" }, isCertain && answer.outcome.timed_out ? "best in the time" : "best found");
}

/** The sentence; words that stand elsewhere than in the reference are marked. */
function bestWords(text, tokens, reference) {
  if (!reference || reference.join(" ") === tokens.join(" ")) return text;
  const kept = commonPlaces(tokens, reference);
  // The text has the tokens in this order, with blanks or without.
  const parts = [];
  let rest = text;
  tokens.forEach((token, place) => {
    const at = rest.indexOf(token);
    if (at < 0) return;
    if (at > 0) parts.push(rest.slice(0, at));
    parts.push(kept.has(place) ? token : h("mark", {}, token));
    rest = rest.slice(at + token.length);
  });
  return [...parts, rest];
}

/** The places of tokens in a longest common subsequence with others. */
function commonPlaces(tokens, others) {
  const [n, m] = [tokens.length, others.length];
  const length = Array.from({ length: n + 1 }, () => Array(m + 1).fill(0));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      length[i][j] = tokens[i] === others[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const kept = new Set();
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (tokens[i] === others[j]) {
      kept.add(i);
      i++;
      j++;
    } else if (length[i + 1][j] >= length[i][j + 1]) i++;
    else j++;
  }
  return kept;
}

/** Was the sentence put back, and if not: does the model or the search err? */
function verdict({ reference, orders, outcome }) {
  if (!reference) return null;
  if (reference.rank === 1) return h("p", { class: "verdict good" }, "✓ Put back as it was.");
  const lines = [];
  if (reference.rank) lines.push(`Your sentence is order ${reference.rank}.`);
  if (reference.cost !== null) {
    const more = reference.cost - orders[0].cost;
    if (more >= 0) lines.push(`It costs ${number(more)} more than this: the model prefers another order.`);
    else lines.push(`It costs ${number(-more)} less than this: the search ${outcome.proved ? "could not reach it" : "missed it"}.`);
  }
  return h("p", { class: "verdict" }, h("span", { class: "soft" }, "You typed: "), reference.text, h("br"), h("span", { class: "soft" }, lines.join(" ")));
}

function proof({ outcome, orders, seconds, settings }, ways, hasRules) {
  const first = outcome.first_pass;
  const isNeural = settings.neural && settings.neural !== "off";
  const rows = [[outcome.proved ? "optimum" : "cost", number(orders[0].cost)]];
  const add = (name, value, digits = 0) => Number.isFinite(value) && rows.push([name, number(value, digits)]);
  add("no order below", outcome.lower_bound, 2);
  rows.push([hasRules ? "orders without rules" : "possible orders", large(ways)], ["time", `${number(seconds, seconds < 1 ? 3 : 2)} s`]);
  add("lattice nodes", outcome.nodes);
  add("arcs", outcome.arcs);
  add("cells", outcome.cells);
  add("phrases", outcome.phrases);
  if (isNeural && first) add(first.proved ? "first pass, proved" : "first pass", first.cost, 2);
  add("orders scored", outcome.scored ?? outcome.strings);
  add("pieces computed", outcome.computed);
  add("β", outcome.beta, 1);
  return h("dl", { class: "proof" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** The orders with their costs by model; one of them is marked. */
function ordersTable({ orders, reference, settings }, choose) {
  const models = Object.keys(orders[0].costs);
  // The system's own cost is that of its model, unless more than one thing has gone into it.
  const withOwn = !models.some((name) => orders.every((order) => Math.abs(order.costs[name] - order.cost) < 5e-3));
  const lowest = Object.fromEntries(models.map((name) => [name, Math.min(...orders.map((order) => order.costs[name]))]));
  const cell = (name, order) => {
    const value = order.costs[name];
    return h("td", { class: value <= lowest[name] + 5e-4 ? "least" : null, "data-label": name }, number(value));
  };
  const label = settings.neural_weight && settings.neural !== "off" ? `all (λ ${settings.neural_weight})` : "score";
  const rows = orders.map((order, rank) =>
    h(
      "tr",
      { class: reference?.rank === rank + 1 ? "reference" : null },
      h("td", {}, String(rank + 1)),
      h("th", { scope: "row" }, h("button", { type: "button", class: "pick", onclick: () => choose(rank) }, order.text)),
      withOwn && h("td", { "data-label": label }, number(order.cost)),
      models.map((name) => cell(name, order)),
    ),
  );
  const below =
    reference && !reference.rank
      ? h(
          "tr",
          { class: "reference" },
          h("td", {}, "–"),
          h("th", { scope: "row" }, reference.text, h("small", {}, " as you typed it")),
          withOwn && h("td", reference.cost === null ? {} : { "data-label": label }, reference.cost === null ? "" : number(reference.cost)),
          models.map((name) => h("td", { "data-label": name }, number(reference.costs[name]))),
        )
      : null;
  const head = ["", "order", ...(withOwn ? [label] : []), ...models];
  const element = h(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": "Orders and their costs" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows, below),
    ),
  );
  const mark = (rank) =>
    rows.forEach((row, number) => {
      row.classList.toggle("chosen", number === rank);
      row.querySelector(".pick").setAttribute("aria-pressed", String(number === rank));
    });
  return { element, mark };
}

/** What each word costs, as bars over the sentence; the first n-gram model's are seen at once. */
function alongSentence({ tokens, words }) {
  if (!words) return null;
  const figures = Object.entries(words).map(([name, costs]) => barsOf(name, tokens, costs));
  const [first, ...others] = figures;
  return [first, others.length ? h("details", { class: "along-others" }, h("summary", {}, "under other models"), others) : null];
}

function barsOf(name, tokens, costs) {
  const most = Math.max(...costs, 1e-9);
  const places = [...tokens, "■"].map((token, place) => {
    const bar = h("i", {});
    bar.style.height = `${(2.4 * costs[place]) / most}rem`;
    const told = place === tokens.length ? "end of the sentence" : token;
    return h("li", { title: `${told}: ${number(costs[place])}` }, h("b", {}, number(costs[place], 1)), bar, h("span", {}, token));
  });
  return h("figure", { class: "along" }, h("figcaption", { class: "soft small" }, `Cost of each word, ${name}`), h("ol", {}, places));
}
