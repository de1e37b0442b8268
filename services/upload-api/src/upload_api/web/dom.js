// Small helpers over the document. Text is only ever set as text: names and transcripts are other people's.

export const byId = (id) => document.getElementById(id);

/** An element with properties and children; strings become text nodes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Hides or shows; true if it is shown now. */
export function show(element, visible) {
  element.hidden = !visible;
  return visible;
}

/** Writes only what differs, so that screen readers and selections are left alone. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const SVG = "http://www.w3.org/2000/svg";

/** A line drawing on a 24 by 24 grid, for the eye only. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(SVG, "path"));
  svg.firstChild.setAttribute("d", path);
  return svg;
}
