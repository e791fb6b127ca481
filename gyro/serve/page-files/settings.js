// How bags are ordered: systems, algorithm, models, and what few people change.

import { byId, fill, h, number } from "./dom.js";

const TOLD = {
  exact: "exact",
  beam: "beam",
  "pruned-parsing": "pruned parsing (Algorithm 3)",
  "pruned-expansion": "pruned expansion (Algorithm 2)",
  full: "full expansion (Algorithm 1)",
};
const USES = { off: "not used", lists: "picks of the best", search: "searches on" };

export class SettingsView {
  constructor(about) {
    this.about = about;
    this.drawSystems();
    fill(byId("fields"), this.fields());
    fill(byId("more-fields"), this.moreFields());
  }

  drawSystems() {
    const { systems } = this.about;
    const boxes = systems.map(({ name }) =>
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "system", value: name, checked: true }), titleOf(name)),
    );
    byId("systems").hidden = systems.length < 2;
    fill(byId("systems"), boxes);
  }

  fields() {
    const { algorithms, models, neural, neural_use, settings } = this.about;
    const ngram = models.filter((model) => model.order !== null).map((model) => [model.name, model.name]);
    return [
      choice("algorithm", "Algorithm", algorithms.map((name) => [name, TOLD[name] ?? name]), settings.algorithm),
      ngram.length > 1 && choice("model", "Language model", ngram, ngram[0][0]),
      neural && choice("neural", "Neural model", Object.entries(USES), neural_use),
      choice("nbest", "Orders", ["1", "5", "10", "20", "50"].map((n) => [n, n]), isNarrow() ? "5" : "10"),
    ];
  }

  moreFields() {
    const { settings, neural, neural_weight, budget } = this.about;
    return [
      entry("rules", "Phrase rules", settings.rules, "lengths, like 1-5 or 3-5"),
      entry("beta", "β", "", `nats from the best; as it is: ${number(settings.max_arcs, 0)} arcs`, "decimal"),
      entry("beam", "Beam", settings.beam, "nodes a row", "numeric"),
      entry("overlap", "Overlap", settings.overlap, "words that phrases may share", "numeric"),
      entry("phrase_cost", "Phrase costs", settings.phrase_cost, "like phrase=1.0"),
      neural && entry("neural_weight", "λ", neural_weight, "weight of the neural cost", "decimal"),
      neural && entry("budget", "Budget", budget, "of its search: pieces a word", "numeric"),
    ];
  }

  /** The names of the chosen systems. */
  systems() {
    const boxes = [...document.querySelectorAll('input[name="system"]:checked')];
    return boxes.map((box) => box.value);
  }

  /** The keys of a request for a system. */
  toKeys(system) {
    const nbest = Number(byId("set-nbest").value);
    const keys = { system, nbest, words: true, lattice: 8 };
    if (this.about.neural && byId("set-neural").value !== "off") keys.costs = this.about.models.map((model) => model.name);
    if (system !== "gyro") return keys;
    for (const field of document.querySelectorAll("[data-key]")) {
      const { key, usual, kind } = field.dataset;
      const value = field.value.trim();
      if (key === "nbest" || value === usual || value === "") continue;
      if (kind && !Number.isFinite(Number(value))) throw new Error(`Found “${value}” for ${key}; a number is allowed.`);
      keys[key] = kind ? Number(value) : value;
    }
    return keys;
  }
}

const isNarrow = () => window.matchMedia("(max-width: 40rem)").matches;

export const titleOf = (system) => (system === "gyro" ? "GYRO" : system);

function choice(key, label, options, chosen) {
  const select = h(
    "select",
    { id: `set-${key}`, "data-key": key, "data-usual": chosen },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", { class: "field" }, h("span", {}, label), select);
}

function entry(key, label, value, note, kind = null) {
  const input = h("input", {
    id: `set-${key}`,
    "data-key": key,
    "data-usual": String(value),
    "data-kind": kind,
    inputmode: kind ?? "text",
    value: String(value),
    placeholder: "as it is",
    autocomplete: "off",
  });
  return h("label", { class: "field" }, h("span", {}, label, " ", h("small", {}, note)), input);
}
