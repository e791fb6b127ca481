"use strict";
(() => {
  const all = (where, what) => Array.from(where.querySelectorAll(what));

  // Tables: a click on a heading sorts by its column.
  for (const table of all(document, "table.sortable")) {
    const heads = all(table, "thead th");
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const key = (row) => {
          const text = row.cells[column].textContent.replaceAll(",", "");
          const number = parseFloat(text) * (/^[\d.]+\sms/.test(text) ? 0.001 : 1);
          return column === 0 || Number.isNaN(number) ? text : number;
        };
        const rows = Array.from(body.rows).sort((a, b) => {
          const [one, other] = [key(a), key(b)];
          return (one < other ? -1 : one > other ? 1 : 0) * (down ? -1 : 1);
        });
        body.append(...rows);
      });
    });
  }

  // Examples: sort and filter; what was chosen is kept in the address, so that a view can be sent to others.
  const orders = {
    "": (a) => Number(a.dataset.n),
    size: (a) => Number(a.dataset.tokens),
    spread: (a) => { const s = JSON.parse(a.dataset.bleu); return Math.min(...s) - Math.max(...s); },
  };
  const order = (name) => {
    const found = /^(-?)bleu(\d+)$/.exec(name);
    if (!found) return orders[name] || orders[""];
    return (a) => JSON.parse(a.dataset.bleu)[Number(found[2])] * (found[1] ? -1 : 1);
  };
  const update = (box) => {
    const form = box.querySelector("form").elements;
    const list = box.querySelector(".articles");
    const articles = Array.from(list.children);
    const value = order(form.sort.value);
    articles.sort((a, b) => value(a) - value(b) || a.dataset.n - b.dataset.n);
    list.append(...articles);
    const words = form.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const article of articles) {
      const text = words.length ? article.textContent.toLowerCase() : "";
      article.hidden = (form.size.value && article.dataset.size !== form.size.value)
        || (form.differ && form.differ.checked && article.dataset.kinds === "1")
        || words.some((word) => !text.includes(word));
      shown += article.hidden ? 0 : 1;
    }
    box.querySelector("output").textContent = `${shown} ${shown === 1 ? "bag" : "bags"} shown`;
  };
  const remember = (box) => {
    const form = box.querySelector("form").elements;
    const chosen = new URLSearchParams();
    for (const name of ["sort", "size", "find"]) if (form[name].value) chosen.set(name, form[name].value);
    if (form.differ && form.differ.checked) chosen.set("differ", "1");
    history.replaceState(null, "", `#${box.id}?${chosen}`);
  };
  const recall = () => {
    const found = /^#(examples-\d+)\?(.*)$/.exec(location.hash);
    const box = found && document.getElementById(found[1]);
    if (!box) return;
    const form = box.querySelector("form").elements;
    const chosen = new URLSearchParams(found[2]);
    for (const name of ["sort", "size", "find"]) form[name].value = chosen.get(name) || "";
    if (form.differ) form.differ.checked = chosen.has("differ");
    update(box);
    box.scrollIntoView();
  };
  for (const box of all(document, ".examples")) {
    const form = box.querySelector("form");
    const changed = () => { update(box); remember(box); };
    form.addEventListener("input", changed);
    form.addEventListener("submit", (event) => event.preventDefault());
  }
  recall();
  addEventListener("hashchange", recall);

  // Moved phrases: show their place in the reference.
  const point = (event, on) => {
    const mark = event.target.closest && event.target.closest("mark[data-span]");
    if (!mark) return;
    const [begin, end] = mark.dataset.span.split(",").map(Number);
    const words = all(mark.closest("article"), ".ref span");
    words.slice(begin, end).forEach((word) => word.classList.toggle("target", on));
  };
  for (const [name, on] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
    document.addEventListener(name, (event) => point(event, on));
  }

  // Costs along the sentence: over each word a bar for each model, as high as the word is dear; last the end.
  const drawAlong = (box) => {
    const names = JSON.parse(box.dataset.models);
    const lines = all(box, "[data-costs]").map((line) => [line, JSON.parse(line.dataset.costs)]);
    const dearest = Math.max(...lines.flatMap(([, costs]) => costs.flat()), 1e-9);
    for (const [line, costs] of lines) {
      const words = [...line.textContent.split(" "), "end"];
      line.replaceChildren(...words.map((word, place) => {
        const shown = document.createElement("span");
        const bars = document.createElement("b");
        costs.forEach((of, model) => {
          const bar = document.createElement("i");
          bar.className = `m${model % 4}`;
          bar.style.setProperty("--h", 100 * Math.max(of[place], 0) / dearest);
          bars.append(bar);
        });
        const told = names.map((name, model) => `${name} ${costs[model][place].toFixed(2)}`).join(", ");
        const isEnd = place === words.length - 1;
        if (isEnd) shown.className = "end-mark";
        shown.dataset.tip = `${isEnd ? "the end" : word}: ${told}`;
        shown.append(bars, word);
        return shown;
      }));
    }
  };

  // Drawings of lattices are put into the page when they are asked for.
  document.addEventListener("toggle", (event) => {
    const inside = event.target.matches(".drawn") && event.target.querySelector("template");
    if (!inside) return;
    inside.replaceWith(inside.content);
    if (event.target.matches(".along")) drawAlong(event.target);
  }, true);

  // What a point of a chart says, also where there is no mouse.
  const tip = document.getElementById("tip");
  for (const title of all(document, "[data-tip] > title")) title.remove();
  document.addEventListener("pointerover", (event) => {
    const target = event.target.closest && event.target.closest("[data-tip]");
    tip.hidden = !target;
    if (!target) return;
    tip.textContent = target.dataset.tip;
    const box = target.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - tip.offsetWidth / 2), innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${left}px`;
    tip.style.top = `${box.top > tip.offsetHeight + 12 ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
  });
})();
