// Draws the chosen job into the card. Called for every change; touches only what is different.

import { byId, icon, make, setText, show } from "./dom.js";
import { bytes, moment } from "./format.js";
import { label, notice, progress, steps } from "./stages.js";
import { drawPlayer } from "./player.js";
import { drawResults } from "./results.js";
import { drawScenes } from "./scenes.js";
import { drawTranscript } from "./transcript.js";

const CHECK = "M5 12.5l4.5 4.5L19 7.5";
const CROSS = "M6 6l12 12M18 6L6 18";
const AGAIN = new Set(["COMPLETED", "FAILED"]);
const SPOKEN = { done: "done", active: "in progress", failed: "failed", paused: "stopped" };

export function draw(job) {
  show(byId("upload"), true);
  byId("drop").classList.add("compact"); // the file is what matters now
  setText(byId("upload-name").firstElementChild, job.name);
  setText(byId("upload-facts"), facts(job));
  drawLabel(job);
  drawSteps(job);
  drawProgress(progress(job));
  drawNotice(notice(job));
  drawActions(job);
  drawPlayer(job);
  drawScenes(job);
  drawResults(job);
  drawTranscript(job);
}

function facts(job) {
  const { view, file } = job;
  const size = view?.sizeBytes ?? file?.size;
  const parts = [size === undefined ? "" : bytes(size), view?.contentType ?? file?.type ?? ""];
  if (view) parts.push(moment(view.createdAt));
  return parts.filter(Boolean).join(" · ");
}

function drawLabel(job) {
  const [text, tone] = label(job);
  const pill = byId("upload-status");
  pill.className = `pill ${tone}`;
  setText(pill, text);
  setText(byId("live"), `${job.name}: ${text}`);
}

function drawSteps(job) {
  const list = byId("steps");
  const wanted = steps(job);
  const state = JSON.stringify(wanted);
  if (list.dataset.state === state) return; // a redrawn spinner would start anew
  list.dataset.state = state;
  list.replaceChildren(...wanted.map(step));
}

function step({ text, state }) {
  const drawing = { done: [icon(CHECK)], failed: [icon(CROSS)] }[state] ?? [];
  const spoken = state ? [make("span", { className: "visually-hidden" }, `: ${SPOKEN[state]}`)] : [];
  const item = make("li", { className: `step ${state}` }, make("span", { className: "dot" }, ...drawing), make("span", {}, text, ...spoken));
  if (state === "active") item.setAttribute("aria-current", "step");
  return item;
}

function drawProgress(wanted) {
  if (!show(byId("progress-row"), wanted !== null)) return;
  const bar = byId("progress");
  if (wanted.value === null) bar.removeAttribute("value");
  else bar.value = wanted.value;
  setText(byId("progress-text"), wanted.text);
}

function drawNotice(wanted) {
  const box = byId("notice");
  if (!show(box, wanted !== null)) return;
  box.className = `callout ${wanted.tone}`;
  setText(byId("notice-title"), wanted.title);
  setText(byId("notice-text"), wanted.text);
  show(byId("notice-text"), wanted.text !== "");
  const fields = byId("notice-fields");
  show(fields, wanted.fields.length > 0);
  fields.replaceChildren(...wanted.fields.map(({ field, message }) => make("li", {}, make("strong", {}, field), ` ${message}`)));
}

function drawActions(job) {
  const moving = job.phase === "sending" || job.phase === "preparing";
  // What the API refused before there was an upload would be refused again.
  const stopped = job.phase === "stopped" && (!job.problem || job.problem.passing || job.id !== null);
  show(byId("cancel"), moving);
  show(byId("retry"), stopped);
  show(byId("actions"), moving || stopped);
  drawAgain(job, !moving && AGAIN.has(job.view?.status));
}

/** What was chosen stays chosen until another upload is shown, or this one is over once more. */
function drawAgain(job, possible) {
  const box = byId("again");
  if (!show(box, possible)) return;
  const state = `${job.id} ${job.view.generation}`;
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  byId("profile").value = job.view.profile;
  setText(byId("again-note"), "");
}
