// The page: what is typed becomes a bag, the bag becomes requests, their answers become cards.

import { BagView } from "./bag.js";
import * as client from "./client.js";
import { byId, fill, h, number } from "./dom.js";
import { answerCard, compareCard, faultCard, waitingCard } from "./results.js";
import { SettingsView } from "./settings.js";

const EXAMPLES = [
  ["words", ", . And Congress can current drug from levels prices reduce substantially together working"],
  ["sentence", "We have to work together to find an answer to this question."],
  ["words", "the the cat dog saw ."],
];
const PLACEHOLDERS = {
  words: "Words in any order, with blanks between them",
  sentence: "A sentence, to be shuffled and put back",
};

let settings = null;
let reference = null; // the tokens of a sentence that was shuffled
let running = null; // what stops the work that goes on
let mostTokens = Infinity;
const bag = new BagView(() => updateGo());

const mode = () => document.querySelector('input[name="mode"]:checked').value;
const words = () => byId("text").value.split(/\s+/).filter(Boolean);

// ---- typing

function typed() {
  const isSentence = mode() === "sentence";
  byId("text").placeholder = PLACEHOLDERS[mode()];
  byId("shuffle").hidden = !isSentence;
  byId("hint").textContent = "";
  byId("split").hidden = true;
  if (isSentence) return;
  reference = null;
  bag.setTokens(words());
  const joined = words().find((word) => /[\p{L}\p{N}][.,!?;:”"]$/u.test(word));
  byId("split").hidden = !joined;
  if (joined) byId("hint").textContent = `“${joined}” has a mark at its end, and is one word as it is.`;
}

/** The tokens of what was typed; faults are told under it. */
async function tokensOfText() {
  try {
    return await client.tokenize(byId("text").value);
  } catch (error) {
    byId("hint").textContent = error.message;
    return null;
  }
}

async function shuffle() {
  const tokens = await tokensOfText();
  if (!tokens?.length) {
    if (tokens) byId("hint").textContent = "Type a sentence first.";
    return false;
  }
  reference = tokens;
  bag.rules = [];
  bag.setTokens(shuffled(tokens));
  byId("hint").textContent = "Shuffled. Can the models put it back?";
  return true;
}

function shuffled(tokens) {
  const mixed = [...tokens];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}

async function splitMarks() {
  const tokens = await tokensOfText();
  if (!tokens) return;
  byId("text").value = tokens.join(" ");
  typed();
}

/** Is the shuffled sentence the one that stands there? */
let shuffledText = null;

// ---- asking

function updateGo() {
  const count = bag.tokens.length;
  byId("go").disabled = running !== null || (mode() === "words" && count === 0);
  if (count > mostTokens) byId("hint").textContent = `${count} tokens; at most ${mostTokens} are allowed.`;
}

/** How many orders a bag has: n! over those of equal words. */
function waysOf(tokens) {
  const seen = new Map();
  let ways = 1n;
  tokens.forEach((token, place) => {
    seen.set(token, (seen.get(token) ?? 0) + 1);
    ways = (ways * BigInt(place + 1)) / BigInt(seen.get(token));
  });
  return ways;
}

async function go() {
  if (running || !settings) return;
  if (mode() === "sentence" && shuffledText !== byId("text").value) {
    if (!(await shuffle())) return;
    shuffledText = byId("text").value;
  }
  if (!bag.tokens.length) return;
  const systems = settings.systems();
  if (!systems.length) return tell("Choose a system.");
  const controller = new AbortController();
  running = controller;
  updateGo();
  byId("stop").hidden = false;
  tell("Searching …");
  const ways = waysOf(bag.tokens);
  const slots = systems.map((system) => ({ system, waiting: waitingCard(system) }));
  fill(byId("cards"), h("div", { class: systems.length > 1 ? "cards many" : "cards" }, slots.map((slot) => slot.waiting.element)));
  if (window.matchMedia("(max-width: 60rem)").matches) byId("results").scrollIntoView({ behavior: "smooth", block: "start" });
  const ends = await Promise.all(slots.map((slot) => answerSlot(slot, ways, controller.signal)));
  const answers = ends.map((end) => end.answer).filter(Boolean);
  if (answers.length > 1) byId("cards").prepend(compareCard(answers));
  running = null;
  byId("stop").hidden = true;
  updateGo();
  tell(ends.map((end) => end.told).join(" "));
}

/** Put the answer, or why there is none, in the place of the waiting card; the answer, and what is told of it aloud. */
async function answerSlot({ system, waiting }, ways, signal) {
  let card;
  let told;
  let answer = null;
  try {
    const request = { ...bag.toRecord(), ...settings.toKeys(system) };
    if (reference) request.reference = reference;
    answer = await client.order(request, signal);
    card = answerCard(answer, ways, bag.rules.length > 0);
    told = `${system}: ${answer.orders[0].text}`;
  } catch (error) {
    const message = error.name === "AbortError" ? "Stopped." : error.message;
    card = faultCard(system, message);
    told = `${system}: ${message}`;
  }
  waiting.end();
  waiting.element.replaceWith(card);
  return { answer, told };
}

const tell = (text) => (byId("status").textContent = text);

// ---- the beginning

function drawEmpty() {
  const examples = EXAMPLES.map(([kind, text]) =>
    h("li", {}, h("button", { type: "button", class: "example", onclick: () => useExample(kind, text) }, h("small", {}, kind === "words" ? "words" : "sentence"), text)),
  );
  fill(
    byId("cards"),
    h(
      "div",
      { class: "empty" },
      h("h2", {}, "Nothing ordered yet"),
      h("p", { class: "soft" }, "Type words in any order, or a sentence to be shuffled and put back. Or begin with one of these:"),
      h("ul", {}, examples),
    ),
  );
}

function useExample(kind, text) {
  document.querySelector(`input[name="mode"][value="${kind}"]`).checked = true;
  byId("text").value = text;
  typed();
  go();
}

async function start() {
  drawEmpty();
  typed();
  byId("text").addEventListener("input", typed);
  for (const radio of document.querySelectorAll('input[name="mode"]')) {
    radio.addEventListener("change", () => {
      typed();
      updateGo();
    });
  }
  byId("shuffle").addEventListener("click", async () => {
    if (await shuffle()) shuffledText = byId("text").value;
  });
  byId("split").addEventListener("click", splitMarks);
  byId("stop").addEventListener("click", () => running?.abort());
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    go();
  });
  byId("ask").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      go();
    }
  });
  try {
    const about = await client.about();
    settings = new SettingsView(about);
    mostTokens = about.limits.tokens;
    const models = about.models.map((model) => model.name).join(", ");
    byId("open").textContent = `${models} · index of ${number(about.index.tokens, 0)} tokens`;
  } catch (error) {
    fill(byId("cards"), faultCard("gyro", error.message));
  }
}

start();
