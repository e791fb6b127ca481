// The bag as it is seen: its words as chips, the rules as cards, and the tools that make rules of chosen words.

import { byId, fill, h } from "./dom.js";
import { draggable } from "./drag.js";
import { KINDS, isSingle, movedRules, rulesToKeys, withRule } from "./rules.js";

export class BagView {
  /** `changed` is called when tokens or rules are others. */
  constructor(changed) {
    this.tokens = [];
    this.rules = [];
    this.chosen = []; // places, in the order in which they were chosen
    this.changed = changed;
    this.numbers = { place: 2, count: 2, choice: 1 };
    byId("bag").addEventListener("keydown", (event) => this.onKey(event));
    this.drawTools();
  }

  setTokens(tokens) {
    if (tokens.join(" ") === this.tokens.join(" ")) return;
    this.rules = movedRules(this.rules, this.tokens, tokens);
    this.tokens = tokens;
    this.chosen = [];
    this.draw();
  }

  /** The bag as the JSON of bags has it. */
  toRecord() {
    return { tokens: this.tokens, ...rulesToKeys(this.rules, this.tokens.length) };
  }

  draw() {
    byId("bag-part").hidden = this.tokens.length === 0;
    byId("count").textContent = this.tokens.length === 1 ? "1 token" : `${this.tokens.length} tokens`;
    this.drawChips();
    this.drawRules();
    this.updateTools();
    this.changed();
  }

  // ---- chips

  drawChips() {
    const focused = document.activeElement?.dataset?.place;
    const ruled = new Set(this.rules.flatMap((rule) => rule.places));
    const chips = this.tokens.map((token, place) => {
      const rank = this.chosen.indexOf(place);
      const chip = h(
        "button",
        {
          type: "button",
          class: `chip${ruled.has(place) ? " ruled" : ""}`,
          "aria-pressed": String(rank >= 0),
          "data-place": place,
          "data-drop": "chip",
          tabindex: place === this.current() ? 0 : -1,
          onclick: () => this.choose(place),
        },
        token,
        rank >= 0 && this.chosen.length > 1 ? h("span", { class: "rank", "aria-hidden": "true" }, String(rank + 1)) : null,
      );
      draggable(chip, token, (target, isAfter) => this.drop(place, target, isAfter));
      return h("li", {}, chip);
    });
    fill(byId("bag"), chips);
    if (focused !== undefined) byId("bag").querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus();
  }

  current() {
    const last = this.chosen[this.chosen.length - 1];
    return Math.min(this.focus ?? last ?? 0, Math.max(0, this.tokens.length - 1));
  }

  choose(place) {
    this.focus = place;
    this.chosen = this.chosen.includes(place) ? this.chosen.filter((p) => p !== place) : [...this.chosen, place];
    this.drawChips();
    this.updateTools();
  }

  onKey(event) {
    const place = Number(event.target.dataset?.place ?? -1);
    if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.tokens.length - 1;
    const move = { ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1, Home: 0, End: last };
    if (event.key in move) {
      event.preventDefault();
      this.focusChip(Math.max(0, Math.min(last, move[event.key])));
    } else if (event.key === "Escape") {
      this.chosen = [];
      this.drawChips();
      this.updateTools();
    } else {
      const kind = Object.keys(KINDS).find((name) => KINDS[name].key === event.key);
      if (!kind) return;
      event.preventDefault();
      this.makeRule(kind, this.chosen.length ? this.chosen : [place]);
    }
  }

  focusChip(place) {
    this.focus = place;
    for (const chip of byId("bag").querySelectorAll(".chip")) chip.tabIndex = Number(chip.dataset.place) === place ? 0 : -1;
    byId("bag").querySelector(`[data-place="${place}"]`)?.focus();
  }

  // ---- tools: buttons that make rules, which words can be dropped on

  drawTools() {
    const tools = Object.entries(KINDS).map(([kind, { label, key, number }]) => {
      const button = h(
        "button",
        {
          type: "button",
          class: "tool",
          "data-kind": kind,
          "data-drop": "tool",
          "aria-keyshortcuts": key,
          title: `Key ${key.toUpperCase()}, on a word`,
          onclick: () => this.makeRule(kind, this.chosen),
        },
        label,
      );
      if (!number) return button;
      const input = h("input", {
        type: "number",
        value: this.numbers[kind],
        min: kind === "place" ? -250 : 1,
        max: 250,
        "aria-label": { count: "How often", place: "Which place; −1 is the last", choice: "How many of them" }[kind],
        onchange: (event) => (this.numbers[kind] = Number(event.target.value)),
      });
      return h("span", { class: "pair" }, button, input);
    });
    fill(byId("tools"), tools);
  }

  updateTools() {
    for (const tool of byId("tools").querySelectorAll(".tool")) {
      const { many = 1 } = KINDS[tool.dataset.kind];
      // It stays in reach of the keyboard and of words that are dropped on it.
      tool.setAttribute("aria-disabled", String(this.chosen.length < many));
    }
  }

