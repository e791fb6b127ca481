// The rules that a bag can have, and their way into the JSON of bags. Words are named by their places in the bag.

/** Kinds of rules. `many`: how few words it takes if it takes several; `ordered`: their order means something. */
export const KINDS = {
  first: { label: "First", key: "f", tell: ["", " comes first"] },
  last: { label: "Last", key: "l", tell: ["", " comes last"] },
  place: { label: "At place", key: "p", number: true, tell: ["", " is at place "] },
  together: { label: "Keep together", key: "k", many: 2, ordered: true, tell: ["", " stay together"] },
  before: { label: "In this order", key: "o", many: 2, ordered: true, tell: ["", " come in this order"] },
  optional: { label: "May be left out", key: "d", tell: ["", " may be left out"] },
  count: { label: "Used up to", key: "u", number: true, tell: ["", " is used up to so often: "] },
  choice: { label: "Use only", key: "e", number: true, many: 2, tell: ["of ", " so many are used: "] },
};

const SINGLE = new Set(["first", "last", "place", "optional", "count"]);
export const isSingle = (kind) => SINGLE.has(kind);

/** The rules with one more; what contradicts it at first sight goes: a word has one place, and is in one unit. */
export function withRule(rules, rule) {
  const clash = {
    first: ["first", "last", "place"],
    last: ["first", "last", "place"],
    place: ["first", "last", "place"],
    together: ["together"],
    count: ["count"],
    optional: ["optional"],
    choice: ["choice"],
    before: [],
  }[rule.kind];
  const kept = rules.filter((other) => {
    if (!clash.includes(other.kind)) return true;
    if (other.places.some((place) => rule.places.includes(place))) return false;
    // There is one first word and one last.
    return !(["first", "last"].includes(rule.kind) && other.kind === rule.kind);
  });
  return [...kept, rule];
}

/** The rules over a bag that was typed anew: each word is found again by itself and its number among its equals. */
export function movedRules(rules, before, after) {
  const places = new Map(named(after).map((name, place) => [name, place]));
  const names = named(before);
  return rules
    .map((rule) => ({ ...rule, places: rule.places.map((place) => places.get(names[place])) }))
    .filter((rule) => !rule.places.includes(undefined));
}

function named(tokens) {
  const seen = new Map();
  return tokens.map((token) => {
    seen.set(token, (seen.get(token) ?? 0) + 1);
    return `${seen.get(token)} ${token}`;
  });
}

/** The keys of the bag's JSON object that say the same. */
export function rulesToKeys(rules, count) {
  const keys = {};
  const add = (key, value) => (keys[key] ??= []).push(value);
  for (const { kind, places, number } of rules) {
    if (kind === "first") add("positions", [places[0], 1]);
    else if (kind === "last") add("positions", [places[0], -1]);
    else if (kind === "place") add("positions", [places[0], number]);
    else if (kind === "together") add("units", places);
    else if (kind === "before") add("order", places);
    else if (kind === "optional") add("optional", places[0]);
    else if (kind === "choice") add("choices", [places, number]);
    else if (kind === "count") (keys.counts ??= Array(count).fill(1))[places[0]] = number;
  }
  return keys;
}
