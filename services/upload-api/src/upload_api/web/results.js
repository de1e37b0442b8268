// What was made besides the stream: the poster and its candidates, an image's preview, files to download.

import { choosePoster } from "./api.js";
import { byId, make, setText, show } from "./dom.js";

export function drawResults(job) {
  drawPosters(job);
  drawImage(job);
  drawFiles(job);
}

const path = (url) => url.split("?")[0];

/** Only drawn when something is new: every answer signs the same pictures anew. */
function changed(box, state) {
  if (box.dataset.state === state) return false;
  box.dataset.state = state;
  return true;
}

function drawPosters(job) {
  const poster = job.view?.poster;
  if (!show(byId("posters"), (poster?.candidates.length ?? 0) > 1)) return;
  const box = byId("candidates");
  if (!changed(box, `${job.id} ${poster.chosen} ${poster.candidates.map(path)}`)) return;
  box.replaceChildren(...poster.candidates.map((url, index) => candidate(job, url, index, poster.chosen)));
}

function candidate(job, url, index, chosen) {
  const picture = make("img", { src: url, alt: "", loading: "lazy" });
  const button = make("button", { type: "button", className: "candidate" }, picture);
  button.setAttribute("aria-label", `Poster ${index + 1}`);
  button.setAttribute("aria-pressed", String(index === chosen));
  button.addEventListener("click", () => choose(job, index));
  return button;
}

async function choose(job, index) {
  try {
    const view = await choosePoster(job.id, index);
    setText(byId("poster-note"), "");
    job.change({ view });
  } catch (problem) {
    setText(byId("poster-note"), problem.detail ?? "The poster could not be changed.");
  }
}

function drawImage(job) {
  const view = job.view;
  const box = byId("picture");
  const image = view && Object.keys(view.thumbnails).length ? view.preview : null;
  if (!show(box, Boolean(image)) || !changed(box, `${job.id} ${path(image)}`)) return;
  box.replaceChildren(make("img", { src: image, alt: job.name }));
}

function drawFiles(job) {
  const view = job.view;
  const named = view ? files(view) : [];
  const box = byId("files");
  if (!show(byId("made"), named.length > 0) || !changed(box, `${job.id} ${named.map(([words, url]) => words + path(url))}`)) return;
  box.replaceChildren(...named.map(([words, url]) => link(words, url)));
}

/** [words, url] */
function files(view) {
  const videos = Object.entries(view.downloads).map(([name, url]) => [`MP4, ${name}p`, url]);
  const images = Object.entries(view.thumbnails).map(([width, url]) => [`Thumbnail, ${width} px`, url]);
  const preview = view.preview && !images.length ? [["Preview, 10 s", view.preview]] : [];
  const poster = view.poster ? [["Poster", view.poster.url]] : [];
  return [...videos, ...preview, ...poster, ...images];
}

const link = (words, url) => make("a", { className: "button", href: url, target: "_blank", rel: "noopener" }, words);