  makeRule(kind, places) {
    const { many = 1, number } = KINDS[kind];
    if (places.length < many) return this.say(`Choose ${many > 1 ? "two words or more" : "a word"} first.`);
    const value = number ? this.numbers[kind] : undefined;
    if (number && (!Number.isInteger(value) || value === 0 || (kind !== "place" && value < 1))) {
      return this.say("A whole number from 1 on is allowed, or for places from −1 backwards.");
    }
    const made = isSingle(kind) ? places.map((place) => [place]) : [places];
    for (const each of made) this.rules = withRule(this.rules, { kind, places: each, number: value });
    this.chosen = [];
    this.draw();
  }

  say(text) {
    byId("keys").textContent = text;
  }

  drop(place, target, isAfter) {
    const kind = target.dataset.kind;
    if (target.dataset.drop === "tool") {
      const with_ = this.chosen.includes(place) ? this.chosen : [place];
      if ((KINDS[kind].many ?? 1) > with_.length) {
        // Two words are needed: the first one waits for the second.
        this.chosen = with_;
        this.drawChips();
        this.updateTools();
        return this.say(`Drop or choose a second word for “${KINDS[kind].label}”.`);
      }
      this.makeRule(kind, with_);
    } else if (target.dataset.drop === "chip") {
      this.join(place, Number(target.dataset.place), isAfter);
    } else if (target.dataset.drop === "rule") {
      this.extend(Number(target.dataset.rule), place, target.dataset.at === undefined ? null : Number(target.dataset.at) + (isAfter ? 1 : 0));
    }
  }

  /** A word dropped on another stays beside it, as do the others of its unit. */
  join(place, other, isAfter) {
    if (place === other) return;
    const unit = this.rules.find((rule) => rule.kind === "together" && rule.places.includes(other));
    const places = (unit ? unit.places : [other]).filter((p) => p !== place);
    places.splice(places.indexOf(other) + (isAfter ? 1 : 0), 0, place);
    this.makeRule("together", places);
  }

  extend(number, place, at) {
    const rule = this.rules[number];
    if (!rule || isSingle(rule.kind)) return;
    const before = rule.places.indexOf(place);
    const places = rule.places.filter((p) => p !== place);
    const to = at === null ? places.length : at - (before >= 0 && before < at ? 1 : 0);
    places.splice(to, 0, place);
    this.rules = this.rules.map((each, i) => (i === number ? { ...rule, places } : each));
    this.draw();
  }

  // ---- rules

  drawRules() {
    fill(
      byId("rules"),
      this.rules.map((rule, number) => this.ruleCard(rule, number)),
    );
  }

  ruleCard(rule, number) {
    const kind = KINDS[rule.kind];
    const words = rule.places.map((place, at) => {
      const token = this.tokens[place];
      if (!kind.ordered) return h("span", { class: "chip small" }, token);
      const chip = h(
        "button",
        {
          type: "button",
          class: "chip small",
          "data-drop": "rule",
          "data-rule": number,
          "data-at": at,
          "aria-label": `${token}, ${at + 1} of ${rule.places.length}; arrow keys move it`,
          onkeydown: (event) => this.moveWithin(event, number, at),
        },
        token,
      );
      draggable(chip, token, (target, isAfter) => this.drop(place, target, isAfter));
      return chip;
    });
    const [before, after] = kind.tell;
    const told = `${before}${rule.places.map((place) => this.tokens[place]).join(" ")}${after}${rule.number ?? ""}`;
    return h(
      "li",
      { class: "rule", "data-drop": isSingle(rule.kind) ? null : "rule", "data-rule": number },
      before && h("span", { class: "soft" }, before),
      h("span", { class: "words" }, words),
      h("span", { class: "soft" }, after, rule.number === undefined ? "" : String(rule.number).replace("-", "−")),
      h("button", { type: "button", class: "remove", "aria-label": `Remove the rule: ${told}`, onclick: () => this.removeRule(number) }, "×"),
    );
  }

  moveWithin(event, number, at) {
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (event.key === "Delete") return this.removeRule(number);
    const rule = this.rules[number];
    if (!by || at + by < 0 || at + by >= rule.places.length) return;
    event.preventDefault();
    const places = [...rule.places];
    [places[at], places[at + by]] = [places[at + by], places[at]];
    this.rules = this.rules.map((each, i) => (i === number ? { ...rule, places } : each));
    this.draw();
    byId("rules").querySelector(`[data-rule="${number}"][data-at="${at + by}"]`)?.focus();
  }

  removeRule(number) {
    this.rules = this.rules.filter((_, i) => i !== number);
    this.draw();
    const next = byId("rules").querySelectorAll(".remove")[Math.min(number, this.rules.length - 1)];
    (next ?? byId("bag").querySelector(".chip"))?.focus();
  }
}
