// Wires the page: files that are chosen or dropped become jobs, the newest first; one of them is shown.

import { byId, setText, show } from "./dom.js";
import { draw } from "./card.js";
import { drawHistory } from "./history.js";
import { Job } from "./job.js";
import { forgetAll, remembered } from "./session.js";

let jobs = [];
let current = null;
let planned = false;

/** Many changes in one frame are drawn once. */
function redraw() {
  if (planned) return;
  planned = true;
  // Not requestAnimationFrame: it never comes in a hidden tab, and what happens there is announced too.
  setTimeout(() => {
    planned = false;
    drawHistory(jobs, current, choose);
    if (current) draw(current);
  }, 16);
}

function add(job) {
  job.addEventListener("change", () => {
    if (job.trouble?.status === 404 && job.phase === "remembered") remove(job);
    redraw();
  });
  return job;
}

function remove(job) {
  jobs = jobs.filter((other) => other !== job);
  if (current === job) current = null;
  if (current) return;
  show(byId("upload"), false);
  byId("drop").classList.remove("compact");
}

function choose(job) {
  current = job;
  redraw();
  setTimeout(() => byId("upload-name").focus({ preventScroll: false }), 30);
}

function take(files) {
  const added = Array.from(files, (file) => add(new Job({ file })));
  if (!added.length) return;
  jobs = [...added, ...jobs];
  current = added[0];
  added.forEach((job) => job.start());
  redraw();
}

function listenForFiles() {
  const input = byId("choose");
  input.addEventListener("change", () => {
    take(input.files);
    input.value = ""; // the same file may be chosen again
  });
  const zone = byId("drop");
  const over = (event, is) => {
    event.preventDefault();
    zone.classList.toggle("over", is);
  };
  // On the whole page: a file dropped beside the zone must not replace the page.
  document.addEventListener("dragover", (event) => over(event, true));
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? over(event, false));
  document.addEventListener("drop", (event) => {
    over(event, false);
    take(event.dataTransfer.files);
  });
}

function listenForButtons() {
  byId("cancel").addEventListener("click", () => current.cancel());
  byId("retry").addEventListener("click", () => current.start());
  byId("reprocess").addEventListener("click", again);
  byId("forget").addEventListener("click", () => {
    const moving = jobs.filter((job) => job.phase === "sending" || job.phase === "preparing");
    jobs.filter((job) => !moving.includes(job)).forEach((job) => job.close());
    jobs = moving;
    forgetAll();
    if (!jobs.includes(current)) remove(current);
    redraw();
  });
  addEventListener("beforeunload", (event) => {
    if (jobs.some((job) => job.phase === "sending")) event.preventDefault();
  });
}

async function again() {
  const button = byId("reprocess");
  button.disabled = true;
  try {
    await current.again(byId("profile").value);
  } catch (problem) {
    setText(byId("again-note"), problem.detail ?? "It could not be processed again.");
  }
  button.disabled = false;
}

function restore() {
  jobs = remembered().map((id) => add(new Job({ id })));
  jobs.forEach((job) => job.follow());
}

listenForFiles();
listenForButtons();
restore();
redraw();
