// The storyboard: small pictures of every stretch of the video, to jump to.

import { byId, make, show } from "./dom.js";
import { position } from "./format.js";
import { playerOf } from "./player.js";

let shown = null; // {job, cues, tiles}

export async function drawScenes(job) {
  const url = job.view?.playback?.storyboard;
  const visible = Boolean(url) && playerOf(job)?.tagName === "VIDEO";
  if (!show(byId("scenes"), visible && (shown?.job !== job || shown.tiles.length > 1))) return;
  if (shown?.job === job) return;
  shown = { job, cues: [], tiles: [] };
  show(byId("scenes"), false);
  try {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    fill(job, parse(await response.text()));
  } catch (error) {
    console.info("The storyboard cannot be shown.", error);
  }
}

function fill(job, cues) {
  if (shown?.job !== job) return;
  const tiles = cues.map((cue) => tile(job, cue));
  shown = { job, cues, tiles };
  byId("scenes").replaceChildren(...tiles);
  show(byId("scenes"), tiles.length > 1);
}

/** WebVTT whose cues name a part of a picture: `sheet.jpg#xywh=0,0,160,90`. */
export function parse(text) {
  const cue = /^([\d:.]+) --> ([\d:.]+).*\n(.+)#xywh=(\d+),(\d+),(\d+),(\d+)/gm;
  return Array.from(text.matchAll(cue), ([, start, end, url, ...box]) => ({
    start: seconds(start),
    end: seconds(end),
    url,
    box: box.map(Number),
  }));
}

const seconds = (stamp) => stamp.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

function tile(job, { start, url, box: [x, y, width, height] }) {
  const when = position(start * 1000);
  const picture = make("span", { className: "tile" });
  Object.assign(picture.style, {
    width: `${width}px`,
    height: `${height}px`,
    backgroundImage: `url("${url}")`,
    backgroundPosition: `-${x}px -${y}px`,
  });
  const element = make("button", { type: "button", className: "scene" }, picture, make("time", {}, when));
  element.setAttribute("aria-label", `Go to ${when}`);
  element.addEventListener("click", () => {
    const player = playerOf(job);
    if (player) player.currentTime = start;
  });
  return element;
}

function follow(event) {
  if (!shown || playerOf(shown.job) !== event.target) return;
  const now = event.target.currentTime;
  shown.cues.forEach(({ start, end }, index) => {
    const is = start <= now && now < end;
    if (shown.tiles[index].classList.toggle("now", is) && is) center(shown.tiles[index]);
  });
}

/** Not scrollIntoView, which would move the page too. */
function center(tile) {
  const strip = byId("scenes");
  strip.scrollLeft = tile.offsetLeft - (strip.clientWidth - tile.offsetWidth) / 2;
}

byId("stage").addEventListener("timeupdate", follow, true);
