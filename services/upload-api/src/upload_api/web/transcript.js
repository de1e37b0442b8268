// What was said: the whole transcript with its times where the bucket lets us read it, else its beginning from the API.

import { byId, make, show } from "./dom.js";
import { position } from "./format.js";
import { addCaptions, playerOf } from "./player.js";

const LABELS = { txt: "TXT", srt: "SRT", vtt: "VTT", json: "JSON" };
let shown = null; // the job whose transcript is in the document
let place = ""; // where that is kept
let spoken = []; // its segments, and their rows
let rows = [];

export function drawTranscript(job) {
  const ready = job.view?.transcript !== null && job.view?.transcript !== undefined;
  if (!show(byId("transcript"), ready)) {
    shown = null;
    return;
  }
  drawDownloads(job);
  if (shown === job && place === kept(job)) return;
  [shown, place] = [job, kept(job)];
  [spoken, rows] = [[], []];
  drawText(job.view.transcript);
  loadSegments(job);
}

/** Signatures differ from answer to answer, the place does not. */
const kept = (job) => (job.view.captions?.json ?? "").split("?")[0];

function drawText(text) {
  const segments = byId("segments");
  const nothing = make("p", { className: "quiet" }, "Nobody speaks in this file.");
  segments.replaceChildren(text ? make("p", {}, text) : nothing);
}

function drawDownloads(job) {
  const captions = job.view.captions ?? {};
  const box = byId("downloads");
  const state = `${job.id} ${kept(job)}`;
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  const copy = make("button", { type: "button" }, "Copy");
  copy.addEventListener("click", () => copyText(copy));
  const links = Object.entries(LABELS).filter(([format]) => captions[format]).map(([format, text]) => link(job, format, text));
  box.replaceChildren(copy, ...links);
}

function link(job, format, text) {
  const name = `${job.name.replace(/\.[^.]*$/, "") || "transcript"}.${format}`;
  const element = make("a", { className: "button", href: job.view.captions[format], download: name, target: "_blank", rel: "noopener" }, text);
  element.setAttribute("aria-label", `Save as ${text}`);
  element.addEventListener("click", (event) => save(event, job.view.captions[format], name));
  return element;
}

/** Another origin's file would be opened, not saved: fetch it first. Without CORS it is opened after all. */
async function save(event, url, name) {
  event.preventDefault();
  try {
    const saved = URL.createObjectURL(await (await read(url)).blob());
    make("a", { href: saved, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(saved), 10_000);
  } catch {
    window.open(url, "_blank", "noopener");
  }
}

async function read(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response;
}

async function copyText(button) {
  const text = Array.from(byId("segments").querySelectorAll("span, p"), (part) => part.textContent).join("\n");
  await navigator.clipboard?.writeText(text).then(
    () => (button.textContent = "Copied"),
    () => (button.textContent = "Not allowed"),
  );
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

async function loadSegments(job) {
  const { json, vtt } = job.view.captions ?? {};
  if (!json || !job.view.transcript) return;
  try {
    const { segments } = await (await read(json)).json();
    if (shown === job && segments.length) drawSegments(job, segments);
    if (vtt && shown === job) addCaptions(job, await (await read(vtt)).blob());
  } catch (error) {
    console.info("The whole transcript cannot be read from here; its beginning is shown.", error);
  }
}

function drawSegments(job, segments) {
  spoken = segments;
  rows = segments.map((segment) => row(job, segment));
  byId("segments").replaceChildren(...rows);
}

/** A button where there is something to jump in. */
function row(job, segment) {
  const time = make("time", {}, position(segment.startMs));
  const text = make("span", { dir: "auto" }, segment.text);
  if (!playerOf(job)) return make("div", { className: "segment" }, time, text);
  const element = make("button", { type: "button", className: "segment", title: "Play from here" }, time, text);
  element.addEventListener("click", () => {
    const player = playerOf(job);
    if (!player) return;
    player.currentTime = segment.startMs / 1000;
    player.play().catch(() => {}); // a browser may want another click first
  });
  return element;
}

function follow({ target }) {
  if (!shown || playerOf(shown) !== target) return;
  const now = target.currentTime * 1000;
  spoken.forEach((s, index) => rows[index].classList.toggle("now", !target.paused && s.startMs <= now && now < s.endMs));
}

byId("stage").addEventListener("timeupdate", follow, true); // players come and go, their stage stays
