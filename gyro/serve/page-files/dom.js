// Elements made by hand: whatever people typed becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (onclick …) and children; strings become text. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** Put these children in the place of all others. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

export const byId = (id) => document.getElementById(id);

/** A cost, or a number of seconds. */
export const number = (value, digits = 2) =>
  value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** A whole number as people read it: 1,307,674, or 6.2 × 10¹². */
export function large(value) {
  const digits = value.toString();
  if (digits.length <= 9) return Number(value).toLocaleString("en");
  const raised = [...String(digits.length - 1)].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("");
  return `${digits[0]}.${digits[1]} × 10${raised}`;
}
