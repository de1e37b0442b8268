// The list of this browser's uploads.

import { byId, make, show } from "./dom.js";
import { moment } from "./format.js";
import { label } from "./stages.js";

export function drawHistory(jobs, current, onChoose) {
  show(byId("history-empty"), jobs.length === 0);
  show(byId("forget"), jobs.length > 0);
  const list = byId("history");
  const rows = jobs.map((job) => ({ name: job.name, label: label(job), when: job.view?.createdAt, current: job === current }));
  const state = JSON.stringify(rows);
  if (list.dataset.state === state) return;
  list.dataset.state = state;
  const focused = Array.from(list.children).findIndex((item) => item.contains(document.activeElement));
  list.replaceChildren(...jobs.map((job, index) => item(rows[index], () => onChoose(job))));
  list.children[focused]?.firstElementChild.focus();
}

function item({ name, label: [text, tone], when, current }, onClick) {
  const title = make("bdi", { className: "name", title: name }, name);
  const pill = make("span", { className: `pill ${tone}` }, text);
  const time = make("span", { className: "when" }, when ? moment(when) : "just now");
  const button = make("button", { type: "button" }, title, pill, time);
  button.setAttribute("aria-current", String(current));
  button.addEventListener("click", onClick);
  return make("li", {}, button);
}
