// The lattice: the server says where everything stands, here it is drawn and walked.

import { lattice } from "./client.js";
import { fill, h, number, svg } from "./dom.js";

export class LatticeView {
  /** `chosen` is called with the number of an order when a word is chosen. */
  constructor(drawing, chosen) {
    this.known = [...drawing.orders, ...drawing.others];
    this.chosen = chosen;
    this.order = 0;
    this.zoom = 1;
    this.told = h("p", { class: "told small", role: "status" });
    this.frame = h("div", { class: "frame", tabindex: 0, role: "region", "aria-label": "Lattice; it scrolls" });
    this.element = h("div", { class: "lattice-part" }, this.controls(drawing.orders.length), this.frame, this.told);
    this.setDrawing(drawing);
  }

  controls(count) {
    const output = h("output", {}, String(count));
    const slider = h("input", {
      type: "range",
      min: 1,
      max: this.known.length,
      value: count,
      "aria-label": "Orders that are drawn",
      oninput: () => (output.textContent = slider.value),
      onchange: () => this.drawBest(Number(slider.value)),
    });
    const zoom = (label, factor) =>
      h("button", { type: "button", class: "quiet round", "aria-label": label, onclick: () => this.setZoom(factor) }, factor > 1 ? "+" : "−");
    return h(
      "div",
      { class: "controls" },
      this.known.length > 1 && h("label", {}, "best orders ", slider, output),
      h("span", { class: "zoom" }, zoom("Smaller", 0.8), zoom("Larger", 1.25)),
    );
  }

  /** Have another number of orders laid out. */
  async drawBest(count) {
    try {
      const orders = this.known.slice(0, count).map(({ tokens, cost }) => ({ tokens, cost }));
      this.setDrawing(await lattice(orders));
    } catch (error) {
      this.told.textContent = error.message;
    }
  }

  setDrawing(drawing) {
    this.drawing = drawing;
    this.arcs = []; // the element of each arc
    this.order = Math.min(this.order, drawing.orders.length - 1);
    this.focus = drawing.orders[0].arcs[0] ?? 0;
    fill(this.frame, this.draw());
    this.setZoom(1);
    this.show();
  }

  draw() {
    const { width, height, lines, states } = this.drawing;
    this.canvas = svg("svg", {
      class: "lattice",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "group",
      "aria-label": "The best orders as a lattice; arrow keys walk over it, Enter chooses the best order through a word",
    });
    const curves = lines.map((line) => {
      line.element = svg("path", { class: "curve", d: line.path });
      return line.element;
    });
    const circles = states.map(({ x, y, final }, state) => {
      const isEnd = final || state === 0;
      return svg("circle", { class: isEnd ? "state end" : "state", cx: x, cy: y, r: isEnd ? 5 : 3.5 });
    });
    this.canvas.append(...curves, ...circles, ...lines.flatMap((line) => this.words(line)));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("pointerleave", () => this.show());
    return this.canvas;
  }

  words(line) {
    const { arcs, label_height } = this.drawing;
    return line.arcs.map((arc, row) => {
      const y = line.y + label_height * (row - (line.arcs.length - 1) / 2) + 4.5;
      const element = svg(
        "text",
        {
          class: "word",
          x: line.x,
          y,
          role: "button",
          tabindex: arc === this.focus ? 0 : -1,
          "data-arc": arc,
          "aria-label": this.describe(arc),
          onpointerenter: () => this.show(arc),
          onfocus: () => this.show(arc),
          onblur: () => this.show(),
          onclick: () => this.choose(arc),
        },
        arcs[arc].word,
      );
      this.arcs[arc] = element;
      return element;
    });
  }

  describe(arc) {
    const { arcs, orders } = this.drawing;
    const best = arcs[arc].orders[0];
    const more = orders[best].cost - orders[0].cost;
    const place = best === 0 ? "on the best order" : `best order through it is number ${best + 1}, ${number(more)} over the best`;
    return `${arcs[arc].word}: ${place}`;
  }

  /** Draw what is on the chosen order, or on the best one through an arc. */
  show(through = null) {
    const { arcs, lines, orders } = this.drawing;
    const order = through === null ? this.order : arcs[through].orders[0];
    const marked = new Set(orders[order].arcs);
    for (const line of lines) {
      line.element.setAttribute("class", line.arcs.some((arc) => marked.has(arc)) ? "curve marked" : "curve");
      for (const arc of line.arcs) this.arcs[arc].setAttribute("class", marked.has(arc) ? "word marked" : "word");
    }
    const { tokens, cost } = orders[order];
    const over = order === 0 ? "the best" : `+${number(cost - orders[0].cost)}`;
    fill(this.told, h("b", {}, `${order + 1}. `), tokens.join(" "), h("span", { class: "soft" }, ` ${number(cost)} · ${over}`));
  }

  setOrder(order) {
    if (order >= this.drawing.orders.length) return;
    this.order = order;
    this.show();
  }

  choose(arc) {
    this.order = this.drawing.arcs[arc].orders[0];
    this.show();
    this.chosen(this.order);
  }

  setZoom(factor) {
    this.zoom = Math.min(3, Math.max(0.3, this.zoom * factor));
    this.canvas.setAttribute("width", this.drawing.width * this.zoom);
    this.canvas.setAttribute("height", this.drawing.height * this.zoom);
  }

  onKey(event) {
    const from = Number(event.target.dataset?.arc ?? -1);
    if (from < 0) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.choose(from);
    }
    const to = this.neighbour(from, event.key);
    if (to === undefined) return;
    event.preventDefault();
    this.arcs[from].setAttribute("tabindex", -1);
    this.arcs[to].setAttribute("tabindex", 0);
    this.focus = to;
    this.arcs[to].focus();
    this.arcs[to].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Right and left follow the best order through a word; up and down go to others that leave the same state. */
  neighbour(arc, key) {
    const { arcs, orders } = this.drawing;
    const path = orders[arcs[arc].orders[0]].arcs;
    const at = path.indexOf(arc);
    if (key === "ArrowRight") return path[at + 1];
    if (key === "ArrowLeft") return path[at - 1];
    if (key === "Home") return path[0];
    if (key === "End") return path[path.length - 1];
    if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
    const height = (n) => Number(this.arcs[n].getAttribute("y"));
    const beside = arcs.map((_, n) => n).filter((n) => arcs[n].source === arcs[arc].source);
    beside.sort((a, b) => height(a) - height(b));
    return beside[beside.indexOf(arc) + (key === "ArrowDown" ? 1 : -1)];
  }
}
