// Dragging by mouse, pen or finger. A finger drags after a moment's rest, so that it can still scroll.

import { byId } from "./dom.js";

const DISTANCE = 6;
const REST = 220; // milliseconds

/**
 * Let an element be dragged. `label` is what is seen under the pointer; `drop(target, isAfter)` gets the element with
 * data-drop under it, and whether the pointer is in its right half.
 */
export function draggable(element, label, drop) {
  element.addEventListener("pointerdown", (down) => {
    if (down.button !== 0) return;
    const isFinger = down.pointerType === "touch";
    const ghost = byId("ghost");
    let active = false;
    let target = null;
    const timer = isFinger ? setTimeout(() => begin(down), REST) : null;

    function begin(event) {
      active = true;
      ghost.textContent = label;
      ghost.hidden = false;
      document.body.classList.add("dragging");
      element.classList.add("dragged");
      move(event);
    }
    function move(event) {
      const far = Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > DISTANCE;
      if (!active) {
        if (far && isFinger) end();
        else if (far) begin(event);
        return;
      }
      ghost.style.left = `${event.clientX}px`;
      ghost.style.top = `${event.clientY}px`;
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-drop]") ?? null;
      if (under !== target) {
        target?.classList.remove("over");
        target = under === element ? null : under;
        target?.classList.add("over");
      }
    }
    function up(event) {
      const dropped = active ? target : null;
      const box = dropped?.getBoundingClientRect();
      if (active) swallowClick();
      end();
      if (dropped) drop(dropped, event.clientX > box.left + box.width / 2);
    }
    function key(event) {
      if (event.key === "Escape") end();
    }
    const hold = (event) => active && event.preventDefault(); // no scrolling while a finger drags
    function end() {
      clearTimeout(timer);
      ghost.hidden = true;
      target?.classList.remove("over");
      element.classList.remove("dragged");
      document.body.classList.remove("dragging");
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", up);
      document.removeEventListener("pointercancel", end);
      document.removeEventListener("keydown", key);
      document.removeEventListener("touchmove", hold);
    }
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", up);
    document.addEventListener("pointercancel", end);
    document.addEventListener("keydown", key);
    document.addEventListener("touchmove", hold, { passive: false });
  });
  element.addEventListener("dragstart", (event) => event.preventDefault());
}

/** The click that comes after a drag means nothing. */
function swallowClick() {
  const swallow = (event) => {
    event.stopPropagation();
    event.preventDefault();
  };
  document.addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => document.removeEventListener("click", swallow, { capture: true }), 0);
}
