// The player: the stream as soon as there is one, the file that was chosen until then, from this machine.

import { byId, make, show } from "./dom.js";
import { mediaType } from "./media-types.js";
import { Stream } from "./stream.js";

let shown = null; // {key, job, stream}: what the player element is for

export function drawPlayer(job) {
  const wanted = source(job);
  if (!show(byId("player"), wanted !== null)) return clear();
  if (shown?.key !== wanted.key && !(shown?.job === job && busy())) put(job, wanted);
  if (shown.stream) shown.stream.draw(job.view);
}

/** The player of this job, if it is the one shown. */
export const playerOf = (job) => (shown?.job === job ? element() : null);

/** Shows WebVTT over a video; a stream brings captions of its own. */
export function addCaptions(job, blob) {
  const player = playerOf(job);
  if (player?.tagName !== "VIDEO" || shown.stream || player.querySelector("track")) return;
  player.append(make("track", { kind: "captions", label: "Transcript", src: URL.createObjectURL(blob) }));
}

const element = () => byId("stage").firstElementChild;

/** Nobody's film is taken away in the middle. */
function busy() {
  const player = element();
  return player && !player.paused && !player.ended;
}

function source(job) {
  const { view } = job;
  if (view?.playback?.hls) {
    const pictures = view.renditions.length > 0 || view.tasks.some((task) => task.kind === "video");
    return { key: `stream ${job.id} ${edition(view)}`, kind: pictures ? "video" : "audio", hls: view.playback.hls };
  }
  const url = job.file?.size && job.problem?.status !== 400 ? job.localUrl : null;
  if (!url || byId("player").dataset.unplayable === url) return null;
  const type = mediaType(job.file);
  return type.startsWith("image/") ? null : { key: url, kind: type.startsWith("audio/") ? "audio" : "video", url };
}

/** While an upload is processed again, the stream is the one from before. */
function edition({ generation, tasks }) {
  const packaged = tasks.some((task) => task.kind === "package" && task.status === "DONE");
  return packaged || !generation ? generation : generation - 1;
}

function clear() {
  shown?.stream?.close();
  shown = null;
  byId("stage").replaceChildren();
  show(byId("controls"), false);
}

function put(job, wanted) {
  const at = shown?.job === job ? element()?.currentTime : 0;
  clear();
  const player = make(wanted.kind, { controls: true, preload: "metadata", playsInline: true });
  player.setAttribute("aria-label", `Player: ${job.name}`);
  byId("stage").replaceChildren(player);
  shown = { key: wanted.key, job, stream: null };
  if (wanted.hls) shown.stream = new Stream(player, wanted.hls, at);
  else local(job, player, wanted.url);
}

/** Browsers play fewer formats than are processed. */
function local(job, player, url) {
  player.src = url;
  player.addEventListener("pause", () => job.change({})); // now the stream may take its place
  player.addEventListener("error", () => {
    byId("player").dataset.unplayable = url;
    if (shown?.key === url) show(byId("player"), false);
  });
}
