"use strict";
(() => {
  const record = JSON.parse(document.getElementById("record").textContent);
  const { pairs, page } = record;
  const get = (id) => document.getElementById(id);
  const all = (what) => Array.from(document.querySelectorAll(what));
  const VERDICTS = ["first", "equal", "second"];

  // What the browser keeps: who judges, and for each judge the verdicts by the number of the pair, and the last place.
  const KEY = `gyro-judge:${page}`;
  let state = { judge: "", judges: {} };
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    if (kept && typeof kept.judge === "string" && kept.judges && typeof kept.judges === "object") state = kept;
    localStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    get("forgetful").hidden = false;
  }
  const keep = () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(state));
    } catch {
      get("forgetful").hidden = false;
    }
  };
  // Prefixed, so that no name is a property that all objects have.
  const own = () => {
    const name = `judge ${state.judge}`;
    if (!state.judges[name]) state.judges[name] = { at: 0, verdicts: {} };
    return state.judges[name];
  };
  const verdict = (number) => {
    const given = own().verdicts[number];
    return VERDICTS.includes(given) ? given : null;
  };
  const judged = () => pairs.reduce((count, _, number) => count + (verdict(number) ? 1 : 0), 0);

  const orders = (pair) => (pair.sides[0] === pair.systems[0] ? pair.orders : [pair.orders[1], pair.orders[0]]);

  const show = () => {
    const isWork = state.judge && own().at < pairs.length;
    get("start").hidden = Boolean(state.judge);
    get("work").hidden = !isWork;
    get("end").hidden = !state.judge || isWork;
    get("who").hidden = !state.judge;
    get("name").textContent = state.judge;
    get("saved").hidden = true;
    if (isWork) showPair(own().at);
    else if (state.judge) showEnd();
    keep();
  };

  const showPair = (number) => {
    const pair = pairs[number];
    const words = all(".order .words");
    orders(pair).forEach((text, side) => { words[side].textContent = text; });
    get("reference").hidden = pair.reference === null;
    get("reference").querySelector("p").textContent = pair.reference || "";
    const count = judged();
    get("progress").max = pairs.length;
    get("progress").value = count;
    get("place").textContent = `pair ${number + 1} of ${pairs.length} · ${count} judged`;
    for (const button of all("[data-verdict]")) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict(number)));
    }
    get("back").disabled = number === 0;
    get("next").disabled = verdict(number) === null;
    for (const button of all("nav .save")) button.disabled = count === 0;
  };

  const showEnd = () => {
    const missing = pairs.length - judged();
    get("end-h").textContent = missing ? `${missing} of ${pairs.length} are not judged yet` : "Thank you, all is judged";
    get("summary").textContent = `${judged()} of ${pairs.length} pairs are judged. Save the file, and send it to whoever asked you.`;
  };

  const go = (number) => {
    own().at = Math.max(0, Math.min(pairs.length, number));
    show();
    scrollTo(0, 0);
  };

  // After a first verdict on to the next pair; what is judged again may be looked at before one goes on.
  let pause = 0;
  const judge = (value) => {
    if (pause) return;
    const number = own().at;
    own().verdicts[number] = value;
    show();
    document.activeElement?.blur?.();
    pause = setTimeout(() => { pause = 0; go(number + 1); }, 180);
  };
  const back = () => { if (!pause) go(own().at - 1); };
  const next = () => { if (!pause && verdict(own().at)) go(own().at + 1); };

  const lines = () => pairs.flatMap((pair, number) => {
    const given = verdict(number);
    if (!given) return [];
    const { bag, systems, sides, orders: texts } = pair;
    const line = { judge: state.judge, bag, systems, sides, orders: texts, verdict: given, reference: pair.reference !== null };
    return [`${JSON.stringify({ ...line, seed: record.seed, page, gyro: record.gyro })}\n`];
  });
  const save = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(lines(), { type: "application/x-ndjson" }));
    link.download = `judgements-${state.judge.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "") || "judge"}.jsonl`;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    get("saved").textContent = `Saved as ${link.download}: ${judged()} judgements.`;
    get("saved").hidden = false;
  };

  get("count").textContent = pairs.length === 1 ? "one pair" : `${pairs.length} pairs`;
  get("with-reference").hidden = !pairs.some((pair) => pair.reference !== null);
  get("enter").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = get("judge").value.normalize("NFC").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
    if (!name) return;
    state.judge = name;
    show();
  });
  get("change").addEventListener("click", () => { state.judge = ""; show(); get("judge").focus(); });
  get("back").addEventListener("click", back);
  get("next").addEventListener("click", next);
  get("again").addEventListener("click", () => go(0));
  for (const button of all("[data-verdict]")) button.addEventListener("click", () => judge(button.dataset.verdict));
  for (const button of all(".save")) button.addEventListener("click", save);

  const KEYS = {
    1: () => judge("first"), 0: () => judge("equal"), 2: () => judge("second"),
    ArrowLeft: () => judge("first"), ArrowDown: () => judge("equal"), ArrowRight: () => judge("second"),
    "=": () => judge("equal"), Backspace: back, ArrowUp: back,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.target.matches("input")) return;
    const isWork = !get("work").hidden;
    if (!isWork && !(event.key === "Backspace" && !get("end").hidden)) return;
    const work = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
    if (!work) return;
    event.preventDefault();
    work();
  });
  show();
})();
